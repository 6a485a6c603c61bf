"""Nothing becomes of a cluster that somebody else made, and no consequence says so. # N5 N13"""

from dataclasses import replace

from syrupy.assertion import SnapshotAssertion

from slipway.findings.finding import Grade
from slipway.review.clusters.clusters import clusters
from slipway.review.clusters.engine import deletions, unsaid_clusters
from slipway.review.clusters.options import adoption
from slipway.review.clusters.removals import removals
from tests.slipway.review.builders import change, cluster, facts, job, living, step

CPU = cluster()
THEIRS = replace(cluster("theirs", id="team-a"), adopted=True)
TYPE = "gcp:vertex/aiPersistentResource:AiPersistentResource"


def test_what_is_left_names_the_jobs_that_go_on_and_nothing_is_cancelled(snapshot: SnapshotAssertion) -> None:
    left = change(
        facts(THEIRS, CPU), facts(CPU), clusters=(living(THEIRS), living(CPU)), jobs=(job("train-1", on=THEIRS),)
    )
    (one,) = adoption(left)
    assert (one.kind, one.grade) == ("cluster-left", Grade.WARNING)
    assert one.sentence == snapshot
    assert "train-1" in one.details[0]
    assert not [*clusters(left), *removals(left), *deletions(left)]


def test_what_is_gone_is_not_kept() -> None:
    (one,) = adoption(change(facts(THEIRS), facts(), clusters=()))
    assert one.sentence.endswith("and is gone already")


def test_an_entry_that_follows_its_owner_says_what_is_told_otherwise() -> None:
    pool = replace(THEIRS.pools["workers"], max=9)
    now = replace(THEIRS, pools={"workers": pool}, labels={"team": "b"})
    (one,) = adoption(change(facts(THEIRS), facts(now), clusters=(living(now),)))
    assert one.grade is Grade.NOTE and "`pools.workers.replicas.max` 4 → 9" in one.sentence
    assert "labels" not in one.sentence
    assert not list(adoption(change(facts(THEIRS), facts(THEIRS), clusters=(living(THEIRS),))))


def test_an_engine_that_would_have_it_as_its_own_blocks() -> None:
    taken = step("import", TYPE, "team-a", new={"name": "team-a"})
    seen = change(facts(THEIRS), facts(THEIRS), clusters=(living(THEIRS),), steps=(taken,))
    (one,) = unsaid_clusters(seen)
    assert one.grade is Grade.BLOCKING and "may change or delete it" in one.sentence
