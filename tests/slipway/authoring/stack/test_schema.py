"""The JSON Schema that editors complete from says what the check says."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from slipway.authoring.stack.structure import OF_THE_API, schema, schema_text
from slipway.base.codec import camel
from slipway.google.messages import message
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


def test_each_field_of_the_apis_clusters_is_named_by_the_key_that_stands_for_it() -> None:  # N13
    """A body that somebody has of a cluster is answered with the keys of a stack file."""
    cluster = message("google.cloud.aiplatform_v1", "persistent_resource", "PersistentResource").DESCRIPTOR
    pool = cluster.fields_by_name["resource_pools"].message_type
    inner = [pool.fields_by_name[name].message_type for name in ("machine_spec", "disk_spec", "autoscaling_spec")]
    asked = {camel(field.name) for of in (cluster, pool, *inner) for field in of.fields}
    output_only = {"name", "state", "error", "createTime", "startTime", "updateTime", "resourceRuntime"}
    output_only |= {"usedReplicaCount", "satisfiesPzs", "satisfiesPzi"}
    has_no_key = {"id", "gpuPartitionSize", "tpuTopology", "reservationAffinity"}
    own = {key for entry in schema()["$defs"].values() for key in entry.get("properties", {})}
    assert asked - output_only - has_no_key - own == OF_THE_API.keys() & asked
    for theirs, ours in OF_THE_API.items():
        (mistake,) = (each for each in wrong(with_pool(f"{theirs}: {{}}")) if each.key.endswith(theirs))
        assert mistake.fix.endswith(f".{ours}")
