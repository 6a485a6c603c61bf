"""The chain of credentials: a token, else application default credentials, with impersonation through either."""

import json
from pathlib import Path
from typing import Any

import pytest
from google.auth import impersonated_credentials

from slipway.cloud.connection import connect
from slipway.cloud.credentials import authorised
from slipway.cloud.failures import Unreachable
from slipway.errors import AuthError, ConfigError
from slipway.kinds import CUSTOM_JOB

LOGIN = {
    "type": "authorized_user",
    "client_id": "client",
    "client_secret": "not a secret",
    "refresh_token": "neither",
    "token_uri": "http://127.0.0.1:9/token",
}


def with_login(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, login: Any = LOGIN) -> None:
    file = tmp_path / "application_default_credentials.json"
    file.write_text(json.dumps(login))
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(file))


def test_a_token_goes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with_login(tmp_path, monkeypatch)
    assert not hasattr(authorised({"GOOGLE_OAUTH_ACCESS_TOKEN": "t"}).auth, "credentials")


def test_else_the_persons_login(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with_login(tmp_path, monkeypatch)
    auth: Any = authorised({}).auth
    assert auth.credentials.refresh_token == "neither"


@pytest.mark.parametrize("environ", [{}, {"GOOGLE_OAUTH_ACCESS_TOKEN": "t"}])
def test_a_service_account_is_impersonated_through_either(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, environ: dict[str, str]
) -> None:
    with_login(tmp_path, monkeypatch)
    auth: Any = authorised({**environ, "GOOGLE_IMPERSONATE_SERVICE_ACCOUNT": "a@p.iam.gserviceaccount.com"}).auth
    assert isinstance(auth.credentials, impersonated_credentials.Credentials)
    assert auth.credentials.service_account_email == "a@p.iam.gserviceaccount.com"


def test_a_file_that_is_no_login_is_an_error_in_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with_login(tmp_path, monkeypatch, {"type": "nonsense"})
    with pytest.raises(AuthError, match="no usable Google Cloud credentials") as error:
        authorised({})
    assert error.value.exit_code == 3 and "gcloud auth" in error.value.fix


def test_a_token_service_that_does_not_answer_is_no_lost_request(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_login(tmp_path, monkeypatch)
    connection = connect({"GOOGLE_VERTEX_AI_CUSTOM_ENDPOINT": "http://127.0.0.1:9/v1/"})
    with pytest.raises(Unreachable) as error:
        connection.vertex("p", "us-central1").create(CUSTOM_JOB, {"displayName": "digits"})
    assert error.value.not_accepted


@pytest.mark.parametrize("token", ["ya29.one\nya29.two", "ya29 one", "ya29.tökén€", "ya29.\x00"])
def test_a_token_that_can_be_none_is_refused_and_not_repeated(token: str) -> None:
    with pytest.raises(AuthError, match="GOOGLE_OAUTH_ACCESS_TOKEN is not an access token") as error:
        authorised({"GOOGLE_OAUTH_ACCESS_TOKEN": token})
    assert token not in str(error.value)


def test_a_quota_project_that_is_none_is_refused() -> None:
    with pytest.raises(ConfigError, match="GOOGLE_CLOUD_QUOTA_PROJECT"):
        authorised({"GOOGLE_OAUTH_ACCESS_TOKEN": "t", "GOOGLE_CLOUD_QUOTA_PROJECT": "acme\nX-Evil: 1"})
