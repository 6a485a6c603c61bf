"""Pulumi's options on components: their effect in the real engine on what a component declares. # N33 # N34"""

import re

import pytest

from tests.checkouts.checkout import Checkout
from tests.end_to_end.test_own_program import write

pytestmark = pytest.mark.journey

PROGRAM = """
import pulumi
import pulumi_gcp as gcp
import components as slipway

config = pulumi.Config("team")
team = pulumi.ComponentResource("team:index:Team", "vision") if config.get_bool("below") else None
names = ("ground", "vision") if config.get_bool("renamed") else ("ml", "research")


def options(former="", **more):
    aliases = [pulumi.Alias(name=former)] if config.get_bool("renamed") and former else []
    aliases += [pulumi.Alias(parent=pulumi.ROOT_STACK_RESOURCE)] if config.get_bool("aliases") else []
    return pulumi.ResourceOptions(parent=team, aliases=aliases, protect=config.get_bool("protect"), **more)


def transform(args):
    if args.type_ == "gcp:storage/bucket:Bucket":
        return pulumi.ResourceTransformResult({**args.props, "labels": {"cost": "ml"}}, args.opts)


people = slipway.WorkspaceArgs(submitters=["group:ml-engineers@company.example"])
ground = slipway.Workspace(names[0], people, options("ml", transforms=[transform]))
pool = slipway.PoolArgs(machine="n1-standard-4", replicas={"min": 1, "max": config.require_int("max")})
research = slipway.PersistentResource(
    names[1], slipway.PersistentResourceArgs(pools={"all": pool}), options("research")
)
nap = slipway.JobTemplate("nap", slipway.JobTemplateArgs(clusters=[research]), options())
quota = slipway.QuotaCheck("quota", slipway.QuotaCheckArgs(clusters=[research], templates=[nap]), options())
catalog = slipway.Catalog("ml", slipway.CatalogArgs(workspace=ground, templates=[nap], quota=quota), options())
after = pulumi.ResourceOptions(depends_on=[research, catalog])
gcp.storage.Bucket("late", name="acme-late", location="US", opts=after)
"""


def changes(said: str) -> str:
    """The counts of a preview, on one line."""
    return " ".join(re.findall(r"\d+ (?:to \w+|unchanged)", said.rpartition("Resources:")[2]))


def test_they_hold_for_all_that_a_component_declares(checkout: Checkout) -> None:
    write(checkout, PROGRAM)
    checkout.up()
    made = checkout.clusters()
    labels = {bucket: checkout.cloud.rest("GET", f"/storage/v1/b/{bucket}").get("labels", {}) for bucket in BUCKETS}
    assert {each.get("cost") for each in labels.values()} == {"ml"}, labels
    late = next(each for each in checkout.resources() if each["urn"].endswith("::late"))
    waited = {urn.rpartition("::")[2].partition("-")[0] for urn in late["dependencies"]}
    assert waited >= {"research", "ml"}, waited

    # Moved below another component, and renamed: with aliases all of it is known again, and the move needs none.
    for aliases in (True, False):
        write(checkout, PROGRAM, **{"team:below": True, "team:aliases": aliases})
        assert re.fullmatch(r"1 to create \d+ unchanged", changes(checkout.pulumi("preview").said))
    checkout.up()
    write(checkout, PROGRAM, **{"team:below": True, "team:renamed": True})
    # The catalog records the names that the program has now.
    assert re.fullmatch(r"2 to update \d+ unchanged", changes(checkout.pulumi("preview").said))

    # Protected, a cluster's edit is refused, and so is a destruction; roles and packages still come and go.
    guarded = {"team:below": True, "team:protect": True}
    write(checkout, PROGRAM, **guarded)
    checkout.up()
    refused = checkout.pulumi("destroy", "--run-program")
    assert refused.code != 0 and checkout.clusters() == made, refused.said
    write(checkout, PROGRAM.replace("group:ml-engineers", "group:others"), **guarded)
    template = checkout.folder / "jobs" / "nap" / "task.py"
    template.write_text(template.read_text() + "# edited\n")
    checkout.up()
    assert checkout.clusters() == made
    # Taken off, an edit needs a deployment of its own: the engine protects the old one until then.
    write(checkout, PROGRAM, most=3, **{"team:below": True})
    refused = checkout.pulumi("up")
    assert refused.code != 0 and "in two deployments" in refused.said and checkout.clusters() == made, refused.said


BUCKETS = ("local-project-slipway--trial--ml-catalog", "local-project-slipway--trial--ml-work")
