"""The world that every service gets.

A service is a module with `API`, its name in Service Usage (a disabled one answers 403), `routes(world)`, and where it
has them `loops(world)`, its background work, and `summary(world)`, words to numbers or texts for `status`.
"""

import os
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from . import settings
from .access import policies
from .access.keys import Keys
from .access.permissions import Access
from .access.policies import Policies
from .clock import Clock, RealClock, timestamp
from .faults import Faults
from .identities import HOME, Project
from .log_store import Logs
from .rate_limits import Limits
from .settings import Settings
from .store import Store
from .trash import Trash


class Loop(Protocol):
    """Background work of a service."""

    def start(self) -> None: ...

    def stop(self) -> None:
        """Return when the work has ended."""


class World:
    """Everything that the services of a project share.

    `url` is the cloud's base without a trailing slash; `state_folder` is absolute; `trouble` is the last write's error
    (a full disk), "" when it went well. `changed` is set when background work should look again at once. `quota_in_use`
    returns the use in a region, by metric; the service that draws quota puts its own in place. `all` are the worlds of
    the cloud's projects, this one among them.
    """

    def __init__(self, state_folder: Path, url: str, clock: Clock, chosen: Settings, project: Project) -> None:
        self.state_folder, self.project = state_folder, project
        self.url = url
        self.clock = clock
        self.store = Store(state_folder / "cloud.sqlite")
        self.logs = Logs(state_folder / "logs.sqlite")
        self.trash = Trash(state_folder / "trash")
        self.policies = Policies(
            self.store, project, lambda: self.settings, lambda: [world.project for world in self.all()]
        )
        keys = Keys(state_folder, lambda: self.project)
        self.access = Access(self.store, self.policies, clock, lambda: self.settings, keys, project)
        self.limits = Limits(clock, lambda: self.settings, project.number)
        self.faults = Faults()
        self.settings = chosen
        self.trouble = ""
        self.changed = threading.Event()
        self.quota_in_use: Callable[[str], Counter[str]] = lambda _region: Counter()
        self.all: Callable[[], Sequence[World]] = lambda: (self,)

    def now(self) -> str:
        """Return the time as the APIs write it."""
        return timestamp(self.clock.now())

    def advance(self, seconds: float) -> None:
        """Move the clock ahead, and keep it there when the cloud is started again."""
        with self.store.transaction():
            moved = (self.store.get("clock", "ahead") or {"seconds": 0.0})["seconds"]
            self.store.put("clock", "ahead", {"seconds": moved + seconds})
        self.clock.advance(seconds)
        self.changed.set()

    def change_settings(self, values: Mapping[str, Any]) -> Settings:
        """Change settings while running and return them. Raises SettingsError, and then nothing is changed."""
        self.settings = self.settings.changed(values)
        return self.settings


def disabled_apis(world: World) -> set[str]:
    """Return the APIs that Service Usage has switched off (`aiplatform.googleapis.com`, …)."""
    return {name for name, _ in world.store.list("disabledApi")}


def open_world(
    state_folder: Path,
    *,
    url: str = "http://127.0.0.1:0",
    clock: Clock | None = None,
    chosen: Settings | None = None,
    project: Project = HOME,
) -> World:
    """Return the world of a state folder, made with its project, service accounts and policy when it is new."""
    state_folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    if chosen is None:
        chosen = settings.load(state_folder / settings.FILE, settings.pairs(os.environ.get("VERTEX_LOCAL_SET", "")))
    world = World(state_folder.resolve(), url, clock or RealClock(), chosen, project)
    if clock is None:
        world.clock.advance((world.store.get("clock", "ahead") or {"seconds": 0.0})["seconds"])
    with world.store.transaction():
        if world.store.get("project", project.id) is None:
            _bootstrap(world)
    return world


def _bootstrap(world: World) -> None:
    project = world.project
    shown = {"projectId": project.id, "projectNumber": project.number, "createTime": world.now()}
    world.store.put("project", project.id, shown)
    for at, (email, (title, description)) in enumerate(project.service_accounts.items(), 1):
        more = {"description": description} if description else {}
        made = project.account(email, f"1{at:020d}", displayName=title, etag="MDEwMjE5MjA=", **more)
        policies.ACCOUNTS.put(world.store, made)
    world.policies.seed(policies.project_name(project.id), project.bindings)
