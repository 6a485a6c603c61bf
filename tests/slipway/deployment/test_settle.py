"""`up` waits for clusters that are still being made; preview does not. # N1"""

import pytest

from slipway.cloud.resources import PersistentResource
from slipway.deployment.decide import settle
from slipway.deployment.plan import Plan
from slipway.errors import Timeout
from slipway.live import Live

LIVE = Live(clusters=(), jobs=(), limits={}, catalog=None)
MAKING = PersistentResource("cpu-1a2b3c4", "PROVISIONING", {}, ())


class Story:
    """Each plan in its turn; the last one stays."""

    def __init__(self, *plans: Plan) -> None:
        self.plans, self.slept, self.said, self.reads = list(plans), [0.0][:0], [""][:0], 0

    def read(self) -> Live:
        self.reads += 1
        return LIVE

    def decide(self, _: Live) -> Plan:
        return self.plans.pop(0) if len(self.plans) > 1 else self.plans[0]

    def run(self, *, wait: bool, within_s: float = 100) -> Plan:
        _, plan = settle(
            self.read, self.decide, self.said.append, wait=wait, sleep=self.slept.append, every_s=10, within_s=within_s
        )
        return plan


def test_nothing_to_wait_for() -> None:
    story = Story(Plan())
    assert story.run(wait=True) == Plan()
    assert (story.reads, story.slept, story.said) == (1, [], [])


def test_it_reads_and_plans_again_until_the_cluster_is_made() -> None:
    waiting, ready = Plan(waiting=(MAKING,)), Plan(notes=("ready",))
    story = Story(waiting, waiting, ready)
    assert story.run(wait=True) == ready
    assert (story.reads, story.slept) == (3, [10, 10])
    assert story.said == ["waiting for cpu-1a2b3c4: still being made since an earlier deployment"]


def test_preview_shows_the_plan_as_it_is() -> None:
    story = Story(Plan(waiting=(MAKING,)))
    assert story.run(wait=False).waiting == (MAKING,)
    assert story.slept == []


def test_it_does_not_wait_for_ever() -> None:
    with pytest.raises(Timeout, match="cpu-1a2b3c4 is still being made"):
        Story(Plan(waiting=(MAKING,))).run(wait=True, within_s=30)
