"""The catalog, which a stack publishes for all submitters: these types define the document for writer and reader.

Readers pass over unknown keys, so adding a field keeps the schema; renaming or removing one raises it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated

from slipway.base.codec import NOT_WRITTEN, At, Else
from slipway.base.formatting import exact_span, join
from slipway.model.agents import AgentAllowance
from slipway.model.budget import Budget
from slipway.model.catalog.clusters import Cluster, DormantCluster
from slipway.model.catalog.forms import (
    BUCKET,
    PLAIN_NAME,
    PROJECT,
    QUOTA_ID,
    Removed,
    Seconds,
    Text,
    Texts,
)
from slipway.model.catalog.template import Offer, Regions, Template
from slipway.model.cluster import Reservation, at_once
from slipway.model.identity import Identity
from slipway.model.labels import Revision
from slipway.model.origin import Origin, Program

SCHEMA = 2
NAME = "catalog.json"
"""The object's name, in the catalog bucket."""
PACKAGES = "packages/"
"""The prefix of the packages' names there."""
VARIABLE = "SLIPWAY_CATALOG"
"""The environment variable with the address of the catalog in use."""
HISTORY = "history/"
"""The prefix of the objects there that keep a stack's history."""
HISTORY_DAYS = 400
"""The days for which they are kept: a year of samples, and the month to compare with."""
BOARD = "board/"
"""The prefix of the page, which the hourly run writes where the stack asks for it."""
CONFIRM_ABOVE = 1.0
"""USD an hour, where a stack says no other, above which a submission is confirmed."""


@dataclass(frozen=True)
class Team:
    """A team of the stack."""

    submitters: Texts = ()
    #: The names of the clusters that take its jobs alone.
    clusters: Texts = ()


@dataclass(frozen=True)
class SessionLimits:
    """Where the stack lets sessions run, and for how long."""

    #: After its start; None for as long as a job may.
    max: Seconds = None
    #: `cluster/pool`; None for wherever a job may.
    pools: tuple[str, ...] | None = None

    def within(self, other: SessionLimits) -> bool:
        """Tell whether they allow no more than others."""
        shorter = other.max is None or (self.max is not None and self.max <= other.max)
        fewer = other.pools is None or (self.pools is not None and {*self.pools} <= {*other.pools})
        return shorter and fewer

    def __str__(self) -> str:
        """Return `on cpu/workers for up to 8 h`."""
        where = "anywhere" if self.pools is None else f"on {join(self.pools, 'or')}" if self.pools else "nowhere"
        return f"{where} for up to {exact_span(self.max.total_seconds())}" if self.max and self.pools != () else where


@dataclass(frozen=True)
class Catalog:
    """The offers of one stack."""

    stack: Annotated[str, PLAIN_NAME]
    project: Annotated[str, PROJECT]
    region: Annotated[str, PLAIN_NAME]
    commit: Text
    dirty: Annotated[bool, Else(False)]
    #: The bucket of claims and code, and of the output of jobs in `region`.
    work_bucket: Annotated[str, At("storage.work"), BUCKET]
    trainer: Text
    clusters: Mapping[str, Cluster]
    #: Ids of clusters that finish their jobs and go.
    retiring: Texts
    templates: Mapping[str, Template]
    catalog_bucket: Annotated[str, At("storage.catalog")] = ""
    #: By region, the bucket for the output of jobs there.
    work_elsewhere: Annotated[Mapping[str, Annotated[str, BUCKET]] | None, At("storage.workElsewhere")] = None
    #: Declared clusters that do not exist.
    dormant: Mapping[str, DormantCluster] = field(default_factory=dict)
    reservations: Mapping[str, Reservation] = field(default_factory=dict)
    #: Other accounts that jobs may run as, by the name that a template chooses them by.
    trainers: Mapping[str, str] = field(default_factory=dict)
    #: Clusters among the retiring whose entry is gone, by id.
    removed: Mapping[str, Removed] | None = None
    #: The commit of a later deployment that did not come to its end.
    under_way: str | None = None
    #: Regions besides `region` where the stack's clusters are or may come to be.
    other_regions: Regions | None = None
    #: Regions of former clusters, so that their jobs are found there, and of a cluster that outlived a deployment.
    former_regions: Regions | None = None
    #: Ids of the quotas that jobs draw, by metric, as the service lists them.
    quotas: Mapping[str, Annotated[str, QUOTA_ID]] | None = None
    #: How often a deployment restored this catalog, or what its jobs need, after a deletion outside of Pulumi.
    restored: int | None = None
    #: USD an hour, of machines neither a pool's nor reserved, above which a submission is confirmed.
    confirm_above: float = CONFIRM_ABOVE
    #: Members, by the trainer that they may submit as: the project's other stacks leave them their roles.
    submitters: Mapping[str, Texts] = field(default_factory=dict)
    teams: Mapping[str, Team] = field(default_factory=dict)
    budget: Budget | None = None
    agents: AgentAllowance | None = None
    #: The hourly run writes the page into the catalog's bucket.
    board: bool | None = None
    #: The stack lets templates with `code_flag` run a folder's own code.
    code: bool | None = None
    #: A submission may ask for shells in its job's machines.
    shell: bool | None = None
    #: Members that may have others' jobs make room for theirs.
    urgent: Texts | None = None
    #: Machines of a cluster by team, while others wait.
    shares: Mapping[str, Mapping[str, int]] | None = None
    sessions: SessionLimits | None = None
    #: The full name of the secret with the address that is told how jobs go.
    notify: str | None = None
    #: The program that declares it; None for a stack file.
    program: Program | None = None
    #: The Pulumi project that published it; None where none is known.
    pulumi_project: str | None = None
    source: Annotated[str, NOT_WRITTEN] = field(default="", compare=False)

    @property
    def origin(self) -> Origin:
        return self.program or Origin(self.stack)

    @property
    def identity(self) -> Identity:
        """The identity of its deployment."""
        return self.origin.identity(self.pulumi_project or "")

    @property
    def revision(self) -> Revision:
        """The commit; no commit for a catalog that does not tell."""
        return Revision(self.commit, self.dirty)

    @property
    def coming(self) -> tuple[DormantCluster, ...]:
        """The dormant clusters that come without an edit."""
        return tuple(cluster for cluster in self.dormant.values() if cluster.comes)

    @property
    def expected(self) -> tuple[Cluster, ...]:
        """The clusters that exist, and those that come without an edit."""
        return (*self.clusters.values(), *self.coming)

    @property
    def at_once(self) -> Iterator[tuple[datetime | None, list[Cluster]]]:
        """The clusters that exist at once: now (None), with those that only lacked machines or quota, and from the
        beginning of each coming season on."""
        late = [cluster for cluster in self.coming if cluster.lacks or cluster.awaited]
        return at_once((*self.clusters.values(), *late), [cluster for cluster in self.coming if cluster not in late])

    @property
    def regions(self) -> tuple[str, ...]:
        """The regions where clusters of the stack may be, its own first."""
        return (self.region, *(self.other_regions or ()))

    @property
    def regions_ever(self) -> tuple[str, ...]:
        """The regions where jobs of the stack may be, also those that ended long ago, its own first."""
        return (*self.regions, *(self.former_regions or ()))

    @property
    def regions_without_clusters(self) -> tuple[str, ...]:
        """The regions of `regions_ever` without a cluster on offer: the stack left them, or may go there."""
        offered = {cluster.region for cluster in self.clusters.values()}
        return (*(region for region in self.other_regions or () if region not in offered), *(self.former_regions or ()))

    @property
    def offers(self) -> tuple[Offer, ...]:
        return tuple(offer for template in self.templates.values() for offer in template.offers)

    def owners(self, cluster: str) -> tuple[str, ...]:
        """Return the teams whose jobs alone a cluster takes, by its name; none where it takes everybody's."""
        return tuple(name for name, team in self.teams.items() if cluster in team.clusters)

    def region_of(self, cluster: str) -> str:
        """Return the region of an offer's cluster, by its name; the stack's own where the name is empty."""
        return (self.clusters[cluster].region if cluster else None) or self.region

    def region_of_offer(self, offer: Offer) -> str:
        return offer.region or self.region_of(offer.cluster)

    def work_bucket_in(self, region: str) -> str:
        """Return the bucket that has the output of jobs in a region."""
        return (self.work_elsewhere or {}).get(region, self.work_bucket)

    @property
    def work_buckets(self) -> tuple[str, ...]:
        """The buckets that jobs write to, that of the stack's own region first."""
        return (self.work_bucket, *(self.work_elsewhere or {}).values())

    @property
    def buckets(self) -> tuple[str, ...]:
        """The buckets of the stack: the catalog's, and those that jobs write to."""
        return (*filter(None, (self.catalog_bucket,)), *self.work_buckets)

    def knows(self, cluster_id: str) -> bool:
        """Tell whether the catalog has the cluster: on offer, retiring or dormant."""
        dormant = [cluster.id for cluster in self.dormant.values()]
        named = cluster_id in (*(cluster.id for cluster in self.clusters.values()), *self.retiring, *dormant)
        # A deployment may be making a dormant cluster, under an id with a number behind it.
        return named or cluster_id.startswith(tuple(f"{id_}-" for id_ in dormant))

    def cluster_named(self, cluster_id: str) -> Cluster | None:
        return next((cluster for cluster in self.clusters.values() if cluster.id == cluster_id), None)
