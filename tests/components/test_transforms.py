"""Transforms of the program that change what Slipway relies on, by Pulumi's SDK: rejected, and undone. # N33"""

from collections.abc import Callable, Mapping
from typing import Any

import pulumi
import pulumi_gcp as gcp
import pytest
from pulumi_gcp.provider import Provider

import components as slipway
from components import testing
from components.options import OPTIONS
from components.transforms import ON_ALL, ON_TYPES, PERMITTED
from slipway.model.state import ACCOUNT, BUCKET, CLUSTER, GENERATION, OBJECT
from tests.components.conftest import PROJECT, REGION, declared, every, failed

POOLS = {"workers": slipway.PoolArgs(machine="n1-standard-4", replicas=1)}
Transformation = Callable[[pulumi.ResourceTransformationArgs], Any]
VALUES: Mapping[str, Callable[[], Any]] = {
    "deleted_with": lambda: gcp.storage.Bucket("theirs", location="US"),
    "replacement_trigger": lambda: "2",
    "replace_with": lambda: [gcp.storage.Bucket("theirs", location="US")],
    "replace_on_changes": lambda: ["*"],
    "delete_before_replace": lambda: True,
    "import_": lambda: "theirs",
    "state_migrations": lambda: [lambda args: None],
    "provider": lambda: Provider("theirs", project=PROJECT),
    "hooks": pulumi.ResourceHookBinding,
    "ignore_changes": lambda: ["*"],
    "retain_on_delete": lambda: True,
    "protect": lambda: True,
}
"""A value of each option; of `id` and `urn` none, as Pulumi would read the resource from the cloud at once."""


@pytest.fixture(autouse=True)
def place() -> None:
    pulumi.runtime.set_all_config({"gcp:project": PROJECT, "gcp:region": REGION})


def program(transformation: Transformation | None = None) -> None:
    opts = pulumi.ResourceOptions(transformations=[transformation] if transformation else None)
    ground = slipway.Workspace("ml", submitters=["group:ml@acme.example"], opts=opts)
    research = slipway.PersistentResource("research", pools=POOLS, opts=opts)
    quota = slipway.QuotaCheck("quota", clusters=[research], opts=opts)
    slipway.Catalog("ml", workspace=ground, quota=quota, opts=opts)


def setting(option: str, type_: str, value: Any) -> Transformation:
    def transformation(args: pulumi.ResourceTransformationArgs) -> pulumi.ResourceTransformationResult | None:
        if args.type_ != type_:
            return None
        setattr(args.opts, option, value)
        return pulumi.ResourceTransformationResult(args.props, args.opts)

    return transformation


def renaming(key: str, type_: str) -> Transformation:
    def transformation(args: pulumi.ResourceTransformationArgs) -> pulumi.ResourceTransformationResult | None:
        if args.type_ != type_:
            return None
        return pulumi.ResourceTransformationResult({**args.props, key: f"acme-{args.props.get(key)}"}, args.opts)

    return transformation


def test_every_option_of_pulumi_is_in_the_table_of_transforms() -> None:
    """A new option of a later Pulumi fails here: decide whether a transform can change it."""
    checked = {*ON_ALL, *(option for options in ON_TYPES.values() for option in options)}
    assert checked | PERMITTED == OPTIONS.keys() and not checked & PERMITTED
    assert VALUES.keys() == checked - {"id", "urn"}


@pytest.mark.parametrize("option", [*VALUES])
def test_an_option_of_a_cluster_by_a_transformation_is_rejected(option: str) -> None:
    def build() -> None:
        program(setting(option, CLUSTER, VALUES[option]()))

    with pytest.raises(pulumi.RunError, match=f"PersistentResource research: a transform changes {option}") as error:
        declared(build, preview=True)
    assert f"leave {option} of resources of type {CLUSTER} as they are" in str(error.value)


@pytest.mark.parametrize(
    ("option", "type_", "component"),
    [
        ("ignore_changes", OBJECT, "Catalog ml"),
        ("deleted_with", OBJECT, "Catalog ml"),
        ("deleted_with", GENERATION, "PersistentResource research"),
        ("deleted_with", BUCKET, "Workspace ml"),
        ("deleted_with", "gcp:storage/bucketIAMMember:BucketIAMMember", "Workspace ml"),
        ("import_", ACCOUNT, "Workspace ml"),
        ("hooks", BUCKET, "Workspace ml"),
    ],
)
def test_a_harmful_option_of_another_resource_is_rejected(option: str, type_: str, component: str) -> None:
    with pytest.raises(pulumi.RunError, match=f"{component}: a transform changes {option}"):
        declared(lambda: program(setting(option, type_, VALUES[option]())))


@pytest.mark.parametrize("option", ["protect", "retain_on_delete", "ignore_changes", "depends_on"])
def test_an_option_that_a_workspace_accepts_is_set_on_its_bucket(option: str) -> None:
    value = {**VALUES, "depends_on": list}[option]()
    assert every(declared(lambda: program(setting(option, BUCKET, value))), BUCKET)


def test_a_stack_transformation_is_rejected_too() -> None:
    def build() -> None:
        pulumi.runtime.register_stack_transformation(setting("retain_on_delete", CLUSTER, True))
        program()

    root: Any = pulumi.runtime.get_root_resource()
    former = root and root._transformations
    try:
        with pytest.raises(pulumi.RunError, match="a transform changes retain_on_delete of its cluster"):
            declared(build)
    finally:
        if root:
            root._transformations = former


@pytest.mark.parametrize(
    ("key", "type_", "said"),
    [
        ("name", BUCKET, "set `work_bucket` or `catalog_bucket` among the arguments of Workspace ml"),
        ("account_id", ACCOUNT, "set `trainer` among the arguments of Workspace ml"),
        ("name", OBJECT, f"leave name of resources of type {OBJECT}"),
        ("role", "gcp:storage/bucketIAMMember:BucketIAMMember", "leave role of"),
    ],
)
def test_a_name_by_a_transformation_is_rejected_and_undone(key: str, type_: str, said: str) -> None:
    asked, error = failed(lambda: program(renaming(key, type_)))
    assert f"a transform changes {key} of its" in error and said in error
    assert "acme-" not in str([each.inputs for each in asked if each.type == type_]).replace("acme-dev", "")


def test_the_cluster_that_is_replaced_is_checked_as_well() -> None:
    declared(lambda: None)  # names the stack
    old = testing.cluster("research", slipway.PersistentResourceArgs(pools=POOLS), workspace="ml")

    def retained(args: pulumi.ResourceTransformationArgs) -> None:
        if args.name == old.id:
            args.opts.retain_on_delete = True

    def build() -> None:
        opts = pulumi.ResourceOptions(transformations=[retained])
        ground = slipway.Workspace("ml")
        pools = {"workers": slipway.PoolArgs(machine="n1-standard-8", replicas=1)}
        slipway.PersistentResource("research", pools=pools, workspace=ground, opts=opts)

    with (
        testing.living(old, jobs=[testing.Job("train", cluster=old.id)]),
        pytest.raises(pulumi.RunError, match="a transform changes retain_on_delete of its cluster"),
    ):
        declared(build)
