"""Pages about adoption, a stack's own rules and what is stable: rows and examples are what the code has, and says.
# N5 # N13 # P5"""

import re
from pathlib import Path
from typing import get_args

import yaml

import slipway
from components.program import OUTPUTS
from slipway.authoring.policy.rules import BY_KEY, RULES
from slipway.authoring.stack.cluster_checks import OF_THE_MAKING
from slipway.authoring.stack.config import PolicyRulesEntry
from slipway.authoring.stack.stack import Stack, parse
from slipway.authoring.stack.yaml_file import from_text
from slipway.deploying.deployment.summary import kept_settings
from slipway.deploying.generations.adoption import obstacles
from slipway.front.cli.terminal import screen
from slipway.google.clusters import PersistentResource, ResourcePool
from slipway.google.snapshot import lacks
from slipway.model.catalog import model
from slipway.model.machines.spec import Disk, MachineSpec
from tests.docs.console import blocks

DOCS = Path(__file__).resolve().parents[2] / "docs"
ADOPTION, POLICY, STABILITY = ((DOCS / f"{name}.md") for name in ("adoption", "policy", "stability"))
H100 = MachineSpec("a3-highgpu-8g", "NVIDIA_H100_80GB", 8, Disk("pd-ssd", 500))
FIELDS = {field.alias or name: field for name, field in PolicyRulesEntry.model_fields.items()}


def stacks(page: Path) -> list[Stack]:
    return [parse(from_text(block, "stacks/Pulumi.prod.yaml")) for block in blocks(page, "yaml")]


def test_an_entry_is_held_against_the_cluster_and_a_bucket_is_told_of_as_the_page_of_adoption_shows() -> None:
    (adopting, of_bucket), (said, told) = stacks(ADOPTION), blocks(ADOPTION, "text")
    (spec,) = adopting.clusters
    assert spec.adopted is not None
    lives = PersistentResource(spec.adopted.id, "RUNNING", {}, (ResourcePool("workers", H100, 1, 0, 1, 8),))
    found = obstacles(spec, spec.adopted, {lives.id: lives}, (), stack="prod", place="us-central1")
    assert list(found) == said.splitlines()
    name = of_bucket.workspace.catalog_bucket
    access = {"uniformBucketLevelAccess": {"enabled": True}, "publicAccessPrevention": "inherited"}
    (kept,) = kept_settings([name], {name: lacks({"iamConfiguration": access}, catalog=True)}, "")
    assert kept.splitlines() == told.splitlines()


def test_what_adoption_refuses_and_exports_are_those_of_the_page() -> None:
    page = ADOPTION.read_text("utf-8")
    assert all(f"`{key}`" in page for key in OF_THE_MAKING)
    (named,) = re.findall(r"`up` exports (.*?)\.", page)
    assert set(re.findall(r"`(\w+)`", named)) == set(OUTPUTS)
    assert all(match in OUTPUTS for match in re.findall(r'require_output\("(\w+)"\)', page))


def test_a_rule_of_a_stack_has_its_row_with_an_example_that_editors_show_and_the_check_accepts() -> None:
    rows = re.findall(r"^\| `(\w+)` \| (.*) \| (.*) \| `(.*)` \|$", POLICY.read_text("utf-8"), re.MULTILINE)
    assert [(key, text) for key, text, _, _ in rows] == [(rule.key, rule.text) for rule in RULES]
    for key, _, given, example in rows:
        value = {key: yaml.safe_load(example)}
        assert value[key] == yaml.safe_load(str(FIELDS[key].examples[0])), key
        assert PolicyRulesEntry.model_validate(value).model_dump(by_alias=True, exclude_none=True) == value
        assert (bool in get_args(FIELDS[key].annotation)) == (given == "true or false"), key
    (stack,) = stacks(POLICY)
    for level in (stack.policy.mandatory, stack.policy.advisory):
        asked = level.model_dump(by_alias=True, exclude_none=True)
        assert asked and asked.keys() <= BY_KEY.keys()


def test_what_is_stable_names_what_there_is() -> None:
    """A number or a name that changes, changes it."""
    row = r"^\| ([^|]+) \| ([^|]+) \| (?:always|a major version) \|$"
    rows = dict(re.findall(row, STABILITY.read_text("utf-8"), re.MULTILINE))
    assert {f"the catalog, `schema` {model.SCHEMA}", f"`--output json`, `schema` {screen.SCHEMA}"} <= rows.keys()
    assert set(re.findall(r"`slipway\.(\w+)`", rows["Python"])) == set(slipway.__all__) and len(rows) >= 8
