"""One name twice, in a program or in Pulumi's state, deletes no cluster that a deployment offers. # N1 # N33"""

import json

import pytest

from tests.checkouts.checkout import VERTEX, Checkout
from tests.checkouts.shell import wait_for
from tests.end_to_end.test_own_program import submit, write

pytestmark = pytest.mark.journey

PROGRAM = """
import pulumi
import components as slipway


class TeamSpace(pulumi.ComponentResource):
    def __init__(self, team, cluster):
        super().__init__(f"acme:ml:{type(self).__name__}", team)
        workers = slipway.PoolArgs(machine="n1-standard-4", replicas={"min": 1, "max": 2})
        args = slipway.PersistentResourceArgs(pools={"workers": workers})
        self.cpu = slipway.PersistentResource(cluster, args, opts=pulumi.ResourceOptions(parent=self))


class SpeechSpace(TeamSpace):
    pass


ground = slipway.Workspace("ml", slipway.WorkspaceArgs(submitters=["group:ml-engineers@company.example"]))
spaces = [TeamSpace("vision", "cpu"), SpeechSpace("speech", "speech-cpu")]
nap = slipway.JobTemplate("nap", slipway.JobTemplateArgs(clusters=[space.cpu for space in spaces]))
slipway.Catalog("ml", slipway.CatalogArgs(workspace=ground, templates=[nap]))
pulumi.export("clusters", [space.cpu.cluster_id for space in spaces])
"""


def entered_twice(checkout: Checkout, cluster: str) -> str:
    """Give the state a second entry for a cluster, below another parent; return its URN."""
    resources, below = checkout.resources(), "acme:ml:TeamSpace$slipway:index:PersistentResource$"
    own = [each for each in resources if each["urn"].endswith(f"::{cluster}")]
    text = json.dumps(own)
    assert below in text
    copies = json.loads(text.replace("acme:ml:TeamSpace$", ""))
    for copy in copies:
        if copy["type"].startswith("slipway:"):
            copy["parent"] = next(each["urn"] for each in resources if each["type"] == "pulumi:pulumi:Stack")
    checkout.keep_resources([*resources, *copies])
    return str(copies[-1]["urn"])


def running(checkout: Checkout, seconds: int = 600, state: str = "JOB_STATE_RUNNING") -> str:
    """Submit a job to the pool and wait for a state of it; return its name."""
    job = submit(checkout, "--capacity", "pool", "-p", f"seconds={seconds}")["name"]
    wait_for(lambda: checkout.job_state(job) == state, f"{job} is in {state}")
    return job


def state_of(checkout: Checkout, cluster: str) -> str:
    return str(checkout.cloud.rest("GET", f"{VERTEX}/persistentResources/{cluster}")["state"])


def test_a_second_entry_in_the_state_deletes_no_cluster_that_the_deployment_offers(checkout: Checkout) -> None:
    write(checkout, PROGRAM.replace("speech-cpu", "cpu"))
    for verb in ("preview", "up"):
        refused = checkout.pulumi(verb)
        assert refused.code != 0 and "PersistentResource cpu is declared twice" in refused.said, refused.said
        assert "below acme:ml:SpeechSpace speech, __main__.py:" in refused.said
        assert "Duplicate resource URN" not in refused.said and "Traceback" not in refused.said
    write(checkout, PROGRAM)
    checkout.up()
    cluster, _ = checkout.outputs()["clusters"]
    before = checkout.resources()
    urn = entered_twice(checkout, cluster)

    for busy in (False, True):
        job = running(checkout) if busy else ""
        refused = checkout.pulumi("up")
        assert refused.code != 0, refused.said
        assert f"cluster {cluster} is not deleted: this deployment offers it" in refused.said, refused.said
        assert f"pulumi state delete '{urn}'" in refused.said
        assert state_of(checkout, cluster) == "RUNNING"
    assert checkout.job_state(job) == "JOB_STATE_RUNNING"

    done = checkout.run("pulumi", "state", "delete", urn, "--stack", checkout.stack, "--yes", role="deployer")
    assert done.code == 0, done.said
    checkout.up()
    assert state_of(checkout, cluster) == "RUNNING" and checkout.job_state(job) == "JOB_STATE_RUNNING"
    assert len(checkout.resources()) == len(before)
    unchanged = checkout.pulumi("preview", "--expect-no-changes")
    assert unchanged.code == 0, unchanged.said
