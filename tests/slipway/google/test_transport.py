"""Needs of people's networks and logins: proxies, certificate authorities of their own, redirections, the services'
hosts, and the chain of credentials."""

import base64
import json
import socket
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from google.auth import impersonated_credentials

from slipway.base.errors import AuthError, ConfigError
from slipway.google.connection import connect
from slipway.google.credentials import authorised
from slipway.google.endpoints import Endpoints
from slipway.google.failures import Call, CloudError, Denied, Exhausted, Garbled, NoAnswer, Unauthenticated, Unreachable
from slipway.google.proxies import proxy_of
from slipway.google.session import HttpPolicy, Session
from slipway.google.transport import Transport
from slipway.model.kinds import CUSTOM_JOB
from tests import loopback
from tests.slipway.google.server import Server, certificate, connection, starting

TOKEN = {"GOOGLE_OAUTH_ACCESS_TOKEN": "ya29.token"}
FAR = "http://storage.example/v1/b"
CALL = Call("look")


@pytest.fixture
def serve() -> Iterator[Callable[..., Server]]:
    yield from starting(Server)


def session(environ: Mapping[str, str]) -> Session:
    return Session(authorised({**TOKEN, **environ}), HttpPolicy(1.0, 5.0, attempts=1))


def proxied(server: Server, scheme: str = "HTTP") -> dict[str, str]:
    return {f"{scheme}_PROXY": server.url.replace("//", "//anna:p%40ss@")}


def test_a_proxy_is_asked_with_its_password_and_for_the_whole_url(server: Server) -> None:
    session(proxied(server)).post(FAR, CALL, {"a": 1}, {"name": "a b"})
    (heard,) = server.heard
    assert server.sent == [f"POST {FAR}?name=a+b"]
    assert heard["Proxy-Authorization"] == f"Basic {base64.b64encode(b'anna:p@ss').decode()}"
    assert heard["Authorization"] == "Bearer ya29.token"


def test_what_no_proxy_names_is_asked_itself_and_learns_no_password(serve: Callable[..., Server]) -> None:
    proxy, service = serve(), serve()
    session({**proxied(proxy), "NO_PROXY": "127.0.0.1"}).get(service.url, CALL)
    assert proxy.sent == [] and len(service.sent) == 1
    assert service.heard[0]["Proxy-Authorization"] is None


def test_a_proxy_that_refuses_has_sent_nothing_and_its_password_shows_nowhere(server: Server) -> None:  # N7
    server.says(b"", 407)
    with pytest.raises(Unreachable) as error:
        session(proxied(server, "HTTPS")).post("https://vertex.example/v1", CALL, {})
    assert error.value.not_accepted and "p@ss" not in str(error.value) and "p%40ss" not in str(error.value)
    assert server.sent == ["CONNECT vertex.example:443"] and server.heard[0]["Proxy-Authorization"]
    assert server.heard[0]["Authorization"] is None


def test_a_proxy_that_can_not_be_used_is_an_error_in_words() -> None:
    with pytest.raises(ConfigError, match="proxy") as error:
        session({"HTTP_PROXY": "http://anna:secret@[::1"}).get(FAR, CALL)
    assert "NO_PROXY" in error.value.fix and "secret" not in str(error.value)


def test_logins_get_their_tokens_through_the_proxy(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    login = {"type": "authorized_user", "client_id": "c", "client_secret": "s", "refresh_token": "r"}
    file = tmp_path / "login.json"
    file.write_text(json.dumps(login))
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(file))
    server.says(b"", 407)
    with pytest.raises(Unreachable):
        Session(authorised(proxied(server, "HTTPS")), HttpPolicy(attempts=1)).get(server.url, CALL)
    assert {*server.sent} == {"CONNECT oauth2.googleapis.com:443"}


def test_authorities_of_ones_own_are_trusted_and_nobody_elses(serve: Callable[..., Server], tmp_path: Path) -> None:
    own = certificate(tmp_path)
    server = serve(own)
    for name in ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"):
        assert session({name: str(own)}).get(server.url, CALL) == {}
    with pytest.raises(Unreachable) as error:
        session({}).post(server.url, CALL, {})
    assert error.value.not_accepted and "certificate verify failed" in error.value.why
    with pytest.raises(ConfigError, match="REQUESTS_CA_BUNDLE names no certificate authorities"):
        session({"REQUESTS_CA_BUNDLE": str(tmp_path / "gone.pem")}).get(server.url, CALL)


def test_a_workloads_certificate_is_shown(
    serve: Callable[..., Server], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = certificate(tmp_path)
    server = serve(own, mutual=True)
    config = tmp_path / "certificate_config.json"
    key, _, public = own.read_text().partition("-----BEGIN CERT")
    (tmp_path / "key.pem").write_text(key)
    (tmp_path / "public.pem").write_text(f"-----BEGIN CERT{public}")
    paths = {"cert_path": str(tmp_path / "public.pem"), "key_path": str(tmp_path / "key.pem")}
    config.write_text(json.dumps({"cert_configs": {"workload": paths}}))
    monkeypatch.setenv("GOOGLE_API_CERTIFICATE_CONFIG", str(config))
    monkeypatch.setenv("GOOGLE_API_USE_CLIENT_CERTIFICATE", "true")
    environ = {"GOOGLE_API_USE_CLIENT_CERTIFICATE": "true", "REQUESTS_CA_BUNDLE": str(own)}
    assert session(environ).get(server.url, CALL) == {}
    (tmp_path / "key.pem").write_text("no key")
    with pytest.raises(AuthError, match="no usable Google Cloud credentials"):
        session(environ).get(server.url, CALL)


def test_what_is_read_is_followed_and_another_host_does_not_learn_the_token(serve: Callable[..., Server]) -> None:
    first, other = serve(), serve()
    first.says(b"", 302, Location=f"{other.url}there")
    assert session({}).get(first.url, CALL) == {}
    assert other.sent == ["GET /there"]
    assert first.heard[0]["Authorization"] == "Bearer ya29.token" and other.heard[0]["Authorization"] is None


def test_another_host_does_not_learn_a_token_in_a_header_of_its_own(serve: Callable[..., Server]) -> None:
    """Send a credential in a header of its own, as GitLab has it, and be led to another host."""
    first, other = serve(), serve()
    first.says(b"", 302, Location=f"{other.url}there")
    assert Session(Transport({}, headers={"PRIVATE-TOKEN": "glpat-t"})).get(first.url, CALL) == {}
    assert first.heard[0]["PRIVATE-TOKEN"] == "glpat-t" and other.heard[0]["PRIVATE-TOKEN"] is None


def test_a_circle_of_redirections_ends(server: Server) -> None:
    server.says(b"", 302, Location="/again")
    with pytest.raises(NoAnswer):
        session({}).get(server.url, CALL)
    assert len(server.sent) == 11
    server.says(b"", 302, Location="http://[::1")
    with pytest.raises(Unreachable):
        session({}).get(server.url, CALL)


def test_no_cookie_is_kept_and_no_password_read(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".netrc").write_text("default login anna password secret")
    monkeypatch.setenv("NETRC", str(tmp_path / ".netrc"))
    server.says({}, Set_Cookie="a=b")
    vertex = connection(server.url).vertex("p", "us-central1")
    for _ in range(2):
        with pytest.raises(Garbled):
            vertex.create(CUSTOM_JOB, {})
    assert [(headers["Cookie"], headers["Authorization"]) for headers in server.heard] == [(None, None)] * 2


class Renewing:
    """Asks with the number of its token."""

    token = 0

    def headers(self, method: str, url: str) -> Mapping[str, str]:
        return {"Authorization": f"Bearer {self.token}"}

    def renewed(self) -> bool:
        self.token += 1
        return True


def test_a_token_that_is_refused_is_renewed_twice_and_no_more(server: Server) -> None:
    server.says({}, 401)
    with pytest.raises(Unauthenticated):
        Session(Transport({}, Renewing())).post(server.url, CALL, {})
    assert [headers["Authorization"] for headers in server.heard] == ["Bearer 0", "Bearer 1", "Bearer 2"]


def test_a_person_may_have_less_patience_with_an_answer_and_not_more() -> None:
    # N2
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/v1/b"
        for variable, usual in (("0.05s", 60.0), ("2m", 0.05)):
            http = Transport({"SLIPWAY_TIMEOUT": variable})
            with pytest.raises(NoAnswer):
                Session(http, HttpPolicy(1.0, usual, attempts=1)).get(url, CALL)
    with pytest.raises(ConfigError, match="invalid SLIPWAY_TIMEOUT: 'soon'"):
        Transport({"SLIPWAY_TIMEOUT": "soon"})


def test_a_header_that_can_not_be_sent_was_not_sent(server: Server) -> None:
    with pytest.raises(Unreachable) as error:
        Session(Transport({}, headers={"x-goog-user-project": "p\nX-Evil: 1"})).post(server.url, CALL, {})
    assert error.value.not_accepted and server.sent == []


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


@pytest.mark.parametrize(("override", "payer"), [("true", "acme-pays"), ("", "billing")])
def test_the_providers_billing_project_pays_for_what_is_read_too(override: str, payer: str) -> None:
    both = {"GOOGLE_CLOUD_QUOTA_PROJECT": "billing", "GOOGLE_BILLING_PROJECT": "acme-pays"}
    connection = connect({"GOOGLE_OAUTH_ACCESS_TOKEN": "t", "USER_PROJECT_OVERRIDE": override, **both})
    assert connection.session._http.headers["x-goog-user-project"] == payer


@pytest.mark.parametrize(
    "url",
    [
        "localhost:8470",
        "http:///storage/v1/",
        "http://[::1/storage/v1/",
        "http://host:99999/storage/v1/",
        "http://" + "a" * 300 + "/storage/v1/",
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
        (GOOGLE, {"HTTPS_PROXY": "corp.example:3128"}, CORP),
        (GOOGLE, {"HTTPS_PROXY": "http://anna:p%40ss@corp.example"}, "http://anna:p%40ss@corp.example"),
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


def test_other_variables_stand_for_no_proxy_and_hide_no_system_s(monkeypatch: pytest.MonkeyPatch) -> None:
    none = {"NO_PROXY": "localhost", "REQUESTS_CA_BUNDLE": "/ca.pem", "HTTPS_PROXY": ""}
    with monkeypatch.context() as patched:
        patched.setattr(sys, "platform", "linux")
        patched.setitem(sys.modules, "urllib.request", None)  # Importing it, which costs time, fails.
        assert proxy_of(GOOGLE, none) == ""
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr("urllib.request.getproxies", lambda: {"https": CORP})
    monkeypatch.setattr("urllib.request.proxy_bypass", lambda netloc: False)
    assert proxy_of(GOOGLE, {"REQUESTS_CA_BUNDLE": "/ca.pem"}) == CORP


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


def test_its_token_is_made_where_the_provider_has_it_made() -> None:
    """Its endpoint is the provider's variable, as all are."""
    asked = list[str]()

    class Maker(loopback.Handler):
        def do_POST(self) -> None:
            asked.append(f"{self.path} {self.headers['Authorization']}")
            body = b'{"accessToken": "ya29.made", "expireTime": "2099-01-01T00:00:00Z"}'
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    account = "up@acme.iam.gserviceaccount.com"
    with loopback.served(Maker) as url:
        environ = {"GOOGLE_OAUTH_ACCESS_TOKEN": "t", "GOOGLE_IMPERSONATE_SERVICE_ACCOUNT": account}
        transport = authorised({**environ, "GOOGLE_IAM_CREDENTIALS_CUSTOM_ENDPOINT": f"{url}/v1/"})
        auth: Any = transport.auth
        assert auth.headers("GET", "https://x")["authorization"] == "Bearer ya29.made"
    assert asked == [f"/v1/projects/-/serviceAccounts/{account}:generateAccessToken Bearer t"]


def test_a_file_that_is_no_login_is_an_error_in_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with_login(tmp_path, monkeypatch, {"type": "nonsense"})
    with pytest.raises(AuthError, match="no usable Google Cloud credentials") as error:
        authorised({})
    assert error.value.exit_code == 3 and "gcloud auth" in error.value.fix
    assert "LAPTOP=1" in error.value.fix, "a preview has no submitter's login"


def test_a_token_service_that_does_not_answer_is_no_lost_request(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_login(tmp_path, monkeypatch)
    connection = connect({"GOOGLE_VERTEX_AI_CUSTOM_ENDPOINT": "http://127.0.0.1:9/v1/"})
    with pytest.raises(Unreachable) as error:
        connection.vertex("p", "us-central1").create(CUSTOM_JOB, {"displayName": "digits"})
    assert error.value.not_accepted


@pytest.mark.parametrize("token", ["ya29.one\nya29.two", "ya29 one", "ya29.tökén€", "ya29.\x00"])
def test_a_token_or_a_quota_project_that_can_be_none_is_refused_and_not_repeated(token: str) -> None:
    with pytest.raises(AuthError, match="GOOGLE_OAUTH_ACCESS_TOKEN is not an access token") as error:
        authorised({"GOOGLE_OAUTH_ACCESS_TOKEN": token})
    assert token not in str(error.value)
    with pytest.raises(ConfigError, match="GOOGLE_CLOUD_QUOTA_PROJECT"):
        authorised({"GOOGLE_OAUTH_ACCESS_TOKEN": "t", "GOOGLE_CLOUD_QUOTA_PROJECT": "acme\nX-Evil: 1"})
    with pytest.raises(ConfigError, match="GOOGLE_BILLING_PROJECT"):
        authorised(
            {"GOOGLE_OAUTH_ACCESS_TOKEN": "t", "USER_PROJECT_OVERRIDE": "true", "GOOGLE_BILLING_PROJECT": "acme\nX: 1"}
        )


@pytest.mark.parametrize(("status", "error"), [(429, Exhausted), (403, Denied)], ids=["busy", "GitHub's"])
def test_a_long_wait_for_a_busy_service_is_told(server: Server, status: int, error: type[CloudError]) -> None:  # N25
    told: list[float] = []
    slept: list[float] = []
    server.says({}, status, **{"Retry-After": "9"})
    policy = HttpPolicy(1.0, 5.0, attempts=3, told=told.append)
    with pytest.raises(error):
        Session(authorised(TOKEN), policy, slept.append).get(server.url, CALL)
    assert told == slept == [9.0, 9.0]
