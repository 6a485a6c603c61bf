"""Start a session: a job that holds its machine, and runs what you send.

\b
  slipway session start --machine n1-standard-8 --idle 20m
  slipway session start --preload torch,transformers --max-run 4h
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import click

from slipway.base.formatting import span
from slipway.front.cli.terminal import completions, screen
from slipway.front.cli.terminal.arguments import SubmitArguments, WaitOptions
from slipway.front.cli.terminal.options import catalog_option, folder_option, job_options, span_option, word_option
from slipway.front.cli.terminal.single_job import submit_one
from slipway.using.context import Context
from slipway.using.sessions.starting import IDLE, IDLE_COST, NAME, SessionPlan, plan_session
from slipway.using.submission.own_command import script_template
from slipway.using.submission.request import checked_request_id, new_request_id
from slipway.using.submission.submission_request import SubmissionRequest


@dataclass(frozen=True)
class SessionArguments(SubmitArguments):
    """The words after `slipway session start`."""

    idle: str = IDLE
    preload: str | None = None
    #: What they come to.
    plan: SessionPlan = field(kw_only=True)

    @property
    def words(self) -> list[str]:
        flags = (("--idle", self.idle), ("--preload", self.preload))
        given = [word for flag, value in flags if value for word in (flag, value)]
        return ["slipway", "session", "start", "--template", self.template, *super().words[3:], *given]

    def request(self) -> SubmissionRequest:
        return self.plan.asked(super().request())


@click.command()
@word_option("--machine", metavar="TYPE", help="The machine, of those that the template has: -p machine=TYPE.")
@span_option("--idle", metavar="TIME", default=IDLE, show_default=True, help="End it after that time without a run.")
@word_option("--preload", metavar="MODULE,…", help="Modules that Python has imported before a run starts.")
@job_options
@folder_option
@word_option(
    "--template",
    metavar="NAME",
    shell_complete=completions.templates,
    help="The template that it is a job of. Default: script, or the only one for any folder.",
)
@catalog_option
def command(
    *,
    machine: str | None,
    idle: str,
    preload: str | None,
    params: tuple[str, ...],
    template: str | None,
    max_run: str | None,
    name: str | None,
    dry_run: bool,
    request_id: str | None,
    **flags: Any,
) -> None:
    """`flags` are the other fields of `SubmitArguments`."""
    id_ = checked_request_id(request_id) if request_id is not None else new_request_id()
    context = Context(flags["catalog"], in_season=True)
    found = script_template(context.catalog, template, machine)
    plan = plan_session(
        context, found, id_, idle=idle, max_run=max_run, preload=preload or "", name=name, code=flags["code"]
    )
    given = (*((f"machine={machine}",) if machine else ()), *params)
    typed = SessionArguments(
        found.name, params=given, name=name, max_run=max_run, idle=idle, preload=preload, plan=plan, **flags
    )
    submit_one(context, typed, id_, WaitOptions(waits=False, timeout=None), dry_run=dry_run, json=False)
    if not dry_run:
        cost = IDLE_COST * (flags["replicas"] or 1)
        screen.out(
            f"session {name or NAME}: ends after {span(plan.idle)} without a run, {span(plan.longest)} after its start "
            f"at the latest; looking for runs costs ${cost:.2f} a day"
        )
        screen.hint("  slipway session run -- COMMAND      slipway session stop")
