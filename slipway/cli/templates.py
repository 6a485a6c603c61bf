"""`slipway templates`: what can be submitted, and with which parameters."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import click

from slipway.capacity import CAPACITY_TYPES
from slipway.catalog.lookup import find_template, reason
from slipway.catalog.model import Offer, Parameter, Study, Template
from slipway.cli import completion, screen
from slipway.cli.context import Context, catalog_option, output_option
from slipway.cli.submission_display import commit_words
from slipway.formatting import counted, span
from slipway.kinds import KINDS
from slipway.prices import dollars
from slipway.submission.parameters import describe, render


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
        ("TEMPLATE", "CAPACITY TYPES", "PARAMETERS", "SUMMARY"),
        [
            (
                one.name,
                ", ".join(_names(one)) or "–",
                ", ".join(parameter.name + ("" if not parameter.required else "*") for parameter in one.parameters)
                or "–",
                one.summary,
            )
            for one in found
        ],
    )
    if any(not offer.available for one in found for offer in one.offers):
        screen.note("(type) is not available now; slipway templates show TEMPLATE says why")
    if any(parameter.required for one in found for parameter in one.parameters):
        screen.note("* must be given")


@templates.command("show")
@click.argument("template", shell_complete=completion.complete_templates)
@catalog_option
@output_option
def show(template: str, catalog: str | None, output: str) -> None:
    """One template: parameters, capacity types, and what each costs with the defaults."""
    context = Context(catalog)
    found = find_template(context.catalog, template)
    if output == "json":
        screen.out_json("template", {"catalog": _origin(context), "template": _document(found)})
        return
    screen.out(f"{found.name}  {found.summary}{commit_words(context.catalog)}".rstrip())
    if found.parameters:
        screen.out("")
        screen.table(
            ("PARAMETER", "DEFAULT", "VALUES", "HELP"),
            [(one.name, _default(one), describe(one), one.help) for one in found.parameters],
        )
    for kind in found.kinds:
        screen.out("")
        if len(found.kinds) > 1:
            screen.out(kind if kind == found.kind else f"{kind}   (--as {kind})")
        offers = [offer for offer in found.offers if offer.kind == kind]
        if KINDS[kind].has_trials and found.study is not None:
            screen.out(_study(found, found.study))
        _offers(found, offers)
    screen.out("")
    for name in dict.fromkeys(offer.capacity_type for offer in found.offers):
        screen.out(f"{name}: {CAPACITY_TYPES[name].billing}" if name in CAPACITY_TYPES else name)
    for note in dict.fromkeys(f"{offer.capacity_type}: {offer.note}" for offer in found.offers if offer.note):
        screen.note(f"note: {note}")
    needed = [f"-p {one.name}=…" for one in found.parameters if one.required]
    screen.note(f"\nslipway submit {' '.join([found.name, *needed])}")


def _default(parameter: Parameter) -> str:
    if parameter.required:
        return "must be given"
    return "" if parameter.default is None else render(parameter.default)


def _names(template: Template) -> list[str]:
    """Each capacity type of the usual kind once, in brackets where it is available in no case."""
    found: dict[str, bool] = {}
    for offer in template.offers:
        if offer.kind == template.kind:
            found[offer.capacity_type] = found.get(offer.capacity_type, False) or offer.available
    return [name if available else f"({name})" for name, available in found.items()]


def _offers(template: Template, offers: list[Offer]) -> None:
    """A row for each offer; the parameters' values that choose it only where there is such a choice, the defaults'
    first. Values that have none, for one and the same reason, are a single row.
    """
    choice = any(offer.when for offer in offers)
    usual = {one.name: one.default for one in template.parameters}
    cases: dict[str, list[Offer]] = {}
    for offer in sorted(
        offers, key=lambda offer: any(usual.get(name) not in values for name, values in offer.when.items())
    ):
        cases.setdefault(_when(offer), []).append(offer)
    rows: list[tuple[str, ...]] = []
    for when, those in cases.items():
        if (
            len(those) > 1
            and not any(offer.available for offer in those)
            and len({reason(offer) for offer in those}) == 1
        ):
            found: list[tuple[str, ...]] = [("none", "–", "–", "–", reason(those[0]))]
        else:
            found = [_offer_row(template, offer) for offer in those]
        rows += [(row[0], *((when,) if choice else ()), *row[1:]) for row in found]
    screen.table(("CAPACITY TYPE", *(("WHEN",) if choice else ()), "ON", "MACHINES", "$/h", ""), rows, right=("$/h",))


def _offer_row(template: Template, offer: Offer) -> tuple[str, ...]:
    place = (
        f"pool {offer.cluster}"
        if offer.cluster
        else "machines of its own"
        if offer.capacity_type != "pool"
        else "no pool"
    )
    price = "unknown" if offer.price_per_hour.unknown else dollars(offer.price_per_hour, per="")
    remarks = ([offer.why] if offer.why else []) if offer.available else [reason(offer)]
    if offer.wait is not None:
        remarks.append(f"moves on after {span(offer.wait)}")
    return (offer.capacity_type, place, machines_words(template, offer), price, "; ".join(remarks))


def _when(offer: Offer) -> str:
    return ", ".join(f"{name}={' or '.join(map(render, values))}" for name, values in offer.when.items()) or "always"


def _study(template: Template, study: Study) -> str:
    """`searches rate, depth for accuracy (maximize): 8 trials, 2 at once, bayesian`"""
    metrics = ", ".join(f"{name} ({goal})" for name, goal in study.metrics)
    trials, at_once = _usual(template, study.max_trials), _usual(template, study.parallel_trials)
    return (
        f"searches {', '.join(study.parameters)} for {metrics}: {trials[0]} trials{trials[1]}, "
        f"{at_once[0]} at once{at_once[1]}, {study.algorithm}"
    )


def machines_words(template: Template, offer: Offer) -> str:
    """As many as usual: `1 scheduler n1-standard-4, 2 workers n1-standard-8 (parameter workers)`."""
    words = []
    roles = offer.roles or template.roles
    for index, spec in enumerate(KINDS[offer.kind].spec_of(offer.request).get("workerPoolSpecs", ())):
        if not spec:
            continue
        role = roles[index] if index < len(roles) else f"workerpool{index}"
        count, machine = _usual(template, spec.get("replicaCount", "?")), spec.get("machineSpec", {})
        words.append(f"{counted(count[0], role)} {machine.get('machineType', '?')}{count[1]}")
    return ", ".join(words)


def _usual(template: Template, value: object) -> tuple[str, str]:
    """A number of the request as it is with the defaults, and in brackets the parameter that it comes from."""
    name = str(value).removeprefix("${").removesuffix("}")
    if name == str(value):
        return str(value), ""
    found = next((one for one in template.parameters if one.name == name), None)
    usual = "?" if found is None or found.default is None else render(found.default)
    return usual, f" (parameter {name})"


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
        "kinds": list(template.kinds),
        "codeFlag": template.code_flag,
        "codeWhy": template.code_why or None,
        "study": None if template.study is None else asdict(template.study),
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
        "offers": [
            {
                "capacityType": offer.capacity_type,
                "kind": offer.kind,
                "when": {name: list(values) for name, values in offer.when.items()},
                "wait": offer.wait,
                "note": offer.note or None,
                "available": offer.available,
                "why": (offer.why or None) if offer.available else reason(offer),
                "cluster": offer.cluster or None,
                "pools": list(offer.pools),
                "pricePerHour": None if offer.price_per_hour.unknown else str(offer.price_per_hour.known),
                "priceComplete": offer.price_per_hour.complete,
            }
            for offer in template.offers
        ],
    }
