"""A template's offers before and after: its ways to run, their order, and how a wait for them ends."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from slipway.base.formatting import join, span
from slipway.deploying.generations.action import What
from slipway.google.catalog.lookup import usual_offers
from slipway.google.jobs import VertexJob
from slipway.model.capacity import FLEX_START, ON_DEMAND, POOL, RESERVATION, SPOT
from slipway.model.catalog.model import Catalog, Offer, Template, case_in_words
from slipway.model.facts import offers_by_label
from slipway.model.findings.finding import Grade
from slipway.model.fingerprint import is_generation_of
from slipway.reviewing.change.edits import Edit
from slipway.reviewing.change.once import once
from slipway.reviewing.change.usual import (
    by_hour,
    compete,
    cost,
    costs,
    instead,
    is_dear,
    machine_types,
    served,
    way,
    whose,
)
from slipway.reviewing.consequence import Consequence
from slipway.reviewing.rules.templates.replay import as_sent, is_case, waited
from slipway.reviewing.rules.templates.usage import JOBS, TemplateChange, facts

_A_DAY = 24 * 3600
"""Seconds that the service waits for flex-start machines where a request does not say."""
_USUAL = 600
"""Seconds within which a machine of a job's own mostly comes."""
_GRANTED = "once it is granted, "
_FAIL = "fail where there are no machines"
_FULL = {POOL: "wait while it is full, unpaid", FLEX_START: "wait for it, unpaid"}
"""The end of jobs for whose machines there is no room, and that can go nowhere else."""
Offers = Mapping[str, Offer]


def offers(template: TemplateChange) -> Iterator[Consequence]:
    before, after = of_kinds(template)
    same = kept(before, after)
    for label in before:
        if label not in same.values():
            yield _gone(template, label, before, after)
    opened = [label for label, old in same.items() if _opens(old, after[label], before)]
    for words, offer in {case_in_words(after[label].when): after[label] for label in opened}.items():
        yield template.tells("case-allowed", jobs=f"{JOBS}{whose([offer], template.old)}", part=f"case {words}")
    for label in after:
        if label not in same:
            yield _added(template, label, before, after)
    yield from _order(template, before, after)
    for label, old in same.items():
        if label not in opened:
            yield from _kept(template, label, old, before[old], after)


def kept(before: Offers, after: Offers) -> Mapping[str, str]:
    """Return labels of offers by those that they have now, another one where they move to another cluster."""
    same = {label: label for label in after if label in before}
    gone, new = before.keys() - same.keys(), after.keys() - same.keys()
    pairs = ((old, label) for old in before if old in gone for label in after if label in new)
    return {**same, **{label: old for old, label in pairs if _place(before[old]) == _place(after[label])}}


def _opens(label: str, offer: Offer, before: Offers) -> bool:
    """Tell whether an offer takes jobs that the template's file refused."""
    was = [each for each in before.values() if compete(each, before[label])]
    closed = not any(each.available or each.lacks_quota or each.dormant or each.capacity_type == POOL for each in was)
    return closed and offer.available and bool(offer.when)


def _place(offer: Offer) -> tuple[object, ...]:
    return offer.capacity_type, "" if offer.capacity_type == POOL else offer.cluster, offer.kind, offer.when


def _kept(template: TemplateChange, label: str, old: str, was: Offer, after: Offers) -> Iterator[Consequence]:
    offer, who = after[label], _jobs(template, after[label])
    clusters = [side.cluster or side.dormant for side in (was, offer)]
    if clusters[0] != clusters[1]:
        so = _until_made(template, was, offer, after)
        yield template.tells("offer-moved", next=way(offer), cluster=clusters[0], jobs=who, part=old, so=so)
    if was.available and not offer.available:
        yield from _unavailable(template, label, after)
    elif offer.available and not was.available:
        yield template.tells("offer-available", way=way(offer), jobs=who, part=label)
    before, now = patience(was), patience(offer)
    if was.wait != offer.wait and before != now:
        nowhere = offer.capacity_type != FLEX_START and not _rest(offer, after)
        stays = "their `submit` command has to stay for that" if now is not None and offer.wait else ""
        yield template.tells(
            "fallback-wait-nowhere" if nowhere else "fallback-wait-ends" if before is None else "fallback-wait",
            details=waited(template, offer, now),
            way=way(offer),
            jobs=who,
            part=label,
            now=_time(now),
            before=_time(before),
            type=offer.capacity_type,
            seconds=before,
            so=facts(_too_short(offer), after_wait(offer, after), stays, _growth(offer, template.becomes)),
            edits=(Edit(f"waits.{offer.capacity_type}", _time(before), _time(now)),),
        )


def _unavailable(template: TemplateChange, label: str, after: Offers) -> Iterator[Consequence]:
    offer, waits = after[label], after[label].lacks_quota or after[label].dormant
    beside = [each for each in after.values() if compete(each, offer)]
    rest, who = [each for each in beside if each.available], _jobs(template, offer)
    if rest or waits or not offer.when:
        so = facts(_closed(offer, template.becomes), f"they cost {costs(rest, template.becomes)}" if rest else "")
        grade = None if waits else Grade.BLOCKING
        yield template.tells("offer-unavailable", way=way(offer), jobs=who, part=label, so=so, grade=grade)
    elif offer is beside[0]:
        used = template.used.having(lambda job: is_case(job, offer.when))
        yield template.tells("case-refused", jobs=who, part=label, used=used, did="sent such", grade=Grade.BLOCKING)


def patience(offer: Offer) -> float | None:
    """Return the seconds that a job waits for an offer's machines before it fails or goes elsewhere; None for no end.
    The service itself ends a flex-start job's wait."""
    if offer.wait is not None or offer.capacity_type != FLEX_START:
        return offer.wait
    seconds = str(offer.spec.get("scheduling", {}).get("maxWaitDuration", f"{_A_DAY}s")).removesuffix("s")
    return float(seconds) or None if seconds.replace(".", "", 1).isdigit() else None


def after_wait(offer: Offer, after: Offers) -> str:
    rest = _rest(offer, after)
    if offer.wait is not None and rest:
        waits = [each.wait is not None for each in rest]
        return f"then they cost {', then '.join(map(by_hour, rest[: [*waits, False].index(False) + 1]))}"
    if offer.capacity_type == FLEX_START and patience(offer) is not None:
        why = "as nothing moves them on without `waits`" if rest else "as no other way to run follows"
        return f"then they fail, unpaid, {why}"
    if rest:
        return f"they never go on to {way(rest[0])} by themselves"
    return f"they can go nowhere else, and {_FULL.get(offer.capacity_type, _FAIL)}"


def _too_short(offer: Offer) -> str:
    own = offer.capacity_type not in (POOL, FLEX_START) and offer.wait is not None and offer.wait < _USUAL
    return "a machine of their own takes five to ten minutes, so most leave before it is there" if own else ""


def _growth(offer: Offer, catalog: Catalog) -> str:
    cluster = catalog.clusters.get(offer.cluster)
    grows = cluster and any(pool.autoscaled for pool in cluster.pools if pool.name in offer.pools)
    return "one more machine takes the pool minutes" if grows and patience(offer) is not None else ""


def _time(seconds: float | None) -> str:
    return "for ever" if seconds is None else span(seconds)


def _rest(offer: Offer, after: Offers) -> list[Offer]:
    listed = [*after.values()]
    return [each for each in listed[listed.index(offer) + 1 :] if compete(each, offer) and each.available]


def _jobs(template: TemplateChange, offer: Offer) -> str:
    return f"{JOBS}{whose([offer], template.new)}"


def _gone(template: TemplateChange, label: str, before: Offers, after: Offers) -> Consequence:
    offer = before[label]
    left = [each for each in after.values() if compete(each, offer) and each.available]
    so = ""
    if left and offer.available:
        later = list(before)[list(before).index(label) + 1 :]
        was_last = not any(other in after and compete(before[other], offer) for other in later)
        ends = after_wait(left[-1], after) if was_last and (left[1:] or patience(left[0]) is None) else ""
        before_it = [after[each] for each in list(before)[: list(before).index(label)] if after.get(each) in left]
        full = before_it[-1:] if left[: len(before_it)] == before_it and len(before_it) < len(left) else []
        next_, they = left, "they cost"
        if full and full[0].capacity_type == POOL:
            next_, they = left[len(before_it) :], f"what {way(full[0])} has no room for costs"
        so = facts(f"{they} {_in_place_of(template, offer, next_)}", _ends(template, next_[0], after), ends)
    used = template.used.having(lambda job: _sent_for(job, offer, template.was))
    usual = cost(left[0], template.becomes) if left else ""
    seen = tuple(as_sent(used.jobs, offer.when, template, usual)) if offer.available else ()
    return template.tells(
        "offer-gone",
        way=way(offer),
        jobs=f"{JOBS}{whose([offer], template.old) or whose([offer], template.new)}",
        part=label,
        so=facts(*seen[:1], f"by default {so}" if seen and so else so),
        details=(*seen[1:], *_before(left, offer, template, after)),
        used=used,
        did=f"asked for {' '.join(filter(None, (offer.capacity_type, offer.cluster or offer.dormant)))}",
        grade=None if offer.available else Grade.NOTE,
    )


def _before(left: Sequence[Offer], gone: Offer, template: TemplateChange, after: Offers) -> Iterator[str]:
    """Yield the ways that jobs can't take on their way to the first that is left."""
    for each in after.values():
        if each in left[:1]:
            return
        if left and compete(each, gone) and not each.available:
            yield f"{way(each)} can't start: {_why(each, template.becomes)}"


def _in_place_of(template: TemplateChange, gone: Offer, rest: Sequence[Offer]) -> str:
    """Return the costs of the ways that are left, the first beside that of the way that is gone."""
    first = cost(rest[0], template.becomes)
    # A reservation is paid all the same, and a pool that goes is not.
    if gone.capacity_type != POOL or (gone.cluster in template.becomes.clusters and not rest[0].price_per_hour.unknown):
        first = instead(first, gone)
    # What follows a wait stands with its end.
    others = [] if patience(rest[0]) is not None else rest[1:]
    return ", then ".join(filter(None, (first, costs(others, template.becomes))))


def _until_made(template: TemplateChange, old: Offer, offer: Offer, after: Offers) -> str:
    """Return what jobs take until another cluster is there; nothing where it is there already."""
    if offer.cluster in template.was.clusters:
        return ""
    was = template.was.clusters.get(old.cluster)
    if not offer.dormant and was and was.id not in template.change.ids(What.DELETE_FIRST):
        return f"until it is there, they go to `{old.cluster}` as before"
    others = [each for each in after.values() if each is not offer and compete(each, offer) and each.available]
    until = f"until `{offer.cluster or offer.dormant}` is there, they"
    return f"{until} cost {costs(others, template.becomes)}" if others else f"{until} can run nowhere"


def _ends(template: TemplateChange, offer: Offer, after: Offers, tries: str = ", six times at most") -> str:
    """Return what jobs meet at an offer that they go to: a wait, or machines that are taken away."""
    seconds = patience(offer)
    if seconds is not None:
        return f"they wait at most {span(seconds)}, {after_wait(offer, after)}"
    return f"one that loses its machine {template.again}{tries}" if offer.capacity_type == SPOT else ""


def _added(template: TemplateChange, label: str, before: Offers, after: Offers) -> Consequence:
    offer, jobs = after[label], _jobs(template, after[label])
    overtaken = next(_overtaken(label, before, after), "")
    values: dict[str, Any] = {"way": way(offer), "jobs": jobs, "part": label}
    if not offer.available:
        grade = Grade.WARNING if offer.lacks_quota else None
        return template.tells("offer-added-unavailable", so=_closed(offer, template.becomes), grade=grade, **values)
    later = "" if overtaken else ", where nothing before it can start"
    so = facts(f"{cost(offer, template.becomes)}{later}", _ends(template, offer, after))
    if overtaken:
        cluster = template.becomes.clusters.get(offer.cluster)
        free = Grade.NOTE if cluster and not cluster.adopted else None
        return template.tells("offer-added-first", so=so, next=way(after[overtaken]), grade=free, **values)
    known = (each.price_per_hour.known for each in template.old.offers if is_dear(each))
    dear = is_dear(offer) and not any(price >= offer.price_per_hour.known for price in known)
    return template.tells("offer-added", so=so, grade=Grade.WARNING if dear else None, **values)


def no_offer_left(template: TemplateChange) -> Iterator[Consequence]:
    old, new, becomes = template.old, template.new, template.becomes
    usual, at_all = usual_offers(new), any(offer.available for offer in new.offers)
    before = usual_offers(old) if at_all else old.offers
    could = template.is_new or any(offer.available for offer in before)
    if not could or any(offer.available for offer in usual):
        return
    lost = usual if at_all else new.offers
    why = [f"`{label}`: {_closed(offer, becomes)}" for label, offer in offers_by_label(new).items() if offer in lost]
    reasons = dict.fromkeys(_why(offer, becomes) for offer in lost)
    rests, lacks = any(offer.dormant for offer in lost), any(offer.lacks_quota for offer in lost)
    yield template.tells(
        f"no-{'usual-' if at_all else ''}offer-left{'-now' if rests else ''}",
        so=next(iter(reasons)) if len(reasons) == 1 else "none of their ways to run can be had",
        instead="ask for quota first, or keep a capacity type that has some" if lacks else "",
        details=[*why, *([] if template.is_new else [template.used.words()])],
        grade=Grade.WARNING if rests and not any(_put_away(offer.dormant, template) for offer in lost) else None,
    )


def _put_away(cluster: str, template: TemplateChange) -> bool:
    """Tell whether an edit, and not a date that was announced, makes a cluster dormant."""
    was, sleeps = template.was.clusters.get(cluster), template.becomes.dormant.get(cluster)
    return was is not None and sleeps is not None and was.season != sleeps.season


@once
def of_kinds(template: TemplateChange) -> tuple[Offers, Offers]:
    usual = template.new.kind
    before = _of_kinds(template.old, template.new, usual).items()
    return {label: offer for label, offer in before if served(offer, template.new)}, _of_kinds(
        template.new, template.old, usual
    )


def _of_kinds(template: Template, other: Template, usual: str) -> Offers:
    """Return offers by label; an offer in the default and another kind is listed once."""
    by_content: dict[tuple[object, ...], str] = {}
    listed = offers_by_label(template, usual)
    for label, offer in sorted(listed.items(), key=lambda pair: pair[1].kind != usual):
        if offer.kind in other.kinds:
            case = tuple(sorted(offer.when.items()))
            by_content.setdefault((offer.capacity_type, offer.cluster, offer.dormant, case), label)
    return {label: offer for label, offer in listed.items() if label in by_content.values()}


def _sent_for(job: VertexJob, offer: Offer, was: Catalog) -> bool:
    """Tell whether a job was sent for the offer, on any generation of its cluster, with machines yet or not."""
    name = offer.cluster or offer.dormant
    if job.capacity_type != offer.capacity_type or not is_case(job, offer.when):
        return False
    adopted, on = was.clusters.get(name), job.persistent_resource_id
    return not name or is_generation_of(on, name) or (adopted is not None and adopted.id == on)


def _overtaken(label: str, before: Offers, after: Offers) -> Iterator[str]:
    """Yield labels that now come after this offer and came before; none for an offer that replaces another of its
    capacity type, as one on a cluster of another name does."""
    offer, labels, ranks = after[label], list(after), list(before)
    places = [
        ranks.index(gone)
        for gone, each in before.items()
        if gone not in after and each.capacity_type == offer.capacity_type and compete(each, offer)
    ]
    for other in labels[labels.index(label) + 1 :]:
        if other in before and compete(after[other], offer) and not any(at < ranks.index(other) for at in places):
            yield other


def _order(template: TemplateChange, before: Offers, after: Offers) -> Iterator[Consequence]:
    was = [label for label in before if label in after]
    now = [label for label in after if label in before]
    pairs = (
        (first, then)
        for place, first in enumerate(now)
        for then in now[place + 1 :]
        if was.index(then) < was.index(first) and compete(after[first], after[then])
    )
    # Of the ways that are overtaken, the one that was tried first counts.
    overtakes = sorted(pairs, key=lambda pair: (now.index(pair[0]), was.index(pair[1])))
    for first, then in overtakes[:1]:
        offer = after[first]
        overtaken = [after[later] for earlier, later in overtakes if earlier == first]
        sooner = [after[earlier] for earlier, later in overtakes if later == then]
        sides = [", ".join(label for label in side if compete(after[label], offer)) for side in (was, now)]
        yield template.tells(
            "offer-order",
            way=way(offer),
            next=way(after[then]),
            jobs=_jobs(template, offer),
            type=after[then].capacity_type,
            part="order",
            so=facts(
                "" if offer.available else _why(offer, template.becomes),
                f"{_GRANTED * offer.lacks_quota}they cost {instead(', then '.join(map(by_hour, sooner)), after[then])}",
                _ends(template, offer, after, tries=""),
                _no_wait(offer, overtaken),
            ),
            edits=(Edit("capacity_types", *sides),),
        )


def _no_wait(offer: Offer, overtaken: Iterable[Offer]) -> str:
    """Return that jobs fail which would have waited for machines."""
    waits = any(each.capacity_type == FLEX_START for each in overtaken)
    if not waits or patience(offer) is not None or offer.capacity_type not in (ON_DEMAND, SPOT):
        return ""
    return "one that finds no machine fails, and never goes on to flex-start, which would have waited"


def _closed(offer: Offer, catalog: Catalog) -> str:
    """Return why an offer can't be taken, and what it costs once it can."""
    return facts(_why(offer, catalog), f"{_GRANTED}they cost {cost(offer, catalog)}" if offer.lacks_quota else "")


def _why(offer: Offer, catalog: Catalog) -> str:
    if offer.dormant:
        cluster = catalog.dormant.get(offer.dormant)
        if cluster is None:
            return offer.why or f"cluster `{offer.dormant}` is not asked for now"
        # Until the deployment it lives, and no date has passed.
        idle = cluster.why == "idle"
        return f"cluster {cluster.name} {'is given up for want of jobs' if idle else cluster.reason().state}"
    if offer.lacks_quota or offer.why:
        return offer.why or "there is no quota for it"
    named = [each.machine for each in catalog.reservations.values() if each.path in str(offer.request)]
    if offer.capacity_type == RESERVATION and not named:
        return "the stack file lists no such reservation"
    asked, holds = {*machine_types(offer)}, {*named} - {""}
    if offer.capacity_type == RESERVATION and holds and not holds & asked:
        there, needed = (join(f"`{each}`" for each in sorted(machines)) for machines in (holds, asked))
        return f"it holds {there}, and they need {needed}"
    return "it is not available" if offer.capacity_type != POOL or offer.cluster else "no pool of this stack fits"
