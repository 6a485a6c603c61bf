"""The work behind training: due changes are applied, machines given out, processes started and ended."""

from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Protocol

from ...clock import timestamp
from ...nodes.runner_starter import RunnerStarter
from ...nodes.spec import ReplicaSpec, Status
from ...supply import preemption
from ...supply import records as scenarios
from ...world import World
from ..clusters import work as cluster_work
from ..jobs import life as job_life
from ..jobs import logs, replicas
from ..jobs import table as jobs
from ..jobs.records import Job, Run
from . import availability, queues

_FOLDERS_LOOK = timedelta(minutes=1)


class Nodes(Protocol):
    """The machines, on which replicas run in folders. `RunnerStarter` is the implementation with processes."""

    def ready(self, folder: Path) -> bool: ...

    def write(self, folder: Path, spec: ReplicaSpec) -> None: ...

    def start(self, folder: Path) -> None: ...

    def status(self, folder: Path) -> Status: ...

    def stop(self, folder: Path, grace_s: float | None = None) -> None: ...

    def kill(self, folder: Path) -> None: ...


class Scheduler:
    """The scheduler. It decides in transactions, then acts on processes; each act can be repeated after a kill."""

    def __init__(self, world: World, nodes: Nodes | None = None) -> None:
        self._world = world
        self._nodes: Nodes = nodes or RunnerStarter()
        self._looked: datetime | None = None
        jobs.open_table(world.store)

    def step(self) -> bool:
        """Do everything once. Return whether jobs are under way, so that the next look should come soon."""
        world, now = self._world, self._world.clock.now()
        ended: list[Run] = []
        with world.store.transaction():
            self._preempt(now)
            self._end_reservations(now)
            for job in jobs.started(world.store):
                ended += self._advance(job)
        for run in ended:
            replicas.clean(world, run)
        cluster_work.apply_due(world)
        with world.store.transaction():
            queues.serve_all(world, now)
        started = jobs.started(world.store)
        for job in started:
            self._act(job, now)
        if self._looked is None:
            self._sweep()
        if self._looked is None or now - self._looked > _FOLDERS_LOOK:
            self._looked = now
            replicas.forget_folders(world, {job.run.id for job in started if job.run}, now)
        return bool(started) or bool(jobs.queues(world.store))

    def _preempt(self, now: datetime) -> None:
        """Take machines away from Spot jobs as the scenario says."""
        started = {job.run.number: job for job in jobs.started(self._world.store) if job.run}
        targets = availability.targets(list(started.values()), now)
        if not targets:
            return
        scenario = scenarios.current(self._world).scenario
        for victim in preemption.victims(scenario, targets, availability.excess(self._world, targets, now)):
            job = started[victim.number]
            if job.run:
                preempted = job_life.preempted(job, job.run, now, victim.replica, scenario.notice_s)
                jobs.keep(self._world, job.run, preempted)

    def _end_reservations(self, now: datetime) -> None:
        """Take away the machines of reservations that have ended, with what runs on them."""
        loaded = scenarios.current(self._world)
        if not any(item.ends for item in loaded.scenario.reservations.values()):
            return
        for job in jobs.started(self._world.store):
            if job.run and any(loaded.over(replica.reservation, now) for replica in job.run.replicas):
                jobs.keep(self._world, job.run, job_life.reservation_ended(job, job.run, now, self._world.settings))

    def _advance(self, job: Job) -> list[Run]:
        """Move one started job on and return the attempt that is over, if it is."""
        run, world = job.run, self._world
        if run is None or not run.replicas:
            return []
        seen = {item.name: self._look(replicas.folder(world, run, item)) for item in run.replicas}
        logs.forward(world, run)
        # Each status may be newer than the start of this look at all jobs, but not later than now.
        changed = job_life.advanced(job, run, seen, world.clock.now(), world.settings)
        if changed is job:
            return []
        over = changed.run is None or not changed.run.replicas
        if over:
            logs.drain(world, run)
            world.access.revoke_purpose(replicas.purpose(run))
        elif changed.run:
            # Logs of replicas that were restarted in place.
            for replica in set(run.replicas) - set(changed.run.replicas):
                logs.drain_replica(world, run, replica)
        jobs.keep(world, run, changed)
        return [run] if over else []

    def _look(self, folder: Path) -> Status:
        """Return a replica's status, its times by the cloud's clock."""
        status, here = self._nodes.status(folder), self._world.clock.here
        began, over = (
            moment and timestamp(here(datetime.fromisoformat(moment))) for moment in (status.began, status.over)
        )
        return replace(status, began=began, over=over)

    def _act(self, job: Job, now: datetime) -> None:
        run = job.run
        if run is None:
            return
        folders = {replica: replicas.folder(self._world, run, replica) for replica in run.replicas}
        if run.outcome is not None:
            for folder in folders.values():
                if run.outcome.grace_s == 0:
                    self._nodes.kill(folder)
                else:
                    self._nodes.stop(folder, run.outcome.grace_s)
            return
        folders = {replica: folder for replica, folder in folders.items() if replicas.due(self._world, replica, now)}
        missing = {replica: folder for replica, folder in folders.items() if not self._nodes.ready(folder)}
        if missing:
            token = self._world.access.mint(f"serviceAccount:{run.email}", replicas.purpose(run))
            for replica, folder in missing.items():
                self._nodes.write(folder, replicas.specification(self._world, job, run, replica, token))
        for folder in folders.values():
            self._nodes.start(folder)

    def _sweep(self) -> None:
        """Remove files that a kill left on the disks of jobs that have ended."""
        alive = {job.run.id for job in jobs.started(self._world.store) if job.run}
        for folder in (self._world.state_folder / "jobs").glob("*"):
            if folder.name not in alive:
                replicas.clean_folder(self._world, folder)
