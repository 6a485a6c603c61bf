"""Previews that end early, whatever ended them: they are told as far as they went, and nothing is told to go. # N5"""

import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slipway.answers.comparison import Side
from slipway.deploying.engine.events import read
from slipway.model.facts import CATALOG, CLUSTER, QUOTA, TEMPLATE, WORKSPACE, Facts
from slipway.reviewing.change.reading import change
from slipway.reviewing.reviewer import review
from tests.slipway.reviewing.builders import NOW, STACK, TEAM, cluster, facts, kept, pool, template

BOB, OLD = "user:bob@acme.example", cluster("cpu")
BEFORE = facts(OLD, cluster("gone"), template("lora"), template("bert"), members=(TEAM, BOB))
AFTER = facts(cluster("cpu", pool(high=9)), kept(OLD), template("lora"), template("new"), code=True)


def event(op: str, key: tuple[str, str], old: Any, new: Any) -> str:
    told = {"op": op, "urn": f"urn:pulumi:{STACK}::slipway::{'::'.join(key)}"}
    sides = {side: {"inputs": inputs} for side, inputs in (("old", old), ("new", new)) if inputs is not None}
    return json.dumps({"resourcePreEvent": {"metadata": told | sides}})


def components(of: Facts) -> Mapping[tuple[str, str], Any]:
    clusters = {(CLUSTER, id_): told for id_, told in of.clusters.items()}
    templates = {(TEMPLATE, name): told for name, told in of.templates.items()}
    told = {
        (WORKSPACE, "workspace"): of.workspace,
        (QUOTA, "quota"): of.quota_check,
        (CATALOG, "catalog"): of.published,
    }
    return {**told, **clusters, **templates}


WAS, BECOMES = components(BEFORE), components(AFTER)
REFRESHED = [event("refresh", key, told, told) for key, told in WAS.items()]
DECLARED = [event("update" if key in WAS else "create", key, WAS.get(key), told) for key, told in BECOMES.items()]
DELETED = [event("delete", key, told, None) for key, told in WAS.items() if key not in BECOMES]
FAILED = json.dumps({"summaryEvent": {"result": "failed"}})
THROWN = json.dumps({"diagnosticEvent": {"severity": "error", "message": "error: a Check fails"}})
KILLED: list[str] = []
ENDS = {
    "the engine is killed, or its output cut": KILLED,
    "a policy pack refuses": [FAILED],
    "the program throws, or a Check fails": [THROWN, FAILED],
}


def told(lines: list[str]) -> set[tuple[str, str]]:
    compared = review(change(read(lines), None, NOW, stack=STACK))
    return {(found.kind, str(found.subject)) for found in compared.findings} - {("deployment-rejected", "deployment")}


WHOLE = told([*REFRESHED, *DECLARED, *DELETED, json.dumps({"summaryEvent": {"result": "succeeded"}})])


def test_the_whole_of_it_says_what_goes() -> None:
    assert {"cluster-replaced", "cluster-deleted", "submission-rejected", "access-lost"} <= {kind for kind, _ in WHOLE}


@given(st.permutations(DECLARED), st.integers(0, len(DECLARED)), st.sampled_from(list(ENDS.values())))
def test_a_plan_cut_anywhere_says_nothing_that_the_whole_one_does_not(
    declared: list[str], length: int, end: list[str]
) -> None:
    """A program asks for all resources at once, and the engine ends between any two."""
    assert told([*REFRESHED, *declared[:length], *end]) <= WHOLE
    assert told([*declared[:length], *end]) <= WHOLE, "nor before anything is deployed"


@pytest.mark.parametrize("length", range(len(REFRESHED)))
@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS)
def test_nothing_goes_where_not_all_was_looked_at(length: int, end: list[str]) -> None:
    assert told([*REFRESHED[:length], *end]) == set()


@pytest.mark.parametrize("type_", [CLUSTER, TEMPLATE])
def test_a_cluster_or_template_that_the_catalog_names_and_nobody_declares_is_not_gone(type_: str) -> None:
    lines = [line for line in DECLARED if f"::{type_}::" not in line]
    assert change(read([*REFRESHED, *lines, FAILED]), None, NOW, stack=STACK).comparison.unknown >= {Side.AFTER}
