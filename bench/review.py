"""The review of a preview's output: the time that it adds to the preview, with 1,000 jobs of the last 30 days to read;
and many events against few, as each may take no longer for being one of many."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from bench import measure
from bench.errors import BenchError
from bench.ground import CHECKOUT, STACK, Ground, Tell
from bench.result import Result, absolute
from bench.submit import Submitter
from bench.sweep import COUNT, end_all, swept
from slipway.deploying.engine.events import STREAMING, read
from slipway.reviewing.change import reading
from slipway.reviewing.review import review as reviewed
from slipway.reviewing.told.comment import comment

JOBS = 1000
_SLIPWAY = str(Path(sys.executable).with_name("slipway"))
_BAR_S = 1.0
_FEW, _MANY, _BAR_EACH = 500, 4000, 1.5
_TYPES = ("gcp:storage/bucket:Bucket", "gcp:projects/iAMMember:IAMMember", "gcp:bigquery/dataset:Dataset")
_NOW = datetime(2026, 11, 23, tzinfo=UTC)


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

    def once() -> float:
        sample = measure.run([_SLIPWAY, "review", str(events)], environ, ground.folder)
        if "nothing changes" not in sample.output:
            raise BenchError(f"an unchanged stack is reviewed as\n{sample.output}")
        return sample.seconds

    return [absolute("review", measure.median(runs, once, tell), _BAR_S)]


def many_events(ground: Ground, runs: int, tell: Tell) -> list[Result]:
    """Return the seconds for an event of a preview with many of them, and with few: read, reviewed and written as a
    comment."""

    def each(count: int) -> float:
        lines = tuple(_events(count))

        def once() -> float:
            began = time.perf_counter()
            preview = read(lines)
            told = comment((reviewed(reading.change(preview, None, _NOW, stack="prod")),))
            seconds = time.perf_counter() - began
            if f"{count} steps" not in told and "too long" not in told:
                raise BenchError(f"{count} events are reviewed as\n{told[:1000]}")
            return seconds

        return measure.median(runs, once, tell) / count

    return [Result("review-many-events", each(_MANY), each(_FEW), _BAR_EACH)]


def _events(count: int) -> Iterator[str]:
    """Yield deleted resources of several types, each with an event before and after, as the engine writes them."""
    for number in range(count):
        type_, name = _TYPES[number % len(_TYPES)], f"r{number}"
        inputs = {"name": name, "member": f"user:u{number}@acme.example", "role": "roles/viewer", "project": "acme"}
        told = {
            "op": "delete",
            "urn": f"urn:pulumi:prod::slipway::{type_}::{name}",
            "old": {"inputs": inputs, "outputs": inputs, "custom": True, "id": name},
        }
        yield json.dumps({"resourcePreEvent": {"metadata": told}})
        yield json.dumps({"resOutputsEvent": {"metadata": told}})
    yield json.dumps({"summaryEvent": {"result": "succeeded"}})
