"""Findings on a terminal: each with what to do below it."""

from __future__ import annotations

import sys

from slipway.front.cli.terminal import screen
from slipway.model.findings.finding import Finding, Grade

SIGNS = {Grade.BLOCKING: ("✗", "red"), Grade.WARNING: ("!", "yellow"), Grade.NOTE: ("•", "cyan")}


def show(finding: Finding, sentence: str) -> None:
    sign, colour = SIGNS[finding.grade]
    screen.out(f"{screen.styled(sign, sys.stdout, fg=colour, bold=True)} {sentence}")
    for line in below(finding, screen.columns()):
        screen.out(line)


def below(finding: Finding, columns: int | None, indent: str = "    ") -> list[str]:
    """Return the fix, with its effect behind it where both fit, else below it: a command is copied alone."""
    if not finding.fix:
        return [f"{indent}{finding.means}"] if finding.means else []
    both = f"{indent}fix: {finding.fix}     {finding.means}".rstrip()
    if columns is None or len(both) <= columns or not finding.means:
        return [both]
    return [f"{indent}fix: {finding.fix}", f"{indent}     {finding.means}"]
