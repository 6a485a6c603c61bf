"""The metadata of a folder's own projects, as an installer writes it, for code that reads it with importlib.metadata.
Pure."""

from __future__ import annotations

import posixpath
import re
import tomllib
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from slipway.authoring.packages.project_file import PROJECT

UNKNOWN = "0+unknown"
"""The version of a project whose build computes it, for example from git."""
_PLUGINS = "entry-points"
_SCRIPTS = {"scripts": "console_scripts", "gui-scripts": "gui_scripts"}

Table = Mapping[str, Any]


def metadata_of(files: Mapping[str, bytes], code: Collection[str]) -> dict[str, str]:
    """Return the files of the metadata, by paths such as `mytrain-1.0.dist-info/METADATA`. `code` are the folders from
    which the projects other than that of the top are imported."""
    found: dict[str, str] = {}
    for name in sorted(files):
        folder, base = posixpath.split(name)
        is_used = not folder or any(f"{each}/".startswith(f"{folder}/") for each in code)
        if base == PROJECT and is_used:
            found |= _of_project(files[name])
    return found


def _of_project(content: bytes) -> dict[str, str]:
    """Return the files for one project; none for one without a name, and for a file that can't be read."""
    try:
        table = tomllib.loads(content.decode())
        own = table.get("project") or table.get("tool", {}).get("poetry", {})
        return _files(own)
    except (ValueError, AttributeError, TypeError):  # Packing rejects it.
        return {}


def _files(own: Table) -> dict[str, str]:
    name, version = own.get("name"), own.get("version", UNKNOWN)
    if not isinstance(name, str) or not isinstance(version, str):
        return {}
    folder = f"{re.sub(r'[-_.]+', '_', name).lower()}-{version}.dist-info"
    files = {"METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"}
    if plugins := "".join(_sections(own)):
        files["entry_points.txt"] = plugins
    listed = "".join(f"{folder}/{file},,\n" for file in [*files, "RECORD"])  # pip uninstalls what is listed.
    return {f"{folder}/{file}": text for file, text in {**files, "RECORD": listed}.items()}


def _sections(own: Table) -> Iterator[str]:
    """Yield the sections of an entry_points.txt."""
    groups = {group: own.get(key, {}) for key, group in _SCRIPTS.items()} | own.get(_PLUGINS, {})
    for group, entries in groups.items():
        lines = [f"{name} = {entry}\n" for name, entry in entries.items() if isinstance(entry, str)]
        if lines:
            yield "".join([f"[{group}]\n", *lines, "\n"])
