"""A template's parameters before and after: what a submission that was right may be refused for, or get instead."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from slipway.catalog.model import Parameter, Template
from slipway.catalog.placeholders import render
from slipway.findings.finding import Finding, Grade, Subject
from slipway.findings.kinds import KINDS
from slipway.formatting import join
from slipway.review.templates.secret_values import looks_secret, shown
from slipway.review.templates.usage import Usage

_MOST_VALUES = 5


def parameters(old: Template, new: Template, used: Usage) -> Iterator[Finding]:
    """Their order is no difference."""
    before, after = ({one.name: one for one in template.parameters} for template in (old, new))
    gone = [one for name, one in before.items() if name not in after]
    added = [one for name, one in after.items() if name not in before]
    for one, renamed in renames(old, new).items():
        yield _lost("parameter-renamed", new, before[one], used, f"is called `{renamed}` now")
        gone = [left for left in gone if left.name != one]
        added = [left for left in added if left.name != renamed]
    for parameter in gone:
        yield _lost("parameter-gone", new, parameter, used, "is gone")
    for parameter in added:
        yield from _added(new, parameter, used)
    for name, parameter in after.items():
        if name in before:
            yield from _changed(new, before[name], parameter, used)


def plain_defaults(old: Template | None, new: Template) -> Iterator[Finding]:
    """Defaults that look like secrets and were not there before."""
    known = {(one.name, one.default) for one in old.parameters} if old else set()
    for one in new.parameters:
        text = one.default if isinstance(one.default, str) else ""
        if looks_secret(text, one.name) and (one.name, text) not in known:
            sentence = f"`{new.name}`: the default of parameter `{one.name}` looks like a secret in plain text"
            yield KINDS["plain-secret"].of(_subject(new, one), sentence, field=_field(one))


def renames(old: Template, new: Template) -> Mapping[str, str]:
    """One that is gone and one that is new, alike in all but the name, and no other pair as alike."""
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


def _lost(kind: str, template: Template, one: Parameter, used: Usage, what: str) -> Finding:
    setting = used.giving(one.name, lambda value: value is not None and value != one.default)
    row = KINDS[kind]
    sentence = f"`{template.name}`: parameter `{one.name}` {what}, so a submission that sets it is refused"
    return row.of(
        _subject(template, one),
        sentence,
        details=[setting.words("set it")],
        grade=setting.grade(row.usual),
        field=_field(one),
    )


def _added(template: Template, one: Parameter, used: Usage) -> Iterator[Finding]:
    if one.required:
        yield _required(template, one, used, "is new and has no default")
    else:
        sentence = f"`{template.name}`: parameter `{one.name}` is new, default {shown(one.default, one.name)}"
        yield KINDS["parameter-added"].of(_subject(template, one), sentence, field=_field(one))


def _required(template: Template, one: Parameter, used: Usage, what: str) -> Finding:
    sentence = f"`{template.name}`: parameter `{one.name}` {what}, so a submission without it is refused"
    row = KINDS["parameter-required"]
    return row.of(
        _subject(template, one), sentence, details=[used.words()], grade=used.grade(row.usual), field=_field(one)
    )


def _changed(template: Template, old: Parameter, new: Parameter, used: Usage) -> Iterator[Finding]:
    head = f"`{template.name}`: parameter `{new.name}`"
    subject, field = _subject(template, new), _field(new)
    if old.type != new.type:
        yield KINDS["parameter-type"].of(
            subject,
            f"{head} takes {new.type}, it took {old.type}",
            details=[used.words()],
            grade=used.grade(KINDS["parameter-type"].usual),
            field=field,
        )
    if new.required and not old.required:
        yield _required(template, new, used, f"has no default any more (it was {shown(old.default, old.name)})")
    elif old.default != new.default and (old.type == new.type or render(old.default) != render(new.default)):
        yield _default(head, subject, old, new, used)
    if old.type == new.type:
        yield from _bounds(head, subject, old, new, used)


def _default(head: str, subject: Subject, old: Parameter, new: Parameter, used: Usage) -> Finding:
    had = "none" if old.required else shown(old.default, old.name)
    following = used.giving(new.name, lambda value: value == old.default)
    return KINDS["default-changed"].of(
        subject,
        f"{head}: default {had} → {shown(new.default, new.name)}",
        details=[] if old.required else [following.words("took the default")],
        grade=Grade.NOTE if old.required else None,
        field=_field(new),
    )


def _bounds(head: str, subject: Subject, old: Parameter, new: Parameter, used: Usage) -> Iterator[Finding]:
    narrowed, widened = _limits(old, new)
    if narrowed:
        row = KINDS["bounds-narrowed"]
        refused = used.giving(new.name, lambda value: value is not None and bool(new.refusal(value)))
        values = dict.fromkeys(
            shown(value, new.name)
            for job in refused.jobs
            if (value := (job.parameters or {}).get(new.name)) is not None
        )
        lately = [f"refused now, used lately: {join(list(values)[:_MOST_VALUES])}"] if values else []
        yield row.of(
            subject,
            f"{head}: {join(narrowed)}, so values that were allowed are refused",
            details=[*lately, refused.words("gave such a value")],
            grade=refused.grade(row.usual),
            field=_field(new),
        )
    if widened:
        yield KINDS["bounds-widened"].of(subject, f"{head}: {join(widened)}", field=_field(new))


def _limits(old: Parameter, new: Parameter) -> tuple[list[str], list[str]]:
    """What allows less, and what allows more."""
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


def _subject(template: Template, one: Parameter) -> Subject:
    return Subject("template", template.name, f"parameter {one.name}")


def _field(one: Parameter) -> str:
    return f"parameters.{one.name}"
