"""Quota: what does not fit now, at most, or while both generations are there; and how strictly that is checked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from slipway.facts import QuotaFacts, QuotaLine
from slipway.live import INCREASABLE, UNLIMITED, QuotaLimit, Unknown
from slipway.quota.increases import became_of, preference_of
from slipway.quota.metrics import quota_id
from slipway.quota.usage import Usage, usage
from slipway.review.change import Change
from slipway.review.consequence import Consequence, Grade
from slipway.review.kinds import KINDS
from slipway.review.quota_requests import asked_for, in_words, may_get, of_limit, requests_in_words
from slipway.review.words import named

_OFFERS = " offers"


@dataclass(frozen=True)
class _Ground:
    """`before` are lines of what is deployed; `use` is None where nobody could count it."""

    change: Change
    before: Mapping[str, QuotaLine]
    after: QuotaFacts
    use: Usage | None


def quota(change: Change) -> Iterator[Consequence]:
    if change.after is None:
        return
    same_place = change.before is not None and change.before.quota.region == change.after.quota.region
    before = change.before.quota.lines if change.before and same_place else {}
    ground = _Ground(change, before, change.after.quota, _use(change))
    for line in change.after.quota.lines.values():
        metric = line.key.removesuffix(_OFFERS)
        if line.key != metric:
            yield from _offers(ground, line, metric)
        else:
            yield from (*_now(ground, line), *_at_most(ground, line))
    yield from asked_for(change)
    yield from _unknown(ground)
    yield from _check(change)


def quota_in_words(change: Change) -> str:
    """How the stack stands once it is deployed: `ok`, `ok now, short at most`, `short`, `unknown`, `nothing drawn`; and
    what becomes of the requests for what is short."""
    lines = () if change.after is None else tuple(change.after.quota.lines.values())
    pools = [line for line in lines if not line.key.endswith(_OFFERS)]
    if short := [line.key for line in pools if line.short]:
        return f"short{requests_in_words(change, short)}"
    if any(line.state == "unknown" for line in lines):
        return "unknown"
    if tight := [line.key for line in pools if line.state == "tight"]:
        return f"ok now, short at most{requests_in_words(change, tight)}"
    return "ok" if lines else "nothing drawn" if change.after else "unknown"


def _use(change: Change) -> Usage | None:
    """Who draws what: the stack's own clusters, its old generations, and all others."""
    live = change.live
    if live.skipped or isinstance(live.clusters, Unknown) or isinstance(live.jobs, Unknown) or change.after is None:
        return None
    own = frozenset(one.id for one in change.after.catalog.clusters.values())
    was = {one.id for one in change.old.clusters.values() if not one.adopted} if change.old else set()
    retiring = change.old.retiring if change.old else ()
    return usage(live.clusters, live.jobs, own, frozenset({*was, *retiring, *change.after.kept} - own))


def _now(ground: _Ground, line: QuotaLine) -> Iterator[Consequence]:
    """What is created does not fit; where it would without the old generation, that is said."""
    was = ground.before.get(line.key)
    if not line.short or (was and was.short >= line.short and was.drawn == line.drawn):
        return
    old = ground.use.old.get(line.key, 0) if ground.use else 0
    overlap = old >= line.short
    enforced, asked = ground.after.mode != "warn", may_get(ground.change, line.key)
    refused = "the deployment is refused" if enforced else "the deployment goes on, and may fail"
    if waits := asked >= line.short + (line.limit or 0):
        refused = f"no cluster is made before a limit of {asked:,} is granted"
    why = f"both generations at once need {line.short:,} more {in_words(line.key)} than there are"
    created = f"what is created is short by {line.short:,} {in_words(line.key)}"
    yield KINDS["quota-short-in-overlap" if overlap else "quota-short-now"].of(
        f"quota {line.key}",
        f"{_capital(why if overlap else created)}{of_limit(line.limit)}: {refused}; {_increase(ground, line.key)}",
        details=(
            *_drawn(line),
            *((f"the old generation draws {old:,} until it is gone",) if overlap else ()),
        ),
        grade=Grade.WARNING if waits else Grade.BLOCKING,
    )


def _at_most(ground: _Ground, line: QuotaLine) -> Iterator[Consequence]:
    """Pools at their maximum, when old generations are gone: others alone are in their way."""
    was, metric = ground.before.get(line.key), line.key
    others = ground.use.others.get(metric, 0) if ground.use else 0
    if line.limit is None or line.limit == UNLIMITED:
        return
    room = max(line.limit - others, 0)
    lacks, lacked = max(line.ceiling - room, 0), max(was.ceiling - room, 0) if was else 0
    if lacks > lacked and not line.short:
        refused = ground.after.strict and ground.after.mode != "warn"
        their = "its" if len(line.drawn) == 1 else "their"
        had = f"{room:,} can be had{of_limit(line.limit)}{f', {others:,} used by others' if others else ''}"
        yield KINDS["quota-short-at-most"].of(
            f"quota {metric}",
            f"{_capital(_pools(line))} can't grow to {their} maximum: {_in_machines(ground, line, room)}"
            f"{line.ceiling:,} {in_words(metric)} at most, {had}: short by {lacks:,}"
            f"{'; `strict` refuses the deployment' if refused else ''}; {_increase(ground, metric)}",
            details=_drawn(line),
            grade=Grade.BLOCKING if refused else None,
        )
    elif lacked and not lacks:
        words = f"{_capital(_pools(line))} can grow to the maximum: {line.ceiling:,} of {room:,} {in_words(metric)}"
        yield KINDS["quota-eased"].of(f"quota {metric}", words)


def _in_machines(ground: _Ground, line: QuotaLine, room: int) -> str:
    """`4 of 6 machines, `, where one pool alone draws the metric."""
    catalog, who = ground.change.new, next(iter(line.drawn), "")
    cluster, _, pool = who.partition("/")
    found = catalog.clusters[cluster].pools.get(pool) if catalog and cluster in catalog.clusters else None
    if found is None or len(line.drawn) > 1 or not line.ceiling:
        return ""
    return f"{found.max * room // line.ceiling:,} of {found.max:,} machines, "


def _offers(ground: _Ground, line: QuotaLine, metric: str) -> Iterator[Consequence]:
    was = ground.before.get(line.key)
    if not line.short or (was and was.short >= line.short):
        return
    yield KINDS["quota-short-at-most"].of(
        f"quota {line.key}",
        f"A single run needs up to {line.ceiling:,} {in_words(metric)}{of_limit(line.limit)}: {_pools(line)} can't be "
        f"taken; {_increase(ground, metric)}",
        details=_drawn(line),
    )


def _unknown(ground: _Ground) -> Iterator[Consequence]:
    """Together, as one answer that fails makes all of them unknown."""
    if ground.change.live.skipped:
        return
    unread = {key.removesuffix(_OFFERS) for key, one in ground.after.lines.items() if one.state == "unknown"}
    known = [key for key in sorted(unread) if not _was_unknown(ground, key)]
    if known:
        limits = ground.change.live.limits
        why = f": {limits}" if isinstance(limits, Unknown) else ""
        words = f"Nobody can tell whether {named(in_words(one) for one in known)} suffice{why}"
        yield KINDS["quota-unknown"].of("quota", words)


def _was_unknown(ground: _Ground, metric: str) -> bool:
    lines = (ground.before.get(key) for key in (metric, f"{metric}{_OFFERS}"))
    return any(one is not None and one.state == "unknown" for one in lines)


def _check(change: Change) -> Iterator[Consequence]:
    if change.before is None or change.after is None or not change.before.quota.mode:
        return
    old, new = change.before.quota, change.after.quota
    weaker = []
    if new.mode == "warn" and old.mode != "warn":
        weaker.append(f"`mode` {old.mode} → warn: lack of quota is said, and stops nothing")
    if old.strict and not new.strict:
        weaker.append("`strict` is off: pools at their maximum and templates' offers need not fit any more")
    if weaker:
        field = f"slipway:quota.{'mode' if new.mode != old.mode else 'strict'}"
        yield KINDS["quota-check-weaker"].of("quota check", "; ".join(weaker), field=field)


def _increase(ground: _Ground, metric: str) -> str:
    """What became of the request for more, else whether more can be had, and under which name to ask for it."""
    if there := preference_of(ground.change.live, metric):
        return str(became_of(there))
    limits = ground.change.live.limits
    found = limits.get(metric) if not isinstance(limits, Unknown) else None
    if not isinstance(found, QuotaLimit) or not found.increase:
        return "whether an increase can be had is not known"
    id_ = found.quota_id or quota_id(metric)
    return f"{found.increase} (`{id_}`)" if id_ and found.increase == INCREASABLE else found.increase


def _pools(line: QuotaLine) -> str:
    return named(f"`{one}`" for one in line.drawn) or "what is declared"


def _drawn(line: QuotaLine) -> Iterator[str]:
    """At most, the largest first."""
    for who, amount in sorted(line.drawn.items(), key=lambda one: (-one[1], one[0])):
        yield f"`{who}`: {amount:,} {in_words(line.key.removesuffix(_OFFERS))} at most"


def _capital(words: str) -> str:
    return words[:1].upper() + words[1:]
