"""The local cloud's own endpoints: health for everybody, the rest for the owner."""

import itertools
import os
from collections.abc import Callable, Sequence
from dataclasses import asdict
from types import ModuleType
from urllib.parse import parse_qsl

from .. import faults, identities
from ..clock import timestamp
from ..nodes import runner_starter
from ..projects import Projects, parse
from ..settings import SettingsError
from ..supply import records as scenarios
from ..supply.parsing import ScenarioError
from ..supply.records import Loaded
from ..vertex.jobs import replicas
from ..vertex.jobs import table as jobs
from ..vertex.jobs.records import Job
from ..wire import Call, Reply, Route, failed_precondition, invalid_argument, not_found, permission_denied
from ..world import World

_GRANT, _TOKEN_S = "urn:ietf:params:oauth:grant-type:jwt-bearer", 3599
PREFIX = "/vertex-local/"
"""The beginning of these endpoints' paths."""
_MOST_AHEAD_S = 366 * 24 * 3600.0


def token(projects: Projects, body: bytes) -> Reply:
    """Return the token for a text that a role's key signed, which is the same text with its time of validity."""
    sent = dict(parse_qsl(body.decode(errors="replace")))
    signed = sent.get("assertion", "")
    if sent.get("grant_type") != _GRANT or projects.identify(signed) is None:
        return Reply(400, {"error": "invalid_grant", "error_description": "Invalid JWT: it is signed by no known key."})
    return Reply(body={"access_token": signed, "expires_in": _TOKEN_S, "token_type": "Bearer"})


def health() -> Reply:
    return Reply(body={"service": "vertex-local", "pid": os.getpid()})


def routes(projects: Projects, services: Sequence[ModuleType]) -> list[Route]:
    world = projects.home

    def owner(handler: Callable[[Call], Reply]) -> Callable[[Call], Reply]:
        def guarded(call: Call) -> Reply:
            if call.principal != identities.OWNER:
                raise permission_denied("Only the owner may control the local cloud.")
            return handler(call)

        return guarded

    def status(_: Call) -> Reply:
        worlds = projects.worlds()
        summary: dict[str, str | int] = {"projects": ", ".join(served.project.id for served in worlds)}
        for served, service in itertools.product(worlds, services):
            if hasattr(service, "summary"):
                for name, value in service.summary(served).items():
                    before = summary.get(name)
                    counted = isinstance(before, int) and isinstance(value, int)
                    summary[name] = before + value if counted else before or value
        trouble = next((served.trouble for served in worlds if served.trouble), "")
        return Reply(body={"trouble": trouble, "summary": summary, "faults": len(world.faults.current())})

    def get_faults(_: Call) -> Reply:
        return Reply(body={"faults": [asdict(fault) for fault in world.faults.current()]})

    def set_faults(call: Call) -> Reply:
        world.faults.set(faults.parse(call.object()) if call.method == "POST" else ())
        return get_faults(call)

    def get_settings(_: Call) -> Reply:
        return Reply(body=asdict(world.settings))

    def set_settings(call: Call) -> Reply:
        try:
            for world in projects.worlds():
                world.change_settings(call.object())
        except SettingsError as error:
            raise invalid_argument(str(error)) from error
        return get_settings(call)

    def set_scenario(call: Call) -> Reply:
        try:
            return _scenario([scenarios.load(world, call.object()) for world in projects.worlds()])
        except ScenarioError as error:
            raise invalid_argument(str(error)) from error

    def kill(call: Call) -> Reply:
        wanted = call.object()
        job, replica = _text(wanted, "job"), _text(wanted, "replica")
        where, running = _find(projects.worlds(), job)
        _kill(where, running, replica)
        where.changed.set()
        return Reply(body={})

    def advance(call: Call) -> Reply:
        seconds = call.object().get("advance")
        if not isinstance(seconds, int | float) or isinstance(seconds, bool) or seconds < 0:
            raise invalid_argument("'advance' is a number of seconds that is not negative")
        if seconds > _MOST_AHEAD_S:
            raise invalid_argument("'advance' is at most 366 days at once")
        world.advance(seconds)
        for served in projects.worlds():
            served.changed.set()
        return Reply(body={"now": world.now()})

    return [
        Route("GET", "/vertex-local/status", owner(status)),
        Route(
            "GET",
            "/vertex-local/projects",
            owner(lambda _: Reply(body={"projects": [_declared(served) for served in projects.worlds()]})),
        ),
        Route(
            "POST",
            "/vertex-local/projects",
            owner(lambda call: Reply(body=_declared(projects.name(parse(call.object()))))),
        ),
        Route("GET", "/vertex-local/faults", owner(get_faults)),
        Route("POST", "/vertex-local/faults", owner(set_faults)),
        Route("DELETE", "/vertex-local/faults", owner(set_faults)),
        Route("GET", "/vertex-local/settings", owner(get_settings)),
        Route("POST", "/vertex-local/settings", owner(set_settings)),
        Route("GET", "/vertex-local/scenario", owner(lambda _: _scenario([scenarios.current(world)]))),
        Route("POST", "/vertex-local/scenario", owner(set_scenario)),
        Route(
            "DELETE",
            "/vertex-local/scenario",
            owner(lambda _: _scenario([scenarios.clear(served) for served in projects.worlds()])),
        ),
        Route("POST", "/vertex-local/kill", owner(kill)),
        Route("GET", "/vertex-local/clock", owner(lambda _: Reply(body={"now": world.now()}))),
        Route("POST", "/vertex-local/clock", owner(advance)),
    ]


def _scenario(each: Sequence[Loaded]) -> Reply:
    """Answer with the scenario in force, by which each project has machines of its own."""
    since = {"since": timestamp(each[0].since)} if each[0].document else {}
    return Reply(body={"scenario": dict(each[0].document), **since})


def _text(body: dict[str, object], key: str) -> str:
    value = body.get(key)
    if not isinstance(value, str) or not value:
        raise invalid_argument(f"'{key}' is missing: text")
    return value


def _declared(world: World) -> dict[str, object]:
    """Return a project, without the tokens of those who can sign in, which are in cloud.json."""
    return {
        "project": world.project.id,
        "number": world.project.number,
        "people": list(world.project.people),
        "groups": {group: list(members) for group, members in world.settings.groups.items()},
        "quota": dict(world.settings.quota),
    }


def _find(worlds: Sequence[World], text: str) -> tuple[World, Job]:
    """Return a job that has not ended by its full name, its id or, where only one has it, its display name."""
    matching = [
        (world, job)
        for world in worlds
        for job in jobs.started(world.store)
        if job.run and text in (job.run.id, job.run.name, job.body["displayName"])
    ]
    if not matching:
        ended = [body for world in worlds if (body := jobs.newest_named(world.store, text)) and "endTime" in body]
        then = f" Job {ended[0]['name']} ended at {ended[0]['endTime']}: {ended[0]['state']}." if ended else ""
        raise not_found(f"No job on machines has the name, id or display name '{text}'.{then}")
    if len(matching) > 1:
        ids = ", ".join(job.run.name for _, job in matching if job.run)
        raise failed_precondition(f"More than one job on machines has the name '{text}': {ids}.")
    return matching[0]


def _kill(world: World, job: Job, name: str) -> None:
    assert job.run is not None
    replica = next((item for item in job.run.replicas if item.name == name), None)
    if replica is None:
        known = ", ".join(item.name for item in job.run.replicas)
        raise not_found(f"Job {job.run.id} has no replica '{name}'; it has {known}.")
    if not runner_starter.kill(replicas.folder(world, job.run, replica)):
        raise failed_precondition(f"Replica {name} of job {job.run.id} does not run now.")
