"""A submission's candidates: the catalog's offers with the request that each would send. Pure."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property, partial
from typing import Any

from slipway.base.errors import ConfigError
from slipway.base.formatting import counted, join, nearest, quoted, short
from slipway.google.catalog.lookup import find_kind, find_template, named, standing
from slipway.model.capacity import CAPACITY_TYPES, POOL, WAIT_BY_THEMSELVES
from slipway.model.catalog.model import Catalog
from slipway.model.catalog.parameter_types import Value
from slipway.model.catalog.placeholders import names
from slipway.model.catalog.template import Offer, Template
from slipway.model.cluster import PoolSpec
from slipway.model.kinds import PIPELINE_JOB, JobKind
from slipway.model.labels import NAME_LABEL, own_labels
from slipway.model.prices import UNKNOWN, Price, hourly
from slipway.model.secret import NOTIFY
from slipway.using.jobs.demand import Demand
from slipway.using.jobs.verdict import Verdict
from slipway.using.submission.own_labels import require_free
from slipway.using.submission.own_settings import require_free_name, require_no_secret, require_settings
from slipway.using.submission.parameters import resolve
from slipway.using.submission.raced import in_regions, raced
from slipway.using.submission.replicas import on_replicas
from slipway.using.submission.request import Request, RequestOverrides, fill, tells
from slipway.using.submission.submission_request import SubmissionRequest
from slipway.using.submission.team import barred, nameable, team_of_submission


@dataclass(frozen=True, eq=False)
class Candidate:
    """An offer that the submission may take."""

    offer: Offer
    kind: JobKind
    #: Makes the offer's request, on first use.
    make: Callable[[], Request]
    #: Seconds until the next candidate is taken, None to stay with this one.
    wait: float | None = None
    roles: tuple[str, ...] = ()
    #: The region of its cluster, or the stack's own.
    region: str = ""
    #: The edit of the stack file that brings its dormant cluster back, where the cluster does not return by itself.
    edit: str = ""
    #: Its pools, where any machines that suffice take a job of its kind; else the machines are the job's own.
    taken: tuple[PoolSpec, ...] = ()
    #: The reason why the team that it counts for may not use its cluster; empty where it may.
    barred: str = ""
    #: The teams that may use it, and that the submission may count for.
    teams: tuple[str, ...] = ()

    @cached_property
    def request(self) -> Request:
        """The job to post, made on first use. Raises ConfigError when the catalog is not consistent with itself."""
        return self.make()

    @property
    def body(self) -> Mapping[str, Any]:
        return self.request.body

    @cached_property
    def demand(self) -> Demand:
        return Demand.of(self.request.job, self.roles, self.offer.pools, self.taken)

    @property
    def label(self) -> str:
        """The label: `pool cpu`, `spot`, `spot on a2-ultragpu-2g`, `spot in us-east5`"""
        words = (self.offer.capacity_type, self.offer.cluster or self.offer.dormant)
        shape, elsewhere = self.offer.shape, self.offer.region
        return " ".join(filter(None, (*words, f"on {shape}" if shape else "", f"in {elsewhere}" if elsewhere else "")))

    @property
    def waits_by_itself(self) -> bool:
        return self.offer.capacity_type in WAIT_BY_THEMSELVES


@dataclass(frozen=True)
class PreparedSubmission:
    """A submission as far as it is known without a call."""

    catalog: Catalog
    template: Template
    kind: JobKind
    values: Mapping[str, Value]
    #: In order of preference, each with the seconds until the next one is taken.
    offers: tuple[tuple[Offer, float | None], ...]
    user: str
    asked: SubmissionRequest
    request_id: str = "request"
    #: The team that it counts for, empty where none is known.
    team: str = ""
    #: The bucket of its claim, when it was sent before; the catalog's work bucket when empty.
    bucket: str = ""
    #: The time of the submission; None where none is sent.
    sent: datetime | None = None

    @property
    def overrides(self) -> RequestOverrides:
        return self.asked.overrides

    @property
    def races(self) -> bool:
        """Tell whether it is sent by all of its candidates at once."""
        return self.asked.race is not None

    @property
    def moves(self) -> bool:
        """Tell whether one candidate may be given up for the next, or all others for one."""
        return self.races or any(wait is not None for _, wait in self.offers[:-1])

    @cached_property
    def candidates(self) -> tuple[Candidate, ...]:
        return tuple(
            Candidate(
                offer=offer,
                kind=self.kind,
                make=partial(self._request, offer, wait),
                wait=wait,
                roles=offer.roles or self.template.roles,
                region=self.catalog.region_of_offer(offer),
                edit=self.catalog.dormant[offer.dormant].edit if offer.dormant in self.catalog.dormant else "",
                taken=self._taken(offer),
                barred=barred(self.catalog, offer.cluster or offer.dormant, self.team, offer),
                teams=nameable(self.catalog, offer, offer.cluster or offer.dormant, self.user),
            )
            for offer, wait in self.offers
        )

    def _taken(self, offer: Offer) -> tuple[PoolSpec, ...]:
        if not (offer.cluster and self.kind is PIPELINE_JOB):
            return ()
        return tuple(filter(None, map(self.catalog.clusters[offer.cluster].pool, offer.pools)))

    def without_effect(self, offer: Offer) -> tuple[str, ...]:
        """Return the parameters that were given and that the machines of one of several shapes leave out."""
        if not offer.shape:
            return ()
        read = {*names(json.dumps(offer.request)), *(name for each in self.template.offers for name in each.when)}
        declared = (parameter.name for parameter in self.template.parameters)
        return tuple(name for name in declared if name in self.asked.params and name not in read)

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
            sent=self.sent,
            race=[each.region for each, _ in self.offers] if self.races else (),
        )
        request = Request(
            id=self.request_id,
            stack=self.catalog.stack,
            template=self.template.name,
            body=body,
            kind=self.kind,
            region=self.catalog.region_of_offer(offer),
            bucket=self.catalog.work_bucket,
            others=partial(self._of_other_shapes, offer.shape),
            leg=self.races,
        )
        return request.claimed_in(self.bucket)

    def _of_other_shapes(self, shape: str) -> tuple[Request, ...]:
        """Return the request of each shape but one."""
        others = {offer.shape: (offer, wait) for offer, wait in self.offers if offer.shape != shape}
        return tuple(self._request(*each) for each in others.values())


def prepare(
    catalog: Catalog,
    asked: SubmissionRequest,
    user: str,
    team: str = "",
    now: datetime | None = None,
    counts_for: str | None = None,
    *,
    elsewhere: bool = True,
) -> PreparedSubmission:
    """Prepare a submission. `team`: the one that it counts for where nothing else decides, as SLIPWAY_TEAM names it.
    `now`: the time where it is to be sent. `counts_for`: the team that it was sent for before, whatever is asked.
    `elsewhere`: the template's other regions count.

    Raises ConfigError with all mistakes in the parameters, or with the one argument that does not fit.
    """
    template = find_template(catalog, asked.template)
    _check_folder(template, asked)
    values = resolve(template, asked.params, asked.arguments)
    kind = find_kind(template, asked.kind)
    usual = standing(template, kind, values)
    own = team_of_submission(catalog, template, usual[0], asked.team, team) if counts_for is None else counts_for
    replicas = asked.overrides.settings.replicas
    offers = on_replicas(catalog, template, standing(template, kind, values, own), replicas)
    if elsewhere and asked.race is None:
        offers = in_regions(catalog, template, offers)
    _check_experiment(template, offers, asked.overrides)
    _check_shell(catalog, asked.overrides)
    require_free_name(catalog, asked.overrides.labels.get(NAME_LABEL, ""))
    require_settings(template, offers, asked.overrides.settings)
    require_no_secret({**values, "note": asked.overrides.note})
    require_free(template, offers, own_labels(asked.overrides.labels))
    if asked.overrides.notify and not all(map(tells, offers)):
        raise ConfigError(
            f"a {kind.words} of {template.name} can't tell anybody how it goes",
            why="the launcher does that, of custom jobs alone, and an image may start without it",
            fix=f"leave notify out, and wait for it with {NOTIFY} in your environment, which tells of the end as well",
        )
    theirs = barred(catalog, asked.pool.partition("/")[0], own, usual[0])
    return PreparedSubmission(
        catalog=catalog,
        template=template,
        kind=kind,
        values=values,
        offers=tuple(_ordered(catalog, template, offers, asked, theirs)),
        user=user,
        asked=asked,
        team=own,
        sent=now,
    )


def _ordered(
    catalog: Catalog, template: Template, offers: tuple[Offer, ...], asked: SubmissionRequest, barred_pool: str
) -> list[tuple[Offer, float | None]]:
    """Put the offers in order, each with its wait: as the flags say, else as the template does, for one shape in one
    region after the other. `barred_pool`: whose the pool is that is asked for, where the submission's team may not use
    it."""
    waits, then = asked.waits, asked.then
    if asked.race is not None:
        return raced(catalog, template, offers, asked)
    places = list(dict.fromkeys(map(_place, offers)))
    if asked.pool:
        return [(offer, None) for offer in _on_pool(template, offers, asked, barred_pool)]
    if asked.capacity_type is not None:
        of_type = named(template, offers, asked.capacity_type)
        if then or (set(waits) - WAIT_BY_THEMSELVES and _place(of_type[0]) == _place(of_type[-1])):
            raise nothing_after(asked)
        return [
            (offer, waits.get(offer.capacity_type, None if _place(offer) == _place(of_type[-1]) else offer.wait))
            for offer in of_type
        ]
    twice = [name for name in then if (name in waits and name not in WAIT_BY_THEMSELVES) or then.count(name) > 1]
    if twice:
        raise ConfigError(
            f"{join(dict.fromkeys(twice))} comes twice in {short(','.join(then))}", fix="name each type once"
        )
    rest = then or tuple(offer.capacity_type for offer in offers)
    order = dict.fromkeys([*(name for name in waits if name not in then), *rest])
    chosen = [
        offer for name in order for offer in named(template, offers, name, "then" if name in then else "wait_for")
    ]
    chosen.sort(key=lambda offer: places.index(_place(offer)))
    last, last_place = chosen[-1].capacity_type, _place(chosen[-1])
    if last in waits and last not in WAIT_BY_THEMSELVES and last_place == _place(chosen[0]):
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
    # Nothing comes after the last type of the last place, so that only the service's own wait applies.
    end = None if last in WAIT_BY_THEMSELVES else (last, last_place)
    return [(offer, None if (offer.capacity_type, _place(offer)) == end else wait) for offer, wait in planned]


def _place(offer: Offer) -> tuple[str, str]:
    """Return what all capacity types are tried of, before the next of it: its shape, in its region."""
    return offer.shape, offer.region


def _on_pool(
    template: Template, offers: tuple[Offer, ...], asked: SubmissionRequest, barred_pool: str
) -> tuple[Offer, ...]:
    """Return the offer of the pool that is asked for, also while its cluster is away."""
    if asked.waits or asked.then:
        raise nothing_after(asked)
    if asked.capacity_type not in (None, POOL):
        raise ConfigError(
            f"pool {short(asked.pool)} has no machines of capacity type {short(asked.capacity_type or '')}",
            fix="give the pool or the capacity type",
        )
    fitting = tuple(
        offer
        for offer in offers
        if asked.pool in pools_of(offer) or (offer.dormant and asked.pool.startswith(f"{offer.dormant}/"))
    )
    if fitting:
        return fitting
    known = dict.fromkeys(pool for offer in offers for pool in pools_of(offer))
    raise ConfigError(
        f"{template.name} is not offered on pool {quoted(asked.pool)}",
        why=barred_pool or f"it fits {join(known, 'or') or 'no pool'}",
        fix=({"pool": nearest(asked.pool, known) or next(iter(known))},) if known else "leave it out",
    )


def pools_of(offer: Offer) -> tuple[str, ...]:
    """Return the pools of an offer: `cpu/workers`."""
    return tuple(dict.fromkeys(f"{offer.cluster}/{pool}" for pool in offer.pools if pool))


def likely(candidates: Sequence[Candidate]) -> Candidate:
    """Return the candidate that is most likely taken: the first that was available at the last deployment."""
    can = (candidate for candidate in candidates if candidate.offer.available and not candidate.barred)
    return next(can, candidates[0])


def nothing_after(asked: SubmissionRequest) -> ConfigError:
    only = f"pool {short(asked.pool)} is the only one" if asked.pool else ""
    only = only or f"capacity {short(asked.capacity_type or '')} is the only type"
    return ConfigError(
        f"{only} to use, so nothing can come after it",
        fix="name one type, or name several with their waits",
    )


def _check_folder(template: Template, asked: SubmissionRequest) -> None:
    if "command" not in asked.params or asked.overrides.package:
        return
    from slipway.authoring.packages.packing import needs_folder, runs_any_folder

    if runs_any_folder(template) and needs_folder(str(asked.params["command"])):
        raise ConfigError(
            f"{template.name} is given a command, and no folder to run it in",
            why="without one it runs the example that was reviewed with it, not your code",
            fix=("add ", {"code": "."}),
        )


def _check_shell(catalog: Catalog, overrides: RequestOverrides) -> None:
    if overrides.shell and not catalog.shell:
        raise ConfigError(
            f"stack {catalog.stack} allows no shell in its jobs",
            why="whoever opens one acts as the job's account, so the stack says whether they may",
            fix=f"ask its owners for {catalog.origin.setting('slipway:workspace', 'shell', True)}",
        )


def _check_experiment(template: Template, offers: tuple[Offer, ...], overrides: RequestOverrides) -> None:
    if not (overrides.experiment or overrides.experiment_run):
        return
    if not all("experiment" in offer.spec for offer in offers):
        raise ConfigError(
            f"{template.name} belongs to no experiment",
            fix=f"experiment=… in templates/{template.name.replace('-', '_')}.py",
        )


def price(catalog: Catalog, candidate: Candidate) -> Price:
    """Return USD an hour for all machines: as published for a pool, from the price book for others. Not complete for a
    pipeline that may need more of these."""
    offer, total = candidate.offer, Price()
    if candidate.kind is PIPELINE_JOB and not offer.cluster:
        from slipway.model.kinds.pipeline import Pipeline  # Other kinds are submitted without it.

        total = Price(complete=Pipeline(candidate.body[PIPELINE_JOB.spec]).bounded)
    for part in candidate.demand.parts:
        if offer.cluster:
            each = _of_pool(catalog, offer.cluster, part.pool)
        else:
            each = hourly(part.machine, candidate.region, offer.capacity_type)
        total += each * part.machines
    return total


def added(catalog: Catalog, candidate: Candidate, verdict: Verdict) -> Price:
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
    counts = Counter[str]()
    for part in demand.parts:
        counts[str(part.machine)] += part.machines
    if demand.machines == 1:
        return next(iter(counts))
    roles = ", ".join(counted(part.machines, part.role) for part in demand.parts)
    return f"{', '.join(f'{machine} × {count}' for machine, count in counts.items())} ({roles})"


def _of_pool(catalog: Catalog, cluster: str, name: str) -> Price:
    pool = catalog.clusters[cluster].pool(name)
    return pool.price_per_hour if pool else UNKNOWN
