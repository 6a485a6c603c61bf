"""The JSON Schema that editors complete from says what the check says."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from slipway.authoring.stack.structure import schema, schema_text
from tests import shipped

from .files import HEAD, read, with_pool, wrong

ROOT = Path(__file__).parents[4]


VALIDATOR = Draft202012Validator(schema())


def valid(text: str) -> bool:
    values: Any = yaml.safe_load(text)
    return VALIDATOR.is_valid(values)


def test_the_schema_in_the_repository_is_current() -> (
    None
):  # D6; write it anew with: slipway check --schema > stacks/schema.json
    assert (ROOT / "stacks" / "schema.json").read_text("utf-8") == schema_text()


def test_every_shipped_stack_names_it_and_passes_it() -> None:
    for name in shipped.stacks():
        text = (ROOT / "stacks" / f"Pulumi.{name}.yaml").read_text("utf-8")
        assert text.startswith("# yaml-language-server: $schema=schema.json\n"), name
        assert valid(text), name


@pytest.mark.parametrize(
    "text",
    [
        with_pool("machine: n1-standard-8\nreplicas: 3\ndisk: {sizeGb: 200}"),
        HEAD
        + "  other:key: 1\n  slipway:quota: {mode: request, contactEmail: ml@acme.example, justification: training}\n",
    ],
)
def test_what_the_check_accepts_the_schema_accepts(text: str) -> None:
    assert read(text) and valid(text)


@pytest.mark.parametrize(
    "text",
    [
        with_pool("machine: n1-standrd-8\nreplicas: 1"),
        with_pool("machine: n1-standard-8\nreplicas: three"),
        with_pool("machine: n1-standard-8\nreplicas: {min: 0, max: 3}"),
        with_pool("machine: n1-standard-8\nreplicas: 1\ndisk: {sizeGb: 50}"),
        HEAD.replace('"false"', '"true"'),
        HEAD + "  slipway:zzz: 1\n",
        HEAD + "  slipway:quota: {mode: request}\n",
        HEAD + '  slipway:quota: {mode: request, contactEmail: ""}\n',
    ],
)
def test_what_the_schema_refuses_the_check_refuses(text: str) -> None:
    assert not valid(text) and wrong(text)
