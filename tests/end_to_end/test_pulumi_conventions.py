"""Programs by Pulumi's conventions, with the real engine: keywords, networks, transforms, renamed parents. # N33"""

import re
from typing import Any

import pytest

from tests.checkouts.checkout import VERTEX, Checkout
from tests.end_to_end.test_own_program import write
from tests.local.conftest import ROOT

pytestmark = pytest.mark.journey

PROGRAM = """
import pulumi
import pulumi_gcp as gcp
import components as slipway

config = pulumi.Config("team")


def labelled(args):
    if "labels" in args.props and args.type_ in config.require("types"):
        return pulumi.ResourceTransformResult({**args.props, "labels": {"cost": "ml"}}, args.opts)


class Team(pulumi.ComponentResource):
    def __init__(self, name, former=None):
        aliases = [pulumi.Alias(name=former)] if former else []
        super().__init__("acme:index:Team", name, {}, pulumi.ResourceOptions(aliases=aliases))
        below = pulumi.ResourceOptions(parent=self)
        ground = slipway.Workspace(name, below, submitters=["group:ml-engineers@company.example"])
        pools = {"all": slipway.PoolArgs(machine="n1-standard-4", replicas=slipway.ReplicasArgs(min=1, max=2))}
        cpu = slipway.PersistentResource(f"{name}-cpu", pools=pools, network=network.id, opts=below)
        quota = slipway.QuotaCheck(f"{name}-quota", clusters=[cpu], mode=slipway.QuotaMode.WARN, opts=below)
        catalog = slipway.Catalog(name, workspace=ground, quota=quota, opts=below)
        pulumi.export("cluster", cpu.cluster_id)


if config.get("types"):
    pulumi.runtime.register_resource_transform(labelled)
network = gcp.compute.Network("training", name="training", auto_create_subnetworks=False)
Team("sight", "vision") if config.get_bool("renamed") else Team("vision")
"""
PYTHON = str(ROOT / "local" / "engine" / "python.sh")
CLUSTER = "gcp:vertex/aiPersistentResource:AiPersistentResource"


READER = """
import pulumi
import pulumi_gcp as gcp
import components as slipway


async def main():
    lab = gcp.organizations.Project("lab", project_id="local-project", name="lab", org_id="1")
    api = gcp.projects.Service("vertex", project=lab.project_id, service="aiplatform.googleapis.com")
    ground = slipway.Workspace("lab", project=lab.project_id)
    reference = pulumi.StackReference(f"{pulumi.get_organization()}/{pulumi.get_project()}/{pulumi.get_stack()}")
    teams = (await reference.get_output_details("teams")).value or ["vision"]
    pools = {"all": slipway.PoolArgs(machine="n1-standard-4", replicas=1)}
    clusters = [slipway.PersistentResource(team, pools=pools, workspace=ground) for team in teams]
    quota = slipway.QuotaCheck("quota", clusters=clusters, mode="warn")
    slipway.Catalog("lab", workspace=ground, quota=quota)
    return {"teams": ["vision", "speech"]}


pulumi.run(main)
"""


def types(type_: str) -> dict[str, Any]:
    """Return the configuration of the type that the program's transform labels."""
    return {"team:types": type_}


def test_a_project_its_apis_and_a_cluster_for_each_item_of_a_stacks_output(checkout: Checkout) -> None:
    write(checkout, READER)
    previewed = checkout.pulumi("preview", PULUMI_PYTHON_CMD=PYTHON)
    assert previewed.code == 0, previewed.said
    assert "project local-project does not exist yet: this preview reads nothing" in previewed.said, previewed.said
    for clusters in ({"vision"}, {"vision", "speech"}):  # The stack reads its own output of the last deployment.
        done = checkout.pulumi("up", PULUMI_PYTHON_CMD=PYTHON)
        assert done.code == 0, done.said
        found = checkout.cloud.rest("GET", f"{VERTEX}/persistentResources")["persistentResources"]
        assert {each["name"].rpartition("/")[2].rpartition("-")[0] for each in found} == clusters
    order = [each["urn"].rpartition("::")[2] for each in checkout.resources()]
    assert max(order.index("lab"), order.index("vertex")) < order.index("lab-catalog")
    destroyed = checkout.pulumi("destroy", "--run-program", PULUMI_PYTHON_CMD=PYTHON)
    assert destroyed.code == 0, destroyed.said
    assert destroyed.said.rindex("lab-catalog deleted") < destroyed.said.rindex("Service vertex delet")


def test_a_program_by_pulumis_conventions(checkout: Checkout) -> None:
    def live() -> list[str]:
        clusters = checkout.cloud.rest("GET", f"{VERTEX}/persistentResources").get("persistentResources", [])
        return [each["name"].rpartition("/")[2] for each in clusters]

    write(checkout, PROGRAM)
    # An interpreter of its own, which imports the components when the program does.
    previewed = re.search(
        r"vision-cpu-[0-9a-f]{7}", checkout.pulumi("preview", "--diff", PULUMI_PYTHON_CMD=PYTHON).said
    )
    checkout.up()
    made = checkout.outputs()["cluster"]
    assert previewed and previewed[0] == made and live() == [made]

    write(checkout, PROGRAM, **types(CLUSTER))
    for verb in ("preview", "up"):
        refused = checkout.pulumi(verb)
        assert refused.code != 0, refused.said
        assert "PersistentResource vision-cpu: a transform changes labels" in refused.said, refused.said
    write(checkout, PROGRAM, **types("gcp:storage/bucket:Bucket"))
    assert "a transform changes" not in checkout.pulumi("preview").said

    write(checkout, PROGRAM, **{"team:renamed": True})
    said = checkout.pulumi("up", PULUMI_PYTHON_CMD=PYTHON).said
    assert live() == [made] and " to create" not in said, said

    destroyed = checkout.pulumi("destroy", "--run-program", PULUMI_PYTHON_CMD=PYTHON)
    assert destroyed.code == 0 and "pulumi destroy deletes them" in destroyed.said, destroyed.said
    assert not live()
