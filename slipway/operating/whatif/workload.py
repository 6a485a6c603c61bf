"""The jobs of a history as a replay sends them again. Pure.

Each job is sent at its time, for its run time, by the capacity types that its template has in the catalog. A job that
went where the template's order would not have sent it, as the pool was full or had room, was told to: it goes there
first again, and with it all runs of its sweep, which are sent together. A race takes the fastest of its regions. A job
that never started has no run time: it is left out, and counted.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from slipway.model.capacity import POOL
from slipway.model.labels import URGENT_LABEL
from slipway.model.machines.spec import MachineGroup, MachineSpec
from slipway.operating.history.model import History
from slipway.operating.whatif.machine_changes import MachineChanges
from slipway.operating.whatif.model import ReplayedJob, ReplayedPause, Route
from slipway.operating.whatif.past_load import PastLoad
from slipway.operating.whatif.routes import Routes, WaitsBeside
from slipway.operating.whatif.submissions import PastSubmission, submissions_of


@dataclass(frozen=True)
class Workload:
    """Jobs to replay."""

    #: In the order of their creation.
    jobs: tuple[ReplayedJob, ...]
    #: The number of jobs that are left out.
    never_started: int = 0
    #: Capacity types beside the pools without a wait in the history.
    assumed: tuple[str, ...] = ()
    #: Those for which it does not tell how long some jobs wait, with their regions.
    unknown: tuple[str, ...] = ()
    #: The number of jobs with other machines than they had.
    moved: int = 0

    @property
    def counted(self) -> int:
        return sum(job.counted for job in self.jobs)


def workload(
    history: History,
    routes: Routes,
    load: PastLoad,
    changes: MachineChanges | None = None,
    pauses: tuple[ReplayedPause, ...] = (),
) -> Workload:
    """Return the jobs of a history. Jobs created before it only hold machines.

    `changes`: machines that templates ask for by now.
    """
    submissions = tuple(submissions_of(history))
    started = [submission for submission in submissions if submission.ran.started]
    waits = WaitsBeside(started, routes.catalog.region, history.until)
    routed = {submission.ran.name: routes.of(submission.ran) for submission in started}
    paused = {submission.ran.name: _paused(submission, history, pauses) for submission in started}
    chosen = {
        submission.ran.name
        for submission in started
        if not paused[submission.ran.name] and _was_chosen(submission, routed[submission.ran.name], routes, load)
    }
    sweeps = {submission.ran.sweep for submission in started if submission.ran.name in chosen} - {""}
    jobs, beside = list[ReplayedJob](), dict[str, Route]()
    for number, submission in enumerate(started):
        ran = submission.ran
        taken, urgent = routed[ran.name], URGENT_LABEL in ran.labels
        if urgent or ran.name in chosen or ran.sweep in sweeps:
            taken = _first_chosen(taken, POOL if urgent else routes.own(ran).label)
        own_machines = {route.label: route for route in taken if not route.on_pool}
        delays = {label: waits.of(submission, route, number) for label, route in own_machines.items()}
        beside |= own_machines
        if ran.race:
            taken = _fastest(taken, delays)
        created = (submission.created - history.since).total_seconds()
        assert ran.started
        jobs.append(
            ReplayedJob(
                name=ran.name,
                template=ran.template,
                created=created,
                run=submission.run,
                machines=tuple(
                    MachineGroup(changes.of(ran, used.machine) if changes else used.machine, used.count)
                    for used in ran.machines
                ),
                routes=taken,
                delays=delays,
                waited=(ran.started - submission.created).total_seconds(),
                past=ran,
                counted=created >= 0,
                team=ran.team,
                of_sweep=bool(ran.sweep),
                urgent=urgent,
                yields=ran.yields and not ran.sweep,
                # What was sent in a pause all the same, nothing held.
                pausable=not any(pause.cluster in ("", ran.cluster) for pause in paused[ran.name]),
            )
        )
    jobs.sort(key=lambda job: (job.created, job.name))
    unknown = dict.fromkeys(label for job in jobs for label, delay in job.delays.items() if delay is None)
    return Workload(
        jobs=tuple(jobs),
        never_started=len(submissions) - len(started),
        assumed=tuple(label for label, route in beside.items() if label not in unknown and not waits.known(route)),
        unknown=tuple(unknown),
        moved=sum(job.counted and job.moved for job in jobs),
    )


def _paused(submission: PastSubmission, history: History, pauses: Iterable[ReplayedPause]) -> tuple[ReplayedPause, ...]:
    """Return the pauses that stood when a submission's first job was sent."""
    created = (submission.created - history.since).total_seconds()
    return tuple(pause for pause in pauses if pause.since <= created < pause.until)


def _was_chosen(submission: PastSubmission, routed: tuple[Route, ...], routes: Routes, load: PastLoad) -> bool:
    """Tell whether the submitter named the capacity type: the template's order would have taken another one."""
    ran, own = submission.ran, routes.own(submission.ran).label
    place = next((at for at, route in enumerate(routed) if route.label == own), 0)
    if len(routed) == 1 or submission.jobs[0] is not ran or ran.created is None:
        return False
    if routed[place].on_pool:
        full = any(pool.full for pool in load.of(ran))
        return full and routed[place].wait is None and place + 1 < len(routed)
    if not any(route.on_pool for route in routed[:place]):
        return False
    machines = Counter[MachineSpec]()
    for used in ran.machines:
        machines[used.machine] += used.count
    return load.had_room(machines, ran.created)


def _fastest(legs: tuple[Route, ...], delays: Mapping[str, float | None]) -> tuple[Route, ...]:
    known = {label: delay for label, delay in delays.items() if delay is not None}
    return (min(legs, key=lambda leg: known.get(leg.label, math.inf)),)


def _first_chosen(routes: tuple[Route, ...], label: str) -> tuple[Route, ...]:
    first = (replace(route, wait=None, chosen=True) for route in routes if route.label == label)
    return (*first, *(route for route in routes if route.label != label))
