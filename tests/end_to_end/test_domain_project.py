"""A project whose id has a domain (`acme.example:ml`): a stack of it is deployed, and runs a job. # N1"""

import pytest

from tests.checkouts.checkout import PROJECT as HOME
from tests.checkouts.checkout import Checkout

pytestmark = pytest.mark.journey

PROJECT = "acme.example:ml-trial"


@pytest.mark.smoke
def test_a_stack_of_a_domains_project_is_deployed_and_runs_a_job(checkout: Checkout) -> None:
    cloud = checkout.cloud
    groups = {"group:ml-engineers@company.example": ["user:ada@company.example"]}
    cloud.rest("POST", "/vertex-local/projects", {"project": PROJECT, "groups": groups})
    checkout.file.write_text(checkout.file.read_text().replace(HOME, PROJECT))

    def login(role: str) -> dict[str, str]:
        return {name: cloud.env(role, PROJECT)[name] for name in ("GOOGLE_OAUTH_ACCESS_TOKEN", "GOOGLE_CLOUD_PROJECT")}

    done = checkout.pulumi("up", **login("deployer"))
    assert done.code == 0, done.said
    assert checkout.outputs()["trainer"] == "slipway--trial--trainer@ml-trial.acme.example.iam.gserviceaccount.com"
    unchanged = checkout.pulumi("preview", "--expect-no-changes", role="previewer", **login("previewer"))
    assert unchanged.code == 0, unchanged.said
    person = {**login("submitter"), "SLIPWAY_CATALOG": "gs://ml-trial-slipway--trial-catalog"}
    job = checkout.slipway("submit", "nap", "-p", "say=hello", "--follow", **person)
    assert job.code == 0 and "the word is hello" in job.out, job.said
    for verb in ("quota", "pools", "jobs list"):
        assert checkout.slipway(*verb.split(), **person).code == 0, verb
