"""The environment variables that make a shell, a program or a test talk to the local cloud."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from .backend import file_backend
from .cloud.endpoints import cloud_variables, every
from .cloud.identities import PROJECT_ID
from .cloud.nodes.environment import CLIENT_SETTINGS
from .cloud.server.cloud_file import Record

PASSPHRASE = "slipway-local"
_OF_A_CLOUD = ("GOOGLE_", "PULUMI_", "CLOUDSDK_", "STORAGE_EMULATOR_", "SLIPWAY_")
_OF_THIS_MACHINE = (
    "SLIPWAY_CACHE",
    "SLIPWAY_ENGINE",
    "SLIPWAY_GCP_PLUGIN",
    "SLIPWAY_USER",
    "SLIPWAY_TEAM",
)
_NO_PROXY = ("NO_PROXY", "no_proxy")
_PYTHON = Path(__file__).resolve().parent / "engine" / "python.sh"
_THIS_MACHINE = ("127.0.0.1", "localhost", "::1", "127.0.0.0/8")


def apart(environ: Mapping[str, str]) -> dict[str, str]:
    """Return an environment without the clouds, stacks and backends that a person's shell chose, and their settings."""
    return {
        name: value
        for name, value in environ.items()
        if name.startswith(_OF_THIS_MACHINE) or not name.startswith(_OF_A_CLOUD)
    }


def engine_variables(folder: Path, engine: Path, path: str) -> dict[str, str]:
    """Return the variables that the Pulumi engine needs: the interpreter's folder first on PATH, then the engine's, a
    home and a backend of its own in the state folder."""
    return {
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), str(engine), path]),
        "PULUMI_HOME": str(folder / "pulumi-home"),
        "PULUMI_BACKEND_URL": file_backend(folder / "pulumi-state"),
        "PULUMI_CONFIG_PASSPHRASE": PASSPHRASE,
        # The engine lives for seconds, and the usual garbage collection takes a fifth of its start.
        "GOGC": "400",
        # This is ignored where Pulumi.yaml has a `virtualenv`, in which the engine looks for Python.
        "PULUMI_PYTHON_CMD": str(_PYTHON),
        "PULUMI_SKIP_UPDATE_CHECK": "true",
        "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
        "PULUMI_GCP_SKIP_REGION_VALIDATION": "true",
        # A stack's file may name a key in the cloud that encrypts its secrets. A passphrase does so here.
        "PULUMI_FALLBACK_TO_STATE_SECRETS_MANAGER": "true",
        # The local cloud's lists do not lag, unless a fault makes them.
        "SLIPWAY_GRACE": "1s",
    }


def own_things(folder: Path) -> dict[str, str]:
    """Return the folders in which submissions to a cloud with this state folder are noted, and the catalog that a
    person chooses there, both apart from those of real clouds."""
    return {"SLIPWAY_JOURNAL": str(folder / "journal"), "SLIPWAY_CONFIG": str(folder / "config")}


def past_proxies(environ: Mapping[str, str]) -> dict[str, str]:
    """Return variables that keep requests to this machine away from a proxy, which could not send them on and would see
    tokens.

    The engine's own calls go astray as well. Go bypasses a proxy for loopback by itself; Python and gRPC do not.
    """
    known = [word.strip() for name in _NO_PROXY for word in environ.get(name, "").split(",")]
    value = ",".join(dict.fromkeys([*filter(None, known), *_THIS_MACHINE]))
    return dict.fromkeys(_NO_PROXY, value)


def of_role(record: Record, role: str, project: str = PROJECT_ID) -> Mapping[str, str]:
    """Return the cloud's variables for `owner`, `deployer`, `previewer` or `submitter` of a project, or for one of its
    people by email, and every endpoint of the provider. Raises LookupError for somebody unknown there."""
    token = record.token(project, role)
    if token is None:
        raise LookupError(f"{role} of {project}")
    return {
        **every(record.url),
        **cloud_variables(record.url, token, project),
        **CLIENT_SETTINGS,
        **past_proxies(os.environ),
    }
