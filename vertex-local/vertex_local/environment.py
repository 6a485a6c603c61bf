"""The environment variables that make a shell, a program or a test talk to the local cloud."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from .access import keys
from .endpoints import cloud_variables, every
from .identities import PROJECT_ID, Project, folder_of
from .nodes.environment import CLIENT_SETTINGS
from .server.cloud_file import Record

_NO_PROXY = ("NO_PROXY", "no_proxy")
_THIS_MACHINE = ("127.0.0.1", "localhost", "::1", "127.0.0.0/8")


def past_proxies(environ: Mapping[str, str]) -> dict[str, str]:
    """Return variables that keep requests to this machine away from a proxy, which could not send them on and would see
    tokens.

    Calls of a program in Go go astray as well where it starts one in Python. Go bypasses a proxy for loopback by
    itself; Python and gRPC do not.
    """
    known = [word.strip() for name in _NO_PROXY for word in environ.get(name, "").split(",")]
    value = ",".join(dict.fromkeys([*filter(None, known), *_THIS_MACHINE]))
    return dict.fromkeys(_NO_PROXY, value)


def of_role(record: Record, role: str, project: str = PROJECT_ID) -> dict[str, str]:
    """Return the cloud's variables for `owner`, `deployer`, `previewer` or `submitter` of a project, or for one of its
    people by email, with every endpoint of the gcp provider. Raises LookupError for somebody unknown there."""
    token = record.token(project, role)
    if token is None:
        raise LookupError(f"{role} of {project}")
    return {
        **every(record.url),
        **cloud_variables(record.url, token, project),
        **CLIENT_SETTINGS,
        **past_proxies(os.environ),
    }


def of_shell(record: Record, folder: Path, project: Project, who: str) -> dict[str, str]:
    """Return the same with the file of a service-account key, for a cloud with its state in `folder`."""
    key = keys.write(folder_of(folder, project.id), project, who, record.url)
    return {**of_role(record, who, project.id), "GOOGLE_APPLICATION_CREDENTIALS": str(key)}
