"""Streams that the engine wrote, shortened, as changes of the stack that they were recorded with."""

from pathlib import Path
from typing import Any

from slipway.answers.comparison import Comparison, World
from slipway.deploying.engine.events import declared, deployed, read
from slipway.deploying.engine.preview import Preview
from slipway.google.live import Live
from slipway.model import facts
from slipway.reviewing.change.change import Change
from tests.slipway.reviewing.builders import NOW

FOLDER = Path(__file__).parents[1] / "deploying" / "engine" / "recorded"


def lines(name: str) -> list[str]:
    return (FOLDER / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()


def preview(name: str) -> Preview:
    return read(lines(name))


def recorded(name: str, **fields: Any) -> Change:
    """Return a change with the published facts of its components, where it has any. `fields` are the change's own."""
    recording = preview(name)
    before, after = facts.read(deployed(recording)), facts.read(declared(recording))
    live = Live(clusters=(), jobs=fields.pop("jobs", ()), limits={}, catalog=None)
    comparison = Comparison.between("local", before, after, World(live, NOW), preview=recording)
    return Change(comparison, **fields)
