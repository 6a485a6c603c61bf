"""The report on one commit: a line of JSON for each played thing, and a page of them at the end.

A run that ends early, or is killed, is continued by the next one of the same commit.
"""

from __future__ import annotations

import json
import subprocess
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any

from bench.faults.points import FAULTS, named
from bench.ground import CHECKOUT

OUTCOMES = ("survived", "lost", "doubled", "orphaned", "killed", "stuck", "other", "silent", "absent")
MUTANTS = ("noticed", "missed", "never-met", "unclear")
GOOD = frozenset({"survived", "absent", "held", "noticed", "clean"})


@dataclass(frozen=True)
class Entry:
    """An entry. `part` is cleans, points, sequences or mutants; `key` is the played thing, `outcome` a word, `why` the
    failure or the way it was noticed, `more` other data of the part."""

    part: str
    key: str
    outcome: str
    why: str = ""
    more: Mapping[str, Any] = field(default_factory=dict)


class Report:
    """The report: `COMMIT.jsonl` and `COMMIT.md` in a folder."""

    def __init__(self, folder: Path, commit: str, organisation: str = "") -> None:
        """Begin anew where there are changes without a commit. `organisation`: the policies that hold."""
        folder.mkdir(parents=True, exist_ok=True)
        name = f"{commit}-{organisation}" if organisation else commit
        self.commit, self.page = commit, folder / f"{name}.md"
        self._lines, self._lock = folder / f"{name}.jsonl", Lock()
        if commit.endswith("-dirty"):
            self._lines.unlink(missing_ok=True)
        elif self._lines.exists() and not self._lines.read_bytes().endswith(b"\n"):
            self._write("")  # A run was killed in the middle of its last line.

    def add(self, entry: Entry) -> None:
        self._write(json.dumps(asdict(entry), ensure_ascii=False))

    def _write(self, line: str) -> None:
        with self._lock, self._lines.open("a", encoding="utf-8") as file:
            file.write(f"{line}\n")

    def entries(self, part: str) -> dict[str, Entry]:
        """Return the last entry of each key."""
        found = {}
        for line in self._lines.read_text(encoding="utf-8").splitlines() if self._lines.exists() else ():
            try:
                entry = Entry(**json.loads(line))
            except ValueError:
                continue
            if entry.part == part:
                found[entry.key] = entry
        return found

    def done(self, part: str) -> set[str]:
        """Return the keys that went well, which need not be played again."""
        return {key for key, entry in self.entries(part).items() if entry.outcome in GOOD}

    def write(self, played: str) -> None:
        """Write the page. `played` says when and how, in a sentence."""
        parts = {part: self.entries(part) for part in ("cleans", "points", "sequences", "mutants")}
        self.page.write_text("\n\n".join([f"# Faults played at `{self.commit}`", played, *_tables(**parts)]) + "\n")


def commit() -> str:
    """Return the commit that is checked out, with `-dirty` where there are changes beside it."""
    words = ("git", "describe", "--always", "--abbrev=12", "--exclude=*", "--dirty")
    return subprocess.run(words, cwd=CHECKOUT, capture_output=True, text=True).stdout.strip() or "unknown-dirty"


def _tables(
    cleans: Mapping[str, Entry],
    points: Mapping[str, Entry],
    sequences: Mapping[str, Entry],
    mutants: Mapping[str, Entry],
) -> Iterable[str]:
    found = {named(key): entry for key, entry in points.items()}
    rows = []
    for name, clean in cleans.items():
        mine = {point: entry for point, entry in found.items() if point.journey == name}
        kinds = {point.kind for point, entry in mine.items() if entry.outcome != "absent"}
        rows.append((name, clean.more["points"], clean.more["kinds"], len(kinds), *_counted(mine.values(), OUTCOMES)))
    rows.append(("all", *(sum(row[column] for row in rows) for column in range(1, 4 + len(OUTCOMES)))))
    yield _table("Points, by journey", ("journey", "points", "kinds", "kinds tried", *OUTCOMES), rows)
    faults = [
        (name, words, *_counted((entry for point, entry in found.items() if point.fault == name), OUTCOMES))
        for name, words in FAULTS.items()
    ]
    yield _table("Points, by fault", ("fault", "what happens at a call", *OUTCOMES), faults)
    steps, refused = (sum(one.more[key] for one in sequences.values()) for key in ("steps", "refused"))
    held = sum(one.outcome == "held" for one in sequences.values())
    head = ("sequences", "steps", "refused with a word on what to do", "held")
    yield _table("Random edits with jobs running", head, [(len(sequences), steps, refused, held)])
    yield _table("Mutants of the local cloud", MUTANTS, [_counted(mutants.values(), MUTANTS)])
    bad = [
        (entry.part, entry.key, entry.outcome, entry.why)
        for entry in (*points.values(), *sequences.values(), *mutants.values())
        if entry.outcome not in GOOD
    ]
    yield _table("What did not go well", ("part", "key", "outcome", "why"), bad)


def _counted(entries: Iterable[Entry], outcomes: Iterable[str]) -> tuple[int, ...]:
    counted = Counter(entry.outcome for entry in entries)
    return tuple(counted[name] for name in outcomes)


def _table(heading: str, head: tuple[str, ...], rows: Iterable[tuple[object, ...]]) -> str:
    cells = [[" ".join(str(cell).replace("|", "/").split())[:200] for cell in row] for row in rows]
    lines = [f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *cells)]
    return f"## {heading}\n\n" + "\n".join(lines if cells else ["None."])
