"""`python -m bench.faults [points|sequences|mutants|page]`: plays what was not played yet, and writes the page."""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import closing
from datetime import UTC, datetime

from bench.errors import BenchError
from bench.faults import guards, mutants, page, points, sequences
from bench.faults.journal import Entry, Journal
from bench.faults.journeys import JOURNEYS, Journey
from bench.faults.judged import Codes
from bench.faults.play import Clean, Played, Player, clean_of
from bench.faults.points import Point
from bench.faults.side_by_side import Crowd, Lane
from bench.faults.stage import Workshop, workshop
from bench.ground import CHECKOUT

PAGE = CHECKOUT / "docs" / "reliability.md"
PLAYED = CHECKOUT / "docs" / "played"
JOURNAL = CHECKOUT / ".slipway" / "bench-faults.jsonl"
_WHOLE = ("points", "sequences", "mutants")


def main(arguments: Sequence[str]) -> int:
    chosen = _parser().parse_args(arguments)
    codes = Codes(CHECKOUT, {journey.name: journey.command for journey in JOURNEYS})
    journal = Journal(JOURNAL, codes, PLAYED)
    bad = 0
    try:
        for what in _WHOLE if chosen.what == "all" else (chosen.what,):
            bad += _PLAYED[what](chosen, journal)
    except BenchError as error:
        tell(f"error: the bench can't go on\n  why: {error}\n  fix: mend that and run the same command again")
        bad += 1
    finally:  # Also of a run that is interrupted.
        journal.keep()
        PAGE.write_text(page.render(_report(journal, codes, chosen.seed)), encoding="utf-8")
    tell(f"{bad} did not go well; {PAGE.relative_to(CHECKOUT)} has all")
    return 1 if bad else 0


def _parser() -> argparse.ArgumentParser:
    names = [journey.name for journey in JOURNEYS]
    parser = argparse.ArgumentParser(prog="python -m bench.faults", description=__doc__)
    parser.add_argument("what", choices=(*_WHOLE, "page", "all"), nargs="?", default="all")
    parser.add_argument("--only", metavar="JOURNEY", action="append", choices=names, help=f"one of {', '.join(names)}")
    parser.add_argument("--fault", metavar="FAULT", action="append", choices=list(points.FAULTS), help="only this one")
    parser.add_argument("--point", metavar="KEY", action="append", help="this one, as the page has it, once more")
    parser.add_argument("--rule", metavar="PATTERN", action="append", help="a mutant of this one, as in 'storage/*'")
    parser.add_argument("--seed", type=int, default=11, help="the order of the points, and the first sequence (11)")
    parser.add_argument("--limit", type=int, default=0, metavar="N", help="play so many of each and end")
    parser.add_argument("--minutes", type=float, default=0.0, metavar="M", help="begin nothing new after so long")
    parser.add_argument("--again", action="store_true", help="play what did not go well once more")
    parser.add_argument("--workers", type=int, default=0, metavar="N", help="so many at once of each sort")
    return parser


def _points(chosen: argparse.Namespace, journal: Journal) -> int:
    try:
        named = [points.named(key) for key in chosen.point or ()]
    except ValueError as error:
        raise BenchError(str(error)) from error
    only = {*(chosen.only or ()), *(point.journey for point in named)}
    journeys = [journey for journey in JOURNEYS if not only or journey.name in only]
    kept = journal.entries("cleans")
    cleans = {one.name: clean_of(one, kept[one.name]) for one in journeys if one.name in kept}
    with (
        workshop() as shop,
        closing(Crowd(chosen.minutes, lambda name: _OfPoints(shop, name, cleans, journal), shop.halt, tell)) as crowd,
    ):
        bad = crowd.play(*_lanes([one for one in journeys if one.name not in cleans], chosen.workers))
        left = _wanted(chosen, journal, cleans, named)
        lanes = _lanes(left, chosen.workers)
        every, kinds = (sum(len(getattr(clean, of)) for clean in cleans.values()) for of in ("played", "kinds"))
        takes = max(
            sum(cleans[one.journey].seconds * 2 + 2 for one in _points_of(lane)) / lane.workers for lane in lanes
        )
        tell(f"{every} points of {kinds} kinds; {len(left)} are played now, which takes some {takes / 60:.0f} min")
        return bad + crowd.play(*lanes)


def _wanted(
    chosen: argparse.Namespace, journal: Journal, cleans: Mapping[str, Clean], named: Sequence[Point]
) -> list[Point]:
    """The points to play now, in their order. Raises BenchError for one that there is not."""
    every = {point.key: point for clean in cleans.values() for point in clean.points}
    same = {key: point for clean in cleans.values() for key, point in clean.same.items()}
    if named:
        if gone := [point.key for point in named if point.key not in every]:
            raise BenchError(f"no clean run has this point: {gone[0]}")
        return [same.get(point.key, point) for point in named]
    done = page.folded(_done(chosen, journal, "points"), same)
    tried = [key for key, entry in done.items() if key in every and entry.outcome != "absent"]
    wanted = [one for one in every.values() if not chosen.fault or one.fault in chosen.fault]
    left = [one for one in wanted if one.key not in done and one.key not in same]
    ordered = points.drawn(left, chosen.seed, tried)
    return ordered[: chosen.limit] if chosen.limit else ordered


def _lanes(tasks: Sequence[Journey | Point], workers: int) -> list[Lane[Journey | Point]]:
    """What the engine runs computes, what `slipway submit` runs waits: each has workers of its own."""
    of_engine = {True: list[Journey | Point](), False: list[Journey | Point]()}
    for task in tasks:
        journey = task if isinstance(task, Journey) else _named(task.journey)
        of_engine[journey.engine].append(task)
    cores = os.cpu_count() or 1
    return [
        Lane("engine", of_engine[True], workers or cores),
        Lane("cli", of_engine[False], workers or 2 * cores),
    ]


def _points_of(lane: Lane[Journey | Point]) -> list[Point]:
    return [task for task in lane.tasks if isinstance(task, Point)]


class _OfPoints:
    """Plays points, and the clean runs that they are held against."""

    def __init__(self, shop: Workshop, name: str, cleans: dict[str, Clean], journal: Journal) -> None:
        self._player, self._cleans, self._journal = Player(shop, name), cleans, journal

    def play(self, task: Journey | Point) -> tuple[bool, str]:
        if isinstance(task, Journey):
            return True, self._clean(task)
        played = self._player.play(self._cleans[task.journey], task)
        self._journal.add(_entry(played))
        good = played.outcome in ("survived", "absent")
        return good, f"{played.outcome}  {task.key}  {played.seconds:.0f} s  {played.why}"

    def _clean(self, journey: Journey) -> str:
        clean = self._cleans[journey.name] = self._player.clean(journey)
        self._journal.add(clean.entry)
        counted = f"{len(clean.calls)} calls, {len(clean.played)} points, {len(clean.same)} the same as others"
        return f"{journey.name}: {counted}, {clean.seconds:.1f} s a clean run"

    def close(self) -> None:
        self._player.close()


def _entry(played: Played) -> Entry:
    more = {"why": played.why, "runs": played.runs, "reached": played.reached, "seconds": round(played.seconds, 1)}
    return Entry("points", played.point.key, played.outcome, {**more, "first": played.first[-6000:]})


def _sequences(chosen: argparse.Namespace, journal: Journal) -> int:
    done = _done(chosen, journal, "sequences")
    seeds = range(chosen.seed, chosen.seed + page.WANTED_SEQUENCES)
    left = [seed for seed in seeds if str(seed) not in done]
    left = left[: chosen.limit] if chosen.limit else left
    lane = Lane("engine", left, chosen.workers or os.cpu_count() or 1)
    tell(f"{len(left)} sequences are played now, which takes some {len(left) * 25 / 60 / lane.workers:.0f} min")
    with (
        workshop() as shop,
        closing(Crowd(chosen.minutes, lambda name: _OfSequences(shop, name, journal), shop.halt, tell)) as crowd,
    ):
        return crowd.play(lane)


class _OfSequences:
    def __init__(self, shop: Workshop, name: str, journal: Journal) -> None:
        self._player, self._journal = Player(shop, name), journal

    def play(self, task: int) -> tuple[bool, str]:
        played = sequences.play(self._player.stage("empty"), task)
        why = "; ".join(played.broken)
        more = {"why": why, "steps": played.steps, "refused": played.refused, "seconds": round(played.seconds, 1)}
        outcome = "broken" if played.broken else "held"
        self._journal.add(Entry("sequences", str(task), outcome, more))
        return not played.broken, f"{outcome}  seed {task}, {played.steps} steps  {played.seconds:.0f} s  {why}"

    def close(self) -> None:
        self._player.close()


def _mutants(chosen: argparse.Namespace, journal: Journal) -> int:
    done = _done(chosen, journal, "mutants")
    wanted = mutants.chosen(guards.rules(CHECKOUT), done, chosen.rule or (), chosen.limit)
    return mutants.play(journal, wanted, chosen.minutes, tell)


def _nothing(chosen: argparse.Namespace, journal: Journal) -> int:
    return 0


_PLAYED = {"points": _points, "sequences": _sequences, "mutants": _mutants, "page": _nothing}


def _done(chosen: argparse.Namespace, journal: Journal, kind: str) -> dict[str, Entry]:
    """What need not be played any more."""
    good = ("survived", "held", "noticed")
    return {key: one for key, one in journal.entries(kind).items() if not chosen.again or one.outcome in good}


def _report(journal: Journal, codes: Codes, seed: int) -> page.Report:
    done = subprocess.run(["git", "rev-parse", "--short=12", "HEAD"], cwd=CHECKOUT, capture_output=True, text=True)
    dated = (datetime.now(UTC).date().isoformat(), done.stdout.strip() or "unknown", str(seed))
    names = [journey.name for journey in JOURNEYS]
    known = {**journal.earlier("cleans"), **journal.entries("cleans")}
    cleans = {name: clean for name, clean in known.items() if "run" in clean.more}  # Earlier benches kept no run.
    runs = {name: clean_of(_named(name), cleans[name]) for name in names if name in cleans}
    same = {key: point for clean in runs.values() for key, point in clean.same.items()}
    rules = {rule.id for rule in guards.rules(CHECKOUT)}
    asked = {
        "points": {point.key for clean in runs.values() for point in clean.played},
        "sequences": {str(one) for one in range(seed, seed + page.WANTED_SEQUENCES)},
        "mutants": rules,
    }
    played = {
        kind: page.record(page.folded(journal.entries(kind), same), page.folded(journal.earlier(kind), same), keys)
        for kind, keys in asked.items()
    }
    journeys = [
        page.Row(name, codes("points", name), len(clean.points), len(clean.same), clean.kinds)
        for name, clean in runs.items()
    ]
    return page.report(dated, journeys, played["points"], played["sequences"], played["mutants"], len(rules))


def _named(name: str) -> Journey:
    return next(journey for journey in JOURNEYS if journey.name == name)


def tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _listen() -> None:
    """Ctrl-C and its like end what is done, and a second one ends that too; a third finds that under way."""
    left = iter(range(2))

    def end(signum: int, frame: object) -> None:
        if next(left, None) is not None:
            sys.exit(128 + signum)

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, end)


if __name__ == "__main__":
    _listen()
    sys.exit(main(sys.argv[1:]))
