"""The local cloud's own endpoints: health for everybody, the rest for the owner."""

import os
from collections.abc import Callable, Sequence
from dataclasses import asdict

from local.cloud import faults, identities
from local.cloud.capacity import control as capacity
from local.cloud.services import Service, World
from local.cloud.settings import SettingsError
from local.cloud.wire import Call, Reply, Route, invalid_argument, permission_denied


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

    return [
        Route("GET", "/slipway/status", owner(status)),
        Route("GET", "/slipway/faults", owner(get_faults)),
        Route("POST", "/slipway/faults", owner(set_faults)),
        Route("DELETE", "/slipway/faults", owner(no_faults)),
        Route("GET", "/slipway/settings", owner(get_settings)),
        Route("POST", "/slipway/settings", owner(set_settings)),
        *(Route(method, path, owner(handler)) for method, path, handler in capacity.endpoints(world)),
    ]
