"""Answers of a forge, each without one of its fields."""

import copy
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from slipway.base.codec import from_json
from slipway.base.errors import ResourceError


def said_without(monkeypatch: pytest.MonkeyPatch, ask: Callable[[], object]) -> dict[str, str]:
    """Return what is said by field, where one answer lacks it; nothing by one that is not needed."""
    answers: list[Any] = []
    without: tuple[int, tuple[str | int, ...]] | None = None

    def read(text: str) -> Any:
        answers.append(from_json(text))
        number, path = without or (-1, ())
        if number == len(answers) - 1:
            parent = answers[-1]
            for step in path[:-1]:
                parent = parent[step]
            del parent[path[-1]]
        return answers[-1]

    monkeypatch.setattr("slipway.google.answers.from_json", read)
    ask()
    whole, said = copy.deepcopy(answers), {}
    for number, answer in enumerate(whole):
        for path in _fields(answer):
            answers.clear()
            without = number, path
            try:
                ask()
            except ResourceError as problem:
                said[f"{number} {'.'.join(map(str, path))}"] = problem.why
    return said


def _fields(value: Any) -> Iterator[tuple[str | int, ...]]:
    if isinstance(value, dict):
        for name, each in value.items():
            yield (name,)
            yield from ((name, *path) for path in _fields(each))
    if isinstance(value, list) and value:
        yield from ((0, *path) for path in _fields(value[0]))
