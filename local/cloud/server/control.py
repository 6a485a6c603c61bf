"""The local cloud's own endpoints: health for everybody, the rest for the owner."""

import os
from collections.abc import Callable, Sequence
from dataclasses import asdict
from urllib.parse import parse_qsl

from .. import faults, identities
from ..clock import timestamp
from ..nodes import runner_starter
from ..settings import SettingsError
from ..supply import records as scenarios
from ..supply.parsing import ScenarioError
from ..supply.records import Loaded
from ..vertex.jobs import replicas
from ..vertex.jobs import table as jobs
from ..vertex.jobs.records import Job
from ..wire import (
    Call,
    Reply,
    Route,
    failed_precondition,
    invalid_argument,
    not_found,
    permission_denied,
)
from ..world import Service, World

_GRANT, _TOKEN_S = "urn:ietf:params:oauth:grant-type:jwt-bearer", 3599
_MOST_AHEAD_S = 366 * 24 * 3600.0


def token(world: World, body: bytes) -> Reply:
    """The token for what a role's key signed, which is the same text: it says for how long it is good."""
    sent = dict(parse_qsl(body.decode(errors="replace")))
    signed = sent.get("assertion", "")
    if sent.get("grant_type") != _GRANT or world.access.keys.principal(signed) is None:
        return Reply(400, {"error": "invalid_grant", "error_description": "Invalid JWT: it is signed by no known key."})
    return Reply(body={"access_token": signed, "expires_in": _TOKEN_S, "token_type": "Bearer"})


def health() -> Reply:
    return Reply(body={"slipway": "local cloud", "pid": os.getpid()})


def routes(world: World, services: Sequence[Service]) -> list[Route]:
    def owner(handler: Callable[[Call], Reply]) -> Callable[[Call], Reply]:
        def guarded(call: Call) -> Reply:
            if call.principal != identities.ROLES["owner"]:
                raise permission_denied("Only the owner may control the local cloud.")
            return handler(call)

        return guarded

    def status(_: Call) -> Reply:
        summary: dict[str, str | int] = {}
        for service in services:
            if hasattr(service, "summary"):
                summary |= service.summary(world)
        return Reply(body={"trouble": world.trouble, "summary": summary, "faults": len(world.faults.current())})

    def get_faults(_: Call) -> Reply:
        return Reply(body={"faults": [asdict(fault) for fault in world.faults.current()]})

    def set_faults(call: Call) -> Reply:
        world.faults.set(faults.parse(call.object()))
        return get_faults(call)

    def no_faults(call: Call) -> Reply:
        world.faults.set(())
        return get_faults(call)

    def get_settings(_: Call) -> Reply:
        return Reply(body=asdict(world.settings))

    def set_settings(call: Call) -> Reply:
        try:
            world.change_settings(call.object())
        except SettingsError as error:
            raise invalid_argument(str(error)) from error
        return get_settings(call)

    def get_scenario(_: Call) -> Reply:
        return Reply(body=_shown(scenarios.current(world)))

    def set_scenario(call: Call) -> Reply:
        try:
            return Reply(body=_shown(scenarios.load(world, call.object())))
        except ScenarioError as error:
            raise invalid_argument(str(error)) from error

    def no_scenario(_: Call) -> Reply:
        return Reply(body=_shown(scenarios.clear(world)))

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
        if seconds > _MOST_AHEAD_S:
            raise invalid_argument("'advance' is at most 366 days at once")
        world.advance(seconds)
        return Reply(body={"now": world.now()})

    return [
        Route("GET", "/slipway/status", owner(status)),
        Route("GET", "/slipway/faults", owner(get_faults)),
        Route("POST", "/slipway/faults", owner(set_faults)),
        Route("DELETE", "/slipway/faults", owner(no_faults)),
        Route("GET", "/slipway/settings", owner(get_settings)),
        Route("POST", "/slipway/settings", owner(set_settings)),
        Route("GET", "/slipway/scenario", owner(get_scenario)),
        Route("POST", "/slipway/scenario", owner(set_scenario)),
        Route("DELETE", "/slipway/scenario", owner(no_scenario)),
        Route("POST", "/slipway/kill", owner(kill)),
        Route("GET", "/slipway/clock", owner(clock)),
        Route("POST", "/slipway/clock", owner(advance)),
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
    if not runner_starter.kill(replicas.folder(world, job.run, replica)):
        raise failed_precondition(f"Replica {name} of job {job.run.id} does not run now.")
