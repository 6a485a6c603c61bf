"""A template's offers before and after: which capacity types it can have, in which order, and what each asks for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice

from slipway.catalog.lookup import usual_offers
from slipway.catalog.model import Catalog, Offer, Template
from slipway.cloud.jobs import VertexJob
from slipway.facts import offers_by_label
from slipway.findings.finding import Finding, Grade
from slipway.findings.kinds import KINDS
from slipway.fingerprint import is_generation_of
from slipway.formatting import join, span
from slipway.review.templates.parameters import renames
from slipway.review.templates.requests import Difference, differences, plain_secrets
from slipway.review.templates.usage import Usage, finding

_FIELD = "capacity_types"


def offers(old: Template, new: Template, was: Catalog, becomes: Catalog, used: Usage) -> Iterator[Finding]:
    before, after = _of_kinds(old, new.kinds, new.kind), _of_kinds(new, old.kinds, new.kind)
    for label, one in before.items():
        if label not in after:
            lost = used.having(lambda job, one=one: _sent_for(job, one, was))  # type: ignore[misc]
            did = f"asked for {' '.join(filter(None, (one.capacity_type, one.cluster or one.dormant)))}"
            grade = KINDS["offer-gone"].usual if one.available else Grade.NOTE
            words = f": `{label}` is not offered any more"
            yield finding("offer-gone", new, words, label, used=lost, did=did, grade=grade, field=_FIELD)
    for label, one in after.items():
        if label not in before:
            yield _added(new, label, one, next(_overtaken(label, before, after), ""), becomes)
    both = [label for label in after if label in before]
    yield from _order(new, [label for label in before if label in after], both, after)
    for label in both:
        was_, is_ = before[label], after[label]
        if was_.available and not is_.available:
            words = f": `{label}` can't be taken any more: {_why(is_, becomes)}"
            yield finding("offer-unavailable", new, words, label, field=_FIELD)
        elif is_.available and not was_.available:
            yield finding("offer-available", new, f": `{label}` can be taken now", label)
        if was_.wait != is_.wait:
            waits = " → ".join("for ever" if one is None else span(one) for one in (was_.wait, is_.wait))
            words = f": a submission waits for `{label}` {waits} before it falls back"
            yield finding("fallback-wait", new, words, label, field="waits")


def _added(template: Template, label: str, one: Offer, overtaken: str, becomes: Catalog) -> Finding:
    what = f", and is tried before `{overtaken}`" if overtaken else ""
    if not one.available:
        what = f", and can't be taken yet: {_why(one, becomes)}"
    grade = Grade.WARNING if overtaken and one.available else None
    return finding("offer-added", template, f": `{label}` is offered now{what}", label, grade=grade, field=_FIELD)


def no_offer_left(old: Template | None, new: Template, becomes: Catalog, used: Usage) -> Iterator[Finding]:
    usual, at_all = usual_offers(new), any(one.available for one in new.offers)
    before = () if old is None else usual_offers(old) if at_all else old.offers
    if any(one.available for one in usual) or (old and not any(one.available for one in before)):
        return
    lost = usual if at_all else new.offers
    why = [f"`{label}`: {_why(one, becomes)}" for label, one in offers_by_label(new).items() if one in lost]
    rests = any(one.dormant for one in lost)
    yield finding(
        "no-offer-left",
        new,
        f" can't run{' with its defaults' if at_all else ''} by any of its capacity types{' for now' if rests else ''}",
        details=[*why, *([] if old is None else [used.words()])],
        grade=Grade.WARNING if rests or at_all else None,
        field=_FIELD,
    )


def requests(old: Template, new: Template, was: Catalog, becomes: Catalog) -> Iterator[Finding]:
    """Tell what is posted: the same difference of several offers and worker pools once."""
    before, after, renamed = offers_by_label(old, new.kind), offers_by_label(new), renames(old, new)
    both = [label for label in after if label in before]
    found: dict[tuple[str, str, str, str], dict[str, list[str]]] = {}
    for label in both:
        sides = before[label], after[label]
        for one in (*differences(*sides, was, becomes, renamed), *_pools(*sides)):
            roles = found.setdefault((one.kind, one.what, one.before, one.after), {})
            roles.setdefault(label, []).append(one.role)
    for (kind, what, a, b), at in found.items():
        yield _told(new, Difference(kind, what, "", a, b), at, both, len({*old.roles, *new.roles}))


def secrets(old: Template | None, new: Template, was: Catalog | None, becomes: Catalog) -> Iterator[Finding]:
    known = {one for offer in old.offers for one in plain_secrets(offer, was)} if old and was else set()
    for where in dict.fromkeys(one for offer in new.offers for one in plain_secrets(offer, becomes)):
        if where not in known:
            words = f": {where} looks like a secret in plain text, which belongs in Secret Manager (secrets=…)"
            yield finding("plain-secret", new, words, where, field="env")


def _of_kinds(template: Template, kinds: Iterable[str], usual: str) -> Mapping[str, Offer]:
    return {label: one for label, one in offers_by_label(template, usual).items() if one.kind in kinds}


def _sent_for(job: VertexJob, one: Offer, was: Catalog) -> bool:
    """A job on any generation of the offer's cluster counts; one that has no machines yet does as well."""
    name = one.cluster or one.dormant
    if job.capacity_type != one.capacity_type or not name:
        return job.capacity_type == one.capacity_type
    adopted = was.clusters.get(name)
    on = job.persistent_resource_id
    return is_generation_of(on, name) or (adopted is not None and adopted.id == on)


def _compete(one: Offer, other: Offer) -> bool:
    cases = (set(values) & set(other.when.get(name, values)) for name, values in one.when.items())
    return one.kind == other.kind and all(cases)


def _overtaken(label: str, before: Mapping[str, Offer], after: Mapping[str, Offer]) -> Iterator[str]:
    """Labels that were tried before this one was offered, and are tried only after it now; none where it took the place
    of another of its capacity type, as one on a cluster of another name does."""
    one, labels, ranks = after[label], list(after), list(before)
    places = [
        ranks.index(gone)
        for gone, each in before.items()
        if gone not in after and each.capacity_type == one.capacity_type and _compete(each, one)
    ]
    for other in labels[labels.index(label) + 1 :]:
        if other in before and _compete(after[other], one) and not any(at < ranks.index(other) for at in places):
            yield other


def _order(template: Template, before: list[str], after: list[str], offers: Mapping[str, Offer]) -> Iterator[Finding]:
    pairs = (
        (first, then)
        for place, first in enumerate(after)
        for then in after[place + 1 :]
        if before.index(then) < before.index(first) and _compete(offers[first], offers[then])
    )
    for first, then in islice(pairs, 1):
        before, after = ([one for one in side if _compete(offers[one], offers[first])] for side in (before, after))
        details = [f"{join(f'`{one}`' for one in before)} → {join(f'`{one}`' for one in after)}"]
        words = f": `{first}` is tried before `{then}` now"
        yield finding("offer-order", template, words, "order", details=details, field=_FIELD)


def _why(offer: Offer, catalog: Catalog) -> str:
    if offer.dormant:
        cluster = catalog.dormant.get(offer.dormant)
        return offer.why or (cluster.words if cluster else f"cluster `{offer.dormant}` is not asked for now")
    return offer.why or ("there is no quota for it" if offer.lacks_quota else "not available")


def _pools(old: Offer, new: Offer) -> Iterator[Difference]:
    if old.pools != new.pools and old.cluster == new.cluster:
        before, after = (join(f"`{pool}`" for pool in one.pools if pool) or "none" for one in (old, new))
        yield Difference("machines-changed", "pools", "", before, after)


def _told(template: Template, one: Difference, at: Mapping[str, list[str]], both: list[str], all_roles: int) -> Finding:
    roles = list(dict.fromkeys(role for some in at.values() for role in some if role))
    whose = f" of {join(f'`{role}`' for role in roles)}" if roles and all_roles > len(roles) else ""
    where = f" in {join(f'`{label}`' for label in at)}" if len(at) < len(both) else ""
    words = f"{one.what}{whose}{where}"
    return finding(one.kind, template, f": {words}: {one.before} → {one.after}", words.replace("`", ""))
