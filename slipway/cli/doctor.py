"""Find what is broken, idle, left over or nearly used up, each with what mends it.

\b
  slipway doctor                   the stack of the chosen catalog
  slipway doctor --stack prod      one that this checkout has a file of

Reads alone, and changes nothing. The exit code is 4 when something is broken (✗), with --strict also when something
warns (!).
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from slipway.cli.terminal import screen
from slipway.cli.terminal.options import WORD, catalog_and_output
from slipway.formatting import counted, join

if TYPE_CHECKING:
    from slipway.doctor.finding import Finding
    from slipway.doctor.picture import Picture

EXIT_BROKEN = 4
_COLOURS = {"broken": "red", "warning": "yellow"}


@click.command()
@click.option("--stack", type=WORD, metavar="NAME", help="The stack, by its file in this checkout.")
@click.option("--strict", is_flag=True, help="Exit code 4 for warnings as well.")
@catalog_and_output
@click.pass_context
def command(context: click.Context, stack: str | None, strict: bool, catalog: str | None, output: str) -> None:
    from slipway.context import Context
    from slipway.doctor.examination import examine
    from slipway.doctor.finding import Grade
    from slipway.doctor.place import find
    from slipway.doctor.reading import picture

    started = Context(catalog)
    seen = picture(started, find(started, stack), screen.note)
    if seen.clock:
        screen.note(f"! {seen.clock}")
    findings = examine(seen)
    if output == "json":
        screen.out_json("doctor", document(seen, findings))
    else:
        _show(seen, findings)
    grades = {one.grade for one in findings}
    if Grade.BROKEN in grades or (strict and Grade.WARNING in grades):
        context.exit(EXIT_BROKEN)


def document(seen: Picture, findings: tuple[Finding, ...]) -> dict[str, Any]:
    """What `--output json` prints. `shape` is the same until something comes, goes or becomes something else. Pure."""
    from slipway.doctor.finding import shape_of

    return {
        "stack": seen.stack,
        "project": seen.project,
        "region": seen.region,
        "otherRegions": seen.other_regions,
        "time": seen.now,
        "shape": shape_of(findings),
        "findings": findings,
        "notLookedAt": seen.unseen,
    }


def _mend(one: Finding, columns: int | None) -> list[str]:
    """What it means stands behind the command where both fit, else below it: the command is to be copied alone."""
    if not one.mend:
        return []
    both = f"    mend: {one.mend}     {one.means}".rstrip()
    if columns is None or len(both) <= columns or not one.means:
        return [both]
    return [f"    mend: {one.mend}", f"          {one.means}"]


def _show(seen: Picture, findings: tuple[Finding, ...]) -> None:
    for one in findings:
        sign = screen.styled(one.grade.sign, sys.stdout, fg=_COLOURS.get(one.grade.value, "cyan"), bold=True)
        screen.out(f"{sign} {one.sentence}")
        for line in _mend(one, screen.columns()):
            screen.out(line)
    counts = {grade: sum(one.grade.value == grade for one in findings) for grade in ("broken", "warning", "note")}
    said = [
        *([f"{counts['broken']} broken"] if counts["broken"] else []),
        *([counted(counts["warning"], "warning")] if counts["warning"] else []),
        *([counted(counts["note"], "note")] if counts["note"] else []),
    ]
    place = f"stack {seen.stack} in {seen.project}, {join((seen.region, *seen.other_regions))}"
    screen.note(f"{place}: {join(said)}" if said else f"✓ nothing found: {place}")
    for what in seen.unseen:
        screen.note(f"not looked at: {what}")
