"""Costs that somebody has agreed to on the terminal, and that are not asked about again. (N23)"""

from dataclasses import replace
from decimal import Decimal

import pytest

from slipway.front.cli.terminal import submission
from slipway.model.prices import Price
from slipway.using.context import Context
from slipway.using.submission.costs import Crossing, Spending


def test_a_yes_to_what_crosses_regions_takes_none_back_to_the_machines(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr(submission, "confirm", lambda question, _: asked.append(question))
    machines = Spending("lora by spot", Price(Decimal(4)), "prod", 1.0)
    moved = Crossing("lora in us-east5", Price(Decimal(2)), "prod", 1.0, gib=100)
    display = submission.TerminalDisplay(Context(environ={}), json=False, again="", yes=False)
    for costs in (machines, moved, replace(machines, price=Price(Decimal(3))), moved):
        display.confirm(costs)
    assert len(asked) == 2
    for costs in (replace(moved, price=Price(Decimal(5))), replace(machines, price=Price(Decimal(9)))):
        display.confirm(costs)
    assert len(asked) == 4
