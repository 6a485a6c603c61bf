"""The command `python -m bench [--only NAME] [--runs N]`: one JSON line per result on stdout, progress on stderr."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bench import (
    board,
    inputs,
    listing,
    pool,
    preview,
    results,
    review,
    scale,
    session,
    startup,
    submit,
    sweep,
    what_if,
)
from bench.errors import BenchError
from bench.ground import Ground, Tell
from bench.result import NotMeasured, Result
from slipway.base.standard_output import exit_after


@dataclass(frozen=True)
class Benchmark:
    """A benchmark. `names` are the results that `measure(ground, runs, tell)` returns, in this order."""

    names: tuple[str, ...]
    measure: Callable[[Ground, int, Tell], list[Result]]


BENCHMARKS = (
    Benchmark(("help",), startup.help_text),
    Benchmark(("local-cloud-start",), startup.local_cloud),
    Benchmark(("submit-vs-sdk", "submit"), submit.submit),
    Benchmark(("submit-vs-by-hand",), submit.by_hand),
    Benchmark(("submit-memory",), submit.memory),
    Benchmark(("submit-round-trips",), submit.round_trips),
    # Before others send thousands of jobs, all of which the local cloud looks at where Vertex AI has an index.
    Benchmark(("review",), review.review),
    Benchmark(("sweep-vs-sdk-loop", "sweep-vs-sdk-threads"), sweep.versus_sdk),
    Benchmark(("sweep-rate", "sweep-rate-calls"), sweep.rate),
    Benchmark(("start-warm-vs-first", "start-pool-vs-own"), pool.starts),
    Benchmark(("pool-elastic",), pool.elastic),
    Benchmark(("inputs-vs-mount",), inputs.copied),
    Benchmark(("results-vs-single", "results-small"), results.kept),
    Benchmark(("session", "session-preloaded", "session-vs-submit"), session.first_lines),
    Benchmark(("preview-vs-bare",), preview.preview),
    Benchmark(("preview-of-components",), preview.of_components),
    Benchmark(("stack-scale",), scale.preview),
    Benchmark(("review-many-events",), review.many_events),
    Benchmark(("review-scale",), review.many_things),
    Benchmark(("what-if-10000",), what_if.speed),
    Benchmark(("what-if-error",), what_if.error),
    Benchmark(("board", "board-size"), board.page),
    Benchmark(("list-10000",), listing.pages),
)


def main(arguments: list[str]) -> int:
    names = [name for benchmark in BENCHMARKS for name in benchmark.names]
    parser = argparse.ArgumentParser(
        prog="python -m bench", description="Measure the bars; exit 1 when one is not met."
    )
    parser.add_argument("--only", metavar="NAME", action="append", choices=names, help=f"one of {', '.join(names)}")
    parser.add_argument("--runs", type=_positive, default=5, metavar="N", help="paired runs per benchmark (5)")
    chosen = parser.parse_args(arguments)
    wanted = set(chosen.only or names)
    _warn_when_busy()
    good = True
    with Ground(_tell) as ground:
        for benchmark in BENCHMARKS:
            asked = wanted.intersection(benchmark.names)
            if not asked:
                continue
            _tell(" · ".join(benchmark.names))
            for result in _results(benchmark, ground, chosen.runs):
                if result.name in asked:
                    print(result.line(), flush=True)
                    good = good and result.ok
    return 0 if good else 1


def _results(benchmark: Benchmark, ground: Ground, runs: int) -> Sequence[Result | NotMeasured]:
    """Return a benchmark's results; a failure of any kind is reported, and the other benchmarks go on."""
    try:
        return benchmark.measure(ground, runs, _tell_more)
    except Exception as error:
        if not isinstance(error, BenchError):
            traceback.print_exception(error)
        said = str(error) or type(error).__name__
        _tell(f"error: {' and '.join(benchmark.names)} can't be measured\n  why: {said}")
        return [NotMeasured(name, said) for name in benchmark.names]


def _warn_when_busy() -> None:
    load, cores = os.getloadavg()[0], os.cpu_count() or 1
    if load > cores / 2:
        _tell(f"note: this machine is busy (load {load:.1f} on {cores} cores): absolute times come out longer")


def _end(signum: int, frame: object) -> None:
    sys.exit(128 + signum)


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of runs: 1 or more")
    return int(text)


def _tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _tell_more(line: str) -> None:
    _tell(f"  {line}")


if __name__ == "__main__":
    # As Ctrl-C does: the clouds are stopped on the way out.
    signal.signal(signal.SIGTERM, _end)
    exit_after(lambda: main(sys.argv[1:]))
