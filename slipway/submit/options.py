"""What somebody asks for, and the candidates it makes of the catalog's offers with all that each would send. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from slipway.capacity import FLEX_START
from slipway.catalog.lookup import find_kind, find_template, named, standing
from slipway.catalog.model import Catalog, Offer, Scalar, Template
from slipway.cloud.kinds import Kind
from slipway.errors import ConfigError
from slipway.submit.demand import Demand
from slipway.submit.filling import Extras, fill
from slipway.submit.parameters import resolve
from slipway.words import join


@dataclass(frozen=True)
class Wish:
    """What somebody asks for. ``params`` as typed; ``capacity_type`` and ``kind`` None for the template's first.

    ``waits``: seconds by capacity type after which the next one is taken (for flex-start 0 is for ever); ``then``: the
    types after those that are waited for, in place of the template's order.
    """

    template: str
    params: Mapping[str, str] = field(default_factory=dict)
    capacity_type: str | None = None
    kind: str | None = None
    waits: Mapping[str, float] = field(default_factory=dict)
    then: tuple[str, ...] = ()
    extras: Extras = field(default_factory=Extras)


@dataclass(frozen=True)
class Candidate:
    """An offer that the submission may take, and what it makes of it. ``wait``: seconds until the next one is taken,
    None to stay with it."""

    offer: Offer
    kind: Kind
    demand: Demand
    wait: float | None = None

    @property
    def label(self) -> str:
        """``pool cpu``, ``spot``"""
        return f"{self.offer.capacity_type} {self.offer.cluster}".rstrip()

    @property
    def waits_by_itself(self) -> bool:
        return self.offer.capacity_type == FLEX_START


@dataclass(frozen=True)
class Prepared:
    """All that can be known of a submission without asking anybody. ``candidates`` in order of preference."""

    catalog: Catalog
    template: Template
    kind: Kind
    values: Mapping[str, Scalar]
    candidates: tuple[Candidate, ...]
    user: str
    extras: Extras

    @property
    def moves(self) -> bool:
        """Whether it may be given up on one candidate for the next."""
        return any(candidate.wait is not None for candidate in self.candidates[:-1])

    def body(self, candidate: Candidate, request_id: str) -> dict[str, Any]:
        """The request by one of the candidates. Raises ConfigError when the catalog is not consistent with itself."""
        extras = self.extras
        if candidate.waits_by_itself and candidate.wait is not None:
            extras = replace(extras, max_wait=candidate.wait)
        return fill(
            self.catalog,
            self.template,
            candidate.offer,
            self.values,
            request_id=request_id,
            user=self.user,
            extras=extras,
        )


def prepare(catalog: Catalog, wish: Wish, user: str) -> Prepared:
    """Raises ConfigError with all that is wrong with the parameters, or with the one flag that does not fit."""
    template = find_template(catalog, wish.template)
    values = resolve(template, wish.params)
    kind = find_kind(template, wish.kind)
    offers = standing(template, kind, values)
    _check_experiment(template, offers, wish.extras)
    ordered = _ordered(template, offers, wish)
    sample = Prepared(catalog, template, kind, values, (), user, wish.extras)
    return replace(
        sample,
        candidates=tuple(Candidate(offer, kind, _demand(sample, offer, kind), wait) for offer, wait in ordered),
    )


def _demand(prepared: Prepared, offer: Offer, kind: Kind) -> Demand:
    body = prepared.body(Candidate(offer, kind, Demand(())), "request")
    return Demand.read(body, offer.roles or prepared.template.roles, offer.pools, kind)


def _ordered(template: Template, offers: tuple[Offer, ...], wish: Wish) -> list[tuple[Offer, float | None]]:
    """The offers with what each is waited for: those of the flags, else the template's own."""
    if wish.capacity_type is not None:
        if wish.then or set(wish.waits) - {FLEX_START}:
            raise ConfigError(
                f"--capacity {wish.capacity_type} takes that type alone",
                why="--wait-for and --then name several, in order",
                fix="leave out --capacity, or the others",
            )
        return [(offer, wish.waits.get(offer.capacity_type)) for offer in named(template, offers, wish.capacity_type)]
    if not wish.waits and not wish.then:
        return _last_stays([(offer, offer.wait) for offer in offers])
    order = list(dict.fromkeys(wish.waits))
    if wish.then:
        twice = [name for name in wish.then if name in order and name != FLEX_START]
        if twice or len(set(wish.then)) < len(wish.then):
            raise ConfigError(
                f"--then {','.join(wish.then)}: {join(twice) or 'a type'} comes twice", fix="name each type once"
            )
        order = [name for name in order if name not in wish.then] + list(wish.then)
    else:
        order += [offer.capacity_type for offer in offers if offer.capacity_type not in order]
    fix = "--wait-for TYPE=30m and --then TYPE,… take its own types alone"
    chosen = [offer for name in dict.fromkeys(order) for offer in named(template, offers, name, fix)]
    waits = [(offer, wish.waits.get(offer.capacity_type, None if wish.then else offer.wait)) for offer in chosen]
    last = chosen[-1].capacity_type
    if last in wish.waits and last != FLEX_START:
        raise ConfigError(
            f"--wait-for {last}: there is nothing to move on to after it",
            why=f"{template.name} runs by {' or '.join(dict.fromkeys(offer.capacity_type for offer in offers))}",
            fix=f"name the types that come then: --wait-for {last}=30m --then TYPE,…",
        )
    endless = [name for name, seconds in wish.waits.items() if seconds == 0 and name != FLEX_START]
    if endless:
        raise ConfigError(f"--wait-for {endless[0]}=0 is no wait", fix=f"0 waits for ever by {FLEX_START} alone")
    return _last_stays(waits)


def _last_stays(waits: list[tuple[Offer, float | None]]) -> list[tuple[Offer, float | None]]:
    """After the last type there is none to move on to; but how long the service waits by itself is still its own."""
    last = waits[-1][0].capacity_type
    return [(offer, wait if offer.capacity_type != last or last == FLEX_START else None) for offer, wait in waits]


def _check_experiment(template: Template, offers: tuple[Offer, ...], extras: Extras) -> None:
    if not (extras.experiment or extras.experiment_run):
        return
    from slipway.cloud.kinds import KINDS

    if not all("experiment" in KINDS[offer.kind].spec_of(offer.request) for offer in offers):
        flag = "--experiment" if extras.experiment else "--experiment-run"
        raise ConfigError(
            f"{flag}: {template.name} belongs to no experiment",
            why="its template names none",
            fix=f"experiment=… in templates/{template.name.replace('-', '_')}.py",
        )
