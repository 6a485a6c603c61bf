"""List the catalog's templates, or show one with its parameters."""

from __future__ import annotations

import click

from slipway.front.cli import Verbs
from slipway.front.cli.terminal import screen
from slipway.front.cli.terminal.documents import catalog_document, template_document
from slipway.front.cli.terminal.options import catalog_and_output
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
    found = [context.catalog.templates[name] for name in sorted(context.catalog.templates)]
    if output == "json":
        documents = [template_document(one) for one in found]
        screen.out_json("templates", {"catalog": catalog_document(context), "templates": documents})
        return
    if not found:
        screen.note(f"catalog {context.catalog.stack} has no templates")
        return
    types = {one.name: ", ".join(_names(one)) or "–" for one in found}
    screen.table(
        ("TEMPLATE", "CAPACITY TYPES", "PARAMETERS", "SUMMARY"),
        [
            (
                one.name,
                types[one.name],
                ", ".join(parameter.name + ("" if not parameter.required else "*") for parameter in one.parameters)
                or "–",
                one.summary or (one.unread and f"can't be read: slipway templates show {one.name}"),
            )
            for one in found
        ],
        wraps=("CAPACITY TYPES", "PARAMETERS", "SUMMARY"),
    )
    if any("(" in words for words in types.values()):
        screen.prose("(type) is not available now with the defaults; slipway templates show TEMPLATE says why")
    if any(parameter.required for one in found for parameter in one.parameters):
        screen.prose("* must be given")


def _names(template: Template) -> list[str]:
    """Return each capacity type of the default kind once, in brackets where it is not available with the defaults."""
    found = capacity_types(template).items()
    return [name if any(one.available for one in offers) else f"({name})" for name, offers in found]
