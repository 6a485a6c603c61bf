"""The file `cloud.json`: the local cloud's address, its process, and the roles' tokens."""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from .. import files
from ..identities import PROJECT_ID
from ..program import COMMAND

_SAME_START = 2.0
"""Seconds: the kernel's account of a process's start moves a little when the clock is set."""

_FOLDER = ".vertex-local"

PORT_TAKEN = 98
"""The server's exit code when another program has its port."""


class RecordError(Exception):
    """An unreadable cloud.json; the text says what, why and what to do."""


@dataclass(frozen=True)
class Record:
    """The content of cloud.json."""

    url: str
    port: int
    pid: int
    #: In seconds since the epoch, so that a reused pid is told apart.
    pid_started: float
    #: Of the project that each local cloud has.
    tokens: Mapping[str, str] = field(repr=False)
    #: The tokens of those that were named, by id.
    projects: Mapping[str, Mapping[str, str]] = field(default_factory=dict, repr=False)

    def token(self, project: str, who: str) -> str | None:
        """Return the token of a role, or of somebody by email, in a project."""
        return (self.tokens if project == PROJECT_ID else self.projects.get(project, {})).get(who)


def state_folder() -> Path:
    """Return `$VERTEX_LOCAL_STATE`, else `.vertex-local` of the repository around the current folder, or in that."""
    if chosen := os.environ.get("VERTEX_LOCAL_STATE"):
        return Path(chosen).absolute()
    here = Path.cwd()
    marks = (_FOLDER, ".git")
    return (
        next((folder for folder in (here, *here.parents) if any((folder / mark).exists() for mark in marks)), here)
        / _FOLDER
    )


def read_record(folder: Path) -> Record | None:
    """Return the record of a state folder, None when there is none yet. Raises RecordError."""
    file = folder / "cloud.json"
    try:
        document = json.loads(file.read_text(encoding="utf-8"))
        tokens = {str(role): str(token) for role, token in document["tokens"].items()}
        projects = {
            str(project): {str(who): str(token) for who, token in known.items()}
            for project, known in document.get("projects", {}).items()
        }
        place = str(document["url"]), int(document["port"])
        record = Record(*place, int(document["pid"]), float(document["pidStarted"]), tokens, projects)
        if record.pid <= 0:
            raise ValueError(f"{record.pid} is not a process")
    except FileNotFoundError:
        return None
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise RecordError(
            f"error: {file} is not a record of a local cloud\nwhy: {type(error).__name__}: {error}\n"
            f"fix: delete it, then {COMMAND} up; shells need `{COMMAND} env` again"
        ) from error
    return record


def write_record(folder: Path, record: Record) -> None:
    """Replace cloud.json in one step, readable by its owner only."""
    content = {
        "url": record.url,
        "port": record.port,
        "pid": record.pid,
        "pidStarted": record.pid_started,
        "tokens": dict(record.tokens),
        "projects": {project: dict(tokens) for project, tokens in record.projects.items()},
    }
    files.write_json(folder / "cloud.json", content)


def this_process() -> tuple[int, float]:
    process = psutil.Process()
    return process.pid, process.create_time()


def lives(process: psutil.Process) -> bool:
    """Tell whether a process holds anything yet: of a killed one the last thread gives back the port and the files."""
    return process.status() != psutil.STATUS_ZOMBIE or process.num_threads() > 1


def process_of(record: Record) -> psutil.Process | None:
    """Return the record's process if it still lives; another process with its pid does not count."""
    try:
        process = psutil.Process(record.pid)
        if abs(process.create_time() - record.pid_started) < _SAME_START and lives(process):
            return process
    except psutil.NoSuchProcess:
        pass
    return None
