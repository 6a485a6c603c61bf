"""HTTP requests as people's networks need them: through proxies, by certificate authorities of their own, within a time
and a size. No cookies, and no passwords from a .netrc file."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Protocol
from urllib.parse import unquote, urlencode, urlsplit

import urllib3
from urllib3.exceptions import HTTPError, LocationParseError

from slipway.base.errors import ConfigError
from slipway.base.formatting import seconds, size, span
from slipway.google.proxies import VARIABLES, proxy_of

if TYPE_CHECKING:
    import ssl

Response = urllib3.BaseHTTPResponse
Timeout = tuple[float, float]
"""Seconds for the connection, and for each part of the answer."""

TIMEOUT = "SLIPWAY_TIMEOUT"
"""The variable for the wait for each part of an answer, such as 5s, where it is less than the default."""

_ALWAYS = {"Accept": "*/*", "Accept-Encoding": "gzip, deflate", "User-Agent": "slipway"}
_BUNDLES = ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")
"""The variables that name certificate authorities, a file or a folder: the first one set counts, else certifi's."""
_MOST_REDIRECTIONS = 10
_PROOFS = urllib3.Retry.DEFAULT_REMOVE_HEADERS_ON_REDIRECT | {"PRIVATE-TOKEN"}
"""The headers of credentials: GitLab's is its own."""
_RENEWALS = 2
_PARTS = 3
"""The time of a whole answer as a multiple of that of each part."""
LARGEST = 128_000_000
"""The most bytes of an answer that is not a stream, unpacked."""
STEP = 1 << 18
"""The most bytes that are read of an answer at once."""


class InvalidHeader(HTTPError):  # noqa: N818 - named as urllib3 names its own
    """A header that can't be sent; nothing was sent."""


class EndlessAnswer(HTTPError):  # noqa: N818 - likewise
    """An answer that had begun, and had not ended in time, or is longer than any API's."""


class Authorisation(Protocol):
    def headers(self, method: str, url: str) -> Mapping[str, str]: ...

    def renewed(self) -> bool:
        """Tell whether there are other credentials to try, after a 401."""


class Transport:
    """A sender of requests that keeps connections. May be shared by threads.

    `headers` go with each request. `trust` makes the TLS context on first use.
    """

    def __init__(
        self,
        environ: Mapping[str, str],
        auth: Authorisation | None = None,
        headers: Mapping[str, str] | None = None,
        trust: Callable[[Mapping[str, str]], ssl.SSLContext] | None = None,
    ) -> None:
        self.auth = auth
        self.headers = {**_ALWAYS, **(headers or {})}
        # Only the variables needed: the environment has a token in it as well.
        self._environ = {name: environ[name] for name in environ if name in _BUNDLES or name.lower() in VARIABLES}
        self._trust = trust or trusted
        self._longest = _longest(environ.get(TIMEOUT, "").strip())
        self._width = 10
        self._managers: dict[tuple[str, str], urllib3.PoolManager] = {}
        self._making = threading.Lock()

    def widen(self, threads: int) -> None:
        """Make room for a connection of each of these threads; must be called before they begin."""
        self._width = threads
        self.forget()

    def forget(self) -> None:
        """Drop all connections and the certificates that they were made with."""
        with self._making:
            self._managers = {}

    def request(
        self,
        method: str,
        url: str,
        *,
        params: Mapping[str, str | int] | None = None,
        data: bytes | None = None,
        headers: Mapping[str, str] | None = None,
        timeout: Timeout,
        stream: bool = False,
        retries: int = 0,
    ) -> Response:
        """Return the answer, with its whole body unless `stream`.

        Redirections of a GET are followed, to another host without credentials. `retries`: how often a connection is
        tried again. Raises HTTPError, ConfigError for a proxy or authorities that can't be used, and the errors of
        `auth`.
        """
        if params:
            url = f"{url}{'&' if '?' in url else '?'}{urlencode(params)}"
        plain_headers = {**self.headers, **(headers or {})}
        renewals = 0
        while True:
            proof = self.auth.headers(method, url) if self.auth else {}
            response = self._open(
                method, url, data, {**plain_headers, **proof}, timeout, stream=stream, retries=retries
            )
            if response.status != 401 or not self.auth or renewals == _RENEWALS or not self.auth.renewed():
                return response
            renewals += 1
            self.forget()  # Not only a token may have ended, but also a client certificate.
            response.close()

    def _open(
        self,
        method: str,
        url: str,
        data: bytes | None,
        headers: Mapping[str, str],
        timeout: Timeout,
        *,
        stream: bool,
        retries: int,
    ) -> Response:
        for name, value in headers.items():
            if not (value.isascii() and value.isprintable()):
                raise InvalidHeader(name)
        part = min(timeout[1], self._longest)
        try:
            response = self._manager(url).urlopen(
                method,
                url,
                body=data,
                headers=headers,
                timeout=urllib3.Timeout(connect=timeout[0], read=part),
                redirect=method == "GET",
                retries=urllib3.Retry(
                    total=None,
                    connect=retries,
                    read=0,
                    redirect=_MOST_REDIRECTIONS,
                    status=0,
                    other=0,
                    remove_headers_on_redirect=_PROOFS,
                ),
                preload_content=False,
            )
        except ValueError as problem:  # urllib3 lets those of an unreadable redirection through.
            raise problem if isinstance(problem, HTTPError) else LocationParseError(url) from problem
        response.url = url
        return response if stream and response.status < 400 else _whole(response, _PARTS * part)

    def _manager(self, url: str) -> urllib3.PoolManager:
        proxy = proxy_of(url, self._environ)
        scheme = urlsplit(url).scheme
        with self._making:
            manager = self._managers.get((scheme, proxy))
            if manager is None:
                manager = self._managers[scheme, proxy] = self._made(scheme, proxy)
        return manager

    def _made(self, scheme: str, proxy: str) -> urllib3.PoolManager:
        context = self._trust(self._environ) if scheme == "https" or proxy.startswith("https:") else None
        if not proxy:
            return urllib3.PoolManager(maxsize=self._width, ssl_context=context)
        if proxy.startswith("socks"):
            return _through_socks(proxy, self._width, context)
        bare, proof = _without_password(proxy)
        return urllib3.ProxyManager(
            bare, maxsize=self._width, ssl_context=context, proxy_ssl_context=context, proxy_headers=proof
        )


def _whole(response: Response, limit: float) -> Response:
    """Return the answer with its body read and unpacked, within a time. Raises HTTPError."""
    end = monotonic() + limit
    content = bytearray()
    while part := response.read1(STEP, decode_content=True):
        content += part
        if len(content) > LARGEST or monotonic() > end:
            response.close()
            raise EndlessAnswer(f"its answer had not ended after {size(len(content))}, in at most {span(limit)}")
    # The value of `data`; urllib3 itself keeps no body that was read in parts.
    response._body = bytes(content)  # type: ignore[attr-defined]
    return response


def trusted(environ: Mapping[str, str]) -> ssl.SSLContext:
    """Return TLS with the environment's authorities, else certifi's. Raises ConfigError for unreadable ones."""
    from urllib3.util.ssl_ import create_urllib3_context

    context = create_urllib3_context()
    if not trust_named(context, environ):
        import certifi

        context.load_verify_locations(certifi.where())
    return context


def trust_named(context: ssl.SSLContext, environ: Mapping[str, str]) -> bool:
    """Make `context` trust the environment's authorities; return False without any. Raises ConfigError."""
    variable = next((name for name in _BUNDLES if environ.get(name)), None)
    if variable is None:
        return False
    path = Path(environ[variable])
    try:
        if path.is_dir():
            context.load_verify_locations(capath=path)
        else:
            context.load_verify_locations(path)
    except OSError as problem:  # TLS errors are OSErrors.
        raise ConfigError(
            f"{variable} names no certificate authorities: {path}",
            why=problem.strerror or type(problem).__name__,
            fix=f"set it to a file of certificates (PEM) that can be read, or: unset {variable}",
        ) from problem
    return True


def _longest(text: str) -> float:
    try:
        return seconds(text) if text else float("inf")
    except ConfigError as error:
        raise ConfigError(f"invalid {TIMEOUT}: {text!r}", why=error.why, fix="5s, for example, or unset it") from error


def _without_password(proxy: str) -> tuple[str, Mapping[str, str]]:
    try:
        parts = urlsplit(proxy)
        who = f"{unquote(parts.username or '')}:{unquote(parts.password or '')}"
        bare = parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()
        return bare, urllib3.make_headers(proxy_basic_auth=who) if parts.username else {}
    except ValueError as problem:
        raise _no_proxy("it is no URL") from problem


def _through_socks(proxy: str, width: int, context: ssl.SSLContext | None) -> urllib3.PoolManager:
    try:
        from urllib3.contrib.socks import SOCKSProxyManager
    except ImportError as problem:
        raise _no_proxy("for one that speaks SOCKS the package PySocks is needed") from problem
    return SOCKSProxyManager(proxy, maxsize=width, ssl_context=context)


def _no_proxy(why: str) -> ConfigError:
    return ConfigError(
        "the proxy that the environment names can't be used",  # Not named here: it may have a password in it.
        why=why,
        fix="look at HTTPS_PROXY, HTTP_PROXY and ALL_PROXY; what is reached without one is named by NO_PROXY",
    )
