"""The one thread behind training: what became due, who gets machines, which processes start and end."""

import logging
import threading
from datetime import datetime

from local.cloud.nodes.launcher import Launcher
from local.cloud.services import World
from local.cloud.vertex import job_life, job_logs, jobs, queueing, replicas, settling
from local.cloud.vertex.job import Run
from local.cloud.vertex.jobs import Job

_log = logging.getLogger("local.cloud.vertex")
_TROUBLE = "the scheduler:"
_BUSY_S, _IDLE_S, _TROUBLE_S = 0.1, 0.5, 2.0


class Scheduler:
    """Decides in transactions on the store, then acts on processes; every act can be repeated after a kill."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._launcher = Launcher()
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._work, name="vertex", daemon=True)
        jobs.open_table(world.store)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Ends the thread, not the jobs."""
        self._ending.set()
        self._world.changed.set()
        if self._thread.is_alive():
            self._thread.join()

    def step(self) -> bool:
        """Everything once. Whether jobs are under way, so that the next look should come soon."""
        world, now = self._world, self._world.clock.now()
        ended: list[Run] = []
        with world.store.transaction():
            for job in jobs.started(world.store):
                ended += self._advance(job, now)
        for run in ended:
            replicas.clean(world, run)
        settling.settle(world)
        with world.store.transaction():
            queueing.serve_all(world, now)
        started = jobs.started(world.store)
        for job in started:
            self._act(job)
        return bool(started) or bool(jobs.queues(world.store))

    def _advance(self, job: Job, now: datetime) -> list[Run]:
        """Move one started job on. Gives back the attempt that is over, if it is."""
        run, world = job.run, self._world
        if run is None or not run.replicas:
            return []
        seen = {item.name: self._launcher.sighting(replicas.folder(world, run, item)) for item in run.replicas}
        job_logs.forward(world, run)
        changed = job_life.advanced(job, run, seen, now, world.settings)
        if changed is job:
            return []
        over = changed.run is None or not changed.run.replicas
        if over:
            job_logs.drain(world, run)
            world.access.revoke_purpose(replicas.purpose(run))
        jobs.put(world.store, run.number, run.region, changed.body, changed.run)
        return [run] if over else []

    def _act(self, job: Job) -> None:
        run = job.run
        if run is None:
            return
        folders = {replica: replicas.folder(self._world, run, replica) for replica in run.replicas}
        if run.outcome is not None:
            for folder in folders.values():
                self._launcher.stop(folder)
            return
        missing = {replica: folder for replica, folder in folders.items() if not self._launcher.ready(folder)}
        if missing:
            token = self._world.access.mint(f"serviceAccount:{run.email}", replicas.purpose(run))
            for replica, folder in missing.items():
                self._launcher.write(folder, replicas.specification(self._world, job, run, replica, token))
        for folder in folders.values():
            self._launcher.start(folder)

    def _sweep(self) -> None:
        """Remove what a kill left on the disks of jobs that have ended."""
        alive = {job.run.id for job in jobs.started(self._world.store) if job.run}
        for folder in (self._world.state_folder / "jobs").glob("*"):
            if folder.name not in alive:
                replicas.clean_folder(folder)

    def _work(self) -> None:
        self._sweep()
        while not self._ending.is_set():
            self._world.changed.clear()
            try:
                pause = _BUSY_S if self.step() else _IDLE_S
                if self._world.trouble.startswith(_TROUBLE):
                    self._world.trouble = ""
            except Exception as error:
                # The next look finds the same work again; a full disk or a bug must not end the thread.
                _log.exception("the scheduler could not do its work")
                self._world.trouble = f"{_TROUBLE} {error}, at {self._world.now()}"
                pause = _TROUBLE_S
            if not self._ending.is_set():
                self._world.clock.wait(pause, self._world.changed)
