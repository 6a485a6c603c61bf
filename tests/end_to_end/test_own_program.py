"""A Pulumi engineer's own program: a network, a bucket and an account of its own, clusters in a loop. # N33 # N34"""

from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from vertex_local.testing.bodies import job_body, worker

from tests.checkouts.checkout import PROJECT, REGION, VERTEX, Checkout
from tests.checkouts.fixtures import NewCheckout
from tests.checkouts.shell import wait_for
from tests.end_to_end.test_reviewed_changes import reviewed
from tests.local.conftest import ROOT, LocalCloud

pytestmark = pytest.mark.journey
Settings = Callable[..., None]

PROGRAM = """
import pulumi
import pulumi_gcp as gcp
import components as slipway

config = pulumi.Config("team")
results = gcp.storage.Bucket("results", name="acme-own-results", location="US-CENTRAL1")
trainer = gcp.serviceaccount.Account("trainer", account_id="own-trainer")
vpc = gcp.compute.Network("training", auto_create_subnetworks=False)

ground = slipway.Workspace(
    "ml",
    slipway.WorkspaceArgs(work_bucket=results, trainer=trainer, submitters=["group:ml-engineers@company.example"]),
)
clusters = {
    name: slipway.PersistentResource(
        name,
        slipway.PersistentResourceArgs(
            pools={
                "all": slipway.PoolArgs(
                    machine="n1-standard-4", replicas=slipway.ReplicasArgs(min=1, max=config.require_int("max"))
                )
            },
            network=vpc.id if name == "research" else None,
        ),
    )
    for name in ("research", "speech")
}
nap = slipway.JobTemplate("nap", slipway.JobTemplateArgs(clusters=list(clusters.values())))
quota = slipway.QuotaCheck(
    "quota", slipway.QuotaCheckArgs(clusters=list(clusters.values()), templates=[nap], mode="enforce")
)
catalog = slipway.Catalog("ml", slipway.CatalogArgs(workspace=ground, templates=[nap], quota=quota))
pulumi.export("clusters", {name: cluster.cluster_id for name, cluster in clusters.items()})
pulumi.export("catalog", catalog.address)
"""


def write(checkout: Checkout, program: str = PROGRAM, most: int = 2, **config: object) -> None:
    (checkout.folder / "__main__.py").write_text(program)
    values = {"gcp:project": PROJECT, "gcp:region": REGION, "team:max": most, **config}
    checkout.file.write_text(yaml.safe_dump({"config": values}))


TWO = """
import components as slipway

pools = {"all": slipway.PoolArgs(machine="n1-standard-4", replicas=1)}
for name in ("web", "web-two"):
    ground = slipway.Workspace(name, slipway.WorkspaceArgs(submitters=["group:ml-engineers@company.example"]))
    cluster = slipway.PersistentResource(f"{name}-cpu", slipway.PersistentResourceArgs(pools=pools, workspace=ground))
    nap = slipway.JobTemplate(f"{name}-nap", slipway.JobTemplateArgs(template="templates/nap.py", clusters=[cluster]))
    slipway.Catalog(name, slipway.CatalogArgs(workspace=ground, templates=[nap]))
"""


def test_it_is_deployed_at_once_and_no_edit_ends_a_job_and_what_was_theirs_stays(checkout: Checkout) -> None:
    write(checkout, PROGRAM.replace("work_bucket=results", 'work_bucket="acme-own-results"'))
    # An interpreter of its own, which imports the components when the program does.
    refused = checkout.pulumi("preview", PULUMI_PYTHON_CMD=str(ROOT / "local" / "engine" / "python.sh"))
    assert refused.code != 0 and "work_bucket=<the variable of resource results>" in refused.said, refused.said
    write(checkout)
    said = checkout.pulumi("preview").said
    assert "network is known when training exists" in said, said
    checkout.up()
    ids = checkout.outputs()["clusters"]
    made = {name: checkout.cloud.rest("GET", f"{VERTEX}/persistentResources/{id_}") for name, id_ in ids.items()}
    assert {cluster["state"] for cluster in made.values()} == {"RUNNING"}
    assert made["research"]["network"].endswith("/global/networks/training") and "network" not in made["speech"]
    unchanged = checkout.pulumi("preview").said
    assert "unchanged" in unchanged and " to create" not in unchanged and " to delete" not in unchanged, unchanged

    at = "/storage/v1/b/local-project-slipway--trial--ml-catalog/o/catalog.json?alt=media"
    catalog = checkout.cloud.rest("GET", at)
    assert (catalog["stack"], catalog["storage"]["work"]) == ("trial-ml", "acme-own-results")
    assert catalog["program"] == {"stack": "trial", "workspace": "ml"}

    # A job runs on, whatever is edited.
    job = submit(checkout, "--capacity", "pool", "-p", "seconds=600")
    wait_for(lambda: checkout.cloud.rest("GET", f"/v1/{job['name']}")["state"] == "JOB_STATE_RUNNING", "it runs")
    write(checkout, most=3)
    said = checkout.up()
    assert "retir" in said, said
    assert checkout.cloud.rest("GET", f"/v1/{job['name']}")["state"] == "JOB_STATE_RUNNING"
    assert checkout.outputs()["clusters"] != ids

    done = checkout.pulumi("destroy", "--run-program")
    assert done.code != 0 and "is not deleted" in done.said, done.said
    assert checkout.cloud.rest("GET", f"/v1/{job['name']}")["state"] == "JOB_STATE_RUNNING"
    checkout.cloud.rest("POST", f"/v1/{job['name']}:cancel", {})


def submit(checkout: Checkout, *arguments: str) -> dict[str, str]:
    catalog = "gs://local-project-slipway--trial--ml-catalog"
    said = ("submit", "nap", "-p", "say=hello", *arguments, "--output", "json")
    done = checkout.slipway(*said, SLIPWAY_CATALOG=catalog)
    assert done.code == 0, done.said
    job: dict[str, str] = done.json["job"]
    return job


ALONE = """
import pulumi
import pulumi_gcp as gcp
import components as slipway

config = pulumi.Config("team")
labels = {"by": config.require("by")}
labelled = gcp.Provider("labelled", project="local-project", region="us-central1", default_labels=labels)
cpu = slipway.PersistentResource(
    "cpu",
    slipway.PersistentResourceArgs(
        pools={"all": slipway.PoolArgs(machine="n1-standard-4", replicas={"min": 1, "max": config.require_int("max")})},
        custom_service_account=False,  # the test's jobs name none
    ),
    opts=pulumi.ResourceOptions(provider=labelled, protect=config.get_bool("protect")),
)
pulumi.export("cluster", cpu.cluster_id)
pulumi.export("retiring", cpu.retiring)
"""


def test_a_cluster_alone_keeps_its_promise(checkout: Checkout, settings: Settings) -> None:
    # A stock-out leaves nothing behind, and is waited for.
    write(checkout, ALONE, 2, **{"team:by": "ada"})
    settings(create_error="cpu-")
    failed = checkout.pulumi("up", SLIPWAY_CREATE_PATIENCE="1s")
    assert failed.code != 0 and "could not be made" in failed.said and checkout.clusters() == {}, failed.said
    up = checkout.begin("up")
    up.until(lambda: "trying again, for up to 15 min" in up.said, "it says that it tries again")
    settings(create_error="")
    assert up.process.wait() == 0, up.said
    first = checkout.outputs()["cluster"]
    assert checkout.clusters() == {first: "RUNNING"}

    # A label of the provider plans nothing.
    write(checkout, ALONE, 2, **{"team:by": "bob"})
    said = checkout.pulumi("preview").said
    assert "to replace" not in said and "to delete" not in said, said
    checkout.up()
    assert checkout.clusters() == {first: "RUNNING"}

    # An edit makes another generation, and the busy one stays until its job has ended.
    answer = checkout.cloud.call("POST", f"{VERTEX}/customJobs", json=job_on(first))
    assert answer.ok, answer.text
    job = answer.json()
    write(checkout, ALONE, 4, **{"team:by": "bob"})
    checkout.up()
    second = checkout.outputs()["cluster"]
    assert checkout.clusters() == {first: "RUNNING", second: "RUNNING"} and checkout.outputs()["retiring"] == [first]
    done = checkout.pulumi("destroy", "--run-program")
    assert done.code != 0 and "is not deleted" in done.said, done.said
    checkout.end(job)
    checkout.up()
    assert checkout.clusters() == {second: "RUNNING"} and checkout.outputs()["retiring"] == []

    # Protected, an edit is refused before anything is made.
    write(checkout, ALONE, 4, **{"team:by": "bob", "team:protect": True})
    checkout.up()
    write(checkout, ALONE, 5, **{"team:by": "bob", "team:protect": True})
    refused = checkout.pulumi("up")
    assert refused.code != 0 and "protect" in refused.said and checkout.clusters() == {second: "RUNNING"}, refused.said
    write(checkout, ALONE, 4, **{"team:by": "bob"})
    checkout.up()
    done = checkout.pulumi("destroy", "--run-program")
    assert done.code == 0 and checkout.clusters() == {}, done.said


def job_on(cluster: str) -> dict[str, object]:
    """Return a job that runs until somebody cancels it."""
    task = {"imageUri": "python:3.10", "command": ["sleep", "86000"]}
    disk = {"bootDiskType": "pd-ssd", "bootDiskSizeGb": 100}
    return job_body(worker(containerSpec=task, diskSpec=disk), cluster=cluster)


FAR = """
import pulumi
import components as slipway

most = pulumi.Config("team").require_int("max")
for name, region, size in (("tide", "us-central1", most), ("ostsee", "europe-west4", 2)):
    ground = slipway.Workspace(
        name, slipway.WorkspaceArgs(region=region, submitters=["group:ml-engineers@company.example"])
    )
    pools = {"all": slipway.PoolArgs(machine="n1-standard-4", replicas=slipway.ReplicasArgs(min=1, max=size))}
    cluster = slipway.PersistentResource(
        f"cpu-{name}", slipway.PersistentResourceArgs(pools=pools, workspace=ground, custom_service_account=False)
    )
    quota = slipway.QuotaCheck(f"quota-{name}", slipway.QuotaCheckArgs(clusters=[cluster]))
    slipway.Catalog(name, slipway.CatalogArgs(workspace=ground, quota=quota))
    pulumi.export(f"cluster-{name}", cluster.cluster_id)
"""


def test_of_two_workspaces_none_is_taken_down_while_a_job_runs_in_one(
    tmp_path: Path, checkout: Checkout, cloud: LocalCloud
) -> None:
    def published() -> list[object]:
        catalogs = (f"local-project-slipway--trial--{name}-catalog" for name in ("tide", "ostsee"))
        at = (f"/storage/v1/b/{bucket}/o/catalog.json?alt=media" for bucket in catalogs)
        return [cloud.call("GET", path).status_code for path in at]

    write(checkout, FAR, 2)
    checkout.up()
    answer = cloud.call("POST", f"{VERTEX}/customJobs", json=job_on(checkout.outputs()["cluster-tide"]))
    assert answer.ok, answer.text
    job = answer.json()["name"]
    # A review is of the one that changes.
    write(checkout, FAR, 3)
    assert reviewed(checkout, tmp_path)["incomplete"] == []
    # On a present generation, then on one that retires: nothing goes, of neither workspace.
    for most in (2, 3):
        write(checkout, FAR, most)
        checkout.up()
        before = checkout.resources()
        done = checkout.pulumi("destroy", "--run-program")
        assert done.code != 0 and "the stack is not deleted: 1 job has not ended" in done.said, done.said
        assert "make destroy" not in done.said and "can't be made" not in done.said, done.said
        assert published() == [200, 200]
        assert {each["urn"] for each in checkout.resources()} == {each["urn"] for each in before}
        assert cloud.rest("GET", f"/v1/{job}")["state"] in ("JOB_STATE_RUNNING", "JOB_STATE_PENDING")

    # Both need the same roles, and go at once.
    cloud.rest("POST", f"/v1/{job}:cancel", {})
    wait_for(lambda: cloud.rest("GET", f"/v1/{job}")["state"] == "JOB_STATE_CANCELLED", "it has ended")
    done = checkout.pulumi("destroy", "--run-program")
    assert done.code == 0 and published() == [404, 404] and checkout.resources() == [], done.said


GROUND = """
import pulumi
import components as slipway

ground = slipway.Workspace("ml", slipway.WorkspaceArgs(submitters=["group:ml-engineers@company.example"]))
slipway.Catalog("ml", slipway.CatalogArgs(workspace=ground))
"""


def test_its_destruction_leaves_the_roles_that_another_stack_needs(
    tmp_path: Path, checkout: Checkout, new_checkout: NewCheckout
) -> None:
    def roles() -> list[str]:
        policy = checkout.cloud.rest("POST", f"/v1/projects/{PROJECT}:getIamPolicy", {})
        team = "group:ml-engineers@company.example"
        return [binding["role"] for binding in policy["bindings"] if team in binding["members"]]

    other = new_checkout(tmp_path / "other", checkout.cloud, "other")
    for each in (checkout, other):
        write(each, GROUND)
        each.up()
    granted = roles()

    refused = checkout.pulumi("destroy", "--run-program")
    command = "SLIPWAY_PURPOSE=destroy pulumi destroy --run-program --stack trial"
    assert refused.code != 0 and command in refused.said and "make destroy" not in refused.said, refused.said
    assert granted and roles() == granted
    # No mistake in the program prevents it.
    write(checkout, GROUND.replace("submitters=", "notify='x y', submitters="))
    assert "notify" in checkout.pulumi("preview").said
    done = checkout.destroy()
    assert done.code == 0 and checkout.resources() == [] and roles() == granted, done.said
    assert (
        "stay, as stack other of Pulumi project slipway, workspace ml needs them" in done.said
        and "left out of its destruction" in done.said
    ), done.said
    done = other.pulumi("destroy", "--run-program")
    assert done.code == 0 and other.resources() == [] and roles() == [], done.said


SETTINGS_OF_BOTH = """
import pulumi
import pulumi_gcp as gcp
opts = pulumi.ResourceOptions(provider=gcp.Provider("by", project="local-project"))
more = {"web-two": ["user:eve@company.example"]}
"""


def test_a_workspace_leaves_the_program_once_no_job_needs_it_and_others_keep_their_roles(checkout: Checkout) -> None:
    """Both have names that begin alike, and ask for the same roles, by a provider that the program names."""

    def roles() -> dict[str, list[str]]:
        policy = checkout.cloud.rest("POST", f"/v1/projects/{PROJECT}:getIamPolicy", {})
        members = {member for binding in policy["bindings"] for member in binding["members"]}
        return {
            member: sorted(each["role"] for each in policy["bindings"] if member in each["members"])
            for member in members
            if member.startswith("group:ml-") or member == "user:eve@company.example"
        }

    both = TWO.replace('"]))', '", *more.get(name, [])]), opts)')
    both = both.replace("pools =", SETTINGS_OF_BOTH + "pools =", 1)
    write(checkout, both)
    checkout.up()
    checkout.at_rest()
    before = roles()
    assert before.pop("user:eve@company.example")
    catalog = "gs://local-project-slipway--trial--web-two-catalog"
    nap = ("submit", "nap", "-p", "say=hello", "-p", "seconds=600", "--capacity", "pool", "--output", "json")
    job = checkout.slipway(*nap, SLIPWAY_CATALOG=catalog).json["job"]
    wait_for(lambda: checkout.job_state(job["name"]) == "JOB_STATE_RUNNING", "it runs")

    write(checkout, both.replace('("web", "web-two")', '("web",)'))
    # An interpreter of its own, which imports the components before the program has a provider.
    own = {"PULUMI_PYTHON_CMD": str(ROOT / "local" / "engine" / "python.sh")}
    for verb in ("preview", "up"):
        refused = checkout.pulumi(verb, **own)
        assert refused.code != 0 and "Workspace web-two can't be taken out" in refused.said, refused.said
    assert checkout.job_state(job["name"]) == "JOB_STATE_RUNNING"
    checkout.end(job)

    done = checkout.pulumi("up", **own)
    assert done.code == 0, done.said
    said = done.said
    assert (
        "Workspace web-two (us-central1) is no longer in the program" in said and "workspace web needs them" in said
    ), said
    assert roles() == before
    assert "web-two-submit-group" in checkout.state_file.read_text()
    checkout.up()
    assert roles() == before and "web-two" not in checkout.state_file.read_text()
    unchanged = checkout.pulumi("up", "--expect-no-changes")
    assert unchanged.code == 0, unchanged.said
