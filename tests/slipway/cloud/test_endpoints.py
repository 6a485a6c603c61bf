"""Hosts, overrides and credentials from an environment."""

import pytest

from slipway.cloud.connection import connect
from slipway.cloud.endpoints import Endpoints
from slipway.errors import ConfigError


def test_googles_hosts_are_the_default() -> None:
    hosts = Endpoints.from_environment({})
    assert hosts.vertex("us-central1") == "https://us-central1-aiplatform.googleapis.com/v1/"
    assert hosts.of("storage") == "https://storage.googleapis.com/storage/v1/"
    assert hosts.storage_upload == "https://storage.googleapis.com/upload/storage/v1/"
    assert hosts.of("quotas") == "https://cloudquotas.googleapis.com/v1/"
    assert hosts.of("logging") == "https://logging.googleapis.com/v2/"


def test_a_universe_and_a_certificate_change_the_hosts() -> None:
    hosts = Endpoints.from_environment({"GOOGLE_CLOUD_UNIVERSE_DOMAIN": "acme.cloud"})
    assert hosts.vertex("u-1") == "https://u-1-aiplatform.acme.cloud/v1/"
    hosts = Endpoints.from_environment({"GOOGLE_API_USE_CLIENT_CERTIFICATE": "true"})
    assert hosts.of("storage") == "https://storage.mtls.googleapis.com/storage/v1/"


def test_the_providers_overrides_win_whatever_the_region() -> None:
    environ = {
        "GOOGLE_VERTEX_AI_CUSTOM_ENDPOINT": "http://127.0.0.1:8470/v1beta1/",
        "GOOGLE_STORAGE_CUSTOM_ENDPOINT": "http://127.0.0.1:8470/storage/v1",
    }
    hosts = Endpoints.from_environment(environ)
    assert hosts.vertex("anywhere") == "http://127.0.0.1:8470/v1beta1/"
    assert hosts.of("storage") == "http://127.0.0.1:8470/storage/v1/"
    assert hosts.storage_upload == "http://127.0.0.1:8470/upload/storage/v1/"


def test_an_override_that_is_no_url_is_refused_by_name() -> None:
    with pytest.raises(ConfigError, match="GOOGLE_LOGGING_CUSTOM_ENDPOINT"):
        Endpoints.from_environment({"GOOGLE_LOGGING_CUSTOM_ENDPOINT": "localhost:8470"})


def test_a_token_needs_no_library_and_shows_nowhere() -> None:
    connection = connect({"GOOGLE_OAUTH_ACCESS_TOKEN": "ya29.secret", "GOOGLE_CLOUD_QUOTA_PROJECT": "billing"})
    http = connection.session._http
    assert http.headers["x-goog-user-project"] == "billing"
    assert "secret" not in repr(http.auth) + repr(vars(http))


@pytest.mark.parametrize(
    "url",
    [
        "http:///storage/v1/",
        "http://[::1/storage/v1/",
        "http://exa mple/storage/v1/",
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
