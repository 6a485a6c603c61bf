"""Quota: the parts that do not fit now, at most, or while both generations exist; and how strictly that is checked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from slipway.base.formatting import few
from slipway.google.catalog.lookup import usual_offers
from slipway.google.live import UNLIMITED, Increase, Live, QuotaLimit, Unknown
from slipway.google.quota.increases import became_of, preference_of
from slipway.google.quota.metrics import quota_id
from slipway.google.quota.usage import Usage, usage
from slipway.model.facts import QuotaFacts, QuotaLine
from slipway.model.findings.finding import Finding, Grade, Subject
from slipway.model.findings.kinds import AWAITS, KINDS
from slipway.reviewing.change.change import Change, Side, drawn_by_season
from slipway.reviewing.rules.quota_requests import asked_for, may_get, requests_in_words
from slipway.reviewing.rules.words import capital, named, of_limit, words_of

_STRICTER = {
    "request": "Google is asked for more, and no cluster is made before that is granted",
    "enforce": "a deployment is refused",
}


@dataclass(frozen=True)
class _Ground:
    """The grounds of a comparison. `before` are lines of the deployed stack; `use` is by region, empty where it could
    not be counted."""

    change: Change
    before: Mapping[str, QuotaLine]
    after: QuotaFacts
    use: Mapping[str, Usage]

    def used(self, line: QuotaLine) -> Usage:
        return self.use.get(line.region, Usage())


def quota(change: Change) -> Iterator[Finding]:
    if change.after is None:
        return
    same_place = change.before is not None and change.before.quota.region == change.after.quota.region
    before = change.before.quota.lines if change.before and same_place else {}
    ground = _Ground(change, before, change.after.quota, _use(change))
    for line in change.after.quota.lines.values():
        if line.of_offers:
            yield from _offers(ground, line)
        else:
            yield from (*_now(ground, line), *_at_most(ground, line))
    yield from asked_for(change)
    yield from _unknown(ground)
    yield from _check(change)


def quota_in_words(change: Change) -> str:
    """Return how the stack stands once it is deployed: `ok`, `ok now, short if pools grow`, `short`, `ok for pools,
    short for jobs' own machines of TEMPLATE`, `unknown`, `nothing drawn`; and the outcome of the requests for the
    missing quota."""
    lines = () if Side.AFTER in change.unknown else tuple(change.after.quota.lines.values())
    pools = [line for line in lines if not line.of_offers]
    if short := [line for line in pools if line.short]:
        return f"short{requests_in_words(change, short)}"
    if any(line.state == "unknown" for line in lines):
        return "unknown"
    if tight := [line for line in pools if line.state == "tight"]:
        return f"ok now, short if pools grow{requests_in_words(change, tight)}"
    offers = (line for line in lines if line not in pools and line.short)
    if lacking := _without_quota(change) or [one for line in offers for one in line.drawn]:
        names = dict.fromkeys(one.split()[0] for one in lacking)
        return f"{'ok for pools, ' if pools else ''}short for jobs' own machines of {few(names)}"
    return "ok" if lines else "unknown" if Side.AFTER in change.unknown else "nothing drawn"


def _without_quota(change: Change) -> list[str]:
    templates = change.new.templates if change.new else {}
    usual = {name: usual_offers(one) for name, one in sorted(templates.items())}
    return [
        name
        for name, some in usual.items()
        if not any(one.available or one.dormant for one in some) and any(one.lacks_quota for one in some)
    ]


def _use(change: Change) -> Mapping[str, Usage]:
    live = change.live
    if live.skipped or isinstance(live.clusters, Unknown) or isinstance(live.jobs, Unknown) or change.after is None:
        return {}
    own = frozenset(one.id for one in change.after.catalog.clusters.values())
    was = {one.id for one in change.old.clusters.values() if not one.adopted} if change.old else set()
    retiring = change.old.retiring if change.old else ()
    going = frozenset({*was, *retiring, *change.after.kept} - own)
    found = {}
    for region in dict.fromkeys(("", *(line.region for line in change.after.quota.lines.values()))):
        there = live.at(region or change.after.catalog.region, home=not region)
        assert not isinstance(there.clusters, Unknown) and not isinstance(there.jobs, Unknown)
        found[region] = usage(there.clusters, there.jobs, own, going)
    return found


def _now(ground: _Ground, line: QuotaLine) -> Iterator[Finding]:
    was, old = ground.before.get(line.key), ground.used(line).old.get(line.metric, 0)
    asked = may_get(ground.change, line)
    if not line.short or (was and was.short >= line.short and was.drawn == line.drawn):
        return
    overlap, waits = old >= line.short, asked >= line.short + (line.limit or 0)
    refused = "the deployment is refused" if ground.after.mode != "warn" else "the deployment goes on, and may fail"
    kind, who = "quota-short-now", "What is made needs"
    if overlap:
        kind, who = "quota-short-in-overlap", "The old and the new cluster together need"
    words = f"{who} {line.short:,} more {words_of(line)} than there are"
    if waits:
        refused = f"no cluster is made before a limit of {asked:,} is granted"
        kind = AWAITS if drawn_by_season(ground.change, line.metric) else kind
    yield KINDS[kind].of(
        Subject("quota", line.key),
        f"{words}{of_limit(line.limit)}",
        more=f": {refused}; {_increase(ground, line)}",
        details=(*_drawn(line), *((f"the old cluster draws {old:,} until it is gone",) if overlap else ())),
        grade=Grade.WARNING if waits else Grade.BLOCKING,
    )


def _at_most(ground: _Ground, line: QuotaLine) -> Iterator[Finding]:
    """Find pools that can't reach their maximum once old generations are gone: only others reduce their room."""
    was, others = ground.before.get(line.key), ground.used(line).others.get(line.metric, 0)
    if line.limit is None or line.limit == UNLIMITED:
        return
    subject, pools, room = Subject("quota", line.key), capital(_pools(line)), max(line.limit - others, 0)
    lacks, lacked = max(line.ceiling - room, 0), max(was.ceiling - room, 0) if was else 0
    if lacks > lacked and not line.short:
        refused = ground.after.strict and ground.after.mode != "warn"
        had = f"{room:,} {words_of(line)} can be had, and {line.ceiling:,} are needed"
        short = f"short by {lacks:,}{of_limit(line.limit)}{f', {others:,} used by others' if others else ''}"
        yield KINDS["quota-short-at-most"].of(
            subject,
            f"{pools} can't grow {_in_machines(ground, line, room)}",
            more=f": {had}{'; `strict` refuses the deployment' if refused else ''}; {_increase(ground, line)}",
            details=(*_drawn(line), short),
            grade=Grade.BLOCKING if refused else None,
        )
    elif lacked and not lacks:
        words = f"{pools} can grow to the maximum: {line.ceiling:,} of {room:,} {words_of(line)}"
        yield KINDS["quota-eased"].of(subject, words)


def _in_machines(ground: _Ground, line: QuotaLine, room: int) -> str:
    """Return `beyond 4 of 6 machines`, where one pool alone draws the metric."""
    catalog, who = ground.change.new, next(iter(line.drawn), "")
    cluster, _, pool = who.partition("/")
    found = catalog.clusters[cluster].pool(pool) if catalog and cluster in catalog.clusters else None
    if found is None or len(line.drawn) > 1 or not line.ceiling:
        return f"to {'its' if len(line.drawn) == 1 else 'their'} maximum"
    return f"beyond {found.max * room // line.ceiling:,} of {found.max:,} machines"


def _offers(ground: _Ground, line: QuotaLine) -> Iterator[Finding]:
    was = ground.before.get(line.key)
    if not line.short or (was and was.short >= line.short):
        return
    # An unchanged shortage is no news.
    more = {who: much for who, much in line.drawn.items() if much > (was.drawn.get(who, 0) if was else 0)}
    line = replace(line, drawn=more or line.drawn)
    yield KINDS["quota-short-at-most"].of(
        Subject("quota", line.key),
        f"A single run by {_pools(line)} can't start",
        more=f": it needs up to {line.ceiling:,} {words_of(line)}{of_limit(line.limit)}; {_increase(ground, line)}",
        details=_drawn(line),
    )


def _unknown(ground: _Ground) -> Iterator[Finding]:
    """Report all unknown limits together, as one failed answer makes all of them unknown."""
    if ground.change.live.skipped:
        return
    unread = {(one.metric, one.region): one for one in ground.after.lines.values() if one.state == "unknown"}
    before = {(one.metric, one.region) for one in ground.before.values() if one.state == "unknown"}
    known = [unread[key] for key in sorted(unread.keys() - before)]
    if known:
        parts = (_limits(ground.change.live, one) for one in known)
        why = next((f": {part}" for part in parts if isinstance(part, Unknown)), "")
        words = f"Nobody can tell whether {named(words_of(one) for one in known)} suffice{why}"
        yield KINDS["quota-unknown"].of(Subject("quota"), words)


def _limits(live: Live, line: QuotaLine) -> Mapping[str, QuotaLimit] | Unknown:
    return live.limits_elsewhere.get(line.region, {}) if line.region else live.limits


def _check(change: Change) -> Iterator[Finding]:
    if change.before is None or change.after is None or not change.before.quota.mode:
        return
    old, new = change.before.quota, change.after.quota
    weaker = []
    if new.mode == "warn" and old.mode != "warn":
        weaker.append("Where quota is missing, a deployment only warns and goes on, and may fail halfway")
    if old.strict and not new.strict:
        weaker.append("Pools whose maximum exceeds the quota no longer stop a deployment")
    if weaker:
        field = f"slipway:quota.{'mode' if new.mode != old.mode else 'strict'}"
        edits = ((f"`mode` {old.mode} → {new.mode}",) if new.mode != old.mode else ()) + (
            ("`strict` is off",) if old.strict and not new.strict else ()
        )
        words = "; ".join(weaker)
        yield KINDS["quota-check-weaker"].of(Subject("quota", "check"), words, details=edits, field=field)
    if old.mode == "warn" and new.mode in _STRICTER:
        words, field = f"Where quota is missing, {_STRICTER[new.mode]}", "slipway:quota.mode"
        yield KINDS["quota-check-stricter"].of(Subject("quota", "check"), words, field=field)
    if new.strict and not old.strict:
        words, field = "Pools whose maximum exceeds the quota stop a deployment", "slipway:quota.strict"
        yield KINDS["quota-check-stricter"].of(Subject("quota", "strict"), words, field=field)


def _increase(ground: _Ground, line: QuotaLine) -> str:
    """Return the outcome of the request for more, else whether more can be had, and the name to ask for it. Requests
    are made in the stack's own region alone."""
    live = ground.change.live
    if not line.region and (there := preference_of(live, line.metric)):
        return str(became_of(there))
    limits = _limits(live, line)
    found = limits.get(line.metric) if not isinstance(limits, Unknown) else None
    if not isinstance(found, QuotaLimit) or not found.increase:
        return "whether an increase can be had is not known"
    id_ = found.quota_id or quota_id(line.metric)
    return f"{found.increase} (`{id_}`)" if id_ and found.increase == Increase.POSSIBLE else found.increase


def _pools(line: QuotaLine) -> str:
    return named(f"`{one}`" for one in line.drawn) or "what is declared"


def _drawn(line: QuotaLine) -> Iterator[str]:
    """Yield the draws at most, the largest first."""
    for who, amount in sorted(line.drawn.items(), key=lambda one: (-one[1], one[0])):
        yield f"`{who}`: {amount:,} {words_of(line)} at most"
