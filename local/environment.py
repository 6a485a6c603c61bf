"""The environment variables with which the engine and Slipway work on the local cloud, apart from a person's own."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from .backend import file_backend

PASSPHRASE = "slipway-local"
_OF_A_CLOUD = ("GOOGLE_", "PULUMI_", "CLOUDSDK_", "STORAGE_EMULATOR_", "SLIPWAY_")
_OF_THIS_MACHINE = ("SLIPWAY_CACHE", "SLIPWAY_ENGINE", "SLIPWAY_GCP_PLUGIN", "SLIPWAY_USER", "SLIPWAY_TEAM")
_PYTHON = Path(__file__).resolve().parent / "engine" / "python.sh"


def apart(environ: Mapping[str, str]) -> dict[str, str]:
    """Return an environment without the clouds, stacks and backends that a person's shell chose, and their settings."""
    return {
        name: value
        for name, value in environ.items()
        if name.startswith(_OF_THIS_MACHINE) or not name.startswith(_OF_A_CLOUD)
    }


def engine_variables(folder: Path, engine: Path, path: str) -> dict[str, str]:
    """Return the engine's variables: the interpreter's folder and its own first on PATH, its home and backend."""
    return {
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), str(engine), path]),
        "PULUMI_HOME": str(folder / "pulumi-home"),
        "PULUMI_BACKEND_URL": file_backend(folder / "pulumi-state"),
        "PULUMI_CONFIG_PASSPHRASE": PASSPHRASE,
        # The engine lives for seconds, and the usual garbage collection takes a fifth of its start.
        "GOGC": "400",
        # Takes the `virtualenv` of Pulumi.yaml, in which an installed host looks by itself.
        "PULUMI_PYTHON_CMD": str(_PYTHON),
        "PULUMI_SKIP_UPDATE_CHECK": "true",
        "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
        "PULUMI_GCP_SKIP_REGION_VALIDATION": "true",
        # A stack's file may name a key in the cloud that encrypts its secrets. A passphrase does so here.
        "PULUMI_FALLBACK_TO_STATE_SECRETS_MANAGER": "true",
        # The local cloud's lists do not lag, unless a fault makes them.
        "SLIPWAY_GRACE": "1s",
    }


def own_things(folder: Path, who: str) -> dict[str, str]:
    """Return the folders of submissions to this state's cloud, and of the catalog chosen there, and the name on jobs of
    somebody there: of a role, or the first part of an address."""
    folders = {"SLIPWAY_JOURNAL": str(folder / "journal"), "SLIPWAY_CONFIG": str(folder / "config")}
    return {**folders, "SLIPWAY_USER": who.partition("@")[0]}
