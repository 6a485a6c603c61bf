"""Tokens and permissions. (P5)"""

from __future__ import annotations

import json
import re
import stat
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
from vertex_local.access import keys, policies, roles
from vertex_local.access.keys import Keys
from vertex_local.clock import ManualClock
from vertex_local.identities import HOME, PREVIEWER, ROLES
from vertex_local.testing.calling import Calling
from vertex_local.testing.local_cloud import LocalCloud
from vertex_local.wire import ApiError
from vertex_local.world import World, open_world

START = datetime(2026, 11, 20, 10, 0, tzinfo=UTC)
ADA = ROLES["submitter"]
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


@pytest.mark.parametrize(
    ("role", "permission", "granted"),
    [
        ("roles/aiplatform.admin", "aiplatform.persistentResources.delete", True),
        ("roles/aiplatform.editor", "aiplatform.persistentResources.create", True),
        ("roles/aiplatform.user", "aiplatform.persistentResources.get", True),
        ("roles/aiplatform.user", "aiplatform.persistentResources.delete", False),
        ("roles/aiplatform.user", "aiplatform.customJobs.cancel", True),
        ("roles/aiplatform.viewer", "aiplatform.persistentResources.list", True),
        ("roles/aiplatform.viewer", "aiplatform.customJobs.create", False),
        ("roles/cloudquotas.viewer", "cloudquotas.quotas.get", True),
        ("roles/cloudquotas.viewer", "cloudquotas.quotas.update", False),
        ("roles/storage.objectCreator", "storage.objects.delete", False),
        ("roles/storage.bucketViewer", "storage.objects.list", False),
        ("roles/iam.serviceAccountUser", "iam.serviceAccounts.actAs", True),
        ("roles/iam.serviceAccountAdmin", "iam.serviceAccounts.actAs", False),
        ("roles/logging.viewer", "logging.logEntries.list", True),
        ("roles/logging.logWriter", "logging.logEntries.list", False),
    ],
)
def test_roles_hold_what_google_says(role: str, permission: str, granted: bool) -> None:
    assert roles.table()[role].grants(permission) is granted


def test_a_refusal_names_the_permission_and_the_resource(world: World) -> None:
    with pytest.raises(ApiError) as refused:
        world.access.require(ADA, "aiplatform.customJobs.create", "local-project")
    assert (refused.value.code, refused.value.status) == (403, "PERMISSION_DENIED")
    assert re.findall("'(.+?)'", refused.value.message) == [
        "aiplatform.customJobs.create",
        "//aiplatform.googleapis.com/projects/local-project",
    ]
    world.access.require(ROLES["owner"], "aiplatform.customJobs.create", "100000000001")
    with pytest.raises(ApiError):
        world.access.require(ROLES["owner"], "aiplatform.customJobs.create", "somebody-elses")


def test_acting_as_an_account_is_granted_on_it_or_on_the_project(world: World) -> None:
    world.access.require_act_as(ROLES["deployer"], TRAINER)
    with pytest.raises(ApiError, match="act as service_account"):
        world.access.require_act_as(ADA, TRAINER)
    world.policies.seed(policies.account_name("local-project", TRAINER), {"roles/iam.serviceAccountUser": [ADA]})
    world.access.require_act_as(ADA, TRAINER)
    with pytest.raises(ApiError):
        world.access.require_act_as(ADA, PREVIEWER)


# --- Who may own a project, and what a policy's mask leaves alone. (N17)


PROJECT = "/v1/projects/local-project"
OWNER, ADMIN = "user:owner@company.example", "serviceAccount:deployer@local-project.iam.gserviceaccount.com"


def owners(*members: str) -> dict[str, Any]:
    return {"policy": {"bindings": [{"role": "roles/owner", "members": list(members)}]}}


@pytest.mark.parametrize(
    ("members", "kind", "member"),
    [
        ((), "SOLO_REQUIRE_TOS_ACCEPTOR", None),
        ((ADMIN,), "SOLO_REQUIRE_TOS_ACCEPTOR", None),
        ((OWNER, "user:new@company.example"), "SOLO_MUST_INVITE_OWNERS", "user:new@company.example"),
        (("user:new@company.example",), "SOLO_MUST_INVITE_OWNERS", "user:new@company.example"),
        ((OWNER, "group:all@company.example"), "SOLO_GROUP_OWNERS_DISALLOWED", "group:all@company.example"),
    ],
)
def test_nobody_is_locked_out_and_nobody_becomes_an_owner_unasked(
    calling: Calling, members: tuple[str, ...], kind: str, member: str | None
) -> None:
    body = owners(*members) if members else {"policy": {"bindings": []}}
    error = calling.refused("POST", f"{PROJECT}:setIamPolicy", body)
    assert (error.code, error.message) == (400, "Request contains an invalid argument.")
    assert (error.details[0]["type"], error.details[0].get("member")) == (kind, member)
    assert calling.call("POST", f"{PROJECT}:getIamPolicy")["bindings"]


def test_a_service_account_may_own_a_project_beside_its_owner(calling: Calling) -> None:
    policy = calling.call("POST", f"{PROJECT}:setIamPolicy", owners(ADMIN, OWNER))
    assert policy["bindings"] == [{"role": "roles/owner", "members": [ADMIN, OWNER]}]


def test_a_mask_without_bindings_leaves_them(calling: Calling) -> None:
    before = calling.call("POST", f"{PROJECT}:getIamPolicy")["bindings"]
    sent = {**owners(OWNER), "updateMask": "etag"}
    assert calling.call("POST", f"{PROJECT}:setIamPolicy", sent)["bindings"] == before
    sent = {**owners(OWNER), "updateMask": "bindings,etag"}
    assert calling.call("POST", f"{PROJECT}:setIamPolicy", sent)["bindings"] == owners(OWNER)["policy"]["bindings"]


# --- Keys of the roles, as application default credentials: by the exchange for a token, and without it. (N17)


SCOPES = ["https://www.googleapis.com/auth/cloud-platform"]


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
