"""Show what a job wrote, each line after the role that wrote it.

JSON output is one object a line. Lines of `service` are the service's own: what a job waits for, preemptions, restarts.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import replace

import click

from slipway.front.cli.terminal import completions, screen
from slipway.front.cli.terminal.log_lines import LogLines
from slipway.front.cli.terminal.options import catalog_and_output, found_last_attempt, job_argument, word_option
from slipway.front.cli.terminal.watching import FOLLOWED, recorded, watch
from slipway.google.jobs import VertexJob
from slipway.google.logging import LogEntry
from slipway.using.context import Context
from slipway.using.jobs.log import PAGE, PAGES_A_MINUTE, WHOLE_LOG, event_kind, job_filter, line, newest
from slipway.using.jobs.roles import prefix, role_filter
from slipway.using.jobs.severity import is_at_least
from slipway.using.jobs.severity import severity as severity_of
from slipway.using.submission.ending import require_success

_A_MINUTE, _LONG = PAGES_A_MINUTE * PAGE, 10 * PAGE
_SEVERITIES = ("debug", "info", "notice", "warning", "error", "critical")


@click.command()
@job_argument
@click.option("-f", "--follow", is_flag=True, help="Go on until the job ends. Ctrl-C detaches.")
@click.option(
    "--tail",
    "last",
    type=click.IntRange(1),
    metavar="N",
    help="Of the lines chosen only the last N, and those that follow.",
)
@word_option(
    "--role",
    metavar="ROLE",
    shell_complete=completions.roles,
    help="Only lines of this role, one of its several replicas, or the service: workers, workers-1, service.",
)
@click.option("--severity", type=click.Choice(_SEVERITIES), help="Only lines at least as severe.")
@catalog_and_output
def command(
    job: str, follow: bool, last: int | None, role: str | None, severity: str | None, catalog: str | None, output: str
) -> None:
    context = Context(catalog)
    text = _text_of(output)
    target = found_last_attempt(context, job)
    wanted = (severity or "").upper()
    logging = context.connection.with_policy(replace(WHOLE_LOG, told=_note_wait)).logging(context.catalog.project)
    only = role_filter(target, role) if role else ""
    query = job_filter(target.log_ids, severity=wanted, only=only)
    tail = newest(logging, query, last, wanted) if last and target.log_ids else None
    if follow:
        followed: deque[LogEntry] = deque(maxlen=FOLLOWED)
        ended = watch(
            context,
            target,
            logs=True,
            severity=wanted,
            begin=tail[0].timestamp if tail else None,
            only=only,
            text=recorded(followed, text),
            plain=output == "json",
        )
        require_success(context, ended, [*followed])
        return
    entries = tail if tail is not None else logging.entries(query) if target.log_ids else ()
    lines, found = LogLines(screen.out_log, text, every=output == "json"), False
    for count, entry in enumerate(entries, 1):
        if is_at_least(entry, wanted):
            found = True
            lines.add(entry, target)
        if tail is None and (count == _LONG or count % _A_MINUTE == 0):
            screen.note(f"{count:,} lines so far; a project has {_A_MINUTE:,} a minute     only its end: --tail {PAGE}")
    lines.close()
    if not found:
        of = (f" of {role}" if role else "") + (f" of severity {severity}" if severity else "")
        yet = "" if target.ended else " yet"
        screen.note(f"no lines{of}{yet}; {target.display_name} is {target.outcome}")


def _text_of(output: str) -> Callable[[LogEntry, VertexJob], str]:
    """Return how a line is written."""
    if output != "json":
        return line
    screen.write_json_lines()
    return _json_line


def _note_wait(seconds: float) -> None:
    screen.note(f"a project has {PAGES_A_MINUTE} log queries a minute, which are used up: goes on in {seconds:.0f} s")


def _json_line(entry: LogEntry, job: VertexJob) -> str:
    document = {"time": entry.stamp, "severity": severity_of(entry), "role": prefix(entry, job), "task": entry.task}
    return screen.json_text(
        {"schema": screen.SCHEMA, "kind": "log-line", **document, "event": event_kind(entry), "text": entry.text}
    )
