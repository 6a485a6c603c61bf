"""The line of a review about past jobs on other pools: told where a replay can be trusted. # N16, N5"""

from dataclasses import replace
from datetime import timedelta
from typing import Any, cast

import pytest
from syrupy.assertion import SnapshotAssertion

from slipway.google.connection import Connection
from slipway.google.live import Live
from slipway.model.catalog.clusters import Cluster
from slipway.model.facts import Facts
from slipway.model.findings.finding import Subject
from slipway.model.machines.spec import MachineSpec
from slipway.operating.history.model import History
from slipway.operating.whatif.model import PoolDelays
from slipway.operating.whatif.replay import replay
from slipway.reviewing.change.change import Change
from slipway.reviewing.consequence import Consequence, consequence
from slipway.reviewing.review import Review
from slipway.reviewing.told.cards import arranged
from slipway.reviewing.what_if import begin, lately, replays, with_replay
from tests.slipway.operating.whatif.month import DAY, month
from tests.slipway.operating.whatif.past import CPU, catalog, cluster, history, offer, pool, replayed, told
from tests.slipway.reviewing import builders
from tests.slipway.reviewing.builders import NOW as TIME
from tests.slipway.reviewing.builders import facts, published

NOW, SMALLER = cluster("cpu", pool("workers", 2, 12)), cluster("cpu", pool("workers", 1, 4))
OFFERS = {f"template-{number}": [offer("pool", "cpu")] for number in range(5)}


def happened(jobs: int = 412) -> History:
    ran = replay(month(jobs, CPU, most=4), replayed(NOW, PoolDelays(20.0, 240.0, 900.0)), 30 * DAY)
    return history(told(ran, NOW), [NOW])


def line(after: Cluster, past: History | None) -> Consequence | None:
    return next(replays(catalog([NOW], OFFERS), catalog([after], OFFERS), past), None)


def test_what_other_pools_would_have_meant_is_a_line_that_stands_open(snapshot: SnapshotAssertion) -> None:
    told = line(SMALLER, happened())
    assert told is not None and len(told.sentence.split()) <= 30
    assert told.sentence == snapshot
    beside = consequence("cluster-new-generation", Subject("cluster", "cpu"), "is made anew")
    opened = arranged([Review("prod", (beside, told))]).opened
    assert [line.card.lead.kind for line in opened] == ["cluster-new-generation", "what-if"]


def test_a_template_that_takes_the_new_machines_sends_its_jobs_there() -> None:
    """Pool and template change together: no job is said to have nowhere to run."""
    large = MachineSpec("n1-standard-16")
    edited = {name: [replace(offer, request=request(large)) for offer in offers] for name, offers in OFFERS.items()}
    was = {name: [replace(offer, request=request(CPU)) for offer in offers] for name, offers in OFFERS.items()}
    other = cluster("cpu", pool("workers", 2, 12, large))
    (told,) = replays(catalog([NOW], was), catalog([other], edited), happened())
    assert "never" not in told.sentence
    (alone,) = replays(catalog([NOW], was), catalog([other], was), happened())
    assert "412 jobs could never" in alone.sentence


def request(machine: MachineSpec) -> dict[str, Any]:
    return {"jobSpec": {"workerPoolSpecs": [{**machine.request(), "replicaCount": "${workers}"}]}}


def test_of_very_many_jobs_the_time_of_the_newest_is_replayed() -> None:
    """Their cost and waits were told as those of the whole month."""
    past = happened()
    part = lately(past, 100)
    assert lately(past, len(past.jobs)) == past
    assert part.since == past.jobs[-100].created and part.until == past.until
    sent = [job for job in part.jobs if job.created and job.created >= part.since]
    assert len(sent) == 100 and all(job.ended is None or job.ended > part.since for job in part.jobs)


def test_nothing_is_said_where_nothing_is_known_or_can_be_trusted() -> None:
    past = happened()
    assert line(SMALLER, None) is None
    assert line(NOW, past) is None, "the pools are the same"
    assert line(SMALLER, replace(past, jobs=past.jobs[:5])) is None, "too few to tell"
    later = tuple(replace(job, started=job.started and job.started + timedelta(hours=9)) for job in past.jobs)
    assert line(SMALLER, replace(past, jobs=(*later[::2], *past.jobs[1::2]))) is None


class Unreachable:
    """A connection with which nothing can be read."""

    asked = 0

    def with_policy(self, _: object) -> Any:
        self.asked += 1
        raise OSError("no network")


@pytest.mark.parametrize(("after", "read"), [(4, 0), (6, 1)])
def test_the_past_is_read_only_where_pools_change_and_nothing_fails_for_it(after: int, read: int) -> None:
    old, new = (facts(builders.cluster("cpu", builders.pool("workers", CPU, 1, most))) for most in (4, after))
    connection = Unreachable()
    told = begin(published(old, new), cast(Connection, connection), TIME)
    assert told is None or told() is None
    assert connection.asked == read


def test_facts_that_no_version_writes_only_leave_the_line_out() -> None:
    odd = replace(catalog([SMALLER], OFFERS), clusters={"cpu": cast(Cluster, None)})
    was = Change.between("prod", Facts(catalog([NOW], OFFERS)), Facts(odd), Live((), (), {}, None), TIME)
    assert with_replay(Review("prod"), was, happened()) == Review("prod")
