"""Installs what a job's requirements.txt lists where that names an index, before the job's code starts.

Vertex AI's own pip knows PyPI alone. This one runs in the job, as the job's account: to Artifact Registry it signs in
with a token of that account, which stands in a file that is gone when pip ends, and in no request, argument or log.
"""

from __future__ import annotations

import contextlib
import fcntl
import importlib
import os
import re
import site
import subprocess
import sys
import tempfile
import time
import urllib.parse
from pathlib import Path
from typing import Iterable, Iterator, Mapping, Sequence  # noqa: UP035 (Python 3.8)

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
SHOWN = 3
"""The most lines of pip's that are repeated as the reason."""
UNREACHED = r"Retrying \(|NewConnectionError|Name or service not known|Temporary failure in name resolution|timed out"
DENIED = r"\b40[13]\b.*(?:Error|Client|while getting)|(?:Error|error) 40[13]\b"
FIXES = (
    (DENIED, "grant roles/artifactregistry.reader on the repository to the job's service account", True),
    (DENIED, "the index denies access: only Artifact Registry lets a job sign in", False),
    (
        UNREACHED,
        "the machine must reach the index: name one in its network, by an --index-url in requirements.txt",
        None,
    ),
    (r"No space left", "take a machine with a larger disk, or list fewer packages in {source}", None),
    (r"Permission denied|Read-only file system", "let the image's user write to {prefix}", None),
    (r"No module named pip", "use an image with pip", None),
    (r"command 'git'", "use an image with git, or publish a wheel on an index that {source} names", None),
    (r"different [Pp]ython", "choose versions in {source} for the image's Python {python}", None),
    (
        r"DO NOT MATCH THE HASHES|--require-hashes",
        "write the hashes of {source} again, with the tool that wrote it",
        None,
    ),
    (r"conflicting dependencies|ResolutionImpossible", "let {source} list versions that fit together", None),
    (
        r"No matching distribution|Could not find a version",
        "correct that name or version in {source}; the index must have it for Python {python}",
        None,
    ),
    (
        r"Failed (?:to build|building)|subprocess-exited-with-error",
        "list a version in {source} with a wheel for Python {python}, which needs no compiler",
        None,
    ),
)
"""Fixes, by the lines of pip; the last value: for indexes of Artifact Registry alone, for others alone, for any."""
OTHER_FIX = "see pip's lines above; the packages are listed in {source}"


def wanted() -> list[str]:
    """The lines that are installed here; none where Vertex AI's own pip has installed all."""
    try:
        return list(importlib.import_module(REQUIREMENTS).LINES)
    except ModuleNotFoundError:
        return []


def source() -> str:
    """The file of the folder that lists the packages."""
    return str(getattr(sys.modules.get(REQUIREMENTS), "SOURCE", "requirements.txt"))


def install(lines: list[str], environ: Mapping[str, str]) -> None:
    """Have pip install the lines. Raises RefusedError."""
    if not lines:
        return
    indexes = (urllib.parse.urlsplit(line.split()[-1]).hostname or "" for line in lines if line.startswith(INDEX))
    hosts = sorted({host for host in indexes if host.endswith(REGISTRY)})
    known = {**settings(in_environment=sys.prefix != sys.base_prefix), **environ}
    with tempfile.TemporaryDirectory(prefix="slipway-") as folder:  # which nobody else may read
        file = Path(folder, "requirements.txt")
        limits = Path(folder, "constraints.txt")
        limits.write_text(
            "".join(f"{line[len(CONSTRAINT) :]}\n" for line in lines if line.startswith(CONSTRAINT)), encoding="utf-8"
        )
        file.write_text("".join(f"{line}\n" for line in lines if not line.startswith(CONSTRAINT)), encoding="utf-8")
        if hosts:
            known["NETRC"] = str(signed_in(hosts, Path(folder, "netrc"), environ))
        words = [sys.executable, "-m", "pip", "install", "--requirement", str(file), "--constraint", str(limits)]
        with alone():
            code, written = shown(words, known)
    if code:
        raise RefusedError(REFUSED, reason(code, written), fix(written, registry=bool(hosts)))


def settings(*, in_environment: bool) -> Mapping[str, str]:
    """The variables with which pip replaces a package of the image. A virtual environment takes no second version of a
    package, so it is replaced there; in another image the user's folder comes before the image's packages."""
    user = "0" if in_environment or not site.ENABLE_USER_SITE else "1"
    return {
        "PIP_USER": user,
        "PIP_NO_INPUT": "1",
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "PIP_BREAK_SYSTEM_PACKAGES": "1",
        "PIP_NO_WARN_SCRIPT_LOCATION": "1",
        "PIP_ROOT_USER_ACTION": "ignore",
    }


def signed_in(hosts: Iterable[str], file: Path, environ: Mapping[str, str]) -> Path:
    """The file with which pip signs in to hosts of Artifact Registry. Raises RefusedError."""
    try:
        bearer = patiently(lambda: token(environ), time.sleep)
    except StorageError as error:
        why = f"no token of the job's account for {', '.join(hosts)}: {error}"
        raise RefusedError(REFUSED, why, "let the job run as a service account that has a token") from error
    file.write_text("".join(f"machine {host} login oauth2accesstoken password {bearer}\n" for host in hosts), "utf-8")
    return file


@contextlib.contextmanager
def alone() -> Iterator[None]:
    """Let no other replica change the same environment meanwhile: replicas of one machine can share it."""
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError):
            lock = stack.enter_context(Path(sys.prefix, ".slipway-install.lock").open("w"))
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def shown(words: Sequence[str], environ: Mapping[str, str]) -> tuple[int, str]:
    """The exit code of a program, and what it wrote on stderr, which is written on as well."""
    written = b""
    with subprocess.Popen(words, env=dict(environ), stderr=subprocess.PIPE) as process:
        for line in process.stderr or ():
            os.write(2, line)
            written += line
    return process.returncode, written.decode("utf-8", "replace")


def reason(code: int, written: str) -> str:
    """Why pip failed, by its own errors."""
    errors = [line[len("ERROR: ") :].strip() for line in written.splitlines() if line.startswith("ERROR: ")]
    own = [line for line in errors if "for help visit" not in line]
    if "No module named pip" in written:
        own = ["No module named pip"]
    return (
        f"pip ended with {code}: {'; '.join(own[-SHOWN:])}" if own else f"pip, whose lines are above, ended with {code}"
    )


def fix(written: str, *, registry: bool) -> str:
    """Return the fix after such lines of pip."""
    fitting = (text for pattern, text, of in FIXES if of in (None, registry) and re.search(pattern, written))
    python = ".".join(map(str, sys.version_info[:2]))
    return next(fitting, OTHER_FIX).format(source=source(), python=python, prefix=sys.prefix)
