"""The owner's endpoints: the scenario, replicas to kill, the clock."""

from local.cloud.capacity import kept
from local.cloud.capacity.kept import Loaded
from local.cloud.capacity.parsing import ScenarioError
from local.cloud.clock import timestamp
from local.cloud.nodes import launcher
from local.cloud.services import World
from local.cloud.vertex import jobs, replicas
from local.cloud.vertex.jobs import Job
from local.cloud.wire import Call, Handler, Reply, failed_precondition, invalid_argument, not_found

Endpoint = tuple[str, str, Handler]
"""Method, path, handler."""


def endpoints(world: World) -> list[Endpoint]:
    def get_scenario(_: Call) -> Reply:
        return Reply(body=_shown(kept.current(world)))

    def set_scenario(call: Call) -> Reply:
        try:
            return Reply(body=_shown(kept.load(world, call.object())))
        except ScenarioError as error:
            raise invalid_argument(str(error)) from error

    def no_scenario(_: Call) -> Reply:
        return Reply(body=_shown(kept.clear(world)))

    def kill(call: Call) -> Reply:
        wanted = call.object()
        job, replica = _text(wanted, "job"), _text(wanted, "replica")
        _kill(world, _find(world, job), replica)
        world.changed.set()
        return Reply(body={})

    def clock(_: Call) -> Reply:
        return Reply(body={"now": world.now()})

    def advance(call: Call) -> Reply:
        seconds = call.object().get("advance")
        if not isinstance(seconds, int | float) or isinstance(seconds, bool) or seconds < 0:
            raise invalid_argument("'advance' is a number of seconds that is not negative")
        world.advance(seconds)
        return Reply(body={"now": world.now()})

    return [
        ("GET", "/slipway/scenario", get_scenario),
        ("POST", "/slipway/scenario", set_scenario),
        ("DELETE", "/slipway/scenario", no_scenario),
        ("POST", "/slipway/kill", kill),
        ("GET", "/slipway/clock", clock),
        ("POST", "/slipway/clock", advance),
    ]


def _shown(loaded: Loaded) -> dict[str, object]:
    return {"scenario": dict(loaded.document)} | ({"since": timestamp(loaded.since)} if loaded.document else {})


def _text(body: dict[str, object], key: str) -> str:
    found = body.get(key)
    if not isinstance(found, str) or not found:
        raise invalid_argument(f"'{key}' is missing: text")
    return found


def _find(world: World, text: str) -> Job:
    """A job that has not ended by its full name, its id or, where only one has it, its display name."""
    found = [
        job
        for job in jobs.started(world.store)
        if job.run and text in (job.run.id, job.run.name, job.body["displayName"])
    ]
    if not found:
        raise not_found(f"No job on machines has the name, id or display name '{text}'.")
    if len(found) > 1:
        ids = ", ".join(job.run.id for job in found if job.run)
        raise failed_precondition(f"More than one job on machines has the display name '{text}': {ids}.")
    return found[0]


def _kill(world: World, job: Job, name: str) -> None:
    assert job.run is not None
    replica = next((item for item in job.run.replicas if item.name == name), None)
    if replica is None:
        known = ", ".join(item.name for item in job.run.replicas)
        raise not_found(f"Job {job.run.id} has no replica '{name}'; it has {known}.")
    if not launcher.kill(replicas.folder(world, job.run, replica)):
        raise failed_precondition(f"Replica {name} of job {job.run.id} does not run now.")
