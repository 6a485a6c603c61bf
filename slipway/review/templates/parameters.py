"""A template's parameters before and after: what a submission that was right may be refused for, or get instead."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from slipway.catalog.model import Parameter, Template
from slipway.catalog.placeholders import render
from slipway.findings.finding import Finding, Grade
from slipway.findings.kinds import KINDS
from slipway.formatting import join
from slipway.review.templates.secret_values import looks_secret, shown
from slipway.review.templates.usage import Usage, finding

_MOST_VALUES = 5


def parameters(old: Template, new: Template, used: Usage) -> Iterator[Finding]:
    before, after = ({one.name: one for one in template.parameters} for template in (old, new))
    renamed = renames(old, new)
    for name, one in before.items():
        if name in renamed:
            yield _lost("parameter-renamed", new, one, used, f"is called `{renamed[name]}` now")
        elif name not in after:
            yield _lost("parameter-gone", new, one, used, "is gone")
    for name, one in after.items():
        if name in before:
            yield from _changed(new, before[name], one, used)
        elif name not in renamed.values() and one.required:
            yield _required(new, one, used, "is new and has no default")
        elif name not in renamed.values():
            yield _told("parameter-added", new, one, f" is new, default {shown(one.default, one.name)}")


def plain_defaults(old: Template | None, new: Template) -> Iterator[Finding]:
    known = {(one.name, one.default) for one in old.parameters} if old else set()
    for one in new.parameters:
        text = one.default if isinstance(one.default, str) else ""
        if looks_secret(text, one.name) and (one.name, text) not in known:
            yield _told("plain-secret", new, one, ": its default looks like a secret in plain text")


def renames(old: Template, new: Template) -> Mapping[str, str]:
    """New names by old ones, of parameters alike in all but the name, and no other pair as alike."""
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
    used: Usage | None = None,
    did: str = "used it",
    *,
    details: Iterable[str] = (),
    grade: Grade | None = None,
) -> Finding:
    part, field = f"parameter {one.name}", f"parameters.{one.name}"
    said = f": parameter `{one.name}`{words}"
    return finding(kind, template, said, part, used=used, did=did, details=details, grade=grade, field=field)


def _lost(kind: str, template: Template, one: Parameter, used: Usage, what: str) -> Finding:
    setting = used.giving(one.name, lambda value: value is not None and value != one.default)
    return _told(kind, template, one, f" {what}, so a submission that sets it is refused", setting, "set it")


def _required(template: Template, one: Parameter, used: Usage, what: str) -> Finding:
    return _told("parameter-required", template, one, f" {what}, so a submission without it is refused", used)


def _changed(template: Template, old: Parameter, new: Parameter, used: Usage) -> Iterator[Finding]:
    had, has = (shown(one.default, one.name) for one in (old, new))
    if old.type != new.type:
        yield _told("parameter-type", template, new, f" takes {new.type}, it took {old.type}", used)
    if new.required and not old.required:
        yield _required(template, new, used, f"has no default any more (it was {had})")
    elif old.required and not new.required:
        yield _told("default-changed", template, new, f": default none → {has}", grade=Grade.NOTE)
    elif old.default != new.default and (old.type == new.type or render(old.default) != render(new.default)):
        following, usual = used.giving(new.name, lambda value: value == old.default), KINDS["default-changed"].usual
        words = f": default {had} → {has}"
        yield _told("default-changed", template, new, words, following, "took the default", grade=usual)
    if old.type == new.type:
        yield from _bounds(template, old, new, used)


def _bounds(template: Template, old: Parameter, new: Parameter, used: Usage) -> Iterator[Finding]:
    narrowed, widened = _limits(old, new)
    if narrowed:
        refused = used.giving(new.name, lambda value: value is not None and bool(new.refusal(value)))
        given = [job.parameters.get(new.name) for job in refused.jobs if job.parameters]
        values = list(dict.fromkeys(shown(value, new.name) for value in given if value is not None))
        lately = [f"refused now, used lately: {join(values[:_MOST_VALUES])}"] if values else []
        words = f": {join(narrowed)}, so values that were allowed are refused"
        yield _told("bounds-narrowed", template, new, words, refused, "gave such a value", details=lately)
    if widened:
        yield _told("bounds-widened", template, new, f": {join(widened)}")


def _limits(old: Parameter, new: Parameter) -> tuple[list[str], list[str]]:
    narrowed: list[str] = []
    widened: list[str] = []
    for name, sign in (("min", 1), ("max", -1)):
        before, after = getattr(old, name), getattr(new, name)
        if before == after:
            continue
        words = f"{name} {_number(before)} → {_number(after)}"
        less = after is not None and (before is None or sign * after > sign * before)
        (narrowed if less else widened).append(words)
    lost = [shown(one) for one in old.choices if one not in new.choices] if new.choices else []
    more = [shown(one) for one in new.choices if one not in old.choices] if old.choices else []
    if new.choices and not old.choices:
        narrowed.append(f"only {join((shown(one) for one in new.choices), 'or')}")
    elif lost:
        narrowed.append(f"choice {join(lost)} is gone" if len(lost) == 1 else f"choices {join(lost)} are gone")
    if old.choices and not new.choices:
        widened.append("any value, not only its choices")
    elif more:
        widened.append(f"choice {join(more)} is new" if len(more) == 1 else f"choices {join(more)} are new")
    return narrowed, widened


def _number(bound: float | None) -> str:
    return "none" if bound is None else f"{bound:g}"
