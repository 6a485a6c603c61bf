"""What a review reads of the cloud, and where it looks. # N14"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
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


def test_dates_are_judged_by_the_cloud_s_clock_and_jobs_asked_for_again(monkeypatch: pytest.MonkeyPatch) -> None:
    @dataclass(frozen=True)
    class Reading:
        _connection: object
        _place: object
        _bucket: object
        _after: object
        _stack: object
        _identity: object
        now: datetime
        _elsewhere: object

        def read(self) -> tuple[Live, tuple[()]]:
            asked.append(self.now)
            return Live((), (), {}, None, time=NOW), ()

    asked: list[datetime] = []
    monkeypatch.setattr(reading, "_Reading", Reading)
    was = facts()
    sides = {CATALOG: was.published, WORKSPACE: was.workspace}
    steps = [
        Step("same", f"urn:{t}", t, "x", old=Resource(s), new=Resource(s), component=True) for t, s in sides.items()
    ]
    connection: Any = object()
    ahead = NOW + timedelta(days=3)
    change = reading.change(Preview(tuple(steps)), connection, ahead, stack=STACK)
    assert (change.now, asked) == (NOW, [ahead, NOW]) and "3 days ahead of the cloud's" in change.notes[0]
    asked.clear()
    change = reading.change(Preview(tuple(steps)), connection, NOW, stack=STACK)
    assert (change.now, asked, change.notes) == (NOW, [NOW], ())
