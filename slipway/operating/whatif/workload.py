"""The jobs of a history as a replay sends them again. Pure.

Each job is sent at its time, for its run time, by the capacity types that its template has in the catalog. A job that
went where the template's order would not have sent it, as the pool was full or had room, was told to: it goes there
first again, and with it all runs of its sweep, which are sent together. The attempts of one submission are one job. A
job that never started has no run time: it is left out, and counted.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from slipway.model.capacity import WAIT_BY_THEMSELVES
from slipway.model.catalog.model import Catalog, Offer, Template, applying
from slipway.model.labels import label_value
from slipway.model.machines.spec import MachineGroup, MachineSpec
from slipway.operating.history.model import History, PastJob
from slipway.operating.whatif.delays import ASSUMED
from slipway.operating.whatif.machine_changes import MachineChanges
from slipway.operating.whatif.model import ReplayedJob, Route
from slipway.operating.whatif.past_load import PastLoad
from slipway.using.submission.request import attempt_id

_MOST_ATTEMPTS = 8
_GOLDEN = (math.sqrt(5) - 1) / 2


@dataclass(frozen=True)
class Workload:
    """Jobs to replay."""

    #: In the order of their creation.
    jobs: tuple[ReplayedJob, ...]
    #: The number of jobs that are left out.
    never_started: int = 0
    #: Capacity types beside the pools without a wait in the history.
    assumed: tuple[str, ...] = ()
    #: The number of jobs with other machines than they had.
    moved: int = 0

    @property
    def counted(self) -> int:
        return sum(job.counted for job in self.jobs)


def workload(history: History, catalog: Catalog, load: PastLoad, changes: MachineChanges | None = None) -> Workload:
    """Return the jobs of a history. Jobs created before it only hold machines.

    `changes`: machines that templates ask for by now.
    """
    templates = {label_value(name): template for name, template in catalog.templates.items()}
    submissions = tuple(_submissions(history.jobs))
    started = [(first, ran) for first, ran in submissions if ran is not None and ran.started is not None]
    routed = {ran.name: _routes(ran, templates.get(ran.template)) for _, ran in started if ran}
    chosen = {ran.name for first, ran in started if ran and _was_chosen(first, ran, routed[ran.name], load)}
    sweeps = {ran.sweep for _, ran in started if ran and ran.sweep and ran.name in chosen}
    waits = _WaitsBeside(ran for _, ran in started)
    jobs = []
    for number, (first, ran) in enumerate(started):
        assert first.created and ran and ran.created and ran.started
        routes = routed[ran.name]
        if ran.name in chosen or ran.sweep in sweeps:
            routes = _first_chosen(routes, ran.capacity_type)
        beside = [route.capacity_type for route in routes if not route.on_pool]
        jobs.append(
            ReplayedJob(
                name=ran.name,
                template=ran.template,
                created=(first.created - history.since).total_seconds(),
                run=max(0.0, ((ran.ended or history.until) - ran.started).total_seconds()),
                machines=tuple(
                    MachineGroup(changes.of(ran, used.machine) if changes else used.machine, used.count)
                    for used in ran.machines
                ),
                routes=routes,
                delays={name: waits.of(ran, name, number) for name in beside},
                waited=(ran.started - first.created).total_seconds(),
                past=ran,
                counted=first.created >= history.since,
            )
        )
    jobs.sort(key=lambda job: (job.created, job.name))
    return Workload(
        jobs=tuple(jobs),
        never_started=len(submissions) - len(started),
        assumed=tuple(dict.fromkeys(name for job in jobs for name in job.delays if not waits.known(name))),
        moved=sum(job.counted and job.moved for job in jobs),
    )


def _submissions(jobs: Sequence[PastJob]) -> Iterator[tuple[PastJob, PastJob | None]]:
    """Yield the first attempt of each submission, and the job that ran longest of all its attempts and their copies;
    None where none has started."""
    by_request: dict[str, list[PastJob]] = defaultdict(list)
    for job in jobs:
        if job.created is not None:
            by_request[job.request_id or job.name].append(job)
    later: dict[str, list[str]] = {}
    for request, sent in by_request.items():
        ids = (attempt_id(request, number) for number in range(1, _MOST_ATTEMPTS))
        later[request] = [] if any(job.started for job in sent) else list(takewhile(by_request.__contains__, ids))
    followers = {id_ for ids in later.values() for id_ in ids}
    for request in by_request:
        if request in followers:
            continue
        chain = [job for id_ in (request, *later[request]) for job in by_request[id_]]
        first = min(chain, key=lambda job: (job.created, job.name))
        yield first, max((job for job in chain if job.started), key=_ran, default=None)


def _ran(job: PastJob) -> tuple[float, str]:
    """Return a job's run time in seconds, infinite for an unfinished job, and its name."""
    if job.started is None or job.ended is None:
        return math.inf, job.name
    return (job.ended - job.started).total_seconds(), job.name


def _routes(job: PastJob, template: Template | None) -> tuple[Route, ...]:
    """Return the capacity types of the job's case of its template, in order, each with its wait; the job's own where
    the template is gone, or no longer has it."""
    offers = _offers(job, template) if template else ()
    if all(offer.capacity_type != job.capacity_type for offer in offers):
        offers = ()
    waits: dict[str, float | None] = {}
    for offer in offers:
        if offer.cluster or offer.dormant or offer.available or offer.capacity_type == job.capacity_type:
            waits.setdefault(offer.capacity_type, offer.wait)
    if not waits:
        return (Route(job.capacity_type, cluster=job.cluster),)
    *_, last = waits
    return tuple(
        Route(name, wait if name != last or name in WAIT_BY_THEMSELVES else None) for name, wait in waits.items()
    )


def _was_chosen(first: PastJob, ran: PastJob, routes: tuple[Route, ...], load: PastLoad) -> bool:
    """Tell whether the submitter named the capacity type: the template's order would have taken another one."""
    place = next((at for at, route in enumerate(routes) if route.capacity_type == ran.capacity_type), 0)
    if len(routes) == 1 or first is not ran or ran.created is None:
        return False
    if routes[place].on_pool:
        full = any(pool.full for pool in load.of(ran))
        return full and routes[place].wait is None and place + 1 < len(routes)
    if not any(route.on_pool for route in routes[:place]):
        return False
    machines = Counter[MachineSpec]()
    for used in ran.machines:
        machines[used.machine] += used.count
    return load.had_room(machines, ran.created)


def _first_chosen(routes: tuple[Route, ...], capacity_type: str) -> tuple[Route, ...]:
    first = (replace(route, wait=None, chosen=True) for route in routes if route.capacity_type == capacity_type)
    return (*first, *(route for route in routes if route.capacity_type != capacity_type))


def _offers(job: PastJob, template: Template) -> tuple[Offer, ...]:
    """Return the offers of the case that the job's parameters and team choose; by the defaults where it has recorded
    none."""
    values = {parameter.name: parameter.default for parameter in template.parameters} | dict(job.parameters or {})
    return applying((offer for offer in template.offers if offer.kind == job.kind), values, job.team)


class _WaitsBeside:
    """Waits for machines beside the pools. A job that ran so before waits as it did; others take the waits of earlier
    ones, spread evenly over them, so that the same is drawn each time."""

    def __init__(self, jobs: Iterable[PastJob]) -> None:
        by_machines: dict[tuple[str, frozenset[str]], list[float]] = defaultdict(list)
        by_type: dict[str, list[float]] = defaultdict(list)
        for job in jobs:
            if not job.cluster_id and job.waited is not None:
                by_machines[job.capacity_type, job.machine_types].append(job.waited)
                by_type[job.capacity_type].append(job.waited)
        self._by_machines = {key: sorted(waits) for key, waits in by_machines.items()}
        self._by_type = {key: sorted(waits) for key, waits in by_type.items()}

    def known(self, capacity_type: str) -> bool:
        return capacity_type in self._by_type

    def of(self, job: PastJob, capacity_type: str, number: int) -> float:
        if job.capacity_type == capacity_type and job.waited is not None:
            return job.waited
        earlier = self._by_machines.get((capacity_type, job.machine_types)) or self._by_type.get(capacity_type)
        return earlier[int(number * _GOLDEN % 1 * len(earlier))] if earlier else ASSUMED.scale_up
