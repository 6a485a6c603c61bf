"""Find what is broken, idle, left over or nearly used up, each with what mends it.

\b
  slipway doctor                   the stack of the chosen catalog
  slipway doctor --stack prod      one that this checkout has a file of

Reads alone, and changes nothing. The exit code is 4 when something is broken (✗), with --strict also when something
warns (!). A webhook, of a chat room for example, is told both where they differ from the last that it was told.
"""

from __future__ import annotations

import os
from collections import Counter
from typing import Any

import click

from slipway.base.formatting import counted, join
from slipway.front.cli.terminal import screen
from slipway.front.cli.terminal.findings import show
from slipway.front.cli.terminal.options import catalog_and_output, word_option
from slipway.model.findings.finding import Finding, Grade, shape_of
from slipway.operating.doctor.examination import examine
from slipway.operating.doctor.picture import Picture
from slipway.operating.doctor.place import find
from slipway.operating.doctor.reading import picture
from slipway.operating.doctor.webhook import Webhook
from slipway.using.context import Context

EXIT_BROKEN = 4
VARIABLE = "SLIPWAY_WEBHOOK"


@click.command()
@word_option("--stack", metavar="NAME", help="The stack, by its file in this checkout.")
@click.option("--strict", is_flag=True, help="Exit code 4 for warnings as well.")
@word_option(
    "--webhook",
    metavar="URL",
    envvar=VARIABLE,
    help=f"Post what is found there, where it differs from the last time.  [env: {VARIABLE}, as it may be secret]",
)
@catalog_and_output
@click.pass_context
def command(
    context: click.Context, stack: str | None, strict: bool, webhook: str | None, catalog: str | None, output: str
) -> None:
    started = Context(catalog)
    place = find(started, stack)
    room = Webhook.of(webhook, f"{place.project}-{place.identity.label}", os.environ) if webhook else None
    seen = picture(started, place, screen.note)
    if seen.clock:
        screen.note(f"! {seen.clock}")
    findings = examine(seen)
    if output == "json":
        screen.out_json("doctor", document(seen, findings))
    else:
        _show(seen, findings)
    if room and room.tell(seen.stack, findings):
        screen.note("the webhook was told")
    grades = {finding.grade for finding in findings}
    if Grade.BLOCKING in grades or (strict and Grade.WARNING in grades):
        context.exit(EXIT_BROKEN)


def document(seen: Picture, findings: tuple[Finding, ...]) -> dict[str, Any]:
    """Return the JSON document. `shape` is the same until a finding comes, goes or becomes another. Pure."""
    return {
        "stack": seen.stack,
        "project": seen.project,
        "region": seen.region,
        "otherRegions": seen.other_regions,
        "time": seen.now,
        "shape": shape_of(findings),
        "findings": [finding.document() for finding in findings],
        "notLookedAt": seen.unseen,
    }


def _show(seen: Picture, findings: tuple[Finding, ...]) -> None:
    for finding in findings:
        show(finding, finding.sentence)
    counts = Counter(finding.grade for finding in findings)
    parts = [
        f"{counts[grade]} broken" if grade is Grade.BLOCKING else counted(counts[grade], grade.doctor_word)
        for grade in sorted(counts, reverse=True)
    ]
    place = f"stack {seen.stack} in {seen.project}, {join((seen.region, *seen.other_regions))}"
    screen.note(f"{place}: {join(parts)}" if parts else f"✓ nothing found: {place}")
    for what in seen.unseen:
        screen.note(f"not looked at: {what}")
