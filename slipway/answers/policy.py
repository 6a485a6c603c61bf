"""Question: which rules, budgets, allowances and checks hold, and which rules are broken? Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from math import inf
from typing import Any

from slipway.answers.answer import Answer, Difference, State
from slipway.answers.comparison import Comparison, Side
from slipway.answers.plan import job_lines
from slipway.authoring.policy.rule import ADVISORY, LEVELS, MANDATORY
from slipway.authoring.policy.rules import violations
from slipway.base.formatting import join, plain, short, usd
from slipway.deploying.engine.preview import Objection
from slipway.deploying.generations.action import What
from slipway.google.catalog.lookup import ended_images, unused_pools
from slipway.model.budget import Budget
from slipway.model.catalog.clusters import Pool
from slipway.model.catalog.model import Catalog
from slipway.model.catalog.placeholders import render
from slipway.model.findings.finding import Finding, Grade, Subject
from slipway.model.findings.grades import APPROVE_ABOVE, GRADES, SUMS, asks_above, moved
from slipway.model.findings.kinds import KINDS

_Rules = Mapping[str, Mapping[str, Any]]
_OURS = "slipway"
"""Slipway's own policy pack, whose rules are those of the stack file."""
_WARNING = "warning"
_RULE = "rule"
_LONGEST = 300
_MORE_IS_STRICTER = ("labels", "quotaHeadroom")
"""Rules that a longer list or a larger number makes stricter."""
_MOST_OFF = 2
"""A limit that becomes less than this many times as large is not blocking."""


def answers(comparison: Comparison, side: Side) -> Iterator[Answer]:
    """Yield each broken rule, and each warning of `slipway check` or `pulumi up`."""
    facts = comparison.before if side is Side.BEFORE else comparison.after
    # The first deployment's empty stack only has the declared rules.
    if comparison.first and side is Side.BEFORE:
        return
    for key, text in _broken(comparison, side).items():
        yield Answer(_RULE, key, Subject(*key[1:]), State.NO, text)
    catalog = facts.catalog
    deployed = comparison.old.clusters
    for cluster, pool in _unused_pools(catalog):
        name = f"{cluster}/{pool.name}"
        values = {"accelerators": bool(pool.machine.accelerator), "deployed": cluster in deployed}
        text = "no template can run on it, and it is billed"
        yield Answer(_WARNING, (name,), Subject("pool", name), text=text, values=values)
    for image, names in ended_images(catalog.templates.values(), comparison.world.now).items():
        text = f"{join(f'`{name}`' for name in names)} runs it after the end of its support"
        yield Answer(_WARNING, (image.name,), Subject("image", image.name), text=text)


def findings(comparison: Comparison, differences: Sequence[Difference]) -> Iterator[Finding]:
    """Yield newly broken rules, new warnings, and loosened rules, checks, budgets and allowances."""
    for difference in differences:
        answer = difference.after
        if answer and difference.question == _RULE:
            kind, *_ = answer.key
            grade = KINDS[kind].usual if difference.is_new else Grade.NOTE
            fix = "change what breaks the rule, or ask the owner of the policy"
            yield KINDS[kind].of(answer.subject, answer.text, fix, grade=grade, field=_field_of(answer.subject))
        elif answer and difference.is_new and not comparison.first:
            yield KINDS["stack-warning"].of(answer.subject, answer.text, grade=_grade_of_warning(answer))
    if not comparison.first and not comparison.unknown:
        yield from _loosened_rules(comparison.before.policy, comparison.after.policy)
        yield from _loosened_severities(comparison.before.policy, comparison.after.policy)
        yield from _loosened_quota_check(comparison)
        yield from _allowances(comparison)


def _grade_of_warning(answer: Answer) -> Grade:
    # New machines are often declared before their template.
    if not answer.values.get("deployed", True):
        return Grade.NOTE
    return Grade.BLOCKING if answer.values.get("accelerators") else Grade.WARNING


def policy_text(comparison: Comparison) -> str:
    """Return `passed`, `2 mandatory rules broken`, `1 advisory rule broken`, `no rules` or `unknown`."""
    if Side.AFTER in comparison.unknown:
        return "unknown"
    broken = _broken(comparison, Side.AFTER)
    mandatory = [key for key in broken if key[0] == "policy-violated"]
    level = MANDATORY if mandatory else ADVISORY
    count = len(mandatory or broken)
    if count:
        return f"{count} {level} {'rule' if count == 1 else 'rules'} broken"
    rules = [key for level in LEVELS for key in comparison.after.policy.get(level, {})]
    return "passed" if rules else "no rules"


def standing(comparison: Comparison) -> Iterator[str]:
    """Yield existing faults: rules that were broken before, and clusters that still drain."""
    after = _broken(comparison, Side.AFTER)
    for key, text in _broken(comparison, Side.BEFORE).items():
        if after.get(key) == text:
            yield f"rule `{key[2]}` is broken: {text}"
    for action in comparison.actions:
        if action.what is What.RETIRE and action.id in (*comparison.before.kept, *comparison.old.retiring):
            late = ", longer than `retireWithin`" if action.overdue else ""
            jobs = join(job_lines(action.jobs, comparison.world.now)[:3]) or action.why.words
            yield f"cluster `{action.id}` still drains{late}: {jobs}"


def _broken(comparison: Comparison, side: Side) -> Mapping[tuple[str, ...], str]:
    """Return how each rule is broken, by finding type and the parts of the subject."""
    facts = comparison.before if side is Side.BEFORE else comparison.after
    broken: dict[tuple[str, ...], str] = {}
    if side is Side.AFTER and comparison.preview:
        for objection in comparison.preview.objections:
            _add(broken, _key_of(objection), f"`{short(objection.about)}`: {short(objection.message, _LONGEST)}")
    for found in violations(facts):
        key = (found.kind, found.subject.what, found.subject.name, found.subject.part)
        _add(broken, key, found.sentence)
    broken.pop((), None)
    return broken


def _unused_pools(catalog: Catalog) -> Iterator[tuple[str, Pool]]:
    """Yield pools that no template fits, by cluster. Of several equal pools, offers name only the first."""
    own = [cluster for cluster in catalog.clusters.values() if not cluster.adopted]
    pools = {(cluster.name, pool.name): pool for cluster in own for pool in cluster.pools}
    unused = unused_pools(pools, catalog.templates.values())
    used = {(name, pools[name, pool].machine) for name, pool in pools.keys() - {*unused}}
    for name, pool in unused:
        if (name, pools[name, pool].machine) not in used:
            yield name, pools[name, pool]


def _add(broken: dict[tuple[str, ...], str], key: tuple[str, ...], text: str) -> None:
    known = broken.get(key)
    broken[key] = f"{known}; {text}" if known else text


def _key_of(objection: Objection) -> tuple[str, ...]:
    """Return the key of a team's own pack's rule; empty for Slipway's pack, whose rules the facts have."""
    if objection.pack == _OURS:
        return ()
    kind = "policy-violated" if objection.mandatory else "policy-advice"
    return (kind, "policy", short(objection.rule), short(objection.pack))


def _field_of(subject: Subject) -> str:
    return f"slipway:policy ({subject.name})"


def _loosened_rules(before: _Rules, after: _Rules) -> Iterator[Finding]:
    """Yield rules that are dropped, allow more, or are only advisory now."""
    for level in LEVELS:
        for key in before.get(level, {}):
            was = _setting(before, level, key)
            now = _setting(after, level, key)
            is_mandatory_now = _setting(after, MANDATORY, key) is not None
            if not _is_looser(key, was, now) or (level == ADVISORY and is_mandatory_now):
                continue
            sentence = f"{level} rule `{key}` is loosened: {_shown(was)} → {_shown(now)}"
            if now is None and _setting(after, ADVISORY, key) is not None:
                sentence = f"rule `{key}` no longer rejects deployments: mandatory → advisory"
            grade = Grade.BLOCKING if level == MANDATORY else Grade.NOTE
            yield _loosened(key, level, sentence, grade, f"slipway:policy.{level}.{key}")


def _setting(policy: _Rules, level: str, key: str) -> Any:
    """Return a rule's setting at a level; None if it is not set, or switched off."""
    setting = policy.get(level, {}).get(key)
    return None if setting is False else setting


def _is_looser(key: str, was: Any, now: Any) -> bool:
    if was is None or was == now:
        return False
    if now is None:
        return True
    strict, loose = (now, was) if key in _MORE_IS_STRICTER else (was, now)
    if isinstance(strict, list) and isinstance(loose, list):
        return not all(any(fnmatchcase(str(one), str(known)) for known in strict) for one in loose)
    return bool(loose > strict)


def _shown(setting: Any) -> str:
    if setting is None:
        return "none"
    if isinstance(setting, list):
        return short(", ".join(map(str, setting)) or "none")
    return plain(setting) if isinstance(setting, float) else short(render(setting))


def _loosened_severities(before: _Rules, after: _Rules) -> Iterator[Finding]:
    """Yield finding types that become milder, and higher sums that need no approval."""
    for kind, was, becomes in moved(before.get(GRADES, {}), after.get(GRADES, {})):
        if becomes < was:
            sentence = f"severity of `{kind}` is lowered: {was.review_word} → {becomes.review_word}"
            grade = Grade.BLOCKING if was is Grade.BLOCKING else Grade.WARNING
            yield _loosened(f"{GRADES}.{kind}", "", sentence, grade, f"slipway:policy.{GRADES}.{kind}")
    for kind in SUMS:
        limit = asks_above([before], kind)
        limit_then = asks_above([after], kind)
        if limit is not None and (limit_then is None or limit_then > limit):
            then = "no limit" if limit_then is None else usd(limit_then)
            sentence = f"approvals for a higher `{kind}` are needed above {usd(limit)} → {then} a month"
            field = f"slipway:policy.{APPROVE_ABOVE}.{kind}"
            yield _loosened(f"{APPROVE_ABOVE}.{kind}", "", sentence, Grade.BLOCKING, field)


def _loosened_quota_check(comparison: Comparison) -> Iterator[Finding]:
    before = comparison.before.quota
    after = comparison.after.quota
    if before.mode and after.mode == "warn" and before.mode != "warn":
        sentence = f"quota check `mode` {before.mode} → warn: a deployment without quota starts, and may fail halfway"
        yield _loosened("quota.mode", "", sentence, Grade.WARNING, "slipway:quota.mode")
    elif before.mode and before.strict and not after.strict:
        sentence = (
            "quota check `strict` true → false: pools that can't reach their maximum no longer reject deployments"
        )
        yield _loosened("quota.strict", "", sentence, Grade.WARNING, "slipway:quota.strict")


def _loosened(name: str, part: str, sentence: str, grade: Grade, field: str) -> Finding:
    return KINDS["policy-loosened"].of(Subject("policy", name, part), sentence, grade=grade, field=field)


def _allowances(comparison: Comparison) -> Iterator[Finding]:
    """Yield spending limits that are raised or lowered. Each is USD; infinite for no limit."""
    before = _limits(comparison.old)
    after = _limits(comparison.new)
    enforced = (comparison.old.budget or Budget()).enforce, (comparison.new.budget or Budget()).enforce
    people = {member.split(":")[-1].split("@")[0] for member in comparison.after.people}
    for name in dict.fromkeys((*before, *after)):
        was = before.get(name, _default(name))
        now = after.get(name, _default(name))
        if was == now or _counts_for_nobody(name, comparison.new, people):
            continue
        kind = KINDS["allowance-loosened" if now > was else "allowance-tightened"]
        rejects = any(enforced) and not name.startswith("budget.users.")
        sentence = f"{_meaning(name)} {_usd(was)} → {_usd(now)}"
        grade = _grade(name, was, now, rejects=rejects)
        yield kind.of(Subject("allowance", name), sentence, grade=grade, field=f"slipway:{name}")
    limits = join(f"{whose} {usd(limit)}" for whose, limit in (comparison.new.budget or Budget()).refusing.items())
    if enforced[0] != enforced[1] and limits:
        sentence = f"submissions beyond {limits} a month are {'rejected' if enforced[1] else 'no longer rejected'}"
        kind = KINDS["allowance-loosened" if enforced[0] else "allowance-tightened"]
        grade = Grade.BLOCKING if enforced[0] else Grade.NOTE
        yield kind.of(Subject("allowance", "budget.enforce"), sentence, grade=grade, field="slipway:budget.enforce")
    yield from _agent_machines(comparison.old, comparison.new)


def _limits(catalog: Catalog) -> dict[str, float]:
    """Return the limits by their keys in the stack file."""
    budget = catalog.budget or Budget()
    limits = {f"budget.teams.{name}": limit for name, limit in budget.teams.items()}
    limits |= {f"budget.users.{name}": limit for name, limit in budget.users.items()}
    if budget.stack is not None:
        limits["budget.stack"] = budget.stack
    limits["workspace.confirmAbove"] = catalog.confirm_above
    limits["agents.perDay"] = catalog.agents.per_day if catalog.agents else 0.0
    return limits


def _default(name: str) -> float:
    return inf if name.startswith("budget.") else 0.0


def _counts_for_nobody(name: str, catalog: Catalog, people: set[str]) -> bool:
    """Return whether a limit is of a team or a user that the stack no longer has."""
    _, _, whose = name.partition(".")
    kind, _, member = whose.partition(".")
    if kind == "teams":
        return bool(catalog.teams) and member not in catalog.teams
    return (
        kind == "users" and bool(people) and member not in people and member not in (catalog.budget or Budget()).users
    )


def _grade(name: str, was: float, now: float, *, rejects: bool) -> Grade:
    if now > was:
        is_small = was > 0 and now < was * _MOST_OFF
        is_advisory = name.startswith("budget.") and not rejects
        return Grade.WARNING if is_small or is_advisory else Grade.BLOCKING
    if now == 0 and rejects and name.startswith("budget."):
        return Grade.BLOCKING
    is_minor = was == inf or name == "workspace.confirmAbove" or name.startswith("budget.users.")
    return Grade.NOTE if is_minor else Grade.WARNING


def _meaning(name: str) -> str:
    if name == "workspace.confirmAbove":
        return "submissions need a confirmation above, an hour:"
    if name == "agents.perDay":
        return "AI agents can spend without a person, a day:"
    return "can be spent a month:"


def _usd(limit: float) -> str:
    return "no limit" if limit == inf else usd(limit)


def _agent_machines(old: Catalog, new: Catalog) -> Iterator[Finding]:
    if not old.agents or not new.agents or {*old.agents.machines} == {*new.agents.machines}:
        return
    was = {*old.agents.machines}
    now = {*new.agents.machines}
    # Without a list, agents can use any machine.
    is_looser = bool(was) and (not now or not now <= was)
    kind = KINDS["allowance-loosened" if is_looser else "allowance-tightened"]
    sides = [join(f"`{machine}`" for machine in sorted(side)) or "any" for side in (was, now)]
    sentence = f"AI agents can use machines without a person: {sides[0]} → {sides[1]}"
    yield kind.of(Subject("allowance", "agents.machines"), sentence, field="slipway:agents.machines")
