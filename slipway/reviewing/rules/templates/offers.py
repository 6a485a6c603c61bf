"""A template's offers before and after: its ways to run, their order, and how a wait for them ends."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain, product
from typing import Any

from slipway.base.formatting import counted, exact_span, join, last_part
from slipway.google.jobs import VertexJob
from slipway.model.capacity import FLEX_START, ON_DEMAND, PAID_ANYWAY, POOL, RESERVATION
from slipway.model.catalog.model import Catalog
from slipway.model.catalog.template import Offer, Template, case_in_words
from slipway.model.facts import offers_by_label
from slipway.model.findings.finding import Grade
from slipway.model.fingerprint import is_generation_of
from slipway.model.kinds import PIPELINE_JOB
from slipway.reviewing.change.edits import Edit
from slipway.reviewing.change.secret_values import shown
from slipway.reviewing.change.usual import (
    account_of,
    compete,
    costs,
    fits_reservation,
    is_dear,
    misfits,
    over,
    reservations,
    reserved,
    served,
    varies,
    way,
    whole_way,
    whose,
)
from slipway.reviewing.consequence import IT, Consequence
from slipway.reviewing.rules.resources.trainers import submitters_of, users_of
from slipway.reviewing.rules.table import RowName
from slipway.reviewing.rules.templates.shapes import less_memory, shapes_added, shapes_gone
from slipway.reviewing.rules.templates.unavailable import closed, increase, unproven, why_not
from slipway.reviewing.rules.templates.usage import JOBS, TemplateChange, facts, is_case
from slipway.reviewing.rules.templates.waits import Offers, after_wait, loses_machine, patience, rest_of
from slipway.reviewing.rules.words import named


def offers(template: TemplateChange) -> Iterator[Consequence]:
    old, new = template.old, template.new
    was, becomes = _of_kinds(old, new, new.kind), _of_kinds(new, old, new.kind)
    was = {label: offer for label, offer in was.items() if served(offer, new)}
    shut = [each for each in becomes.values() if refused(each, becomes)]
    for offer in {case_in_words(each.when): each for each in reversed(shut)}.values():
        if any(compete(each, offer) and not refused(each, was) for each in was.values()):
            used = template.used.having(lambda job, when=offer.when: is_case(job, when))  # type: ignore[misc]
            yield _tells(template, "case-refused", offer, used=used, grade=Grade.BLOCKING)
    yield from _refused_by_default(template, shut, was)
    for words, some in _opened(was, becomes, old).items():
        grade = Grade.WARNING if any(_is_dearer(each, old) for each in some) else None
        values = {"refused": served(some[0], old), "costs": costs(some, template.becomes)}
        yield _tells(template, "case-allowed", some[0], part=f"case {words}", grade=grade, **values)
    before = {label: each for label, each in was.items() if not refused(each, was) and not refused(each, becomes)}
    after = {label: each for label, each in becomes.items() if not refused(each, becomes) and not refused(each, was)}
    after = {label: each for label, each in after.items() if served(each, old) or not each.available}
    same = kept(before, after)
    of_shapes = set[str]()
    for told, labels in (*shapes_gone(template, before, after), *shapes_added(template, before, after)):
        if not {*labels} & {*same, *same.values()}:
            of_shapes |= {*labels}
            yield told
    gone = [offer for label, offer in before.items() if label not in {*same.values(), *of_shapes}]
    if misfits(template.new):  # The refusal of the deployment tells of pools.
        gone = [offer for offer in gone if offer.capacity_type != POOL]
    # A capacity type that goes with all its shapes goes once.
    once = {(*_place(each), each.cluster, _last_shape(each, after)): each for each in reversed(gone)}
    yield from (_gone(template, offer, before, after) for offer in reversed(once.values()))
    # What no quota makes available changes nothing.
    listed = (label for label in after if label not in {*same, *of_shapes})
    can = [label for label in listed if after[label].available or after[label].lacks_quota]
    yield from (_added(template, label, before, after) for label in can)
    now = {old: label for label, old in same.items()}
    yield from _order(template, {now.get(label, label): offer for label, offer in before.items()}, after)
    stay = chain.from_iterable(_kept(template, after[label], old, before[old], after) for label, old in same.items())
    # Jobs that can run nowhere have their other ways in the details, and are told once.
    yield from {part.who if part.details else part.key: part for part in reversed([*stay])}.values()
    yield from _waits(template, {label: (before[old], after[label]) for label, old in same.items()}, after)


def _refused_by_default(template: TemplateChange, shut: Iterable[Offer], was: Offers) -> Iterator[Consequence]:
    """Find cases that a template's file refuses by a new default, and took by the old one."""
    defaults = {each.name: each.default for each in template.old.parameters}
    changed = [each for each in template.new.parameters if defaults.get(each.name) not in (None, each.default)]
    for offer, new in product(shut, changed):
        name, had = new.name, defaults[new.name]
        case = replace(offer, when={other: values for other, values in offer.when.items() if other != name})
        took = (each for each in was.values() if had in each.when.get(name, (had,)) and not refused(each, was))
        if new.default in offer.when.get(name, ()) and any(compete(each, case) for each in took):
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
            hit = [
                end
                for end in ("", "max")
                if fits_reservation(offer, template.new, was, end=end)
                and not fits_reservation(offer, template.new, becomes, end=end)
            ]
            if not (had and open_ and hit):
                continue
            some = fits_reservation(offer, template.new, becomes, end="min")
            yield _tells(
                template,
                "offer-short",
                offer,
                part=f"{offer.label(template.new.kind)} of {hit[-1]}",
                name=last_part(path),
                holds=counted(listed.machines, "machine"),
                some=some,
                grade=None if "" not in hit else Grade.BLOCKING,
            )


def _tells(template: TemplateChange, row: RowName, offer: Offer, **values: Any) -> Consequence:
    """Return a row's consequence for the jobs of an offer."""
    case = whose([offer], template.new) or whose([offer], template.old)
    jobs = f"{f'Usual jobs of {IT}' if values.get('sized') else JOBS}{case}"
    part = offer.label(template.new.kind, with_cluster=True)
    return template.tells(row, **{"part": part, "jobs": jobs, "way": way(offer), **values})


def kept(before: Offers, after: Offers) -> Mapping[str, str]:
    """Return labels of offers by those that they have now: another on another cluster, or on a shape in one's place."""
    new = [label for label in after if label not in before and not after[label].barred]
    moved = dict[str, str]()
    for old, was in before.items():
        were, are = ({each.shape for each in side.values() if compete(each, was)} for side in (before, after))
        for label in new if old not in after else ():
            shapes = was.shape, after[label].shape
            alike = shapes[0] == shapes[1] or (shapes[0] not in are and shapes[1] not in were)
            if _place(was) == _place(after[label]) and alike and label not in moved and old not in moved.values():
                moved[label] = old
    return {label: moved.get(label, label) for label in after if label in moved or label in before}


def refused(offer: Offer, offers: Offers) -> bool:
    """Tell whether a template's file refuses an offer's case: it has no way to run, and lacks no machines."""
    beside = [each for each in offers.values() if compete(each, offer)]
    open_ = any(each.available or each.lacks_quota or each.dormant or each.cluster for each in beside)
    return bool(offer.when) and not open_ and any(each.capacity_type not in PAID_ANYWAY for each in beside)


def _opened(was: Offers, becomes: Offers, old: Template) -> Mapping[str, list[Offer]]:
    """Return the available ways to run of jobs that no parameter or the template's file took before, by their case."""
    cases: dict[str, list[Offer]] = {}
    for offer in becomes.values():
        rivals = [each for each in was.values() if compete(each, offer)]
        if offer.available and (all(refused(each, was) for each in rivals) if rivals else not served(offer, old)):
            cases.setdefault(case_in_words(offer.when), []).append(offer)
    return cases


def _place(offer: Offer) -> tuple[object, ...]:
    return offer.capacity_type, "" if offer.capacity_type == POOL else offer.cluster, offer.kind, repr(offer.when)


def _last_shape(offer: Offer, after: Offers) -> str:
    """Return an offer's shape; empty where its capacity type is left on none."""
    return "" if _refused(offer, (each for each in after.values() if compete(each, offer))) else offer.shape


def _kept(template: TemplateChange, offer: Offer, old: str, was: Offer, after: Offers) -> Iterator[Consequence]:
    alone = whole_way(offer, template.becomes)
    if was.available and offer.available and offer.cluster != was.cluster:
        beside = [each for each in after.values() if compete(each, offer) and each.available]
        shut, closed = _shut_out(template, was, beside), _losing(template, was, [offer])
        rest = [each for each in beside if not template.becomes.owners(each.cluster)] if closed else []
        so = shut or (f"jobs of others cost {costs(rest, template.becomes)}" if rest else "")
        grade = Grade.BLOCKING if shut else Grade.WARNING if closed else None
        yield _tells(template, "offer-moved", offer, way=alone, cluster=was.cluster, part=old, so=so, grade=grade)
    if was.available and not offer.available:
        yield from _unavailable(template, was, offer, after)
    elif offer.available and not was.available:
        yield _tells(template, "offer-available", offer, way=alone, so=unproven(offer, template))


def _waits(template: TemplateChange, same: dict[str, tuple[Offer, Offer]], after: Offers) -> Iterator[Consequence]:
    """Find other waits; that of a capacity type is one for all shapes."""
    changed = {
        (*_place(offer), offer.cluster, patience(was), patience(offer)): (was, offer)
        for was, offer in reversed(same.values())
        if patience(was) != patience(offer) and (offer.available or offer.dormant) and offer.kind != PIPELINE_JOB.name
    }
    for was, offer in reversed(changed.values()):
        before, now, rest = patience(was), patience(offer), rest_of(offer, after)
        earlier = template.old.offers[: template.old.offers.index(was) + 1]
        # A wait after which nothing follows ends nothing.
        if not rest and offer.capacity_type != FLEX_START:
            continue
        # A full pool without a wait is left at once, where there is another way.
        full = offer.capacity_type == POOL and bool(rest)
        # On demand the service fails a job that finds no machines.
        endless = "not at all" if full else "until they fail" if offer.capacity_type == ON_DEMAND else "for ever"
        words = [endless if seconds is None else exact_span(seconds) for seconds in (before, now)]
        key = "scheduling.max_wait_s" if was.wait == offer.wait else "waits"
        yield _tells(
            template,
            "fallback-wait",
            offer,
            way=way(replace(offer, shape="")),
            at_once=full and now is None,
            now=words[1],
            before=words[0],
            so=after_wait(offer, after, template.becomes),
            stays=rest and offer.wait and not any(each.wait for each in earlier if compete(each, was)),
            later=offer.dormant,
            grade=Grade.NOTE if offer.dormant else None,
            key=key,
            edits=(Edit(key if "." in key else f"{key}.{offer.capacity_type}", *words),),
        )


def _unavailable(template: TemplateChange, was: Offer, offer: Offer, after: Offers) -> Iterator[Consequence]:
    rest = [each for each in after.values() if compete(each, offer) and each.available]
    if offer.capacity_type == POOL and misfits(template.new):
        return
    if offer.barred and not any(each.available for each in template.new.offers):
        return  # The template tells it.
    cost_more = f"they cost {costs(rest, template.becomes)}" if rest else ""
    nowhere, shut = _can_run_nowhere(offer, template), _shut_out(template, was, rest)
    so = facts(shut, why_not(offer, template), cost_more, "" if nowhere else _refused(offer, rest))
    sent = template.used.having(lambda job: _sent_for(job, was, template.was))
    ways = [each for each in after.values() if each in rest or each is offer]
    spare = offer.capacity_type == POOL and rest and not (sent.jobs and ways[-1] is offer)
    beside = not nowhere and (offer.lacks_quota or closed(offer, template))
    known = beside or offer.dormant or offer.barred or spare
    yield _tells(
        template,
        "offer-unavailable",
        offer,
        way=way(was),
        sized=_sized(offer) and not closed(offer, template),
        place=f"`{offer.shape}`" * (was.shape != "" != offer.shape != was.shape),
        nowhere=nowhere,
        never=nowhere and not _may_come(after, offer, template),
        so=so,
        details=_shut(after, offer, template) if nowhere else (),
        instead=increase(offer, template),
        grade=None if known and not shut else Grade.BLOCKING,
    )


def _gone(template: TemplateChange, offer: Offer, before: Offers, after: Offers) -> Consequence:
    rivals = [each for each in after.values() if compete(each, offer)]
    left = [each for each in rivals if each.available]
    could, later = offer.available, offer.dormant in {*template.becomes.clusters, *template.becomes.dormant}
    nowhere = could and _can_run_nowhere(offer, template)
    shut = _shut_out(template, offer, left)
    place = [each is offer for each in before.values()].index(True)
    sooner = [after[label] for label in [*before][:place] if after.get(label) in left]
    so = ""
    if left and could:
        alone = left[-1].capacity_type == POOL and not left[1:] and not shut
        ends = "they can go nowhere else" if alone else loses_machine(template, left[0])
        so = facts(shut, f"they cost {costs(left, template.becomes)}", ends)
    used = template.used.having(lambda job: _sent_for(job, offer, template.was))
    # Jobs that no pool before it had room for took it, and there were none.
    spare = offer.capacity_type == POOL and not (used.jobs or shut) and any(each.cluster for each in sooner)
    # Whoever took the last way had found the others full, or had asked for it.
    took = used.jobs and sooner and sooner == left and _refused(offer, rivals)
    return _tells(
        template,
        "offer-gone",
        offer,
        way=way(replace(offer, shape=_last_shape(offer, after))),
        could=could,
        later=later,
        nowhere=nowhere,
        never=nowhere and not _may_come(after, offer, template),
        so=facts(so, _refused(offer, rivals) if could and not nowhere else ""),
        details=_shut(after, offer, template) if nowhere else (),
        used=used,
        listed={each.capacity_type for each in before.values() if compete(each, offer)}
        != {each.capacity_type for each in rivals},
        tried=" ".join(filter(None, (offer.capacity_type, offer.cluster or offer.dormant))),
        grade=Grade.NOTE if spare or not (could or later) else Grade.BLOCKING if nowhere or shut or took else None,
    )


def _shut_out(template: TemplateChange, offer: Offer, left: list[Offer]) -> str:
    """Return who can't submit jobs any more as all that is left to them is other teams'."""
    shut = [f"`{member}`" for member in _losing(template, offer, left)] if left else []
    return f"{named(shut)} can't submit `{template.new.name}`{whose([offer], template.new)} any more" if shut else ""


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


def _may_come(after: Offers, offer: Offer, template: TemplateChange) -> bool:
    """Tell whether jobs of an offer's case may run later, or smaller ones now."""
    rivals = [each for each in after.values() if compete(each, offer)]
    ended = [each for each in rivals if over(each, template.becomes, template.change.now)]
    return any(
        each.dormant or _sized(each) or each.capacity_type == RESERVATION for each in rivals if each not in ended
    )


def _sized(offer: Offer) -> bool:
    """Tell whether smaller jobs may take an offer for which usual ones are too large."""
    return varies(offer) and (offer.lacks_quota or offer.capacity_type == RESERVATION)


def _shut(after: Offers, offer: Offer, template: TemplateChange) -> Iterator[str]:
    rivals = (each for each in after.values() if compete(each, offer) and each is not offer)
    return (f"{way(each)} can't start: {why_not(each, template)}" for each in rivals)


def _refused(offer: Offer, rest: Iterable[Offer]) -> str:
    """Return that a capacity type is refused to those who name it, where none of its ways is left."""
    left = any(each.capacity_type == offer.capacity_type for each in rest)
    return "" if left else f"`--capacity {offer.capacity_type}` is refused"


def _added(template: TemplateChange, label: str, before: Offers, after: Offers) -> Consequence:
    offer = after[label]
    had = {each.capacity_type for each in before.values() if compete(each, offer)}
    rivals = [each for each in after.values() if compete(each, offer) and each.available]
    added: dict[str, Any] = {"listed": offer.capacity_type not in had, "also": rivals[1:]}
    if not offer.available:
        values = {"so": why_not(offer, template), "instead": increase(offer, template), **added}
        return _tells(template, "offer-added-unavailable", offer, **values)
    so = facts(
        unproven(offer, template), f"they cost {costs([offer], template.becomes)}", loses_machine(template, offer)
    )
    if rivals[1:] and rivals[0] is offer and offer.capacity_type not in had:
        then = next((each for each in rivals if each.capacity_type in had), rivals[1])
        cluster = template.becomes.clusters.get(offer.cluster)
        others = (each for each in template.becomes.templates.values() if each.name != template.new.name)
        theirs = (each for other in others for each in other.offers if each.available and each.cluster == offer.cluster)
        shared = any({*offer.pools} & {*each.pools} - {""} for each in theirs)
        free = Grade.NOTE if cluster and not cluster.adopted and not shared else None
        how = dict(zip(("way", "next"), _apart(offer, then), strict=True))
        return _tells(template, "offer-added-first", offer, **how, so=so, grade=free)
    grade = Grade.WARNING if _is_dearer(offer, template.old) else None
    return _tells(template, "offer-added", offer, so=so, grade=grade, **added)


def _is_dearer(offer: Offer, old: Template) -> bool:
    known = (each.price_per_hour.known for each in old.offers if is_dear(each))
    return is_dear(offer) and not any(price >= offer.price_per_hour.known for price in known)


def _apart(*offers: Offer) -> list[str]:
    """Return ways to run, without a shape that all of them have."""
    alike = len({each.shape for each in offers}) == 1
    return [way(replace(each, shape="") if alike else each) for each in offers]


def _of_kinds(template: Template, other: Template, usual: str) -> Offers:
    """Return offers by label; an offer in the default and another kind is listed once, whichever side has it so."""
    listed = {label: offer for label, offer in offers_by_label(template, usual).items() if offer.kind in other.kinds}
    plain = {label: offer.label(offer.kind, with_cluster=True) for label, offer in listed.items()}
    theirs = (label for label, offer in offers_by_label(other, usual).items() if offer.kind in template.kinds)
    either = {*listed, *theirs}
    return {label: offer for label, offer in listed.items() if offer.kind == usual or plain[label] not in either}


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
    was, now = ([label for label in side if label in both] for side in (before, after))
    hit: dict[str, tuple[dict[str, Any], list[Offer]]] = {}
    for first in now:
        offer, later = after[first], now[now.index(first) :]
        overtaken = [other for other in was[: was.index(first)] if other in later and compete(after[other], offer)]
        if overtaken and not any(compete(offer, each) for _, some in hit.values() for each in some):
            then = after[overtaken[0]]
            tried = [after[each] for each in now[: now.index(overtaken[0])] if compete(after[each], then)]
            sooner = tried[tried.index(offer) :]
            ends = "" if sooner[1:] else loses_machine(template, offer)
            shapes, less = offer.shape != then.shape, less_memory(offer, [then])
            *ways, last = _apart(*tried, then)[-len(sooner) - 1 :]
            names = (f"`{offer.shape}`", f"`{then.shape}`") if shapes else (join(dict.fromkeys(ways)), last)
            told: dict[str, Any] = {"way": names[0], "next": names[1], "type": then.capacity_type, "shapes": shapes}
            pool = next(filter(None, then.pools), "")
            told["pool"] = f"{then.cluster}/{pool}" if pool and offer.capacity_type == then.capacity_type else ""
            # What another shape costs that is the first now, is told as a default run's cost.
            told["so"] = less if shapes else facts(f"they cost {costs(sooner, template.becomes)}", ends)
            told["grade"] = Grade.BLOCKING if less else None
            hit.setdefault(str(told), (told, []))[1].append(offer)
    for told, some in hit.values():
        case, several = whose(some, template.new), len(hit) > 1
        yield _tells(template, "offer-order", some[0], **told, part=f"order{case * several}", jobs=f"{JOBS}{case}")
