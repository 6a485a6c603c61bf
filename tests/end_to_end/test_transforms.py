"""Transforms in the engine that change what Slipway relies on: rejected in a preview, and undone in `up`. # N33"""

from typing import Any

import pytest

from tests.checkouts.checkout import PROJECT, VERTEX, Checkout
from tests.end_to_end.test_own_program import write

pytestmark = pytest.mark.journey

PROGRAM = """
import pulumi
import pulumi_gcp as gcp
import components as slipway

config = pulumi.Config("team")
network = gcp.compute.Network("training", name="training", auto_create_subnetworks=False)
CLUSTER = "gcp:vertex/aiPersistentResource:AiPersistentResource"
OPTIONS = {
    "retain_on_delete": (CLUSTER, lambda: True),
    "deleted_with": (CLUSTER, lambda: network),
    "replace_with": (CLUSTER, lambda: [network]),
    "replace_on_changes": (CLUSTER, lambda: ["*"]),
    "protect": (CLUSTER, lambda: True),
    "hooks": (CLUSTER, pulumi.ResourceHookBinding),
    "ignore_changes": ("gcp:storage/bucketObject:BucketObject", lambda: ["*"]),
    "import_": ("gcp:serviceaccount/account:Account", lambda: "theirs"),
}


def changed(args):
    option = config.require("option")
    if option == "none":
        return pulumi.ResourceTransformResult(args.props, args.opts)
    if option == "name" and args.type_ == "gcp:storage/bucket:Bucket":
        return pulumi.ResourceTransformResult({**args.props, "name": f"acme-{args.props['name']}"}, args.opts)
    if option in OPTIONS and args.type_ == OPTIONS[option][0]:
        setattr(args.opts, option, OPTIONS[option][1]())
        return pulumi.ResourceTransformResult(args.props, args.opts)


pulumi.runtime.register_resource_transform(changed)
ground = slipway.Workspace("ml", submitters=["group:ml-engineers@company.example"])
pools = {"all": slipway.PoolArgs(machine="n1-standard-4", replicas=slipway.ReplicasArgs(min=1, max=2))}
cpu = slipway.PersistentResource("cpu", pools=pools, generation=config.get_int("generation"))
quota = slipway.QuotaCheck("quota", clusters=[cpu], mode=slipway.QuotaMode.WARN)
slipway.Catalog("ml", workspace=ground, quota=quota)
pulumi.export("cluster", cpu.cluster_id)
"""
OPTIONS = (
    *("retain_on_delete", "deleted_with", "replace_with", "replace_on_changes", "protect"),
    *("hooks", "ignore_changes", "import_", "name"),
)


def declare(checkout: Checkout, option: str, generation: int = 1) -> None:
    settings: dict[str, Any] = {"team:option": option, "team:generation": generation}
    write(checkout, PROGRAM, **settings)


def test_harmful_changes_are_rejected_and_undone(checkout: Checkout) -> None:
    declare(checkout, "name")
    done = checkout.pulumi("up")
    assert done.code != 0 and "a transform changes name of its bucket" in done.said, done.said
    assert checkout.cloud.rest("GET", f"/storage/v1/b/{PROJECT}-slipway--trial--ml-work")["name"]
    declare(checkout, "none")
    checkout.up()
    for option in OPTIONS:
        declare(checkout, option, generation=2)
        done = checkout.pulumi("preview")
        assert done.code != 0 and f"a transform changes {option} of its" in done.said, (option, done.said)
    for option in ("retain_on_delete", "deleted_with"):
        declare(checkout, option)
        assert checkout.pulumi("up").code != 0
    declare(checkout, "none", generation=2)
    checkout.up()
    (left,) = checkout.cloud.every(f"{VERTEX}/persistentResources", "persistentResources")
    assert left["name"].endswith(checkout.outputs()["cluster"])
