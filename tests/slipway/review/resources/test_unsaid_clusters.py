"""Clusters that the engine makes, or keeps, otherwise than the program says. # N14 # D7"""

from dataclasses import replace
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from slipway.catalog.clusters import Cluster
from slipway.cluster import PoolSpec
from slipway.findings.finding import Finding, Grade
from slipway.labels import STACK_LABEL
from slipway.review.change import Change
from slipway.review.clusters.engine import unsaid_clusters
from tests.slipway.review.builders import CPU, H100, asked_for, change, cluster, facts, kept, pool, step

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


@pytest.mark.parametrize(
    ("inputs", "words"),
    [
        (
            asked(SMALL.id, PoolSpec("workers", CPU, 1, 40, True, 1).request()),
            "`pools.workers.replicas.max` is `40`, said to be `4`",
        ),
        (
            asked(SMALL.id, PoolSpec("workers", CPU, 1, 4, True, 9).request()),
            "`pools.workers.replicas` is `more than 4`, said to be `1–4`",
        ),
        (
            asked(SMALL.id, PoolSpec("workers", H100, 1, 4, True, 1).request()),
            "`pools.workers.machine` is `a3-highgpu-8g`",
        ),
        (
            asked(SMALL.id, PoolSpec("other", CPU, 1, 4, True, 1).request()),
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
    cluster("cpu", network_attachment="psc", dns_peerings=("corp.example. net shared",), reserved_ip_ranges=("a", "b")),
    labels={"team": "ml"},
    generation=3,
)
PEERINGS = [{"domain": "corp.example.", "targetProject": "evil", "targetNetwork": "shared"}]


@pytest.mark.parametrize(
    ("inputs", "key"),
    [
        (
            {"pscInterfaceConfig": {"networkAttachment": "psc", "dnsPeeringConfigs": PEERINGS}},
            "pscInterface.dnsPeeringConfigs",
        ),
        ({"pscInterfaceConfig": {"networkAttachment": "psc"}}, "pscInterface.dnsPeeringConfigs"),
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
    """It leaves labels and display name as they live."""
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


def test_a_deletion_that_only_forgets_is_no_end_of_the_bill() -> None:
    steps = [step("delete", VERTEX, SMALL.id, old=asked(), retained=True)]
    (one,) = said(change(facts(SMALL), facts(), steps=steps))
    assert (one.kind, one.grade) == ("resource-forgotten", Grade.BLOCKING)
    assert "paid as before" in one.sentence


@pytest.mark.parametrize("edited", [{"labels": {"team": "b"}}, {"displayName": "other"}])
def test_an_update_of_a_living_cluster_is_stopped(edited: dict[str, Any]) -> None:
    """The service has no such update, whatever code makes the engine ask for one."""
    updated = step("update", VERTEX, SMALL.id, old=asked(), new={**asked(), **edited}, diffs=tuple(edited))
    (one,) = said(change(facts(SMALL), facts(SMALL), steps=[updated]))
    assert (one.kind, one.subject, one.grade) == ("cluster-unsaid", f"cluster {SMALL.id}", Grade.BLOCKING)
