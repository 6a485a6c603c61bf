"""Requests as clients write them, whatever the service: long GETs, tokens in the query, answers in part. (N17)"""

import json
from collections.abc import Iterator
from typing import Any

import pytest
import requests
from googleapiclient.discovery import build

from tests.local.cloud.calling import NUMBERED, PARENT
from tests.local.conftest import LocalCloud

PROJECT = "/v1/projects/slipway-local"
SEARCH = "/v3/projects:search"
VERTEX, T4 = "aiplatform.googleapis.com", "CustomModelTrainingT4GPUsPerProjectPerRegion"
LONG = "id:" + "x" * 3000


@pytest.fixture(scope="module")
def requested(cloud: LocalCloud) -> Iterator[LocalCloud]:
    cloud.session().post(f"{cloud.url}/storage/v1/b?project=slipway-local", json={"name": "requests"})
    cloud.call("POST", "/upload/storage/v1/b/requests/o?uploadType=media&name=one", data=b"content")
    yield cloud


def test_googleapiclient_asks_a_long_question(cloud: LocalCloud) -> None:
    """It sends one as a POST that says which method it means, with the query as a form."""
    options = {"api_endpoint": cloud.url}
    credentials = cloud.credentials()
    client: Any = build("cloudresourcemanager", "v3", credentials=credentials, client_options=options)
    assert client.projects().search(query=LONG).execute() == {}
    assert client.projects().search(query=f"{LONG} OR id:slipway-local").execute()["projects"]


@pytest.mark.parametrize(("method", "form", "status"), [("GET", True, 200), ("GET", False, 200), ("DELETE", True, 404)])
def test_a_post_may_stand_for_another_method(cloud: LocalCloud, method: str, form: bool, status: int) -> None:
    media = "application/x-www-form-urlencoded" if form else "application/json"
    headers = {"Authorization": f"Bearer {cloud.token()}", "X-HTTP-Method-Override": method, "Content-Type": media}
    query = "query=id%3Aslipway-local&fields=projects(projectId)"
    sent = {"data": query} if form else {"params": query}
    answer = requests.post(cloud.url + SEARCH, headers=headers, timeout=30, **sent)  # type: ignore[arg-type]
    assert answer.status_code == status, answer.text
    if status == 200:
        assert answer.json() == {"projects": [{"projectId": "slipway-local"}]}


@pytest.mark.parametrize("name", ["access_token", "oauth_token"])
def test_a_token_may_be_in_the_query_and_is_never_logged(cloud: LocalCloud, name: str) -> None:
    url = f"{cloud.url}{PROJECT}/secrets?pageSize=1"
    for secret in ("token-one", "token-two"):
        body: Any = {"replication": {"automatic": {}}}
        cloud.call("POST", f"{PROJECT}/secrets?secretId={secret}", json=body)
    token = cloud.token()
    first = requests.get(f"{url}&{name}={token}", timeout=30)
    assert first.status_code == 200, first.text
    # The token of a page is as good for whoever comes with another token.
    following = f"{url}&pageToken={first.json()['nextPageToken']}"
    assert requests.get(following, headers={"Authorization": f"Bearer {token}"}, timeout=30).status_code == 200
    assert requests.get(f"{url}&{name}=wrong", timeout=30).status_code == 401
    refused = requests.get(f"{url}&{name}={token}&colour=red", timeout=30)
    assert refused.status_code == 400 and token not in refused.text
    assert token not in (cloud.state / "cloud.log").read_text()


@pytest.mark.parametrize(
    ("path", "fields", "answer"),
    [
        ("/storage/v1/b/requests", "name,kind", {"kind": "storage#bucket", "name": "requests"}),
        ("/storage/v1/b/requests/o", "items/name", {"items": [{"name": "one"}]}),
        ("/storage/v1/b/requests/o", "items(name,size),prefixes", {"items": [{"name": "one", "size": "7"}]}),
        ("/storage/v1/b/requests/o", "*/name", {"items": [{"name": "one"}]}),
        ("/storage/v1/projects/slipway-local/serviceAccount", "kind", {"kind": "storage#serviceAccount"}),
        (f"{PROJECT}/serviceAccounts/deployer@slipway-local.iam.gserviceaccount.com", "display_name", None),
        (PROJECT, "projectId", {"projectId": "slipway-local"}),
        (
            "/v3/projects:search?query=id:slipway-local",
            "projects.projectId",
            {"projects": [{"projectId": "slipway-local"}]},
        ),
        (f"{PROJECT}/services/storage.googleapis.com", "config/name", {"config": {"name": "storage.googleapis.com"}}),
        (f"{PROJECT}/locations/us-east1", "locationId", {"locationId": "us-east1"}),
        (f"/v1/{PARENT}/pipelineJobs", "pipelineJobs/name", {}),
        (f"/v1/{PARENT}/metadataStores/default/metadataSchemas/system-run-v0-0-1", "name", None),
        (f"{PROJECT}/locations/global/services/{VERTEX}/quotaInfos/{T4}", "metric_unit", None),
    ],
)
def test_an_answer_has_the_fields_that_were_asked_for(
    requested: LocalCloud, path: str, fields: str, answer: Any
) -> None:
    found = requested.rest("GET", f"{path}{'&' if '?' in path else '?'}fields={fields}")
    name = {"display_name": "displayName", "metric_unit": "metricUnit"}.get(fields, fields)
    assert found == answer if answer is not None else list(found) == [name]


def test_a_header_asks_for_fields_too(requested: LocalCloud) -> None:
    headers = {"Authorization": f"Bearer {requested.token()}", "X-Goog-FieldMask": "name"}
    assert requests.get(f"{requested.url}/storage/v1/b/requests", headers=headers, timeout=30).json() == {
        "name": "requests"
    }


def test_an_upload_answers_in_part_and_a_download_whole(requested: LocalCloud) -> None:
    path = "/upload/storage/v1/b/requests/o?uploadType=media&name=two&fields=size"
    assert requested.call("POST", path, data=b"content").json() == {"size": "7"}
    assert requested.call("GET", "/storage/v1/b/requests/o/two?alt=media&fields=size").content == b"content"


def test_an_operation_answers_in_part(requested: LocalCloud) -> None:
    board = requested.rest("POST", f"/v1/{PARENT}/tensorboards?fields=done,response", {"displayName": "in part"})
    assert board["done"] and set(board) == {"done", "response"}
    assert board["response"]["name"].startswith(f"{NUMBERED}/tensorboards/")
    requested.rest("DELETE", "/v1/" + board["response"]["name"])


@pytest.mark.parametrize("fields", ["colour", "name,", "name(", "name)", "na me", "name/colour", ","])
def test_a_field_that_an_answer_has_not_is_refused(requested: LocalCloud, fields: str) -> None:
    refused = requested.call("GET", f"/storage/v1/b/requests?fields={fields}")
    assert (refused.status_code, "Invalid field selection" in refused.text) == (400, True)
    assert json.loads(refused.text)["error"]["errors"][0]["reason"] == "invalidParameter"
