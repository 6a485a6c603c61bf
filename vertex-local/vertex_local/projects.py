"""The projects of the local cloud, the one that it always has and those named since, each a world in a folder."""

import logging
import re
import sqlite3
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter
from typing import Any

from . import addressing
from .iam import service_accounts
from .identities import Project, folder_of
from .program import COMMAND
from .quotas import metrics
from .repository import Repository
from .settings import SettingsError
from .storage.records import BUCKETS
from .supply import machines
from .wire import invalid_argument, permission_denied, unimplemented
from .world import World, open_world

_log = logging.getLogger("vertex_local")
# Files and folders are named for projects and people: both are of bounded length.
_ID = re.compile(r"([a-z0-9][a-z0-9.-]{0,62}:)?[a-z][a-z0-9-]{4,28}[a-z0-9]")
_EMAIL = re.compile(r"[!-.0-?A-~]{1,64}@[!-.0-?A-~]{1,160}")
_PERSON = re.compile(rf"(user|serviceAccount):{_EMAIL.pattern}")
_GROUP = re.compile(rf"group:{_EMAIL.pattern}")


@dataclass(frozen=True)
class Declaration:
    """The declaration of a project."""

    project: str
    #: Members by group.
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    #: Principals who can sign in.
    people: tuple[str, ...] = ()
    #: Emails of service accounts that exist before a stack.
    accounts: tuple[str, ...] = ()
    #: Limits by METRIC or METRIC.REGION.
    quota: Mapping[str, int] = field(default_factory=dict)
    #: Given by the cloud.
    number: str = ""

    def joined(self, other: "Declaration") -> "Declaration":
        """Return both declarations, as of several stacks in a project: nobody leaves, and the higher limits hold."""
        groups = {name: _union(self.groups.get(name, ()), members) for name, members in other.groups.items()}
        return replace(
            self,
            groups={**self.groups, **groups},
            people=_union(self.people, other.people),
            accounts=_union(self.accounts, other.accounts),
            quota={**self.quota, **{name: _higher(self.quota.get(name), most) for name, most in other.quota.items()}},
        )


_DECLARED = Repository(kind="namedProject", record=Declaration, key=attrgetter("project"))


def parse(body: Mapping[str, Any]) -> Declaration:
    """Return the declaration in a client's body. Raises 400."""
    for name in body.keys() - {"project", "groups", "people", "accounts", "quota"}:
        raise invalid_argument(f"A project has no '{name}': it has project, groups, people, accounts, quota.")
    project = body.get("project")
    if not isinstance(project, str) or not _ID.fullmatch(project):
        raise invalid_argument(
            f"'{project}' is not a project's id: 6 to 30 lowercase letters, digits and dashes, "
            "after DOMAIN: of at most 63 where it is of a domain."
        )
    groups, quota = body.get("groups", {}), body.get("quota", {})
    if not isinstance(groups, Mapping) or not isinstance(quota, Mapping):
        raise invalid_argument("'groups' and 'quota' are objects.")
    if not all(isinstance(most, int) and not isinstance(most, bool) and most >= -1 for most in quota.values()):
        raise invalid_argument("'quota' has whole numbers, -1 for no limit.")
    _texts([*groups], _GROUP)
    for limit in quota:
        _check_metric(limit)
    return Declaration(
        project,
        {str(group): _texts(members, _PERSON) for group, members in groups.items()},
        _texts(body.get("people", []), _PERSON),
        _texts(body.get("accounts", []), _EMAIL),
        dict(quota),
    )


class Projects:
    """The worlds of a cloud's projects."""

    def __init__(self, home: World) -> None:
        self._home, self._lock = home, threading.Lock()
        self._worlds: dict[str, World] = {home.project.id: home}
        self._told: list[Callable[[World], None]] = []
        home.all = self.worlds
        for known in _DECLARED.every(home.store):
            try:
                self._open(known)
            except (OSError, sqlite3.Error) as error:
                _log.error("project %s can't be opened and is left out: %s", known.project, error)

    @property
    def home(self) -> World:
        return self._home

    def worlds(self) -> Sequence[World]:
        return tuple(self._worlds.values())

    def follow(self, tell: Callable[[World], None]) -> None:
        """Call `tell` with each world, and again whenever somebody names its project."""
        with self._lock:
            self._told.append(tell)
            for world in self.worlds():
                tell(world)

    def name(self, wanted: Declaration) -> World:
        """Return the project's world, a new one or with what the declaration adds. Raises 400."""
        with self._lock:
            store = self._home.store
            with store.transaction():
                declared, number = _DECLARED.get(store, wanted.project), int(self._home.project.number)
                if wanted.project != self._home.project.id and not declared:
                    number += store.next_id(_DECLARED.kind)
                whole = declared.joined(wanted) if declared else replace(wanted, number=str(number))
                try:
                    self._home.settings.changed({f"quota.{limit}": most for limit, most in whole.quota.items()})
                except SettingsError as error:
                    raise invalid_argument(str(error)) from error
                _DECLARED.put(store, whole)
                world = self._open(whole)  # A world that can't be opened is not kept.
            for tell in self._told:
                tell(world)
        return world

    def identify(self, token: str) -> str | None:
        """Return the principal of a token, whichever project it was made for."""
        principals = (world.access.identify(token) for world in self.worlds())
        return next((principal for principal in principals if principal is not None), None)

    def addressed(self, path: str, query: Mapping[str, str], body: bytes) -> World:
        """Return the world that a request addresses. Raises 403 for a project that nobody named."""
        target = addressing.target(path, query, body)
        owners = {
            world.project.id: world
            for bucket in target.buckets
            for world in self.worlds()
            if BUCKETS.get(world.store, bucket)
        }
        if len(owners) > 1:
            raise unimplemented(f"One call for buckets of several projects is not served: {', '.join(owners)}.")
        if owners:
            return next(iter(owners.values()))
        if target.account:
            return next((world for world in self.worlds() if world.project.owns(target.account)), self._home)
        if not target.project:
            return self._home
        named = next((world for world in self.worlds() if world.project.is_called(target.project)), None)
        if named is None:
            known = ", ".join(world.project.id for world in self.worlds())
            raise permission_denied(
                f"This is the local cloud, and nobody has named the project '{target.project}' to it; it has {known}. "
                f"`{COMMAND} up --project {target.project}` names it."
            )
        return named

    def _open(self, wanted: Declaration) -> World:
        """Return the world as it is declared; its existing parts stay."""
        home, world = self._home, self._worlds.get(wanted.project)
        if world is None:
            folder = folder_of(home.state_folder, wanted.project)
            folder.parent.mkdir(mode=0o700, exist_ok=True)
            project = Project(wanted.project, wanted.number)
            world = open_world(folder, url=home.url, clock=home.clock, chosen=home.settings, project=project)
            world.faults, world.all = home.faults, self.worlds
        people = _union(world.project.people, wanted.people)
        world.project = replace(world.project, people=people)
        settings = world.settings
        world.settings = replace(
            settings, groups={**settings.groups, **wanted.groups}, quota={**settings.quota, **wanted.quota}
        )
        with world.store.transaction():
            for email in wanted.accounts:
                service_accounts.make(world, email)
        self._worlds[wanted.project] = world
        return world


def _check_metric(limit: str) -> None:
    metric, dot, region = limit.partition(".")
    if metric not in {quota.metric for quota in metrics.table().quotas}:
        raise invalid_argument(f"'quota' has no metric '{metric}'; one is custom_model_training_cpus.")
    if dot and region not in machines.table().all_regions:
        raise invalid_argument(f"'quota' has '{limit}', and there is no region '{region}'.")


def _texts(value: Any, form: re.Pattern[str]) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(member, str) and form.fullmatch(member) for member in value):
        raise invalid_argument(f"{value!r} is not a list of texts of the form {form.pattern}.")
    return tuple(value)


def _union(some: Sequence[str], more: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*some, *more)))


def _higher(known: int | None, other: int) -> int:
    return other if known is None else -1 if -1 in (known, other) else max(known, other)
