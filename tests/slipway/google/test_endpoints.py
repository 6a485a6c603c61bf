"""The hosts of the services, by which proxy each is reached, and the chain of credentials: a token, else application
default credentials, with impersonation through either."""

import json
import sys
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from google.auth import impersonated_credentials

from slipway.base.errors import AuthError, ConfigError
from slipway.google.connection import connect
from slipway.google.credentials import authorised
from slipway.google.endpoints import Endpoints
from slipway.google.failures import Unreachable
from slipway.google.proxies import proxy_of
from slipway.model.kinds import CUSTOM_JOB


def test_googles_hosts_are_the_default() -> None:
    hosts = Endpoints.from_environment({})
    assert hosts.vertex("us-central1") == "https://us-central1-aiplatform.googleapis.com/v1/"
    assert hosts.of("storage") == "https://storage.googleapis.com/storage/v1/"
    assert hosts.storage_upload == "https://storage.googleapis.com/upload/storage/v1/"
    assert hosts.of("quotas") == "https://cloudquotas.googleapis.com/v1/"
    assert hosts.of("logging") == "https://logging.googleapis.com/v2/"


def test_the_providers_overrides_win_whatever_the_region() -> None:
    environ = {
        "GOOGLE_VERTEX_AI_CUSTOM_ENDPOINT": "http://127.0.0.1:8470/v1beta1/",
        "GOOGLE_STORAGE_CUSTOM_ENDPOINT": "http://127.0.0.1:8470/storage/v1",
    }
    hosts = Endpoints.from_environment(environ)
    assert hosts.vertex("anywhere") == "http://127.0.0.1:8470/v1beta1/"
    assert hosts.of("storage") == "http://127.0.0.1:8470/storage/v1/"
    assert hosts.storage_upload == "http://127.0.0.1:8470/upload/storage/v1/"


def test_a_token_needs_no_library_and_shows_nowhere() -> None:
    connection = connect({"GOOGLE_OAUTH_ACCESS_TOKEN": "ya29.secret", "GOOGLE_CLOUD_QUOTA_PROJECT": "billing"})
    http = connection.session._http
    assert http.headers["x-goog-user-project"] == "billing"
    assert "secret" not in repr(http.auth) + repr(vars(http))


@pytest.mark.parametrize(
    "url",
    [
        "localhost:8470",
        "http:///storage/v1/",
        "http://[::1/storage/v1/",
        "http://host:99999/storage/v1/",
        "http://host:0/storage/v1/",
        "http://" + "a" * 300 + "/storage/v1/",
        "http://a..b/storage/v1/",
        "http://host/storage/v1/?alt=json",
        "http://host/stor\nage/v1/",
        "ftp://host/storage/v1/",
    ],
)
def test_a_url_that_leads_nowhere_is_refused_by_name(url: str) -> None:
    with pytest.raises(ConfigError, match="GOOGLE_STORAGE_CUSTOM_ENDPOINT"):
        Endpoints.from_environment({"GOOGLE_STORAGE_CUSTOM_ENDPOINT": url})


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:8470/v1/", "https://[::1]:8443/v1/", "https://private.acme.cloud./v1"]
)
def test_a_url_that_leads_somewhere_is_taken(url: str) -> None:
    assert Endpoints.from_environment({"GOOGLE_STORAGE_CUSTOM_ENDPOINT": url}).of("storage").startswith(url)


GOOGLE = "https://storage.googleapis.com/storage/v1/b/acme"
LOCAL = "http://127.0.0.1:8470/v1/projects"
CORP = "http://corp.example:3128"


@pytest.mark.parametrize(
    ("url", "environ", "proxy"),
    [
        (GOOGLE, {"HTTPS_PROXY": CORP}, CORP),
        (GOOGLE, {"https_proxy": "http://a:1", "HTTPS_PROXY": "http://b:1"}, "http://a:1"),
        (GOOGLE, {"https_proxy": "", "HTTPS_PROXY": "http://b:1"}, "http://b:1"),
        (GOOGLE, {"HTTPS_PROXY": "corp.example:3128"}, CORP),
        (GOOGLE, {"HTTPS_PROXY": "http://anna:p%40ss@corp.example"}, "http://anna:p%40ss@corp.example"),
        (GOOGLE, {"HTTP_PROXY": CORP}, ""),
        (LOCAL, {"HTTP_PROXY": CORP, "HTTPS_PROXY": "http://other"}, CORP),
        (GOOGLE, {"ALL_PROXY": "socks5h://corp.example:1080"}, "socks5h://corp.example:1080"),
        (GOOGLE, {"HTTPS_PROXY": CORP, "NO_PROXY": "corp.example, .GoogleApis.com"}, ""),
        (GOOGLE, {"HTTPS_PROXY": CORP, "no_proxy": "*"}, ""),
        (GOOGLE, {"HTTPS_PROXY": CORP, "NO_PROXY": "apis.com,127.0.0.1"}, CORP),
        (LOCAL, {"HTTP_PROXY": CORP, "NO_PROXY": "127.0.0.1:8470"}, ""),
        (LOCAL, {"HTTP_PROXY": CORP, "NO_PROXY": "127.0.0.1:80"}, CORP),
    ],
)
def test_the_scheme_names_the_variable_and_no_proxy_the_exceptions(
    url: str, environ: dict[str, str], proxy: str
) -> None:
    assert proxy_of(url, environ) == proxy


@pytest.mark.parametrize(("platform", "proxy"), [("linux", ""), ("darwin", CORP)])
def test_a_system_may_keep_them_in_its_settings(monkeypatch: pytest.MonkeyPatch, platform: str, proxy: str) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setattr(urllib.request, "getproxies", lambda: {"https": "corp.example:3128"})
    monkeypatch.setattr(urllib.request, "proxy_bypass", lambda host: host.startswith("127."))
    assert (proxy_of(GOOGLE, {}), proxy_of(LOCAL.replace("http:", "https:"), {})) == (proxy, "")


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


def test_a_token_goes_first_else_the_persons_login(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with_login(tmp_path, monkeypatch)
    auth: Any = authorised({}).auth
    assert auth.credentials.refresh_token == "neither"
    assert not hasattr(authorised({"GOOGLE_OAUTH_ACCESS_TOKEN": "t"}).auth, "credentials")


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
