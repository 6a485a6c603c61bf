"""Steps of the engine."""

from collections.abc import Iterable, Mapping
from typing import Any

from slipway.deploying.engine.preview import EngineStep, Resource
from tests.builders.place import STACK


def step(
    op: str,
    type: str,
    name: str,
    *,
    old: Mapping[str, Any] | None = None,
    new: Mapping[str, Any] | None = None,
    id: str = "",
    parent: str = "",
    diffs: Iterable[str] = (),
    replaces: Iterable[str] = (),
    retained: bool = False,
) -> EngineStep:
    """Return a step. `old` and `new` are inputs. `id` and `retained` are the old resource's."""
    urn = f"urn:pulumi:{STACK}::slipway::{type}::{name}"
    before = None if old is None else Resource(old, {}, id, retained)
    after = None if new is None else Resource(new)
    return EngineStep(op, urn, type, name, parent, before, after, tuple(diffs), tuple(replaces))
