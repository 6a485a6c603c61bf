"""What comes by time alone, with no edit and no hand: the schedule is there for it, and goes on. # N1 # N2"""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from slipway.deploying.engine.preview import EngineStep
from slipway.google.catalog.document import PublishedCatalog
from slipway.model.catalog.clusters import Cluster, DormantCluster
from slipway.model.catalog.withdrawal import mark_under_way
from slipway.model.facts import Facts
from slipway.model.findings.finding import Grade
from slipway.model.season import Season
from slipway.reviewing.change.change import Change
from slipway.reviewing.gate import unannounced, worse
from slipway.reviewing.review import review
from tests.slipway.reviewing.builders import (
    CATALOG_BUCKET,
    H100,
    NOW,
    PROJECT,
    TRAINER,
    WORK_BUCKET,
    change,
    cluster,
    facts,
    job,
    kept,
    living,
    offer,
    pool,
    request,
    step,
    template,
    worker_pool,
)

WORKSPACE = "slipway:components:Workspace"
BUCKET, ACCOUNT = "gcp:storage/bucket:Bucket", "gcp:serviceaccount/account:Account"
ON_PROJECT, ON_BUCKET = "gcp:projects/iAMMember:IAMMember", "gcp:storage/bucketIAMMember:BucketIAMMember"
ROLE, VIEWER = "roles/aiplatform.user", "roles/storage.objectViewer"

OLD = cluster("h100", pool("workers", H100, 1, 4), id="h100-3e29a36")
NEW = cluster("h100", pool("workers", H100, 1, 6), id="h100-4b2277a")
TUNE = job("tune-27b-x1", on=OLD, buckets=frozenset({CATALOG_BUCKET, WORK_BUCKET}))


def stopped_by(one: Change) -> list[str]:
    """Kinds of what stops the scheduled deployment."""
    return [shut.kind for shut in unannounced([review(one)])]


@pytest.mark.parametrize(
    ("deployed", "under_way", "now", "why"),
    [
        (("3f9c2e1", False), None, ("3f9c2e1", False), ""),
        (("3f9c2e1", False), "81c0ff3", ("81c0ff3", False), ""),
        (("3f9c2e1", False), None, ("81c0ff3", False), "This is 81c0ff3, and 3f9c2e1 is deployed"),
        (("3f9c2e1", False), "81c0ff3", ("3f9c2e1", False), "This is 3f9c2e1, and 81c0ff3 is deployed"),
        (("3f9c2e1", True), None, ("3f9c2e1", True), "This is 3f9c2e1 with local changes, which nobody else has"),
        (("unknown", False), None, ("unknown", False), "This is unknown, which nobody else has"),
        (("3f9c2e1", False), "", ("3f9c2e1", False), "A deployment of what is in no commit was begun"),
    ],
)
def test_only_the_commit_that_is_deployed_or_was_begun_is_deployed_by_itself(
    deployed: tuple[str, bool], under_way: str | None, now: tuple[str, bool], why: str
) -> None:  # B6
    """Of main's, the stack's reviewers may have rejected some."""
    plain = facts(NEW)
    before, after = (
        replace(plain, catalog=replace(plain.catalog, commit=commit, dirty=dirty)) for commit, dirty in (deployed, now)
    )
    published = before.catalog if under_way is None else mark_under_way(before.catalog, under_way)
    same = change(before, after, clusters=[living(NEW)])
    same = replace(same, live=replace(same.live, catalog=PublishedCatalog(whole=published)))
    assert [why in one.sentence for one in unannounced([review(same)])] == [True] * bool(why)


EVALS, FAR = f"evals@{PROJECT}.iam.gserviceaccount.com", f"{WORK_BUCKET}-us-east4"
NEEDS_BOTH = replace(TUNE, service_account=EVALS, buckets=frozenset({FAR}))
KEPT = kept(EVALS, NEEDS_BOTH), kept(FAR, NEEDS_BOTH)
DEPLOYED: dict[str, Any] = {"trainers": {"evals": EVALS}, "work_elsewhere": {"us-east4": FAR}}
"""Fields of a catalog that still names both."""


def goes(type_: str, logical: str, /, *, retained: bool = False, **inputs: Any) -> EngineStep:
    return step("delete", type_, logical, old=inputs, parent=WORKSPACE, retained=retained)


def taken(account: str, role: str, type_: str = ON_PROJECT, **on: str) -> EngineStep:
    inputs: dict[str, Any] = {"member": f"serviceAccount:{account}", "role": role, **(on or {"project": PROJECT})}
    return goes(type_, f"{role}-{account}-{on}", **inputs)


GRANTS = (taken(EVALS, ROLE), taken(EVALS, VIEWER, ON_BUCKET, bucket=CATALOG_BUCKET))
THINGS = {
    "account-deleted": (goes(ACCOUNT, "trainer.evals", accountId="evals", project=PROJECT),),
    "bucket-left": (goes(BUCKET, f"work@{FAR}", retained=True, name=FAR),),
    "resource-forgotten": (goes(ACCOUNT, "trainer.evals", retained=True, accountId="evals", project=PROJECT),),
}
"""Steps of a deployment once the jobs that needed a removed entry have ended; an account of others stays."""


@pytest.mark.parametrize("kind", THINGS)
def test_what_was_kept_for_jobs_goes_when_they_have_ended_as_was_announced(kind: str) -> None:  # N5
    ended = change(facts(*KEPT), facts(), steps=(*THINGS[kind], *GRANTS))
    assert stopped_by(ended) == []
    assert list(worse([review(ended)], [])) == [], "nor anybody's `Run workflow`"
    (told,) = (one for one in review(ended).consequences if one.kind == kind)
    assert "as was announced" in told.sentence


@pytest.mark.parametrize("kind", THINGS)
@pytest.mark.parametrize(
    ("before", "jobs"),
    [
        pytest.param(facts(**DEPLOYED), (), id="an edit that nobody deployed"),
        pytest.param(facts(*KEPT, **DEPLOYED), (), id="one whose deployment did not come to its end"),
        pytest.param(facts(*KEPT), (NEEDS_BOTH,), id="a job needs it"),
    ],
)
def test_what_goes_otherwise_stops_it(kind: str, before: Facts, jobs: Any) -> None:
    goes_otherwise = change(before, facts(), steps=(*THINGS[kind], *GRANTS), jobs=jobs)
    assert kind in stopped_by(goes_otherwise)
    deleted = goes(BUCKET, f"work@{FAR}", name=FAR, forceDestroy=True)
    assert "bucket-deleted" in stopped_by(change(before, facts(), steps=[deleted], jobs=jobs)), "what was to stay"
    assert "access-lapsed" not in {one.kind for one in review(goes_otherwise).consequences}


def test_a_role_that_was_kept_for_jobs_goes_when_they_have_ended(snapshot: SnapshotAssertion) -> None:
    """Their template dropped its experiment while they ran."""
    metrics = request(worker_pool(), experiment="tunes")
    without, with_ = (template("lora", one) for one in (offer(), offer(request=metrics)))
    steps = [taken(TRAINER, ROLE)]
    ended = change(facts(without), facts(without), steps=steps)
    assert stopped_by(ended) == []
    (told,) = review(ended).consequences
    assert told.sentence == snapshot
    for before, after, jobs, how in (
        (with_, without, (), "the edit itself"),
        (with_, with_, (), "an edit of the program"),
        (without, without, (TUNE,), "a job runs as it"),
    ):
        assert "access-gone" in stopped_by(change(facts(before), facts(after), steps=steps, jobs=jobs)), how
    for other in (taken(TRAINER, "roles/viewer"), taken(f"else@{PROJECT}.iam.gserviceaccount.com", ROLE)):
        assert stopped_by(change(facts(without), facts(without), steps=[other])) == ["access-gone"]


FIRST = replace(cluster("first", pool("workers", H100, 1, 4)), season=Season(ends=NOW))
SECOND = replace(cluster("second", pool("workers", H100, 1, 4)), season=Season(begins=NOW))


def resting(*some: Cluster) -> dict[str, DormantCluster]:
    return {one.name: DormantCluster(**vars(one)) for one in some}


def turn(first: Cluster = FIRST, second: Cluster = SECOND, *, known: bool = True) -> Change:
    """`second` comes on the day that `first` goes. `known`: it was declared when the stack was deployed last."""
    before = facts(FIRST, dormant=resting(SECOND) if known else {})
    return change(before, facts(second, dormant=resting(first)), clusters=[living(FIRST)])


def test_seasons_that_take_turns_on_scarce_machines_stop_nothing() -> None:  # B6
    (anew,) = (one for one in review(turn()).consequences if one.kind == "capacity-found-anew")
    assert anew.grade is Grade.NOTE and "its season begins as that of `first` ends" in anew.sentence
    (anew,) = (one for one in review(turn(known=False)).consequences if one.kind == "capacity-found-anew")
    assert "beside" not in anew.sentence, "it is not paid beside the other"
    assert stopped_by(turn()) == []
    assert stopped_by(turn(second=replace(SECOND, id=f"{SECOND.id}-2"))) == [], "an id is spent by one that failed"
    third = cluster("another", pool("workers", H100, 1, 4))
    before, after = facts(FIRST, third, dormant=resting(SECOND)), facts(SECOND, dormant=resting(FIRST))
    for edited, how in (
        (turn(first=replace(FIRST, season=Season(ends=NOW - timedelta(days=1)))), "the end of the one"),
        (turn(second=replace(SECOND, season=Season(begins=NOW - timedelta(days=1)))), "the beginning of the other"),
        (turn(second=replace(SECOND, id="second-4b2277a")), "what the other is made of"),
        (turn(known=False), "that there is another one"),
        (change(before, after, clusters=[living(FIRST), living(third)]), "one that an edit takes out goes beside"),
    ):
        assert "capacity-found-anew" in stopped_by(edited), how
