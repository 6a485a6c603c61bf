"""Check stack files without the engine.

Their keys, names, machines, disks, sizes and secrets, that each template fits a pool and breaks no rule of the
service, and that the stack keeps its own rules. Without an argument, all of stacks/Pulumi.*.yaml. Exit code 2 when
anything is wrong.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from slipway.authoring.policy.rule import ADVISORY, MANDATORY
from slipway.authoring.stack.deleted_files import deleted_stacks, fix_of_deleted
from slipway.authoring.stack.yaml_file import (
    Document,
    DocumentPart,
    FileMistake,
    StackErrors,
    in_words,
    load,
    pulumi_backend,
    pulumi_project,
)
from slipway.base.errors import ConfigError
from slipway.base.files import from_here
from slipway.base.formatting import counted, join, nearest, quoted
from slipway.front.cli.terminal import screen
from slipway.front.cli.terminal.options import output_option
from slipway.model.cluster import at_once
from slipway.model.findings.finding import Grade
from slipway.model.identity import Identity
from slipway.model.machines.price_tables import HOURS_OF_A_MONTH
from slipway.model.prices import Bounds, Price, dearest, hourly, price_in_words, total
from slipway.using.context import Clock

if TYPE_CHECKING:
    from slipway.authoring.stack.stack import Stack
    from slipway.model.catalog.template import Template

EXIT_FINDINGS = 2


@dataclass(frozen=True)
class Checked:
    """A checked stack file."""

    name: str
    file: str
    #: The declared stack; None where the file has mistakes of its own.
    stack: Stack | None
    mistakes: Sequence[FileMistake]
    #: Remarks on permitted values.
    warnings: tuple[FileMistake, ...] = ()


@click.command()
@click.argument("stacks", nargs=-1, metavar="[STACK|FILE]…")
@output_option
@click.option("--schema", is_flag=True, help="Print the JSON Schema of stack files, as it is in stacks/schema.json.")
@click.pass_context
def command(context: click.Context, stacks: tuple[str, ...], output: str, schema: bool) -> None:
    from slipway.authoring.stack.structure import schema_text  # pydantic is needed only for a check

    if schema:
        screen.out(schema_text().rstrip("\n"))
        return
    checked = [check_file(path) for path in _paths(stacks, Path.cwd())]
    if output == "json":
        screen.out_json("check", _json(checked))
    else:
        screen.out(_text(checked))
    if any(result.mistakes for result in checked):
        context.exit(EXIT_FINDINGS)


def check_file(path: Path) -> Checked:
    """Check one stack file and the templates it names."""
    from slipway.authoring.stack.members import check_warnings
    from slipway.authoring.stack.stack import parse, stack_of

    shown = from_here(path)
    document = load(path, shown_as=shown)
    warnings, remarks = check_warnings(document), DocumentPart(document)["config"]
    beside = path.resolve().parent
    root = beside.parent if beside.name == "stacks" else beside
    folder, warnings = root / "templates", (*warnings, *_program(root / "__main__.py", stack_of(shown)))
    warnings, unusable = _of_environment(document, root, warnings)
    document = replace(document, mistakes=(*document.mistakes, *unusable))
    try:
        stack = parse(document, identity=Identity(pulumi_project(root), stack_of(shown)))
    except StackErrors as errors:
        mistakes = sorted((*errors.mistakes, *_templates(document, folder)[0]), key=lambda mistake: mistake.line)
        return Checked(stack_of(shown), shown, None, mistakes, warnings)
    for cluster in stack.clusters:
        if cluster.closed:
            remarks["slipway:persistentResources"][cluster.name]["serviceAccount"]["custom"].wrong(*cluster.closed)
    mistakes, published = _templates(document, folder, stack)
    broken = _broken(stack, published, document, remarks)
    if not mistakes:
        mistakes = _stranded(stack, published, document, remarks)
        _misfits(stack, folder, remarks)
        _unused(stack, published, remarks)
    _ended(stack, published, remarks)
    _past(stack, remarks)
    every = sorted((*mistakes, *broken), key=lambda mistake: mistake.line)
    return Checked(stack.name, shown, stack, every, (*warnings, *remarks.mistakes))


def _of_environment(
    document: Document, root: Path, warnings: tuple[FileMistake, ...]
) -> tuple[tuple[FileMistake, ...], tuple[FileMistake, ...]]:
    """Return warnings and mistakes with those of `environment`: a warning if the backend is unknown."""
    from slipway.authoring.stack.pulumi_settings import check_environment

    backend = os.environ.get("PULUMI_BACKEND_URL", "") or pulumi_backend(root)
    found = check_environment(document, backend)
    if found is None:
        return warnings, ()
    return (warnings, (found,)) if backend else ((*warnings, found), ())


def _paths(stacks: tuple[str, ...], here: Path) -> list[Path]:
    every = sorted((here / "stacks").glob("Pulumi.*.yaml"))
    if stacks or every:
        return [stack_path(word, here, every) for word in stacks] or every
    restored = [fix_of_deleted(here, stack) for stack in deleted_stacks(here)]
    fix = "\n".join(restored) or "change to the checkout's folder, or name a file: slipway check FILE"
    raise ConfigError("there is no stack file here", why=f"no {from_here(here / 'stacks')}/Pulumi.*.yaml", fix=fix)


def stack_path(word: str, here: Path, every: list[Path], typed: str = "slipway check {}") -> Path:
    """Return a stack's file by its name or path. `typed`: the command, with {} in place of the name."""
    if (here / word).is_file():
        return here / word
    by_name = {path.stem.removeprefix("Pulumi."): path for path in every}
    if word in by_name:
        return by_name[word]
    restored = fix_of_deleted(here, Path(word).name.removeprefix("Pulumi.").removesuffix(".yaml"))
    raise ConfigError(
        f"there is no stack {quoted(word)}, and no such file",
        why=f"the stacks are {', '.join(by_name)}" if by_name else "there is no stacks/Pulumi.*.yaml here",
        fix=restored or typed.format(nearest(word, by_name) or "").rstrip(),
    )


def _templates(
    document: Document, folder: Path, stack: Stack | None = None
) -> tuple[list[FileMistake], list[Template]]:
    """Find templates that can't be loaded or packed, and for a `stack` those that fit no pool or break a rule of the
    service; return all others as the catalog would have them."""
    from slipway.authoring.packages.source_package import built
    from slipway.authoring.template.load import load
    from slipway.authoring.template.proof import NoPoolError
    from slipway.deploying.deployment.publication import rehearse

    config, published = DocumentPart(document)["config"], list["Template"]()
    for part in config["slipway:templates"].entries():
        name = part.of(str)
        if name is None:
            continue
        try:
            template = load(name, folder)
            packages = [built(name, code, folder.parent) for code in template.uploaded]
            if stack:
                requirements = (line for package in packages for line in package.requirements)
                published.append(rehearse(template, stack, requirements))
        except ConfigError as error:
            of_team = error.of_team if isinstance(error, NoPoolError) else None
            at = config["slipway:teams"][of_team[0]]["machines"][of_team[1]] if of_team else part
            at.wrong("\n    ".join([error.what, *error.why.splitlines()]), error.fix)
    return config.mistakes, published


def _program(program: Path, stack: str) -> Iterator[FileMistake]:
    """Yield a warning where the stack that is deployed is not the file's: no check runs a program."""
    from slipway.authoring.stack.edit import edit_line

    if line := edit_line(program):
        what = f"the program edits stack {stack}, and this check is of its file alone"
        yield FileMistake(from_here(program), line, "", what, f"make preview STACK={stack} checks what is deployed")


def _stranded(
    stack: Stack, published: Iterable[Template], document: Document, remarks: DocumentPart
) -> list[FileMistake]:
    """Return templates that a deployment refuses as this stack takes none of their offers, and those that its review
    stops as none can be had with the template's defaults. Where shortages only warn, so does this. Remark on those that
    wait for a season. docs/decisions/check.md tells why."""
    from slipway.deploying.generations.dormant import out_of_season
    from slipway.google.catalog.lookup import usual_offers

    mistakes: list[FileMistake] = []
    config, now = DocumentPart(document, ("config",), mistakes), Clock().now()
    asleep = {cluster.name: rests for cluster in stack.clusters if (rests := out_of_season(cluster, "", now))}
    for template in published:
        usual = usual_offers(template)
        fits = [offer for offer in usual if offer.available or offer.dormant]
        pools = dict.fromkeys(offer.cluster or offer.dormant for offer in fits)
        if any(name not in asleep for name in pools):
            continue
        at_all = any(offer.available or offer.dormant for offer in template.offers)
        how = "for now" if fits else "with its defaults" if at_all else "by any of its capacity types"
        fix = "declare what is missing, or give the template a capacity type that this stack has"
        if fits:
            why = [asleep[name].words for name in pools]
            fix = "leave it so, if its jobs may wait for that; else give it another capacity type"
        else:
            why = [f"{offer.label(template.kind)}: {offer.why}" for offer in (usual if at_all else template.offers)]
        part = remarks if fits or stack.quota.mode == "warn" else config
        part["slipway:templates"][stack.templates.index(template.name)].wrong(
            "\n    ".join([f"{template.name} can't run {how}", *why]), fix
        )
    return mistakes


def _broken(
    stack: Stack, published: Iterable[Template], document: Document, remarks: DocumentPart
) -> list[FileMistake]:
    """Return mandatory rules of the stack's own that it breaks, as far as its files tell; remark on advisory ones."""
    from slipway.authoring.policy.rules import violations
    from slipway.deploying.deployment.deployment import facts
    from slipway.deploying.deployment.plan import plan
    from slipway.deploying.deployment.publication import catalog_of, compile_context
    from slipway.google.quota.report import QuotaReport
    from slipway.google.snapshot import skipped
    from slipway.model.labels import Revision

    now = Clock().now()
    planned = plan(
        stack.clusters, skipped("slipway check"), stack=stack.name, project=stack.project, region=stack.region, now=now
    )
    context = compile_context(stack, Revision("unknown", dirty=False), planned)
    catalog = catalog_of(context, stack, planned, {template.name: template for template in published})
    mistakes = DocumentPart(document, ("config",))
    for breach in violations(facts(stack, planned, catalog, QuotaReport())):
        mandatory = breach.grade is Grade.BLOCKING
        level, config = (MANDATORY, mistakes) if mandatory else (ADVISORY, remarks)
        fix = "change what breaks the rule, or the rule"
        config["slipway:policy"][level][breach.subject.name].wrong(breach.sentence, fix)
    return mistakes.mistakes


def _past(stack: Stack, remarks: DocumentPart) -> None:
    """Remark on reservations whose last day is over."""
    now = Clock().now()
    for name, held in stack.reservations.items():
        if held.ends and held.ends <= now:
            what = f"{held.closed(now)}: no submission takes its machines"
            remarks["slipway:reservations"][name]["until"].wrong(what, "a later date, or no such reservation")


def _misfits(stack: Stack, folder: Path, remarks: DocumentPart) -> None:
    """Remark on templates that fit a cluster's first configuration and not its alternatives, or the other way round."""
    if not any(cluster.alternatives for cluster in stack.clusters):
        return
    from slipway.authoring.template.load import load
    from slipway.authoring.template.proof import misfits
    from slipway.authoring.template.stack_machines import on_stack

    templates = {name: on_stack(load(name, folder), stack) for name in stack.templates}
    for cluster in stack.clusters:
        for number, unfit in misfits(templates.values(), cluster).items():
            called = cluster.options[number].called
            for name, why in unfit.items():
                remarks["slipway:templates"][stack.templates.index(name)].wrong(
                    f"{name} can't run on cluster {cluster.name} {called}: {why}",
                    "leave it so, if the template may wait or run elsewhere meanwhile; else other machines there",
                )


def _ended(stack: Stack, published: Iterable[Template], remarks: DocumentPart) -> None:
    """Remark on prebuilt images whose last day is over and that have a newer one."""
    from slipway.google.catalog.lookup import replaceable_images

    now = Clock().now()
    for image, names in replaceable_images(published, now).items():
        place = remarks["slipway:templates"][stack.templates.index(names[0])]
        place.wrong(f"{join(names)}: {image.ended(now)}", image.fix)


def _unused(stack: Stack, published: Iterable[Template], remarks: DocumentPart) -> None:
    """Remark on pools that are paid for, and that no template fits."""
    from slipway.google.catalog.lookup import unused_pools

    wanted = (cluster for cluster in stack.clusters if not (cluster.adopted or cluster.season.over(Clock().now())))
    pools = {(cluster.name, pool.name): pool for cluster in wanted for pool in cluster.pools}
    for cluster, name in unused_pools(pools, published):
        pool = pools[cluster, name]
        monthly = (hourly(pool.machine, stack.region) * pool.min).known * HOURS_OF_A_MONTH
        costs = f", and it costs ${monthly:,.0f} a month" if monthly else ""
        remarks["slipway:persistentResources"][cluster]["pools"][name].wrong(
            f"no job can run on pool {cluster}/{name}: no template fits it{costs}",
            "a template for such machines, or none of them",
        )


def _text(checked: list[Checked]) -> str:
    wide = max(len(result.name) for result in checked)
    lines = []
    for result in checked:
        if result.mistakes or result.stack is None:
            lines += in_words(result.mistakes)
        else:
            lines.append(f"ok  {result.name.ljust(wide)}  {_summary(result.stack)}")
        lines += in_words([replace(warning, what=f"warning: {warning.what}") for warning in result.warnings])
    count = sum(len(result.mistakes) for result in checked)
    if count:
        bad = sum(bool(result.mistakes) for result in checked)
        lines.append(f"{counted(count, 'error')} in {bad} of {len(checked)} stack files")
    return "\n".join(lines)


def _summary(stack: Stack) -> str:
    pools = sum(len(cluster.pools) for cluster in stack.clusters)
    counts = {"cluster": len(stack.clusters), "pool": pools, "template": len(stack.templates)}
    words = ", ".join(counted(count, noun) for noun, count in counts.items())
    others = f" (alternatives in {join(stack.other_regions)})" if stack.other_regions else ""
    return f"{stack.region}{others}  {words}  {price_in_words(_price(stack))}"


def _price(stack: Stack) -> Bounds:
    """Return the price of the present clusters, and the highest of concurrent ones, without adopted ones, which their
    creators pay for. It is that of a review, except where clusters were given up, which no file tells."""
    now = Clock().now()
    paid = [cluster for cluster in stack.clusters if not cluster.adopted]
    present = [cluster for cluster in paid if cluster.season.includes(now)]
    coming = [cluster for cluster in paid if cluster.season.begins and cluster.season.begins > now]
    times = [total(clusters, stack.region) for _, clusters in at_once(present, coming)]
    return Bounds(times[0].floor, dearest(price.ceiling for price in times))


def _json(checked: list[Checked]) -> dict[str, Any]:
    return {
        "ok": not any(result.mistakes for result in checked),
        "stacks": [
            {"stack": result.name, "file": result.file, "ok": not result.mistakes}
            | (_stack_json(result.stack) if result.stack else {})
            for result in checked
        ],
        "findings": [mistake for result in checked for mistake in result.mistakes],
        "warnings": [warning for result in checked for warning in result.warnings],
    }


def _stack_json(stack: Stack) -> dict[str, Any]:
    price = _price(stack)
    return {
        "project": stack.project,
        "region": stack.region,
        **({"otherRegions": others} if (others := stack.other_regions) else {}),
        "clusters": {cluster.name: [pool.name for pool in cluster.pools] for cluster in stack.clusters},
        "templates": stack.templates,
        "floorPerHour": _exact(price.floor),
        "ceilingPerHour": _exact(price.ceiling),
        "priceComplete": price.complete,
    }


def _exact(price: Price) -> str | None:
    return None if price.unknown else f"{price.known:.7f}".rstrip("0").rstrip(".")
