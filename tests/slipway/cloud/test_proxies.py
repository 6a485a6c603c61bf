"""Which proxy a URL is reached through, by the variables that curl and requests know as well."""

import sys

import pytest

from slipway.cloud import proxies
from slipway.cloud.proxies import proxy_of

GOOGLE = "https://storage.googleapis.com/storage/v1/b/acme"
LOCAL = "http://127.0.0.1:8470/v1/projects"


@pytest.fixture(autouse=True)
def no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "linux")


@pytest.mark.parametrize(
    ("url", "environ", "proxy"),
    [
        (GOOGLE, {}, ""),
        (GOOGLE, {"HTTPS_PROXY": "http://corp.example:3128"}, "http://corp.example:3128"),
        (GOOGLE, {"https_proxy": "http://a:1", "HTTPS_PROXY": "http://b:1"}, "http://a:1"),
        (GOOGLE, {"HTTPS_PROXY": "corp.example:3128"}, "http://corp.example:3128"),
        (GOOGLE, {"HTTPS_PROXY": "http://anna:p%40ss@corp.example"}, "http://anna:p%40ss@corp.example"),
        (GOOGLE, {"HTTP_PROXY": "http://corp.example"}, ""),
        (LOCAL, {"HTTP_PROXY": "http://corp.example", "HTTPS_PROXY": "http://other"}, "http://corp.example"),
        (GOOGLE, {"ALL_PROXY": "socks5h://corp.example:1080"}, "socks5h://corp.example:1080"),
        (GOOGLE, {"all_proxy": "http://all", "https_proxy": "http://one"}, "http://one"),
    ],
)
def test_the_urls_scheme_names_its_variable(url: str, environ: dict[str, str], proxy: str) -> None:
    assert proxy_of(url, environ) == proxy


@pytest.mark.parametrize(
    ("url", "no_proxy", "past"),
    [
        (GOOGLE, "googleapis.com", True),
        (GOOGLE, ".googleapis.com", True),
        (GOOGLE, "corp.example, storage.GoogleApis.com", True),
        (GOOGLE, "storage.googleapis.com:443", False),
        (GOOGLE, "apis.com,e.googleapis.com", False),
        (GOOGLE, "10.0.0.0/8", False),
        (GOOGLE, "*", True),
        (LOCAL, "127.0.0.1", True),
        (LOCAL, "127.0.0.1:8470", True),
        (LOCAL, "127.0.0.1:80", False),
        (LOCAL, "127.0.0.0/8", True),
        (LOCAL, "10.0.0.0/8,127.0.0.0/30", True),
        (LOCAL, "127.0.0.4/30", False),
        (LOCAL, "127.0.0.1/33,127.0.0.1/0,127.0.0.1/x,/8,::1/128", False),
        ("http://[::1]:8470/v1", "::1", True),
        ("http://localhost:8470/v1", "local,localhost:8470", True),
    ],
)
def test_no_proxy_names_hosts_domains_and_networks(url: str, no_proxy: str, past: bool) -> None:
    environ = {"HTTPS_PROXY": "http://corp.example", "HTTP_PROXY": "http://corp.example"}
    for name in ("NO_PROXY", "no_proxy"):
        assert (proxy_of(url, {**environ, name: no_proxy}) == "") == past


def test_a_system_may_keep_them_in_its_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr(proxies, "_of_the_system", lambda scheme, host: f"{scheme}.{host}:3128")
    assert proxy_of(GOOGLE, {}) == "http://https.storage.googleapis.com:3128"
    assert proxy_of(GOOGLE, {"HTTPS_PROXY": "http://corp.example"}) == "http://corp.example"
