"""An organisation's policies, its perimeter and its quota projects, as Google's own clients and plain requests meet
them. # N17"""

import json
from collections.abc import Iterator
from typing import Any

import googleapiclient.discovery
import pytest
import requests
from google.api_core.exceptions import BadRequest, Forbidden, PreconditionFailed
from google.cloud import storage
from googleapiclient.errors import HttpError

from tests.official import aiplatform_v1
from vertex_local.testing.bodies import job_body, worker
from vertex_local.testing.local_cloud import LocalCloud

REGION = "projects/local-project/locations/us-central1"
QUOTA = "/v1/projects/local-project/locations/global/services/aiplatform.googleapis.com/quotaInfos"
OFF: dict[str, Any] = {
    "policy": {},
    "perimeter": "",
    "perimeter_ingress": "",
    "quota_project": "",
    "custom_constraints": {},
}
OF_A_DOMAIN = "acme.example:ml-training"


@pytest.fixture(scope="module")
def organization(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalCloud]:
    mine = LocalCloud(tmp_path_factory.mktemp("organization") / "state")
    mine.fast()
    yield mine
    mine.command("down")


@pytest.fixture
def restricted(organization: LocalCloud) -> Iterator[LocalCloud]:
    """Yield the cloud, whose policies end with the test."""
    yield organization
    restrict(organization, **OFF)


def restrict(cloud: LocalCloud, **settings: Any) -> None:
    cloud.rest("POST", "/vertex-local/settings", settings)


def asked(cloud: LocalCloud, path: str, role: str = "owner", **headers: str) -> requests.Response:
    sent = {"Authorization": f"Bearer {cloud.token(role)}", **headers}
    return requests.get(cloud.url + path, headers=sent, timeout=30)


def buckets(cloud: LocalCloud, role: str = "owner") -> storage.Client:
    options: Any = {"api_endpoint": cloud.url}
    return storage.Client("local-project", cloud.credentials(role), client_options=options)


def test_the_official_client_of_storage_meets_a_location_that_is_not_allowed(restricted: LocalCloud) -> None:
    restrict(restricted, policy={"gcp.resourceLocations": ["in:eu-locations"]})
    with pytest.raises(
        PreconditionFailed, match=r"'us' violates constraint 'constraints/gcp\.resourceLocations'"
    ) as met:
        buckets(restricted).create_bucket("outside")
    (error,) = met.value.errors
    place = {"domain": "global", "locationType": "header", "location": "If-Match"}
    assert error == {**place, "reason": "conditionNotMet", "message": error["message"]}
    assert buckets(restricted).create_bucket("inside", location="EUROPE-WEST4").location == "EUROPE-WEST4"


def test_the_official_client_of_vertex_ai_meets_a_policy_with_its_details(restricted: LocalCloud) -> None:
    restrict(restricted, policy={"gcp.restrictNonCmekServices": ["aiplatform.googleapis.com"]})
    jobs = aiplatform_v1.JobServiceClient(**restricted.to_client("owner"))
    job = aiplatform_v1.CustomJob.from_json(json.dumps(job_body()))
    with pytest.raises(BadRequest, match="has violated one or more Org Policies") as met:
        jobs.create_custom_job(parent=REGION, custom_job=job)
    (failure,) = met.value.details
    assert failure["@type"] == "type.googleapis.com/google.rpc.PreconditionFailure"
    (violation,) = failure["violations"]
    assert violation["type"] == "constraints/gcp.restrictNonCmekServices"
    assert violation["subject"] == "orgpolicy:projects/local-project"
    assert violation["description"] in str(met.value)


def test_a_constraint_of_the_organisation_s_own_is_told_with_its_words(restricted: LocalCloud) -> None:
    denied = "aiplatform.projects.locations.customJobs.create All new custom training jobs must use n1-standard-4."
    restrict(restricted, custom_constraints={"restrictMachineType": denied})
    answer = restricted.call("POST", f"/v1/{REGION}/customJobs", json=job_body())
    error = answer.json()["error"]
    constraint = "customConstraints/custom.restrictMachineType"
    words = denied.partition(" ")[2]
    assert (answer.status_code, error["status"]) == (400, "FAILED_PRECONDITION")
    assert error["message"] == f'Operation denied by org policy on resource \'{REGION}\': ["{constraint}": "{words}"]'
    (information,) = error["details"]
    assert information["reason"] == "CUSTOM_ORG_POLICY_VIOLATION"
    assert information["metadata"] == {"service": "aiplatform.googleapis.com", "customConstraints": constraint}
    assert asked(restricted, f"/v1/{REGION}/customJobs").status_code == 200


def test_googleapiclient_meets_members_that_are_not_permitted(restricted: LocalCloud) -> None:
    restrict(restricted, policy={"iam.allowedPolicyMemberDomains": ["C0company0"]})
    options: Any = {"api_endpoint": restricted.url}
    credentials = restricted.credentials("owner")
    projects = googleapiclient.discovery.build(
        "cloudresourcemanager", "v1", credentials=credentials, client_options=options, static_discovery=True
    ).projects()
    policy = projects.getIamPolicy(resource="local-project").execute()
    policy["bindings"].append({"role": "roles/viewer", "members": ["user:ada@elsewhere.example"]})
    with pytest.raises(HttpError, match="permitted customer") as met:
        projects.setIamPolicy(resource="local-project", body={"policy": policy}).execute()
    assert met.value.status_code == 400
    assert met.value.error_details[0]["violations"][0]["type"] == "constraints/iam.allowedPolicyMemberDomains"


def test_a_perimeter_keeps_out_who_no_rule_of_ingress_lets_in(restricted: LocalCloud) -> None:
    services = "aiplatform.googleapis.com storage.googleapis.com"
    restrict(restricted, perimeter=services, perimeter_ingress="user:owner@company.example")
    assert asked(restricted, f"/v1/{REGION}/customJobs").status_code == 200
    answer = asked(restricted, f"/v1/{REGION}/customJobs", "deployer")
    error = answer.json()["error"]
    assert (answer.status_code, error["status"]) == (403, "PERMISSION_DENIED")
    head, _, unique = error["message"].partition("vpcServiceControlsUniqueIdentifier: ")
    assert head == "Request is prohibited by organization's policy. " and len(unique) > 40
    kind = "type.googleapis.com/google.rpc."
    assert error["details"] == [
        {
            "@type": f"{kind}PreconditionFailure",
            "violations": [{"type": "VPC_SERVICE_CONTROLS", "description": unique}],
        },
        {
            "@type": f"{kind}ErrorInfo",
            "reason": "SECURITY_POLICY_VIOLATED",
            "domain": "googleapis.com",
            "metadata": {
                "service": "aiplatform.googleapis.com",
                "consumer": "projects/100000000001",
                "uid": unique,
            },
        },
    ]
    assert asked(restricted, "/v1/projects/local-project/serviceAccounts", "previewer").status_code == 403
    assert "serviceAccounts.list" in asked(restricted, "/v1/projects/local-project/serviceAccounts", "previewer").text


def test_the_official_client_of_storage_meets_a_perimeter(restricted: LocalCloud) -> None:
    restrict(restricted, perimeter="storage.googleapis.com", perimeter_ingress="")
    with pytest.raises(Forbidden, match="vpcServiceControlsUniqueIdentifier: ") as met:
        list(buckets(restricted).list_buckets())
    assert met.value.errors[0]["reason"] == "forbidden"
    restrict(restricted, perimeter_storage_reason="vpcServiceControls")
    with pytest.raises(Forbidden) as met:
        list(buckets(restricted).list_buckets())
    assert met.value.errors[0]["reason"] == "vpcServiceControls"


def test_the_processes_of_a_job_are_within_the_perimeter(restricted: LocalCloud) -> None:
    buckets(restricted).create_bucket("within", location="us-central1")
    code = """
import os, urllib.error, urllib.request
asked = urllib.request.Request(os.environ["STORAGE_EMULATOR_HOST"] + "/storage/v1/b/within/o")
try:
    print(urllib.request.urlopen(asked).status)
except urllib.error.HTTPError as error:
    print(error.read().decode())
"""
    restrict(restricted, perimeter="storage.googleapis.com")
    task = {"imageUri": "python:3.10", "command": ["python", "-c", code]}
    name = restricted.rest("POST", f"/v1/{REGION}/customJobs", job_body(worker(containerSpec=task)))["name"]
    restricted.until(name, "JOB_STATE_SUCCEEDED")
    assert restricted.lines(name) == ["200"]
    assert asked(restricted, "/storage/v1/b/within/o").status_code == 403


def test_a_person_s_credentials_need_a_quota_project(restricted: LocalCloud) -> None:
    restrict(restricted, quota_project="cloudquotas.googleapis.com")
    answer = asked(restricted, QUOTA)
    error = answer.json()["error"]
    assert (answer.status_code, error["status"]) == (403, "PERMISSION_DENIED")
    assert error["message"].startswith(
        "Your application is authenticating by using local Application Default Credentials. The "
        "cloudquotas.googleapis.com API requires a quota project, which is not set by default."
    )
    information, words = error["details"]
    assert information == {
        "@type": "type.googleapis.com/google.rpc.ErrorInfo",
        "reason": "SERVICE_DISABLED",
        "domain": "googleapis.com",
        "metadata": {"service": "cloudquotas.googleapis.com", "consumer": "projects/764086051850"},
    }
    assert words["message"] == error["message"]
    assert asked(restricted, QUOTA, "previewer").status_code == 200
    assert asked(restricted, QUOTA, **{"x-goog-user-project": "local-project"}).status_code == 200
    assert asked(restricted, f"/v1/{REGION}/customJobs").status_code == 200


@pytest.mark.parametrize("payer", ["local-project", "nobody-named-it"])
def test_a_quota_project_is_one_that_the_caller_may_use(restricted: LocalCloud, payer: str) -> None:
    role = "previewer" if payer == "local-project" else "owner"
    answer = asked(restricted, QUOTA, role, **{"x-goog-user-project": payer})
    error = answer.json()["error"]
    assert answer.status_code == 403
    assert error["message"].startswith(f"Caller does not have required permission to use project {payer}. Grant the")
    of_help, information = error["details"]
    assert of_help["links"][0]["url"].endswith(f"?project={payer}")
    assert information["reason"] == "USER_PROJECT_DENIED"
    assert information["metadata"] == {"service": "cloudquotas.googleapis.com", "consumer": f"projects/{payer}"}
    stored = asked(restricted, "/storage/v1/b?project=local-project", role, **{"x-goog-user-project": payer})
    assert stored.json()["error"]["errors"][0]["reason"] == "forbidden"
    assert "serviceusage.services.use" in stored.text


@pytest.mark.parametrize("written", [OF_A_DOMAIN, OF_A_DOMAIN.replace(":", "%3A")])
def test_a_project_of_a_domain_is_in_every_path(organization: LocalCloud, written: str) -> None:
    organization.rest("POST", "/vertex-local/projects", {"project": OF_A_DOMAIN})
    token = organization.token("owner", OF_A_DOMAIN)

    def called(verb: str, path: str, body: Any = None) -> Any:
        sent = {"Authorization": f"Bearer {token}"}
        answer = requests.request(verb, organization.url + path, headers=sent, json=body, timeout=30)
        assert answer.status_code == 200, answer.text
        return answer.json()

    project, account = f"projects/{written}", "deployer@ml-training.acme.example.iam.gserviceaccount.com"
    assert called("GET", f"/v1/{project}")["projectId"] == OF_A_DOMAIN
    assert "deployer" in json.dumps(called("POST", f"/v1/{project}:getIamPolicy", {}))
    assert called("POST", f"/v3/{project}:testIamPermissions", {"permissions": ["resourcemanager.projects.get"]})
    at = f"/v1/{project}/locations/us-central1"
    assert called("GET", f"{at}/customJobs") is not None
    job = called("POST", f"{at}/customJobs", job_body())
    assert called("POST", f"{at}/customJobs/{job['name'].rpartition('/')[2]}:cancel", {}) == {}
    assert called("GET", f"{at}/persistentResources?pageSize=1") is not None
    assert called("GET", f"/v1/{project}/locations/global/services/aiplatform.googleapis.com/quotaInfos")
    assert called("GET", f"/v1/{project}/serviceAccounts/{account}")["email"] == account
    assert called("POST", f"/v1/{project}/serviceAccounts/{account}:disable", {}) == {}
    assert called("POST", f"/v1/{project}/serviceAccounts/{account}:enable", {}) == {}
    assert called("GET", f"/v1/{project}/services/aiplatform.googleapis.com")["state"] == "ENABLED"
    assert called("GET", f"/v2/{project}/policies") == {}
    assert (
        called(
            "GET",
            f"/v3/{project}/timeSeries?filter=metric.type%3D%22serviceruntime.googleapis.com/quota/limit%22"
            "&interval.endTime=2026-11-20T10:00:00Z",
        )
        is not None
    )
    assert called("GET", f"/v1/{project}/secrets") == {"totalSize": 0}
    made = called("POST", f"/storage/v1/b?project={written}", {"name": f"of-{len(written)}"})
    assert made["projectNumber"] == called("GET", f"/v1/{project}")["projectNumber"]
    assert called("GET", f"/storage/v1/{project}/serviceAccount")
