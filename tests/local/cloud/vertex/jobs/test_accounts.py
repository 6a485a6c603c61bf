"""Who may submit a custom job, and as which account it runs (D5, P5; vertex-rules 1.7, 2)."""

import pytest

from local.cloud import identities
from local.cloud.access import policies
from local.cloud.vertex.jobs import table as jobs
from tests.local.cloud.calling import JOBS, Calling
from tests.local.cloud.vertex.bodies import job_body

CUSTOM_ACCOUNT = {"serviceAccountSpec": {"enableCustomServiceAccount": True}}
TRAINER = identities.DEPLOYER


def test_running_as_a_service_account_needs_leave_to_act_as_it(calling: Calling) -> None:
    calling.cluster("cpu", resourceRuntimeSpec=CUSTOM_ACCOUNT)
    user = ("user:ada@slipway.example",)
    calling.world.policies.seed(policies.project_name("slipway-local"), {"roles/aiplatform.user": user})
    body = job_body(cluster="cpu", spec={"serviceAccount": TRAINER})
    error = calling.refused("POST", JOBS, body, role="submitter")
    assert (error.code, "iam.serviceAccounts.actAs" in error.message) == (403, True)
    calling.world.policies.seed(policies.account_name("slipway-local", TRAINER), {"roles/iam.serviceAccountUser": user})
    assert calling.call("POST", JOBS, body, role="submitter")["state"] == "JOB_STATE_PENDING"


@pytest.mark.parametrize("account", ["foo", "trainer@elsewhere.iam.gserviceaccount.com"])
def test_an_account_of_another_project_needs_a_grant_of_its_own_even_from_the_owner(
    calling: Calling, account: str
) -> None:
    """What this project's policy grants is for this project's accounts. (D5, P5)"""
    body = job_body(spec={"serviceAccount": account})
    error = calling.refused("POST", JOBS, body)
    assert (error.code, f"act as service_account: {account}" in error.message) == (403, True)
    owner = (identities.ROLES["owner"],)
    calling.world.policies.seed(
        policies.account_name("slipway-local", account), {"roles/iam.serviceAccountUser": owner}
    )
    assert calling.call("POST", JOBS, body)["jobSpec"]["serviceAccount"] == account


def test_a_cluster_with_custom_accounts_wants_one_named(calling: Calling) -> None:
    calling.cluster("cpu", resourceRuntimeSpec=CUSTOM_ACCOUNT)
    assert "job_spec.service_account" in calling.refused("POST", JOBS, job_body(cluster="cpu")).message


def test_a_cluster_without_custom_accounts_takes_none_unless_set_so(calling: Calling) -> None:
    calling.cluster("cpu")
    body = job_body(cluster="cpu", spec={"serviceAccount": TRAINER})
    assert "job_spec.service_account" in calling.refused("POST", JOBS, body).message
    calling.set(job_service_account="accept")
    assert calling.call("POST", JOBS, body)["state"] == "JOB_STATE_PENDING"


def test_the_default_account_is_the_custom_code_agent(calling: Calling) -> None:
    found = jobs.get(calling.world.store, calling.job()["name"])
    assert found and found.run and found.run.email == identities.CUSTOM_CODE_AGENT
