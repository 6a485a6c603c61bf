"""Submit a job from a template, on its pool or on machines of its own.

\b
  slipway submit dask-digits -p trees=500 --follow
  slipway submit dask-digits --wait-for pool=30m --then spot
  slipway submit dask-digits --sweep grid.yaml
  slipway submit --like dask-digits-7k2p3f9a -p trees=500
  slipway submit dask-digits --dry-run
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import click

from slipway.base.errors import ConfigError, SlipwayError
from slipway.front.cli.terminal import completions, screen
from slipway.front.cli.terminal.arguments import SubmitArguments, WaitOptions
from slipway.front.cli.terminal.delivery import send
from slipway.front.cli.terminal.gcloud import as_formatted, check_format, format_option
from slipway.front.cli.terminal.options import WORD, catalog_and_output, found_job, timeout_option, word_option
from slipway.front.cli.terminal.submission import choice_lines, document, sent_words
from slipway.model.kinds import KINDS
from slipway.model.secret import NOTIFY
from slipway.using.context import Context
from slipway.using.submission.candidates import Candidate, PreparedSubmission, SubmissionRequest, likely, prepare
from slipway.using.submission.checks import Checks
from slipway.using.submission.choice import never_runs
from slipway.using.submission.costs import spending_of
from slipway.using.submission.delivery import RetryPolicy
from slipway.using.submission.preflight import AT_ONCE, Preflight
from slipway.using.submission.request import checked_request_id, new_request_id
from slipway.using.submission.sender import Sender, about_earlier
from slipway.using.submission.submitter import journal_of, under, with_code


@click.command()
@click.argument("template", type=WORD, required=False, shell_complete=completions.templates)
@word_option(
    "--like",
    metavar="JOB",
    shell_complete=completions.jobs,
    help="In place of a template: that job's, with its code and parameters, and -p on top.",
)
@click.option(
    "-p",
    "--param",
    "params",
    multiple=True,
    metavar="NAME=VALUE",
    shell_complete=completions.parameters,
    help="A parameter; may be repeated.",
)
@word_option(
    "--capacity",
    "capacity_type",
    metavar="TYPE",
    shell_complete=completions.capacity_types,
    help="Where the machines come from. Default: the template's first type that can run.",
)
@word_option("--pool", metavar="CLUSTER/POOL", shell_complete=completions.pools, help="This pool and no other place.")
@click.option("--as", "kind", type=click.Choice(list(KINDS)), help="The kind of job. Default: the template's first.")
@click.option(
    "--wait-for",
    multiple=True,
    metavar="TYPE=TIME",
    shell_complete=completions.waits,
    help="How long to wait for a capacity type before the next is taken, as in pool=30m; flex-start=0 waits forever.",
)
@word_option(
    "--then",
    callback=lambda _, __, value: tuple(name.strip() for name in (value or "").split(",") if name.strip()),
    metavar="TYPE,…",
    shell_complete=completions.then,
    help="The capacity types after those, in order; with --sweep: those to take where its runs would wait.",
)
@word_option(
    "--code",
    metavar="DIR",
    shell_complete=click.Path(file_okay=False).shell_complete,
    help="Run this folder's code, as git sees it, instead of the reviewed one.",
)
@word_option(
    "--sweep",
    metavar="FILE",
    shell_complete=click.Path().shell_complete,
    help="One run for each point of a grid or list (YAML, JSON) or CSV.",
)
@click.option("--retry-failed", is_flag=True, help="With --sweep: send its failed runs once more.")
@click.option(
    "--retry-cancelled", is_flag=True, help="With --sweep: go on with it: what was cancelled, and what was never sent."
)
@click.option("--rate", type=click.IntRange(0), metavar="N", help="With --sweep: submissions a minute; 0: no limit.")
@click.option("--experiment", metavar="NAME", help="An experiment in place of the template's.")
@click.option("--experiment-run", metavar="NAME", help="The run's name in the experiment. Default: the job's.")
@word_option("--team", metavar="NAME", help="The team that it counts for: the stack's, or a group that may submit it.")
@click.option("--label", "labels", multiple=True, metavar="KEY=VALUE", help="A label of the job; may be repeated.")
@click.option("--note", metavar="TEXT", help="What to remember of it: a line that lists show.")
@click.option("--shell", is_flag=True, help="Ask for a shell in its machines: see `slipway jobs open JOB --shell`.")
@click.option(
    "--notify",
    metavar="SECRET",
    help="The secret with the address that the job tells when it starts after a wait, succeeds or fails; with --sweep: "
    "when the first run fails, and at the end.",
)
@click.option(
    "--yes", is_flag=True, help="Do not ask whether to send what costs much: see slipway:workspace.confirmAbove."
)
@click.option("--dry-run", is_flag=True, help="Print the exact request and send nothing.")
@click.option("--wait", is_flag=True, help="Wait for the end; the exit code tells how it ended.")
@click.option("-f", "--follow", is_flag=True, help="Wait, and show state and logs meanwhile. Ctrl-C detaches.")
@timeout_option
@click.option(
    "--request-id", metavar="ID", help="Name this submission: sent again with the same id, it still runs once."
)
@format_option
@catalog_and_output
def command(
    *,
    retry_failed: bool,
    retry_cancelled: bool,
    rate: int | None,
    dry_run: bool,
    wait: bool,
    follow: bool,
    timeout: str | None,
    request_id: str | None,
    output: str,
    format_: str | None,
    template: str | None,
    **words: Any,
) -> None:
    """`words` are the other fields of `SubmitArguments`."""
    ending = WaitOptions.of(wait=wait, follow=follow, timeout=timeout, dry_run=dry_run)
    typed = SubmitArguments(template or "", **words)
    if (template is None) == (typed.like is None):
        raise click.UsageError(
            f"--like {typed.like} has a template already: name no other."
            if typed.like
            else "Missing argument 'TEMPLATE', or a job to submit the like of: --like JOB."
        )
    id_ = checked_request_id(request_id) if request_id is not None else None
    context, json = Context(typed.catalog, in_season=True), output == "json"
    check_format(format_, ("--output json", json), ("--sweep", typed.sweep is not None), dry_run=dry_run)
    if ending.waits and NOTIFY in context.environ:
        from slipway.using.jobs.notification import Notifier

        Notifier(context)  # An address that may not be told is refused before anything is sent.
    if typed.sweep is not None:
        from slipway.front.cli.terminal.sweep import submit_sweep
        from slipway.using.sweeps.runs import RunsAgain

        again = RunsAgain(failed=retry_failed, cancelled=retry_cancelled)
        submit_sweep(context, typed, id_, ending, dry_run=dry_run, again=again, rate=rate, json=json)
        return
    flags = {"--retry-failed": retry_failed, "--retry-cancelled": retry_cancelled, "--rate": rate is not None}
    for flag, given in flags.items():
        if given:
            raise ConfigError(f"{flag} is for sweeps", fix=f"slipway submit TEMPLATE --sweep FILE {flag} …")
    if typed.like is None:
        asked = typed.request()
    else:
        model = found_job(context, typed.like)
        typed = replace(typed, like=model.typed)  # A template's name does not name the job for good.
        asked = typed.request_like(context, model).asked

    def plan(asked: SubmissionRequest) -> PreparedSubmission:
        return prepare(context.catalog, asked, context.user, context.team, context.now)

    prepared = with_code(context, asked, typed.code, plan, upload=not dry_run, tell=screen.note)
    if dry_run:
        prepared = under(journal_of(context), prepared, id_ or new_request_id())
        _dry_run(context, prepared, json=json, format_=format_, repeated=id_ is not None)
        return
    submitted, submission_id = send(context, typed, prepared, id_, json=json)
    context, job = submitted.context, submitted.attempt.job
    with screen.after(*sent_words(job)):
        if ending.waits:
            from slipway.front.cli.terminal.watching import watch

            job = watch(context, job, logs=follow, timeout=ending.timeout, quiet=json)
        if json:
            screen.out_json("submission", document(context, submitted, job, submission_id))
    if ending.waits:
        from slipway.using.submission.ending import require_success

        require_success(context, job)


def _dry_run(
    context: Context, prepared: PreparedSubmission, *, json: bool, format_: str | None, repeated: bool
) -> None:
    """Print the request as it would be sent now. `repeated`: the id may have been used before. Raises the errors before
    a sending, but tells of costs that somebody would have to confirm."""
    from slipway.using.submission.preflight import offline_candidate

    def show(candidate: Candidate) -> None:
        if json:
            plan = {"requestId": prepared.request_id, "region": candidate.region, "request": candidate.body}
            screen.out_json("submission-plan", plan)
        else:
            screen.out(
                as_formatted(context, prepared, candidate) if format_ else screen.json_text(candidate.body, indent=2)
            )

    if repeated:
        first = likely(prepared.candidates)
        sender = Sender(context, journal_of(context), screen.note, RetryPolicy())
        if (earlier := sender.sent_before(first.request)) and (before := about_earlier(first.request, earlier)):
            screen.note(f"not sent; {before}")
            show(first)
            return
    try:
        taken = _forecast(context, prepared)
    except SlipwayError:
        show(offline_candidate(prepared))
        raise
    show(taken)


def _forecast(context: Context, prepared: PreparedSubmission) -> Candidate:
    """Print the forecast on stderr. Return the candidate that would be taken. Raises the errors before a sending."""
    with ThreadPoolExecutor(AT_ONCE, thread_name_prefix="preflight") as threads:
        checks = Checks.begin(context, prepared, [prepared.values], threads)
        preflight = Preflight(context, prepared.candidates, threads, prepared.template.name)
        choice = preflight.choice(prepared, prepared.candidates)
    taken, text, checked = choice.taken.candidate, choice.taken.verdict.text, list[str]()
    checks.check([taken], checked.append)  # A refusal is told alone, without machines that would start now.
    verdict = text if text.startswith(f"{taken.label}:") else f"{taken.label}{context.elsewhere(taken.region)}: {text}"
    for line in choice_lines(context, prepared, choice, f"not sent; {verdict}"):
        screen.note(line)
    for judged in choice.hopeless:
        screen.note(f"  {never_runs(judged)}")
    if costs := spending_of(prepared, choice):
        screen.note(f"  {costs.words}")
    for line in checked:
        screen.note(line)
    return taken
