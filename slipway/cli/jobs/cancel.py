"""Cancel a job, or all of a sweep, that has not ended.

Its machines are freed once it has been cancelled.
"""

from __future__ import annotations

import click

from slipway.cli.terminal import completions, screen
from slipway.cli.terminal.documents import job_document
from slipway.cli.terminal.options import WORD, catalog_and_output, found_job
from slipway.context import Context
from slipway.errors import ConfigError
from slipway.submission.ending import cancel_job
from slipway.sweeps.cancelling import cancel_sweep


@click.command()
@click.argument("job", type=WORD, required=False, shell_complete=completions.active_jobs)
@click.option(
    "--sweep",
    type=WORD,
    metavar="ID",
    shell_complete=completions.active_sweeps,
    help="All of this sweep's jobs that have not ended.",
)
@catalog_and_output
def command(job: str | None, sweep: str | None, catalog: str | None, output: str) -> None:
    if (job is None) == (sweep is None):
        raise ConfigError("name what to cancel", why="it is either JOB or --sweep ID", fix="slipway jobs list")
    context = Context(catalog)
    if sweep is not None:
        _cancel_sweep(context, sweep, json=output == "json")
        return
    one = found_job(context, job or "", of_template=False)
    name = one.display_name or one.id
    with screen.interruptible(f"{name} may be cancelled already", f"slipway jobs show {one.typed}"):
        cancel_job(context.vertex, one, context.now)
    with screen.after(f"job {name} is being cancelled", f"slipway jobs show {one.typed}"):
        if output == "json":
            screen.out_json("job", {"job": job_document(context.vertex.job(one.name), context)})
        else:
            screen.out(f"cancelling {name}")
            screen.hint(f"  slipway jobs wait {one.typed}")


def _cancel_sweep(context: Context, sweep: str, *, json: bool) -> None:
    listing = f"slipway jobs list --sweep {sweep}"
    with screen.interruptible(f"some jobs of sweep {sweep} may be cancelled already", listing):
        found = cancel_sweep(context, sweep)
    asked, all_ = len(found.cancelling), len(found.jobs)
    with screen.after(f"{asked:,} jobs of sweep {sweep} are being cancelled", listing):
        if json:
            document = {"sweep": sweep, "jobs": all_, "cancelling": list(found.cancelling), "sending": found.sending}
            screen.out_json("sweep-cancellation", document)
        else:
            others = "; the others had ended" if asked < all_ else ""
            screen.out(f"cancelling {asked:,} of {all_:,} jobs of sweep {sweep}{others}")
    then = "end it (Ctrl-C), then give this command once more"
    if found.sending:
        screen.note(f"warning: a command of yours still sends runs of sweep {sweep}, and goes on: {then}")
    elif found.sending is None:
        screen.hint(f"  a command elsewhere that still sends runs of it goes on: {then}")
    again = f"slipway submit {found.template} --sweep … --retry-cancelled"
    screen.hint(f"  to go on with it later, with the file and the flags that it was sent with: {again}")
    if found.problem:
        raise found.problem
