"""The proxy of a URL: the environment's, else that of macOS's or Windows's settings.

`HTTPS_PROXY`, `HTTP_PROXY` and `ALL_PROXY` by the URL's scheme, except for the hosts and domains that `NO_PROXY` names,
each with or without a port; `*` names all. A name in lower case takes precedence over the same in upper case.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from urllib.parse import urlsplit

VARIABLES = frozenset({"http_proxy", "https_proxy", "all_proxy", "no_proxy"})
"""All variables that are read from an environment, in lower case."""


def proxy_of(url: str, environ: Mapping[str, str]) -> str:
    """Return the proxy's URL, with its user and password where it has any; empty where there is none for `url`."""
    # Names in lower case are sorted last, and so take precedence.
    given = (name for name in sorted(environ) if environ[name] and name.lower() in VARIABLES)
    named = {name.lower().removesuffix("_proxy"): environ[name] for name in given}
    if not named.keys() - {"no"} and sys.platform not in ("darwin", "win32"):
        return ""
    # Python's own knows the systems' settings too; a submission without a proxy does without its import.
    from urllib.request import (  # type: ignore[attr-defined] # typeshed lacks the last
        getproxies,
        proxy_bypass,
        proxy_bypass_environment,
    )

    parts = urlsplit(url)
    excepted = proxy_bypass_environment(parts.netloc, named) if named else proxy_bypass(parts.netloc)
    known = named or getproxies()
    proxy = "" if excepted else known.get(parts.scheme) or known.get("all", "")
    return f"http://{proxy}" if proxy and "://" not in proxy else proxy
