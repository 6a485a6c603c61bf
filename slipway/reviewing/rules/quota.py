"""Quota: what a change draws, shortages now, at most, or for two generations, and requests for more. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from slipway.base.formatting import few
from slipway.google.live import Increase, Live, Unknown
from slipway.google.quota.increases import became_of, preference_of, quota_of
from slipway.google.quota.metrics import drawn_by
from slipway.google.quota.request import more
from slipway.google.quota.usage import Usage, superseded, usage
from slipway.model.capacity import ON_DEMAND, RESERVATION
from slipway.model.catalog.model import Catalog
from slipway.model.draw import Draw
from slipway.model.facts import QuotaLine
from slipway.model.findings.finding import Grade, Subject
from slipway.reviewing.change.change import Change, Side, drawn_why, once
from slipway.reviewing.change.edits import Edit
from slipway.reviewing.change.usual import compete
from slipway.reviewing.consequence import Consequence
from slipway.reviewing.rules.clusters.cluster_change import cluster_changes, key_of, made_of
from slipway.reviewing.rules.clusters.settings import season_quota
from slipway.reviewing.rules.declared import compare
from slipway.reviewing.rules.table import RowName, by_row, say
from slipway.reviewing.rules.words import ask, in_backticks, in_words, named


@dataclass(frozen=True)
class QuotaDraw:
    """A line of the quota check."""

    line: QuotaLine
    #: The deployed one, which draws nothing where there is none.
    was: QuotaLine
    #: In use by generations that go, and by those of them that have jobs.
    old: int
    stays: int
    #: At most, beside what all others use; and as deployed.
    most: Draw
    earlier: Draw
    #: The limit that the stack asks for and may still get; 0 for none, as in another region than its own.
    asked: int
    #: The outcome of a request that was made before, else whether more can be had.
    increase: str

    @property
    def what(self) -> str:
        """Return `H100 GPUs`; `H100 GPUs in us-east4` outside the stack's own region."""
        return f"{in_words(self.line.metric)}{f' in {self.line.region}' if self.line.region else ''}"

    @property
    def at_most(self) -> bool:
        """Tell whether the maximum newly lacks quota, apart from old generations."""
        return self.most.short > self.earlier.short and self.old >= self.line.short


@once
def draws(change: Change) -> tuple[QuotaDraw, ...]:
    before = change.before.quota.lines if change.before.quota.region == change.after.quota.region else {}
    own = frozenset(cluster.id for cluster in change.new.clusters.values())
    gone_by_then = [each.old.id for each in cluster_changes(change) if each.in_place and each.old]
    listed, strict = [], _is_strict(change)
    for line in change.after.quota.lines.values():
        use, busy, live = Usage(), Usage(), live_at(change, line.region).without(gone_by_then)
        if not (live.skipped or isinstance(live.clusters, Unknown) or isinstance(live.jobs, Unknown)):
            going = superseded(live.clusters, change.new.identity.label, own)
            use = usage(live.clusters, live.jobs, own, going)
            busy = usage(live.clusters, (), old=frozenset(filter(change.jobs_on, going)))
        asked = 0 if line.region else (change.after.quota.requests or {}).get(line.metric, 0)
        request = preference_of(live, line.metric)
        settled = request is not None and not request.reconciling and request.preferred == asked
        answer = became_of(request) if request else None
        was, others = before.get(line.key) or QuotaLine(line.key, "ok", 0, {}, 0), use.others.get(line.metric, 0)
        stays, most = busy.old.get(line.metric, 0), Draw(line.ceiling, line.limit, others)
        grown = replace(most, used=others + stays)
        draw = QuotaDraw(
            # That a second cluster would not fit beside the first is no shortage until somebody makes it.
            line=replace(line, state="ok") if line.state == "tight" and not grown.short else line,
            was=was,
            old=use.old.get(line.metric, 0),
            stays=stays,
            most=most,
            earlier=Draw(was.ceiling, line.limit, others),
            asked=0 if settled else asked,
            increase=str(answer or ""),
        )
        at_once = (line.limit or 0) + line.short if line.short else 0
        to_most = draw.at_most or (strict and not line.of_offers)
        enough = max(at_once, most.enough) if to_most else at_once or most.enough
        beside = grown.enough if draw.at_most and stays and grown.enough > enough else 0
        listed.append(draw if answer or draw.asked else replace(draw, increase=_increase(live, line, enough, beside)))
    return tuple(listed)


def _is_strict(change: Change) -> bool:
    """Tell whether a deployment is refused whose pools can't grow to their maximum."""
    return change.after.quota.strict and change.after.quota.mode != "warn"


def live_at(change: Change, region: str) -> Live:
    """Return the cloud in a line's region, which is empty for the stack's own. Requests are made there alone."""
    live = change.live.at(region or change.new.region, home=not region)
    return replace(live, limits=change.live.limits_elsewhere.get(region, {}), preferences={}) if region else live


def _increase(live: Live, line: QuotaLine, enough: int, beside: int) -> str:
    """Return what helps. `beside`: what would be enough beside older clusters too, where that is more."""
    limit = live.limit(line.metric)
    # The command asks in the stack's own region.
    how = f"`{quota_of(live, line.metric)}` in {line.region}" if line.region else ask(line.metric, enough)
    refused = "" if limit is None or limit.increase is Increase.POSSIBLE else limit.increase
    return say("quota-increase", refused=refused, enough=f"{enough:,}", how=how, beside=beside and f"{beside:,}")


_REQUESTED = {"season": "season-quota-requested", "deployed": "deployed-quota-requested"}


def quota(change: Change) -> Iterator[Consequence]:
    drawn, old, new = draws(change), change.before.quota, change.after.quota
    # Nobody relies on what a first deployment offers.
    grade = Grade.NOTE if change.first else None
    lacking = {draw.line.metric for draw in drawn if draw.line.short}
    for draw in drawn:
        if not draw.line.of_offers:
            yield from _now(change, draw)
        elif draw.line.short > draw.was.short:
            # An unchanged shortage is no news.
            large = {name: amount for name, amount in draw.line.drawn.items() if amount > (draw.line.limit or 0)}
            more = [name for name, amount in large.items() if amount > draw.was.drawn.get(name, 0)]
            yield _of(draw, "quota-short-for-offers", more or large, grade=grade)
        elif draw.line.metric not in lacking:
            yield from _taken(change, draw, grade)
    yield from _at_most(change, drawn)
    yield from _requested(change)
    # One failed answer makes all limits unknown, which is told once.
    fresh = [draw for draw in drawn if draw.line.state == "unknown" != draw.was.state]
    if fresh and not change.live.skipped:
        parts = (live_at(change, draw.line.region).limits for draw in fresh)
        so = next((str(part) for part in parts if isinstance(part, Unknown)), "")
        yield by_row("quota-unknown", Subject("quota"), what=named(sorted({draw.what for draw in fresh})), so=so)
    # A side without a check of quota has no mode.
    for key, was, becomes in compare(*({"mode": side.mode, "strict": side.strict} for side in (old, new))):
        if old.mode and new.mode and not (key == "strict" and (new if becomes else old).mode == "warn"):
            row: RowName = "quota-check-weaker" if becomes in ("warn", False) else "quota-check-stricter"
            how: dict[str, Any] = {"key": key, "strict": key == "strict", "asks": new.mode == "request"}
            edits = (Edit(key, str(was).lower(), str(becomes).lower()),)
            yield by_row(row, Subject("quota", "check" if key == "mode" else key), edits=edits, **how)


def quota_in_words(change: Change) -> str:
    """Return how the stack stands once it is deployed."""
    if Side.AFTER in change.unknown:
        return "unknown"
    pools, offers = ([draw.line for draw in draws(change) if draw.line.of_offers is own] for own in (False, True))
    short = (way.split()[0] for line in offers if line.short for way, n in line.drawn.items() if n > (line.limit or 0))
    _, season, _, grown = (any(each.lacking for each in side.values()) for side in season_quota(change))
    return say(
        "quota-stands",
        short=any(line.short for line in pools),
        unknown=any(line.state == "unknown" for line in (*pools, *offers)),
        tight=any(line.state == "tight" for line in pools),
        season=grown,
        grown=not season,
        lacking=few(dict.fromkeys(short)),
        pools=pools,
        drawn=pools or offers,
    )


def _now(change: Change, draw: QuotaDraw) -> Iterator[Consequence]:
    line, was = draw.line, draw.was
    if not line.short or (was.short >= line.short and was.drawn == line.drawn):
        return
    asked = draw.asked if draw.asked >= line.short + (line.limit or 0) else 0
    in_season = bool(asked) and drawn_why(change, line.metric) == "season"
    allowed = change.after.quota.mode == "warn" and not in_season
    made = made_of(change, line)
    only = made[0] if len(made) == 1 else None
    yield _of(
        draw,
        "quota-short-in-overlap" if draw.old >= line.short else "quota-short-now",
        as_kind="season-awaits-quota" if in_season else "quota-short-allowed" if allowed else "",
        grade=None if allowed else Grade.WARNING if asked else Grade.BLOCKING,
        field=key_of(only.name, only.key) if only else "",
        allowed=allowed,
        asked=asked,
    )


def _taken(change: Change, draw: QuotaDraw, grade: Grade | None) -> Iterator[Consequence]:
    """Find ways to run that newly lack quota beside what pools always have, of jobs that no pool of all takes."""
    line, limit, hit = draw.line, draw.line.limit or 0, dict[str, int]()
    before, after = (_always(catalog, line.metric) for catalog in (change.old, change.new))
    for name, template in change.new.templates.items() if before < after else ():
        pools = [each for each in template.offers if each.cluster and not change.new.owners(each.cluster)]
        # Nobody knows whether a reservation draws quota.
        for offer in (each for each in template.offers if each.capacity_type != RESERVATION):
            needs = line.drawn.get(way := f"{name} {offer.label(template.kind)}", 0)
            if needs and before <= limit - needs < after and not any(compete(pool, offer) for pool in pools):
                hit[way] = needs
    if most := max(hit.values(), default=0):
        yield _of(draw, "quota-taken", hit, needs=most, left=limit - after, grade=grade)


def _always(catalog: Catalog, metric: str) -> int:
    """Return what pools draw at their minimum."""
    here = (each for each in catalog.clusters.values() if not each.adopted and each.region in ("", catalog.region))
    needs = (need for each in here for need in drawn_by(ON_DEMAND, each.minimum_machines))
    return sum(need.amount for need in needs if need.metric == metric)


def _at_most(change: Change, drawn: Collection[QuotaDraw]) -> Iterator[Consequence]:
    """Find pools that can't reach their maximum once old generations are gone: only others reduce their
    room."""
    goes = [each for each in cluster_changes(change) if each.jobs and not (each.stays or each.in_place)]
    for draw in () if any(each.line.short and not each.line.of_offers for each in drawn) else drawn:
        old = [each for each in goes if any(need.metric == draw.line.metric for need in drawn_by(ON_DEMAND, each.held))]
        beside = replace(draw, old=draw.stays, most=replace(draw.most, used=(draw.most.used or 0) + draw.stays))
        if old and made_of(change, draw.line) and beside.most.short > draw.most.short:
            growing = _growing(change.new, beside)
            yield _of(beside, "quota-short-beside-old", growing, part="beside old", several=growing[1:])
    for draw in drawn:
        if draw.at_most and not draw.line.of_offers:
            strict = _is_strict(change)
            waits = strict and bool(draw.asked)
            grade = Grade.BLOCKING if strict > waits else Grade.WARNING
            growing = _growing(change.new, draw)
            how: dict[str, Any] = {"strict": strict, "waits": waits, "several": growing[1:], "most": "", "max": ""}
            if len(draw.line.drawn) == 1:
                how |= _in_machines(change.new, draw, growing[0])
            yield _of(draw, "quota-short-at-most", growing, grade=grade, **how)


def _growing(catalog: Catalog, draw: QuotaDraw) -> list[str]:
    """Return the pools of a line that grow; all of them where none does."""
    drawn = draw.line.drawn
    places = [(name, catalog.clusters.get(name.partition("/")[0])) for name in drawn]
    pools = {name: cluster.pool(name.partition("/")[2]) for name, cluster in places if cluster}
    return [name for name, pool in pools.items() if pool and pool.autoscaled] or [*drawn]


def _in_machines(catalog: Catalog, draw: QuotaDraw, name: str) -> Mapping[str, int | str]:
    """Return how far a pool grows that alone draws on a line."""
    cluster, _, of = name.partition("/")
    pool = catalog.clusters[cluster].pool(of) if cluster in catalog.clusters else None
    if pool is None:
        return {}
    most = max((draw.most.room or 0) * pool.max // draw.line.ceiling, 0)
    return {"most": f"{most:,}", "max": pool.max}


def _of(draw: QuotaDraw, row: RowName, drawers: Iterable[str] = (), *, part: str = "", **values: Any) -> Consequence:
    """Return a row's consequence with the amounts of a draw, the largest first."""
    line, was = draw.line, draw.was
    size = "by default" if line.of_offers else "at most"  # A parameter may ask for more machines.
    edit = Edit(f"{draw.what} {size}", f"{was.ceiling:,}", f"{line.ceiling:,}")
    drawn = {f"`{name}`, {size}": line.drawn[name] for name in sorted(line.drawn, key=lambda name: -line.drawn[name])}
    return by_row(
        row,
        Subject("quota", line.key, part),
        what=draw.what,
        short=line.short,
        ceiling=line.ceiling,
        old=draw.old,
        room=draw.most.room or 0,
        limit=line.limit or 0,
        increase=draw.increase,
        drawers=in_backticks(drawers or line.drawn),
        edits=(edit,) if edit.before != edit.after else (),
        details=(f"{words}: {amount:,} {draw.what}" for words, amount in drawn.items() if amount),
        **values,
    )


def _requested(change: Change) -> Iterator[Consequence]:
    before = change.before.quota.requests or {}
    for metric, asked in (change.after.quota.requests or {}).items():
        there, limit = preference_of(change.live, metric), change.live.limit(metric)
        if (there and not more(asked, there.preferred)) or not more(asked, before.get(metric, 0)):
            continue
        yield by_row(
            "quota-requested",
            Subject("quota", metric),
            as_kind=_REQUESTED.get(drawn_why(change, metric), ""),
            asked=asked,
            what=in_words(metric),
            region=change.after.quota.region,
            edits=(Edit("limit", f"{limit.limit:,}", f"{asked:,}"),) if limit else (),
        )
