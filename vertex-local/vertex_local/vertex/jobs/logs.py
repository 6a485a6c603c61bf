"""Job logs: from the replicas' files to Cloud Logging, in batches, each line once."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from ...clock import timestamp
from ...logging.entries import write
from ...nodes import logfile
from ...nodes.logfile import Line
from ...nodes.spec import LOG
from ...world import World
from . import replicas
from .records import Replica, Run

_KIND = "jobLogPosition"
_BATCH_BYTES = 1 << 20


def tell(world: World, run: Run, said: Iterable[tuple[str, str]]) -> None:
    """Write the service's own lines about a job: (severity, text), of now."""
    lines = [Line(world.now(), severity, text, service=True) for severity, text in said]
    _write(world, run, "service", lines, service=True)


def forward(world: World, run: Run) -> None:
    """Write new lines of all replicas, a batch of each. Position and lines are committed together."""
    for replica in run.replicas:
        _forward(world, run, replica)


def drain(world: World, run: Run) -> None:
    """Write the remaining lines of an attempt whose replicas have ended."""
    with world.store.transaction():
        for replica in run.replicas:
            drain_replica(world, run, replica)


def drain_replica(world: World, run: Run, replica: Replica) -> None:
    """Write the remaining lines of one replica that has ended."""
    with world.store.transaction():
        while _forward(world, run, replica):
            pass
        world.store.delete(_KIND, _position(run, replica))


def _forward(world: World, run: Run, replica: Replica) -> bool:
    path: Path = replicas.folder(world, run, replica) / LOG
    name = _position(run, replica)
    with world.store.transaction():
        offset = int((world.store.get(_KIND, name) or {"offset": 0})["offset"])
        if not path.exists() or path.stat().st_size <= offset:
            return False
        lines, after = logfile.read(path, offset, _BATCH_BYTES)
        if not lines:
            return False
        for service in (False, True):
            chosen = [
                replace(line, time=timestamp(world.clock.here(datetime.fromisoformat(line.time))))
                for line in lines
                if line.service is service
            ]
            if chosen:
                _write(world, run, replica.name, chosen, service)
        world.store.put(_KIND, name, {"offset": after})
    return True


def _write(world: World, run: Run, replica: str, lines: list[Line], service: bool) -> None:
    task = "service" if service else replica
    log = "ml.googleapis.com%2F" + run.id if service else replica
    # A trial's lines are its tuning job's: `gcloud ai hp-tuning-jobs stream-logs` finds them by this label alone.
    job = run.tuning or run.id
    resource = {"type": "ml_job", "labels": {"job_id": job, "project_id": world.project.id, "task_name": task}}
    labels = {
        "ml.googleapis.com/job_id/log_area": "root",
        "ml.googleapis.com/task_name": replica,
        "ml.googleapis.com/trial_id": run.trial or "",
    }
    entries = [
        {"timestamp": line.time, "severity": line.severity, "labels": labels}
        | ({"jsonPayload": line.fields} if line.fields is not None else {"textPayload": line.text})
        for line in lines
    ]
    write(world, f"projects/{world.project.id}/logs/{log}", resource, entries)


def _position(run: Run, replica: Replica) -> str:
    return f"{run.id}/{run.attempt}/{replicas.folder_name(replica)}"
