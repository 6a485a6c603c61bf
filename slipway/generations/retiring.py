"""What retires: it is not asked for any more, and kept while something may need it. Clusters, accounts, buckets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from slipway.catalog.forms import Removed
from slipway.cloud.clusters import PersistentResource
from slipway.cloud.jobs import VertexJob
from slipway.unfinished_jobs import UNLISTED

CATALOG, WORK, TRAINER = "catalog", "work", "trainer"
"""What a bucket or an account is to a stack."""


class Why(StrEnum):
    """Why something is kept."""

    JOBS = "jobs"
    IN_USE = "in-use"
    UNREAD = "unread"
    UNPUBLISHED = "unpublished"
    DAMAGED = "damaged-catalog"
    BUSY_STATE = "busy-state"
    SUCCESSOR = "no-successor"

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
}


@dataclass(frozen=True)
class RetiringCluster:
    """A cluster of ours. `name` is what people called it; `overdue`: its successor is older than the stack's
    `retireWithin`. `removed`: since when no entry names it and what limit that had, which nothing but the catalog
    remembers."""

    cluster: PersistentResource
    name: str
    jobs: tuple[VertexJob, ...]
    why: Why
    overdue: bool = False
    removed: Removed | None = None

    @property
    def kind(self) -> str:
        return "cluster"

    @property
    def id(self) -> str:
        return self.cluster.id

    @property
    def role(self) -> str:
        return self.name


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


Retiring = RetiringCluster | RetiringWorkspaceResource
"""Of any kind. `jobs` are those that need it and have not ended: with some, they are why it stays. `id` and `role` tell
which one it is, and what it was to the stack."""
