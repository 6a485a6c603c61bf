"""Service accounts, project policy, impersonation: plain REST as the provider speaks it. (P5)"""

import uuid
from collections.abc import Callable
from typing import Any

import pytest
import requests

from vertex_local.testing.local_cloud import LocalCloud

ACCOUNTS = "/v1/projects/local-project/serviceAccounts"


def refused(cloud: LocalCloud, method: str, path: str, body: Any = None, role: str = "owner") -> dict[str, Any]:
    with pytest.raises(requests.HTTPError) as failure:
        cloud.rest(method, path, body, role)
    error: dict[str, Any] = failure.value.response.json()["error"]
    return error


@pytest.fixture
def account(cloud: LocalCloud) -> dict[str, Any]:
    body = {"accountId": f"t-{uuid.uuid4().hex[:10]}", "serviceAccount": {"displayName": "Trainer"}}
    made: dict[str, Any] = cloud.rest("POST", ACCOUNTS, body, "deployer")
    return made


def test_a_service_account_lives_from_create_to_delete(cloud: LocalCloud, account: dict[str, Any]) -> None:
    email = account["email"]
    assert email.endswith("@local-project.iam.gserviceaccount.com") and account["uniqueId"].isdigit()
    assert cloud.rest("GET", f"{ACCOUNTS}/{email}") == account
    assert cloud.rest("GET", f"/v1/projects/-/serviceAccounts/{account['uniqueId']}") == account
    change = {"serviceAccount": {"displayName": "Other"}, "updateMask": "display_name"}
    assert cloud.rest("PATCH", f"{ACCOUNTS}/{email}", change)["displayName"] == "Other"
    assert email in [found["email"] for found in cloud.every(ACCOUNTS, "accounts")]
    cloud.rest("DELETE", f"{ACCOUNTS}/{email}")
    assert refused(cloud, "GET", f"{ACCOUNTS}/{email}")["status"] == "NOT_FOUND"


def test_a_stale_etag_aborts_and_a_fresh_one_wins(cloud: LocalCloud, account: dict[str, Any]) -> None:
    path = "/v1/projects/local-project"
    policy = cloud.rest("POST", f"{path}:getIamPolicy", {}, "deployer")
    stale = dict(policy)
    member = f"serviceAccount:{account['email']}"
    policy["bindings"] = [*policy["bindings"], {"role": "roles/monitoring.viewer", "members": [member]}]
    changed = cloud.rest("POST", f"{path}:setIamPolicy", {"policy": policy}, "deployer")
    assert changed["etag"] != policy["etag"]
    error = refused(cloud, "POST", f"{path}:setIamPolicy", {"policy": stale}, "deployer")
    assert (error["code"], error["status"]) == (409, "ABORTED")
    assert cloud.rest("POST", "/v3/projects/100000000001:getIamPolicy", {})["etag"] == changed["etag"]


def test_a_role_on_an_account_lets_a_group_act_as_it(cloud: LocalCloud, account: dict[str, Any]) -> None:
    one = f"{ACCOUNTS}/{account['email']}"
    asked = {"permissions": ["iam.serviceAccounts.actAs", "iam.serviceAccounts.delete"]}
    assert cloud.rest("POST", f"{one}:testIamPermissions", asked, "submitter") == {}
    policy = cloud.rest("POST", f"{one}:getIamPolicy", {}, "deployer")
    policy["bindings"] = [{"role": "roles/iam.serviceAccountUser", "members": ["group:ml-engineers@company.example"]}]
    cloud.rest("POST", f"{one}:setIamPolicy", {"policy": policy}, "deployer")
    held = cloud.rest("POST", f"{one}:testIamPermissions", asked, "submitter")
    assert held == {"permissions": ["iam.serviceAccounts.actAs"]}


def test_a_new_account_of_a_deleted_name_inherits_no_role(cloud: LocalCloud, account: dict[str, Any]) -> None:
    email, project = account["email"], "/v1/projects/local-project"
    policy = cloud.rest("POST", f"{project}:getIamPolicy", {})
    policy["bindings"].append({"role": "roles/cloudquotas.viewer", "members": [f"serviceAccount:{email}"]})
    cloud.rest("POST", f"{project}:setIamPolicy", {"policy": policy})
    cloud.rest("DELETE", f"{ACCOUNTS}/{email}")
    cloud.rest("POST", ACCOUNTS, {"accountId": email.partition("@")[0]})
    members = [
        member for row in cloud.rest("POST", f"{project}:getIamPolicy", {})["bindings"] for member in row["members"]
    ]
    assert f"serviceAccount:{email}" not in members
    assert f"deleted:serviceAccount:{email}?uid={account['uniqueId']}" in members


def test_impersonation_needs_token_creator_and_gives_that_accounts_rights(
    cloud: LocalCloud, account: dict[str, Any]
) -> None:
    one = f"{ACCOUNTS}/{account['email']}"
    wanted = {"scope": ["https://www.googleapis.com/auth/cloud-platform"], "lifetime": "600s"}
    path = f"/v1/projects/-/serviceAccounts/{account['email']}:generateAccessToken"
    assert "getAccessToken" in refused(cloud, "POST", path, wanted, "submitter")["message"]
    policy = {"bindings": [{"role": "roles/iam.serviceAccountTokenCreator", "members": ["user:ada@company.example"]}]}
    cloud.rest("POST", f"{one}:setIamPolicy", {"policy": policy})
    token = cloud.rest("POST", path, wanted, "submitter")["accessToken"]
    answer = requests.get(
        f"{cloud.url}/v1/projects/local-project", headers={"Authorization": f"Bearer {token}"}, timeout=10
    )
    assert answer.status_code == 403  # the account exists and holds no role
    cloud.rest("POST", f"{one}:disable", {})
    assert f"{account['email']} is disabled" in refused(cloud, "POST", path, wanted, "submitter")["message"]


def test_the_project_is_known_by_id_and_number(cloud: LocalCloud) -> None:
    first = cloud.rest("GET", "/v1/projects/local-project", role="deployer")
    assert (first["projectNumber"], first["lifecycleState"]) == ("100000000001", "ACTIVE")
    third = cloud.rest("GET", "/v3/projects/100000000001")
    assert (third["name"], third["projectId"], third["state"]) == ("projects/100000000001", "local-project", "ACTIVE")


def test_the_bootstrap_gives_each_identity_its_roles_and_the_group_none(cloud: LocalCloud) -> None:
    wanted = ["aiplatform.persistentResources.create", "aiplatform.persistentResources.get", "cloudquotas.quotas.get"]
    held = {
        role: cloud.rest("POST", "/v1/projects/local-project:testIamPermissions", {"permissions": wanted}, role)
        for role in ("owner", "deployer", "previewer", "submitter")
    }
    assert held["owner"]["permissions"] == held["deployer"]["permissions"] == wanted
    assert held["previewer"]["permissions"] == wanted[1:]
    assert held["submitter"] == {} or "aiplatform.persistentResources.create" not in held["submitter"]["permissions"]


def test_a_disabled_api_answers_403_until_it_is_enabled(cloud: LocalCloud) -> None:
    service = "/v1/projects/local-project/services/logging.googleapis.com"
    assert cloud.rest("GET", service)["state"] == "ENABLED"
    cloud.rest("POST", f"{service}:disable", {})
    try:
        error = refused(cloud, "POST", "/v2/entries:list", {"resourceNames": ["projects/local-project"]})
        assert error["details"][0]["reason"] == "SERVICE_DISABLED"
        # Before anything that the request says is looked at.
        odd = refused(cloud, "POST", "/v2/entries:list?colour=red", {"colour": "red"}, role="submitter")
        assert odd["details"][0]["reason"] == "SERVICE_DISABLED"
        assert cloud.rest("GET", service)["state"] == "DISABLED"
    finally:
        cloud.rest("POST", f"{service}:enable", {})
    assert cloud.rest("POST", "/v2/entries:list", {"resourceNames": ["projects/local-project"]}) is not None


@pytest.mark.parametrize(
    ("api", "path"),
    [
        ("aiplatform", "/v1/projects/{}/locations/us-central1/persistentResources"),
        ("cloudquotas", "/v1/projects/{}/locations/global/services/aiplatform.googleapis.com/quotaInfos"),
        ("storage", "/storage/v1/b?project={}"),
    ],
)
def test_every_api_can_be_off_in_a_new_project(
    cloud: LocalCloud, new_project: Callable[..., str], api: str, path: str
) -> None:
    project = new_project()
    cloud.rest("POST", f"/v1/projects/{project}/services/{api}.googleapis.com:disable", {})
    assert refused(cloud, "GET", path.format(project))["details"][0]["reason"] == "SERVICE_DISABLED"
