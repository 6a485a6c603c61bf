"""Logs of jobs that name a tensorboard: an experiment with the job's id, and a run for each folder of event files.

The service makes them while the job runs; here a look at a tensorboard makes them first. A run has the name of its
folder below the logs (as the SDK's `CustomJob.run` and its uploader have it). What the files say is not read: programs
such as TensorBoard read them where they lie.
"""

import re
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any

from ...storage.records import OBJECTS
from ...wire import invalid_argument, not_found
from ...world import World
from ..collection import Documents, canonical
from ..jobs import table as jobs
from ..metadata import experiment_runs
from ..names import id_of, location_of
from .kinds import EXPERIMENT, RUN, TENSORBOARD

_WAITING = "tensorboardJob"
_EVENTS = "tfevents"
_UNNAMED = "default"


def check(world: World, location: str, spec: Mapping[str, Any]) -> None:
    """Raise 404 for a tensorboard that does not exist, 400 for one in another region."""
    if "tensorboard" not in spec:
        return
    name = canonical(world.project, spec["tensorboard"])
    if Documents(world, TENSORBOARD).look(name) is None:
        raise not_found(f"The Tensorboard {spec['tensorboard']} does not exist.")
    if location_of(name) != location:
        raise invalid_argument(f"The Tensorboard {spec['tensorboard']} must be in the job's region, {location}.")


def expect(world: World, spec: Mapping[str, Any], job: str, display_name: str) -> None:
    """Note that a new job (by full name) will write logs, if its spec says where. Within a transaction."""
    prefix = spec.get("baseOutputDirectory", {}).get("outputUriPrefix", "").rstrip("/")
    if "tensorboard" in spec and prefix:
        board = canonical(world.project, spec["tensorboard"])
        world.store.put(_WAITING, job, {"tensorboard": board, "logs": f"{prefix}/logs/", "title": display_name})


def catch_up(world: World) -> None:
    """Make the runs of the logs that jobs have written since the last look; for one that has ended this is the last."""
    for job, body in world.store.list(_WAITING):
        with world.store.transaction():
            record = jobs.get(world.store, job)
            if Documents(world, TENSORBOARD).look(body["tensorboard"]):
                for folder in sorted(_folders(world, body["logs"])):
                    _make_run(world, body["tensorboard"], id_of(job), body["title"], folder)
            if record is None or record.run is None:
                world.store.delete(_WAITING, job)


def _folders(world: World, logs: str) -> set[str]:
    """Return the folders below a job's logs, relative to them, that event files were written to."""
    bucket, _, prefix = logs.removeprefix("gs://").partition("/")
    versions = OBJECTS.every(world.store, f"{bucket}/{prefix}")
    files = [PurePosixPath(version.resource["name"]) for version in versions]
    return {str(file.parent.relative_to(prefix)) for file in files if _EVENTS in file.name}


def _make_run(world: World, board: str, job_id: str, title: str, folder: str) -> None:
    """Make the run of a folder of logs, and its experiment, where they are missing."""
    experiments, runs = Documents(world, EXPERIMENT), Documents(world, RUN)
    experiment = experiments.name(board, job_id)
    if experiments.look(experiment) is None:
        experiments.add(experiment, {"displayName": title})
    plain = re.sub(r"[^a-z0-9]+", "-", folder.lower()).strip("-") or _UNNAMED
    run = runs.name(experiment, plain)
    if runs.look(run) is None:
        runs.add(run, {"displayName": plain})
        experiment_runs.mirror(world, experiment, plain)
