"""docs/reliability.md: what was played, and what became of it. Made from the journal, and read again by its test."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace

from bench.faults.journal import Entry
from bench.faults.points import FAULTS, Point, named

OUTCOMES = ("survived", "lost", "doubled", "orphaned", "killed", "stuck", "other", "silent", "absent")
MUTANTS = ("noticed", "missed", "never-met", "unclear")
WANTED_SEQUENCES = 500

_INTRO = """# What it survives

Made by `make bench-faults`, never by hand: {date}, commit `{commit}`, seed {seed}. How it is
played: [testing.md](testing.md#the-bench-for-faults). What went well, call by call: [points.csv](played/points.csv).

A *point* is a call of a clean run and what happens to the world at it. The command runs into it, then the same command
is typed again, and all must be as after the clean run. What was *tried* was played with the code as it is; what was
played with *earlier* code alone, and how much of it survived *then*, is counted separately. *Same* are points that are
the same as another, which is played for both: the engine begins by refreshing what it knows, and several resources then
read one policy with the same request; and a request that changes nothing leaves the world and its caller the same
whether it is cut before or its answer is lost, when nothing gets through any more. They are not among those that were
tried. All others are still to be played.

A *kind* of points is what may happen to one call of a journey, however often that call comes in it. Each kind is tried
once before any is tried a second time, so *kinds tried* says how much of what differs was met.

| outcome | of a point that was tried |
|---|---|
| survived | all is as after the clean run, and the first error said what to do (or when it looks again) |
| lost | a job that was asked for is not there |
| doubled | its code ran twice |
| orphaned | a cluster lives that no state knows |
| killed | a job that ran does not run any more |
| stuck | the same command does not come through |
| other | something else differs |
| silent | all is as it should be, but the first error did not say what to do |
| absent | its call did not come, or there was nothing to kill: nothing was tried, and all is as it should be |
"""


@dataclass(frozen=True)
class Report:
    """All that the page says: a row of cells for each row of its tables."""

    date: str
    commit: str
    seed: str
    journeys: tuple[tuple[str, ...], ...]
    faults: tuple[tuple[str, ...], ...]
    failed: tuple[tuple[str, ...], ...]
    sequences: tuple[tuple[str, ...], ...]
    broken: tuple[tuple[str, ...], ...]
    mutants: tuple[tuple[str, ...], ...]
    holes: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Row:
    """A journey, the digest of the code that its command can run, how many points its clean run has, and how many of
    them are the `same` as others; the `kinds` of all the others."""

    journey: str
    code: str
    points: int
    same: int
    kinds: frozenset[str]


@dataclass(frozen=True)
class Record:
    """What was played of a kind, by key: with the code as it is `now`, and what was with `earlier` code alone."""

    now: Mapping[str, Entry]
    earlier: Mapping[str, Entry]


def record(now: Mapping[str, Entry], earlier: Mapping[str, Entry], asked: Collection[str]) -> Record:
    """Of what is asked for: there may be entries of points, or of rules, that are there no more."""
    return Record(*({key: one for key, one in each.items() if key in asked} for each in (now, earlier)))


def folded(entries: Mapping[str, Entry], same: Mapping[str, Point]) -> dict[str, Entry]:
    """With what was played of points that are the same as others as the outcome of those; trouble outweighs."""
    found: dict[str, Entry] = {}
    for entry in sorted(entries.values(), key=lambda one: one.outcome not in ("survived", "absent")):
        key = same[entry.key].key if entry.key in same else entry.key
        found[key] = replace(entry, key=key)
    return found


_THEN = ("earlier", "survived then")
_KINDS = ("kinds", "kinds tried")
_TABLES: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "journeys": ("## Points, by journey", ("journey", "code", "points", "same", "tried", *OUTCOMES, *_THEN, *_KINDS)),
    "faults": ("## Points, by what happens", ("fault", "tried", *OUTCOMES, *_THEN)),
    "failed": ("## Not survived", ("point", "code", "outcome", "why")),
    "sequences": (
        "## Random edits with jobs running",
        ("wanted", "played", "steps", "refused in words", "broken", "earlier", "held then"),
    ),
    "broken": ("## Sequences that broke a rule", ("seed", "code", "what")),
    "mutants": ("## Mutants of the local cloud", ("rules", "played", *MUTANTS, "earlier", "noticed then")),
    "holes": ("## Rules that no test notices", ("rule", "code", "outcome")),
}
_NOTES = {
    "faults": "\n".join(f"- `{name}`: {words}" for name, words in FAULTS.items()),
    "sequences": """Clusters are added, removed and renamed, their bounds, machines, generations and seasons edited,
while jobs run. After each step no job was killed, every cluster is known to the state, and what was idle and retiring
before has gone, unless the edit took it back. At the end one deployment leaves what the file asks for, and a
destruction leaves nothing.""",
    "mutants": """A mutant is the local cloud with one of its rules switched off. *Noticed*: a test fails. *Never met*:
none of the tests that were run meets the rule; they are those of `tests/local/cloud` that are no journeys. *Unclear*:
the test fails with the rule on as well.""",
}


def render(report: Report) -> str:
    parts = [_INTRO.format(date=report.date, commit=report.commit, seed=report.seed)]
    for name, (heading, head) in _TABLES.items():
        rows = getattr(report, name)
        note = f"{_NOTES[name]}\n\n" if name in _NOTES else ""
        lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}", *(f"| {' | '.join(row)} |" for row in rows)]
        parts.append(f"{heading}\n\n{note}" + ("\n".join(lines) if rows else "None.") + "\n")
    return "\n".join(parts)


def parse(text: str) -> Report:
    """The report of a page. Raises ValueError when it is not of this form."""
    found = re.search(r": (\S+), commit `(\S+)`, seed (\S+)\. How\s", text)
    if not found:
        raise ValueError("the page does not say of which date, commit and seed it is")
    tables: dict[str, tuple[tuple[str, ...], ...]] = {}
    for name, (heading, _) in _TABLES.items():
        _, there, rest = text.partition(f"\n{heading}\n")
        if not there:
            raise ValueError(f"there is no {heading!r}")
        lines = [line for line in rest.partition("\n## ")[0].splitlines() if line.startswith("|")][2:]
        tables[name] = tuple(tuple(cell.strip() for cell in line.strip("|").split(" | ")) for line in lines)
    date, commit, seed = found.groups()
    journeys, faults, failed, sequences, broken, mutants, holes = (tables[name] for name in _TABLES)
    return Report(date, commit, seed, journeys, faults, failed, sequences, broken, mutants, holes)


def report(
    dated: tuple[str, str, str], journeys: Iterable[Row], points: Record, sequences: Record, mutants: Record, rules: int
) -> Report:
    """What the journal's entries come to. `dated` is date, commit and seed."""
    every = list(journeys)
    kinds = frozenset(kind for row in every for kind in row.kinds)
    whole = Row("all", "–", sum(row.points for row in every), sum(row.same for row in every), kinds)
    rows = [_journey(row, f"`{row.code}`", _of(points, 0, row.journey)) for row in every]
    outcomes = Counter(entry.outcome for entry in mutants.now.values())
    steps, refused = (sum(int(one.more[key]) for one in sequences.now.values()) for key in ("steps", "refused"))
    broken = sum(one.outcome != "held" for one in sequences.now.values())
    played = (str(len(sequences.now)), str(steps), str(refused), str(broken))
    return Report(
        *dated,
        (*rows, _journey(whole, whole.code, points)),
        tuple(_row((name,), _of(points, 3, name)) for name in FAULTS),
        tuple(
            (_cell(one.key), code, one.outcome, _cell(one.more["why"]))
            for code, one in _bad(points, "survived", "absent")
        ),
        ((str(WANTED_SEQUENCES), *played, *_earlier(sequences, "held")),),
        tuple((one.key, code, _cell(one.more["why"])) for code, one in _bad(sequences, "held")),
        (
            (
                str(rules),
                str(len(mutants.now)),
                *(str(outcomes[name]) for name in MUTANTS),
                *_earlier(mutants, "noticed"),
            ),
        ),
        tuple((_cell(one.key), code, one.outcome) for code, one in _bad(mutants, "noticed")),
    )


def _journey(row: Row, code: str, points: Record) -> tuple[str, ...]:
    tried = {named(key).kind for key, entry in points.now.items() if entry.outcome != "absent"} & row.kinds
    head = (row.journey, code, str(row.points), str(row.same))
    return (*_row(head, points), str(len(row.kinds)), str(len(tried)))


def _row(head: tuple[str, ...], points: Record) -> tuple[str, ...]:
    counted = Counter(entry.outcome for entry in points.now.values())
    return (*head, str(len(points.now)), *(str(counted[name]) for name in OUTCOMES), *_earlier(points, "survived"))


def _earlier(played: Record, good: str) -> tuple[str, str]:
    return str(len(played.earlier)), str(sum(one.outcome == good for one in played.earlier.values()))


def _of(points: Record, part: int, name: str) -> Record:
    """The points whose key has this name as its journey (0) or its fault (3)."""
    keys = {key for key in (*points.now, *points.earlier) if key.split(" · ")[part] == name}
    return record(points.now, points.earlier, keys)


def _bad(played: Record, *good: str) -> list[tuple[str, Entry]]:
    """In the order of their keys, each with the code that it was played with: this, or earlier."""
    both = (("this", played.now), ("earlier", played.earlier))
    return [
        (code, one) for code, entries in both for one in sorted(entries.values(), key=_key) if one.outcome not in good
    ]


def _key(entry: Entry) -> str:
    return entry.key


def _cell(text: str) -> str:
    line = " ".join(text.split()).replace("|", "/")
    return f"`{line[:200].replace('`', '')}`" if line else "–"
