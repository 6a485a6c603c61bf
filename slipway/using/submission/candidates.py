"""A submission's candidates: the catalog's offers with the request that each would send. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

from slipway.base.errors import ConfigError
from slipway.base.formatting import counted, join, short
from slipway.google.catalog.lookup import find_kind, find_template, named, standing
from slipway.model.capacity import CAPACITY_TYPES, WAIT_BY_THEMSELVES
from slipway.model.catalog.model import Catalog, Offer, Template
from slipway.model.catalog.parameter_types import Scalar
from slipway.model.kinds import KINDS, JobKind
from slipway.model.labels import own_labels
from slipway.model.prices import UNKNOWN, Price, hourly
from slipway.using.jobs.demand import Demand, Part
from slipway.using.jobs.verdict import Verdict
from slipway.using.submission.own_labels import require_free
from slipway.using.submission.parameters import resolve
from slipway.using.submission.request import Request, RequestOverrides, fill
from slipway.using.submission.team import team_of_submission


@dataclass(frozen=True)
class SubmissionRequest:
    """A submission as it was asked for. `params` as typed; `capacity_type` and `kind` None for the template's first.

    `waits`: seconds by capacity type until the next type is taken (for flex-start 0 is forever); `then`: the types
    after those that are waited for, in place of the template's order. `team`: the team that it is to count for.
    """

    template: str
    params: Mapping[str, str] = field(default_factory=dict)
    capacity_type: str | None = None
    kind: str | None = None
    waits: Mapping[str, float] = field(default_factory=dict)
    then: tuple[str, ...] = ()
    overrides: RequestOverrides = field(default_factory=RequestOverrides)
    team: str = ""


@dataclass(frozen=True, eq=False)
class Candidate:
    """An offer that the submission may take. `make` makes its request, on first use.

    `wait`: seconds until the next candidate is taken, None to stay with this one. `roles` of its worker pools, in
    order. `region`: that of its cluster, or the stack's own. `edit`: the edit of the stack file that brings its dormant
    cluster back, where the cluster does not return by itself.
    """

    offer: Offer
    kind: JobKind
    make: Callable[[], Request]
    wait: float | None = None
    roles: tuple[str, ...] = ()
    region: str = ""
    edit: str = ""

    @cached_property
    def request(self) -> Request:
        """The job to post, made on first use. Raises ConfigError when the catalog is not consistent with itself."""
        return self.make()

    @property
    def body(self) -> Mapping[str, Any]:
        return self.request.body

    @cached_property
    def demand(self) -> Demand:
        return Demand.read(self.body, self.roles, self.offer.pools, self.kind)

    @property
    def label(self) -> str:
        """The label: `pool cpu`, `spot`"""
        return f"{self.offer.capacity_type} {self.offer.cluster or self.offer.dormant}".rstrip()

    @property
    def waits_by_itself(self) -> bool:
        return self.offer.capacity_type in WAIT_BY_THEMSELVES


@dataclass(frozen=True)
class PreparedSubmission:
    """A submission as far as it is known without a call. `offers` in order of preference, each with the seconds until
    the next one is taken. `request_id` goes into its requests. `asked`: the submission as asked for. `team`: the team
    that it counts for, empty where none is known. `bucket`: where its claim is, when it was sent before; the catalog's
    work bucket when empty."""

    catalog: Catalog
    template: Template
    kind: JobKind
    values: Mapping[str, Scalar]
    offers: tuple[tuple[Offer, float | None], ...]
    user: str
    asked: SubmissionRequest
    request_id: str = "request"
    team: str = ""
    bucket: str = ""

    @property
    def overrides(self) -> RequestOverrides:
        return self.asked.overrides

    @property
    def moves(self) -> bool:
        """Tell whether one candidate may be given up for the next."""
        return any(wait is not None for _, wait in self.offers[:-1])

    @cached_property
    def candidates(self) -> tuple[Candidate, ...]:
        return tuple(
            Candidate(
                offer,
                self.kind,
                partial(self._request, offer, wait),
                wait,
                offer.roles or self.template.roles,
                self.catalog.region_of(offer.cluster),
                self.catalog.dormant[offer.dormant].edit if offer.dormant in self.catalog.dormant else "",
            )
            for offer, wait in self.offers
        )

    def under(self, request_id: str, bucket: str = "") -> PreparedSubmission:
        """Return the same submission with this request id, whose claim is in this bucket, and candidates of its own."""
        return replace(self, request_id=request_id, bucket=bucket)

    def _request(self, offer: Offer, wait: float | None) -> Request:
        by_service = offer.capacity_type in WAIT_BY_THEMSELVES and wait is not None
        body = fill(
            self.catalog,
            self.template,
            offer,
            self.values,
            request_id=self.request_id,
            user=self.user,
            team=self.team,
            overrides=replace(self.overrides, max_wait=wait) if by_service else self.overrides,
        )
        region = self.catalog.region_of(offer.cluster)
        stack, bucket = self.catalog.stack, self.catalog.work_bucket
        request = Request(self.request_id, stack, self.template.name, body, self.kind, region, bucket)
        return request.claimed_in(self.bucket)


def prepare(catalog: Catalog, asked: SubmissionRequest, user: str, team: str = "") -> PreparedSubmission:
    """Prepare a submission. `team`: the one that it counts for where nothing else decides, as SLIPWAY_TEAM names it.

    Raises ConfigError with all mistakes in the parameters, or with the one argument that does not fit.
    """
    template = find_template(catalog, asked.template)
    _check_folder(template, asked)
    values = resolve(template, asked.params)
    kind = find_kind(template, asked.kind)
    offers = standing(template, kind, values)
    _check_experiment(template, offers, asked.overrides)
    require_free(template, offers, own_labels(asked.overrides.labels))
    ordered = tuple(_ordered(template, offers, asked))
    team = team_of_submission(catalog, template, offers[0], asked.team, team)
    return PreparedSubmission(catalog, template, kind, values, ordered, user, asked, team=team)


def _ordered(
    template: Template, offers: tuple[Offer, ...], asked: SubmissionRequest
) -> list[tuple[Offer, float | None]]:
    """Put the offers in order, each with its wait: as the flags say, else as the template does."""
    waits, then = asked.waits, asked.then
    if asked.capacity_type is not None:
        if then or set(waits) - WAIT_BY_THEMSELVES:
            raise nothing_after(asked.capacity_type)
        return [(offer, waits.get(offer.capacity_type)) for offer in named(template, offers, asked.capacity_type)]
    twice = [name for name in then if (name in waits and name not in WAIT_BY_THEMSELVES) or then.count(name) > 1]
    if twice:
        raise ConfigError(
            f"{join(dict.fromkeys(twice))} comes twice in {short(','.join(then))}", fix="name each type once"
        )
    rest = then or tuple(offer.capacity_type for offer in offers)
    order = dict.fromkeys([*(name for name in waits if name not in then), *rest])
    chosen = list(offers)
    if waits or then:
        chosen = [
            one for name in order for one in named(template, offers, name, "then" if name in then else "wait_for")
        ]
    last = chosen[-1].capacity_type
    if last in waits and last not in WAIT_BY_THEMSELVES:
        others = [
            offer.capacity_type for offer in offers if offer.capacity_type in CAPACITY_TYPES.keys() - order.keys()
        ]
        raise ConfigError(
            f"a wait for {last}, and there is nothing to move on to after it",
            why=f"{template.name} has {', '.join(dict.fromkeys(offer.capacity_type for offer in offers))}",
            fix=("name what comes then: ", {"wait_for": {last: "30m"}, "then": others[0] if others else "TYPE"}),
        )
    if endless := [name for name, seconds in waits.items() if seconds == 0 and name not in WAIT_BY_THEMSELVES]:
        raise ConfigError(
            f"invalid wait for {endless[0]}: 0",
            fix=f"only {join(sorted(WAIT_BY_THEMSELVES))} accepts 0 (wait forever)",
        )
    planned = [(offer, waits.get(offer.capacity_type, None if then else offer.wait)) for offer in chosen]
    # Nothing comes after the last type, so that only the service's own wait applies.
    return [
        (offer, wait if offer.capacity_type != last or last in WAIT_BY_THEMSELVES else None) for offer, wait in planned
    ]


def likely(candidates: Sequence[Candidate]) -> Candidate:
    """Return the candidate that is most likely taken: the first that was available at the last deployment."""
    return next((one for one in candidates if one.offer.available), candidates[0])


def nothing_after(capacity_type: str) -> ConfigError:
    """Return the error for other types beside the only one."""
    return ConfigError(
        f"capacity {short(capacity_type)} is the only type to use, so nothing can come after it",
        fix="name one type, or name several with their waits",
    )


def _check_folder(template: Template, asked: SubmissionRequest) -> None:
    """Raise ConfigError for a command without the folder that it is to run in."""
    if "command" not in asked.params or asked.overrides.package:
        return
    from slipway.authoring.packages.packing import runs_any_folder

    if runs_any_folder(template):
        raise ConfigError(
            f"{template.name} is given a command, and no folder to run it in",
            why="without one it runs the example that was reviewed with it, not your code",
            fix=("add ", {"code": "."}),
        )


def _check_experiment(template: Template, offers: tuple[Offer, ...], overrides: RequestOverrides) -> None:
    if not (overrides.experiment or overrides.experiment_run):
        return
    if not all("experiment" in KINDS[offer.kind].spec_of(offer.request) for offer in offers):
        raise ConfigError(
            f"{template.name} belongs to no experiment",
            fix=f"experiment=… in templates/{template.name.replace('-', '_')}.py",
        )


def price(catalog: Catalog, candidate: Candidate) -> Price:
    """Return USD an hour for all machines: as published for a pool, from the price book for others."""
    return sum((_each(catalog, candidate, part) * part.machines for part in candidate.demand.parts), Price())


def added(catalog: Catalog, candidate: Candidate, verdict: Verdict) -> Price:
    """Return USD an hour for the machines that pools would grow by."""
    cluster = candidate.offer.cluster
    return sum((_of_pool(catalog, cluster, name) * count for name, count in verdict.grows), Price())


def summary(candidate: Candidate, home: str, runs: int | None = None) -> str:
    """Return `pool cpu/workers in us-east4  n1-standard-8 × 3 (1 scheduler, 2 workers)`, with the region only when it
    is not the stack's own, `home`. Of several `runs`: `40 runs, each by spot: n1-standard-8`."""
    demand, offer = candidate.demand, candidate.offer
    place = offer.capacity_type
    if offer.cluster:
        place = f"pool {join(f'{offer.cluster}/{pool}' for pool in dict.fromkeys(part.pool for part in demand.parts))}"
    if candidate.region != home:
        place += f" in {candidate.region}"
    machines = _machines(demand)
    if runs is None:
        return f"{place}  {machines}"
    each = "each " if runs > 1 else ""
    return f"{counted(f'{runs:,}', 'run')}, {each}{'on' if offer.cluster else 'by'} {place}: {machines}"


def _machines(demand: Demand) -> str:
    """Return `n1-standard-8 × 3 (1 scheduler, 2 workers)`; of a single machine its type alone."""
    shapes: dict[str, int] = {}
    for part in demand.parts:
        words = str(part.machine)
        shapes[words] = shapes.get(words, 0) + part.machines
    if demand.machines == 1:
        return next(iter(shapes))
    roles = ", ".join(counted(part.machines, part.role) for part in demand.parts)
    return f"{', '.join(f'{words} × {count}' for words, count in shapes.items())} ({roles})"


def _each(catalog: Catalog, candidate: Candidate, part: Part) -> Price:
    if candidate.offer.cluster:
        return _of_pool(catalog, candidate.offer.cluster, part.pool)
    return hourly(part.machine, candidate.region, candidate.offer.capacity_type)


def _of_pool(catalog: Catalog, cluster: str, name: str) -> Price:
    pool = catalog.clusters[cluster].pool(name)
    return pool.price_per_hour if pool else UNKNOWN
