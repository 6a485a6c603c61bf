"""What somebody asks for, and the candidates it makes of the catalog's offers with all that each would send. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from slipway.capacity import FLEX_START
from slipway.catalog.lookup import find_kind, find_template, named, standing
from slipway.catalog.model import Catalog, Offer, Scalar, Template
from slipway.errors import ConfigError
from slipway.formatting import join
from slipway.kinds import Kind
from slipway.submission.demand import Demand
from slipway.submission.parameters import resolve
from slipway.submission.request import RequestOverrides, fill


@dataclass(frozen=True)
class SubmissionRequest:
    """What somebody asks for. `params` as typed; `capacity_type` and `kind` None for the template's first.

    `waits`: seconds by capacity type after which the next one is taken (for flex-start 0 is forever); `then`: the
    types after those that are waited for, in place of the template's order.
    """

    template: str
    params: Mapping[str, str] = field(default_factory=dict)
    capacity_type: str | None = None
    kind: str | None = None
    waits: Mapping[str, float] = field(default_factory=dict)
    then: tuple[str, ...] = ()
    overrides: RequestOverrides = field(default_factory=RequestOverrides)


@dataclass(frozen=True)
class Candidate:
    """An offer that the submission may take, and what it makes of it. `wait`: seconds until the next one is taken,
    None to stay with it."""

    offer: Offer
    kind: Kind
    demand: Demand
    wait: float | None = None

    @property
    def label(self) -> str:
        """`pool cpu`, `spot`"""
        return f"{self.offer.capacity_type} {self.offer.cluster}".rstrip()

    @property
    def waits_by_itself(self) -> bool:
        return self.offer.capacity_type == FLEX_START


@dataclass(frozen=True)
class PreparedSubmission:
    """All that can be known of a submission without asking anybody. `candidates` in order of preference."""

    catalog: Catalog
    template: Template
    kind: Kind
    values: Mapping[str, Scalar]
    candidates: tuple[Candidate, ...]
    user: str
    overrides: RequestOverrides

    @property
    def moves(self) -> bool:
        """Whether it may be given up on one candidate for the next."""
        return any(candidate.wait is not None for candidate in self.candidates[:-1])

    def body(self, candidate: Candidate, request_id: str) -> dict[str, Any]:
        """The request by one of the candidates. Raises ConfigError when the catalog is not consistent with itself."""
        overrides = self.overrides
        if candidate.waits_by_itself and candidate.wait is not None:
            overrides = replace(overrides, max_wait=candidate.wait)
        return fill(
            self.catalog,
            self.template,
            candidate.offer,
            self.values,
            request_id=request_id,
            user=self.user,
            overrides=overrides,
        )


def prepare(catalog: Catalog, asked: SubmissionRequest, user: str) -> PreparedSubmission:
    """Raises ConfigError with all that is wrong with the parameters, or with the one flag that does not fit."""
    template = find_template(catalog, asked.template)
    values = resolve(template, asked.params)
    kind = find_kind(template, asked.kind)
    offers = standing(template, kind, values)
    _check_experiment(template, offers, asked.overrides)
    ordered = _ordered(template, offers, asked)
    sample = PreparedSubmission(catalog, template, kind, values, (), user, asked.overrides)
    return replace(
        sample,
        candidates=tuple(Candidate(offer, kind, _demand(sample, offer, kind), wait) for offer, wait in ordered),
    )


def _demand(prepared: PreparedSubmission, offer: Offer, kind: Kind) -> Demand:
    body = prepared.body(Candidate(offer, kind, Demand(())), "request")
    return Demand.read(body, offer.roles or prepared.template.roles, offer.pools, kind)


def _ordered(
    template: Template, offers: tuple[Offer, ...], asked: SubmissionRequest
) -> list[tuple[Offer, float | None]]:
    """The offers with what each is waited for: those of the flags, else the template's own."""
    if asked.capacity_type is not None:
        if asked.then or set(asked.waits) - {FLEX_START}:
            raise ConfigError(
                f"--capacity {asked.capacity_type} takes that type alone",
                why="--wait-for and --then name several, in order",
                fix="leave out --capacity, or the others",
            )
        return [(offer, asked.waits.get(offer.capacity_type)) for offer in named(template, offers, asked.capacity_type)]
    if not asked.waits and not asked.then:
        return _last_stays([(offer, offer.wait) for offer in offers])
    order = list(dict.fromkeys(asked.waits))
    if asked.then:
        twice = [name for name in asked.then if name in order and name != FLEX_START]
        if twice or len(set(asked.then)) < len(asked.then):
            raise ConfigError(
                f"--then {','.join(asked.then)}: {join(twice) or 'a type'} comes twice", fix="name each type once"
            )
        order = [name for name in order if name not in asked.then] + list(asked.then)
    else:
        order += [offer.capacity_type for offer in offers if offer.capacity_type not in order]
    fix = "--wait-for TYPE=30m and --then TYPE,… take its own types alone"
    chosen = [offer for name in dict.fromkeys(order) for offer in named(template, offers, name, fix)]
    waits = [(offer, asked.waits.get(offer.capacity_type, None if asked.then else offer.wait)) for offer in chosen]
    last = chosen[-1].capacity_type
    if last in asked.waits and last != FLEX_START:
        raise ConfigError(
            f"--wait-for {last}: there is nothing to move on to after it",
            why=f"{template.name} has {', '.join(dict.fromkeys(offer.capacity_type for offer in offers))}",
            fix=f"name the types that come then: --wait-for {last}=30m --then TYPE,…",
        )
    endless = [name for name, seconds in asked.waits.items() if seconds == 0 and name != FLEX_START]
    if endless:
        raise ConfigError(f"invalid --wait-for {endless[0]}=0", fix=f"0 waits forever by {FLEX_START} alone")
    return _last_stays(waits)


def _last_stays(waits: list[tuple[Offer, float | None]]) -> list[tuple[Offer, float | None]]:
    """After the last type there is none to move on to; but how long the service waits by itself is still its own."""
    last = waits[-1][0].capacity_type
    return [(offer, wait if offer.capacity_type != last or last == FLEX_START else None) for offer, wait in waits]


def _check_experiment(template: Template, offers: tuple[Offer, ...], overrides: RequestOverrides) -> None:
    if not (overrides.experiment or overrides.experiment_run):
        return
    from slipway.kinds import KINDS

    if not all("experiment" in KINDS[offer.kind].spec_of(offer.request) for offer in offers):
        flag = "--experiment" if overrides.experiment else "--experiment-run"
        raise ConfigError(
            f"{flag}: {template.name} belongs to no experiment",
            why="its template names none",
            fix=f"experiment=… in templates/{template.name.replace('-', '_')}.py",
        )
