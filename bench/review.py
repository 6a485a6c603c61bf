"""The review of a preview's output: the time that it adds to the preview, with 1,000 jobs of the last 30 days to read;
and many events against few, as each may take no longer for being one of many; and many pools and templates against a
tenth of them.
"""

from __future__ import annotations

import json
import sys
import time
import timeit
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
from slipway.model.facts import Facts
from slipway.reviewing.change import reading
from slipway.reviewing.change.change import Change
from slipway.reviewing.render.comment import comment
from slipway.reviewing.reviewer import review as reviewed
from tests.builders.catalogs import offer, request, template, worker_pool
from tests.builders.clusters import cluster, living
from tests.builders.jobs import job
from tests.builders.pools import CPU, HEAD, pool
from tests.slipway.reviewing.builders import change, facts

JOBS = 1000
_SLIPWAY = str(Path(sys.executable).with_name("slipway"))
_BAR_S = 1.0
_FEW, _MANY, _BAR_EACH = 500, 4000, 1.5
_POOLS, _TEMPLATES, _TENTH, _A_CLUSTER, _BAR_SCALE = 200, 1000, 10, 4, 1.2
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


def many_things(ground: Ground, runs: int, tell: Tell) -> list[Result]:
    """Return a tenth of the processor's seconds for a change of many pools and templates, and those for a tenth of
    them."""

    def each(pools: int, templates: int) -> float:
        before, after = (_stack(pools, templates, edited=edited) for edited in (False, True))
        clusters = [living(each) for each in before.catalog.clusters.values()]
        jobs = [
            job(f"j{number}", template=f"t{number % templates:04}", on=clusters[number % len(clusters)].id)
            for number in range(templates)
        ]

        def once() -> float:
            # A change knows what was computed of it before.
            fresh: Change = change(before, after, clusters=clusters, jobs=jobs)
            seconds = timeit.timeit(lambda: comment((reviewed(fresh),)), timer=time.process_time, number=1)
            found = len(reviewed(fresh).findings)
            if found < templates // 2:
                raise BenchError(f"{templates} templates have {found} findings")
            return seconds

        return measure.median(runs, once, tell)

    few = each(_POOLS // _TENTH, _TEMPLATES // _TENTH)
    return [Result("review-scale", each(_POOLS, _TEMPLATES) / _TENTH, few, _BAR_SCALE)]


def _stack(pools: int, templates: int, *, edited: bool) -> Facts:
    """Return a stack of four pools a cluster, and templates by turns on the clusters. Every other pool and template is
    edited."""
    names = [f"c{number:03}" for number in range(pools // _A_CLUSTER)]
    clusters = [
        cluster(name, *(pool(f"p{place}", CPU, 1, 6 if edited and place % 2 else 4) for place in range(_A_CLUSTER)))
        for name in names
    ]
    listed = [
        template(
            f"t{number:04}",
            *(
                offer(
                    type_,
                    cluster=names[number % len(names)],
                    pools=("p0",),
                    request=request(
                        worker_pool(CPU, args=(f"--seed={number + (edited and number % 2)}",)),
                        worker_pool(HEAD),
                        template=f"t{number:04}",
                        capacity_type=type_,
                    ),
                )
                for type_ in ("pool", "spot")
            ),
        )
        for number in range(templates)
    ]
    members = [f"user:u{number}@acme.example" for number in range(templates // 10)]
    return facts(*clusters, *listed, members=members[edited:])
