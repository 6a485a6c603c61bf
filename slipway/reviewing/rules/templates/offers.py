"""A template's offers before and after: its ways to run, their order, and a job's changed cost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice

from slipway.authoring.stack.secrets import KEEP
from slipway.base.formatting import join, span
from slipway.google.catalog.lookup import usual_offers
from slipway.google.jobs import VertexJob
from slipway.model.capacity import FLEX_START, POOL, RESERVATION
from slipway.model.catalog.model import Catalog, Offer, Template
from slipway.model.facts import offers_by_label
from slipway.model.findings.finding import Finding, Grade
from slipway.model.findings.kinds import KINDS
from slipway.model.fingerprint import is_generation_of
from slipway.reviewing.change.usual import by_hour, instead, machine_types, way
from slipway.reviewing.rules.templates.requests import plain_secrets
from slipway.reviewing.rules.templates.usage import Usage, finding, whose
from slipway.reviewing.rules.words import capital

_FIELD = "capacity_types"
Offers = Mapping[str, Offer]


def offers(old: Template, new: Template, was: Catalog, becomes: Catalog, used: Usage) -> Iterator[Finding]:
    before, after = _of_kinds(old, new, new.kind), _of_kinds(new, old, new.kind)
    moved = dict(_moved(before, after))
    for label, one in before.items():
        if label not in after:
            lost = used.having(lambda job, one=one: _sent_for(job, one, was))  # type: ignore[misc]
            did = f"asked for {' '.join(filter(None, (one.capacity_type, one.cluster or one.dormant)))}"
            grade, words, more = _gone(label, before, after, moved.get(label, ""))
            words = f"{_jobs(new, one)} {words}"
            yield finding("offer-gone", new, words, label, more, used=lost, did=did, grade=grade, field=_FIELD)
    for label, one in after.items():
        if label not in before and label not in moved.values():
            yield _added(new, label, one, next(_overtaken(label, before, after), ""), after, becomes)
    both = [label for label in after if label in before]
    yield from _order(new, [label for label in before if label in after], both, after)
    for label in both:
        was_, is_ = before[label], after[label]
        jobs = _jobs(new, is_)
        if was_.available and not is_.available:
            lacking = is_.lacks_quota or is_.dormant
            words = f"{jobs} can't use {way(is_)} any more"
            why = _why(is_, becomes)
            yield finding(
                "offer-unavailable", new, words, label, why, grade=None if lacking else Grade.BLOCKING, field=_FIELD
            )
        elif is_.available and not was_.available:
            yield finding("offer-available", new, f"{jobs} can use {way(is_)} now", label)
        if was_.wait != is_.wait:
            yield _waits(new, label, was_, after)


def _jobs(template: Template, one: Offer) -> str:
    return f"Jobs of `{template.name}`{whose([one], template)}"


def _moved(before: Offers, after: Offers) -> Iterator[tuple[str, str]]:
    """Yield labels of offers on a cluster, each with that of its replacement on another cluster."""
    fresh = {label: one for label, one in after.items() if label not in before and one.capacity_type == POOL}
    for label, one in before.items():
        if label not in after and one.capacity_type == POOL:
            yield from islice(((label, new) for new, other in fresh.items() if one.when == other.when), 1)


def _gone(label: str, before: Offers, after: Offers, successor: str) -> tuple[Grade, str, str]:
    """Return the grade, the effect, and the replacement."""
    one = before[label]
    words = f"can't use {way(one)} any more"
    former, latter = (
        [each for each in some.values() if _compete(each, one) and each.available] for some in (before, after)
    )
    if successor:
        return Grade.NOTE, f"go to {way(after[successor])} instead of `{one.cluster or one.dormant}`", ""
    usual = KINDS["offer-gone"].usual  # An unused pool is reported by itself.
    if not one.available:
        return Grade.NOTE, words, ""
    tried = [each.label("") for each in former[: former.index(one)]]
    following = next((each for each in latter if each.label("") not in tried), None)
    if not following:
        return usual, words, ""
    queue = (
        f", and up to {span(following.wait)} to wait"
        if following.wait and following.capacity_type == FLEX_START
        else ""
    )
    if tried:
        return usual, words, f"when {way(former[former.index(one) - 1])} is full, they cost {by_hour(following)}{queue}"
    return usual, words, f"they cost {instead(following, one)}{queue}"


def _added(template: Template, label: str, one: Offer, overtaken: str, after: Offers, becomes: Catalog) -> Finding:
    jobs = _jobs(template, one)
    if not one.available:
        words = f"{capital(way(one))} is new for {jobs[:1].lower()}{jobs[1:]}, and none can start there"
        more = _why(one, becomes)
        grade = Grade.WARNING if one.lacks_quota else None
    else:
        first = f" before {way(after[overtaken])}" if overtaken else ""
        words, more = f"{jobs} {'try' if first else 'can use'} {way(one)}{first}", by_hour(one) if first else ""
        grade = Grade.WARNING if first else None
    return finding("offer-added", template, words, label, more, grade=grade, field=_FIELD)


def _waits(template: Template, label: str, was: Offer, after: Offers) -> Finding:
    one = after[label]
    before, now = ("for ever" if wait is None else span(wait) for wait in (was.wait, one.wait))
    labels = list(after)
    later = (after[each] for each in labels[labels.index(label) + 1 :])
    following = next((each for each in later if _compete(each, one) and each.available), None)
    words = f"{_jobs(template, one)} wait {now} for {way(one)} instead of {before}"
    more = f"then they cost {by_hour(following)}" if following and one.wait is not None else ""
    return finding("fallback-wait", template, words, label, more, field="waits")


def no_offer_left(old: Template | None, new: Template, becomes: Catalog, used: Usage) -> Iterator[Finding]:
    usual, at_all = usual_offers(new), any(one.available for one in new.offers)
    before = () if old is None else usual_offers(old) if at_all else old.offers
    if any(one.available for one in usual) or (old and not any(one.available for one in before)):
        return
    lost = usual if at_all else new.offers
    why = [f"`{label}`: {_why(one, becomes)}" for label, one in offers_by_label(new).items() if one in lost]
    reasons = dict.fromkeys(_why(one, becomes) for one in lost)
    rests = any(one.dormant for one in lost)
    yield finding(
        "no-offer-left",
        new,
        f"Jobs of `{new.name}`{' with its defaults' if at_all else ''} can't run {'for now' if rests else 'at all'}",
        more=next(iter(reasons)) if len(reasons) == 1 else "none of their ways to run can be had",
        details=[*why, *([] if old is None else [used.words()])],
        grade=Grade.WARNING if rests else None,
        field=_FIELD,
    )


def secrets(old: Template | None, new: Template, was: Catalog | None, becomes: Catalog) -> Iterator[Finding]:
    known = {one for offer in old.offers for one in plain_secrets(offer, was)} if old and was else set()
    for where in dict.fromkeys(one for offer in new.offers for one in plain_secrets(offer, becomes)):
        if where not in known:
            words = f"Whoever sees jobs of `{new.name}` reads what looks like a secret, {where}"
            yield finding("plain-secret", new, words, where, KEEP, field="env")


def _of_kinds(template: Template, other: Template, usual: str) -> Offers:
    """Return offers of kinds that both have, by label; an offer in the default and another kind is listed once."""
    found: dict[tuple[object, ...], tuple[str, Offer]] = {}
    listed = offers_by_label(template, usual).items()
    for label, one in sorted(listed, key=lambda pair: pair[1].kind != usual):
        if one.kind in other.kinds:
            found.setdefault(
                (one.capacity_type, one.cluster, one.dormant, tuple(sorted(one.when.items()))), (label, one)
            )
    kept = dict(found.values())
    return {label: one for label, one in listed if label in kept}


def _sent_for(job: VertexJob, one: Offer, was: Catalog) -> bool:
    """Tell whether a job was sent for the offer: any generation of its cluster counts, also for a job without machines
    yet."""
    name = one.cluster or one.dormant
    if job.capacity_type != one.capacity_type or not name:
        return job.capacity_type == one.capacity_type
    adopted = was.clusters.get(name)
    on = job.persistent_resource_id
    return is_generation_of(on, name) or (adopted is not None and adopted.id == on)


def _compete(one: Offer, other: Offer) -> bool:
    cases = (set(values) & set(other.when.get(name, values)) for name, values in one.when.items())
    return one.kind == other.kind and all(cases)


def _overtaken(label: str, before: Mapping[str, Offer], after: Offers) -> Iterator[str]:
    """Yield labels that now come after this offer and came before; none for an offer that replaces another of its
    capacity type, as one on a cluster of another name does."""
    one, labels, ranks = after[label], list(after), list(before)
    places = [
        ranks.index(gone)
        for gone, each in before.items()
        if gone not in after and each.capacity_type == one.capacity_type and _compete(each, one)
    ]
    for other in labels[labels.index(label) + 1 :]:
        if other in before and _compete(after[other], one) and not any(at < ranks.index(other) for at in places):
            yield other


def _order(template: Template, before: list[str], after: list[str], offers: Offers) -> Iterator[Finding]:
    pairs = (
        (first, then)
        for place, first in enumerate(after)
        for then in after[place + 1 :]
        if before.index(then) < before.index(first) and _compete(offers[first], offers[then])
    )
    for first, then in islice(pairs, 1):
        before, after = ([one for one in side if _compete(offers[one], offers[first])] for side in (before, after))
        details = [f"{join(f'`{one}`' for one in before)} → {join(f'`{one}`' for one in after)}"]
        sides = offers[first], offers[then]
        words = f"{_jobs(template, sides[0])} try {way(sides[0])} before {way(sides[1])}"
        yield finding(
            "offer-order", template, words, "order", f"they cost {instead(*sides)}", details=details, field=_FIELD
        )


def _why(offer: Offer, catalog: Catalog) -> str:
    if offer.dormant:
        cluster = catalog.dormant.get(offer.dormant)
        if cluster is None:
            return offer.why or f"cluster `{offer.dormant}` is not asked for now"
        return f"cluster {cluster.name} {cluster.reason().state}"
    if offer.lacks_quota or offer.why:
        return offer.why or "there is no quota for it"
    asked = set(machine_types(offer))
    holds = {one.machine for one in catalog.reservations.values() if one.path in str(offer.request)} - {""}
    if offer.capacity_type == RESERVATION and holds and not holds & asked:
        there, needed = (join(f"`{one}`" for one in sorted(some)) for some in (holds, asked))
        return f"it holds {there}, and they need {needed}"
    return "it is not available"
