"""docs/reliability.md: what was played, and what became of it. Made from the journal, and read again by its test."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from bench.faults.journal import Entry
from bench.faults.points import FAULTS

OUTCOMES = ("survived", "lost", "doubled", "orphaned", "killed", "stuck", "other", "silent", "absent")
MUTANTS = ("noticed", "missed", "never-met", "unclear")
WANTED_SEQUENCES = 500

_INTRO = """# What it survives

Made by `make bench-faults`, never by hand: {date}, commit `{commit}`, judged code `{code}`, seed {seed}. How it is
played: [testing.md](testing.md#the-bench-for-faults).

A *point* is a call of a clean run and what happens to the world at it. The command runs into it, then the same command
is typed again, and all must be as after the clean run. Points that were not *tried* are still to be played.

| outcome | of a point that was tried |
|---|---|
| survived | all is as after the clean run, and the first error said what to do |
| lost | a job that was asked for is not there |
| doubled | its code ran twice |
| orphaned | a cluster lives that no state knows |
| killed | a job that ran does not run any more |
| stuck | the same command does not come through |
| other | something else differs |
| silent | all is as it should be, but the first error did not say what to do |
| absent | its call did not come in that run, so nothing was tried; all is as it should be |
"""


@dataclass(frozen=True)
class Report:
    """All that the page says. `journeys` and `faults` have rows of a name, how many points there are, how many were
    tried and the count of each outcome; `failed` are points with their outcome and why."""

    date: str
    commit: str
    code: str
    seed: str
    journeys: tuple[tuple[str, ...], ...]
    faults: tuple[tuple[str, ...], ...]
    failed: tuple[tuple[str, ...], ...]
    sequences: tuple[tuple[str, ...], ...]
    broken: tuple[tuple[str, ...], ...]
    mutants: tuple[tuple[str, ...], ...]
    holes: tuple[tuple[str, ...], ...]


_TABLES: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "journeys": ("## Points, by journey", ("journey", "points", "tried", *OUTCOMES)),
    "faults": ("## Points, by what happens", ("fault", "tried", *OUTCOMES)),
    "failed": ("## Not survived", ("point", "outcome", "why")),
    "sequences": ("## Random edits with jobs running", ("wanted", "played", "steps", "refused in words", "broken")),
    "broken": ("## Sequences that broke a rule", ("seed", "what")),
    "mutants": ("## Mutants of the local cloud", ("rules", "played", *MUTANTS)),
    "holes": ("## Rules that no test notices", ("rule", "outcome")),
}
_NOTES = {
    "faults": "\n".join(f"- `{name}`: {words}" for name, words in FAULTS.items()),
    "sequences": """Clusters are added, removed and renamed, their bounds, machines, generations and seasons edited,
while jobs run. After each step no job was killed, every cluster is known to the state, and what was idle and retiring
before has gone. At the end one deployment leaves what the file asks for, and a destruction leaves nothing.""",
    "mutants": """A mutant is the local cloud with one of its rules switched off. *Noticed*: a test fails. *Never met*:
none of the tests that were run meets the rule; they are those of `tests/local/cloud` that are no journeys. *Unclear*:
the test fails with the rule on as well.""",
}


def render(report: Report) -> str:
    parts = [_INTRO.format(date=report.date, commit=report.commit, code=report.code, seed=report.seed)]
    for name, (heading, head) in _TABLES.items():
        rows = getattr(report, name)
        note = f"{_NOTES[name]}\n\n" if name in _NOTES else ""
        lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}", *(f"| {' | '.join(row)} |" for row in rows)]
        parts.append(f"{heading}\n\n{note}" + ("\n".join(lines) if rows else "None.") + "\n")
    return "\n".join(parts)


def parse(text: str) -> Report:
    """The report of a page. Raises ValueError when it is not of this form."""
    found = re.search(r": (\S+), commit `(\S+)`, judged code `(\S+)`, seed (\S+)\. How\s", text)
    if not found:
        raise ValueError("the page does not say of which date, commit, code and seed it is")
    tables: dict[str, tuple[tuple[str, ...], ...]] = {}
    for name, (heading, _) in _TABLES.items():
        _, there, rest = text.partition(f"\n{heading}\n")
        if not there:
            raise ValueError(f"there is no {heading!r}")
        lines = [line for line in rest.partition("\n## ")[0].splitlines() if line.startswith("|")][2:]
        tables[name] = tuple(tuple(cell.strip() for cell in line.strip("|").split(" | ")) for line in lines)
    date, commit, code, seed = found.groups()
    journeys, faults, failed, sequences, broken, mutants, holes = (tables[name] for name in _TABLES)
    return Report(date, commit, code, seed, journeys, faults, failed, sequences, broken, mutants, holes)


def report(
    dated: tuple[str, str, str, str],
    cleans: Mapping[str, Entry],
    points: Mapping[str, Entry],
    sequences: Mapping[str, Entry],
    mutants: Mapping[str, Entry],
    rules: int,
) -> Report:
    """What the journal's entries come to. `dated` is date, commit, code and seed."""
    journeys = [_row((name, str(clean.more["points"])), _of(points, 0, name)) for name, clean in cleans.items()]
    every = sum(int(clean.more["points"]) for clean in cleans.values())
    journeys.append(_row(("all", str(every)), list(points.values())))
    outcomes = Counter(entry.outcome for entry in mutants.values())
    steps, refused = (sum(int(one.more[key]) for one in sequences.values()) for key in ("steps", "refused"))
    broken = [one for one in sequences.values() if one.outcome != "held"]
    return Report(
        *dated,
        tuple(journeys),
        tuple(_row((name,), _of(points, 3, name)) for name in FAULTS),
        tuple((_cell(entry.key), entry.outcome, _cell(entry.more["why"])) for entry in _failed(points.values())),
        ((str(WANTED_SEQUENCES), str(len(sequences)), str(steps), str(refused), str(len(broken))),),
        tuple((one.key, _cell(one.more["why"])) for one in broken),
        ((str(rules), str(len(mutants)), *(str(outcomes[name]) for name in MUTANTS)),),
        tuple((_cell(one.key), one.outcome) for one in sorted(mutants.values(), key=_key) if one.outcome != "noticed"),
    )


def _row(head: tuple[str, ...], entries: Sequence[Entry]) -> tuple[str, ...]:
    counted = Counter(entry.outcome for entry in entries)
    return (*head, str(len(entries)), *(str(counted[name]) for name in OUTCOMES))


def _of(points: Mapping[str, Entry], part: int, name: str) -> list[Entry]:
    """The points whose key has this name as its journey (0) or its fault (3)."""
    return [entry for key, entry in points.items() if key.split(" · ")[part] == name]


def _failed(entries: Iterable[Entry]) -> list[Entry]:
    return sorted((entry for entry in entries if entry.outcome not in ("survived", "absent")), key=_key)


def _key(entry: Entry) -> str:
    return entry.key


def _cell(text: str) -> str:
    line = " ".join(text.split()).replace("|", "/")
    return f"`{line[:200].replace('`', '')}`" if line else "–"
