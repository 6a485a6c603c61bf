"""The cases of a template before and after, as boxes that both sides have."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from slipway.model.catalog.boxes import Box, divided_by
from slipway.model.catalog.parameter_types import Scalar
from slipway.model.catalog.placeholders import placeholder
from slipway.model.catalog.template import OF_TEAM, Offer, Parameter, Template

_TEXT = re.compile(r"'[^']*'")
"""A text of a request that is written as Python's."""


def divided(old: Template, new: Template) -> tuple[Template, Template]:
    """Return both sides with an offer for each case that is served alike before, and alike after: what a new variant
    takes over is compared with the machines that it had. Cases go by the new names of parameters that have another."""
    called = renames(old, new)
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


def renames(old: Template, new: Template) -> Mapping[str, str]:
    """Return new names by old ones, for parameters that differ only in the name (or the default too, of equal bounds
    and place in requests), or fill the same places of requests, without any other such pair."""
    known = {each.name for each in old.parameters} & {each.name for each in new.parameters}
    gone, added = ([each for each in side.parameters if each.name not in known] for side in (old, new))
    pairs = [(was, now) for was in gone for now in added if was.type == now.type and _alike(old, was, new, now)]
    sides = [Counter(side) for side in zip(*pairs, strict=True)]
    return {was.name: now.name for was, now in pairs if sides[0][was] == sides[1][now] == 1}


def _alike(old: Template, was: Parameter, new: Template, now: Parameter) -> bool:
    texts = [_TEXT.findall(str([offer.request for offer in side.offers])) for side in (old, new)]
    marks = [placeholder(each.name) for each in (was, now)]
    pairs = [*zip(texts, marks, strict=True)]
    places = [{text.replace(mark, "") for text in side if mark in text} for side, mark in pairs]
    at = [[n for n, text in enumerate(side) if mark in text] for side, mark in pairs]
    default = now.default if at[0] == at[1] != [] and (was.choices or was.max is not None) else was.default
    alike = replace(was, name="", help="", default=default) == replace(now, name="", help="")
    # Any two switches are alike.
    alike &= now.type != "bool" or not {*was.name.split("_")}.isdisjoint(now.name.split("_"))
    return alike or (places[0] == places[1] != set())


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
