"""Installs what a job's requirements.txt lists where that names an index, before the job's code starts.

Vertex AI's own pip knows PyPI alone. This one runs in the job, as the job's account: to Artifact Registry it signs in
with a token of that account, which stands in a file that is gone when pip ends, and in no request, argument or log.
"""

from __future__ import annotations

import importlib
import subprocess
import sys
import tempfile
import time
import urllib.parse
from pathlib import Path
from typing import Mapping  # noqa: UP035 (Python 3.8)

from slipway.authoring.packages.slipway_http import StorageError, patiently, token
from slipway.authoring.packages.slipway_storage import RefusedError

REQUIREMENTS = "slipway_requirements"
"""The module with the `LINES` of requirements.txt; only packages have it whose requirements name an index, a constraint
or a hash."""
CONSTRAINT = "--constraint "
"""The beginning of a line that limits a package's version, if it is installed."""
INDEX = ("--index-url ", "--extra-index-url ")
REGISTRY = "-python.pkg.dev"
"""The end of each host of Artifact Registry's Python repositories, and of no other host."""
REFUSED = "the packages of this job can't be installed, so its code does not start"
FIX = (
    "names and versions are those of requirements.txt; Artifact Registry needs roles/artifactregistry.reader for the "
    "job's service account"
)


def wanted() -> list[str]:
    """The lines that are installed here; none where Vertex AI's own pip has installed all."""
    try:
        return list(importlib.import_module(REQUIREMENTS).LINES)
    except ModuleNotFoundError:
        return []


def install(lines: list[str], environ: Mapping[str, str]) -> None:
    """Have pip install the lines. Raises RefusedError."""
    if not lines:
        return
    indexes = (urllib.parse.urlsplit(line.split()[-1]).hostname or "" for line in lines if line.startswith(INDEX))
    hosts = sorted({host for host in indexes if host.endswith(REGISTRY)})
    # Not into the image's own packages, unless a variable of the template says so.
    known = {"PIP_USER": "1", "PIP_NO_INPUT": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1", **environ}
    with tempfile.TemporaryDirectory(prefix="slipway-") as folder:  # which nobody else may read
        file = Path(folder, "requirements.txt")
        limits = Path(folder, "constraints.txt")
        limits.write_text(
            "".join(f"{line[len(CONSTRAINT) :]}\n" for line in lines if line.startswith(CONSTRAINT)), encoding="utf-8"
        )
        file.write_text("".join(f"{line}\n" for line in lines if not line.startswith(CONSTRAINT)), encoding="utf-8")
        if hosts:
            try:
                bearer = patiently(lambda: token(environ), time.sleep)
            except StorageError as error:
                raise RefusedError(REFUSED, f"no token of the job's account for {hosts[0]}: {error}", FIX) from error
            known["NETRC"] = str(Path(folder, "netrc"))
            signs = [f"machine {host} login oauth2accesstoken password {bearer}\n" for host in hosts]
            Path(known["NETRC"]).write_text("".join(signs), encoding="utf-8")
        words = [sys.executable, "-m", "pip", "install", "--requirement", str(file), "--constraint", str(limits)]
        code = subprocess.call(words, env=known)
    if code:
        raise RefusedError(REFUSED, f"pip, whose lines are above, ended with {code}", FIX)
