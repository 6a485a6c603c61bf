"""Question: which rules, budgets, allowances and checks hold, and which rules are broken? Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from itertools import chain
from typing import Any

from slipway.answers.answer import Answer, Difference, State
from slipway.answers.cluster_texts import job_lines
from slipway.answers.comparison import Comparison, Side
from slipway.authoring.policy.rule import ADVISORY, LEVELS, MANDATORY
from slipway.authoring.policy.rules import violations
from slipway.base.formatting import counted, few, join, plain, short, usd
from slipway.deploying.generations.action import What
from slipway.google.catalog.lookup import ended_images, teams_of, unused_pools
from slipway.model.agents import AgentAllowance
from slipway.model.budget import Budget
from slipway.model.catalog.clusters import Cluster, Pool
from slipway.model.catalog.model import Catalog
from slipway.model.catalog.placeholders import render
from slipway.model.cluster_fields import machines_in_words
from slipway.model.facts import Facts
from slipway.model.findings.finding import Finding, Grade, Subject
from slipway.model.findings.grades import APPROVE_ABOVE, BY_WORD, GRADES, REVIEWED, SUMS, asks_above
from slipway.model.findings.kinds import KINDS
from slipway.model.labels import team_of
from slipway.model.machines.price_tables import HOURS_OF_A_MONTH
from slipway.model.machines.spec import MachineSpec

_Rules = Mapping[str, Mapping[str, Any]]
_OURS = "slipway"
"""Slipway's own policy pack, whose rules are those of the stack file."""
_WARNING = "warning"
_VIOLATED = "policy-violated"
_LONGEST = 300
_MORE_IS_STRICTER = ("labels", "quotaHeadroom")
"""Rules that a longer list or a larger number makes stricter."""
_MOST_OFF = 2
"""A limit that becomes less than this many times as large is not blocking."""


@dataclass(frozen=True)
class Limit:
    """A setting that restricts people or deployments."""

    #: In the stack file, below `slipway:`.
    key: str
    meaning: str
    #: A larger one allows more; of a list, patterns that are allowed; None allows everything.
    value: Any
    shown: str
    #: The severity if it allows more.
    looser: Grade
    #: The severity if it allows less; None for a rule or a check, which may be stricter.
    tighter: Grade | None = None


def answers(comparison: Comparison, side: Side) -> Iterator[Answer]:
    """Yield each broken rule, and each warning of `slipway check` or `pulumi up`."""
    # The first deployment's empty stack only has the declared rules.
    if comparison.first and side is Side.BEFORE:
        return
    for (kind, subject), text in _broken(comparison, side).items():
        yield Answer(kind, (str(subject),), subject, State.NO, text)
    catalog = comparison.old if side is Side.BEFORE else comparison.new
    for name, pool in _unused_pools(catalog):
        grade = _unused_grade(pool)
        # New machines are often declared before their template.
        if name.partition("/")[0] not in comparison.old.clusters:
            grade = Grade.NOTE
        text = "no template can run on it, and it is billed"
        yield Answer(_WARNING, (name,), Subject("pool", name), text=text, values={"grade": grade})
    for name, pool, teams in _foreign_pools(catalog):
        who = join((f"`{team}`" for team in teams), "or")
        cost = round(float(pool.price_per_hour.known) * pool.min * HOURS_OF_A_MONTH)
        text = f"no template of team {who} can run on it; ${cost:,}/month"
        grade = _unused_grade(pool)
        yield Answer(_WARNING, (name,), Subject("pool", name), text=text, values={"grade": grade})
    for name, number, text in _unfit_alternatives(catalog):
        subject = Subject("cluster", name)
        yield Answer(_WARNING, (name, number), subject, text=text, values={"grade": Grade.WARNING})
    for image, names in ended_images(catalog.templates.values(), comparison.world.now).items():
        text = f"{join(f'`{name}`' for name in names)} runs it after the end of its support"
        subject = Subject("image", image.name)
        yield Answer(_WARNING, (image.name,), subject, text=text, values={"grade": Grade.WARNING})


def _unused_grade(pool: Pool) -> Grade:
    return Grade.BLOCKING if pool.machine.accelerator else Grade.WARNING


def findings(comparison: Comparison, differences: Sequence[Difference]) -> Iterator[Finding]:
    """Yield newly broken rules, new warnings, and loosened rules, checks, budgets and allowances."""
    for difference in differences:
        if difference.after is None:
            continue
        if difference.question != _WARNING:
            yield _of_rule(difference, difference.after)
        elif difference.is_new and not comparison.first:
            grade = Grade(int(difference.after.values["grade"] or 0))
            yield KINDS["stack-warning"].of(difference.subject, difference.after.text, grade=grade)
    if not comparison.first and not comparison.unknown:
        yield from _limit_findings(comparison)


def _of_rule(difference: Difference, after: Answer) -> Finding:
    kind = KINDS[difference.question]
    grade = kind.usual if difference.is_new else Grade.NOTE
    fix = "change what breaks the rule, or ask the owner of the policy"
    return kind.of(after.subject, after.text, fix, grade=grade, field=f"slipway:policy ({after.subject.name})")


def policy_text(comparison: Comparison) -> str:
    """Return `passed`, `2 mandatory rules broken`, `1 advisory rule broken`, `no rules` or `unknown`."""
    if Side.AFTER in comparison.unknown:
        return "unknown"
    broken = _broken(comparison, Side.AFTER)
    # A rule may be broken by several parts of the stack.
    mandatory = {subject.name for kind, subject in broken if kind == _VIOLATED}
    if mandatory:
        return f"{counted(len(mandatory), f'{MANDATORY} rule')} broken"
    if broken:
        return f"{counted(len({subject.name for _, subject in broken}), f'{ADVISORY} rule')} broken"
    has_rules = any(comparison.after.policy.get(level) for level in LEVELS)
    return "passed" if has_rules else "no rules"


def standing(comparison: Comparison) -> Iterator[str]:
    """Yield existing faults: rules that were broken before, clusters that still drain, alternatives."""
    after = _broken(comparison, Side.AFTER)
    for key, text in _broken(comparison, Side.BEFORE).items():
        if after.get(key) == text:
            yield f"rule `{key[1].name}` is broken: {text}"
    draining = (*comparison.before.kept, *comparison.old.retiring)
    for action in comparison.actions:
        if action.what is What.RETIRE and action.id in draining:
            late = ", longer than `retireWithin`" if action.overdue else ""
            jobs = few(job_lines(action.jobs, comparison.world.now)) or action.why.words
            yield f"cluster `{action.id}` still drains{late}: {jobs}"
    for cluster in comparison.new.clusters.values():
        if cluster.alternative:
            place = cluster.region or comparison.new.region
            yield f"cluster `{cluster.name}` exists as its alternative {cluster.alternative} in {place}"


def _broken(comparison: Comparison, side: Side) -> Mapping[tuple[str, Subject], str]:
    """Return how each rule is broken, by finding kind and subject."""
    facts = comparison.before if side is Side.BEFORE else comparison.after
    texts: dict[tuple[str, Subject], list[str]] = {}
    for found in violations(facts):
        texts.setdefault((found.kind, found.subject), []).append(found.sentence)
    objections = comparison.preview.objections if comparison.preview and side is Side.AFTER else ()
    for objection in objections:
        # The facts have the rules of Slipway's own pack.
        if objection.pack != _OURS:
            kind = _VIOLATED if objection.mandatory else "policy-advice"
            key = (kind, Subject("policy", short(objection.rule), short(objection.pack)))
            text = f"`{short(objection.about)}`: {short(objection.message, _LONGEST)}"
            texts.setdefault(key, []).append(text)
    return {key: "; ".join(parts) for key, parts in texts.items()}


def _unused_pools(catalog: Catalog) -> Iterator[tuple[str, Pool]]:
    """Yield pools that no template fits, by `cluster/pool`. Of several equal pools, offers name only the first."""
    pools: dict[tuple[str, str], Pool] = {}
    for cluster in catalog.clusters.values():
        if not cluster.adopted:
            pools.update({(cluster.name, pool.name): pool for pool in cluster.pools})
    unused = unused_pools(pools, catalog.templates.values())
    used = {(name, pools[name, pool].machine) for name, pool in pools.keys() - {*unused}}
    for name, pool in unused:
        if (name, pools[name, pool].machine) not in used:
            yield f"{name}/{pool}", pools[name, pool]


def _unfit_alternatives(catalog: Catalog) -> Iterator[tuple[str, str, str]]:
    """Yield each alternative of a cluster that no template of the cluster fits: the name, the number and a sentence."""
    for cluster in catalog.clusters.values():
        machines = _offered_machines(catalog, cluster)
        # A cluster that exists as an alternative is judged by its own pools.
        if not machines or cluster.alternative:
            continue
        for number, option in enumerate(cluster.alternatives, 1):
            if machines.isdisjoint(pool.machine for pool in option.pools):
                sizes = join(machines_in_words(pool) for pool in option.pools)
                text = f"if alternative {number} ({sizes}) is created, no template can run on it"
                yield cluster.name, str(number), text


def _offered_machines(catalog: Catalog, cluster: Cluster) -> set[MachineSpec]:
    """Return the machines of a cluster that templates fit."""
    pools = {pool.name: pool.machine for pool in cluster.pools}
    machines: set[MachineSpec] = set()
    for template in catalog.templates.values():
        for offer in template.offers:
            if offer.cluster == cluster.name:
                machines.update(pools[name] for name in offer.pools if name in pools)
    return machines


def _foreign_pools(catalog: Catalog) -> Iterator[tuple[str, Pool, Sequence[str]]]:
    """Yield pools by `cluster/pool` that templates fit, but none of the teams whose jobs alone the cluster takes."""
    # Without a list of submitters, the teams of a template are unknown.
    if not catalog.submitters:
        return
    fitting = _teams_by_pool(catalog)
    for cluster in catalog.clusters.values():
        owners = catalog.owners(cluster.name)
        if cluster.adopted or not owners:
            continue
        machines = _machines_for(owners, cluster, fitting)
        for pool in cluster.pools:
            name = f"{cluster.name}/{pool.name}"
            # Of several equal pools, offers name only the first.
            if name in fitting and pool.machine not in machines:
                yield name, pool, owners


def _machines_for(owners: Sequence[str], cluster: Cluster, fitting: Mapping[str, set[str]]) -> list[MachineSpec]:
    """Return the machines of a cluster that a template of one of its teams fits."""
    found = []
    for pool in cluster.pools:
        teams = fitting.get(f"{cluster.name}/{pool.name}", set())
        if not teams.isdisjoint(owners):
            found.append(pool.machine)
    return found


def _teams_by_pool(catalog: Catalog) -> Mapping[str, set[str]]:
    """Return the teams whose submissions fit each pool, by `cluster/pool`."""
    found: dict[str, set[str]] = {}
    for template in catalog.templates.values():
        for offer in template.offers:
            for pool in offer.pools:
                teams = found.setdefault(f"{offer.cluster}/{pool}", set())
                teams.update(teams_of(catalog, offer))
    return found


def _limit_findings(comparison: Comparison) -> Iterator[Finding]:
    """Yield limits that allow more or less than before."""
    before = _limits(comparison, Side.BEFORE)
    after = _limits(comparison, Side.AFTER)
    for key, either in {**after, **before}.items():
        nothing = replace(either, value=None, shown="no limit")
        if key not in _without_owner(comparison):
            yield from _limit_finding(before.get(key, nothing), after.get(key, nothing))


def _limit_finding(was: Limit, now: Limit) -> Iterator[Finding]:
    what = "allowance" if was.tighter else "policy"
    subject = Subject(what, was.key.removeprefix("policy."))
    sentence = f"{now.meaning}: {was.shown} → {now.shown}"
    field = f"slipway:{was.key}"
    if _allows_more(was.key, was.value, now.value):
        grade = max(was.looser, now.looser)
        if was.tighter and _is_small(was.value, now.value):
            grade = Grade.WARNING
        yield KINDS[f"{what}-loosened"].of(subject, sentence, grade=grade, field=field)
    elif now.tighter and _allows_more(was.key, now.value, was.value):
        is_first = was.value is None and now.tighter is Grade.WARNING
        grade = Grade.NOTE if is_first else now.tighter
        yield KINDS["allowance-tightened"].of(subject, sentence, grade=grade, field=field)


def _allows_more(key: str, was: Any, now: Any) -> bool:
    """Return whether a value allows more than another one. None allows everything."""
    if was is None or was == now:
        return False
    if now is None:
        return True
    if key.endswith(_MORE_IS_STRICTER):
        return _allows_more("", now, was)
    if isinstance(was, list | tuple):
        return not all(_matches(str(item), was) for item in now)
    return bool(now > was)


def _matches(item: str, patterns: Sequence[Any]) -> bool:
    return any(fnmatchcase(item, str(pattern)) for pattern in patterns)


def _is_small(was: Any, now: Any) -> bool:
    return isinstance(now, int | float) and was < now < was * _MOST_OFF


def _without_owner(comparison: Comparison) -> set[str]:
    """Return the keys of limits of teams, people and agents that the stack no longer has."""
    old = comparison.old
    new = comparison.new
    offers = chain.from_iterable(template.offers for template in new.templates.values())
    # A template can keep the label of a removed team, whose jobs are counted no more.
    labeled = {team_of(offer.request.get("labels", {})) for offer in offers}
    removed = {f"budget.teams.{name}" for name in old.teams.keys() - new.teams.keys() - labeled}
    people = {member.split(":")[-1].split("@")[0] for member in comparison.after.people}
    if people:
        users = _budget(old).users.keys() - _budget(new).users.keys()
        removed |= {f"budget.users.{name}" for name in users - people}
    if not (old.agents and new.agents):
        removed.add("agents.machines")
    if not _budget(new).refusing:
        removed.add("budget.enforce")
    return removed


def _budget(catalog: Catalog) -> Budget:
    return catalog.budget or Budget()


def _limits(comparison: Comparison, side: Side) -> dict[str, Limit]:
    """Return the limits of a side by their keys, among them all rules that are deployed."""
    facts = comparison.before if side is Side.BEFORE else comparison.after
    limits = (*_rules(facts.policy, comparison.before.policy), *_checks(facts), *_allowances(facts.catalog))
    return {limit.key: limit for limit in limits}


def _rules(policy: _Rules, deployed: _Rules) -> Iterator[Limit]:
    mandatory = policy.get(MANDATORY, {})
    # A rule that becomes mandatory is no looser.
    effective = {MANDATORY: mandatory, ADVISORY: {**policy.get(ADVISORY, {}), **mandatory}}
    for level, grade in ((MANDATORY, Grade.BLOCKING), (ADVISORY, Grade.NOTE)):
        for rule in deployed.get(level, {}):
            # A rule that is switched off allows everything.
            value = effective[level].get(rule) or None
            shown = _shown(value)
            if level == MANDATORY and value is None and policy.get(ADVISORY, {}).get(rule):
                shown = "advice only"
            yield Limit(f"policy.{level}.{rule}", f"{level} rule `{rule}` is loosened", value, shown, grade)


def _checks(facts: Facts) -> Iterator[Limit]:
    """Yield the severities, the sums above which a change needs an approval, and the quota check."""
    grades = facts.policy.get(GRADES, {})
    for name, kind in REVIEWED.items():
        grade = BY_WORD.get(str(grades.get(name)), kind.usual)
        looser = max(grade, Grade.WARNING)
        yield Limit(
            f"policy.{GRADES}.{name}",
            f"from the next change on, severity of `{name}`",
            -grade,
            grade.review_word,
            looser,
        )
    for name in SUMS:
        limit = asks_above([facts.policy], name)
        meaning = f"approvals for a higher `{name}` a month are needed above"
        yield Limit(f"policy.{APPROVE_ABOVE}.{name}", meaning, limit, _usd(limit), Grade.BLOCKING)
    quota = facts.quota
    mode = f"{quota.mode}: `up` continues without enough quota" if quota.mode == "warn" else quota.mode
    yield Limit("quota.mode", "quota check `mode`", quota.mode == "warn", mode, Grade.WARNING)
    yield Limit("quota.strict", "quota check `strict`", not quota.strict, str(quota.strict).lower(), Grade.WARNING)


def _allowances(catalog: Catalog) -> Iterator[Limit]:
    meaning = "hourly price above which `submit` asks for a confirmation"
    above = catalog.confirm_above
    yield Limit("workspace.confirmAbove", meaning, above, _usd(above), Grade.BLOCKING, Grade.NOTE)
    agents = catalog.agents or AgentAllowance(0.0)
    meaning = "AI agents can spend a day without a person"
    yield Limit("agents.perDay", meaning, agents.per_day, _usd(agents.per_day), Grade.BLOCKING, Grade.WARNING)
    machines = agents.machines or None
    meaning = "AI agents can use machines without a person"
    yield Limit("agents.machines", meaning, machines, _shown(machines), Grade.BLOCKING, Grade.WARNING)
    yield from _of_budget(_budget(catalog))


def _of_budget(budget: Budget) -> Iterator[Limit]:
    looser = Grade.BLOCKING if budget.enforce else Grade.WARNING
    meaning = "can be spent a month" if budget.enforce else "budget of a month, which only warns"
    amounts = {"stack": budget.stack, **{f"teams.{team}": amount for team, amount in budget.teams.items()}}
    for name, amount in amounts.items():
        tighter = Grade.WARNING if amount else looser
        yield Limit(f"budget.{name}", meaning, amount, _usd(amount), looser, tighter)
    for user, limit in budget.users.items():
        meaning = "budget of a month, which only warns"
        yield Limit(f"budget.users.{user}", meaning, limit, _usd(limit), Grade.WARNING, Grade.NOTE)
    limits = few(f"{whose} {usd(limit)}" for whose, limit in budget.refusing.items())
    shown = "rejected" if budget.enforce else "accepted"
    meaning = f"submissions beyond {limits} a month"
    yield Limit("budget.enforce", meaning, not budget.enforce, shown, Grade.BLOCKING, Grade.NOTE)


def _usd(limit: float | None) -> str:
    return "no limit" if limit is None else usd(limit)


def _shown(setting: Any) -> str:
    if setting is None:
        return "no limit"
    if isinstance(setting, list | tuple):
        return short(", ".join(map(str, setting)))
    return short(plain(setting) if isinstance(setting, float) else render(setting))
