"""The proxy of a URL: the environment's, else that of macOS's or Windows's settings.

`HTTPS_PROXY`, `HTTP_PROXY` and `ALL_PROXY` by the URL's scheme, except for the hosts that `NO_PROXY` names: hosts and
domains, each with or without a port, IPv4 networks (10.0.0.0/8), or `*` for all. A name in lower case takes precedence
over the same in upper case, as for curl.
"""

from __future__ import annotations

import socket
import sys
from collections.abc import Mapping
from urllib.parse import urlsplit

VARIABLES = frozenset({"http_proxy", "https_proxy", "all_proxy", "no_proxy"})
"""All variables that are read from an environment, in lower case."""

_HAVE_SETTINGS = ("darwin", "win32")
"""Systems that keep proxies in settings as well as in variables."""


def proxy_of(url: str, environ: Mapping[str, str]) -> str:
    """Return the proxy's URL, with its user and password where it has any; empty where there is none for `url`."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    if not host or _excepted(host, f"{host}:{parts.port}" if parts.port else host, _variable(environ, "no_proxy")):
        return ""
    found = _variable(environ, f"{parts.scheme}_proxy") or _variable(environ, "all_proxy")
    if not found and sys.platform in _HAVE_SETTINGS:
        found = _of_the_system(parts.scheme, host)
    return f"http://{found}" if found and "://" not in found else found


def _variable(environ: Mapping[str, str], name: str) -> str:
    return environ.get(name) or environ.get(name.upper(), "")


def _excepted(host: str, with_port: str, exceptions: str) -> bool:
    names = [name for name in exceptions.replace(" ", "").lower().split(",") if name]
    if host in names or with_port in names or "*" in names:
        return True
    suffixes = tuple(f".{name.lstrip('.')}" for name in names)
    return f".{host}".endswith(suffixes) or f".{with_port}".endswith(suffixes) or any(_within(host, n) for n in names)


def _within(host: str, network: str) -> bool:
    address, _, bits = network.partition("/")
    try:
        outside = 32 - int(bits)
        found, base = (int.from_bytes(socket.inet_aton(one)) for one in (host, address))
    except (ValueError, OSError):
        return False
    return 0 <= outside < 32 and found >> outside == base >> outside


def _of_the_system(scheme: str, host: str) -> str:
    from urllib.request import getproxies, proxy_bypass

    return "" if proxy_bypass(host) else getproxies().get(scheme, "")
