"""Reviewing what a preview wrote, with 1,000 jobs of the last 30 days to look at: what it adds to the preview."""

from __future__ import annotations

import sys
from pathlib import Path

from bench import measure
from bench.errors import BenchError
from bench.ground import CHECKOUT, STACK, Ground, Tell
from bench.result import Result, absolute
from bench.submit import Submitter
from bench.sweep import COUNT, end_all, swept
from slipway.review.events import STREAMING

JOBS = 1000
_SLIPWAY = str(Path(sys.executable).with_name("slipway"))
_BAR_S = 1.0


def review(ground: Ground, runs: int, tell: Tell) -> list[Result]:
    submitter = Submitter(ground)
    try:
        for _ in range(JOBS // COUNT):
            swept(submitter, tell, "0")
    finally:
        end_all(submitter)
    environ, events = ground.deployed.role("previewer"), ground.folder / "events.jsonl"
    command = ["pulumi", "preview", "--json", "--stack", STACK, "--non-interactive"]
    events.write_text(measure.run(command, {**environ, **STREAMING}, CHECKOUT).output)

    def reviewed() -> float:
        sample = measure.run([_SLIPWAY, "review", str(events)], environ, ground.folder)
        if "nothing changes" not in sample.output:
            raise BenchError(f"an unchanged stack is reviewed as\n{sample.output}")
        return sample.seconds

    return [absolute("review", measure.median(runs, reviewed, tell), _BAR_S)]
