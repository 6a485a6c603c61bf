"""The cases of a template before and after, as boxes that both sides have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from slipway.model.catalog.boxes import Box, divided_by
from slipway.model.catalog.parameter_types import Scalar
from slipway.model.catalog.template import OF_TEAM, Offer, Parameter, Template


def divided(old: Template, new: Template, called: Mapping[str, str]) -> tuple[Template, Template]:
    """Return both sides with an offer for each case that is served alike before, and alike after: what a new variant
    takes over is compared with the machines that it had. `called`: the new names of parameters that have another."""
    former = [
        replace(offer, when={called.get(name, name): values for name, values in offer.when.items()})
        for offer in old.offers
    ]
    names = sorted({name for offer in (*former, *new.offers) for name in offer.when})
    if not names:
        return old, new
    known = [{called.get(each.name, each.name): each for each in side.parameters} for side in (old, new)]
    spaces = [{name: _values(name, *sides) for name in names} for sides in (known, known[::-1])]
    written = [offer.when for offer in (*former, *new.offers)]
    whole = {
        name: tuple(dict.fromkeys(value for some in (*spaces, *written) for value in some.get(name, ())))
        for name in names
    }
    sides = [
        [(offer, {name: offer.when.get(name) or space[name] or whole[name] for name in names}) for offer in offers]
        for offers, space in zip((former, new.offers), spaces, strict=True)
    ]
    before, after = (tuple(_divided(side, [box for _, box in other], whole)) for side, other in (sides, sides[::-1]))
    return replace(old, offers=before), replace(new, offers=after)


def _values(name: str, own: Mapping[str, Parameter], others: Mapping[str, Parameter]) -> tuple[Scalar, ...]:
    """Return the values that a side may have; a submission without a parameter that comes, or goes, is one with its
    default. A team's offers are apart from those for everybody."""
    if name == OF_TEAM:
        return (OF_TEAM,)
    if name in own:
        return own[name].kind.values or own[name].choices
    default = others[name].default if name in others else None
    return (default,) if isinstance(default, Scalar) else ()


def _divided(side: Sequence[tuple[Offer, Box]], others: Sequence[Box], whole: Box) -> Iterator[Offer]:
    for offer, box in side:
        for piece in divided_by(box, others):
            ordered = {name: tuple(value for value in whole[name] if value in piece[name]) for name in whole}
            when = {name: some for name, some in ordered.items() if some not in (whole[name], (OF_TEAM,))}
            yield replace(offer, when=when)
