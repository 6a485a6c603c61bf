"""Comments as the guides show them, each made from a change as a reviewer would meet it."""

import html
import json
from dataclasses import replace
from pathlib import Path

from slipway.front.cli.terminal.findings import SIGNS as DOCTORS_SIGNS
from slipway.model.facts import QuotaLine
from slipway.model.findings.finding import Section
from slipway.model.findings.grades import REVIEWED
from slipway.model.findings.kinds import KINDS
from slipway.reviewing.render.comment import Place, comment
from slipway.reviewing.render.rows import SIGNS
from slipway.reviewing.review import Review
from slipway.reviewing.reviewer import review
from tests.slipway.reviewing.builders import (
    H100,
    change,
    cluster,
    facts,
    job,
    kept,
    limits,
    living,
    offer,
    pool,
    quota,
    template,
)

LOTS = Path(__file__).with_name("lots.json")
TREE, BASE = "4f1c8d20b7a95e6633d0c1f2a8e97b6d5c4f3a21", "9b2e6c7d10f84a53c6b1d2e3f4a5968778695a4b"
SMALL = cluster("cpu")
OLD, NEW = (cluster("h100", pool("workers", H100, 1, high)) for high in (4, 6))
JOBS = (job(on=OLD, machine=H100), job("gemma2-lora-9d3k", on=OLD, user="ci", minutes=8, machine=H100))
LORA = template("gemma2-lora", offer(cluster="h100", pools=("workers",), machine=H100))
LIVING = (living(SMALL), living(OLD, used=2))


CPUS = QuotaLine("custom_model_training_cpus", "ok", 0, {"cpu/workers": 32}, 32, 2_200)


def line(short: int, ceiling: int) -> QuotaLine:
    drawn = {"h100/workers": ceiling}
    return QuotaLine(
        "custom_model_training_nvidia_h100_gpus", "tight" if ceiling > 32 else "ok", short, drawn, ceiling, 32
    )


def quiet(stack: str) -> Review:
    same = facts(SMALL, template(), quota=quota(CPUS))
    return replace(review(change(same, same, clusters=[living(SMALL)])), stack=stack)


LIMITS = limits(
    {"custom_model_training_cpus": 2_200, "custom_model_training_a3_cpus": 1_248}
    | {"custom_model_training_nvidia_h100_gpus": 32, "custom_model_training_pd_ssd": 100_000}
)


def rolls() -> str:
    """Return the comment on a maximum that is raised while two jobs run."""
    before = facts(SMALL, OLD, LORA, quota=quota(line(0, 32)))
    after = facts(SMALL, NEW, kept(OLD, *JOBS), LORA, quota=quota(line(0, 48)))
    changed = review(change(before, after, clusters=LIVING, jobs=JOBS, limits=LIMITS))
    return comment([quiet("dev"), changed], Place(TREE, BASE))


def grades() -> str:
    """Return the table of the default grade of each kind, by section."""
    lines = ["| section | | finding type | it is reported if |", "|---|---|---|---|"]
    for section in dict.fromkeys(kind.section for kind in REVIEWED.values()):
        rows = [kind for kind in REVIEWED.values() if kind.section is section]
        rows.sort(key=lambda kind: -kind.usual)
        lines += [f"| {section.value} | {SIGNS[kind.usual]} | `{kind.word}` | {kind.means} |" for kind in rows]
    return "\n".join(lines)


def health() -> str:
    """Return the table of the doctor's findings, the worst first."""
    rows = sorted((kind for kind in KINDS.values() if kind.section is Section.HEALTH), key=lambda kind: -kind.usual)
    lines = [f"| {DOCTORS_SIGNS[kind.usual][0]} | `{kind.word}` | {kind.means} |" for kind in rows]
    return "\n".join(["| | | |", "|---|---|---|", *lines])


def lots() -> str:
    """Return the table of the lots of unseen changes, whose figures strangers counted."""
    columns = (
        "lot",
        "changes",
        "harm named",
        "harm with an open gate",
        "false sentences",
        "false alarms",
        "open words",
    )
    lines = [f"| {' | '.join(columns)} |", "|---|---|---|---|---|---|---|"]
    for lot in json.loads(LOTS.read_text(encoding="utf-8")):
        share = round(100 * lot["named"] / lot["harmful"])
        figures = (
            lot["date"],
            lot["changes"],
            f"{lot['named']} of {lot['harmful']} ({share} %)",
            lot["openGates"],
            lot["falseSentences"],
            lot["falseAlarms"],
            f"median {lot['words']}, most {lot['mostWords']}",
        )
        lines.append(f"| {' | '.join(map(str, figures))} |")
    return "\n".join(lines)


def shown(markdown: str) -> str:
    """Return a comment as GitHub renders its signs, without the hidden marker."""
    return html.unescape(markdown.partition("\n")[2].rstrip())


def framed(markdown: str) -> str:
    """Return a comment as a quotation, in which headings are no headings of the guide; folds stand open."""
    lines = shown(markdown).replace("<details><summary>", "*").replace("</summary>", "*").replace("</details>", "")
    return "\n".join(f"> {line}".rstrip() for line in _bold(lines).splitlines())


def _bold(lines: str) -> str:
    first, _, rest = lines.partition("\n")
    return f"**{first.removeprefix('### ')}**\n{rest}"
