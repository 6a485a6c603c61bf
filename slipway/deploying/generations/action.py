"""`Action`: the step of a deployment about one cluster, with its reason: plans decide it, displays show it."""

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
        reason = str.__new__(cls, value)
        reason._value_, reason.words = value, words
        return reason

    JOBS = "jobs", "jobs on it"
    IN_USE = "in-use", UNLISTED
    UNREAD = "unread", "the jobs were not read"
    UNPUBLISHED = "unpublished", "the published catalog does not list it yet"
    DAMAGED = "damaged-catalog", "the published catalog is damaged"
    BUSY_STATE = "busy-state", "can't be deleted in its state"
    SUCCESSOR = "no-successor", "its successor does not run yet"
    ASKED = "asked-for", "it is asked for"
    DEPLOYED = "deployed", "it is deployed as it is"
    SEASON = "season", "it is in its season again, and still lives"
    AWAITED = "awaited", "it was made since then"
    IDLE = "idle", "idle and not asked for any more"
    IN_PLACE = "in-place", "it is replaced in place"
    FAILED = "failed", "it failed"
    PROTECTED = "protected", "it is protected"


class What(StrEnum):
    """The kinds of actions, in the order of display."""

    CREATE = "create"
    #: The cluster lives, and becomes the current one of its name.
    TAKE = "take"
    KEEP = "keep"
    ADOPT = "adopt"
    #: An adopted cluster is no longer on offer.
    LEAVE = "leave"
    REST = "rest"
    #: The cluster is no longer current, and stays while it is in use.
    RETIRE = "retire"
    #: The cluster failed, and goes before its successor is made.
    CLEAR = "clear"
    #: The cluster goes before others are made.
    DELETE_FIRST = "delete-first"
    #: The cluster goes when all else is done.
    DELETE_LAST = "delete-last"
    #: Nothing is deployed while that is asked for.
    REFUSE = "refuse"


DELETE = (What.DELETE_FIRST, What.DELETE_LAST)
REMOVALS = (*DELETE, What.CLEAR)


@dataclass(frozen=True)
class Action:
    #: The cluster's name in the stack file.
    cluster: str
    id: str
    what: What
    why: Why = Why.ASKED
    jobs: tuple[VertexJob, ...] = ()
    #: The ids of its alternatives; for a cluster that goes, the id of its successor, where that is to be made.
    instead: tuple[str, ...] = ()
    current: CurrentCluster | None = None
    living: PersistentResource | None = None
    #: Set for REST, and for a cluster that goes because its entry rests.
    dormant: Dormancy | None = None
    overdue: bool = False
    #: Since when no entry names it, and with what limit.
    removed: Removed | None = None
    #: The edited keys of a protected cluster.
    edited: tuple[str, ...] = ()
    #: For REST, the date that brings the cluster.
    when: datetime | None = None
