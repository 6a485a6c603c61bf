"""Show limits and use of the quota that pools and templates draw, or ask for more.

For each metric what is drawn now and at most, the limit, whether that suffices, and what became of requests for more.

\b
  slipway quota --request --contact ml@acme.example
  slipway quota --request nvidia_h100_gpus=16 --contact ml@acme.example

METRIC may be a quota's id as well, as the console and Terraform have it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import click

from slipway.base.clock import right_time
from slipway.base.columns import documents
from slipway.base.errors import ConfigError, ResourceError, SlipwayError
from slipway.base.formatting import join
from slipway.front.cli.terminal import screen
from slipway.front.cli.terminal.options import catalog_and_output, word_option
from slipway.google.jobs import VertexJob
from slipway.google.live import Increase, Live, Unknown
from slipway.google.live_reader import LiveScope
from slipway.google.quota.increases import Ask, all_short, ask_for, became_of, by_gcloud
from slipway.google.quota.metrics import ALL_SHORT_COMMAND
from slipway.google.quota.report import COLUMNS, OfferDraw, QuotaReport, QuotaRow, tables
from slipway.google.quota.seasons import judge, metrics
from slipway.google.quotas import preference_body
from slipway.google.snapshot import read
from slipway.model.capacity import CAPACITY_TYPES
from slipway.model.catalog.model import Catalog
from slipway.model.catalog.template import Offer, Template
from slipway.model.draw import Draw
from slipway.model.kinds import KINDS
from slipway.using.context import Context
from slipway.using.submission.request import fill

CONTACT = "SLIPWAY_CONTACT"


@click.command()
@click.option(
    "--request",
    metavar="[METRIC[=VALUE]]",
    is_flag=False,
    flag_value="",
    help="Ask Google for a limit of VALUE, or for one that is enough; without METRIC, for all that is short.",
)
@word_option("--contact", metavar="EMAIL", envvar=CONTACT, help=f"Whom Google asks about it.  [env: {CONTACT}]")
@word_option("--justification", metavar="TEXT", help="Why more is needed, for Google.")
@click.option("--dry-run", is_flag=True, help="Print what --request would send, and send nothing.")
@catalog_and_output
def command(
    request: str | None,
    contact: str | None,
    justification: str | None,
    dry_run: bool,
    catalog: str | None,
    output: str,
) -> None:
    context = Context(catalog)
    known = context.catalog
    maybe = (_draw(known, template, offer) for template in known.templates.values() for offer in template.offers)
    draws = tuple(draw for draw in maybe if draw)
    live = _live(context, None if request else metrics(known, draws))
    report = judge(known, live, right_time(context.now, live.time), draws)
    if request is not None:
        for part in (live.limits, live.preferences):
            if isinstance(part, Unknown):
                raise ResourceError("can't tell what to ask for", why=part.why, fix=part.fix)
        asks = [ask_for(request, report.lines, live)] if request else all_short(report.lines, live)
        if elsewhere := [line for line in report.lines if line.elsewhere]:
            others = join(dict.fromkeys(line.region for line in elsewhere))
            own = f"--request is for {known.region}, the stack's own region"
            screen.note(f"{own}; slipway quota has the commands for {others}")
        _request(context, asks, contact or "", justification or "", dry_run=dry_run, json=output == "json")
        return
    if output == "json":
        screen.out_json("quota", document(known, live, report))
        return
    if not report.lines:
        screen.note("nothing here draws quota")
    for place, table in enumerate(tables(report)):
        if place:
            screen.out("")
        screen.show(table)
    for unread in dict.fromkeys(part for part in _limits(live) if isinstance(part, Unknown)):
        screen.note(f"quota not checked: {unread.why}\n  fix: {unread.fix}")
    for line in dict.fromkeys([*report.errors, *report.warnings]):
        screen.note(f"! {line}")
    for command in requests(known, report.lines):
        screen.note(f"  fix: {command}")
    if all_short(report.lines, live):
        away = requests(known, (line for line in report.lines if line.elsewhere))
        those = f"those of {known.region}" if away else "all of these"
        screen.note(f"  or: {ALL_SHORT_COMMAND} asks for {those}")


def requests(catalog: Catalog, lines: Iterable[QuotaRow]) -> list[str]:
    """Return the commands that ask for each quota that is short, may be raised and has no request. Pure."""
    return [
        asked
        for line in lines
        if Draw(line.enough, line.limit).short
        and line.increase == Increase.POSSIBLE
        and line.requested is None
        and (asked := by_gcloud(catalog.project, line, line.enough, catalog.quotas))
    ]


def _request(context: Context, asks: list[Ask], contact: str, justification: str, *, dry_run: bool, json: bool) -> None:
    if not asks:
        screen.note("nothing to ask for: each quota suffices, was asked for already, or can't be raised")
    elif not contact:
        raise ConfigError(
            "name whom Google asks about it",
            why="a request for more needs a contact",
            fix=f"--contact you@your.example, or export {CONTACT}=…",
        )
    bodies = [preference_body(ask.preference, contact=contact, justification=justification) for ask in asks]
    if dry_run:
        sent = [{"metric": ask.metric, "body": body} for ask, body in zip(asks, bodies, strict=True)]
        screen.out_json("quota-request", {"requests": sent})
        return
    quotas = context.connection.quotas(context.catalog.project)
    done = []
    with screen.interruptible("some of it may have been asked for already", "slipway quota"):
        for ask, body in zip(asks, bodies, strict=True):
            made = quotas.ask(ask.preference.id, body)
            region, became = made.region, became_of(made)
            done.append({"metric": ask.metric, "region": region, "limit": ask.limit, "request": became})
            if not json:
                screen.out(f"{ask.metric} in {region}, limit {ask.limit:,}: {became}")
    if json:
        screen.out_json("quota-request", {"requests": done})


def _live(context: Context, wanted_metrics: frozenset[str] | None) -> Live:
    """Return the live resources, with the limits of these metrics; None for all that the service lists."""
    catalog = context.catalog
    clusters = catalog.expected
    wanted = LiveScope(
        project=catalog.project,
        region=catalog.region,
        catalog_bucket=context.selected.location.bucket,
        catalog=context.selected.location.name,
        metrics=wanted_metrics,
        # Elsewhere nothing is drawn.
        elsewhere=tuple(dict.fromkeys(cluster.region for cluster in clusters if cluster.region)),
    )
    live, warnings = read(context.connection, wanted, off_is_empty=True)
    for warning in warnings:
        screen.note(f"warning: {warning}")
    return live


def _draw(catalog: Catalog, template: Template, offer: Offer) -> OfferDraw | None:
    """Return the draw of an offer with the values that choose it; None where a required parameter decides."""
    row = CAPACITY_TYPES.get(offer.capacity_type)
    named = (template.name, offer.capacity_type, offer.label(template.kind))
    if row is None or row.draws == "nothing" or not (offer.available or offer.lacks_quota):
        # Other reasons against it are no matter of quota.
        return OfferDraw(*named, refusal="" if offer.available else offer.why, intended=True)
    values = {parameter.name: parameter.default for parameter in template.parameters if parameter.default is not None}
    values |= {name: allowed[0] for name, allowed in offer.when.items() if values.get(name) not in allowed}
    try:
        body = fill(catalog, template, offer, values, request_id="none", user="")
    except SlipwayError:
        return None
    groups = VertexJob.read(body, KINDS[offer.kind]).machines
    return OfferDraw(*named, groups, preemptible=row.preemptible, doubtful=row.draws == "unknown")


def document(catalog: Catalog, live: Live, report: QuotaReport) -> dict[str, Any]:
    """Return the JSON document; `checked` when limits and use could all be read. Pure."""
    unread = [part for part in (*_limits(live), live.clusters, live.jobs) if isinstance(part, Unknown)]
    return {
        "stack": catalog.stack,
        "checked": not unread,
        "why": unread[0].why if unread else None,
        "lines": documents(COLUMNS, report.lines),
        "warnings": tuple(dict.fromkeys([*report.errors, *report.warnings])),
    }


def _limits(live: Live) -> tuple[object, ...]:
    return live.limits, *live.limits_elsewhere.values()
