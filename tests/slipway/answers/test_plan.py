"""What happens to clusters, and to the jobs on them."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

from slipway.answers import plan
from slipway.answers.answer import differences
from slipway.answers.comparison import Comparison, Side
from slipway.deploying.engine.preview import Preview
from slipway.google.catalog.document import PublishedCatalog
from slipway.model.catalog.clusters import DormantCluster, PricedAlternative
from slipway.model.catalog.withdrawal import withdrawn
from slipway.model.cluster import IN_PLACE, Adoption
from slipway.model.facts import Facts
from slipway.model.findings.finding import Finding, Grade
from slipway.model.season import Season
from tests.slipway.reviewing.builders import (
    CPU,
    H100,
    NOW,
    UNREAD,
    asked_for,
    by_kind,
    catalog,
    change,
    cluster,
    facts,
    job,
    kept,
    living,
    pool,
    step,
)

VERTEX = "gcp:vertex/aiPersistentResource:AiPersistentResource"
OLD = cluster("h100", pool("workers", H100, 1, 4))
NEW = cluster("h100", pool("workers", H100, 1, 6))
JOB = job("tune", on=OLD, user="ada")
NOTE, WARNING, BLOCKING = Grade


def asked(comparison: Comparison) -> dict[str, Finding]:
    sides = [tuple(plan.answers(comparison, side)) for side in Side]
    return by_kind(plan.findings(comparison, differences(*sides)))


def found(before: Facts | None, after: Facts | None, **world: Any) -> dict[str, Finding]:
    world.setdefault("clusters", [living(OLD)])
    return asked(change(before, after, **world).comparison)


def test_nothing_changes() -> None:
    assert found(facts(OLD), facts(OLD), jobs=[JOB]) == {}
    assert found(facts(OLD), facts(OLD), clusters=UNREAD, jobs=UNREAD) == {}
    assert found(None, facts(OLD), clusters=[])["cluster-created"].grade is NOTE


def test_a_cluster_is_replaced() -> None:
    (part,) = found(facts(OLD), facts(NEW, kept(OLD, JOB)), jobs=[JOB]).values()
    assert (part.kind, part.subject, part.grade) == ("cluster-replaced", "cluster h100", WARNING)
    assert part.sentence == (
        "replace (create before delete): `pools.workers.replicas.max` 4 → 6; "
        "billed twice until the end of job `tune` (ada) ($101.14/h); needs 1 `a3-highgpu-8g` now"
    )
    assert part.field == "slipway:persistentResources.h100.pools.workers.replicas.max"
    assert (part.facts["users"], part.facts["jobs"], round(part.cost)) == (("ada",), 1, 101)
    (idle,) = found(facts(OLD), facts(NEW)).values()
    assert "billed" not in idle.sentence


def test_in_place_replacement_is_blocking_and_rejected_while_jobs_run() -> None:
    new = replace(NEW, replacement=IN_PLACE)
    old = replace(OLD, replacement=IN_PLACE)
    assert found(facts(old), facts(new))["cluster-replaced"].grade is BLOCKING
    rejected = found(facts(old), facts(new, kept(OLD, JOB)), jobs=[JOB])["cluster-replaced"]
    assert rejected.grade is BLOCKING and "rejected until the end of job `tune` (ada)" in rejected.sentence


def test_a_deployment_that_continues_an_interrupted_one_does_no_new_harm() -> None:
    old, new = replace(OLD, replacement=IN_PLACE), replace(NEW, replacement=IN_PLACE)
    begun = replace(withdrawn(catalog(old), [OLD.id], NOW), under_way="2a2a2a2")
    comparison = change(facts(old), facts(new, commit="2a2a2a2"), clusters=[living(OLD)]).comparison
    live = replace(comparison.world.live, catalog=PublishedCatalog(whole=begun))
    assert asked(comparison)["cluster-replaced"].grade is BLOCKING
    comparison = replace(comparison, world=replace(comparison.world, live=live))
    assert asked(comparison)["cluster-replaced"].grade is NOTE


def test_a_cluster_is_deleted() -> None:
    other = cluster("cpu")
    clusters = [living(OLD), living(other)]
    drained = found(facts(OLD, other), facts(other, kept(OLD, JOB)), jobs=[JOB], clusters=clusters)["cluster-deleted"]
    assert drained.grade is BLOCKING and drained.sentence.startswith("drain, then delete: takes no new jobs")
    idle = found(facts(OLD, other), facts(OLD), clusters=clusters)["cluster-deleted"]
    assert (idle.subject, idle.grade) == ("cluster cpu", WARNING) and "gives back 1 `n1-standard-8`" in idle.sentence
    gone = found(facts(OLD, other), facts(OLD))["cluster-deleted"]
    assert gone.grade is NOTE and "no longer exists" in gone.sentence


def test_the_deployed_dates_end_a_cluster() -> None:
    season = Season(ends=NOW - timedelta(hours=1))
    old = replace(OLD, season=season)
    asleep = DormantCluster(**{**vars(old), "why": "season", "since": season.ends})
    ended = found(facts(old, cluster("cpu")), facts(cluster("cpu"), dormant={"h100": asleep}))
    assert ended["cluster-deleted"].grade is NOTE and "capacity-changed" not in ended


def test_jobs_are_cancelled_if_pulumi_or_the_program_does_not_keep_their_cluster() -> None:
    gone = step("delete", VERTEX, OLD.id, old=asked_for(OLD))
    parts = found(facts(OLD), facts(NEW, kept(OLD, JOB)), jobs=[JOB], steps=[gone])
    assert parts["jobs-cancelled"].grade is BLOCKING and "job `tune` (ada)" in parts["jobs-cancelled"].sentence
    assert "although the program declares it" in parts["cluster-deleted"].sentence
    assert "jobs-cancelled" in found(facts(OLD), facts(NEW), jobs=[JOB], preview=Preview(why="it was cut"))
    assert "jobs-cancelled" not in found(facts(OLD), facts(NEW, kept(OLD, JOB)), jobs=[JOB])


def test_a_deployed_cluster_is_deleted_although_it_is_declared() -> None:
    gone = step("delete", VERTEX, OLD.id, old=asked_for(OLD))
    part = found(facts(OLD), facts(OLD), steps=[gone])["cluster-deleted"]
    assert part.grade is BLOCKING and "gives back 1 `a3-highgpu-8g`" in part.sentence


def test_pulumi_does_other_than_the_program_says() -> None:
    left = step("delete", VERTEX, OLD.id, old=asked_for(OLD), retained=True)
    assert found(facts(OLD), facts(OLD), steps=[left])["cluster-orphaned"].grade is BLOCKING
    edited = step("update", VERTEX, OLD.id, old=asked_for(OLD), new=asked_for(OLD), diffs=["network"])
    assert "`network`" in found(facts(OLD), facts(OLD), steps=[edited])["cluster-rejected"].sentence
    other = step("create", VERTEX, NEW.id, new=asked_for(NEW, network="other"))
    comparison = change(facts(), facts(NEW), clusters=[], steps=[other]).comparison
    made = max(plan.findings(comparison, ()), key=lambda part: part.grade)
    assert (made.kind, made.grade) == ("cluster-updated", BLOCKING) and "`network`" in made.sentence


def test_capacity_becomes_less() -> None:
    less = cluster("h100", pool("workers", H100, 1, 2))
    part = found(facts(OLD), facts(less))["capacity-changed"]
    assert (part.grade, part.sentence) == (WARNING, "`a3-highgpu-8g` at most 4 → 2")
    two = cluster("h100", pool("workers", H100, 2, 4))
    part = found(facts(two), facts(OLD), clusters=[living(two)])["capacity-changed"]
    assert (part.grade, part.sentence) == (
        BLOCKING,
        "`NVIDIA_H100_80GB` always ready 16 → 8; `a3-highgpu-8g` always ready 2 → 1",
    )
    small = found(facts(cluster("cpu", pool(low=2))), facts(cluster("cpu", pool(low=1))))["capacity-changed"]
    assert small.grade is WARNING
    assert "capacity-changed" not in found(facts(OLD), facts(NEW))
    renamed = cluster("h100", pool("gpus", H100, 1, 4))
    assert "capacity-changed" not in found(facts(OLD), facts(renamed))


def test_dates_change() -> None:
    def until(days: int) -> Facts:
        return facts(replace(OLD, season=Season(ends=NOW + timedelta(days=days))))

    assert found(until(90), until(60))["capacity-changed"].grade is WARNING
    assert found(until(90), until(3))["capacity-changed"].grade is BLOCKING
    later = found(until(60), until(90))["capacity-changed"]
    dates = "`until` 2027-01-20 09:00 UTC → 2027-02-19 09:00 UTC"
    assert (later.grade, later.sentence) == (NOTE, f"{dates}; then the next deployment deletes it")
    assert later.field == "slipway:persistentResources.h100.until"


def test_alternatives_and_settings_change() -> None:
    other = PricedAlternative((pool("workers", CPU, 1, 4),), "us-east4")
    part = found(facts(OLD), facts(replace(OLD, alternatives=(other,))))["capacity-changed"]
    assert part.sentence == "alternative 1 none → 1–4 n1-standard-8 in us-east4"
    risky = found(facts(OLD), facts(replace(OLD, replacement=IN_PLACE)))["cluster-updated"]
    assert risky.grade is WARNING


def test_a_cluster_of_another_owner_is_imported_and_left() -> None:
    theirs = replace(OLD, adopted=Adoption(OLD.id))
    assert found(facts(cluster("cpu")), facts(cluster("cpu"), theirs))["cluster-orphaned"].grade is WARNING
    assert found(facts(cluster("cpu"), theirs), facts(cluster("cpu")))["cluster-orphaned"].grade is WARNING


def test_edits_show_where_both_sides_differ() -> None:
    old, new = (replace(OLD, kms_key=f"projects/{project}/keys/main") for project in ("one", "two"))
    (part,) = found(facts(old), facts(replace(new, id="h100-2"))).values()
    assert "`encryption.kmsKey` projects/one/keys/main → projects/two/keys/main" in part.sentence
