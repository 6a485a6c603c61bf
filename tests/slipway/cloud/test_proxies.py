"""Which proxy a URL is reached through, by the variables that curl and requests know as well."""

import sys
import urllib.request

import pytest

from slipway.cloud.proxies import proxy_of

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
        (GOOGLE, {"all_proxy": "http://all", "https_proxy": "http://one"}, "http://one"),
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
