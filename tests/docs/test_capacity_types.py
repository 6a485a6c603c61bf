"""The page about capacity types: its table, prices and rules are those of the code, its blocks run. # W6 W7 X7 Z6 Z8
N3"""

import re
from pathlib import Path
from typing import Any

from slipway.authoring.stack.stack import parse
from slipway.authoring.stack.yaml_file import from_text
from slipway.authoring.template.jobspec import CompileContext
from slipway.authoring.template.proof import StackResources, place, prove
from slipway.base.codec import write
from slipway.deploying.deployment.publication import draws, template_entry
from slipway.google.quota.report import OfferVerdict
from slipway.model.capacity import CAPACITY_TYPES
from slipway.model.machines.spec import Disk, MachineSpec
from slipway.model.prices import dollars, hourly
from slipway.model.rules.table import TABLE
from slipway.template import JobTemplate
from tests.docs.console import blocks

PAGE = Path(__file__).resolve().parents[2] / "docs" / "capacity-types.md"
TEXT = PAGE.read_text("utf-8")


def rows(heading: str) -> list[list[str]]:
    """The cells of the first table after a heading."""
    lines = f"\n{TEXT}".split(f"\n{heading}\n", 1)[1].splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith("|"))
    table = []
    for line in lines[start + 2 :]:
        if not line.startswith("|"):
            break
        table.append([cell.strip() for cell in line.strip("|").split("|")])
    return table


def test_the_table_is_the_tables() -> None:
    words = {"nothing": "none", "preemptible": "preemptible GPUs", "on-demand": "on-demand GPUs", "unknown": "not doc"}
    for name, when, quota, waits in rows("# Capacity types: where machines come from"):
        row = CAPACITY_TYPES[name.strip("`")]
        assert when == row.when
        assert quota.startswith(words[row.draws])
        assert waits.startswith("by itself") == row.waits_by_itself
    sections = re.findall(r"^## ([a-z-]+)$", TEXT, re.MULTILINE)
    assert sections == list(CAPACITY_TYPES)


def test_the_template_of_the_page_compiles_on_the_stack_of_the_page() -> None:
    (written,), (code, _) = (blocks(PAGE, language) for language in ("yaml", "python"))
    stack, names = parse(from_text(written, "stacks/Pulumi.prod.yaml")), dict[str, Any]()
    exec(code, names)
    template: JobTemplate = names["TEMPLATE"]
    offers = prove(template, StackResources((), region=stack.region, reservations=stack.reservations))
    context = CompileContext("prod", stack.region, "3f9c2e1", "c", "w", "t", {}, stack.project, stack.reservations)
    verdicts = {draw.label: OfferVerdict(not draw.refusal, draw.refusal) for draw in draws(template, offers)}
    entry = write(template_entry(template, offers, verdicts, context, {template.packages[0]: "packages/p.tar.gz"}))
    assert [(offer["capacityType"], offer["when"]["model"], offer["available"]) for offer in entry["offers"]] == [
        ("reservation", ["27b"], True),
        ("flex-start", ["27b"], True),
        ("spot", ["2b"], True),
        ("flex-start", ["2b"], True),
        ("on-demand", ["2b"], True),
    ]
    assert entry["offers"][1]["request"]["jobSpec"]["scheduling"]["maxWaitDuration"] == "7200s"


def test_the_shapes_of_the_page_come_in_their_order() -> None:  # N3 N23
    names = dict[str, Any]()
    exec(blocks(PAGE, "python")[1], names)
    placements, _ = place(names["TEMPLATE"], StackResources((), region="us-central1"))
    assert [placement.label for placement in placements if not placement.refusal] == [
        "flex-start on a3-highgpu-1g",
        "flex-start on a2-ultragpu-2g",
        "spot on g2-standard-48",
        "on-demand on g2-standard-48",
    ]


def test_prices_are_those_of_the_book() -> None:
    for machine, *told in rows("## What a machine costs an hour"):
        type_, kind, size = re.fullmatch(r"`(\S+)`, (\S+) (\d+) GB", machine).groups()  # type: ignore[union-attr]
        spec = MachineSpec(type_, disk=Disk(kind, int(size)))
        found = [hourly(spec, "us-central1", name) for name in ("pool", "on-demand", "flex-start", "spot")]
        assert told == ["unknown" if price.unknown else dollars(price, per="") for price in found]


def test_every_rule_stands_there() -> None:
    assert rows("## Every rule that is checked before sending") == [[f"`{rule.id}`", rule.text] for rule in TABLE]
