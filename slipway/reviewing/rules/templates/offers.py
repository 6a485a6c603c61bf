"""A template's offers before and after: its ways to run, their order, and how a wait for them ends."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain, product
from typing import Any

from slipway.base.formatting import counted, exact_span, last_part
from slipway.google.jobs import VertexJob
from slipway.model.capacity import FLEX_START, PAID_ANYWAY, POOL, RESERVATION
from slipway.model.catalog.model import Catalog
from slipway.model.catalog.template import Offer, Template, case_in_words
from slipway.model.facts import offers_by_label
from slipway.model.findings.finding import Grade
from slipway.model.fingerprint import is_generation_of
from slipway.model.kinds import PIPELINE_JOB
from slipway.reviewing.change.change import grouped
from slipway.reviewing.change.edits import Edit
from slipway.reviewing.change.secret_values import shown
from slipway.reviewing.change.usual import (
    Offers,
    account_of,
    as_kind,
    compete,
    costs,
    fits_reservation,
    is_dear,
    misfits,
    reservations,
    reserved,
    served,
    usual_values,
    varies,
    way,
    whole_way,
    whose,
)
from slipway.reviewing.consequence import Consequence
from slipway.reviewing.rules.resources.trainers import submitters_of, users_of
from slipway.reviewing.rules.table import RowName, say
from slipway.reviewing.rules.templates.shapes import less_memory, shapes_added, shapes_gone
from slipway.reviewing.rules.templates.unavailable import closed, why_not
from slipway.reviewing.rules.templates.usage import TemplateChange, facts, is_case
from slipway.reviewing.rules.templates.waits import behind, next_way, paid, patience
from slipway.reviewing.rules.words import named


def offers(template: TemplateChange) -> Iterator[Consequence]:
    old, new = template.old, template.new
    was, becomes = _of_kinds(old, new, new.kind), _of_kinds(new, old, new.kind)
    was = Offers({label: offer for label, offer in was.items() if served(offer, new)})
    shut = [each for each in becomes.values() if refused(each, becomes)]
    for offer in {case_in_words(each.when): each for each in reversed(shut)}.values():
        if any(not refused(each, was) for each in was.beside(offer).values()):
            used = template.used.having(lambda job, when=offer.when: is_case(job, when))  # type: ignore[misc]
            yield _tells(template, "case-refused", offer, used=used, grade=Grade.BLOCKING)
    yield from _refused_by_default(template, shut, was)
    for words, some in _opened(was, becomes, old).items():
        offer = max(some, key=lambda each: _is_dearer(each, old))
        grade = Grade.WARNING if _is_dearer(offer, old) else None
        price = costs(offer, template.becomes)
        yield _tells(template, "case-allowed", offer, part=f"case {words}", grade=grade, costs=price)
    before = {label: each for label, each in was.items() if not refused(each, was) and not refused(each, becomes)}
    after = {label: each for label, each in becomes.items() if not refused(each, becomes) and not refused(each, was)}
    after = Offers({label: each for label, each in after.items() if served(each, old) or not each.available})
    before = Offers(before)
    same = kept(before, after)
    now = {old: label for label, old in same.items()}
    before = Offers({now.get(label, label): offer for label, offer in before.items()})
    of_shapes = set[str]()
    for told, labels in (*shapes_gone(template, before, after), *shapes_added(template, before, after)):
        if not {*labels} & {*same}:
            of_shapes |= {*labels}
            yield told
    gone = [label for label in before if label not in {*same, *of_shapes}]
    if misfits(template.new):  # The refusal of the deployment tells of pools.
        gone = [label for label in gone if before[label].capacity_type != POOL]
    # A capacity type that goes with all its shapes goes once.
    once = {
        (*_place(before[each]), before[each].cluster, _stays(before[each], after) and before[each].shape): each
        for each in gone[::-1]
    }
    yield from (_gone(template, label, before, after) for label in reversed(once.values()))
    # What no quota makes available changes nothing.
    listed = (label for label in after if label not in {*same, *of_shapes})
    can = [label for label in listed if after[label].available or after[label].lacks_quota]
    yield from (_added(template, label, before, after) for label in can)
    yield from _order(template, before, after)
    stay = chain.from_iterable(_kept(template, label, old, before[label], after) for label, old in same.items())
    # Jobs that can run nowhere have their other ways in the details, and are told once.
    yield from {part.who if part.details else part.key: part for part in reversed([*stay])}.values()
    yield from _waits(template, same, before, after)


def _refused_by_default(template: TemplateChange, shut: Iterable[Offer], was: Offers) -> Iterator[Consequence]:
    """Find cases that a template's file refuses by a new default, and took by the old one."""
    defaults = {each.name: each.default for each in template.old.parameters}
    changed = [each for each in template.new.parameters if defaults.get(each.name) not in (None, each.default)]
    for offer, new in product(shut, changed):
        name, had = new.name, defaults[new.name]
        case = replace(offer, when={other: values for other, values in offer.when.items() if other != name})
        took = (each for each in was.beside(case).values() if had in each.when.get(name, (had,)))
        if new.default in offer.when.get(name, ()) and any(not refused(each, was) for each in took):
            used = template.used.having(lambda job, when={**case.when, name: (had,)}: is_case(job, when))  # type: ignore[misc]
            values: dict[str, Any] = {"name": name, "has": shown(new.default), "used": used}
            yield _tells(template, "default-refused", case, part=f"default of {name}", **values)


def shrunk(template: TemplateChange) -> Iterator[Consequence]:
    """Find reservations that newly hold too few machines: for larger jobs, or for usual ones once they begin."""
    was, becomes = template.was.reservations, template.becomes.reservations
    for path, listed in becomes.items() if was != becomes else ():
        for offer in (each for each in template.new.offers if listed in reserved(each, template.becomes)):
            had = path in reservations(each for each in template.old.offers if compete(each, offer))
            open_ = offer.available or listed.closed(template.change.now)
            sizes = {end: usual_values(template.new, end) for end in ("", "max", "min")}
            lately = (
                job for job in template.used.jobs if job.capacity_type == RESERVATION and is_case(job, offer.when)
            )
            sizes |= {repr(job.parameters): {**sizes[""], **(job.parameters or {})} for job in lately}
            fits = {
                end: [fits_reservation(offer, side, values) for side in (was, becomes)] for end, values in sizes.items()
            }
            hit = [end for end in fits if fits[end] == [True, False] and end != "min"]
            if had and open_ and hit:
                part = f"{offer.label(template.new.kind)} of more"
                told: dict[str, Any] = {"name": last_part(path), "holds": counted(listed.machines, "machine")}
                grade = None if hit == ["max"] else Grade.BLOCKING
                yield _tells(template, "offer-short", offer, part=part, some=fits["min"][1], grade=grade, **told)


def _tells(template: TemplateChange, row: RowName, offer: Offer, **values: Any) -> Consequence:
    """Return a row's consequence for the jobs of an offer."""
    case = whose([offer], template.new) or whose([offer], template.old)
    part = offer.label(template.new.kind, with_cluster=True)
    return template.tells(
        row, **{"part": part, "case": f"{case}{as_kind(offer, template.new)}", "way": way(offer), **values}
    )


def kept(before: Offers, after: Offers) -> Mapping[str, str]:
    """Return labels of offers by those that they have now: another on another cluster, or on a shape in one's place."""
    moved = dict[str, str]()
    for old, was in before.items():
        if old in after:
            continue
        were, are = ({each.shape for each in side.beside(was).values()} for side in (before, after))
        for label in (each for each in after.beside(was) if each not in before and not after[each].barred):
            shapes = was.shape, after[label].shape
            alike = shapes[0] == shapes[1] or (shapes[0] not in are and shapes[1] not in were)
            if _place(was) == _place(after[label]) and alike and label not in moved and old not in moved.values():
                moved[label] = old
    return {label: moved.get(label, label) for label in after if label in moved or label in before}


def refused(offer: Offer, offers: Offers) -> bool:
    """Tell whether a template's file refuses an offer's case: it has no way to run, and lacks no machines."""
    beside = offers.beside(offer).values()
    open_ = any(each.available or each.lacks_quota or each.dormant or each.cluster for each in beside)
    return bool(offer.when) and not open_ and any(each.capacity_type not in PAID_ANYWAY for each in beside)


def _opened(was: Offers, becomes: Offers, old: Template) -> Mapping[str, list[Offer]]:
    """Return the available ways to run of jobs that no parameter or the template's file took before, by their case."""
    cases: dict[str, list[Offer]] = {}
    for offer in becomes.values():
        rivals = was.beside(offer).values()
        if offer.available and (all(refused(each, was) for each in rivals) if rivals else not served(offer, old)):
            cases.setdefault(case_in_words(offer.when), []).append(offer)
    return cases


def _place(offer: Offer) -> tuple[object, ...]:
    return offer.capacity_type, "" if offer.capacity_type == POOL else offer.cluster, offer.kind, repr(offer.when)


def _stays(offer: Offer, after: Offers) -> bool:
    """Tell whether a way of an offer's capacity type is left to its jobs."""
    return any(each.capacity_type == offer.capacity_type for each in after.beside(offer).values())


def _kept(template: TemplateChange, label: str, old: str, was: Offer, after: Offers) -> Iterator[Consequence]:
    offer = after[label]
    alone = whole_way(offer, template.becomes)
    if was.available and offer.available and offer.cluster != was.cluster:
        beside = [each for each in after.beside(offer).values() if each.available]
        shut, closed = _shut_out(template, was, beside), _losing(template, was, [offer])
        words: dict[str, Any] = {"way": alone, "cluster": was.cluster, "part": old, "shut": shut}
        words["grade"] = Grade.BLOCKING if shut else Grade.WARNING if closed else None
        words["closed"] = "" if shut else named(f"`{member}`" for member in closed)
        rest = behind(label, after, after)
        theirs = rest and {*closed} <= {*users_of(template.change.after, template.new, rest[0])}
        yield _tells(template, "offer-moved", offer, follows=next_way(template, rest) if theirs else "", **words)
    if was.available and not offer.available:
        yield from _unavailable(template, was, label, after)
    elif offer.available and not was.available:
        yield _tells(template, "offer-available", offer, way=alone)


def _waits(template: TemplateChange, same: Iterable[str], before: Offers, after: Offers) -> Iterator[Consequence]:
    """Find other waits; that of a capacity type is one for all shapes."""
    waits = {label: (_planned(label, before), _planned(label, after)) for label in same}
    changed = {
        (*_place(after[label]), after[label].cluster, waits[label]): label
        for label in reversed(waits)
        if waits[label][0] != waits[label][1] and (after[label].available or after[label].dormant)
    }
    for label in reversed(changed.values()):
        was, offer = before[label], after[label]
        # A wait after which nothing follows ends nothing.
        if offer.kind == PIPELINE_JOB.name or not (offer.capacity_type == FLEX_START or _next(label, after)):
            continue
        # A full pool without a wait is left at once, where there is another way.
        rests = [behind(label, side, side) if offer.capacity_type == POOL else [] for side in (before, after)]
        leaves = [any(each.capacity_type != POOL for each in rest) for rest in rests]
        endless = [say("wait-endless", leaves=some) for some in leaves]
        words = [text if end is None else exact_span(end) for end, text in zip(waits[label], endless, strict=True)]
        key = "scheduling.max_wait_s" if was.wait == offer.wait else "waits"
        edit = Edit(key if "." in key else f"{key}.{offer.capacity_type}", *words)
        told: dict[str, Any] = {"before": words[0], "now": words[1], "later": offer.dormant, "key": key}
        told["full"] = any(leave and end is None for leave, end in zip(leaves, waits[label], strict=True))
        told["grade"] = Grade.NOTE if offer.dormant else None
        alike = [each for each in waits if _place(after[each]) == _place(offer) and after[each].available]
        apart = any(waits[each] != waits[label] for each in alike)
        named_way = way(offer if apart else replace(offer, shape=""))
        yield _tells(template, "fallback-wait", offer, way=named_way, edits=(edit,), **told)


def _planned(label: str, offers: Offers) -> float | None:
    """Return the seconds of a wait: the last type of the last machines has none but the service's own."""
    offer = offers[label]
    return patience(offer) if offer.capacity_type == FLEX_START or _next(label, offers) else None


def _next(label: str, offers: Offers) -> list[Offer]:
    """Return the ways behind one by another capacity type, or on other machines."""
    offer = offers[label]
    place = offer.capacity_type, offer.shape, offer.region
    return [each for each in behind(label, offers, offers) if (each.capacity_type, each.shape, each.region) != place]


def _unavailable(template: TemplateChange, was: Offer, label: str, after: Offers) -> Iterator[Consequence]:
    offer = after[label]
    rivals = after.beside(offer).values()
    rest = [each for each in rivals if each.available]
    if offer.capacity_type == POOL and misfits(template.new):
        return
    if offer.barred and not any(each.available for each in template.new.offers):
        return  # The template tells it.
    nowhere, shut = _can_run_nowhere(offer, template), _shut_out(template, was, rest)
    later, without = behind(label, after, after), closed(offer, template)
    used = template.used.having(lambda job: _sent_for(job, was, template.was)).jobs
    spare, pooled = offer.capacity_type == POOL and rest and (later or not used), _pooled(offer, rest, later)
    known = (not nowhere and (offer.lacks_quota or without)) or offer.dormant or offer.barred or spare
    yield _tells(
        template,
        "offer-unavailable",
        offer,
        way=way(was),
        # Smaller jobs may take it.
        sized=varies(offer) and (offer.lacks_quota or offer.capacity_type == RESERVATION) and not without,
        yet=any(each.begins and each.begins > template.change.now for each in reserved(offer, template.becomes)),
        place=f"`{offer.shape}`" * (was.shape != "" != offer.shape != was.shape),
        nowhere=nowhere,
        so=facts(shut, why_not(offer, template), next_way(template, later) if rest and not pooled else ""),
        details=(
            f"{way(each)} can't start: {why_not(each, template)}" for each in rivals if nowhere and each is not offer
        ),
        grade=None if known and not shut else Grade.BLOCKING,
    )


def _gone(template: TemplateChange, label: str, before: Offers, after: Offers) -> Consequence:
    offer = before[label]
    rivals = after.beside(offer).values()
    left = [each for each in rivals if each.available]
    could, later = offer.available, offer.dormant in {*template.becomes.clusters, *template.becomes.dormant}
    nowhere = could and _can_run_nowhere(offer, template)
    shut, rest = _shut_out(template, offer, left), behind(label, before, after)
    used = template.used.having(lambda job: _sent_for(job, offer, template.was))
    # Jobs that no pool before it had room for took it, and there were none.
    pooled = _pooled(offer, left, rest)
    spare = pooled and not (used.jobs or shut)
    # Whoever took the last way had found the others full, or had asked for it.
    stays = _stays(offer, after)
    took = used.jobs and left and not rest and not stays
    return _tells(
        template,
        "offer-gone",
        offer,
        way=way(offer if stays else replace(offer, shape="")),
        could=could,
        nowhere=nowhere,
        so=facts(shut, "" if pooled else next_way(template, rest)) if left and could else "",
        used=used,
        listed={each.capacity_type for each in before.beside(offer).values()}
        != {each.capacity_type for each in rivals},
        tried=" ".join(filter(None, (offer.capacity_type, offer.cluster or offer.dormant))),
        grade=Grade.NOTE if spare or not (could or later) else Grade.BLOCKING if nowhere or shut or took else None,
    )


def _shut_out(template: TemplateChange, offer: Offer, left: list[Offer]) -> str:
    """Return who can't submit jobs any more as all that is left to them is other teams'."""
    shut = [f"`{member}`" for member in _losing(template, offer, left)] if left else []
    return say("offer-shut", who=named(shut), template=template.new.name, case=whose([offer], template.new))


def _losing(template: TemplateChange, offer: Offer, left: Iterable[Offer]) -> list[str]:
    """Return who could use an offer, may still submit the template, and can use none of those that are left."""
    before, after = template.change.before, template.change.after
    can = {*chain.from_iterable(users_of(after, template.new, each) for each in left)}
    may = {*submitters_of(after, account_of(offer))} - can
    return [member for member in users_of(before, template.old, offer) if member in may]


def _can_run_nowhere(offer: Offer, template: TemplateChange) -> bool:
    """Tell whether other jobs of the template can run, and those of the offer's case can't."""
    can = [each for each in template.new.offers if each.available]
    return bool(can) and not any(compete(each, offer) for each in can)


def _pooled(offer: Offer, left: Iterable[Offer], later: Collection[Offer]) -> bool:
    """Tell whether a pool goes and another one is left before the ways that come later."""
    return offer.capacity_type == POOL and any(each.cluster for each in left if each not in later)


def _added(template: TemplateChange, label: str, before: Offers, after: Offers) -> Consequence:
    offer = after[label]
    had = {each.capacity_type for each in before.beside(offer).values()}
    rivals = [each for each in after.beside(offer).values() if each.available]
    listed = offer.capacity_type not in had
    if not offer.available:
        return _tells(template, "offer-added-unavailable", offer, so=why_not(offer, template), listed=listed)
    first = rivals[1:] and rivals[0] is offer and listed
    following = way(next((each for each in rivals if each.capacity_type in had), rivals[1])) if first else ""
    cluster = template.becomes.clusters.get(offer.cluster)
    others = (each for each in template.becomes.templates.values() if each.name != template.new.name)
    theirs = (each for other in others for each in other.offers if each.available and each.cluster == offer.cluster)
    shared = any({*offer.pools} & {*each.pools} - {""} for each in theirs)
    free = cluster and not cluster.adopted and not shared
    grade = Grade.WARNING if _is_dearer(offer, template.old) or (first and not free) else None
    # Ways behind one that keeps its jobs are never reached.
    sooner = rivals[: rivals.index(offer)] or rivals[1:2]
    so = paid(template, offer, before=sooner[-1] if sooner and rivals[-1] is not offer else None)
    alone = whole_way(offer, template.becomes)
    return _tells(template, "offer-added", offer, way=alone, next=following, so=so, listed=listed, grade=grade)


def _is_dearer(offer: Offer, old: Template) -> bool:
    known = (each.price_per_hour.known for each in old.offers if is_dear(each))
    return is_dear(offer) and not any(price >= offer.price_per_hour.known for price in known)


def _of_kinds(template: Template, other: Template, usual: str) -> Offers:
    """Return offers by label; those of another kind where the default one's are not alike, here or there."""
    own, theirs = (
        {label: offer for label, offer in offers_by_label(each, usual).items() if offer.kind in beside.kinds}
        for each, beside in ((template, other), (other, template))
    )
    apart = set[object]()
    for side in (own, theirs):
        ways = {key: [*map(_way, some)] for key, some in grouped(side.values(), _case).items()}
        apart |= {(kind, when) for (kind, when), some in ways.items() if some != ways.get((usual, when))}
    return Offers({label: each for label, each in own.items() if each.kind == usual or _case(each) in apart})


def _case(offer: Offer) -> tuple[str, str]:
    return offer.kind, repr(offer.when)


def _way(offer: Offer) -> tuple[object, ...]:
    return offer.capacity_type, offer.shape, offer.cluster or offer.dormant, offer.available


def _sent_for(job: VertexJob, offer: Offer, was: Catalog) -> bool:
    """Tell whether a job was sent for the offer, on any generation of its cluster, with machines yet or not."""
    name = offer.cluster or offer.dormant
    if job.capacity_type != offer.capacity_type or not is_case(job, offer.when):
        return False
    adopted, on = was.clusters.get(name), job.persistent_resource_id
    return not name or is_generation_of(on, name) or (adopted is not None and adopted.id == on)


def _order(template: TemplateChange, before: Offers, after: Offers) -> Iterator[Consequence]:
    """Find the first capacity type of each case that is tried before one that it came after."""
    both = {label for label in before if label in after and after[label].available}
    was, now = ({label: at for at, label in enumerate(side) if label in both} for side in (before, after))
    seen: list[Offer] = []
    for first in now:
        offer = after[first]
        rivals = (other for other in after.beside(offer) if other in both and now[other] > now[first])
        overtaken = sorted((other for other in rivals if was[other] < was[first]), key=was.__getitem__)
        if overtaken and not any(compete(offer, each) for each in seen):
            seen.append(offer)
            then = after[overtaken[0]]
            shapes, less = offer.shape != then.shape, less_memory(offer, [then])
            names = (f"`{each.shape}`" if shapes else way(each) for each in (offer, then))
            told: dict[str, Any] = dict(zip(("way", "next"), names, strict=True))
            told |= {"shapes": shapes, "pools": offer.capacity_type == then.capacity_type}
            # What another shape costs that is the first now, is told as a default run's cost.
            told["so"] = less if shapes else paid(template, offer, before=then)
            grade, part = Grade.BLOCKING if less else None, f"order{whose([offer], template.new)}"
            yield _tells(template, "offer-order", offer, grade=grade, part=part, **told)
