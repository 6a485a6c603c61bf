"""Reasons for what becomes of a cluster; accounts and buckets that retire: kept while something may need them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from slipway.cloud.jobs import VertexJob
from slipway.unfinished_jobs import UNLISTED

CATALOG, WORK, TRAINER = "catalog", "work", "trainer"
"""What a bucket or an account is to a stack."""


class Why(StrEnum):
    """Why something is kept, or else becomes of a cluster. Frozen: a deployment publishes those of what is kept."""

    JOBS = "jobs"
    IN_USE = "in-use"
    UNREAD = "unread"
    UNPUBLISHED = "unpublished"
    DAMAGED = "damaged-catalog"
    BUSY_STATE = "busy-state"
    SUCCESSOR = "no-successor"
    ASKED = "asked-for"
    DEPLOYED = "deployed"
    SEASON = "season"
    AWAITED = "awaited"
    IDLE = "idle"
    IN_PLACE = "in-place"
    FAILED = "failed"
    PROTECTED = "protected"

    @property
    def words(self) -> str:
        return _WORDS[self]


_WORDS = {
    Why.JOBS: "jobs on it",
    Why.IN_USE: UNLISTED,
    Why.UNREAD: "the jobs were not read",
    Why.UNPUBLISHED: "the published catalog does not list it yet",
    Why.DAMAGED: "the published catalog is damaged",
    Why.BUSY_STATE: "can't be deleted in its state",
    Why.SUCCESSOR: "its successor does not run yet",
    Why.ASKED: "the stack file asks for it",
    Why.DEPLOYED: "it is deployed as it is",
    Why.SEASON: "it is in its season again, and still lives",
    Why.AWAITED: "it was made since then",
    Why.IDLE: "idle and not asked for any more",
    Why.IN_PLACE: "it is replaced in place",
    Why.FAILED: "it failed",
    Why.PROTECTED: "it is protected",
}


@dataclass(frozen=True)
class RetiringWorkspaceResource:
    """An account (`role` is trainer) or a bucket (catalog, work) of ours. `name` is its address or its own.

    `logical` is its name in the engine's state. `grants`: the roles on the project that the account has, by logical
    name. `adopted`: somebody else made it.
    """

    role: str
    logical: str
    name: str
    jobs: tuple[VertexJob, ...] = ()
    why: Why = Why.JOBS
    grants: Mapping[str, str] = field(default_factory=dict)
    adopted: bool = False

    @property
    def kind(self) -> str:
        return "account" if self.role == TRAINER else "bucket"

    @property
    def id(self) -> str:
        return self.name

    @property
    def words(self) -> str:
        return f"account {self.name}" if self.kind == "account" else f"bucket gs://{self.name}"
