"""What a review reads of the cloud, and where it looks. # N14"""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from slipway.google.live import Live
from slipway.google.live_reader import LiveScope
from slipway.reviewing.change import reading
from tests.slipway.reviewing.builders import NOW, REGION, STACK, facts, published

NOBODY: Any = object()


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[LiveScope]:
    """What was to be read of a cloud in which nothing lives, and whose clock says NOW."""
    scopes: list[LiveScope] = []

    def read(_: object, wanted: LiveScope, **__: object) -> tuple[Live, list[str]]:
        scopes.append(wanted)
        return Live((), (), {}, None, time=NOW), []

    monkeypatch.setattr(reading, "read", read)
    return scopes


def test_it_looks_where_the_stack_is_deployed_and_not_where_the_program_says(asked: list[LiveScope]) -> None:
    was = facts()
    says = replace(was, catalog=replace(was.catalog, region="asia-east1", project="elsewhere"))
    reading.change(published(was, says), NOBODY, NOW, stack=STACK)
    assert [(request.project, request.region) for request in asked] == [(was.catalog.project, REGION)]


def test_dates_are_judged_by_the_cloud_s_clock(snapshot: SnapshotAssertion, asked: list[LiveScope]) -> None:
    same, ahead = published(facts(), facts()), NOW + timedelta(days=3)
    change = reading.change(same, NOBODY, ahead, stack=STACK)
    assert change.now == NOW
    assert change.notes[0] == snapshot
    change = reading.change(same, NOBODY, NOW, stack=STACK)
    assert (change.now, change.notes) == (NOW, ())
    assert [request.now for request in asked] == [ahead, NOW]
