"""Keys of the roles, as application default credentials: by the exchange for a token, and without it. (N17)"""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

import google.auth
import pytest
import requests
from google.auth import crypt, jwt
from google.auth.transport.requests import AuthorizedSession
from google.cloud import secretmanager, storage

from local.cloud.access import keys
from local.cloud.access.keys import Keys
from local.cloud.identities import HOME, ROLES
from tests.local.conftest import LocalCloud
from tests.local.official import aiplatform_v1

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
    assert project == "slipway-local"
    session: Any = AuthorizedSession(credentials)  # type: ignore[no-untyped-call]
    assert session.get(f"{owner.url}/v1/projects/slipway-local").json()["projectId"] == "slipway-local"
    options: Any = {"api_endpoint": owner.url}
    assert list(storage.Client(client_options=options).list_buckets()) is not None
    jobs = aiplatform_v1.JobServiceClient(transport="rest", client_options=options)
    assert list(jobs.list_custom_jobs(parent="projects/slipway-local/locations/europe-west9")) == []
    secrets = secretmanager.SecretManagerServiceClient(transport="rest", client_options=options)
    assert list(secrets.list_secrets(parent="projects/slipway-local")) is not None


@pytest.mark.parametrize("role", ROLES)
def test_a_key_is_the_role_s_and_no_other_s(cloud: LocalCloud, role: str) -> None:
    key = json.loads(keys.write(cloud.state, HOME, role, cloud.url).read_text())
    other = json.loads(keys.write(cloud.state, HOME, "owner" if role != "owner" else "deployer", cloud.url).read_text())
    found = Keys(cloud.state, lambda: HOME)
    assert found.principal(signed(key)) == ROLES[role]
    assert found.principal(signed(other, iss=key["client_email"])) is None
    assert found.principal(signed(key, exp=1)) is None
    assert found.principal(signed(key, iss="nobody@slipway.example")) is None
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
