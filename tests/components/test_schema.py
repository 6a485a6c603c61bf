"""The schema for other languages, which follows from the classes of arguments, and values that it describes. # D1"""

import inspect
import re
from dataclasses import fields
from typing import Any

import pulumi
import pytest

import components as slipway
from components.args import COMPONENTS
from components.schema import schema, value_of
from components.stack import Stack, StackParts
from slipway.authoring.stack.entries import ClusterEntry, DiskEntry, QuotaEntry
from slipway.base.codec import camel
from slipway.base.errors import ConfigError
from tests.components.conftest import declared

SCHEMA = schema("1.2.3", Stack, StackParts)
STACK = SCHEMA["resources"]["slipway:index:Stack"]
POOL = {"machine": "n1-standard-4", "replicas": {"min": 1.0, "max": 2.0}}


def of(**pool: Any) -> dict[str, Any]:
    return {"clusters": {"research": {"pools": {"all": {**POOL, **pool}}}}}


# The stack's own arguments are those of its catalog.
KINDS = [kind for name, kind in vars(slipway).items() if name.endswith("Args") and kind is not slipway.CatalogArgs]


@pytest.mark.parametrize("kind", KINDS)
def test_every_argument_is_in_the_schema_with_its_docstring_but_for_components(kind: Any) -> None:
    properties = SCHEMA["types"][f"slipway:index:{kind.__name__.removesuffix('Args')}"]["properties"]
    # A team names its clusters.
    components = set() if kind is slipway.TeamArgs else set(COMPONENTS) - {"template"}
    assert properties.keys() == {camel(each.name) for each in fields(kind) if each.name not in components}
    source = " ".join(" ".join(map(inspect.getsource, kind.__mro__[:-1])).split())
    assert all(property_["description"] in source for property_ in properties.values())


def test_a_whole_stack_is_described() -> None:
    assert STACK["inputProperties"].keys() == {"clusters", "workspace", "templates", "quota", "policy"}
    assert STACK["properties"].keys() == {"clusters", "retiring", "catalog", "work", "trainer"}
    assert STACK["properties"]["clusters"]["additionalProperties"] == {"type": "string"}
    pool = SCHEMA["types"]["slipway:index:Pool"]
    assert pool["required"] == ["machine", "replicas"]
    assert pool["properties"]["replicas"]["oneOf"] == [{"type": "integer"}, {"$ref": "#/types/slipway:index:Replicas"}]
    assert SCHEMA["types"]["slipway:index:Disk"]["properties"]["sizeGb"]["type"] == "integer"
    assert SCHEMA["version"] == "1.2.3"
    assert SCHEMA.keys() >= {"displayName", "description", "publisher", "license", "keywords"}


@pytest.mark.parametrize(
    ("kind", "owner", "argument", "entry"),
    [
        ("Replacement", "PersistentResource", "replacement", ClusterEntry),
        ("QuotaMode", "QuotaCheck", "mode", QuotaEntry),
        ("DiskType", "Disk", "type", DiskEntry),
    ],
)
def test_an_enumeration_has_the_values_that_the_stack_file_has(
    kind: str, owner: str, argument: str, entry: Any
) -> None:
    written = entry.model_json_schema()["properties"][argument]
    values = written.get("enum") or written["anyOf"][0]["enum"]
    described = SCHEMA["types"][f"slipway:index:{kind}"]
    assert [each["value"] for each in described["enum"]] == list(values)
    assert all(each["name"].isalnum() and each["description"] for each in described["enum"])
    property_ = SCHEMA["types"][f"slipway:index:{owner}"]["properties"][argument]
    reference = {"$ref": f"#/types/slipway:index:{kind}"}
    assert (property_["type"], property_["oneOf"]) == ("string", [{"type": "string"}, reference])


def test_public_signatures_have_no_aliases_of_ours() -> None:
    every = [*KINDS, slipway.CatalogArgs]
    hints = {f"{kind.__name__}.{each.name}": str(each.type) for kind in every for each in fields(kind)}
    assert not {name: hint for name, hint in hints.items() if re.search(r"\b(Text|Switch|Number|Amount|Entry)\b", hint)}


def test_values_become_arguments_and_whole_numbers() -> None:
    pool = value_of(StackParts, of(disk={"sizeGb": 200.0}, accelerator=None)).clusters["research"].pools["all"]
    assert pool == slipway.PoolArgs(
        machine="n1-standard-4",
        replicas=slipway.ReplicasArgs(min=1, max=2),
        disk=slipway.DiskArgs(size_gb=200),
    )
    assert isinstance(pool.disk.size_gb, int) and isinstance(pool.replicas.min, int)
    assert value_of(StackParts, of(replicas=3.0)).clusters["research"].pools["all"].replicas == 3
    budget = value_of(slipway.BudgetArgs, {"stack": 100.0, "users": {"a": 2.5}})
    assert (budget.stack, budget.users) == (100.0, {"a": 2.5}), "amounts may have a fraction"
    assert value_of(slipway.ReplicasArgs, {"min": 1.5, "max": 2.0}).min == 1.5, "the rules refuse it, by its place"


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"cluster": {}}, "cluster: unknown key\n  fix: one of clusters, policy, quota, templates, workspace"),
        (of(diskk={}), r"clusters.research.pools.all.diskk: unknown key\n  fix: one of accelerator, disk, machine"),
        (of(replicas={"min": 1.0, "mx": 2.0}), r"clusters.research.pools.all.replicas.mx: unknown key"),
        (
            {"clusters": {"a": {"pools": {}, "alternatives": [{"pols": {}}]}}},
            r"clusters.a.alternatives\[0\].pols: unknown key\n  fix: one of pools, region",
        ),
        ({"clusters": {"research": {}}}, "clusters.research.pools: it is missing"),
        ({"workspace": {"size_gb": 2.0}}, "workspace.size_gb: unknown key"),
    ],
)
def test_an_unknown_or_missing_key_is_refused_by_its_place(given: dict[str, Any], told: str) -> None:
    with pytest.raises(ConfigError, match=told):
        value_of(StackParts, given)


def test_what_an_output_has_is_held_to_the_same_once_it_is_known() -> None:
    seen: list[Any] = []

    def program(pool: dict[str, Any]) -> None:
        given = {"clusters": {"research": {"pools": pulumi.Output.from_input({"all": pool})}}}
        value_of(StackParts, given).clusters["research"].pools.apply(seen.append)

    declared(lambda: program(POOL))
    assert seen == [value_of(StackParts, of()).clusters["research"].pools]
    with pytest.raises(ConfigError, match=r"clusters.research.pools.all.diskk: unknown key"):
        declared(lambda: program({**POOL, "diskk": {}}))
