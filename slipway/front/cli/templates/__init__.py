"""List the catalog's templates, or show one with its parameters."""

from __future__ import annotations

import click

from slipway.front.cli import Verbs
from slipway.front.cli.terminal import screen
from slipway.front.cli.terminal.documents import catalog_document, template_document
from slipway.front.cli.terminal.options import catalog_and_output
from slipway.front.cli.terminal.screen import Column
from slipway.google.catalog.lookup import capacity_types
from slipway.model.catalog.model import Template
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
        documents = [template_document(template) for template in templates]
        screen.out_json("templates", {"catalog": catalog_document(context), "templates": documents})
        return
    if not templates:
        screen.note(f"catalog {context.catalog.stack} has no templates")
        return
    screen.listed(_COLUMNS, templates)
    if any("(" in _types(template) for template in templates):
        screen.prose("(type) is not available now with the defaults; slipway templates show TEMPLATE says why")
    if any(parameter.required for template in templates for parameter in template.parameters):
        screen.prose("* must be given")


def _parameters(template: Template) -> str:
    names = (f"{parameter.name}*" if parameter.required else parameter.name for parameter in template.parameters)
    return ", ".join(names) or "–"


def _summary(template: Template) -> str:
    return template.summary or (template.unread and f"can't be read: slipway templates show {template.name}")


def _types(template: Template) -> str:
    """Return each capacity type of the default kind once, in brackets where it is not available with the defaults."""
    can_run = {name: any(offer.available for offer in offers) for name, offers in capacity_types(template).items()}
    return ", ".join(name if can else f"({name})" for name, can in can_run.items()) or "–"


_COLUMNS: tuple[Column[Template], ...] = (
    Column("TEMPLATE", lambda template: template.name, name=True),
    Column("CAPACITY TYPES", _types, wraps=True),
    Column("PARAMETERS", _parameters, wraps=True),
    Column("SUMMARY", _summary, wraps=True),
)
