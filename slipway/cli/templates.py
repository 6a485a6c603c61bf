"""`slipway templates`: what can be submitted, and with which parameters."""

from __future__ import annotations

from typing import Any

import click

from slipway.catalog.model import Parameter, Template, Way
from slipway.cli import screen, suggest
from slipway.cli.context import Context, catalog_option, output_option
from slipway.prices import dollars
from slipway.submit.parameters import describe, render
from slipway.submit.ways import find_template, reason


@click.group("templates", invoke_without_command=True, short_help="What can be submitted.")
@catalog_option
@output_option
@click.pass_context
def templates(ctx: click.Context, catalog: str | None, output: str) -> None:
    """List the catalog's templates, or show one with its parameters."""
    if ctx.invoked_subcommand is not None:
        return
    context = Context(catalog)
    found = [context.catalog.templates[name] for name in sorted(context.catalog.templates)]
    if output == "json":
        screen.out_json("templates", {"catalog": _origin(context), "templates": [_document(one) for one in found]})
        return
    if not found:
        screen.note(f"catalog {context.catalog.stack} has no templates")
        return
    screen.table(
        ("TEMPLATE", "WAYS", "PARAMETERS", "SUMMARY"),
        [
            (
                one.name,
                ", ".join(way.way if way.available else f"({way.way})" for way in one.ways) or "–",
                ", ".join(parameter.name + ("" if not parameter.required else "*") for parameter in one.parameters)
                or "–",
                one.summary,
            )
            for one in found
        ],
    )
    if any(not way.available for one in found for way in one.ways):
        screen.note("(way) is not available now; slipway templates show TEMPLATE says why")
    if any(parameter.required for one in found for parameter in one.parameters):
        screen.note("* must be given")


@templates.command("show")
@click.argument("template", shell_complete=suggest.templates)
@catalog_option
@output_option
def show(template: str, catalog: str | None, output: str) -> None:
    """One template: parameters, ways, and what each way costs with the defaults."""
    context = Context(catalog)
    found = find_template(context.catalog, template)
    if output == "json":
        screen.out_json("template", {"catalog": _origin(context), "template": _document(found)})
        return
    commit = context.catalog.commit
    screen.out(f"{found.name}  {found.summary}{f'  @ {commit}' if commit else ''}".rstrip())
    if found.parameters:
        screen.out("")
        screen.table(
            ("PARAMETER", "DEFAULT", "VALUES", "HELP"),
            [(one.name, _default(one), describe(one), one.help) for one in found.parameters],
        )
    screen.out("")
    screen.table(
        ("WAY", "ON", "MACHINES", "$/h", ""),
        [_way_row(found, way) for way in found.ways],
        right=("$/h",),
    )
    needed = [f"-p {one.name}=…" for one in found.parameters if one.required]
    screen.note(f"\nslipway submit {' '.join([found.name, *needed])}")


def _default(parameter: Parameter) -> str:
    if parameter.required:
        return "must be given"
    return "" if parameter.default is None else render(parameter.default)


def _way_row(template: Template, way: Way) -> tuple[str, ...]:
    place = f"pool {way.cluster}" if way.cluster else "machines of its own"
    price = "unknown" if way.price_per_hour is None else dollars(way.price_per_hour, per="")
    return (way.way, place, machines_words(template, way), price, "" if way.available else reason(way))


def machines_words(template: Template, way: Way) -> str:
    """``1 scheduler n1-standard-4, ${workers} workers n1-standard-8``, with the parameters that count replicas."""
    words = []
    for index, spec in enumerate(way.request.get("jobSpec", {}).get("workerPoolSpecs", ())):
        if not spec:
            continue
        role = template.roles[index] if index < len(template.roles) else f"workerpool{index}"
        words.append(f"{spec.get('replicaCount', '?')} {role} {spec.get('machineSpec', {}).get('machineType', '?')}")
    return ", ".join(words)


def _origin(context: Context) -> dict[str, Any]:
    catalog = context.catalog
    return {
        "address": str(context.choice.location),
        "stack": catalog.stack,
        "project": catalog.project,
        "region": catalog.region,
        "commit": catalog.commit,
        "dirty": catalog.dirty,
    }


def _document(template: Template) -> dict[str, Any]:
    return {
        "name": template.name,
        "summary": template.summary,
        "kind": template.kind,
        "roles": list(template.roles),
        "parameters": [
            {
                "name": one.name,
                "type": one.type,
                "required": one.required,
                "default": one.default,
                "min": one.min,
                "max": one.max,
                "choices": list(one.choices),
                "help": one.help,
            }
            for one in template.parameters
        ],
        "ways": [
            {
                "way": way.way,
                "available": way.available,
                "why": reason(way) if not way.available else None,
                "cluster": way.cluster or None,
                "pools": list(way.pools),
                "pricePerHour": None if way.price_per_hour is None else str(way.price_per_hour),
            }
            for way in template.ways
        ],
    }
