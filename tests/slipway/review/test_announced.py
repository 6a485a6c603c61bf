"""What comes by time alone, with no edit and no hand: the schedule is there for it, and goes on. # N1 # N2"""

from dataclasses import replace

from slipway.review.change import Change
from slipway.review.gate import unannounced
from slipway.review.review import review
from tests.slipway.review.builders import H100, change, cluster, facts, job, kept, living, pool

OLD = cluster("h100", pool("workers", H100, 1, 4), id="h100-3e29a36")
NEW = cluster("h100", pool("workers", H100, 1, 6), id="h100-4b2277a")
TUNE = job("tune-27b-x1", on=OLD)


def stopped_by(one: Change) -> list[str]:
    """Kinds of what stops the scheduled deployment."""
    return [shut.kind for shut in unannounced([review(one)])]


def test_a_job_that_runs_longer_than_retire_within_is_told_and_stops_nothing() -> None:
    """What stopped here would never write that it was told, and so stop every hour: an alarm, and no end of a job."""
    before, late = facts(NEW, kept(OLD, TUNE)), facts(NEW, kept(OLD, TUNE, overdue=True))
    there = [living(OLD, used=1), living(NEW)]
    passes = change(before, late, clusters=there, jobs=[TUNE])
    assert [one.kind for one in review(passes).consequences] == ["cluster-overdue"]
    assert stopped_by(passes) == []
    sooner = replace(NEW, retire_within=3600.0)
    edited = change(before, facts(sooner, kept(OLD, TUNE, overdue=True)), clusters=there, jobs=[TUNE])
    assert stopped_by(edited) == ["cluster-protection"], "nobody deployed that limit"
