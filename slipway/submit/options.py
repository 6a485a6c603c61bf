"""A submission as it was wished for, and the ways it may take with all that each would send. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from slipway.catalog.model import Catalog, Scalar, Template, Way
from slipway.cloud.kinds import Kind
from slipway.errors import ConfigError
from slipway.submit.demand import Demand
from slipway.submit.filling import Extras, fill
from slipway.submit.parameters import resolve
from slipway.submit.ways import find_kind, find_template, named, standing
from slipway.words import join

WAITS_BY_ITSELF = "flex-start"
"""The one way on which the service itself waits for machines, for as long as it is told."""


@dataclass(frozen=True)
class Wish:
    """What somebody asks for. ``params`` as typed; ``way`` and ``kind`` None for the template's first.

    ``waits``: seconds by way after which the next one is taken (for flex-start 0 is for ever); ``then``: the ways after
    those that are waited for, in place of the template's order.
    """

    template: str
    params: Mapping[str, str] = field(default_factory=dict)
    way: str | None = None
    kind: str | None = None
    waits: Mapping[str, float] = field(default_factory=dict)
    then: tuple[str, ...] = ()
    extras: Extras = field(default_factory=Extras)


@dataclass(frozen=True)
class Option:
    """One way that the submission may take. ``wait``: seconds until the next one is taken, None to stay with it."""

    way: Way
    kind: Kind
    demand: Demand
    wait: float | None = None

    @property
    def label(self) -> str:
        """``pool cpu``, ``spot``"""
        return f"{self.way.way} {self.way.cluster}".rstrip()

    @property
    def waits_by_itself(self) -> bool:
        return self.way.way == WAITS_BY_ITSELF


@dataclass(frozen=True)
class Prepared:
    """All that can be known of a submission without asking anybody. ``options`` in order of preference."""

    catalog: Catalog
    template: Template
    kind: Kind
    values: Mapping[str, Scalar]
    options: tuple[Option, ...]
    user: str
    extras: Extras

    @property
    def moves(self) -> bool:
        """Whether it may be given up on one way for the next."""
        return any(option.wait is not None for option in self.options[:-1])

    def body(self, option: Option, request_id: str) -> dict[str, Any]:
        """The request by one of the ways. Raises ConfigError when the catalog is not consistent with itself."""
        extras = self.extras
        if option.waits_by_itself and option.wait is not None:
            extras = replace(extras, max_wait=option.wait)
        return fill(
            self.catalog,
            self.template,
            option.way,
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
    ways = standing(template, kind, values)
    _check_experiment(template, ways, wish.extras)
    options = _ordered(template, ways, wish)
    sample = Prepared(catalog, template, kind, values, (), user, wish.extras)
    return replace(
        sample,
        options=tuple(Option(way, kind, _demand(sample, way, kind), wait) for way, wait in options),
    )


def _demand(prepared: Prepared, way: Way, kind: Kind) -> Demand:
    body = prepared.body(Option(way, kind, Demand(())), "request")
    return Demand.read(body, way.roles or prepared.template.roles, way.pools, kind)


def _ordered(template: Template, ways: tuple[Way, ...], wish: Wish) -> list[tuple[Way, float | None]]:
    """The ways with what each is waited for: those of the flags, else the template's own."""
    if wish.way is not None:
        if wish.then or set(wish.waits) - {WAITS_BY_ITSELF}:
            raise ConfigError(
                f"--way {wish.way} takes that way alone",
                why="--wait-for and --then name several, in order",
                fix="leave out --way, or the others",
            )
        return [(way, wish.waits.get(way.way)) for way in named(template, ways, wish.way)]
    if not wish.waits and not wish.then:
        return _last_stays([(way, way.wait) for way in ways])
    order = list(dict.fromkeys(wish.waits))
    if wish.then:
        twice = [name for name in wish.then if name in order and name != WAITS_BY_ITSELF]
        if twice or len(set(wish.then)) < len(wish.then):
            raise ConfigError(
                f"--then {','.join(wish.then)}: {join(twice) or 'a way'} comes twice", fix="name each way once"
            )
        order = [name for name in order if name not in wish.then] + list(wish.then)
    else:
        order += [way.way for way in ways if way.way not in order]
    fix = "--wait-for WAY=30m and --then WAY,… take its ways alone"
    chosen = [way for name in dict.fromkeys(order) for way in named(template, ways, name, fix)]
    waits = [(way, wish.waits.get(way.way, None if wish.then else way.wait)) for way in chosen]
    last = chosen[-1].way
    if last in wish.waits and last != WAITS_BY_ITSELF:
        raise ConfigError(
            f"--wait-for {last}: there is nothing to move on to after it",
            why=f"{template.name} runs by {' or '.join(dict.fromkeys(way.way for way in ways))}",
            fix=f"name the ways that come then: --wait-for {last}=30m --then WAY,…",
        )
    endless = [name for name, seconds in wish.waits.items() if seconds == 0 and name != WAITS_BY_ITSELF]
    if endless:
        raise ConfigError(f"--wait-for {endless[0]}=0 is no wait", fix=f"0 waits for ever by {WAITS_BY_ITSELF} alone")
    return _last_stays(waits)


def _last_stays(waits: list[tuple[Way, float | None]]) -> list[tuple[Way, float | None]]:
    """After the last way there is none to move on to; but how long the service waits by itself is still its own."""
    last = waits[-1][0].way
    return [(way, wait if way.way != last or last == WAITS_BY_ITSELF else None) for way, wait in waits]


def _check_experiment(template: Template, ways: tuple[Way, ...], extras: Extras) -> None:
    if not (extras.experiment or extras.experiment_run):
        return
    from slipway.cloud.kinds import KINDS

    if not all("experiment" in KINDS[way.kind].spec_of(way.request) for way in ways):
        flag = "--experiment" if extras.experiment else "--experiment-run"
        raise ConfigError(
            f"{flag}: {template.name} belongs to no experiment",
            why="its template names none",
            fix=f"experiment=… in templates/{template.name.replace('-', '_')}.py",
        )
