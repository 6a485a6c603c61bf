"""Accounts and buckets, which retire as clusters do: what an unfinished job needs stays until it has ended.

A bucket or an account can't be renamed, and the provider would replace it: make another and delete this one, whoever
uses it. So the other one is another resource, with a logical name of its own, and this one keeps the name that it has.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from slipway.live import LiveJob
from slipway.state import State

CATALOG, WORK, TRAINER = "catalog", "work", "trainer"


@dataclass(frozen=True)
class RetiringThing:
    """An account (`role` is trainer) or a bucket (catalog, work) of ours that is not asked for any more.

    `logical` is its name in the engine's state, `name` the account's address or the bucket's name. `why` it is kept, in
    words; with `jobs` those are why. `grants`: the roles on the project that the account has, by logical name.
    """

    role: str
    logical: str
    name: str
    jobs: tuple[LiveJob, ...] = ()
    why: str = ""
    grants: Mapping[str, str] = field(default_factory=dict)

    @property
    def words(self) -> str:
        return f"account {self.name}" if self.role == TRAINER else f"bucket gs://{self.name}"


@dataclass(frozen=True)
class Things:
    """`logical`: by role, the logical name of what is asked for. `released` are not declared: nobody needs them.

    `grants`: the roles on the project, by logical name, that the account has and keeps while jobs run as it.
    """

    logical: Mapping[str, str] = field(default_factory=lambda: {role: role for role in (CATALOG, WORK, TRAINER)})
    retiring: tuple[RetiringThing, ...] = ()
    released: tuple[RetiringThing, ...] = ()
    grants: Mapping[str, str] = field(default_factory=dict)


def things(known: State, wanted: Mapping[str, str], jobs: tuple[LiveJob, ...], doubt: str = "") -> Things:
    """`wanted`: by role, the name of what is asked for. `doubt`: why jobs may be missing, which keeps everything."""
    logical: dict[str, str] = {}
    retiring: list[RetiringThing] = []
    released: list[RetiringThing] = []
    for role, name in wanted.items():
        old = _of(role, known)
        logical[role] = _logical(role, name, old)
        for known_as, each in old.items():
            if each == name:
                continue
            users = _users(each, jobs)
            thing = RetiringThing(role, known_as, each, users, "" if users else doubt, _grants(role, each, known))
            (retiring if users or doubt else released).append(thing)
    account = wanted.get(TRAINER, "")
    grants = _grants(TRAINER, account, known) if _users(account, jobs) or doubt else {}
    return Things(logical, tuple(retiring), tuple(released), grants)


def _users(name: str, jobs: tuple[LiveJob, ...]) -> tuple[LiveJob, ...]:
    return tuple(job for job in jobs if not job.ended and job.needs(name))


def _of(role: str, known: State) -> dict[str, str]:
    """What the state has in a role, by logical names."""
    pairs = (
        [(one.role, one.email) for one in known.accounts]
        if role == TRAINER
        else [(one.role, one.name) for one in known.buckets]
    )
    return {logical: name for logical, name in pairs if name and (logical == role or logical.startswith(f"{role}-"))}


def _logical(role: str, name: str, old: Mapping[str, str]) -> str:
    """The one it has; else the plain one, which is frozen for the first; else one that tells it from the others."""
    same = [logical for logical, each in old.items() if each == name]
    if same:
        return same[0]
    return role if role not in old else f"{role}-{name.partition('@')[0]}"


def _grants(role: str, name: str, known: State) -> dict[str, str]:
    if role != TRAINER:
        return {}
    return {one.name: one.role for one in known.grants if one.member == f"serviceAccount:{name}"}
