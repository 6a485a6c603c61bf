"""Jobs that run and use next to nothing of their machines. # N10, Z5"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from slipway.google.live import Unknown
from slipway.google.monitoring import ACCELERATOR, CPU, Point, Series
from slipway.google.trials import Trial
from slipway.model.kinds import TUNING_JOB
from slipway.model.labels import STACK_LABEL
from slipway.operating.doctor.pools import sampled
from tests.slipway.operating.doctor.picture import found, picture
from tests.slipway.reviewing.builders import NOW, STACK, job

ALONE = job("alone", strategy="STANDARD", replicas=2)


def series(task: int = 0, minutes: Iterable[int] = range(18, 3, -1), value: float = 0.01, metric: str = CPU) -> Series:
    """Samples at so many minutes ago."""
    points = tuple(Point(NOW - timedelta(minutes=minute), value) for minute in minutes)
    return Series(metric, "alone", f"workerpool0-{task}", "0" if metric == ACCELERATOR else "", points)


def told(*use: Series, of: Any = ALONE) -> Any:
    return found(jobs=(of,), use=use).get("job-idle")


def test_a_job_that_has_used_nothing_for_a_quarter_of_an_hour_says_what_it_costs_and_what_to_look_at() -> None:
    one = told(series(0), series(1))
    assert one.sentence == "job alone has used under 5 % of its machines for 15 min ($0.93/h)"
    assert one.fix == "slipway jobs logs alone --tail 20"
    assert one.means == "shows what it waits for; slipway jobs cancel alone ends it"


@pytest.mark.parametrize(
    "use",
    [
        pytest.param((), id="no samples"),
        pytest.param((series(0),), id="one replica is not sampled"),
        pytest.param((series(0), series(1, value=0.2)), id="one replica works"),
        pytest.param((series(0), series(1, range(9, 3, -1))), id="one has begun a while ago"),
        pytest.param((series(0, range(40, 12, -1)), series(1, range(40, 12, -1))), id="samples that ended"),
        pytest.param((series(0), series(1), series(0, metric=ACCELERATOR, value=0.9)), id="an accelerator works"),
        pytest.param((replace(series(0), job="other"), replace(series(1), job="other")), id="another job's"),
    ],
)
def test_what_is_not_known_to_idle_is_not_told_as_idle(use: tuple[Series, ...]) -> None:
    assert told(*use) is None


def test_only_a_stacks_own_jobs_that_have_run_for_long_are_looked_at() -> None:
    assert sampled((ALONE,), STACK, NOW) == ("alone",)
    young, waiting = job("young", minutes=18), job("waits", state="PENDING")
    others = replace(ALONE, labels={STACK_LABEL: "dev"})
    assert sampled((young, waiting, others), STACK, NOW) == () == sampled(Unknown("denied", "", ""), STACK, NOW)
    trial = Trial("1", "ACTIVE", {}, {}, "projects/1/jobs/4711")
    assert sampled((replace(ALONE, kind=TUNING_JOB, tried=(trial,)),), STACK, NOW) == ("4711",)


def test_use_that_may_not_be_read_is_told_and_nobody_idles() -> None:
    denied = Unknown("denied", "monitoring.googleapis.com timeSeries.list", "roles/monitoring.viewer", "ada")
    seen = found(jobs=(ALONE,), use=denied)
    assert set(seen) >= {"unread-part"} and "job-idle" not in seen
    assert seen["unread-part"].fix == f"ask for roles/monitoring.viewer on project {picture().project}"
