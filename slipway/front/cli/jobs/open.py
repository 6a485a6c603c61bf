"""Open a job's console page or output, its logs in TensorBoard, or a shell or dashboard of its running machines.

A browser is opened on a terminal alone; elsewhere, and with --print, the link is printed. For TensorBoard the command
that starts it is shown.
"""

from __future__ import annotations

import shlex
import sys
import webbrowser
from urllib.parse import quote

import click

from slipway.base.errors import ConfigError, ResourceError
from slipway.front.cli.terminal import completions, screen
from slipway.front.cli.terminal.options import WORD, catalog_and_output, found_last_attempt
from slipway.google.failures import CloudError
from slipway.google.jobs import VertexJob
from slipway.google.storage import Location
from slipway.using.context import Context
from slipway.using.jobs.web_access import page_of

_PAGES = ("console", "output", "tensorboard")
_CONSOLE = "https://console.cloud.google.com"


@click.command()
@click.argument("job", type=WORD, required=False, metavar="JOB", shell_complete=completions.jobs)
@click.option("--what", type=click.Choice(_PAGES), default="console", show_default=True, help="What to open.")
@click.option(
    "--shell",
    is_flag=False,
    flag_value="",
    metavar="[ROLE]",
    help="A shell in its first machine, or in that of a role: of jobs that were submitted with --shell.",
)
@click.option("--dashboard", is_flag=True, help="The dashboard of a template with enable_dashboard_access=True.")
@click.option("--print", "only_print", is_flag=True, help="Print it and open no browser.")
@catalog_and_output
def command(
    *,
    job: str | None,
    what: str,
    shell: str | None,
    dashboard: bool,
    only_print: bool,
    catalog: str | None,
    output: str,
) -> None:
    if job is None and shell:
        job, shell = shell, ""  # `--shell JOB` without a role.
    if job is None:
        raise click.UsageError("Missing argument 'JOB'.")
    context = Context(catalog)
    target = found_last_attempt(context, job)
    if shell is not None and dashboard:
        raise ConfigError("--shell and --dashboard open two pages", fix="name one of them")
    if dashboard or shell is not None:
        what, link = "dashboard" if dashboard else "shell", page_of(context, target, shell, screen.note)
        lines: tuple[str, ...] = (link,)
    else:
        browsed = "storage" not in context.connection.endpoints.overrides
        project = context.catalog.project if browsed else ""
        logs = what != "tensorboard" or _has_logs(context, target)
        lines, link = place_of(target, what, context.console_link(target), project, logs=logs)
    if output == "json":
        screen.out_json("place", {"job": target.name, "what": what, "lines": lines, "link": link or None})
        return
    for line in lines:
        screen.out(line)
    if link and not only_print and sys.stdout.isatty() and not webbrowser.open(link):
        screen.note("no browser could be opened; the link is above")


def _has_logs(context: Context, job: VertexJob) -> bool:
    """Tell whether a job has curves where Vertex AI's variable says, and not elsewhere in its output."""
    logs = Location.parse(f"{job.output.rstrip('/')}/logs/") if job.output else None
    try:
        return logs is None or next(iter(context.connection.storage.objects(logs)), None) is not None
    except CloudError:
        return True


def place_of(job: VertexJob, what: str, page: str, project: str, *, logs: bool = True) -> tuple[tuple[str, ...], str]:
    """Return lines to copy, and the link that a browser opens or none. `page` is the job's in the console, `project`
    that of its bucket; both empty where the console has none. `logs`: the output has a folder of that name. Raises
    ResourceError for a job that has none of them."""
    if not (page if what == "console" else job.output):
        noun, why = "output directory", "its request names none"
        if what == "console":
            noun, why = "console page", "the endpoint of Vertex AI is not Google's"
        raise ResourceError(f"job {job.called} has no {noun}", why=why, fix=f"slipway jobs show {job.typed}")
    if what == "console":
        return (page,), page
    output = job.output.rstrip("/")
    if what == "tensorboard":
        # Each trial writes under its own number; TensorBoard finds them all below the job's directory.
        curves = output if job.kind.has_trials or not logs else f"{output}/logs"
        return (f"tensorboard --logdir {shlex.quote(curves)}",), ""
    if not project:
        return (output,), ""
    link = f"{_CONSOLE}/storage/browser/{quote(output.removeprefix('gs://'))}?project={project}"
    return (output, link), link
