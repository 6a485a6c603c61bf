"""Projects of the running cloud, as a person's commands name them and find them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..identities import Project
from ..program import COMMAND
from . import client
from .client import CloudError
from .cloud_file import Record

_PATH = "/vertex-local/projects"


def name(record: Record, declaration: Mapping[str, Any]) -> Project:
    """Name a project to the cloud, with anything that is new in it. Raises CloudError."""
    return _project(client.call(record, "POST", _PATH, declaration))


def find(record: Record, project: str) -> Project:
    """Return a project of the cloud. Raises CloudError for a project that nobody has named."""
    every = client.call(record, "GET", _PATH)["projects"]
    entry_of_project = next((entry for entry in every if entry["project"] == project), None)
    if entry_of_project is None:
        known = ", ".join(entry["project"] for entry in every)
        raise CloudError(
            f"error: nobody has named the project {project} to the local cloud\nwhy: it has {known}\n"
            f"fix: {COMMAND} up --project {project}"
        )
    return _project(entry_of_project)


def _project(body: Mapping[str, Any]) -> Project:
    return Project(body["project"], body["number"], tuple(body["people"]))
