"""Tell what people changed by hand since a stack was deployed, field by field.

EVENTS is what a preview of the stack wrote on stdout, whose refresh knows what differs:

\b
  PULUMI_ENABLE_STREAMING_JSON_PREVIEW=1 pulumi preview --json --stack prod > prod.events
  slipway drift prod.events

Clusters and who may do what are read with the credentials at hand, and nothing is written. What the autoscaler does
within bounds is no drift. The exit code is 4 when there is any, or when something could not be compared.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from slipway.base.formatting import counted
from slipway.front.cli.terminal import screen
from slipway.front.cli.terminal.findings import show
from slipway.front.cli.terminal.options import output_option
from slipway.front.cli.terminal.sources import preview_of, text_of

if TYPE_CHECKING:
    from slipway.operating.doctor.reading import Drifted

EXIT_DRIFTED = 4


@click.command()
@click.argument("events", metavar="EVENTS")
@click.option("--no-live", is_flag=True, help="Read nothing of the cloud: the engine's events alone.")
@output_option
@click.pass_context
def command(context: click.Context, events: str, no_live: bool, output: str) -> None:
    from slipway.google.connection import connect
    from slipway.google.credentials import identity
    from slipway.operating.doctor.reading import drifted

    preview = preview_of(events, text_of(events))
    told = drifted(preview, None if no_live else connect(os.environ), identity(os.environ))
    if output == "json":
        screen.out_json("drift", document(preview.stack, told))
    else:
        _show(preview.stack, told)
    if told.found or told.unread:
        context.exit(EXIT_DRIFTED)


def document(stack: str, told: Drifted) -> dict[str, Any]:
    """Return the JSON document. `shape` is the same until the next manual change, also back. Pure."""
    from slipway.operating.doctor.drift import shape_of

    return {
        "stack": stack,
        "shape": shape_of(told.found, told.unread),
        "drift": [
            {"on": one.subject}
            | one.document("field", "sentence")
            | {"nextDeployment": one.facts["then"].name.lower(), "mend": one.fix or None}
            for one in told.found
        ],
        "unread": list(told.unread),
    }


def _show(stack: str, told: Drifted) -> None:
    for one in told.found:
        show(one, f"{one.subject}: {one.sentence}")
    for what in told.unread:
        screen.note(f"could not compare {what}")
    if told.found:
        screen.note(f"stack {stack}: {counted(len(told.found), 'thing')} changed by hand")
    elif not told.unread:
        screen.note(f"✓ nobody changed anything of stack {stack} by hand")
