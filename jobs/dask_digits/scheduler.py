"""The chief: runs the Dask scheduler, hands out the search, writes the result."""

from __future__ import annotations

import asyncio
import time
from argparse import Namespace
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from typing import Any

import dask
from distributed import Client, LocalCluster, Scheduler, SchedulerPlugin, as_completed, get_worker

from . import output, search
from .topology import Topology

ALL_WORKERS_WITHIN_S = 120
FIRST_WORKER_WITHIN_S = 1800
LOST_WORKERS_PER_TASK = 20


class Attendance(SchedulerPlugin):  # type: ignore[misc]  # distributed has no types
    """Says when a worker is lost, and when it or another comes back; Dask gives a lost one's tasks to the rest."""

    def __init__(self) -> None:
        self.lost = 0

    def add_worker(self, scheduler: Scheduler, worker: str) -> None:
        if self.lost:
            print(f"scheduler: {worker} joined, {len(scheduler.workers)} workers now", flush=True)

    def remove_worker(self, scheduler: Scheduler, worker: str, **_: Any) -> None:
        if scheduler.status.name == "running":
            self.lost += 1
            left = len(scheduler.workers)
            print(f"scheduler: {worker} is lost, {left} left; its work is done again elsewhere", flush=True)


async def serve(topology: Topology, options: Namespace) -> dict[str, Any]:
    """The metrics of the finished search. Closing the scheduler ends the workers."""
    dask.config.set({"distributed.scheduler.allowed-failures": LOST_WORKERS_PER_TASK})
    async with Scheduler(host=topology.bind, port=topology.port, dashboard=False) as scheduler:
        scheduler.add_plugin(Attendance())
        print(f"scheduler: listening on tcp://{topology.scheduler}", flush=True)
        async with Client(scheduler.address, asynchronous=True, name="chief") as client:
            await gather_workers(client, topology.workers)
            return await run(client, options)


async def alone(options: Namespace) -> dict[str, Any]:
    """The same search without other replicas: one worker in this process."""
    async with (
        LocalCluster(n_workers=1, processes=False, dashboard_address=None, asynchronous=True) as cluster,
        Client(cluster, asynchronous=True) as client,
    ):
        return await run(client, options)


async def gather_workers(client: Client, expected: int) -> None:
    """Waits for all workers, and after a while for any: a lost or late one does not hold up the rest."""
    print(f"scheduler: waiting for {expected} workers", flush=True)
    try:
        await client.wait_for_workers(expected, timeout=ALL_WORKERS_WITHIN_S)
    except (TimeoutError, asyncio.TimeoutError):  # noqa: UP041 (Python 3.10 tells them apart)
        await client.wait_for_workers(1, timeout=FIRST_WORKER_WITHIN_S)
    threads = sum((await client.nthreads()).values())
    print(f"scheduler: {len(await client.nthreads())} of {expected} workers, {threads} threads", flush=True)


async def run(client: Client, options: Namespace) -> dict[str, Any]:
    started = time.monotonic()
    settings = search.candidates(options.candidates, options.seed)
    total = len(settings) * options.folds
    print(f"search: {len(settings)} candidates × {options.folds} folds, {options.trees} trees each", flush=True)
    tasks = {
        client.submit(
            placed, search.score, setting, options.trees, fold, options.folds, options.seed, pure=False
        ): number
        for number, setting in enumerate(settings)
        for fold in range(options.folds)
    }
    scores: dict[int, list[float]] = defaultdict(list)
    fits: Counter[str] = Counter()
    best, best_score = 0, -1.0
    async for future in as_completed(tasks):
        number = tasks[future]
        worker, score = await future
        fits[worker] += 1
        scores[number].append(score)
        done = sum(map(len, scores.values()))
        if len(scores[number]) == options.folds:
            mean = sum(scores[number]) / options.folds
            if mean > best_score:
                best, best_score = number, mean
            print(f"search: {done}/{total} fits, best so far {best_score:.4f} {describe(settings[best])}", flush=True)
    print(f"search: fits by worker: {describe(fits)}", flush=True)
    print(f"fit: {describe(settings[best])} on all training digits", flush=True)
    model, accuracy = await client.submit(search.fit, settings[best], options.trees, options.seed, pure=False)
    metrics = {
        "accuracy": round(accuracy, 4),
        "crossValidation": round(best_score, 4),
        "best": settings[best],
        "trees": options.trees,
        "candidates": len(settings),
        "folds": options.folds,
        "seed": options.seed,
        "workers": len(await client.nthreads()),
        "fits": dict(fits),
        "seconds": round(time.monotonic() - started, 2),
    }
    print(f"accuracy {accuracy:.4f} on {len(search.data(options.seed).test)} held-out digits", flush=True)
    for written in (
        output.write_model(options.model_dir, "model.joblib", model),
        output.write_json(options.output, "metrics.json", metrics),
    ):
        print(f"wrote {written}", flush=True)
    return metrics


def placed(function: Callable[..., float], *arguments: Any) -> tuple[str, float]:
    """The worker that calls a function, and the function's value."""
    return str(get_worker().name), function(*arguments)


def describe(setting: Mapping[str, Any]) -> str:
    return " ".join(f"{name}={value}" for name, value in sorted(setting.items()))
