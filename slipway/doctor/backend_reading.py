"""The engine's backend: its state of one stack, and its locks.

A folder and a bucket of Cloud Storage are read without the engine; any other backend by it, and without its locks.
"""

from __future__ import annotations

import gzip
import os
import shutil
import socket
import subprocess
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import yaml

from slipway.cloud.answers import MISREAD, parse_timestamp
from slipway.cloud.failures import CloudError, NotFound
from slipway.cloud.storage import Location, Storage
from slipway.codec import from_json
from slipway.deployment.live_reader import unanswered
from slipway.doctor.picture import Backend, Lock
from slipway.errors import ConfigError
from slipway.live import Unknown
from slipway.state import read

_ROLE = "roles/storage.objectViewer"
_PACKED = ".gz"
_ENGINE_S = 60


@dataclass(frozen=True)
class _Folder:
    """A backend's files in a folder. Names are relative to it."""

    address: str
    path: Path

    def names(self, under: str) -> list[str]:
        files = (file for file in (self.path / under).rglob("*") if file.is_file())
        return sorted(str(file.relative_to(self.path)) for file in files)

    def content(self, name: str) -> bytes | None:
        """Read a file; None for a missing one. Raises OSError."""
        try:
            return (self.path / name).read_bytes()
        except FileNotFoundError:
            return None


@dataclass(frozen=True)
class _Bucket:
    """A backend in Cloud Storage, where objects are always whole. Raises CloudError."""

    address: str
    at: Location
    storage: Storage

    def names(self, under: str) -> list[str]:
        prefix = self._name("")
        found = self.storage.objects(Location(self.at.bucket, self._name(under)))
        return [one.at.name.removeprefix(prefix) for one in found]

    def content(self, name: str) -> bytes | None:
        try:
            return self.storage.read(Location(self.at.bucket, self._name(name)))
        except NotFound as problem:
            if "bucket does not exist" in problem.message:
                raise
            return None

    def _name(self, name: str) -> str:
        prefix = self.at.name.strip("/")
        return f"{prefix}/{name}" if prefix else name


_Files = _Folder | _Bucket


def look(checkout: Path, environ: Mapping[str, str], storage: Storage, stack: str, identity: str) -> Backend | str:
    """Read a stack in the backend, or tell why it was not read."""
    project, url = _settings(checkout, environ)
    address = url.partition("?")[0]
    if not url:
        return "the state: no backend is chosen (PULUMI_BACKEND_URL, or pulumi login)"
    if not url.startswith(("file://", "gs://")):
        return _exported(Backend(address, None), checkout, environ, stack)
    files = _files(address, storage)
    if isinstance(files, Unknown):
        return Backend(address, files)
    found = Backend(address, None, locks=_locks(files, project, stack, identity))
    try:
        names = (f".pulumi/stacks/{project}/{stack}.json{packed}" for packed in ("", _PACKED))
        there = ((name, content) for name in names if (content := files.content(name)) is not None)
        name, content = next(there, ("", b""))
        if not name:
            return found
        latest = _parsed(name, content)["checkpoint"].get("latest")
    except (CloudError, OSError, *MISREAD) as problem:
        return replace(found, state=_unread(problem, address, identity))
    return _understood(found, latest if isinstance(latest, dict) else {})


def _understood(found: Backend, latest: dict[str, Any]) -> Backend:
    """Add a deployment's document; one of another form is an `Unknown`."""
    try:
        pending = [one for one in latest.get("pending_operations") or () if isinstance(one, dict)]
        living = (one for one in latest.get("resources") or () if not one.get("delete"))
        return replace(
            found,
            state=read({one["urn"]: one for one in living}),
            pending=tuple(str(one.get("resource", {}).get("urn", "")).rpartition("::")[2] for one in pending),
            deletes=bool(pending) and all(one.get("type") == "deleting" for one in pending),
        )
    except MISREAD as problem:
        other = Unknown(f"it is of another form than expected ({problem})", "", "another version of slipway")
        return replace(found, state=other)


def _exported(found: Backend, checkout: Path, environ: Mapping[str, str], stack: str) -> Backend | str:
    """Ask the engine for a state that it alone can read, such as one in S3, or tell why it was not read."""
    if (pulumi := shutil.which("pulumi", path=environ.get("PATH"))) is None:
        return f"the state: it is in {found.address}, which pulumi alone can read, and it is not on PATH"
    command = (pulumi, "stack", "export", "--stack", stack, "--non-interactive")
    try:
        done = subprocess.run(
            command, cwd=checkout, env=environ, capture_output=True, text=True, check=False, timeout=_ENGINE_S
        )
        if done.returncode and "no stack named" in done.stderr:
            return found
        if done.returncode:
            why = done.stderr.strip().removeprefix("error: ") or f"exit code {done.returncode}"
            return replace(found, state=Unknown(f"pulumi: {why}", found.address, "a backend that pulumi can read"))
        latest = from_json(done.stdout)["deployment"]
    except (OSError, subprocess.TimeoutExpired, *MISREAD) as problem:
        return replace(found, state=Unknown(f"pulumi: {problem}", found.address, "a backend that pulumi can read"))
    return _understood(found, latest if isinstance(latest, dict) else {})


def _files(address: str, storage: Storage) -> _Files | Unknown:
    """Open an address without its parameters, or tell why nothing can be there."""
    if address.startswith("gs://"):
        try:
            return _Bucket(address, Location.parse(address), storage)
        except ConfigError as problem:
            return Unknown(problem.why, address, "an address such as gs://BUCKET/FOLDER")
    nowhere = Unknown("there is no such folder", address, "a folder that is there")
    try:
        folder = Path(unquote(address.removeprefix("file://")) or ".").expanduser()
        return _Folder(address, folder) if folder.is_dir() else nowhere
    except RuntimeError:  # The user has no home.
        return nowhere
    except OSError as problem:
        return replace(nowhere, why=problem.strerror or str(problem))


def _settings(checkout: Path, environ: Mapping[str, str]) -> tuple[str, str]:
    """Return the project's name and the backend's address, as the engine finds them."""
    try:
        body = yaml.safe_load((checkout / "Pulumi.yaml").read_text(encoding="utf-8"))
    except (OSError, ValueError, yaml.YAMLError):
        body = {}
    body = body if isinstance(body, dict) else {}
    backend = body.get("backend")
    of_project = backend.get("url") if isinstance(backend, dict) else ""
    url = environ.get("PULUMI_BACKEND_URL", "").strip() or str(of_project or "") or _logged_in(environ)
    return str(body.get("name", "slipway")), url


def _logged_in(environ: Mapping[str, str]) -> str:
    try:
        home = environ.get("PULUMI_HOME", "").strip() or str(Path(environ.get("HOME", "~")).expanduser() / ".pulumi")
        current = from_json((Path(home) / "credentials.json").read_text(encoding="utf-8")).get("current")
    except (OSError, RuntimeError, *MISREAD):
        return ""
    return current if isinstance(current, str) else ""


def _parsed(name: str, content: bytes) -> Any:
    """Return the JSON in a state's file of this name. Raises ValueError for a truncated one: elsewhere, an EOFError
    means that a person ended the input."""
    if name.endswith(_PACKED):
        try:
            content = gzip.decompress(content)
        except (EOFError, OSError, zlib.error) as problem:
            raise ValueError(f"it is not a whole gzip file: {problem}") from problem
    return from_json(content)


def _locks(files: _Files, project: str, stack: str, identity: str) -> tuple[Lock, ...] | Unknown:
    try:
        names = files.names(f".pulumi/locks/organization/{project}/{stack}/")
        found = ((name, files.content(name)) for name in names if name.endswith(".json"))
        return tuple(_lock(f"{files.address}/{name}", content) for name, content in found if content is not None)
    except (CloudError, OSError) as problem:
        return _unread(problem, files.address, identity)


def _lock(file: str, content: bytes) -> Lock:
    try:
        body = from_json(content)
        host, pid = str(body["hostname"]), int(body["pid"])
        since = parse_timestamp(str(body.get("timestamp", "")))
    except MISREAD:
        return Lock(file, damaged=True)
    return Lock(file, str(body.get("username", "")), host, since, _alive(pid) if host == socket.gethostname() else None)


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        pass
    return True


def _unread(problem: Exception, address: str, identity: str) -> Unknown:
    if isinstance(problem, CloudError):
        return unanswered(problem, f"storage.googleapis.com {address}", _ROLE, identity)
    why = problem.strerror if isinstance(problem, OSError) and problem.strerror else str(problem)
    whole = 'a whole copy (docs/runbook.md, "The state was cut off")'
    return Unknown(why, address, whole if isinstance(problem, ValueError) else "files that can be read")
