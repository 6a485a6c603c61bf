"""Requirements that a pyproject.toml lists in extras and groups, which no job installs. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

Table = Mapping[str, Any]


def optional_requirements(table: Table) -> Iterator[tuple[str, str]]:
    """Yield each requirement of an extra or a group, and its place, such as "extra `torch`"."""
    tool = table.get("tool", {})
    yield from _listed("group", {"dev": tool.get("uv", {}).get("dev-dependencies", ())})
    yield from _listed("group", table.get("dependency-groups", {}))
    yield from _of_poetry(tool.get("poetry", {}))
    yield from _listed("extra", table.get("project", {}).get("optional-dependencies", {}))


def _listed(kind: str, lists: Mapping[str, Sequence[Any]]) -> Iterator[tuple[str, str]]:
    for name, lines in lists.items():
        # A group that includes another one is a table.
        yield from ((line, f"{kind} `{name}`") for line in lines if isinstance(line, str))


def _of_poetry(poetry: Table) -> Iterator[tuple[str, str]]:
    yield from ((name, "group `dev`") for name in poetry.get("dev-dependencies", {}))
    for group, content in poetry.get("group", {}).items():
        yield from ((name, f"group `{group}`") for name in content.get("dependencies", {}))
    yield from _listed("extra", poetry.get("extras", {}))
