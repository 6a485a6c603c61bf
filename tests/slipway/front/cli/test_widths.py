"""Every table fits a narrow terminal, and says what it says without one. At any width: terminal/test_table.py."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from rich.cells import cell_len

from slipway.base.clock import TOLERANCE
from slipway.front.cli.terminal import screen
from slipway.model.season import Season
from slipway.using.context import Context
from tests.checkouts.shell import Done

from .stack import Stack, held
from .test_schedule import deployed

LONG = (
    "Trains a forest on the digits with Dask, on a scheduler and as many workers as are asked for, and keeps the best"
)
NOTE = "only a word or two, which may have spaces and be longer than the terminal is wide; it is repeated as it is"


def wide(stack: Stack) -> None:
    """Texts and names as long as people have them."""
    for template in stack.catalog["templates"].values():
        template["summary"] = LONG
        template["parameters"] += [
            {"name": f"parameter_{index}", "type": "str", "default": NOTE, "choices": [], "help": f"{LONG} {index}"}
            for index in range(3)
        ]
        template["offers"][1].update(available=False, why=f"quota: {LONG}")
    stack.catalog["templates"]["a-template-whose-name-is-as-long-as-they-get"] = stack.catalog["templates"].pop("crew")
    stack.publish()


@pytest.fixture
def at(monkeypatch: pytest.MonkeyPatch, stack: Stack) -> Callable[..., Done]:
    # What jobs cost by now is the same at each look. Not so far ahead that the clock is taken for a wrong one.
    now = datetime.now(UTC) + TOLERANCE / 2
    monkeypatch.setattr(Context, "now", now)

    def run(room: int | None, *words: str) -> Done:
        monkeypatch.setattr(screen, "columns", lambda: room)
        return stack.well(*words)

    return run


def words_of(text: str) -> set[str]:
    """Without numbers, as a pool may grow and cost more between two looks, and without heads: a block has none over its
    name."""
    return {word for word in text.split() if not word.lstrip("$")[:1].isdigit() and not word.isupper()}


def fits(at: Callable[..., Done], *words: str) -> None:
    """What is shown before and after is shown in between: a sample of use may come at any moment."""
    before, shown, after = at(None, *words).out, at(60, *words).out, at(None, *words).out
    assert not [line for line in shown.splitlines() if cell_len(line) > 60 and " " in line.strip()], words
    assert not (words_of(before) & words_of(after)) - words_of(shown), words


def test_every_table_fits_the_terminal_and_loses_nothing(stack: Stack, at: Callable[..., Done]) -> None:
    names = [held(stack, 2)]
    stack.run("submit", "hello", "-p", "code=raise SystemExit('no')", "--wait")
    names.append(stack.jobs()[0]["displayName"])
    wide(stack)
    fits(at, "templates")
    for template in stack.catalog["templates"]:
        fits(at, "templates", "show", template)
    fits(at, "quota")
    fits(at, "pools")
    fits(at, "jobs", "list")
    for name in names:
        fits(at, "jobs", "show", name)


def test_the_schedule_fits_the_terminal(stack: Stack, at: Callable[..., Done]) -> None:
    deployed(stack, Season(None, datetime.now(UTC) + timedelta(days=30), timedelta(hours=4)))
    fits(at, "schedule")
