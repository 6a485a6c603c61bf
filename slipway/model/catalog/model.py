"""The catalog, which a stack publishes for all submitters: these types define the document for writer and reader.

Readers pass over unknown keys, so adding a field keeps the schema; renaming or removing one raises it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Annotated, Any

from slipway.base.codec import KEY_OF_ENTRY, NOT_WRITTEN, At, Else, Form, MaybeText, one_of
from slipway.base.formatting import join, plain, span, unfit
from slipway.model.agents import AgentAllowance
from slipway.model.budget import Budget
from slipway.model.catalog import command_line
from slipway.model.catalog.clusters import Cluster, DormantCluster
from slipway.model.catalog.forms import (
    BUCKET,
    PARAMETER_NAME,
    PLAIN_NAME,
    PROJECT,
    QUOTA_ID,
    Count,
    Hourly,
    Metrics,
    Removed,
    Seconds,
    Text,
    Texts,
)
from slipway.model.catalog.parameter_types import BY_NAME, ParameterType, Scalar, Value
from slipway.model.cluster import Reservation, at_once
from slipway.model.kinds import CUSTOM_JOB, KINDS
from slipway.model.labels import Revision
from slipway.model.origin import Origin, Program

SCHEMA = 2
NAME = "catalog.json"
"""The object's name, in the catalog bucket."""
VARIABLE = "SLIPWAY_CATALOG"
"""The environment variable with the address of the catalog in use."""
HISTORY = "history/"
"""The prefix of the objects there that keep a stack's history."""
HISTORY_DAYS = 400
"""The days for which they are kept: a year of samples, and the month to compare with."""
BOARD = "board/"
CONFIRM_ABOVE = 1.0
"""USD an hour, where a stack says no other, above which a submission is confirmed."""
"""The prefix of the page, which the hourly run writes where the stack asks for it."""

Values = Annotated[tuple[Scalar, ...], Form(bool, "a list of values")]
Regions = Annotated[
    tuple[Annotated[str, PLAIN_NAME], ...], Form(lambda regions: len(regions) <= 100, "at most 100 regions")
]
"""Regions of a bounded number: all of them are asked at once, and a catalog may come from anybody's bucket."""


@dataclass(frozen=True)
class Parameter:
    """A template's parameter. Its bounds are inclusive. Bounds and choices are those of each item of a list."""

    name: Annotated[str, PARAMETER_NAME]
    type: Annotated[str, Form(BY_NAME.__contains__, one_of(BY_NAME))]
    default: Value | None = None
    min: float | None = None
    max: float | None = None
    choices: tuple[Scalar, ...] = ()
    help: str = ""
    #: The value is a command, in which `{name}` stands for another parameter (`slipway.model.catalog.command_line`).
    command: bool = False

    def __post_init__(self) -> None:
        """Convert whole numbers among a float's default and choices to floats, as if they had been typed."""
        object.__setattr__(self, "default", self._typed(self.default))
        object.__setattr__(self, "choices", tuple(map(self._typed, self.choices)))

    def _typed(self, value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(map(self._typed, value))
        floats = self.type in ("float", "list[float]")
        return float(value) if floats and type(value) is int and not unfit(value) else value

    def refusal(self, value: Any) -> str:
        """Return why the parameter may not have this value, or an empty string."""
        value = self._typed(value)
        if self.kind.item and isinstance(value, tuple):
            wrongs = (f"has {item!r}, which {wrong}" for item in value if (wrong := self.each.refusal(item)))
            return next(wrongs, "")
        if isinstance(value, int | float | str) and (wrong := unfit(value)):
            return wrong
        if type(value) is not self.kind.python:
            return f"is not of type {self.type}"
        if isinstance(value, str) and "\0" in value:
            return "has a null character, which no argument can"
        if self.command and isinstance(value, str) and (wrong := command_line.refusal(value)):
            return wrong
        if isinstance(value, int | float) and self.kind.number:
            if self.min is not None and value < self.min:
                return f"is below min {plain(self.min)}"
            if self.max is not None and value > self.max:
                return f"is above max {plain(self.max)}"
        if self.choices and value not in self.choices:
            return "is none of the choices " + ", ".join(map(str, self.choices))
        return ""

    @property
    def kind(self) -> ParameterType:
        return BY_NAME[self.type]

    @property
    def bounds(self) -> str:
        """Return `1 to 5000`, `at least 1`, `at most 5000`; empty without any."""
        least, most = ("" if end is None else plain(end) for end in (self.min, self.max))
        if least and most:
            return f"{least} to {most}"
        return f"at least {least}" if least else f"at most {most}" if most else ""

    @property
    def each(self) -> Parameter:
        """An item of a list, as a parameter; a parameter of a single value itself."""
        return replace(self, type=self.kind.item.name, default=None) if self.kind.item else self

    @property
    def required(self) -> bool:
        return self.default is None


OF_TEAM = "--team"
"""The condition of an offer for one team's submissions. No parameter has such a name: an earlier client takes none."""


def case_in_words(when: Mapping[str, Values], text: Callable[[Scalar], str] = str) -> str:
    """Return `team vision, accelerator=L4, model=2b or 9b`, by name: a published catalog has no other order."""
    words = (f"{name}={' or '.join(map(text, values))}" for name, values in sorted(when.items()))
    return ", ".join(words).replace(f"{OF_TEAM}=", "team ")


@dataclass(frozen=True)
class Offer:
    """A template compiled for one capacity type and one case of its parameters.

    A newer version's offer may have an unknown `capacity_type` or `kind`; then it is not available.
    """

    capacity_type: Annotated[str, PLAIN_NAME]
    available: bool
    why: Text
    #: The cluster's name, for the capacity type `pool` alone.
    cluster: Text
    #: The cluster's pools, one for each workerPoolSpec of the request, empty where that is skipped.
    pools: Texts
    #: Of all machines, at the usual replicas.
    price_per_hour: Hourly
    #: The body to post, with placeholders (`slipway.model.catalog.placeholders`).
    request: Mapping[str, Any]
    kind: Annotated[str, PLAIN_NAME] = CUSTOM_JOB.name
    #: The case: each of these parameters has one of its values. Offers of a kind that apply are of one variant.
    when: Mapping[str, Values] = field(default_factory=dict)
    #: Seconds until a submission falls back to the next offer; None for never.
    wait: float | None = None
    #: One for each workerPoolSpec of the request, empty where that is skipped.
    roles: tuple[str, ...] = ()
    #: The capacity type's rule, where Google had another one earlier.
    note: str = ""
    #: Quota was short at the last deployment.
    lacks_quota: bool = False
    #: The name of a dormant cluster; then `cluster` and `pools` are empty.
    dormant: str = ""
    #: The name of its machines, where a submission may take others as well; offers of one shape follow each other.
    shape: str = ""
    #: The region of machines of its own; empty for the stack's own region, and for a cluster's machines.
    region: Annotated[MaybeText, PLAIN_NAME] = ""

    @property
    def spec(self) -> Mapping[str, Any]:
        """The CustomJobSpec of the request; empty for a kind unknown to this version."""
        return KINDS[self.kind].spec_of(self.request) if self.kind in KINDS else {}

    @property
    def worker_pools(self) -> Sequence[Mapping[str, Any]]:
        """The worker pools of the request, empty ones where they are skipped."""
        return self.spec.get("workerPoolSpecs") or ()

    @property
    def labels(self) -> Mapping[str, str]:
        """The labels of the request; none for a kind unknown to this version."""
        return self.request.get("labels", {}) if self.kind in KINDS else {}

    @property
    def team(self) -> str:
        """The team for whose submissions alone it is; empty for everybody's."""
        return str(self.when.get(OF_TEAM, ("",))[0])

    def fits_shape(self, shape: str) -> bool:
        """Tell whether a job of this shape may be its; of one without a shape it is not known."""
        return self.shape == shape or not (self.shape and shape)

    def label(self, usual_kind: str, *, with_cluster: bool = False) -> str:
        """Return the capacity type, and what tells its offer from others: `spot (model=2b) as training-pipeline`."""
        when = case_in_words(self.when)
        kind = f"as {self.kind}" if self.kind != usual_kind else ""
        where = (self.cluster or self.dormant) if with_cluster else ""
        words = (self.capacity_type, where, f"on {self.shape}" if self.shape else "", f"({when})" if when else "", kind)
        return " ".join(word for word in words if word)


def applying(offers: Iterable[Offer], values: Mapping[str, Any], team: str) -> tuple[Offer, ...]:
    """Return the offers for the values of parameters: a team's own where it has some, else those for everybody."""
    chosen = {**values, OF_TEAM: team}
    standing = [offer for offer in offers if all(chosen.get(name) in wanted for name, wanted in offer.when.items())]
    return tuple(offer for offer in standing if offer.team) or tuple(standing)


@dataclass(frozen=True)
class Study:
    """The search of a tuning job. The numbers of trials may be placeholders."""

    max_trials: Count
    parallel_trials: Count
    algorithm: str
    #: Pairs of id and goal.
    metrics: Metrics
    parameters: Texts


@dataclass(frozen=True)
class Template:
    """A template on offer."""

    name: Annotated[str, KEY_OF_ENTRY, PLAIN_NAME]
    summary: Text
    kind: Annotated[str, PLAIN_NAME]
    roles: Texts
    parameters: Annotated[tuple[Parameter, ...], Else(())]
    #: In order of preference.
    offers: Annotated[tuple[Offer, ...], Else(())]
    #: The kinds that it may be submitted as, the default first.
    kinds: tuple[Annotated[str, PLAIN_NAME], ...] = ()
    #: The gs:// URI of its code; empty for an `image`.
    package: str = ""
    #: A folder's own code may replace the template's, whatever version packs it.
    code_flag: bool = False
    #: The rule that forbids a folder's own code.
    code_why: str = ""
    study: Study | None = None
    image: str = ""
    requirements: tuple[str, ...] = ()
    #: Its code goes on from where it was when it is started again.
    checkpoints: bool = False
    #: Its jobs make room for others when they are asked to: the launchers of earlier versions don't.
    yields: bool | None = None
    #: The folders beside its own from which its packages have code as well.
    shared: tuple[str, ...] | None = None
    #: A folder's own code may replace the template's, beside a launcher that copies inputs: earlier versions pack none.
    code_with_inputs: bool | None = None
    #: Where it may have machines of its own after the stack's own region, in order.
    regions: Regions | None = None
    #: Its file and line in the catalog's commit: `templates/x.py:5`.
    source: str = ""
    #: The part that this version does not understand; then the template has neither parameters nor offers.
    unread: Annotated[str, NOT_WRITTEN] = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "kinds", self.kinds or (self.kind,))

    @property
    def takes_code(self) -> bool:
        """Tell whether a folder's own code may replace the template's."""
        return self.code_flag or bool(self.code_with_inputs)


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
        return f"{where} for up to {span(self.max.total_seconds())}" if self.max and self.pools != () else where


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
    source: Annotated[str, NOT_WRITTEN] = field(default="", compare=False)

    @property
    def origin(self) -> Origin:
        return self.program or Origin(self.stack)

    @property
    def revision(self) -> Revision:
        """The commit; no commit for a catalog that does not tell."""
        return Revision(self.commit, self.dirty)

    @property
    def coming(self) -> tuple[DormantCluster, ...]:
        """The dormant clusters that come without an edit."""
        return tuple(cluster for cluster in self.dormant.values() if cluster.comes)

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
