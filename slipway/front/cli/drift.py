"""Tell what people changed by hand since a stack was deployed, field by field.

EVENTS is what a preview of the stack wrote on stdout, whose refresh knows what differs:

\b
  make events STACK=prod
  slipway drift .slipway/prod.events

Clusters and who may do what are read with the credentials at hand, and nothing is written. What the autoscaler does
within bounds is no drift. The exit code is 4 when there is any, or when something could not be compared.
"""

from __future__ import annotations

import os
from typing import Any

import click

from slipway.base.formatting import counted
from slipway.front.cli.terminal import screen
from slipway.front.cli.terminal.findings import show
from slipway.front.cli.terminal.options import output_option
from slipway.google.connection import connect
from slipway.google.credentials import identity
from slipway.operating.doctor.drift import shape_of
from slipway.operating.doctor.reading import Drifted, drifted
from slipway.reviewing.sources import preview_of, text_of

EXIT_DRIFTED = 4


@click.command()
@click.argument("events", metavar="EVENTS")
@click.option("--no-live", is_flag=True, help="Read nothing of the cloud: the engine's events alone.")
@output_option
@click.pass_context
def command(context: click.Context, events: str, no_live: bool, output: str) -> None:
    preview = preview_of(events, text_of(events))
    drift = drifted(preview, None if no_live else connect(os.environ), identity(os.environ))
    if output == "json":
        screen.out_json("drift", document(preview.stack, drift))
    else:
        for finding in drift.found:
            show(finding, f"{finding.subject}: {finding.sentence}")
        for what in drift.unread:
            screen.note(f"could not compare {what}")
        if drift.found:
            screen.note(f"stack {preview.stack}: {counted(len(drift.found), 'thing')} changed by hand")
        elif not drift.unread:
            screen.note(f"✓ nobody changed anything of stack {preview.stack} by hand")
    if drift.found or drift.unread:
        context.exit(EXIT_DRIFTED)


def document(stack: str, drift: Drifted) -> dict[str, Any]:
    """Return the JSON document. `shape` is the same until the next manual change, also back. Pure."""
    return {
        "stack": stack,
        "shape": shape_of(drift.found, drift.unread),
        "drift": [
            {"on": finding.subject}
            | finding.document("field", "sentence")
            | {"nextDeployment": finding.facts["then"].name.lower(), "mend": finding.fix or None}
            for finding in drift.found
        ],
        "unread": list(drift.unread),
    }
