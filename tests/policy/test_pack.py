"""The policy pack, asked as the engine asks it: it says what the rules say, and never passes what it can't read."""

import os
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

import pytest
import yaml
from google.protobuf.struct_pb2 import Struct
from pulumi.runtime.proto import analyzer_pb2 as messages

from policy.__main__ import PolicyPack
from slipway.authoring.policy.rule import ADVISORY, MANDATORY
from slipway.authoring.policy.rules import RULES, violations
from slipway.model.facts import CATALOG, WORKSPACE, Facts
from slipway.model.findings.finding import Grade
from tests.slipway.model.test_facts import components, told

ROOT = Path(__file__).resolve().parents[2]
STACK = "pulumi:pulumi:Stack"
BROKEN: Mapping[str, Any] = {
    MANDATORY: {"regions": ["europe-west4"], "mostCost": 10, "labels": ["team"]},
    ADVISORY: {"quotaHeadroom": 50, "machines": ["n1-*"], "nothingPublic": True},
}


class RefusedError(Exception):
    pass


class Context:
    """What the server gives a method beside its request."""

    def abort(self, code: Any, why: str) -> NoReturn:
        raise RefusedError(why)


def judged(published: Iterable[tuple[str, str, Mapping[str, Any]]], *others: str) -> Any:
    """What a pack answers at the end of a preview of components, and of resources of other types."""
    pack = PolicyPack()
    for type_, name, inputs in [*published, *((other, "other", {}) for other in others)]:
        properties = Struct()
        properties.update(inputs)
        urn = f"urn:pulumi:dev::slipway::{type_}::{name}"
        asked = pack.Analyze(messages.AnalyzeRequest(urn=urn, type=type_, name=name, properties=properties), Context())
        assert not asked.diagnostics
    deleted = messages.AnalyzerResource(urn="urn:pulumi:dev::slipway::gcp:storage/bucket:Bucket::old", name="old")
    return pack.AnalyzeStack(messages.AnalyzeStackRequest(resources=[deleted]), Context())


def held_to(policy: Mapping[str, Any]) -> Facts:
    return replace(told(), policy=policy)


def test_it_says_what_the_rules_say_as_strictly_as_the_stack_file_does() -> None:
    expected = violations(held_to(BROKEN))
    assert {finding.subject.name for finding in expected} == {
        "regions",
        "mostCost",
        "labels",
        "quotaHeadroom",
        "machines",
    }
    answer = judged(components(held_to(BROKEN)), STACK)
    levels = {messages.MANDATORY: Grade.BLOCKING, messages.ADVISORY: Grade.WARNING}
    found = [
        (diagnostic.policyName, levels[diagnostic.enforcementLevel], diagnostic.message)
        for diagnostic in answer.diagnostics
    ]
    assert sorted(found) == sorted((finding.subject.name, finding.grade, finding.sentence) for finding in expected)
    passed = {rule.key for rule in RULES} - {resource.policy_name for resource in answer.not_applicable}
    assert passed - {finding.subject.name for finding in expected} == {"nothingPublic"}


def test_a_stack_without_a_policy_and_a_destruction_are_held_to_nothing() -> None:
    answer = judged(components(held_to({})), STACK)
    assert not answer.diagnostics
    assert [resource.policy_name for resource in answer.not_applicable] == [rule.key for rule in RULES]
    assert not judged([], STACK, "pulumi:providers:gcp").diagnostics, "its resources are told all the same"


def test_a_stack_that_does_not_publish_what_it_has_does_not_pass() -> None:
    hidden = [component for component in components(held_to(BROKEN)) if component[0] != CATALOG]
    for published in ([], hidden):
        with pytest.raises(RefusedError, match=r"no components that publish .*, so its policy can't be checked"):
            judged(published, STACK, "gcp:storage/bucket:Bucket")
    forged = [(type_, name, {"code": True} if type_ == WORKSPACE else body) for type_, name, body in components(told())]
    with pytest.raises(RefusedError, match=r"can't read .*storage\.work.*, so its policy can't be checked"):
        judged(forged, STACK)


def test_it_is_an_executable_of_the_product_s_version_that_tells_the_engine_every_rule() -> None:
    assert os.access(ROOT / "policy" / "__main__.py", os.X_OK)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    pack = yaml.safe_load((ROOT / "policy" / "PulumiPolicy.yaml").read_text())
    assert (pack["version"], pack["runtime"]) == (project["version"], "python")
    info = PolicyPack().GetAnalyzerInfo(None, Context())
    assert [(policy.name, policy.description) for policy in info.policies] == [(rule.key, rule.text) for rule in RULES]
