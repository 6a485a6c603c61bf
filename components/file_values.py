"""The values of a stack file that its program changes (`args=` of `deploy`): no line of the file has them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from typing import Any

from slipway.authoring.stack.yaml_file import Document, FileMistake, KeyPath, dotted

from .entries import argument_of
from .member import Member
from .resolution import Given

_CONFIG = "config"


def changed_by_program(file: Document, config: Mapping[str, Any]) -> list[KeyPath]:
    """Return the paths of the values of a configuration that are not those of its stack file."""
    return list(_changed(file.values.get(_CONFIG) or {}, config, (_CONFIG,)))


def _changed(written: Any, config: Any, path: KeyPath) -> Iterator[KeyPath]:
    if isinstance(written, Mapping) and isinstance(config, Mapping):
        for key, value in config.items():
            yield from _changed(written.get(key), value, (*path, key))
    elif written != config:
        yield path


def without_lines(file: Document, changed: Collection[KeyPath]) -> Document:
    """Return a stack file without the lines of changed values, which have others in it."""
    lines = {path: line for path, line in file.lines.items() if not _is_within(path, changed)}
    return replace(file, lines=lines)


def _is_within(path: KeyPath, changed: Collection[KeyPath]) -> bool:
    return any(path[: len(above)] == above for above in changed)


def of_program(
    mistakes: Collection[FileMistake], changed: Collection[KeyPath], given: Mapping[Member, Given]
) -> tuple[FileMistake, ...]:
    """Return mistakes, those of changed values by component and argument in place of file and line."""
    names = [dotted(path) for path in changed]
    return tuple(_of_program(mistake, given) if _is_about(mistake, names) else mistake for mistake in mistakes)


def _is_about(mistake: FileMistake, names: Collection[str]) -> bool:
    return any(_begins(mistake.key, name) or _begins(name, mistake.key) for name in names)


def _begins(key: str, above: str) -> bool:
    return key.startswith(above) and key[len(above) :][:1] in ("", ".", "[")


def _of_program(mistake: FileMistake, given: Mapping[Member, Given]) -> FileMistake:
    for component, values in given.items():
        argument = argument_of(component, values, mistake.key)
        if argument:
            return replace(mistake, file="", line=0, key=f"{component.title}: {argument}")
    return mistake
