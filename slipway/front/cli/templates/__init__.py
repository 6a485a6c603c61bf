"""List the catalog's templates, or show one with its parameters."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import click

from slipway.base.columns import Column, documents, table_of
from slipway.front.cli import Verbs
from slipway.front.cli.terminal import screen
from slipway.front.cli.terminal.documents import catalog_document
from slipway.front.cli.terminal.options import catalog_and_output
from slipway.google.catalog.lookup import capacity_types, reason
from slipway.model.catalog.template import Offer, Template
from slipway.using.context import Context


@click.group(cls=Verbs, package=__name__, invoke_without_command=True)
@catalog_and_output
@click.pass_context
def command(ctx: click.Context, catalog: str | None, output: str) -> None:
    if ctx.invoked_subcommand is not None:
        return
    context = Context(catalog, in_season=True)
    templates = [context.catalog.templates[name] for name in sorted(context.catalog.templates)]
    if output == "json":
        body = {"catalog": catalog_document(context), "templates": documents(COLUMNS, templates)}
        screen.out_json("templates", body)
        return
    if not templates:
        screen.note(f"catalog {context.catalog.stack} has no templates")
        return
    screen.show(table_of(COLUMNS, templates))
    if any("(" in _types(template) for template in templates):
        screen.prose("(type) is not available now with the defaults; slipway templates show TEMPLATE says why")
    if any(parameter.required for template in templates for parameter in template.parameters):
        screen.prose("* must be given")


def _names(template: Template) -> str:
    names = (f"{parameter.name}*" if parameter.required else parameter.name for parameter in template.parameters)
    return ", ".join(names) or "–"


def _summary(template: Template) -> str:
    return template.summary or (template.unread and f"can't be read: slipway templates show {template.name}")


def _types(template: Template) -> str:
    """Return each capacity type of the default kind once, in brackets where it is not available with the defaults."""
    can_run = {name: any(offer.available for offer in offers) for name, offers in capacity_types(template).items()}
    return ", ".join(name if can else f"({name})" for name, can in can_run.items()) or "–"


def _offer(offer: Offer) -> dict[str, Any]:
    return {
        "capacityType": offer.capacity_type,
        "kind": offer.kind,
        "when": offer.when,
        "shape": offer.shape or None,
        "wait": offer.wait,
        "note": offer.note or None,
        "available": offer.available,
        "why": (offer.why or None) if offer.available else reason(offer),
        "cluster": offer.cluster or None,
        "pools": offer.pools,
        "pricePerHour": None if offer.price_per_hour.unknown else str(offer.price_per_hour.known),
        "priceComplete": offer.price_per_hour.complete,
        "priceAtMost": offer.price_per_hour.at_most,
    }


def _parameters(template: Template) -> list[dict[str, Any]]:
    return [{**asdict(parameter), "required": parameter.required} for parameter in template.parameters]


COLUMNS: tuple[Column[Template], ...] = (
    Column("TEMPLATE", lambda template: template.name, "name", name=True),
    Column(None, lambda template: template.kind, "kind"),
    Column(None, lambda template: template.kinds, "kinds"),
    Column(None, lambda template: template.takes_code, "codeFlag"),
    Column(None, lambda template: None if template.takes_code else template.code_why or None, "codeWhy"),
    Column(None, lambda template: template.unread or None, "unread"),
    Column(None, lambda template: None if template.study is None else asdict(template.study), "study"),
    Column(None, lambda template: template.roles, "roles"),
    Column("CAPACITY TYPES", lambda template: [*map(_offer, template.offers)], "offers", _types, wraps=True),
    Column("PARAMETERS", _parameters, "parameters", _names, wraps=True),
    Column("SUMMARY", lambda template: template.summary, "summary", _summary, wraps=True),
)
