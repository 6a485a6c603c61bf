"""The runs of an experiment to which its jobs log.

The SDK alone tells the service's behaviour here: a job with an experiment and no run gets one, and the run's state is
its client's business (`CustomJob.run` ends it when the job has ended, well or not).
"""

import re
from collections.abc import Mapping
from typing import Any

from ...wire import invalid_argument, not_found
from ...world import World
from ..collection import Documents, canonical
from ..names import id_of
from .kinds import CONTEXT
from .metadata_stores import DEFAULT, used

_EXPERIMENT, _RUN, _VERSION = "system.Experiment", "system.ExperimentRun", "0.0.1"
_JOBS = "_custom_jobs"
_LONGEST = 121
_CONSOLE = "https://console.cloud.google.com/agent-platform/locations/{1}/training/{2}?project={0}"


def check(world: World, spec: Mapping[str, Any]) -> None:
    """Raise 404 for an experiment or a run that does not exist, 400 for a context that is neither."""
    if "experiment" not in spec:
        if "experimentRun" in spec:
            raise invalid_argument("An experiment run needs its experiment.")
        return
    for field, schema in (("experiment", _EXPERIMENT), ("experimentRun", _RUN)):
        if field in spec:
            context = Documents(world, CONTEXT).look(canonical(world.project, spec[field]))
            if context is None:
                raise not_found(f"The {schema.removeprefix('system.')} {spec[field]} does not exist.")
            if context.get("schemaTitle") != schema:
                raise invalid_argument(f"{spec[field]} is a {context.get('schemaTitle')}, not a {schema}.")


def joined(world: World, spec: Mapping[str, Any], job: str, display_name: str) -> dict[str, Any]:
    """Return the spec of a new job with the full names of its experiment and run. Within a transaction.

    Without a run of its own the job gets a new one; `job` is its full name.
    """
    if "experiment" not in spec:
        return dict(spec)
    contexts = Documents(world, CONTEXT)
    experiment = canonical(world.project, spec["experiment"])
    if "experimentRun" in spec:
        run = canonical(world.project, spec["experimentRun"])
    else:
        title = _run_title(experiment, display_name, job)
        run = f"{experiment}-{title}"
        contexts.add(run, _new_run(title, experiment))
    context = contexts.find(run)
    metadata = context.get("metadata", {})
    _, project, _, location, _, job_id = job.split("/")
    entry = {"custom_job_resource_name": job, "custom_job_console_uri": _CONSOLE.format(project, location, job_id)}
    # The client that made the run goes on logging to it with the etag that it holds.
    contexts.keep({**context, "metadata": {**metadata, _JOBS: [*metadata.get(_JOBS, ()), entry]}})
    return {**spec, "experiment": experiment, "experimentRun": run}


def mirror(world: World, experiment: str, run: str) -> None:
    """Make the missing contexts for an experiment of a tensorboard (its full name) and a run in it.

    The SDK ends the run's context after a job that named a tensorboard. Within a transaction.
    """
    contexts = Documents(world, CONTEXT)
    store = f"{experiment.partition('/tensorboards/')[0]}/metadataStores/{DEFAULT}"
    used(world, store)
    parent = contexts.name(store, id_of(experiment))
    if contexts.look(parent) is None:
        link = {"tensorboard_link": experiment}
        contexts.add(parent, {"schemaTitle": _EXPERIMENT, "schemaVersion": _VERSION, "metadata": link})
    name = f"{parent}-{run}"
    if contexts.look(name) is None:
        contexts.add(name, _new_run(run, parent))


def _new_run(title: str, experiment: str) -> dict[str, Any]:
    return {
        "displayName": title,
        "schemaTitle": _RUN,
        "schemaVersion": _VERSION,
        "metadata": {"_params": {}, "_metrics": {}, "_state": "RUNNING"},
        "parentContexts": [experiment],
    }


def _run_title(experiment: str, display_name: str, job: str) -> str:
    """Return the display name as far as an id may have it, made unique by the job's number."""
    plain = re.sub(r"[^a-z0-9]+", "-", display_name.lower()).strip("-")
    number = job.rpartition("/")[2].lstrip("7").lstrip("0") or "0"
    room = _LONGEST - len(experiment.rpartition("/")[2]) - len(number) - 2
    return f"{plain[: max(room, 0)].rstrip('-')}-{number}".lstrip("-")
