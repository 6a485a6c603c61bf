"""A template's parameters before and after: valid submissions that may be refused, or get another value; its cases."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from slipway.authoring.stack.secrets import has_form, looks_secret
from slipway.base.formatting import join, plain
from slipway.google.catalog.lookup import usual_offers
from slipway.model.capacity import POOL, RESERVATION
from slipway.model.catalog.cases import renames
from slipway.model.catalog.placeholders import render
from slipway.model.catalog.template import Parameter, Template
from slipway.model.facts import offers_by_label
from slipway.model.findings.finding import Grade
from slipway.reviewing.change.edits import Edit
from slipway.reviewing.change.secret_values import bare, shown
from slipway.reviewing.change.usual import Offers, machines_of, way, whose
from slipway.reviewing.consequence import Consequence
from slipway.reviewing.rules.table import RowName, say
from slipway.reviewing.rules.templates.offers import refused
from slipway.reviewing.rules.templates.usage import TemplateChange
from slipway.reviewing.rules.words import named, other_blanks


def parameters(template: TemplateChange) -> Iterator[Consequence]:
    old, new = template.old, template.new
    before, after = ({parameter.name: parameter for parameter in side.parameters} for side in (old, new))
    renamed = renames(old, new)
    for name, parameter in before.items():
        if name not in after:
            row: RowName = "parameter-renamed" if name in renamed else "parameter-gone"
            usual, other = parameter.default, renamed.get(name, "")
            used = template.used.giving(name, lambda value, usual=usual: value not in (None, usual))  # type: ignore[misc]
            yield _tells(template, row, name, other=other, default=not parameter.required, used=used)
    for name, parameter in after.items():
        was = before.get(name) or next((each for each in before.values() if renamed.get(each.name) == name), None)
        if was:
            yield from _changed(template, was, parameter)
        if parameter.required and not (was and was.required):
            had = was and (None, was.default)
            used = template.used.giving(was.name, lambda value, had=had: value in had) if was else template.used  # type: ignore[misc]
            yield _tells(template, "parameter-required", name, had=had, used=used)
        elif not was:
            yield _tells(template, "parameter-added", name, has=shown(parameter.default, name))


def plain_defaults(template: TemplateChange) -> Iterator[Consequence]:
    known = {(each.name, *plain) for each in template.old.parameters for plain in _plain(each)}
    for parameter in template.new.parameters:
        new = [where for where, text in _plain(parameter) if (parameter.name, where, text) not in known]
        if new:
            yield _tells(template, "plain-secret-default", parameter.name, what=join(dict.fromkeys(new)))


def _plain(parameter: Parameter) -> Iterator[tuple[str, str]]:
    """Yield what looks like a secret in a parameter's fields; of choices, which may be any words, by its form alone."""
    default = parameter.default
    text = render(default) if isinstance(default, str | tuple) else ""
    if looks_secret(text, parameter.name):
        yield "default", text
    yield from (("choices", str(choice)) for choice in parameter.choices if has_form(str(choice)))


def _tells(template: TemplateChange, row: RowName, name: str, **rest: Any) -> Consequence:
    return template.tells(row, part=f"parameter {name}", name=name, **rest)


def _changed(template: TemplateChange, was: Parameter, new: Parameter) -> Iterator[Consequence]:
    name, former = new.name, was.name
    pairs = ((was.default, new.default), (new.default, was.default))
    had, has = (shown(side, name, beside="" if was.required else other) for side, other in pairs)
    wider = new.each.type == was.type or (was.type, new.type) == ("int", "float")
    if was.type != new.type:
        of = f" ({join(map(shown, new.choices), 'or')})" if new.choices else ""
        text = new.type == "str" and not (new.choices or was.kind.item)
        row: RowName = "parameter-type-wider" if text or wider else "parameter-type"
        used, grade = template.used if text or not wider else None, Grade.BLOCKING if text else None
        values = {"type": f"{new.type}{of}", "was": was.type, "words": was.kind.words}
        yield _tells(template, row, name, used=used, grade=grade, **values)
    if was.required and not new.required:
        yield _tells(template, "default-changed", name, has=has, had="", so="", grade=Grade.NOTE)
    elif not new.required and render(was.default) != render(new.default):
        grade, why = _follows(template, replace(new, name=former))
        grade = Grade.NOTE if was.default == new.default else grade  # It is written in another way.
        used = template.used.giving(former, lambda value: value == was.default)
        edit = Edit(f"parameters.{name}.default", *(bare(side, name, beside=other) for side, other in pairs))
        values = {"has": has, "had": other_blanks(had, was.default, new.default), "so": why}
        yield _tells(template, "default-changed", name, used=used, edits=(edit,), grade=grade, **values)
    if was.type == new.type or wider:
        yield from _bounds(template, was, new)


def _follows(template: TemplateChange, parameter: Parameter) -> tuple[Grade | None, str]:
    """Return another default's grade, where it is not the usual one, and its effect on a default run."""
    old = template.old
    new = replace(old, parameters=tuple(parameter if each.name == parameter.name else each for each in old.parameters))
    called = renames(old, template.new)
    sides = (old, new, template.new)
    ways = [[each for each in usual_offers(side, called=called) if each.available] for side in sides]
    if not all(ways):
        return None, ""
    firsts = [(side, some[0]) for side, some in zip(sides, ways, strict=True)]
    was, alone, machines = (
        join(dict.fromkeys(f"`{each.machine}`" for each in machines_of(offer, side))) for side, offer in firsts
    )
    former, now = ways[0][0], ways[2][0]
    stay = {each.capacity_type for some in ways[1:] for each in some}
    lost = named(dict.fromkeys(way(replace(each, shape="")) for each in ways[0] if each.capacity_type not in stay))
    same = was in (alone, machines)
    # A price that is not known may be any; that of a reservation is a fee for all of its machines.
    dearer = former.capacity_type != RESERVATION and former.price_per_hour.known < now.price_per_hour.known
    dearer |= not (now.price_per_hour.complete or now.capacity_type == POOL)
    dearer |= former.capacity_type == POOL != now.capacity_type  # A pool is paid anyway.
    case = whose([now], template.new) if any(each.team for each in template.new.offers) else ""
    told = say("default-run", case=case, machines="" if same else machines, was=was, lost=lost)
    return Grade.BLOCKING if dearer and not same else None, told


def _bounds(template: TemplateChange, old: Parameter, new: Parameter) -> Iterator[Consequence]:
    narrowed, widened = _limits(template, old, new)
    if narrowed:
        taken = new if old.type == new.type else new.each
        refused = template.used.giving(old.name, lambda value: value is not None and bool(taken.refusal(value)))
        yield _tells(template, "bounds-narrowed", new.name, values=join(narrowed, "or"), used=refused)
    if widened:
        yield _tells(template, "bounds-widened", new.name, values=join(widened))


def _limits(template: TemplateChange, old: Parameter, new: Parameter) -> tuple[list[str], list[str]]:
    narrowed, widened = list[str](), list[str]()
    for name, sign, beyond, within in (("min", 1, "below", "from"), ("max", -1, "above", "up to")):
        before, after = getattr(old, name), getattr(new, name)
        was = "without a limit" if before is None else plain(before)
        if old.choices or new.choices or before == after:
            continue
        if after is not None and (before is None or sign * after > sign * before):
            narrowed.append(f"{beyond} {plain(after)} (it was {was})")
        else:
            widened.append(f"{beyond} {was} too" if after is None else f"{within} {plain(after)} (it was {was})")
    lost = [shown(each) for each in old.choices if new.each.refusal(each) and _taken(template.old, old.name, each)]
    more = [shown(each) for each in new.choices if each not in old.choices and _taken(template.new, new.name, each)]
    if new.choices and not old.choices:
        narrowed.append(f"other than {join((shown(choice) for choice in new.choices), 'or')}")
    elif lost:
        narrowed.append(join(lost, "or"))
    if old.choices and not new.choices:
        widened.append(say("choices-opened", bounds=new.bounds))
    elif old.choices and more:
        widened.append(join(more, "or"))
    if new.command != old.command:
        narrowed.append(say("command-form", command=new.command))
    return narrowed, widened


def _taken(template: Template, parameter: str, value: Any) -> bool:
    """Tell whether a template's file refuses no submission of a value by a variant."""
    listed = Offers(offers_by_label(template))
    return not all(refused(each, listed) for each in listed.values() if value in each.when.get(parameter, (value,)))
