"""`Action`: the step of a deployment about one cluster, with its reason. A plan decides it, and every display shows
it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from slipway.deploying.generations.dormant import Dormancy
from slipway.google.clusters import PersistentResource
from slipway.google.jobs import VertexJob
from slipway.google.unfinished_jobs import UNLISTED
from slipway.model.catalog.forms import Removed
from slipway.model.cluster import CurrentCluster


class Why(StrEnum):
    """The reason for an action. Frozen: a deployment publishes the reasons of kept clusters."""

    _value_: str
    words: str

    def __new__(cls, value: str, words: str) -> Why:
        one = str.__new__(cls, value)
        one._value_, one.words = value, words
        return one

    JOBS = "jobs", "jobs on it"
    IN_USE = "in-use", UNLISTED
    UNREAD = "unread", "the jobs were not read"
    UNPUBLISHED = "unpublished", "the published catalog does not list it yet"
    DAMAGED = "damaged-catalog", "the published catalog is damaged"
    BUSY_STATE = "busy-state", "can't be deleted in its state"
    SUCCESSOR = "no-successor", "its successor does not run yet"
    ASKED = "asked-for", "the stack file asks for it"
    DEPLOYED = "deployed", "it is deployed as it is"
    SEASON = "season", "it is in its season again, and still lives"
    AWAITED = "awaited", "it was made since then"
    IDLE = "idle", "idle and not asked for any more"
    IN_PLACE = "in-place", "it is replaced in place"
    FAILED = "failed", "it failed"
    PROTECTED = "protected", "it is protected"


class What(StrEnum):
    """Actions in the order of display. TAKE: it lives, and becomes the current one. LEAVE: adopted, and no longer on
    offer. CLEAR: it failed, and goes before its successor is made. REFUSE: nothing is deployed while that is asked
    for."""

    CREATE = "create"
    TAKE = "take"
    KEEP = "keep"
    ADOPT = "adopt"
    LEAVE = "leave"
    REST = "rest"
    RETIRE = "retire"
    CLEAR = "clear"
    DELETE_FIRST = "delete-first"
    DELETE_LAST = "delete-last"
    REFUSE = "refuse"


DELETE = (What.DELETE_FIRST, What.DELETE_LAST)


@dataclass(frozen=True)
class Action:
    """A step about one cluster. `cluster` is its display name, `jobs` have not ended. `instead`: ids of its
    alternatives; for a cluster that goes, that of its successor, where it is to be made.

    `current` is declared, `living` exists. `dormant`: for REST, and for a cluster that goes because its entry rests.
    `overdue`: it should have retired by now. `removed`: since when no entry names it, and with what limit. `edited`:
    keys of a protected cluster. `when`: for REST, the date that brings it.
    """

    cluster: str
    id: str
    what: What
    why: Why = Why.ASKED
    jobs: tuple[VertexJob, ...] = ()
    instead: tuple[str, ...] = ()
    current: CurrentCluster | None = None
    living: PersistentResource | None = None
    dormant: Dormancy | None = None
    overdue: bool = False
    removed: Removed | None = None
    edited: tuple[str, ...] = ()
    when: datetime | None = None
