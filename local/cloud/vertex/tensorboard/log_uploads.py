"""Logs of jobs that name a tensorboard: from the event files in the job's output to runs and series.

The service uploads them while the job runs; here a look at a tensorboard uploads them first. The experiment has the
job's id, a run the name of its folder below the logs (as the SDK's `CustomJob.run` and its uploader have it).
"""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from itertools import groupby
from pathlib import PurePosixPath
from typing import Any

from ...clock import timestamp
from ...storage.records import OBJECT, Records
from ...wire import invalid_argument, not_found
from ...world import World
from ..collection import Documents, canonical
from ..jobs import table as jobs
from ..metadata import experiment_runs
from ..names import id_of, location_of
from . import points
from .event_files import Scalar, scalars
from .kinds import EXPERIMENT, RUN, TENSORBOARD, TIME_SERIES

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
        body = {
            "tensorboard": canonical(world.project, spec["tensorboard"]),
            "logs": f"{prefix}/logs/",
            "title": display_name,
        }
        world.store.put(_WAITING, job, {**body, "seen": {}})


def catch_up(world: World) -> None:
    """Take in the logs that jobs have written since the last look; for one that has ended this is the last."""
    for job, body in world.store.list(_WAITING):
        with world.store.transaction():
            found = jobs.get(world.store, job)
            seen = _taken_in(world, job, body)
            if found is None or found.run is None:
                world.store.delete(_WAITING, job)
            elif seen != body["seen"]:
                world.store.put(_WAITING, job, {**body, "seen": seen})


def _taken_in(world: World, job: str, body: Mapping[str, Any]) -> dict[str, int]:
    """Take in a job's logs; return object names with the generations that have been read."""
    board = str(body["tensorboard"])
    if Documents(world, TENSORBOARD).look(board) is None:
        return dict(body["seen"])
    bucket, _, prefix = body["logs"].removeprefix("gs://").partition("/")
    records, seen = Records(world), dict(body["seen"])
    for key, _ in world.store.list(OBJECT, f"{bucket}/{prefix}"):
        name = key.removeprefix(f"{bucket}/")
        version = records.current(bucket, name)
        if version is None or _EVENTS not in PurePosixPath(name).name or seen.get(name) == version.generation:
            continue
        folder = str(PurePosixPath(name.removeprefix(prefix)).parent)
        run = _run(world, board, id_of(job), str(body["title"]), folder)
        _write(world, run, records.blobs.path(version.blob).read_bytes())
        seen[name] = version.generation
    return seen


def _run(world: World, board: str, job_id: str, title: str, folder: str) -> str:
    """Return the full name of the run for a folder of logs, made with its experiment where they are missing."""
    experiments, runs = Documents(world, EXPERIMENT), Documents(world, RUN)
    experiment = experiments.name(board, job_id)
    if experiments.look(experiment) is None:
        experiments.add(experiment, {"displayName": title})
    plain = re.sub(r"[^a-z0-9]+", "-", folder.lower()).strip("-") or _UNNAMED
    run = runs.name(experiment, plain)
    if runs.look(run) is None:
        runs.add(run, {"displayName": plain})
        experiment_runs.mirror(world, experiment, plain)
    return run


def _write(world: World, run: str, content: bytes) -> None:
    series = Documents(world, TIME_SERIES)
    known = {body["displayName"]: str(body["name"]) for body in series.below(run)}

    def tag(item: Scalar) -> str:
        return item.tag

    for title, values in groupby(sorted(scalars(content), key=tag), key=tag):
        name = known.get(title)
        if name is None:
            name = series.name(run, str(world.store.next_id("tensorboardTimeSeries")))
            series.add(name, {"displayName": title, "valueType": "SCALAR", "pluginName": "scalars"})
        points.write(world.store, name, map(_point, values))


def _point(item: Scalar) -> dict[str, Any]:
    moment = timestamp(datetime.fromtimestamp(item.wall_time, UTC))
    return {"step": str(item.step), "wallTime": moment, "scalar": {"value": item.value}}
