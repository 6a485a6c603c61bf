"""The page about a stack's own rules: its table is the rules', and its examples are accepted. # N5 # P5"""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import yaml

from slipway.authoring.policy.rules import BY_KEY, RULES
from slipway.authoring.stack.config import PolicyRulesEntry
from slipway.authoring.stack.stack import parse
from slipway.authoring.stack.yaml_file import from_text

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs" / "policy.md").read_text("utf-8")
ROWS = re.findall(r"^\| `(\w+)` \| (.*) \| (.*) \| `(.*)` \|$", TEXT, re.MULTILINE)
FIELDS = {field.alias or name: field for name, field in PolicyRulesEntry.model_fields.items()}


def test_each_rule_has_its_row_with_its_own_words() -> None:
    assert [(key, text) for key, text, _, _ in ROWS] == [(rule.key, rule.text) for rule in RULES]


def test_an_example_is_what_editors_show_and_the_check_accepts() -> None:
    for key, _, given, example in ROWS:
        value = yaml.safe_load(example)
        assert value == yaml.safe_load(str(FIELDS[key].examples[0])), key  # type: ignore[index]
        assert PolicyRulesEntry.model_validate({key: value}).model_dump(by_alias=True, exclude_none=True) == {
            key: value
        }
        assert (bool in get_args(FIELDS[key].annotation)) == (given == "true or false"), key


def test_the_stack_file_that_it_shows_is_one() -> None:
    (block,) = re.findall(r"^```yaml\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
    policy = parse(from_text(block, "stacks/Pulumi.prod.yaml")).policy
    for level in (policy.mandatory, policy.advisory):
        asked = level.model_dump(by_alias=True, exclude_none=True)
        assert asked and asked.keys() <= BY_KEY.keys()
