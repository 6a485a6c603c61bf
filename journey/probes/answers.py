"""Answers as they are kept between calls, with the report and the local cloud's settings made from them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

from journey.probes.probe import Finding, Probe, Unasked, Value
from journey.published import Published
from slipway.base.files import write_atomically

_COLUMNS = ("question", "answer", "setting", "evidence")


@dataclass(frozen=True)
class Answer:
    """A finding and when it was made, as ISO 8601 in UTC."""

    answer: str
    evidence: str
    at: str
    settings: Mapping[str, Value] = field(default_factory=dict)

    @property
    def told(self) -> bool:
        return bool(self.settings)


Answers = Mapping[str, Answer]
"""Answers by the probe's id."""


def read(file: Path) -> dict[str, Answer]:
    """Return the answers of earlier calls."""
    if not file.exists():
        return {}
    return {name: Answer(**body) for name, body in json.loads(file.read_text(encoding="utf-8")).items()}


def with_finding(answers: Answers, probe: str, finding: Finding, at: str) -> dict[str, Answer]:
    """Return the answers with a new finding. An unknown does not replace a known answer."""
    new = Answer(finding.answer, finding.evidence, at, finding.settings)
    before = answers.get(probe)
    return {**answers, probe: before if before and before.told and not new.told else new}


def write(
    folder: Path, answers: Answers, probes: Iterable[Probe], unasked: Iterable[Unasked], origin: Published
) -> None:
    """Write `answers.json`, `settings.toml`, and `report.md`, which may be published, each whole."""
    probes, unasked = tuple(probes), tuple(unasked)
    kept = {name: asdict(answer) for name, answer in answers.items()}
    write_atomically(folder / "answers.json", json.dumps(kept, indent=1))
    write_atomically(folder / "report.md", report(answers, probes, unasked, origin))
    write_atomically(folder / "settings.toml", settings(answers, probes, origin.region))


def report(answers: Answers, probes: Iterable[Probe], unasked: Iterable[Unasked], origin: Published) -> str:
    """Return a report in Markdown: a row for each question, then the questions that are not asked and what would answer
    them."""
    lines = [_row(_COLUMNS), _row("---" for _ in _COLUMNS)]
    for probe in probes:
        answer = answers.get(probe.id)
        question = f"{probe.question} ({probe.id}; vertex-rules {probe.place})"
        if answer is None:
            lines.append(_row((question, "not asked yet", ", ".join(probe.settings), "")))
        else:
            given = ", ".join(f"{name} = {_toml(value)}" for name, value in answer.settings.items())
            shown = given if len(answer.settings) <= 4 else f"{len(answer.settings)} settings, in settings.toml"
            lines.append(_row((question, answer.answer, shown or "–", f"{answer.evidence} ({answer.at})")))
    lines += ["", "## Not asked", "", _row(("setting", "why not", "what would answer it"))]
    lines.append(_row("---" for _ in range(3)))
    for row in unasked:
        place = f" (vertex-rules {row.place})" if row.place else ""
        lines.append(_row((", ".join(row.settings) + place, row.why, row.would_answer or "–")))
    return origin.page(f"What Vertex AI answered in {origin.region}", lines)


def settings(answers: Answers, probes: Iterable[Probe], where: str) -> str:
    """Return the answers as the local cloud's `settings.toml`; answers that set nothing are comments."""
    plain, tables, silent = [], [], []
    for probe in probes:
        answer = answers.get(probe.id)
        found = answer.settings if answer else {}
        for name, value in found.items():
            _, _, rest = name.partition(".")
            if rest:
                tables.append(f"{json.dumps(rest)} = {_toml(value)}")
            else:
                plain += [f"# {_line(answer.answer if answer else '')}", f"{name} = {_toml(value)}"]
        for name in probe.settings:
            if not any(one.partition(".")[0] == name for one in found):
                silent.append(f"# {name}: {_line(answer.answer if answer else 'not asked yet')}")
    head = [f"# What {where} answered, for the local cloud's settings.toml; made by make verify-cloud.", ""]
    parts = [*head, *plain, *(["", "# Not told, so the local cloud's defaults hold:", *silent] if silent else [])]
    return "\n".join([*parts, *(["", "[quota]", *tables] if tables else [])]) + "\n"


def _toml(value: Value) -> str:
    return json.dumps(value)


def _line(text: str) -> str:
    """Return the text on one line, since a line break ends a comment."""
    return " ".join(text.split())


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(_line(cell).replace('|', chr(92) + '|') for cell in cells)} |"
