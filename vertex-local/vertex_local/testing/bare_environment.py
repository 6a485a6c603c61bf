"""The variables of a shell that tests keep: those of each user's shell, and those that lead to package registries."""

from __future__ import annotations

import fnmatch
from collections.abc import Mapping

SHELL = ("PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_*", "TERM", "TZ", "TMPDIR", "XDG_CACHE_HOME", "CI")
REGISTRIES = (
    *("*_PROXY", "*_proxy", "SSL_CERT_*", "*_CA_BUNDLE", "*_CA_CERTS", "*_SSL_CAINFO", "PIP_*", "UV_*"),
    *("NPM_CONFIG_*", "npm_config_*", "GOPROXY", "GOSUMDB", "GONOSUMDB", "GONOPROXY", "GOPRIVATE"),
)
TEST_RUN = ("PYTEST_*", "HYPOTHESIS_*", "VERTEX_LOCAL_CACHE", "VERTEX_LOCAL_FUZZ")
"""Variables that set how tests run, and where they keep what all runs share."""


def bare(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that a command of the tests keeps."""
    patterns = (*SHELL, *REGISTRIES, *TEST_RUN)
    return {
        name: value
        for name, value in environ.items()
        if any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)
    }


def changes_python(environ: Mapping[str, str]) -> bool:
    """Return whether Python has read a variable when it started, such as PYTHONOPTIMIZE. Empty ones have no effect."""
    return any(name.startswith("PYTHON") and value for name, value in environ.items())
