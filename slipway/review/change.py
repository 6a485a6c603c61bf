"""A change of one stack, as far as it is known: what every comparison in this folder takes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property

from slipway.catalog.model import Catalog
from slipway.cloud.clusters import PersistentResource
from slipway.cloud.jobs import VertexJob
from slipway.deployment.actions import of_catalog
from slipway.facts import Facts
from slipway.generations.action import Action, What
from slipway.live import Live, Unknown
from slipway.review.preview import Preview
from slipway.review.touched import Touched, touched


@dataclass(frozen=True)
class Change:
    """`before` is what is deployed: the published catalog, which names nothing that is not there, and of what no
    catalog has (who may submit, quota, what is kept) the components' own last inputs. None: nothing is deployed, or
    nobody can tell, which `unread` says. `after` is what the program declares; None where it refused before it could.

    `live` are clusters, jobs that have not ended, limits. `recent` are the jobs of the last 30 days, ended ones too.
    `preview` is None where the engine has not been asked (the program itself, at the start of a preview).
    `files` are the paths that the change touches, relative to the checkout; None where nobody told. `removed` are those
    of them that it deletes.
    `unread`: what the comparison had to do without, a sentence each, for the first line. `notes`: what else a reader
    should know of how it was made. `template_code`: by file, what touched files of templates do beside declaring one,
    in words.
    """

    stack: str
    before: Facts | None
    after: Facts | None
    live: Live
    now: datetime
    preview: Preview | None = None
    recent: tuple[VertexJob, ...] | Unknown = ()
    files: frozenset[str] | None = None
    unread: tuple[str, ...] = field(default=())
    removed: frozenset[str] = frozenset()
    notes: tuple[str, ...] = ()
    template_code: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def old(self) -> Catalog | None:
        return self.before.catalog if self.before else None

    @property
    def new(self) -> Catalog | None:
        return self.after.catalog if self.after else None

    @property
    def published(self) -> Catalog | None:
        """The catalog as people find it: a deployment that was cut short may have taken clusters out of it."""
        return self.live.deployed

    @cached_property
    def actions(self) -> tuple[Action, ...]:
        """Return what a deployment does, as this version decides it for what the program publishes."""
        return of_catalog(self.new, self.old, self.live, self.now) if self.new else ()

    def of(self, *what: What) -> tuple[Action, ...]:
        return tuple(one for one in self.actions if one.what in what)

    def ids(self, *what: What) -> frozenset[str]:
        return frozenset(one.id for one in self.of(*what))

    @cached_property
    def touched(self) -> tuple[Touched, ...]:
        return touched(self.preview) if self.preview else ()

    @cached_property
    def jobs(self) -> tuple[VertexJob, ...]:
        """Return the jobs that have not ended; none where they could not be read."""
        return () if isinstance(self.live.jobs, Unknown) else tuple(job for job in self.live.jobs if not job.ended)

    def jobs_on(self, id_: str) -> tuple[VertexJob, ...]:
        return tuple(job for job in self.jobs if job.persistent_resource_id == id_)

    @cached_property
    def living(self) -> Mapping[str, PersistentResource] | None:
        """Clusters by id; None where they could not be read."""
        clusters = self.live.clusters
        if self.live.skipped or isinstance(clusters, Unknown):
            return None
        return {one.id: one for one in clusters}

    @property
    def retiring(self) -> frozenset[str]:
        """Ids of clusters that were retiring before."""
        if self.before is None:
            return frozenset()
        kept = (one.id for one in self.before.kept.values() if one.kind == "cluster")
        return frozenset((*self.before.catalog.retiring, *kept))
