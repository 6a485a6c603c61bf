"""`slipway submit`: from a template's name to an accepted job, and on to its end if asked."""

from __future__ import annotations

import json
import shlex
import sys
from dataclasses import dataclass
from typing import Any

import click

from slipway.catalog.model import Catalog, Template, Way
from slipway.cli import screen, suggest
from slipway.cli.context import Context, catalog_option, output_option
from slipway.cloud.resources import CustomJob
from slipway.errors import ConfigError
from slipway.submit import naming, parameters, ways
from slipway.submit.demand import Demand
from slipway.submit.filling import fill
from slipway.submit.journal import Journal
from slipway.submit.request import Request
from slipway.submit.sending import Manners, Sender, Sent
from slipway.submit.survey import Survey, added, insist, summary, survey
from slipway.submit.verdict import Outcome
from slipway.words import dollars, seconds

_PLANNED = ("sweep", "code", "as", "fallback-after", "experiment", "format")


def _refuse(ctx: click.Context, parameter: click.Parameter, value: str | None) -> None:
    if value is not None and not ctx.resilient_parsing:
        raise ConfigError(f"{parameter.opts[0]} is not supported by this version", fix="slipway submit --help")


def _planned(command: Any) -> Any:
    for name in _PLANNED:
        option = click.option(
            f"--{name}",
            f"planned_{name}".replace("-", "_"),
            hidden=True,
            is_flag=False,
            flag_value="",
            expose_value=False,
            callback=_refuse,
        )
        command = option(command)
    return command


@dataclass(frozen=True)
class Wish:
    """What was typed."""

    template: str
    params: tuple[str, ...]
    way: str | None
    request_id: str | None
    catalog: str | None

    def again(self, request_id: str) -> str:
        """The command that goes on with this submission."""
        words = ["slipway", "submit", self.template]
        words += [word for param in self.params for word in ("-p", param)]
        words += ["--way", self.way] if self.way else []
        words += ["--catalog", self.catalog] if self.catalog else []
        return shlex.join([*words, "--request-id", request_id])


@click.command("submit", short_help="Submit a job from a template.")
@click.argument("template", shell_complete=suggest.templates)
@click.option("-p", "--param", "params", multiple=True, metavar="NAME=VALUE", help="A parameter; may be repeated.")
@click.option("--way", metavar="WAY", help="How to get machines: pool or spot. Default: the first available one.")
@click.option("--dry-run", is_flag=True, help="Print the exact request and send nothing.")
@click.option("--wait", is_flag=True, help="Wait for the end; the exit code tells how it ended.")
@click.option("-f", "--follow", is_flag=True, help="Wait, and show state and logs meanwhile. Ctrl-C detaches.")
@click.option("--timeout", metavar="TIME", help="Stop waiting after 90s, 10m or 2h (exit 9); the job goes on.")
@click.option("--request-id", metavar="ID", help="Name this submission: repeated with the same id it runs only once.")
@catalog_option
@output_option
@_planned
def submit(
    template: str,
    params: tuple[str, ...],
    way: str | None,
    dry_run: bool,
    wait: bool,
    follow: bool,
    timeout: str | None,
    request_id: str | None,
    catalog: str | None,
    output: str,
) -> None:
    """Submit a job from TEMPLATE to its pool, or beside it.

    \b
      slipway submit dask-digits -p trees=500 --follow
      slipway submit dask-digits --way spot --wait --timeout 30m
      slipway submit dask-digits --dry-run
    """
    limit = seconds(timeout) if timeout is not None else None
    if limit is not None and not (wait or follow):
        raise ConfigError("--timeout bounds the waiting", why="this does not wait", fix="add --wait or --follow")
    if dry_run and (wait or follow):
        raise ConfigError("--dry-run sends nothing that could be waited for", fix="leave out --wait and --follow")
    wish = Wish(template, params, way, naming.checked_request_id(request_id) if request_id else None, catalog)
    given = parameters.assignments(params)
    context = Context(catalog)
    chosen = ways.find_template(context.catalog, template)
    values = parameters.resolve(chosen, given)
    taken = ways.choose(chosen, way)
    id_ = wish.request_id or naming.new_request_id()
    body = fill(context.catalog, chosen, taken, values, request_id=id_, user=context.user)
    demand = Demand.read(body, chosen.roles, taken.pools)
    if dry_run:
        print(json.dumps(body, indent=2, ensure_ascii=False))
        return
    show = screen.out if output == "table" else screen.note
    sent, seen = _send(
        context, wish, Request(id_, context.catalog.stack, template, body, wish.again(id_)), chosen, taken, demand, show
    )
    job = sent.job
    if wait or follow:
        from slipway.cli.following import watch

        job = watch(context, job, logs=follow, timeout=limit, quiet=output == "json")
    if output == "json":
        screen.out_json("submission", _document(context, job, id_, sent, seen))
    if wait or follow:
        from slipway.jobs.account import problem_of

        problem = problem_of(job)
        if problem:
            raise problem


def _send(
    context: Context, wish: Wish, request: Request, template: Template, way: Way, demand: Demand, show: Any
) -> tuple[Sent, Survey]:
    journal = Journal.find(context.folder, context.environ, context.catalog.project, context.catalog.stack)
    manners = Manners(look_for=context.look_for)
    sender = Sender(context.vertex, context.connection.storage, journal, screen.note, manners, context.clock)
    with journal.held(request.id):
        try:
            seen = survey(
                context.hurried,
                context.catalog,
                way,
                demand,
                context.now,
                lambda: sender.begin(request, repeated=wish.request_id is not None),
            )
            show(f"{template.name}{_commit(context.catalog)}  →  {summary(way, demand)}")
            insist(seen.verdict, template.name, way)
        except BaseException:
            sender.withdraw(request)
            raise
        if seen.earlier:
            sent = seen.earlier
            show(f"submitted before with request id {request.id}: nothing is sent again")
        else:
            show(f"{seen.verdict.text}{_money(context.catalog, way, seen)}")
            sent = sender.send(request)
    if sent.copies:
        screen.note(f"warning: copies of this request exist and end by themselves: {', '.join(sent.copies)}")
    show(f"job {screen.bold(sent.job.display_name, sys.stdout)}  {sent.job.name}")
    link = context.console_link(sent.job.id)
    if link:
        show(f"  {link}")
    name = sent.job.display_name
    screen.note(screen.faint(f"  slipway jobs logs {name} --follow      slipway jobs cancel {name}", sys.stderr))
    return sent, seen


def _commit(catalog: Catalog) -> str:
    """The reviewed commit that defined the template, with a + when there was more than it."""
    return f"  @ {catalog.commit}{'+' if catalog.dirty else ''}" if catalog.commit else ""


def _money(catalog: Catalog, way: Way, seen: Survey) -> str:
    """The price, where it belongs to the verdict's line."""
    if seen.per_hour is None:
        return ", price unknown"
    if not way.cluster:
        return f" ({dollars(seen.per_hour)} while it runs, waiting is not billed)"
    if seen.verdict.outcome is Outcome.STARTS:
        return f", no extra charge (pool machines: {dollars(seen.per_hour)} for these, paid anyway)"
    if seen.verdict.outcome is Outcome.SCALES:
        return f" (adds {dollars(added(catalog, way, seen.verdict))} while the pool is that large)"
    return f" (pool machines: {dollars(seen.per_hour)} for these, paid anyway)"


def _document(context: Context, job: CustomJob, request_id: str, sent: Sent, seen: Survey) -> dict[str, Any]:
    from slipway.cli.documents import job_document

    return {
        "requestId": request_id,
        "fresh": sent.fresh,
        "copies": list(sent.copies),
        "verdict": {"outcome": seen.verdict.outcome.value, "text": seen.verdict.text},
        "pricePerHour": None if seen.per_hour is None else str(seen.per_hour),
        "job": job_document(job, context),
    }
