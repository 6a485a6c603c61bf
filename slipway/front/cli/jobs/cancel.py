"""Cancel jobs, or all of a sweep, that have not ended.

Their machines are freed once they have been cancelled. Whether to cancel somebody else's is asked first.
"""

from __future__ import annotations

from functools import partial

import click

from slipway.base.errors import ConfigError, PolicyError, ResourceError, first_of
from slipway.base.formatting import join
from slipway.front.cli.terminal import completions, screen
from slipway.front.cli.terminal.documents import out_jobs
from slipway.front.cli.terminal.options import catalog_and_output, found_jobs, jobs_argument, word_option
from slipway.front.cli.terminal.submission import confirm_for_others
from slipway.google.jobs import VertexJob
from slipway.using.context import Context
from slipway.using.jobs.description import describe
from slipway.using.submission.cancelling import cancel_submissions, not_ones_own, with_copies
from slipway.using.sweeps.cancelling import cancel_sweep


@click.command()
@jobs_argument(required=False)
@word_option(
    "--sweep",
    metavar="ID",
    shell_complete=completions.active_sweeps,
    help="All of this sweep's jobs that have not ended.",
)
@click.option("--yes", is_flag=True, help="Do not ask, whoever submitted them.")
@catalog_and_output
def command(jobs: tuple[str, ...], sweep: str | None, yes: bool, catalog: str | None, output: str) -> None:
    if bool(jobs) == (sweep is not None):
        raise ConfigError("name what to cancel", why="it is either JOB or --sweep ID", fix="slipway jobs list")
    context = Context(catalog)
    if sweep is not None:
        _cancel_sweep(context, sweep, catalog, yes=yes, json=output == "json")
        return
    try:
        targets = found_jobs(context, jobs, of_template=False)
    except ResourceError as problem:
        if len(jobs) > 1:
            problem.what += ": nothing is cancelled"
        raise

    def tell(text: str) -> None:
        screen.note(f"note: {text}")

    def all_of(job: VertexJob) -> tuple[list[VertexJob], bool]:
        """Return the jobs of a submission, and whether it is to end with them."""
        if not any(word.endswith(job.id) for word in jobs):
            return with_copies(context, job, tell), True
        # Its number was typed, which is that of no other: a copy of it goes on, and a job makes no room for nothing.
        return [job], bool(job.after) or len(with_copies(context, job, lambda _: None)) == 1

    submissions = [all_of(job) for job in targets]
    targets = [job for of_one, _ in submissions for job in of_one]
    if theirs := not_ones_own(targets, context, yes=yes):
        _confirm(theirs, list(dict.fromkeys(job.typed for job in targets)), catalog)
    names = join(dict.fromkeys(job.called for job in targets))
    seen = "; ".join(f"slipway jobs show {job.typed}" for job in targets)
    with screen.interruptible(f"{names} may be cancelled already", seen):
        whole = [of_one for of_one, ends in submissions if ends]
        single = [of_one[0] for of_one, ends in submissions if not ends]
        done = cancel_submissions(context, whole, tell, single)
    targets, problems = done.asked, done.problems
    names = join(dict.fromkeys(job.called for job in targets))
    with screen.after(f"{names}: being cancelled", seen):
        if output == "json" and targets:
            alone = len(jobs) == len(targets) == 1
            out_jobs((describe(context.vertex.job(job.name), context) for job in targets), alone=alone)
        elif targets:
            screen.out(f"cancelling {names}")
            screen.hint(f"  slipway jobs wait {' '.join(dict.fromkeys(job.typed for job in targets))}")
    if problems:
        raise first_of(problems)


def _confirm(theirs: PolicyError, words: list[str], catalog: str | None) -> None:
    """Ask on the terminal whether to cancel what `words` name. Raises the errors of `confirm_for_others`."""
    confirm_for_others(theirs, "Cancel", ["jobs", "cancel", *words], catalog, "nothing is cancelled")


def _cancel_sweep(context: Context, sweep: str, catalog: str | None, *, yes: bool, json: bool) -> None:
    listing = f"slipway jobs list --sweep {sweep}"
    with screen.interruptible(f"some jobs of sweep {sweep} may be cancelled already", listing):
        confirm_others = partial(_confirm, words=["--sweep", sweep], catalog=catalog)
        cancelled = cancel_sweep(context, sweep, (lambda theirs: None) if yes else confirm_others, screen.note)
    asked, all_ = len(cancelled.cancelling), len(cancelled.jobs)
    with screen.after(f"{asked:,} jobs of sweep {sweep} are being cancelled", listing):
        if json:
            document = {"sweep": sweep, "jobs": all_, "cancelling": cancelled.cancelling, "sending": cancelled.sending}
            document["unknown"] = [run.index for run in cancelled.unknown]
            screen.out_json("sweep-cancellation", document)
        else:
            others = "; the others had ended" if asked < all_ else ""
            screen.out(f"cancelling {asked:,} of {all_:,} jobs of sweep {sweep}{others}")
    if cancelled.unnoted and cancelled.sending is not False:
        screen.note(
            f"warning: a command that still sends runs of sweep {sweep} goes on, as no note of the cancel could be "
            f"taken: {cancelled.unnoted}; end it (Ctrl-C), then give this command once more"
        )
    elif cancelled.sending:
        screen.hint("  the command of yours that still sends runs of it ends")
    again = f"slipway submit {cancelled.template} --sweep … --retry-cancelled"
    screen.hint(f"  to go on with it later, with the file and the flags that it was sent with: {again}")
    if cancelled.problem:
        raise cancelled.problem
