"""Effects of a change on the stack's own policy: rules that it breaks, of its own packs too, and rules it weakens."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from fnmatch import fnmatchcase as fnmatch
from typing import Any

from slipway.authoring.policy.rule import ADVISORY, LEVELS, MANDATORY
from slipway.authoring.policy.rules import BY_KEY, setting_of, violations
from slipway.base.formatting import plain, short
from slipway.model.catalog.placeholders import render
from slipway.model.facts import Facts
from slipway.model.findings.finding import Finding, Grade, Subject
from slipway.model.findings.grades import APPROVE_ABOVE, GRADES, SUMS, asks_above, moved
from slipway.reviewing.change.change import Change, Side, grouped, once
from slipway.reviewing.change.edits import Edit
from slipway.reviewing.consequence import Consequence
from slipway.reviewing.rules.table import RowName, by_row, say

_Rules = Mapping[str, Mapping[str, Any]]
_OURS = "slipway"
"""The pack of this repository, whose rules are those of the stack file, reported by the facts."""
_LONGEST_MESSAGE = 300
_LONGEST = 60
_MOST = 20
_MORE_ASKS_MORE = ("labels", "quotaHeadroom")
_STRICTER: RowName = "policy-added"


def policy(change: Change) -> Iterator[Consequence]:
    """Judge by this version's rules, not by those of the one under review. An earlier breach is a standing warning."""
    yield from _of_packs(change)
    before, after = _violations(change)
    for key, breach in after.items():
        if key not in before or (change.edited and breach != before[key]):
            yield _breach(breach, change, grade=Grade.NOTE if key in before else None)
    strict = _broken(replace(change.after, policy=change.before.policy))
    told = {breach.subject.name for breach in after.values()}
    fresh = [each for key, each in strict.items() if key not in before and each.subject.name not in told]
    let_in = {(_level(breach), breach.subject.name): breach.sentence for breach in fresh}
    old, new = change.before.policy, _edited(change) if Side.AFTER in change.unknown else change.after.policy
    yield from _changed(old, new, let_in)
    for kind, was, becomes in moved(old.get(GRADES, {}), new.get(GRADES, {})):
        grade = Grade.WARNING if becomes < was < Grade.BLOCKING else None
        yield _graded(becomes < was, GRADES, kind, was.review_word, becomes.review_word, grade=grade)
    for kind in SUMS:
        most, then = (asks_above([side], kind) for side in (old, new))
        if most != then:
            sides = ("" if each is None else f"${each:,.0f}" for each in (most, then))
            milder = most is not None and (then is None or then > most)
            yield _graded(milder, APPROVE_ABOVE, kind, *sides, sums=True)


def _edited(change: Change) -> _Rules:
    """Return the policy as the stack file's edits make it, where no program could declare it."""
    policy = change.before.policy
    levels: dict[str, Any] = {**policy, **{level: dict(policy.get(level, {})) for level in LEVELS}}
    for edit in change.files.stacks.get(change.stack, ()):
        level, _, key = edit.key.removeprefix("slipway:policy.").partition(".")
        if level in LEVELS:
            levels[level][key] = setting_of(key, edit.after, levels[level].get(key))
    return levels


def _graded(milder: bool, key: str, kind: str, before: str, after: str, **values: Any) -> Consequence:
    """Return the consequence of another grade of a kind, which a key of the policy has."""
    values = {"sums": False, **values, "kind": kind, "idle": kind == SUMS[0]}
    values |= {"as_kind": "" if milder else _STRICTER, "edits": (Edit(kind, before, after),)}
    return by_row("review-graded", Subject("policy", f"{key}.{kind}"), before=before, after=after, **values)


def _breach(breach: Finding, change: Change, **how: Any) -> Consequence:
    """Return the consequence of a broken rule, with its key where that is edited."""
    refuses, key, level = breach.grade is Grade.BLOCKING, breach.subject.name, _level(breach)
    was, now = (_setting(side.policy, level, key) for side in (change.before, change.after))
    field = "" if was == now else breach.field
    return _told(breach.subject, refuses=refuses, rule=key, so=breach.sentence, level=level, field=field, **how)


def _level(breach: Finding) -> str:
    return MANDATORY if breach.grade is Grade.BLOCKING else ADVISORY


def _told(subject: Subject, *, refuses: bool, **values: Any) -> Consequence:
    values = {"refuses": refuses, "pack": "", "level": "", **values}
    return by_row("policy-violated", subject, as_kind="" if refuses else "policy-advice", **values)


def policy_in_words(change: Change) -> str:
    """Return `ok`, `2 broken` for two mandatory rules, `2 not followed` for advisory ones alone; `none` without any."""
    packs = [objection.grade for objection in _of_packs(change)]
    if Side.AFTER in change.unknown:
        return "unknown"
    if not packs and not any(change.after.policy.get(level) for level in LEVELS):
        return "none"
    ours = {(breach.subject.name, breach.grade) for breach in _violations(change)[1].values()}
    broken = [*packs, *(grade for _, grade in ours)]
    mandatory = broken.count(Grade.BLOCKING)
    return f"{mandatory} broken" if mandatory else f"{len(broken)} not followed" if broken else "ok"


def standing_violations(change: Change) -> Iterator[str]:
    before, after = _violations(change)
    yield from (breach.sentence for key, breach in before.items() if after.get(key) == breach)


@once
def _violations(change: Change) -> tuple[Mapping[tuple[str, str], Finding], ...]:
    return tuple(map(_broken, (change.before, change.after)))


def _broken(facts: Facts) -> Mapping[tuple[str, str], Finding]:
    breaches: dict[tuple[str, str], Finding] = {}
    for breach in violations(facts):
        known = breaches.get(breach.key)
        breaches[breach.key] = replace(known, sentence=f"{known.sentence}; {breach.sentence}") if known else breach
    return breaches


def _of_packs(change: Change) -> Iterator[Consequence]:
    """Yield the objections of a team's own packs, which the engine starts beside the program, rule by rule."""
    theirs = [each for each in (change.preview.objections if change.preview else ()) if each.pack != _OURS]
    for (pack, rule), objections in grouped(theirs, lambda each: (each.pack, each.rule)).items():
        refuses = any(objection.mandatory for objection in objections)
        told = [f"`{short(each.about, _LONGEST)}`: {short(each.message, _LONGEST_MESSAGE)}" for each in objections]
        yield _told(
            Subject("policy", rule, pack),
            refuses=refuses,
            rule=short(rule, _LONGEST),
            pack=short(pack, _LONGEST),
            so=told[0] if len(told) == 1 else say("policy-resources", count=len(told)),
            details=told[:_MOST] if len(told) > 1 else (),
        )


def _changed(before: _Rules, after: _Rules, let_in: Mapping[tuple[str, str], str]) -> Iterator[Consequence]:
    """Find rules that have become stricter or milder, each level by itself. `let_in`: by level and rule, what breaks it
    as it was, and not any more."""
    rules = [(level, key) for level in LEVELS for key in {**before.get(level, {}), **after.get(level, {})}]
    for level, key in rules:
        was, now = (_setting(side, level, key) for side in (before, after))
        former, present = ([_setting(side, each, key) for each in LEVELS] for side in (before, after))
        # A rule that moves to the other level is told once.
        moves = former == present[::-1] and None in former
        lists = isinstance(was, list) and isinstance(now, list)
        if was == now or (lists and {*was} == {*now}) or (moves and level == ADVISORY):
            continue
        stricter = was is None
        if not (stricter or now is None):
            less, more = (now, was) if key in _MORE_ASKS_MORE else (was, now)
            stricter = all(any(fnmatch(one, of) for of in less) for one in more) if lists else more <= less
        lets, text = let_in.get((level, key), ""), BY_KEY[key].text.rstrip(".") if key in BY_KEY else ""
        shown = [_shown(was), _shown(now)]
        told = {name: short(side, _LONGEST) or "nothing" for name, side in zip(("was", "now"), shown, strict=True)}
        words: dict[str, Any] = {"key": key, "level": level, "text": text, **told}
        words |= {"new": was is None, "gone": now is None, "moves": moves}
        words["details"] = [say("policy-as-it-was", lets=lets)] if lets else ()
        grade = (Grade.WARNING if lets else Grade.NOTE) if level == ADVISORY else None
        row: RowName = _STRICTER if stricter else "policy-weaker"
        edits = () if moves else (Edit(key, *shown),)
        yield by_row(row, Subject("policy", key, level), edits=edits, grade=grade, **words)


def _setting(policy: _Rules, level: str, key: str) -> Any:
    """Return a rule's setting at a level; None where it is not set, or switched off."""
    setting = policy.get(level, {}).get(key)
    return None if setting is False else setting


def _shown(setting: Any) -> str:
    if isinstance(setting, list):
        return ", ".join(map(str, setting))
    return "" if setting is None else plain(setting) if isinstance(setting, float) else render(setting)
