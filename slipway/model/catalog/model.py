"""The catalog: the document that a stack publishes for all submitters. These types are its definition, for writer and
reader.

Readers pass over unknown keys, so adding a field keeps the schema; renaming or removing one raises it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Any

from slipway.base.codec import KEY_OF_ENTRY, NOT_WRITTEN, At, Else, Form, one_of
from slipway.base.formatting import unfit
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
    Text,
    Texts,
)
from slipway.model.catalog.parameter_types import BY_NAME, ParameterType, Scalar
from slipway.model.cluster import Reservation
from slipway.model.kinds import CUSTOM_JOB
from slipway.model.labels import Revision
from slipway.model.season import at_once

SCHEMA = 2
NAME = "catalog.json"
"""The object's name, in the catalog bucket."""
HISTORY = "history/"
"""The prefix of the objects there that keep a stack's history."""
HISTORY_DAYS = 400
"""The days for which they are kept: a year of samples, and the month to compare with."""
BOARD = "board/"
"""The prefix of the page, which the hourly run writes where the stack asks for it."""

Values = Annotated[tuple[Scalar, ...], Form(bool, "a list of values")]
Regions = Annotated[tuple[Annotated[str, PLAIN_NAME], ...], Form(lambda some: len(some) <= 100, "at most 100 regions")]
"""Regions of a bounded number: all of them are asked at once, and a catalog may come from anybody's bucket."""


@dataclass(frozen=True)
class Parameter:
    """A template's parameter, `required` when it has no default; bounds are inclusive. `command`: its value is one, in
    which `{name}` stands for another parameter (`slipway.model.catalog.command_line`)."""

    name: Annotated[str, PARAMETER_NAME]
    type: Annotated[str, Form(BY_NAME.__contains__, one_of(BY_NAME))]
    default: Scalar | None = None
    min: float | None = None
    max: float | None = None
    choices: tuple[Scalar, ...] = ()
    help: str = ""
    command: bool = False

    def __post_init__(self) -> None:
        """Convert whole numbers among a float's default and choices to floats, as if they had been typed."""
        object.__setattr__(self, "default", self._typed(self.default))
        object.__setattr__(self, "choices", tuple(map(self._typed, self.choices)))

    def _typed(self, value: Any) -> Any:
        return float(value) if self.type == "float" and type(value) is int and not unfit(value) else value

    def refusal(self, value: Any) -> str:
        """Return why it may not have this value, or an empty string."""
        value = self._typed(value)
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
                return f"is below min {self.min:g}"
            if self.max is not None and value > self.max:
                return f"is above max {self.max:g}"
        if self.choices and value not in self.choices:
            return "is none of the choices " + ", ".join(map(str, self.choices))
        return ""

    @property
    def kind(self) -> ParameterType:
        return BY_NAME[self.type]

    @property
    def required(self) -> bool:
        return self.default is None


def case_in_words(when: Mapping[str, Values]) -> str:
    """Return `accelerator=L4, model=2b or 9b`, by name: a published catalog has no other order."""
    return ", ".join(f"{name}={' or '.join(map(str, values))}" for name, values in sorted(when.items()))


@dataclass(frozen=True)
class Offer:
    """A template compiled for one capacity type and one case of its parameters. `cluster` and `pools` are set for the
    capacity type `pool`; for a dormant cluster `dormant` is its name, and they are empty. `pools` and `roles`: one
    value for each workerPoolSpec of the request, empty where it is skipped.

    `request` is the body to post for a job of `kind`, with placeholders (`slipway.model.catalog.placeholders`). `why`
    is the reason why it is not available; `lacks_quota` holds for the last deployment.

    It applies where each parameter of `when` has one of its values; for any values, the offers of a kind that apply are
    those of one variant. `wait`: seconds until a submission falls back to the next offer, None for never. `note`: the
    type's rule, where Google had another one earlier. The price is that of all machines at the usual replicas. A newer
    version's offer may have an unknown `capacity_type` or `kind`; then it is not available.
    """

    capacity_type: Annotated[str, PLAIN_NAME]
    available: bool
    why: Text
    cluster: Text
    pools: Texts
    price_per_hour: Hourly
    request: Mapping[str, Any]
    kind: Annotated[str, PLAIN_NAME] = CUSTOM_JOB.name
    when: Mapping[str, Values] = field(default_factory=dict)
    wait: float | None = None
    roles: tuple[str, ...] = ()
    note: str = ""
    lacks_quota: bool = False
    dormant: str = ""

    def label(self, usual_kind: str, *, with_cluster: bool = False) -> str:
        """Return the capacity type with what tells it from the template's other offers: `spot (model=2b or 9b) as
        training-pipeline`."""
        when = case_in_words(self.when)
        kind = f"as {self.kind}" if self.kind != usual_kind else ""
        where = (self.cluster or self.dormant) if with_cluster else ""
        words = (self.capacity_type, where, f"({when})" if when else "", kind)
        return " ".join(word for word in words if word)


@dataclass(frozen=True)
class Study:
    """The search of a tuning job. The numbers of trials may be placeholders; metrics are (id, goal)."""

    max_trials: Count
    parallel_trials: Count
    algorithm: str
    metrics: Metrics
    parameters: Texts


@dataclass(frozen=True)
class Template:
    """A template on offer. `kinds`: the kinds that it may be submitted as, the default first; `code_flag`: a folder's
    own code may replace its own.

    `package` is the gs:// URI of its code, empty for an `image`. `code_why`: the rule that forbids a folder's own code.
    `offers` are in order of preference. `requirements` are those of its packages. `checkpoints`: its code goes on from
    where it was when it is started again. `source`: `templates/x.py:5`, its file and line in the catalog's commit.
    `unread`: what this version does not understand of it; then it has neither parameters nor offers.
    """

    name: Annotated[str, KEY_OF_ENTRY, PLAIN_NAME]
    summary: Text
    kind: Annotated[str, PLAIN_NAME]
    roles: Texts
    parameters: Annotated[tuple[Parameter, ...], Else(())]
    offers: Annotated[tuple[Offer, ...], Else(())]
    kinds: tuple[Annotated[str, PLAIN_NAME], ...] = ()
    package: str = ""
    code_flag: bool = False
    code_why: str = ""
    study: Study | None = None
    image: str = ""
    requirements: tuple[str, ...] = ()
    checkpoints: bool = False
    source: str = ""
    unread: Annotated[str, NOT_WRITTEN] = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "kinds", self.kinds or (self.kind,))


@dataclass(frozen=True)
class Catalog:
    """The offers of one stack. `retiring`: ids of clusters that finish their jobs and go; `removed`: those without an
    entry, with their limit. `trainer`: the account that jobs run as; `trainers`: others by name. `dormant`: declared
    clusters that do not exist. `under_way`: the commit of a later deployment that did not come to its end.
    `other_regions`: the regions besides `region` where the stack's clusters are or may come to be; `former_regions`:
    regions of former clusters, so that their jobs are found there, and of a cluster that outlived a deployment.
    `quotas`: ids of the quotas that jobs draw, by metric, as the service lists them. No deployment needs these three.
    `confirm_above`: USD an hour, of machines neither a pool's nor reserved, above which a submission is confirmed.
    `submitters`: members, by the address of the trainer that they may submit as; for the project's other stacks, which
    leave them their roles. `budget`: None where the stack file names none. `board`: the hourly run writes the page into
    the catalog's bucket. `work_elsewhere`: by region, the work bucket for the output of jobs there; claims and code are
    in `work_bucket`, wherever a job runs."""

    stack: Annotated[str, PLAIN_NAME]
    project: Annotated[str, PROJECT]
    region: Annotated[str, PLAIN_NAME]
    commit: Text
    dirty: Annotated[bool, Else(False)]
    work_bucket: Annotated[str, At("storage.work"), BUCKET]
    trainer: Text
    clusters: Mapping[str, Cluster]
    retiring: Texts
    templates: Mapping[str, Template]
    catalog_bucket: Annotated[str, At("storage.catalog")] = ""
    work_elsewhere: Annotated[Mapping[str, Annotated[str, BUCKET]] | None, At("storage.workElsewhere")] = None
    dormant: Mapping[str, DormantCluster] = field(default_factory=dict)
    reservations: Mapping[str, Reservation] = field(default_factory=dict)
    trainers: Mapping[str, str] = field(default_factory=dict)
    removed: Mapping[str, Removed] | None = None
    under_way: str | None = None
    other_regions: Regions | None = None
    former_regions: Regions | None = None
    quotas: Mapping[str, Annotated[str, QUOTA_ID]] | None = None
    confirm_above: float | None = None
    submitters: Mapping[str, Texts] = field(default_factory=dict)
    budget: Budget | None = None
    board: bool | None = None
    source: Annotated[str, NOT_WRITTEN] = field(default="", compare=False)

    @property
    def revision(self) -> Revision:
        """The commit; no commit for a catalog that does not tell."""
        return Revision(self.commit, self.dirty)

    @property
    def coming(self) -> tuple[DormantCluster, ...]:
        """The dormant clusters that come without an edit."""
        return tuple(one for one in self.dormant.values() if one.comes)

    @property
    def at_once(self) -> Iterator[tuple[datetime | None, list[Cluster]]]:
        """The clusters that exist at once: now (None), with those that only lacked machines or quota, and from the
        beginning of each coming season on."""
        late = [one for one in self.coming if one.lacks or one.awaited]
        return at_once((*self.clusters.values(), *late), [one for one in self.coming if one not in late])

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
        """The regions of `regions_ever` without a cluster on offer: the stack has left them, or may go there one
        day."""
        offered = {one.region for one in self.clusters.values()}
        return (*(one for one in self.other_regions or () if one not in offered), *(self.former_regions or ()))

    def region_of(self, cluster: str) -> str:
        """Return the region of an offer's cluster, by its name; the stack's own where the name is empty."""
        return (self.clusters[cluster].region if cluster else None) or self.region

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
        """Tell whether it has the cluster: on offer, retiring, or dormant, for which a deployment may be making one."""
        rests = [one.id for one in self.dormant.values()]
        named = cluster_id in (*(one.id for one in self.clusters.values()), *self.retiring, *rests)
        return named or cluster_id.startswith(tuple(f"{id_}-" for id_ in rests))

    def cluster_named(self, cluster_id: str) -> Cluster | None:
        return next((cluster for cluster in self.clusters.values() if cluster.id == cluster_id), None)
