"""Options of a cluster's entry: its adoption by id, the kind of its replacement, and its alternatives."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from slipway.base.formatting import span
from slipway.google.live import Unknown
from slipway.model.catalog.clusters import Cluster, DormantCluster, Pool, PricedAlternative
from slipway.model.cluster import CREATE_WITHIN_S, IN_PLACE, PROTECT, ROLLOVER, Alternative
from slipway.model.cluster_fields import NAMES, compare_pools, machines_in_words, same_pools
from slipway.model.findings.finding import Finding, Grade
from slipway.model.prices import Price, dollars, signed
from slipway.reviewing.change.change import Change
from slipway.reviewing.change.edits import Edit
from slipway.reviewing.rules.clusters.clusters import pools_of, price, told
from slipway.reviewing.rules.clusters.succession import edits, successions
from slipway.reviewing.rules.words import capital, jobs, named


def alternatives(change: Change) -> Iterator[Finding]:
    """Find the possible alternatives of clusters to be made; and for the other clusters, changes of the list."""
    home = change.new.region if change.new else ""
    for one in successions(change):
        if one.new is None or one.new.alternative:
            continue
        listed, before = one.new.alternatives, one.old.alternatives if one.old else ()
        is_made = not one.there and not (one.stays and not one.gone)
        may = [_option(one.new, n, option, home=home) for n, option in enumerate(listed, 1)]
        if listed and is_made:
            old = change.old
            was = (old.clusters.get(one.name) or old.dormant.get(one.name)) if old else None
            announced = was is not None and alike(listed, was.alternatives)
            kind = "cluster-may-still-become" if announced else "cluster-may-become"
            words = f"Where its machines can't be had, `{one.name}` is made of others"
            words += f"{', as was announced' if announced else ''}"
            most = max((_idle(other.pools) for other in listed), key=lambda idle: idle.known)
            dearer = Price(most.known - price(one.new).known)
            more = f": up to {signed(dearer.known)}" if dearer.known > 0 else ""
            yield told(kind, one.name, words, more=more, details=may, key="alternatives", cost=dearer)
        elif listed != before and one.stays:
            words = f"When `{one.name}` is made the next time, others may take its place; nothing that runs changes"
            yield told("cluster-may-become", one.name, words, details=may, grade=Grade.NOTE, key="alternatives")


def standing_alternatives(change: Change) -> Iterator[str]:
    for one in change.new.clusters.values() if change.new else ():
        if one.alternative:
            where = "in the place of this one, which goes first" if one.replacement == IN_PLACE else "beside this one"
            far = f" in {one.region}, whose jobs' {_far(change.new.region)}" if change.new and one.region else ""
            yield (
                f"`{one.name}` is there as its alternative {one.alternative}{far}, and stays until the stack file says "
                f"otherwise: take that out of `alternatives` to have it made as asked for first, {where}"
            )


def alike(listed: Sequence[Alternative], before: Sequence[Alternative]) -> bool:
    """Tell whether these are the same machines in the same regions and order, whatever their present cost."""
    return len(listed) == len(before) and all(
        one.region == was.region and same_pools(was.pools, one.pools) for one, was in zip(listed, before, strict=True)
    )


def _option(first: Cluster, number: int, other: PricedAlternative, *, home: str) -> str:
    """Return `alternative 1: 1–4 a2-highgpu-8g, −$62.10/h idle`; `alternative 2 in us-east4: the same machines, …`"""
    if not other.region:
        return f"alternative {number}: {_words(first, other.pools)}"
    return f"alternative {number} in {other.region}: {_words(first, other.pools)}, {_far(home)}"


def _far(home: str) -> str:
    return f"results stay there, and what is read from {home} crosses regions, at a price"


def _words(first: Cluster, pools: Iterable[Pool]) -> str:
    differs = tuple(
        f"{pool.name} {machines_in_words(pool)}"
        for pool in pools
        if compare_pools(pool.name, first.pool(pool.name), pool)
    )
    first_idle, idle = price(first), _idle(pools)
    more = signed(idle.known - first_idle.known) if idle.complete and first_idle.complete else dollars(idle)
    return f"{named(differs) or 'the same machines'}, {more} idle"


def _idle(pools: Iterable[Pool]) -> Price:
    return sum((pool.price_per_hour * pool.min for pool in pools), Price())


def adoption(change: Change) -> Iterator[Finding]:
    if change.after is None:
        return
    before, after = change.old.clusters if change.old else {}, change.after.catalog.clusters
    for name in dict.fromkeys((*before, *after)):
        old, new = before.get(name), after.get(name)
        same = old is not None and new is not None and old.id == new.id
        if new and new.adopted:
            yield from _told_anew(old, new) if old and same else _adopted(old, new)
        if old and old.adopted and not same:
            yield _left(old, change)


def _adopted(old: Cluster | None, new: Cluster) -> Iterator[Finding]:
    switch = f"; submissions switch to it from `{old.id}`" if old else ""
    words = f"`{new.name}` is `{new.id}`, which somebody else made and no deployment changes or deletes{switch}"
    yield told(
        "cluster-adopted", new.name, words, details=pools_of(new), grade=Grade.WARNING if old else None, key="id"
    )


def _told_anew(old: Cluster, new: Cluster) -> Iterator[Finding]:
    seen = [edit for edit in edits(old, new) if not edit.key.startswith(NAMES)]
    if seen:
        words = f"`{new.name}` is told as `{new.id}` is by now, adopted and unchanged: {named(map(str, seen))}"
        yield told("cluster-adopted", new.name, words, key=seen[0].key)


def _left(old: Cluster, change: Change) -> Finding:
    on = jobs(change.jobs_on(old.id), change.now)
    lives = change.live.clusters
    # Another region may have a different cluster with that id.
    here = ("", change.old.region if change.old else "")
    there = isinstance(lives, Unknown) or any(one.id == old.id and one.region in here for one in lives)
    gone = not (there or change.live.skipped)
    runs = f", and so {'is the job' if len(on) == 1 else f'are the {len(on)} jobs'} on it" if on else ""
    fate = "is gone already" if gone else f"is kept, as it was adopted{runs}"
    words = f"`{old.id}` is not offered as `{old.name}` any more, and {fate}"
    return told("cluster-left", old.name, words, details=on, key="")


_REPLACING = {
    ROLLOVER: "edits of `{}` make a second cluster beside it from now on",
    IN_PLACE: "edits of `{}` delete it from now on, before the new one is made",
    PROTECT: "edits of `{}` are refused from now on",
}
_WAITING = {
    "retireWithin": "people are warned when an old `{}` is still there after {}",
    "createWithin": "`up` tries for {1} to find machines for `{0}`",
}


def modes(change: Change) -> Iterator[Finding]:
    if change.old is None or change.new is None:
        return
    before, after = ({**one.clusters, **one.dormant} for one in (change.old, change.new))
    for name, old in before.items():
        new = after.get(name)
        if new is not None and (found := list(_edits(old, new))):
            replaced = old.replacement != new.replacement
            words = [_REPLACING[new.replacement].format(name)] if replaced and new.replacement in _REPLACING else []
            words += [_WAITING[one.key].format(name, one.after) for one in found if one.after and one.key in _WAITING]
            words = words or [f"`{name}` is not watched for `{found[0].key}` any more"]
            grade = None if replaced and new.replacement != PROTECT else Grade.NOTE
            same = old.id == new.id or isinstance(new, DormantCluster)
            said, details = capital("; ".join(words)), (*map(str, found), *(("nothing that runs changes",) * same))
            yield told("cluster-protection", name, said, grade=grade, key=found[0].key, details=details)


def _edits(old: Cluster, new: Cluster) -> Iterator[Edit]:
    if old.replacement != new.replacement:
        yield Edit("replacement", old.replacement, new.replacement)
    for key, before, after, left_out in (
        ("retireWithin", old.retire_within, new.retire_within, ""),  # Without it, `up` never warns.
        ("createWithin", old.create_within, new.create_within, f"{span(CREATE_WITHIN_S)} (default)"),
    ):
        if before != after:
            yield Edit(key, *(span(one.total_seconds()) if one else left_out for one in (before, after)))
