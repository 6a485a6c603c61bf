"""Changes that come by time alone: the schedule is there for them, and goes on; what nobody deployed
stops it. # N1 # N2 # N5 # B6 # Z2"""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from slipway.deploying.engine.preview import EngineStep
from slipway.deploying.generations.published_clusters import published
from slipway.google.catalog.document import PublishedCatalog
from slipway.model.catalog.clusters import Cluster, DormantCluster
from slipway.model.catalog.withdrawal import mark_under_way
from slipway.model.cluster import Alternative, ClusterSpec, CurrentCluster, PoolSpec
from slipway.model.facts import Facts, QuotaFacts, QuotaLine
from slipway.model.findings.finding import Grade
from slipway.model.fingerprint import cluster_id, fingerprint_of
from slipway.model.machines.spec import MachineSpec
from slipway.model.season import Season
from slipway.reviewing.change.change import Change
from slipway.reviewing.gate import unannounced, worse
from slipway.reviewing.reviewer import review
from tests.slipway.reviewing.builders import (
    CATALOG_BUCKET,
    H100,
    NOW,
    PROJECT,
    REGION,
    STACK,
    WORK_BUCKET,
    change,
    cluster,
    facts,
    job,
    kept,
    limits,
    living,
    pool,
    quota,
    step,
)

WORKSPACE = "slipway:index:Workspace"
BUCKET, ACCOUNT = "gcp:storage/bucket:Bucket", "gcp:serviceaccount/account:Account"
ON_PROJECT, ON_BUCKET = "gcp:projects/iAMMember:IAMMember", "gcp:storage/bucketIAMMember:BucketIAMMember"
ROLE, VIEWER = "roles/aiplatform.user", "roles/storage.objectViewer"

OLD = cluster("h100", pool("workers", H100, 1, 4), id="h100-3e29a36")
NEW = cluster("h100", pool("workers", H100, 1, 6), id="h100-4b2277a")
TUNE = job("tune-27b-x1", on=OLD, buckets=frozenset({CATALOG_BUCKET, WORK_BUCKET}))


def stopped_by(changed: Change) -> list[str]:
    """Return the kinds of what stops the scheduled deployment."""
    return [shut.kind for shut in unannounced([review(changed)])]


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
    assert [why in consequence.sentence for consequence in unannounced([review(same)])] == [True] * bool(why)


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
    (told,) = (consequence for consequence in review(ended).consequences if consequence.kind == kind)
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
    assert "access-lapsed" not in {consequence.kind for consequence in review(goes_otherwise).consequences}


FIRST = replace(cluster("first", pool("workers", H100, 1, 4)), season=Season(ends=NOW))
SECOND = replace(cluster("second", pool("workers", H100, 1, 4)), season=Season(begins=NOW))


def resting(*some: Cluster) -> dict[str, DormantCluster]:
    return {entry.name: DormantCluster(**vars(entry)) for entry in some}


def turn(first: Cluster = FIRST, second: Cluster = SECOND, *, known: bool = True) -> Change:
    """`second` comes on the day that `first` goes. `known`: it was declared when the stack was deployed last."""
    before = facts(FIRST, dormant=resting(SECOND) if known else {})
    return change(before, facts(second, dormant=resting(first)), clusters=[living(FIRST)])


def test_seasons_that_take_turns_on_scarce_machines_stop_nothing() -> None:  # B6
    (anew,) = (consequence for consequence in review(turn()).consequences if consequence.kind == "capacity-found-anew")
    assert anew.grade is Grade.NOTE and "`first` are not handed on" in anew.sentence
    (anew,) = (
        consequence
        for consequence in review(turn(known=False)).consequences
        if consequence.kind == "capacity-found-anew"
    )
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


BEGINS, ENDS = Season(begins=NOW), Season(ends=NOW)


def comes(was: Cluster, becomes: Cluster) -> Change:
    return change(facts(NEW, dormant=resting(was)), facts(NEW, becomes), clusters=[living(NEW)])


def ends(was: Cluster, becomes: Cluster) -> Change:
    return change(facts(was, NEW), facts(NEW, dormant=resting(becomes)), clusters=[living(was), living(NEW)])


CPUS, FEWER, OTHERS = (
    PoolSpec("workers", MachineSpec(machine), low, high, True, low)
    for machine, low, high in (("n1-standard-8", 1, 4), ("n1-standard-4", 1, 4), ("n1-standard-16", 2, 9))
)
OPEN = ClusterSpec("open", (CPUS,), season=BEGINS, alternatives=(Alternative((FEWER,), "us-east4"),))


def made(spec: ClusterSpec, option: int = 0) -> Cluster:
    """A cluster as the catalog has it, by the id that it would have."""
    there = spec.options[option]
    fingerprint = fingerprint_of(STACK, PROJECT, REGION, there)
    return published(CurrentCluster(there, cluster_id(spec.name, fingerprint), fingerprint, import_=True), REGION)


@pytest.mark.parametrize(("alternatives", "edit"), [((Alternative((OTHERS,)),), "`2–9 n1-standard-16`"), ((), "none")])
def test_other_alternatives_that_nobody_deployed_stop_it_before_they_count_as_deployed(
    alternatives: tuple[Alternative, ...], edit: str
) -> None:
    over = replace(OPEN, season=ENDS)
    other = replace(over, alternatives=alternatives)
    told = f"`alternatives` `1–4 n1-standard-4 in us-east4` → {edit}"
    assert "season-changed" in stopped_by(ends(made(over), made(other)))
    (season,) = (
        consequence
        for consequence in review(ends(made(over), made(other))).consequences
        if consequence.kind == "season-changed"
    )
    assert told in map(str, season.edits)
    assert set(stopped_by(ends(made(over, 1), made(other)))) == {"season-changed"}


GPUS, A100S = (f"custom_model_training_nvidia_{gpus}_gpus" for gpus in ("h100", "a100"))
PLAIN = cluster("first", pool("workers", H100, 1, 4))


def told(changed: Change) -> set[str]:
    return {each.kind for each in review(changed).consequences}


def drawing(asked: int, *, mode: str = "request", short: int = 0, offers: int = 0, **drawn: int) -> QuotaFacts:
    """`drawn`: at most, by the cluster."""
    shares = {f"{name}/workers": amount for name, amount in drawn.items()}
    lines = [QuotaLine(GPUS, "short" if short else "tight", short, shares, sum(drawn.values()), 8)]
    if offers:
        lines.append(QuotaLine(f"{GPUS} offers", "ok", 0, {"lora on-demand": offers}, offers, 8))
    return replace(quota(*lines, mode=mode), requests={GPUS: asked} if asked else None)


def deployed(before: QuotaFacts, *some: Cluster) -> Facts:
    return facts(*(some or [PLAIN]), dormant={"second": DormantCluster(**vars(SECOND))}, quota=before)


def season_begins(before: QuotaFacts, after: QuotaFacts, second: Cluster = SECOND, first: Cluster = PLAIN) -> Change:
    there = [living(first)]
    return change(deployed(before), facts(first, second, quota=after), clusters=there, limits=limits({GPUS: 8}))


@pytest.mark.parametrize(
    ("short", "kinds"), [(0, {"season-quota-requested"}), (8, {"season-quota-requested", "season-awaits-quota"})]
)
def test_what_a_season_asks_of_quota_stops_nothing(short: int, kinds: set[str]) -> None:
    """Else nobody would ever ask for it."""
    begins = season_begins(drawing(0, first=8), drawing(40, short=short, first=8, second=32))
    assert stopped_by(begins) == []
    assert kinds <= told(begins)
    again = season_begins(drawing(40, short=short, first=8, second=32), drawing(40, short=short, first=8, second=32))
    assert told(again).isdisjoint(kinds), "said once"


def hour(before: QuotaFacts, after: QuotaFacts, *some: Cluster) -> Change:
    """An hour in which nobody edits anything."""
    known = some or (PLAIN,)
    there = [living(item) for item in known]
    was, becomes = deployed(before, *known), deployed(after, *known)
    return change(was, becomes, clusters=there, limits=limits({GPUS: 8, A100S: 8}))


def test_what_an_alternative_asks_for_once_it_is_there_stops_nothing() -> None:  # N2
    """The quota was asked for what was to be made first, before there was an alternative."""
    machine = MachineSpec("a2-highgpu-8g", "NVIDIA_TESLA_A100", 8)
    there = replace(PLAIN, id="first-a1a1a1a", pools=(pool("workers", machine, 1, 4),), alternative=1)
    line = QuotaLine(A100S, "tight", 0, {"first/workers": 32}, 32, 8)
    after = replace(quota(line, mode="request"), requests={A100S: 32})
    asks = hour(drawing(32, first=32), after, there)
    assert "deployed-quota-requested" in told(asks) and stopped_by(asks) == []
