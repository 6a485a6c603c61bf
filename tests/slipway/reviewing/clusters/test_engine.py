"""Steps of the engine on clusters: made or kept otherwise than the program says, or deleted. # N1 # N14"""

from dataclasses import replace
from typing import Any

import pytest

from slipway.deploying.engine.preview import EngineStep
from slipway.model.catalog.clusters import Cluster
from slipway.model.cluster import DnsPeering, PoolSpec, PscInterface
from slipway.model.facts import Facts
from slipway.model.findings.finding import Finding, Grade
from slipway.model.labels import STACK_LABEL
from slipway.model.machines.spec import MachineSpec
from slipway.reviewing.change import Change
from slipway.reviewing.clusters.clusters import clusters
from slipway.reviewing.clusters.engine import deletions, unsaid_clusters
from slipway.reviewing.clusters.removals import removals
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


def pools(name: str, machine: MachineSpec, high: int, replicas: int) -> dict[str, Any]:
    return asked(SMALL.id, PoolSpec(name, machine, 1, high, True, replicas).request())


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


def test_an_old_generation_that_stays_is_told_elsewhere() -> None:
    old = cluster("cpu", pool("workers", CPU, 2, 4))
    steps = [step("import", VERTEX, old.id, new=asked(old.id))]
    assert said(change(facts(old), facts(SMALL, kept(old)), steps=steps)) == []


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


def test_machines_in_use_count_as_a_job_whatever_lists_say() -> None:
    found = told(ends(facts(OLD), facts(NEW), used=2, jobs=()))
    assert found["jobs-cancelled"].details == (f"its id is `{OLD.id}`",)
    assert "that no list shows yet" in found["jobs-cancelled"].sentence
