"""Show one template: parameters, capacity types, and what each costs.

Prices are those with the defaults.
"""

from __future__ import annotations

import click

from slipway.base.columns import Column, documents, table_of
from slipway.base.formatting import counted, join, last_part, span
from slipway.base.installation import updating
from slipway.front.cli.templates import COLUMNS
from slipway.front.cli.terminal import completions, screen
from slipway.front.cli.terminal.documents import catalog_document
from slipway.front.cli.terminal.gcloud import as_formatted, check_format, format_option
from slipway.front.cli.terminal.options import WORD, catalog_and_output
from slipway.front.cli.terminal.submission import commit_words
from slipway.google.catalog.lookup import find_template, jobs_of, reason, trainer_of
from slipway.google.jobs import AT_LEAST_ONCE
from slipway.model.capacity import CAPACITY_TYPES, POOL
from slipway.model.catalog.placeholders import render
from slipway.model.catalog.template import Offer, Parameter, Study, Template, case_in_words
from slipway.model.kinds import KINDS, PIPELINE_JOB
from slipway.model.labels import inputs_in
from slipway.model.prices import crossing_price, dollars, unpriced
from slipway.using.context import Context
from slipway.using.submission.parameters import describe
from slipway.using.submission.request import new_request_id


@click.command()
@click.argument("template", type=WORD, shell_complete=completions.templates)
@format_option
@catalog_and_output
def command(template: str, catalog: str | None, output: str, format_: str | None) -> None:
    check_format(format_, ("--output json", output == "json"), dry_run=True)
    context = Context(catalog, in_season=True)
    chosen = find_template(context.catalog, template, "slipway templates show")
    if format_ is not None:
        from slipway.using.submission.offline import offline_candidate
        from slipway.using.submission.prepared import prepare
        from slipway.using.submission.submission_request import SubmissionRequest

        prepared = prepare(context.catalog, SubmissionRequest(chosen.name), context.user, context.team).under(
            new_request_id()
        )
        screen.out(as_formatted(context, prepared, offline_candidate(prepared)))
        return
    trainer = trainer_of(context.catalog, chosen)
    if output == "json":
        (document,) = documents(COLUMNS, [chosen])
        body = {"catalog": catalog_document(context), "template": {**document, "trainer": trainer or None}}
        screen.out_json("template", body)
        return
    screen.prose(f"{chosen.name}  {chosen.summary}{commit_words(context.catalog)}".rstrip())
    if trainer:
        address = context.catalog.trainers[trainer]
        screen.prose(f"runs as trainer {trainer}, {address}: only its own submitters may submit it")
    if chosen.parameters:
        screen.out("")
        screen.show(table_of(_PARAMETERS, chosen.parameters))
    inputs = {variable: address for offer in chosen.offers for variable, address in inputs_in(offer.spec).items()}
    for variable, address in inputs.items():
        screen.prose(f"input {address}: copied to each machine before the code starts, as ${variable}")
    for kind in chosen.kinds:
        screen.out("")
        if len(chosen.kinds) > 1:
            screen.out(kind if kind == chosen.kind else f"{kind}   (--as {kind})")
        offers = [offer for offer in chosen.offers if offer.kind == kind]
        if kind not in KINDS:
            screen.prose(f"this version does not know what a {kind} is; {updating()}")
            continue
        if KINDS[kind].has_trials and chosen.study is not None:
            screen.prose(_study(chosen, chosen.study))
        _offers(context, chosen, offers)
    screen.out("")
    for name in dict.fromkeys(offer.capacity_type for offer in chosen.offers):
        screen.prose(f"{name}: {CAPACITY_TYPES[name].billing}" if name in CAPACITY_TYPES else name)
    named = {path for job in jobs_of(chosen) for path in job.reservations}
    for path, reservation in sorted(context.catalog.reservations.items()):
        if path in named and (reservation.begins or reservation.ends):
            screen.prose(f"reservation {last_part(path)}: {reservation.dates}")
    if lacking := unpriced(group.machine for job in jobs_of(chosen) for group in job.machines):
        screen.prose(f"prices are {lacking}")
    for cluster in dict.fromkeys(offer.cluster for offer in chosen.offers if offer.cluster):
        if crossing := context.crossing(context.catalog.region_of(cluster)):
            screen.prose(f"pool {cluster}: {crossing}")
    if others := [region for region in chosen.regions or () if region != context.catalog.region]:
        crossing = crossing_price(context.catalog.region, others)
        screen.prose(
            f"after these, machines of its own in {join(others, 'or')}: what it reads crosses regions, {crossing}"
        )
    for note in dict.fromkeys(f"{offer.capacity_type}: {offer.note}" for offer in chosen.offers if offer.note):
        screen.note(f"note: {note}")
    if not all(job.starts_once for job in jobs_of(chosen)):
        screen.prose(AT_LEAST_ONCE)
    commands = [parameter for parameter in chosen.parameters if parameter.command]
    needed = ["--code ."] if commands and chosen.takes_code else []  # Without it a command is refused.
    needed += [f"-p {each.name}=…" for each in chosen.parameters if each.required or each in commands]
    screen.note(f"\nslipway submit {' '.join([chosen.name, *needed])}")


def _default(parameter: Parameter) -> str:
    if parameter.required:
        return "must be given"
    return "" if parameter.default is None else render(parameter.default)


_PARAMETERS: tuple[Column[Parameter], ...] = (
    Column("PARAMETER", lambda parameter: parameter.name, name=True),
    Column("DEFAULT", _default, wraps=True),
    Column("VALUES", describe, wraps=True),
    Column("HELP", lambda parameter: parameter.help, wraps=True),
)


def _offers(context: Context, template: Template, offers: list[Offer]) -> None:
    """Print a row for each offer, the default case first. A case that nothing can run, for one reason, is one row."""
    choice = any(offer.when for offer in offers)
    usual = {parameter.name: parameter.default for parameter in template.parameters}
    cases: dict[str, list[Offer]] = {}
    always = "everybody else" if any(offer.team for offer in offers) else "always"
    for offer in sorted(
        offers, key=lambda offer: any(usual.get(name) not in values for name, values in offer.when.items())
    ):
        cases.setdefault(case_in_words(offer.when, render) or always, []).append(offer)
    rows: list[tuple[str, ...]] = []
    for when, case_offers in cases.items():
        alike = len(case_offers) > 1 and len({reason(offer) for offer in case_offers}) == 1
        if alike and not any(offer.available for offer in case_offers):
            of_case: list[tuple[str, ...]] = [("none", "–", "–", "–", reason(case_offers[0]))]
        else:
            of_case = [_offer_row(context, template, offer) for offer in case_offers]
        rows += [(row[0], when, *row[1:]) if choice else row for row in of_case]
    columns = ["CAPACITY TYPE", "ON", "MACHINES", "$/h", ""]
    if choice:
        columns.insert(1, "WHEN")
    screen.table(columns, rows, right=("$/h",), wraps=("WHEN", "ON", "MACHINES", "$/h", ""))


def _offer_row(context: Context, template: Template, offer: Offer) -> tuple[str, ...]:
    place = "no pool" if offer.capacity_type == POOL else "machines of its own"
    if offer.cluster:
        place = f"pool {offer.cluster}{context.elsewhere(context.catalog.region_of(offer.cluster))}"
    price = "unknown" if offer.price_per_hour.unknown else dollars(offer.price_per_hour, per="")
    remark = offer.why if offer.available else reason(offer)
    remarks = [remark] if remark else []
    if owners := context.catalog.owners(offer.cluster or offer.dormant):
        remarks.append(f"of team {join(owners)} alone")
    if offer.wait is not None:
        remarks.append(f"moves on after {span(offer.wait)}")
    return (offer.capacity_type, place, machines_words(template, offer), price, "; ".join(remarks))


def _study(template: Template, study: Study) -> str:
    """Return `searches rate, depth for accuracy (maximize): 8 trials, 2 at once, bayesian`."""
    metrics = ", ".join(f"{name} ({goal})" for name, goal in study.metrics)
    trials, of_trials = _usual(template, study.max_trials)
    at_once, of_at_once = _usual(template, study.parallel_trials)
    counts = f"{trials} trials{of_trials}, {at_once} at once{of_at_once}"
    return f"searches {', '.join(study.parameters)} for {metrics}: {counts}, {study.algorithm}"


def machines_words(template: Template, offer: Offer) -> str:
    """Return the usual number: `1 scheduler n1-standard-4, 2 workers n1-standard-8 (parameter workers)`."""
    words = []
    roles = offer.roles or template.roles
    for index, spec in enumerate(offer.spec.get("workerPoolSpecs", ())):
        if not spec:
            continue
        role = roles[index] if index < len(roles) else f"workerpool{index}"
        count, of_parameter = _usual(template, spec.get("replicaCount", "?"))
        if count == "0":  # Machines of the pipeline's other tasks serve these, unless they are of another pool.
            if not offer.cluster or offer.pools[index] in offer.pools[:index]:
                continue
            count = "1"
        machine = spec.get("machineSpec", {}).get("machineType", "?")
        if offer.cluster and KINDS[offer.kind] is PIPELINE_JOB:  # Any machine that suffices takes its tasks.
            machine = f"of {offer.pools[index]}"
        words.append(f"{counted(count, role)} {machine}{of_parameter}")
    return ", ".join(words)


def _usual(template: Template, value: object) -> tuple[str, str]:
    """Return a number of the request as it is with the defaults, and in brackets the parameter that it comes from."""
    name = str(value).removeprefix("${").removesuffix("}")
    if name == str(value):
        return str(value), ""
    parameter = next((parameter for parameter in template.parameters if parameter.name == name), None)
    usual = "?" if parameter is None or parameter.default is None else render(parameter.default)
    return usual, f" (parameter {name})"
