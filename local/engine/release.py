"""The official release: the vendor's archive for this machine, checked against the digest the release publishes."""

from __future__ import annotations

import contextlib
import hashlib
import http.client
import platform
import shutil
import tarfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path

from .errors import EngineError, ReleaseUnavailableError
from .progress import SEPARATOR
from .version import Version

RELEASES = "https://get.pulumi.com/releases/sdk"

# How long the first answer may take, and how long a transfer may stall after it.
_PATIENCE_S = 5.0
_STALL_S = 15.0
_CHUNK = 1 << 18

_SYSTEMS = {"Linux": "linux", "Darwin": "darwin"}
_MACHINES = {"x86_64": "x64", "amd64": "x64", "arm64": "arm64", "aarch64": "arm64"}


def archive_name(version: Version, system: str, machine: str) -> str:
    """Return the archive for a machine, as `platform.system()` and `platform.machine()` name it. Raises
    ReleaseUnavailableError when the vendor has none for it that we could unpack."""
    try:
        return f"pulumi-v{version}-{_SYSTEMS[system]}-{_MACHINES[machine.lower()]}.tar.gz"
    except KeyError:
        raise _unavailable(f"there is none for {system} on {machine}") from None


def published_digest(checksums: str, archive: str) -> str | None:
    """Return the sha256 of `archive` in a checksums file of lines `<hex digest>  <file name>`."""
    for line in checksums.splitlines():
        words = line.split()
        if len(words) == 2 and words[1].lstrip("*") == archive and len(words[0]) == 64:
            return words[0].lower()
    return None


def download(
    into: Path, version: Version, progress: Callable[[str], None], base: str = RELEASES, patience_s: float = _PATIENCE_S
) -> None:
    """Fill the empty folder `into` with the programs of the official release.

    Raises ReleaseUnavailableError when it can't be reached within `patience_s` seconds or is not there for this
    machine, EngineError when the archive's digest is not the published one, and OSError when `into` can't be written.
    """
    archive = archive_name(version, platform.system(), platform.machine())
    progress(f"asking for Pulumi's official release {version}")
    try:
        with urllib.request.urlopen(f"{base}/pulumi-{version}-checksums.txt", timeout=patience_s) as answer:
            digest = published_digest(answer.read(1 << 20).decode(errors="replace"), archive)
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise _unavailable(_reason(error)) from error
    if digest is None:
        raise _unavailable(f"its list of checksums does not name {archive}")
    packed = into / archive
    archive_file = _fetch(f"{base}/{archive}", packed, progress)
    if archive_file != digest:
        raise EngineError(
            f"the download {archive} is not what Pulumi released",
            f"its sha256 is {archive_file}, the release publishes {digest}",
            "run again; if it stays so, something on the way changes downloads: SLIPWAY_ENGINE=build builds the engine",
        )
    progress(f"unpacking {archive}")
    try:
        _unpack(packed, into)
    except (tarfile.TarError, EOFError) as error:
        raise EngineError(f"{archive} can't be unpacked", str(error), "set SLIPWAY_ENGINE=build") from error
    packed.unlink()


def _unavailable(why: str) -> ReleaseUnavailableError:
    return ReleaseUnavailableError(
        "Pulumi's official release can't be had",
        why,
        "install Pulumi yourself, or let it be built from source: SLIPWAY_ENGINE=build",
    )


def _reason(error: Exception) -> str:
    if isinstance(error, urllib.error.HTTPError):
        return f"{error.url} answers {error.code} {error.reason}"
    if isinstance(error, urllib.error.URLError):
        return f"its host is not reachable: {error.reason}"
    return f"the answer broke off: {error}" if str(error) else f"the answer broke off ({type(error).__name__})"


def _fetch(url: str, target: Path, progress: Callable[[str], None]) -> str:
    """Store `url` as `target` and return its sha256 in hex."""
    digest = hashlib.sha256()
    with target.open("wb") as file, contextlib.ExitStack() as stack:
        try:
            answer = stack.enter_context(urllib.request.urlopen(url, timeout=_STALL_S))
        except OSError as error:
            raise _unavailable(_reason(error)) from error
        total = int(answer.headers.get("Content-Length") or 0)
        done, told = 0, 0.0
        while True:
            try:
                chunk = answer.read(_CHUNK)
            except (OSError, http.client.HTTPException) as error:
                raise _unavailable(_reason(error)) from error
            if not chunk:
                break
            file.write(chunk)
            digest.update(chunk)
            done += len(chunk)
            if time.monotonic() - told >= 1:
                told = time.monotonic()
                whole = f" of {total / 1e6:.0f}" if total else ""
                progress(f"downloading {target.name}{SEPARATOR}{done / 1e6:.0f}{whole} MB")
    if total and done < total:
        raise _unavailable(f"the answer broke off after {done} of {total} bytes")
    return digest.hexdigest()


def _unpack(packed: Path, into: Path) -> None:
    """Write the regular files of the archive's one folder; nothing else in it can reach the disk."""
    with tarfile.open(packed, "r:gz") as archive:
        for member in archive:
            parts = Path(member.name).parts
            if not member.isfile() or len(parts) != 2 or parts[0] != "pulumi" or parts[1] in ("..", packed.name):
                continue
            content = archive.extractfile(member)
            if content is not None:
                target = into / parts[1]
                with content, target.open("wb") as file:
                    shutil.copyfileobj(content, file, _CHUNK)
                target.chmod(0o755)
