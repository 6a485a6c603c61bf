"""The two sides of a change of one stack, and the live state that both are asked about. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from functools import cached_property

from slipway.deploying.deployment.actions import of_catalog
from slipway.deploying.engine.preview import Preview
from slipway.deploying.engine.touched import Touched, touched
from slipway.deploying.generations.action import Action, What
from slipway.google.clusters import PersistentResource
from slipway.google.jobs import VertexJob, distinct
from slipway.google.live import Live, Unknown
from slipway.google.permissions import Bound
from slipway.model.catalog.model import Catalog
from slipway.model.catalog.renaming import as_called, other_names
from slipway.model.catalog.withdrawal import replacing
from slipway.model.facts import Facts

DAYS = 30
"""The days of jobs that a review reads."""


class Side(StrEnum):
    """A side of a change."""

    BEFORE = "before"
    AFTER = "after"


@dataclass(frozen=True)
class World:
    """The live state and the time that both sides are asked about."""

    live: Live
    now: datetime
    #: The IAM policies of adopted buckets, by name.
    policies: Mapping[str, frozenset[Bound] | Unknown] = field(default_factory=dict)

    @cached_property
    def unfinished(self) -> tuple[VertexJob, ...]:
        """The jobs that have not ended, queued ones included; none if they can't be read."""
        if isinstance(self.live.jobs, Unknown):
            return ()
        return tuple(job for job in self.live.jobs if not job.ended)

    @cached_property
    def live_clusters(self) -> Mapping[str, PersistentResource] | None:
        """The clusters of Vertex AI that did not fail, by id; None if they could not be read."""
        if self.live.skipped or isinstance(self.live.clusters, Unknown):
            return None
        return {cluster.id: cluster for cluster in self.live.clusters if not cluster.failed}

    @cached_property
    def recent(self) -> tuple[VertexJob, ...]:
        """The jobs of the last `DAYS` days and the unfinished ones, one for each submission."""
        ended = () if isinstance(self.live.recent, Unknown) else self.live.recent
        return tuple(distinct((*ended, *self.unfinished)))

    def jobs_on(self, cluster_id: str) -> tuple[VertexJob, ...]:
        return tuple(job for job in self.unfinished if job.persistent_resource_id == cluster_id)


@dataclass(frozen=True)
class Comparison:
    """A stack before and after a change.

    Before is what is deployed (the published catalog, and the components' own last inputs for the parts that no catalog
    has). After is what the program declares. A side that is unknown is equal to the other one, so that nothing differs.
    """

    stack: str
    before: Facts
    after: Facts
    world: World
    #: None without the engine.
    preview: Preview | None = None
    unknown: frozenset[Side] = frozenset()
    #: Nothing is deployed yet; `before` is an empty stack.
    first: bool = False
    #: New names of templates by the deployed ones; `before` already has the new ones.
    renamed: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def between(
        cls,
        stack: str,
        before: Facts | None,
        after: Facts | None,
        world: World,
        *,
        preview: Preview | None = None,
        known: bool = True,
    ) -> Comparison:
        """Return the comparison of two sides.

        Args:
            stack: The stack's name.
            before: The deployed facts; None if nothing is deployed or, without `known`, if they can't be read.
            after: The declared facts; None if the program failed before it declared them.
            world: The live state and the time.
            preview: The engine's preview.
            known: Whether `before` could be read.
        """
        first = before is None and after is not None and known
        unknown = set()
        if before is None and not first:
            unknown.add(Side.BEFORE)
        if after is None:
            unknown.add(Side.AFTER)
        declared = after or before or Facts(empty_catalog(stack, "", ""))
        deployed = before or declared
        if first:
            deployed = _nothing_deployed(declared)
        # A template that can't be loaded remains as deployed until the deployment succeeds.
        kept = {name: each for name, each in deployed.catalog.templates.items() if name in declared.unloaded}
        templates = {**kept, **declared.catalog.templates}
        declared = replace(declared, catalog=replace(declared.catalog, templates=templates))
        renamed = other_names(deployed.catalog, declared.catalog)
        deployed = replace(deployed, catalog=as_called(deployed.catalog, renamed))
        return cls(stack, deployed, declared, world, preview, frozenset(unknown), first, renamed)

    @cached_property
    def old(self) -> Catalog:
        """The deployed catalog, with who can submit as which account."""
        return self.before.with_submitters

    @cached_property
    def new(self) -> Catalog:
        """The declared catalog, with who can submit as which account."""
        return self.after.with_submitters

    @property
    def published(self) -> Catalog | None:
        """The catalog as submitters find it. An interrupted deployment may have removed clusters from it."""
        return self.world.live.deployed

    @property
    def is_moved(self) -> bool:
        """Return whether the stack gets another project or region."""
        return (self.old.project, self.old.region) != (self.new.project, self.new.region)

    @property
    def interrupted(self) -> frozenset[str] | None:
        """The clusters that an interrupted deployment of this commit was replacing in place; None without one."""
        published = self.published
        if published is None or self.new.dirty or published.under_way != self.new.commit:
            return None
        return replacing(published)

    def planned(self, *actions: What) -> frozenset[str]:
        """Return the ids of the clusters that the plan does this with."""
        return frozenset(action.id for action in self.actions if action.what in actions)

    @cached_property
    def actions(self) -> tuple[Action, ...]:
        """The plan of the deployment: what happens to which cluster."""
        if Side.AFTER in self.unknown:
            return ()
        deployed = None if self.first or Side.BEFORE in self.unknown else self.old
        return of_catalog(self.new, deployed, self.world.live, self.world.now)

    @cached_property
    def actions_before(self) -> tuple[Action, ...]:
        """The plan of the next deployment without this change."""
        if self.first or Side.BEFORE in self.unknown:
            return ()
        return of_catalog(self.old, self.old, self.world.live, self.world.now)

    @cached_property
    def touched(self) -> tuple[Touched, ...]:
        """The resources that the engine changes; none without a preview."""
        return touched(self.preview) if self.preview else ()


def empty_catalog(stack: str, project: str, region: str) -> Catalog:
    """Return the catalog of a stack that offers nothing."""
    return Catalog(
        stack=stack,
        project=project,
        region=region,
        commit="",
        dirty=False,
        work_bucket="",
        trainer="",
        clusters={},
        retiring=(),
        templates={},
    )


def _nothing_deployed(declared: Facts) -> Facts:
    """Return an empty stack in the place and under the settings of the declared one."""
    catalog = empty_catalog(declared.catalog.stack, declared.catalog.project, declared.catalog.region)
    quota = replace(declared.quota, lines={}, requests=None)
    return Facts(catalog, code=declared.code, quota=quota, policy=declared.policy)
