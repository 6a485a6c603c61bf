"""`python -m bench.faults [points|sequences|mutants] [--minutes M]`: plays for so long, and writes a report."""

from __future__ import annotations

import argparse
import os
import random
import signal
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack, closing
from datetime import UTC, datetime
from functools import partial
from itertools import count, islice
from pathlib import Path

from bench.errors import BenchError
from bench.faults import mutants, organisation, points, sequences
from bench.faults.journeys import JOURNEYS, Journey
from bench.faults.mutants import MutantPlayer
from bench.faults.play import Clean, Player
from bench.faults.points import Point
from bench.faults.processes import deaf
from bench.faults.report import Entry, Report, commit
from bench.faults.rules import rules
from bench.faults.side_by_side import Crowd, Lane
from bench.faults.workshop import Workshop, workshop
from bench.ground import CHECKOUT
from slipway.base.standard_output import exit_after

REPORTS = CHECKOUT / ".slipway" / "faults"
# Shares of the time left, where all parts are played: time that a part leaves is the next one's.
_SHARES = {"mutants": 1.0, "sequences": 1.0, "points": 2.0}
_SEQUENCES = 500
_CORES = os.cpu_count() or 1


def main(arguments: Sequence[str]) -> int:
    parser = _parser()
    chosen = parser.parse_args(arguments)
    if chosen.organisation and chosen.part not in (None, "points"):
        parser.error("--organisation is for points alone")
    report = Report(REPORTS, commit(), chosen.organisation)
    began, bad = time.monotonic(), 0
    left = [chosen.part] if chosen.part else ["points"] if chosen.organisation else list(_SHARES)
    try:
        while left:
            rest = max(0.0, began + 60 * chosen.minutes - time.monotonic())
            until = time.monotonic() + rest * _SHARES[left[0]] / sum(_SHARES[part] for part in left)
            part = left.pop(0)
            try:
                bad += _PLAY[part](chosen, report, until)
            except BenchError as error:
                tell(f"error: no more {part} can be played\n  why: {error}\n  fix: mend that, and run the same again")
                bad += 1
    finally:  # Also after an interruption.
        with deaf():
            took = (time.monotonic() - began) / 60
            report.write(f"{datetime.now(UTC).date()}, seed {chosen.seed}, {took:.0f} of {chosen.minutes:g} minutes.")
    tell(f"{bad} did not go well; {report.page} has all")
    return 1 if bad else 0


def _parser() -> argparse.ArgumentParser:
    names = [journey.name for journey in JOURNEYS]
    parser = argparse.ArgumentParser(prog="python -m bench.faults", description=__doc__)
    parser.add_argument("part", choices=list(_SHARES), nargs="?", help="only this; else each for a part of the time")
    parser.add_argument("--minutes", type=float, default=60.0, metavar="M", help="the budget (60); inf for all")
    parser.add_argument("--only", metavar="JOURNEY", action="append", choices=names, help=f"one of {', '.join(names)}")
    parser.add_argument("--fault", metavar="FAULT", action="append", choices=list(points.FAULTS), help="only this one")
    parser.add_argument("--point", metavar="KEY", action="append", help="this one, as the report has it")
    said = "points alone, where these policies of an organisation hold"
    parser.add_argument("--organisation", default="", choices=organisation.NAMES, help=said)
    parser.add_argument("--rule", metavar="PATTERN", action="append", help="a mutant of this one, as in 'storage/*'")
    parser.add_argument("--seed", type=int, default=11, help="which are drawn first (11)")
    parser.add_argument("--workers", type=int, default=0, metavar="N", help="so many at once of each sort")
    return parser


def _points(chosen: argparse.Namespace, report: Report, until: float) -> int:
    try:
        named = [points.named(key) for key in chosen.point or ()]
    except ValueError as error:
        raise BenchError(str(error)) from error
    only = {*(chosen.only or ()), *(point.journey for point in named)}
    restrictions = organisation.named(chosen.organisation)
    journeys = [
        journey
        for journey in JOURNEYS
        if (not only or journey.name in only) and restrictions.can_play(journey.file or {})
    ]
    cleans: dict[str, Clean] = {}
    with (
        workshop(restrictions) as shop,
        closing(Crowd(until, lambda name: _OfPoints(shop, name, cleans), shop.halt, report.add, tell)) as crowd,
    ):
        bad = crowd.play(*_lanes(journeys, chosen.workers))
        every = {point.key: point for clean in cleans.values() for point in clean.points}
        if gone := [point.key for point in named if point.key not in every]:
            raise BenchError(f"no clean run has this point: {gone[0]}")
        done = report.done("points")
        wanted = named or [
            point for key, point in every.items() if key not in done and point.fault in (chosen.fault or points.FAULTS)
        ]
        return bad + crowd.play(*_lanes(points.drawn(wanted, chosen.seed, done), chosen.workers))


def _lanes(tasks: Sequence[Journey | Point], workers: int) -> list[Lane[Journey | Point]]:
    """Return lanes. The engine's runs compute, `slipway submit` waits: each kind has workers of its own."""
    of_engine = {True: list[Journey | Point](), False: list[Journey | Point]()}
    for task in tasks:
        journey = task if isinstance(task, Journey) else next(one for one in JOURNEYS if one.name == task.journey)
        of_engine[journey.engine].append(task)
    return [
        Lane("engine", of_engine[True], workers or _CORES),
        Lane("cli", of_engine[False], workers or 2 * _CORES),
    ]


class _OfPoints:
    """A worker that plays points, and the clean runs that they are compared with."""

    def __init__(self, shop: Workshop, name: str, cleans: dict[str, Clean]) -> None:
        self._player, self._cleans = Player(shop, name), cleans

    def play(self, task: Journey | Point) -> Entry:
        if isinstance(task, Point):
            return self._player.play(self._cleans[task.journey], task)
        clean = self._cleans[task.name] = self._player.clean(task)
        return clean.entry

    def close(self) -> None:
        self._player.close()


def _sequences(chosen: argparse.Namespace, report: Report, until: float) -> int:
    done = report.done("sequences")
    left = list(islice((seed for seed in count(chosen.seed) if str(seed) not in done), _SEQUENCES - len(done)))
    with (
        workshop() as shop,
        closing(Crowd(until, partial(_OfSequences, shop), shop.halt, report.add, tell)) as crowd,
    ):
        return crowd.play(Lane("engine", left, chosen.workers or _CORES))


class _OfSequences:
    def __init__(self, shop: Workshop, name: str) -> None:
        self._player = Player(shop, name)

    def play(self, task: int) -> Entry:
        return sequences.play(self._player.stage("empty"), task)

    def close(self) -> None:
        self._player.close()


def _mutants(chosen: argparse.Namespace, report: Report, until: float) -> int:
    wanted = mutants.matching(rules(CHECKOUT), chosen.rule or ())
    left = [rule for rule in wanted if chosen.rule or rule not in report.done("mutants")]
    random.Random(chosen.seed).shuffle(left)
    with ExitStack() as closing_all:
        folder = Path(closing_all.enter_context(tempfile.TemporaryDirectory(prefix="slipway-mutants-"))).resolve()
        tell(f"{len(left)} mutants; every test of the local cloud runs once before, which takes minutes")
        met = mutants.Copy(folder / "all").meetings(until) if left else {}
        if met is None:
            tell("no mutant was played: that took all of their time")
            return 0
        crowd = Crowd(
            until,
            lambda name: MutantPlayer(folder / name, met),
            partial(mutants.end, folder),
            report.add,
            tell,
        )
        closing_all.enter_context(closing(crowd))
        return crowd.play(Lane("mutants", left, chosen.workers or _CORES))


_PLAY = {"mutants": _mutants, "sequences": _sequences, "points": _points}


def tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, _: sys.exit(128 + number))
    exit_after(lambda: main(sys.argv[1:]))
