"""Findings on a terminal: each with what to do below it."""

from __future__ import annotations

import sys

from slipway.front.cli.terminal import screen
from slipway.model.findings.finding import Finding, Grade

SIGNS = {Grade.BLOCKING: ("✗", "red"), Grade.WARNING: ("!", "yellow"), Grade.NOTE: ("•", "cyan")}


def show(one: Finding, sentence: str) -> None:
    sign, colour = SIGNS[one.grade]
    screen.out(f"{screen.styled(sign, sys.stdout, fg=colour, bold=True)} {sentence}")
    for line in below(one, screen.columns()):
        screen.out(line)


def below(one: Finding, columns: int | None, indent: str = "    ") -> list[str]:
    """Return the fix, with its effect behind it where both fit, else below it: a command is copied alone."""
    if not one.fix:
        return [f"{indent}{one.means}"] if one.means else []
    both = f"{indent}mend: {one.fix}     {one.means}".rstrip()
    if columns is None or len(both) <= columns or not one.means:
        return [both]
    return [f"{indent}mend: {one.fix}", f"{indent}      {one.means}"]
