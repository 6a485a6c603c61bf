"""What a review reads of the cloud, and where it looks. # N14"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from slipway.facts import CATALOG, WORKSPACE
from slipway.live import Live
from slipway.review import reading
from slipway.review.preview import Preview, Resource, Step
from tests.slipway.review.builders import NOW, REGION, STACK, facts


def test_it_looks_where_the_stack_is_deployed_and_not_where_the_program_says(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[Any] = []

    class Looking:
        def __init__(self, _connection: object, place: object, *_rest: object) -> None:
            looked.append(place)

        def read(self) -> tuple[Live, tuple[()]]:
            return Live((), (), {}, None), ()

    monkeypatch.setattr(reading, "_Reading", Looking)
    was = facts()
    says = replace(was, catalog=replace(was.catalog, region="asia-east1", project="elsewhere"))
    sides = {CATALOG: (was.published, says.published), WORKSPACE: (was.workspace, says.workspace)}
    steps = [
        Step("update", f"urn:{type_}", type_, "x", old=Resource(old), new=Resource(new), component=True)
        for type_, (old, new) in sides.items()
    ]
    connection: Any = object()
    reading.change(Preview(tuple(steps)), connection, NOW, stack=STACK)
    assert looked == [(was.catalog.project, REGION)]
