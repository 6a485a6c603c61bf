"""Tokens and permissions. (P5)"""

import json
import stat
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import google.auth
import pytest
import requests
from google.auth import crypt, jwt
from google.auth.transport.requests import AuthorizedSession
from google.cloud import secretmanager, storage

from tests.official import aiplatform_v1
from vertex_local.access import keys, policies
from vertex_local.access.keys import Keys
from vertex_local.clock import ManualClock
from vertex_local.identities import HOME, PREVIEWER, ROLES
from vertex_local.testing.local_cloud import LocalCloud
from vertex_local.world import World, open_world

START = datetime(2026, 11, 20, 10, 0, tzinfo=UTC)
ADA = ROLES["submitter"]
SCOPES = ["https://www.googleapis.com/auth/cloud-platform"]
TRAINER = "trainer@local-project.iam.gserviceaccount.com"


@pytest.fixture
def world(tmp_path: Path) -> World:
    return open_world(tmp_path, clock=ManualClock(START))


def test_a_token_is_its_principals_until_it_ends_or_is_revoked(world: World) -> None:
    lasting = world.access.mint(f"serviceAccount:{TRAINER}", "job 1")
    short = world.access.mint(ADA, "an hour", START + timedelta(hours=1))
    assert world.access.identify(lasting) == f"serviceAccount:{TRAINER}" and world.access.identify(short) == ADA
    assert isinstance(world.clock, ManualClock)
    world.clock.advance(3600)
    assert world.access.identify(short) is None
    world.access.revoke_purpose("job 1")
    assert world.access.identify(lasting) is None and world.access.identify("") is None


def test_the_trainer_may_not_write_the_catalog(world: World) -> None:
    """Viewer on `catalog`, read and write on `work`: no job can rewrite what others run."""
    member = f"serviceAccount:{TRAINER}"
    catalog, work = policies.bucket_name("p-dev-catalog"), policies.bucket_name("p-dev-work")
    world.policies.seed(catalog, {"roles/storage.objectViewer": [member]})
    world.policies.seed(work, {"roles/storage.objectUser": [member]})
    granted = world.access.granted
    assert granted(member, "storage.objects.get", catalog) and not granted(member, "storage.objects.create", catalog)
    assert granted(member, "storage.objects.create", work) and granted(member, "storage.objects.delete", work)
    assert not granted(member, "storage.objects.get")


def test_a_group_gets_its_roles_from_the_policy_alone(world: World) -> None:
    assert not world.access.granted(ADA, "aiplatform.customJobs.create")
    group = {"roles/aiplatform.user": ["group:ml-engineers@company.example"]}
    world.policies.seed(policies.project_name("local-project"), group)
    assert world.access.granted(ADA, "aiplatform.customJobs.create")
    assert not world.access.granted(ADA, "aiplatform.persistentResources.create")
    assert not world.access.granted(f"serviceAccount:{PREVIEWER}", "aiplatform.customJobs.create")
    world.change_settings({"groups": {"group:ml-engineers@company.example": []}})
    assert not world.access.granted(ADA, "aiplatform.customJobs.create")


def test_a_token_of_an_account_gives_that_account_s_rights(cloud: LocalCloud, new_project: Callable[..., str]) -> None:
    project = new_project()
    account = cloud.rest("POST", f"/v1/projects/{project}/serviceAccounts", {"accountId": "trainer"})["email"]
    path = f"/v1/projects/-/serviceAccounts/{account}:generateAccessToken"
    token = cloud.rest("POST", path, {"scope": SCOPES})["accessToken"]
    headers = {"Authorization": f"Bearer {token}"}
    answer = requests.get(f"{cloud.url}/v1/projects/{project}", headers=headers, timeout=10)
    assert answer.status_code == 403, "the account exists and holds no role"


@pytest.mark.parametrize(
    ("api", "path"),
    [
        ("aiplatform", "/v1/projects/{}/locations/us-central1/persistentResources?colour=red"),
        ("cloudquotas", "/v1/projects/{}/locations/global/services/aiplatform.googleapis.com/quotaInfos?colour=red"),
        ("logging", "/v2/projects/{}/logs?colour=red"),
        ("storage", "/storage/v1/b?project={}&colour=red"),
    ],
)
def test_an_api_that_is_off_says_so_before_anything_of_a_request_is_looked_at(
    cloud: LocalCloud, new_project: Callable[..., str], api: str, path: str
) -> None:
    project = new_project()
    service = f"/v1/projects/{project}/services/{api}.googleapis.com"
    cloud.rest("POST", f"{service}:disable", {})
    refused = cloud.call("GET", path.format(project))
    assert (refused.status_code, refused.json()["error"]["details"][0]["reason"]) == (403, "SERVICE_DISABLED")
    cloud.rest("POST", f"{service}:enable", {})
    assert cloud.call("GET", path.format(project)).status_code == 400


# --- Keys of the roles, as application default credentials: by the exchange for a token, and without it. (N17)


@pytest.fixture
def owner(cloud: LocalCloud, monkeypatch: pytest.MonkeyPatch) -> LocalCloud:
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(keys.write(cloud.state, HOME, "owner", cloud.url)))
    return cloud


def signed(key: dict[str, Any], **claims: Any) -> str:
    signer: Any = crypt.RSASigner.from_service_account_info(key)  # type: ignore[no-untyped-call]
    usual = {"iss": key["client_email"], "sub": key["client_email"], "iat": 0, "exp": 4_000_000_000}
    text: bytes = jwt.encode(signer, usual | claims)  # type: ignore[no-untyped-call]
    return text.decode()


def test_clients_find_credentials_by_themselves(owner: LocalCloud) -> None:
    """The first changes what it signed for a token, generated clients send what they signed."""
    credentials, project = google.auth.default(scopes=SCOPES)
    assert project == "local-project"
    session: Any = AuthorizedSession(credentials)  # type: ignore[no-untyped-call]
    assert session.get(f"{owner.url}/v1/projects/local-project").json()["projectId"] == "local-project"
    options: Any = {"api_endpoint": owner.url}
    assert list(storage.Client(client_options=options).list_buckets()) is not None
    jobs = aiplatform_v1.JobServiceClient(transport="rest", client_options=options)
    assert list(jobs.list_custom_jobs(parent="projects/local-project/locations/europe-west9")) == []
    secrets = secretmanager.SecretManagerServiceClient(transport="rest", client_options=options)
    assert list(secrets.list_secrets(parent="projects/local-project")) is not None


@pytest.mark.parametrize("role", ROLES)
def test_a_key_is_the_role_s_and_no_other_s(cloud: LocalCloud, role: str) -> None:
    key = json.loads(keys.write(cloud.state, HOME, role, cloud.url).read_text())
    other = json.loads(keys.write(cloud.state, HOME, "owner" if role != "owner" else "deployer", cloud.url).read_text())
    found = Keys(cloud.state, lambda: HOME)
    assert found.principal(signed(key)) == ROLES[role]
    assert found.principal(signed(other, iss=key["client_email"])) is None
    assert found.principal(signed(key, exp=1)) is None
    assert found.principal(signed(key, iss="nobody@company.example")) is None
    assert found.principal("eyJ.eyJ.eyJ") is None


def test_what_no_key_signed_is_refused(cloud: LocalCloud, tmp_path: Path) -> None:
    strange = json.loads(keys.write(tmp_path, HOME, "owner", cloud.url).read_text())
    keys.write(cloud.state, HOME, "owner", cloud.url)
    text = signed(strange)
    asked = {"grant_type": "urn:ietf:params:oauth:grant-type:jwt-bearer", "assertion": text}
    answer = requests.post(cloud.url + keys.TOKEN_PATH, data=asked, timeout=30)
    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_grant")
    answer = requests.get(f"{cloud.url}/v1/projects", headers={"Authorization": f"Bearer {text}"}, timeout=30)
    assert answer.status_code == 401


def test_a_key_s_file_is_its_owner_s_alone_and_stays_the_same(tmp_path: Path) -> None:
    file = keys.write(tmp_path, HOME, "deployer", "http://127.0.0.1:1")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    before = json.loads(file.read_text())
    after = json.loads(keys.write(tmp_path, HOME, "deployer", "http://127.0.0.1:2").read_text())
    assert after == before | {"token_uri": "http://127.0.0.1:2/token"}
    file.write_text("{}")
    assert json.loads(keys.write(tmp_path, HOME, "deployer", "http://127.0.0.1:2").read_text())["private_key"]
    assert [path.name for path in file.parent.iterdir()] == ["deployer.json"]


def test_a_key_whose_file_is_gone_opens_nothing(tmp_path: Path) -> None:
    file = keys.write(tmp_path, HOME, "owner", "http://127.0.0.1:1")
    found, text = Keys(tmp_path, lambda: HOME), signed(json.loads(file.read_text()))
    assert found.principal(text) == ROLES["owner"]
    file.unlink()
    assert found.principal(text) is None
