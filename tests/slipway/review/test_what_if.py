"""The line of a review about past jobs on other pools: told where a replay can be trusted. # N16, N5"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from syrupy.assertion import SnapshotAssertion

from slipway.catalog.clusters import Cluster
from slipway.findings.finding import Finding, Subject
from slipway.findings.kinds import KINDS
from slipway.history.model import History
from slipway.review.rendering.lines import lines
from slipway.review.review import Review
from slipway.review.what_if import replays
from slipway.whatif.model import PoolDelays
from slipway.whatif.replay import replay
from tests.slipway.whatif.month import DAY, month
from tests.slipway.whatif.past import CPU, catalog, cluster, history, offer, pool, replayed, told

NOW, SMALLER = cluster("cpu", pool("workers", 2, 12)), cluster("cpu", pool("workers", 1, 4))
OFFERS = {f"template-{number}": [offer("pool", "cpu")] for number in range(5)}


def happened(jobs: int = 412) -> History:
    ran = replay(month(jobs, CPU, most=4), replayed(NOW, PoolDelays(20.0, 240.0, 900.0)), 30 * DAY)
    return history(told(ran, NOW), [NOW])


def line(after: Cluster, past: History | None) -> Finding | None:
    return next(replays(catalog([NOW], OFFERS), catalog([after], OFFERS), past), None)


def test_what_other_pools_would_have_meant_is_a_line_that_stands_open(snapshot: SnapshotAssertion) -> None:
    found = line(SMALLER, happened())
    assert found is not None and len(found.sentence.split()) <= 30
    assert found.sentence == snapshot
    beside = KINDS["cluster-new-generation"].of(Subject("cluster", "cpu"), "A second cluster is made")
    opened, _ = lines([Review("prod", (beside, found))])
    assert [one.lead.kind for one in opened] == ["cluster-new-generation", "what-if"]


def test_jobs_that_could_not_have_run_are_counted() -> None:
    found = line(cluster("cpu", pool("workers", 1, 2)), happened())
    assert found is not None and "could never have run" in found.sentence
    assert any("needs 4" in one for one in found.details)


def test_nothing_is_said_where_nothing_is_known_or_can_be_trusted() -> None:
    past = happened()
    assert line(SMALLER, None) is None
    assert line(NOW, past) is None, "the pools are the same"
    assert line(SMALLER, replace(past, jobs=past.jobs[:5])) is None, "too few to tell"
    later = tuple(replace(one, started=one.started and one.started + timedelta(hours=9)) for one in past.jobs)
    assert line(SMALLER, replace(past, jobs=(*later[::2], *past.jobs[1::2]))) is None
