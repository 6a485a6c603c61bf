"""Steps of the engine on clusters: made or kept otherwise than the program says, or deleted. # N1 # N14"""

from dataclasses import replace
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from slipway.deploying.engine.preview import EngineStep, Preview
from slipway.model.catalog.clusters import Cluster
from slipway.model.cluster import Adoption, DnsPeering, PoolSpec, PscInterface
from slipway.model.facts import Facts
from slipway.model.findings.finding import Finding, Grade
from slipway.model.labels import STACK_LABEL
from slipway.model.machines.spec import MachineSpec
from slipway.model.prices import Price
from slipway.reviewing.change import Change
from slipway.reviewing.clusters.clusters import clusters
from slipway.reviewing.clusters.engine import deletions, unsaid_clusters
from slipway.reviewing.clusters.removals import removals
from slipway.reviewing.money import money
from tests.slipway.reviewing.builders import (
    CPU,
    H100,
    asked_for,
    by_kind,
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
SMALL = cluster("cpu", pool("workers", CPU, 1, 4))


def asked(id_: str = SMALL.id, *pools: dict[str, Any], **inputs: Any) -> dict[str, Any]:
    return asked_for(SMALL, **{"name": id_, **({"resourcePools": list(pools)} if pools else {}), **inputs})


def said(of: Change) -> list[Finding]:
    return list(unsaid_clusters(of))


def made(inputs: dict[str, Any], of: Cluster = SMALL, op: str = "create") -> list[Finding]:
    steps = [step(op, VERTEX, str(inputs["name"]), new=inputs)]
    return said(change(facts(), facts(of), steps=steps))


def test_a_cluster_that_is_made_as_it_is_said_is_silent() -> None:
    assert made(asked()) == []


def test_one_that_no_stack_file_names_is_named_with_its_machines_and_their_cost(snapshot: SnapshotAssertion) -> None:
    (one,) = made(asked("mine", {"id": "x", **H100.request(), "replicaCount": "50"}))
    assert (one.kind, one.subject, one.grade) == ("cluster-unsaid", "cluster mine", Grade.BLOCKING)
    assert one.sentence == snapshot


@pytest.mark.parametrize("pools", [[5], [{"replicaCount": "many"}], "x", []])
def test_one_whose_machines_nobody_can_tell(pools: Any) -> None:
    (one,) = made({**asked("mine"), "resourcePools": pools})
    assert "machines that nobody can tell" in one.sentence


def pools(name: str, machine: MachineSpec, high: int, replicas: int) -> dict[str, Any]:
    return asked(SMALL.id, PoolSpec(name, machine, 1, high, True, replicas).request())


@pytest.mark.parametrize(
    ("inputs", "words"),
    [
        (pools("workers", CPU, 40, 1), "`pools.workers.replicas.max` is `40`, said to be `4`"),
        (pools("workers", CPU, 4, 9), "`pools.workers.replicas` is `more than 4`, said to be `1–4`"),
        (pools("workers", H100, 4, 1), "`pools.workers.machine` is `a3-highgpu-8g`"),
        (
            pools("other", CPU, 4, 1),
            "`pools.other` is `1–4 n1-standard-8`, said to be none and `pools.workers` is none",
        ),
        (asked(network="projects/1/global/networks/x"), "`network` is `projects/1/global/networks/x`, said to be none"),
        (asked(project="victim"), "`project` is `victim`, said to be `acme-prod`"),
        (asked(resourcePools=[5]), "its fields can't be read"),
        (asked(labels="x"), "its fields can't be read"),
    ],
)
def test_one_that_is_made_otherwise_than_it_is_said(inputs: dict[str, Any], words: str) -> None:
    (one,) = made(inputs)
    assert (one.kind, one.grade) == ("cluster-unsaid", Grade.BLOCKING)
    assert words in one.sentence


PEERED = replace(
    cluster(
        "cpu", psc=PscInterface("psc", (DnsPeering("corp.example.", "net", "shared"),)), reserved_ip_ranges=("a", "b")
    ),
    labels={"team": "ml"},
    generation=3,
)
PSC = {"networkAttachment": "psc"}
PEERINGS = [{"domain": "corp.example.", "targetProject": "evil", "targetNetwork": "shared"}]


@pytest.mark.parametrize(
    ("inputs", "key"),
    [
        ({"pscInterfaceConfig": {**PSC, "dnsPeeringConfigs": PEERINGS}}, "pscInterface.dnsPeeringConfigs"),
        ({"pscInterfaceConfig": PSC}, "pscInterface.dnsPeeringConfigs"),
        ({"reservedIpRanges": ["a"]}, "reservedIpRanges"),
        ({"labels": {**asked_for(PEERED)["labels"], "team": "others"}}, "labels.team"),
        ({"labels": {**asked_for(PEERED)["labels"], STACK_LABEL: "dev"}}, f"labels.{STACK_LABEL}"),
        ({"displayName": "another"}, "displayName"),
        ({"resourceRuntimeSpec": {}}, "serviceAccount.custom"),
        ({"encryptionSpec": {"kmsKeyName": "k"}}, "encryption.kmsKey"),
    ],
)
def test_each_field_that_is_made_otherwise_is_named(inputs: dict[str, Any], key: str) -> None:
    assert made(asked_for(PEERED), PEERED) == []
    (one,) = made(asked_for(PEERED, **inputs), PEERED)
    assert (one.kind, one.grade) == ("cluster-unsaid", Grade.BLOCKING)
    assert f"`{key}` is " in one.sentence and one.sentence.count("said to be") == 1


def test_what_the_engine_takes_over_keeps_its_names_whatever_the_program_says() -> None:
    """The engine leaves labels and display name as they live."""
    lives = asked_for(PEERED, displayName="renamed by hand", labels={"team": "x", "goog-managed": "y"})
    assert made(lives, PEERED, "import") == []
    (one,) = made({**lives, "reservedIpRanges": []}, PEERED, "import")
    assert "`reservedIpRanges` is none" in one.sentence


def test_an_old_generation_that_stays_is_told_elsewhere() -> None:
    old = cluster("cpu", pool("workers", CPU, 2, 4))
    steps = [step("import", VERTEX, old.id, new=asked(old.id))]
    assert said(change(facts(old), facts(SMALL, kept(old)), steps=steps)) == []


@pytest.mark.parametrize(
    ("retains", "protects", "words"),
    [
        (True, False, "stays in the cloud, paid, when it leaves the stack from now on"),
        (False, True, "can't be deleted, so the deployment that would fails from now on"),
    ],
)
def test_one_that_is_kept_otherwise(retains: bool, protects: bool, words: str) -> None:
    same = step("same", VERTEX, SMALL.id, old=asked(), new=asked())
    assert same.new
    kept_otherwise = replace(same, new=replace(same.new, retained=retains, protected=protects))
    (one,) = said(change(facts(SMALL), facts(SMALL), steps=[kept_otherwise]))
    assert (one.kind, one.grade) == ("cluster-protection", Grade.WARNING)
    assert words in one.sentence


@pytest.mark.parametrize("edited", [{"labels": {"team": "b"}}, {"displayName": "other"}])
def test_an_update_of_a_living_cluster_is_stopped(edited: dict[str, Any]) -> None:
    """The service has no such update, whatever code makes the engine ask for one."""
    updated = step("update", VERTEX, SMALL.id, old=asked(), new={**asked(), **edited}, diffs=tuple(edited))
    (one,) = said(change(facts(SMALL), facts(SMALL), steps=[updated]))
    assert (one.kind, one.subject, one.grade) == ("cluster-unsaid", f"cluster {SMALL.id}", Grade.BLOCKING)


OLD = cluster("h100", pool("workers", H100, 1, 4), id="h100-3e29a36")
NEW = cluster("h100", pool("workers", H100, 1, 6), id="h100-4b2277a")
TUNE = job("tune-27b-x1", on=OLD)
GOES = step("delete", VERTEX, OLD.id, old={"name": OLD.id})


def ends(before: Facts, after: Facts, away: EngineStep | None = GOES, used: int = 1, **fields: Any) -> Change:
    """The engine takes the cluster away, with a job on it where none is named."""
    fields = {"clusters": [living(OLD, used=used)], "jobs": [TUNE], "steps": None if away is None else [away], **fields}
    return change(before, after, **fields)


def told(change: Change) -> dict[str, Finding]:
    return by_kind([*clusters(change), *removals(change), *deletions(change)])


def test_an_old_generation_that_is_idle_goes_as_announced() -> None:
    for away in (GOES, None):
        there = [living(OLD), living(NEW)]
        found = told(ends(facts(NEW, kept(OLD)), facts(NEW), away, clusters=there, jobs=()))
        assert [(kind, one.grade) for kind, one in found.items()] == [("cluster-deleted", Grade.NOTE)]


@pytest.mark.parametrize(
    ("op", "verb"),
    [
        ("delete", "deletes"),
        ("delete-replaced", "deletes"),
        ("replace", "replaces"),
        ("create-replacement", "replaces"),
    ],
)
def test_a_cluster_that_the_engine_takes_away_under_its_jobs_is_graded_as_that(op: str, verb: str) -> None:  # N1
    away = step(op, VERTEX, OLD.id, old={"name": OLD.id}, replaces=["resourcePools[0].diskSpec"])
    found = told(ends(facts(OLD), facts(OLD), away))
    assert {kind: one.grade for kind, one in found.items()} == dict.fromkeys(
        ("jobs-cancelled", "cluster-deleted"), Grade.BLOCKING
    )
    cancelled = found["jobs-cancelled"]
    assert cancelled.subject == "cluster h100" and cancelled.cost > 100
    assert cancelled.sentence == (
        f"`tune-27b-x1` (user-a, running 3 h 12 min) is cancelled: this deployment {verb} `h100` under it because of "
        "`resourcePools[0].diskSpec`; wait until it has ended; its 1 `a3-highgpu-8g` may not come again"
    )


def test_nothing_finishes_on_what_the_engine_deletes_nor_is_it_paid_until_then() -> None:
    beside = ends(facts(OLD), facts(NEW, kept(OLD, TUNE)))
    found = told(beside)
    assert found.keys() == {"cluster-new-generation", "jobs-cancelled", "cluster-deleted"}
    anew = found["cluster-new-generation"]
    assert anew.sentence.endswith("; the old one is deleted then, with what runs on it") and not anew.cost
    assert money(beside).overlap == Price()
    removed = told(ends(facts(OLD), facts(kept(OLD, TUNE))))
    assert removed.keys() == {"cluster-created", "jobs-cancelled", "cluster-deleted"}


def test_machines_in_use_count_as_a_job_whatever_lists_say() -> None:
    found = told(ends(facts(OLD), facts(NEW), used=2, jobs=()))
    assert found["jobs-cancelled"].details == (f"its id is `{OLD.id}`",)
    assert "that no list shows yet" in found["jobs-cancelled"].sentence


def test_an_idle_one_replaced_behind_the_plan_s_back_is_a_deletion() -> None:
    away = step("delete-replaced", VERTEX, OLD.id, old={"name": OLD.id}, replaces=["labels"])
    found = told(ends(facts(OLD), facts(OLD), away, used=0, jobs=()))
    assert found.keys() == {"cluster-deleted"}
    assert found["cluster-deleted"].sentence == (
        "`h100`, which the stack still asks for, is deleted because of `labels`, and its 1 `a3-highgpu-8g` "
        "may not come again"
    )


def test_what_stays_in_the_cloud_loses_nothing_and_what_was_not_computed_follows_from_the_facts() -> None:
    stays = step("delete", VERTEX, OLD.id, old={"name": OLD.id}, retained=True)
    assert "jobs-cancelled" not in told(ends(facts(OLD), facts(NEW), stays, used=0))
    cut = Preview(why="incomplete: deletions not computed")
    assert "jobs-cancelled" in told(ends(facts(OLD), facts(NEW), None, used=0, preview=cut))


def test_an_engine_that_would_have_an_adopted_one_as_its_own_blocks() -> None:  # N13
    theirs = replace(cluster("theirs", id="team-a"), adopted=Adoption("team-a"))
    taken = step("import", VERTEX, "team-a", new={"name": "team-a"})
    (one,) = said(change(facts(theirs), facts(theirs), clusters=(living(theirs),), steps=(taken,)))
    assert one.grade is Grade.BLOCKING and "may change or delete it" in one.sentence
