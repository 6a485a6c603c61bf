"""A phrase of the table stands exactly where its condition holds, over generated changes. # N5

A group has the values that are generated, the change that they make, the comparison, and for each row its condition of
the same values.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slipway.authoring.policy.rule import ADVISORY, MANDATORY
from slipway.model.budget import Budget
from slipway.model.cluster import IN_PLACE, PROTECT, ROLLOVER
from slipway.model.facts import QuotaFacts
from slipway.model.season import Season
from slipway.reviewing.change.change import Change
from slipway.reviewing.consequence import Consequence
from slipway.reviewing.rules.budget import budgets
from slipway.reviewing.rules.clusters.fates import clusters
from slipway.reviewing.rules.clusters.settings import settings
from slipway.reviewing.rules.declared import Rule
from slipway.reviewing.rules.money import costs
from slipway.reviewing.rules.policy import policy
from slipway.reviewing.rules.quota import quota
from slipway.reviewing.rules.resources.people import people
from slipway.reviewing.rules.templates.difference import Difference
from slipway.reviewing.rules.templates.requests import RULES, effect_of
from slipway.reviewing.rules.templates.templates import templates
from slipway.reviewing.rules.templates.usage import TemplateChange
from tests.review.rows import rows_of
from tests.slipway.reviewing.builders import (
    CPU,
    H100,
    NOW,
    REGION,
    change,
    cluster,
    facts,
    living,
    offer,
    pool,
    request,
    template,
    worker_pool,
)

Condition = Callable[..., bool]
AMOUNT = st.integers(1, 3).map(lambda thousands: 1000.0 * thousands)
LIMIT = st.none() | AMOUNT


@dataclass(frozen=True)
class Group:
    name: str
    values: tuple[st.SearchStrategy[Any], ...]
    change: Callable[..., Change]
    compare: Callable[[Change], Iterable[Consequence]]
    rows: Mapping[str, Condition]


def moves(rows: Mapping[str, str], more: Condition = lambda *_: True) -> Mapping[str, Condition]:
    """Return the conditions of rows for the moves of a limit from the first value to the second."""
    holds: Mapping[str, Condition] = {
        "set": lambda was, now: was is None and now is not None,
        "dropped": lambda was, now: was is not None and now is None,
        "raised": lambda was, now: None not in (was, now) and now > was,
        "lowered": lambda was, now: None not in (was, now) and now < was,
    }
    return {row: lambda was, now, *rest, move=move: holds[move](was, now) and more(*rest) for row, move in rows.items()}


def each(*moved: str, start: str, end: str = "") -> Mapping[str, str]:
    return {f"{start}-{move}{end}": move for move in moved}


def budget(was: float | None, now: float | None, enforce: bool, whose: str) -> Change:
    def side(limit: float | None) -> Any:
        key, name = ("teams", "strangers") if whose == "strangers" else (whose, "ml")
        limits: dict[str, Any] = {key: limit} if key == "stack" else {key: {name: limit} if limit else {}}
        return facts(template("t", offer()), budget=Budget(enforce=enforce, **limits))

    return change(side(was), side(now))


def season(**fields: Any) -> Any:
    return facts(cluster(season=Season(**fields)))


DAYS = st.none() | st.integers(10, 13)


def dated(key: str, value: Callable[[int], Any]) -> Callable[..., Change]:
    def made(was: int | None, now: int | None) -> Change:
        return change(*(season(**{key: None if days is None else value(days)}) for days in (was, now)))

    return made


def settings_of(key: str, value: Callable[[int], Any], row: str) -> Group:
    rows: dict[str, Condition] = {
        f"{row}-set": lambda was, now: (
            was != now is not None and not (row == "until" and was is not None and now > was)
        ),
        f"{row}-none": lambda was, now: was != now and now is None,
    }
    if row == "until":
        rows["until-later"] = lambda was, now: None not in (was, now) and now > was
    return Group(row, (DAYS, DAYS), dated(key, value), settings, rows)


def one_pool(low: int, more: int, scarce: bool) -> Any:
    workers = pool("workers", H100 if scarce else CPU, low, low + more)
    return facts(cluster("cpu", workers), template("t", offer()))


def level(of: str | None) -> Any:
    return replace(facts(), policy={of: {"longestTimeout": 48.0}} if of else {})


def flags(old: bool, new: bool, **fields: Any) -> Change:
    sides: list[dict[str, Any]] = [dict.fromkeys(fields, side) for side in (old, new)]
    return change(*(facts(template("lora", offer(), **side)) for side in sides))


POOL = (st.integers(0, 3), st.integers(1, 4), st.integers(0, 3), st.integers(1, 4), st.booleans())
SWITCH = (st.booleans(), st.booleans())
MODES = st.sampled_from(("enforce", "warn", "request"))
REPLACED = st.sampled_from((ROLLOVER, IN_PLACE, PROTECT))
LINE = st.sampled_from(("", "torch", "torch>=1.0", "torch==1.0", "torch==1.1", "torch==2.0"))
LEVEL = st.sampled_from((MANDATORY, ADVISORY, None))
ON: Condition = lambda was, now: now and not was  # noqa: E731
OFF: Condition = lambda was, now: was and not now  # noqa: E731
GROUPS = (
    Group(
        "budget",
        (LIMIT, LIMIT, st.booleans(), st.sampled_from(("stack", "teams", "users", "strangers"))),
        budget,
        budgets,
        {
            **moves(each("raised", "dropped", start="budget"), lambda _, whose: whose != "strangers"),
            "budget-set": lambda was, now, _, whose: (
                now is not None and (was is None or now < was) and whose != "strangers"
            ),
            "budget-for-nobody": lambda was, now, _, whose: now is not None and was != now and whose == "strangers",
        },
    ),
    Group(
        "confirmation",
        (AMOUNT, AMOUNT),
        lambda was, now: change(facts(confirm_above=was), facts(confirm_above=now)),
        costs,
        {"spending-limit": lambda was, now: now != was},
    ),
    Group(
        "quota mode",
        (MODES, MODES),
        lambda was, now: change(*(facts(quota=QuotaFacts(REGION, mode, strict=False)) for mode in (was, now))),
        quota,
        {
            "quota-check-weaker": lambda was, now: was != now == "warn",
            "quota-check-stricter": lambda was, now: was != now != "warn",
        },
    ),
    Group(
        "strict quota",
        SWITCH,
        lambda was, now: change(*(facts(quota=QuotaFacts(REGION, "enforce", strict=side)) for side in (was, now))),
        quota,
        {"quota-check-stricter": ON, "quota-check-weaker": OFF},
    ),
    settings_of("ends", lambda days: NOW + timedelta(days=days), "until"),
    settings_of("begins", lambda days: NOW + timedelta(days=20 - days), "from"),
    settings_of("idle_limit", lambda days: timedelta(days=days), "idleLimit"),
    Group(
        "replacement",
        (REPLACED, REPLACED),
        lambda was, now: change(*(facts(cluster(replacement=mode)) for mode in (was, now))),
        settings,
        {f"replacement-{mode}": lambda was, now, mode=mode: was != now == mode for mode in (IN_PLACE, PROTECT)}
        | {
            "replacement-rollover": lambda was, now: (was, now) == (IN_PLACE, ROLLOVER),
            "replacement-protect-rollover": lambda was, now: (was, now) == (PROTECT, ROLLOVER),
        },
    ),
    Group(
        "time to retire",
        (DAYS, DAYS),
        lambda *sides: change(
            *(facts(cluster(retire_within=None if days is None else timedelta(days=days))) for days in sides)
        ),
        settings,
        {"retireWithin-any": lambda was, now: was != now},
    ),
    Group(
        "pools",
        POOL,
        lambda low, more, new_low, new_more, scarce: change(
            (before := one_pool(low, more, scarce)),
            one_pool(new_low, new_more, scarce),
            clusters=[living(each) for each in before.catalog.clusters.values()],
        ),
        clusters,
        {
            "pool-raised": lambda low, more, to, most, _: to > low or to + most > low + more,
            "fewer-machines": lambda low, more, to, most, _: to < low,
            "capacity-lower-maximum": lambda low, more, to, most, _: 0 < to + most < low + more,
        },
    ),
    Group(
        "policy",
        (LEVEL, LEVEL),
        lambda was, now: change(level(was), level(now)),
        policy,
        {
            "policy-weaker": lambda was, now: was not in (now, None) and now != "mandatory",
            "policy-added": lambda was, now: now not in (was, None) and was != "mandatory",
        },
    ),
    Group(
        "code of the stack",
        SWITCH,
        lambda was, now: change(*(facts(template(code_flag=True), code=side) for side in (was, now))),
        people,
        {"code-on": ON, "code-off": OFF},
    ),
    Group(
        "board",
        SWITCH,
        lambda was, now: change(facts(board=was), facts(board=now)),
        people,
        {"board-on": ON, "board-off": OFF},
    ),
    Group(
        "shells",
        SWITCH,
        lambda was, now: change(facts(shell=was), facts(shell=now)),
        people,
        {"shell-on": ON, "shell-off": OFF},
    ),
    Group(
        "urgent jobs",
        SWITCH,
        lambda *sides: change(*(facts(urgent=("user:eve@acme.example",) if side else None) for side in sides)),
        people,
        {"urgent-added": ON, "urgent-gone": OFF},
    ),
    Group(
        "code of a template",
        SWITCH,
        lambda was, now: flags(was, now, code_flag=True),
        templates,
        {"code_flag-on": ON, "code_flag-off": OFF},
    ),
    Group(
        "requirement",
        (LINE, LINE),
        lambda *sides: change(
            *(facts(template("lora", offer(), requirements=(line and (line,)) or ())) for line in sides)
        ),
        templates,
        {
            "requirement-new": lambda was, now: not was and bool(now),
            "requirement-gone": lambda was, now: bool(was) and not now,
            "requirement-pinned": lambda was, now: bool(was) and "==" not in was and "==" in now,
            "requirement-other": lambda was, now: bool(was and now) and was != now and ("==" in was or "==" not in now),
        },
    ),
    Group(
        "checkpoints",
        SWITCH,
        lambda was, now: flags(was, now, checkpoints=True),
        templates,
        {"checkpoints-on": ON, "checkpoints-off": OFF},
    ),
)


@pytest.mark.parametrize("group", GROUPS, ids=lambda group: group.name)
@given(data=st.data())
def test_a_phrase_stands_exactly_where_its_condition_holds(group: Group, data: st.DataObject) -> None:
    values = data.draw(st.tuples(*group.values))
    told = rows_of(group.compare(group.change(*values))) & group.rows.keys()
    assert told == {row for row, holds in group.rows.items() if holds(*values)}, values


def _told_by_rows(rule: Rule) -> bool:
    told = rule.appears, rule.goes, rule.changes
    return all(isinstance(says.get(""), Mapping) and not {"on", "alone"} & says.keys() for says in told)


WORD = st.sampled_from(("1", "2", "3600s", "7200s", "true", "projects/p/x/a", "projects/p/x/b"))


@given(rule=st.sampled_from([rule for rule in RULES if _told_by_rows(rule)]), before=WORD, after=WORD)
def test_a_posted_value_is_told_by_what_comes_goes_or_changes(rule: Rule, before: str, after: str) -> None:
    lora = template("lora", offer())
    pair = TemplateChange(change(facts(lora), facts(lora)), lora, lora)

    def told(was: str | None, becomes: str | None) -> str:
        return effect_of(rule, Difference("name", "of", was, becomes, (), pair), was or "", becomes or "").does

    def beginnings(says: Mapping[str, Any]) -> tuple[str, ...]:
        text = says[""]["does"]
        parts = filter(None, re.split(r"\[\w+\? ?|[|\]]", text)) if text.startswith("[") else [text]
        return tuple(part.partition("{")[0] for part in parts)

    assert told(None, after).startswith(beginnings(rule.appears))
    assert told(before, None).startswith(beginnings(rule.goes))
    assert told(before, after).startswith(beginnings(rule.changes))


@given(old=st.sets(st.sampled_from("abc")), new=st.sets(st.sampled_from("abc")))
def test_a_variable_of_the_environment_comes_goes_or_changes(old: set[str], new: set[str]) -> None:
    def side(names: set[str], value: str) -> Any:
        code = worker_pool(image="i:1", env={name: f"{value}-{name}" for name in names})
        return facts(template("lora", offer(request=request(code)), image="i:1"))

    told = [part for part in templates(change(side(old, "x"), side(new, "y"))) if part.kind == "environment-changed"]
    expected = {f"run with `{name}` = `y-{name}`" for name in new - old}
    expected |= {f"run with `{name}` = `y-{name}` instead of `x-{name}`" for name in new & old}
    expected |= {f"run without environment variable `{name}`, which was `x-{name}`" for name in old - new}
    assert {part.does for part in told} == expected
