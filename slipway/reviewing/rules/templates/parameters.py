"""A template's parameters before and after: valid submissions that may be refused, or get another value."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import islice

from slipway.authoring.stack.secrets import KEEP, looks_secret
from slipway.base.formatting import join
from slipway.google.catalog.lookup import usual_offers
from slipway.model.capacity import POOL, RESERVATION
from slipway.model.catalog.model import Parameter, Template
from slipway.model.catalog.placeholders import render
from slipway.model.findings.finding import Finding, Grade
from slipway.model.findings.kinds import KINDS
from slipway.reviewing.change.secret_values import shown
from slipway.reviewing.change.usual import by_hour, instead, machine_types, rounds, way
from slipway.reviewing.rules.templates.usage import Usage, finding

_MOST_VALUES = 5


def parameters(old: Template, new: Template, used: Usage) -> Iterator[Finding]:
    before, after = ({one.name: one for one in template.parameters} for template in (old, new))
    renamed = renames(old, new)
    for name, one in before.items():
        if name in renamed:
            yield _lost("parameter-renamed", new, one, used, f"it is called `{renamed[name]}` from now on")
        elif name not in after:
            yield _lost("parameter-gone", new, one, used, "there is no such parameter any more")
    for name, one in after.items():
        if name in before:
            yield from _changed(old, new, before[name], one, used)
        elif name not in renamed.values() and one.required:
            yield _required(new, one, used, "it is new and has no default")
        elif name not in renamed.values():
            yield _told(
                "parameter-added", new, one, f"may set `{name}`, which is {shown(one.default, one.name)} otherwise"
            )


def plain_defaults(old: Template | None, new: Template) -> Iterator[Finding]:
    known = {(one.name, one.default) for one in old.parameters} if old else set()
    for one in new.parameters:
        text = one.default if isinstance(one.default, str) else ""
        if looks_secret(text, one.name) and (one.name, text) not in known:
            words = (
                f"Whoever reads the catalog reads what looks like a secret, the default of `{one.name}` in `{new.name}`"
            )
            part, field = f"parameter {one.name}", f"parameters.{one.name}"
            yield finding("plain-secret", new, words, part, KEEP, field=field)


def renames(old: Template, new: Template) -> Mapping[str, str]:
    """Return new names by old ones, for parameters that differ only in the name, without any other such pair."""
    before, after = ({one.name for one in template.parameters} for template in (old, new))
    gone = [one for one in old.parameters if one.name not in after]
    added = [one for one in new.parameters if one.name not in before]
    pairs: dict[str, str] = {}
    for one in gone:
        alike = [new.name for new in added if replace(new, name=one.name, help=one.help) == one]
        rivals = [other for other in gone if replace(other, name=one.name, help=one.help) == one]
        if len(alike) == len(rivals) == 1:
            pairs[one.name] = alike[0]
    return pairs


def _told(
    kind: str,
    template: Template,
    one: Parameter,
    words: str,
    more: str = "",
    used: Usage | None = None,
    did: str = "used it",
    *,
    details: Iterable[str] = (),
    grade: Grade | None = None,
) -> Finding:
    part, field = f"parameter {one.name}", f"parameters.{one.name}"
    said = f"Submissions of `{template.name}` {words}"
    return finding(kind, template, said, part, more, used=used, did=did, details=details, grade=grade, field=field)


def _lost(kind: str, template: Template, one: Parameter, used: Usage, why: str) -> Finding:
    setting = used.giving(one.name, lambda value: value is not None and value != one.default)
    return _told(kind, template, one, f"that set `{one.name}` are refused", why, setting, "set it")


def _required(template: Template, one: Parameter, used: Usage, why: str) -> Finding:
    return _told("parameter-required", template, one, f"without `{one.name}` are refused", why, used)


def _changed(old: Template, template: Template, was: Parameter, new: Parameter, used: Usage) -> Iterator[Finding]:
    had, has = (shown(one.default, one.name) for one in (was, new))
    if was.type != new.type:
        words = f"that give `{new.name}` as {was.type} are refused"
        yield _told("parameter-type", template, new, words, f"it takes {new.type} from now on", used)
    if new.required and not was.required:
        yield _required(template, new, used, f"it has no default any more, which was {had}")
    elif was.required and not new.required:
        words = f"may leave out `{new.name}`, and get {has}"
        yield _told("default-changed", template, new, words, grade=Grade.NOTE)
    elif was.default != new.default and (was.type == new.type or render(was.default) != render(new.default)):
        following = used.giving(new.name, lambda value: value == was.default)
        words = f"without `{new.name}` get {has} instead of {had}"
        grade, why = _instead(old, new)
        yield _told("default-changed", template, new, words, why, following, "took the default", grade=grade)
    if was.type == new.type:
        yield from _bounds(template, was, new, used)


def _instead(old: Template, one: Parameter) -> tuple[Grade, str]:
    """Return the grade of another default, and its effect: other machines, or a study of another length."""
    new = replace(old, parameters=tuple(one if each.name == one.name else each for each in old.parameters))
    former, latter = ([each for each in usual_offers(template) if each.available] for template in (old, new))
    usual = KINDS["default-changed"].usual
    if former and latter and machine_types(former[0]) != machine_types(latter[0]):
        machines = join(f"`{each}`" for each in machine_types(latter[0]))
        beside = (each for each in latter[1:] if each.capacity_type not in (POOL, RESERVATION))
        if latter[0].capacity_type != POOL:
            return Grade.BLOCKING, f"{machines} for {instead(latter[0], former[0])}"
        costs = [f"on {way(latter[0])}", *(f"for {by_hour(one)}" for one in islice(beside, 1))]
        return Grade.BLOCKING, f"{machines} {join(costs, 'or')} instead of {by_hour(former[0])}"
    if rounds(old) != rounds(new):
        return usual, f"they keep their machines for {rounds(new)} rounds of trials instead of {rounds(old)}"
    return usual, ""


def _bounds(template: Template, old: Parameter, new: Parameter, used: Usage) -> Iterator[Finding]:
    narrowed, widened = _limits(old, new)
    if narrowed:
        refused = used.giving(new.name, lambda value: value is not None and bool(new.refusal(value)))
        given = [job.parameters.get(new.name) for job in refused.jobs if job.parameters]
        values = list(dict.fromkeys(shown(value, new.name) for value in given if value is not None))
        lately = [f"refused now, used lately: {join(values[:_MOST_VALUES])}"] if values else []
        words = f"with `{new.name}` {join(narrowed, 'or')} are refused"
        yield _told("bounds-narrowed", template, new, words, "", refused, "gave such a value", details=lately)
    if widened:
        yield _told("bounds-widened", template, new, f"may have `{new.name}` {join(widened)}")


def _limits(old: Parameter, new: Parameter) -> tuple[list[str], list[str]]:
    narrowed: list[str] = []
    widened: list[str] = []
    for name, sign, beyond, within in (("min", 1, "below", "from"), ("max", -1, "above", "up to")):
        before, after = getattr(old, name), getattr(new, name)
        if before == after:
            continue
        was = "without a limit" if before is None else f"{before:g}"
        if after is not None and (before is None or sign * after > sign * before):
            narrowed.append(f"{beyond} {after:g} (it was {was})")
        else:
            widened.append("of any size" if after is None else f"{within} {after:g} (it was {was})")
    lost = [shown(one) for one in old.choices if one not in new.choices] if new.choices else []
    more = [shown(one) for one in new.choices if one not in old.choices] if old.choices else []
    if new.choices and not old.choices:
        narrowed.append(f"other than {join((shown(one) for one in new.choices), 'or')}")
    elif lost:
        narrowed.append(join(lost, "or"))
    if old.choices and not new.choices:
        widened.append("of any value, not only its choices")
    elif more:
        widened.append(join(more, "or"))
    if new.command != old.command:
        narrowed.append("that needs a shell, as with `&&`," if new.command else "that names a parameter, as `{lr}`,")
    return narrowed, widened
