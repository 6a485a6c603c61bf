"""Clusters that are made, that another generation follows, that go or stay a while."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from slipway.catalog.clusters import Cluster
from slipway.catalog.withdrawal import replacing
from slipway.cluster_fields import machines_in_words
from slipway.findings.finding import Finding, Grade, Subject
from slipway.findings.kinds import KINDS
from slipway.generations.action import What
from slipway.prices import Price, dollars
from slipway.review.change import Change
from slipway.review.clusters.engine import before_creates
from slipway.review.clusters.succession import Succession, always, ends, fate, staying, successions
from slipway.review.words import have_ended, jobs, machines, named, several, summed


def clusters(change: Change) -> Iterator[Finding]:
    for one in successions(change):
        if one.new is None:
            yield from _removed(one, one.old, change) if one.old else ()
        elif one.old is None:
            yield _created(one, one.new, change)
        elif one.stays:
            yield from _made_again(one, one.new, change)
        else:
            yield _followed(one, one.old, one.new, change)
        if one.old and one.jobs and one.retires and not (one.stays or one.doomed or one.in_place):
            listed = jobs(one.jobs, change.now)
            words = f"{'1 job finishes' if len(listed) == 1 else f'{len(listed)} jobs finish'} on `{one.old.id}`"
            yield told("jobs-finish-on-old", one.name, words, more=", which takes no others", details=listed)
    yield from _retiring(change)
    for action in change.of(What.CLEAR):
        error = f" ({action.living.error})" if action.living and action.living.error else ""
        yield told("cluster-cleared", action.cluster, f"`{action.id}` failed{error}, holds nothing and is deleted")


def told(
    kind: str,
    name: str,
    words: str,
    *,
    more: str = "",
    details: Iterable[str] = (),
    grade: Grade | None = None,
    key: str | None = None,
    cost: Price | None = None,
) -> Finding:
    """A finding of a cluster. `key`, below its entry, did it; empty for the entry as a whole. `cost`: USD an hour."""
    amount, field = float(cost.known) if cost else 0.0, "" if key is None else key_of(name, key)
    subject = Subject("cluster", name)
    return KINDS[kind].of(subject, words, more=more, details=details, grade=grade, field=field, cost=amount)


def key_of(name: str, key: str) -> str:
    return key if key.startswith("gcp:") else f"slipway:persistentResources.{name}.{key}".rstrip(".")


def scarce(cluster: Cluster) -> bool:
    return any(pool.machine.accelerator for pool in cluster.pools.values())


def price(cluster: Cluster, *, most: bool = False) -> Price:
    """USD an hour, idle or with every pool at its maximum."""
    pools = cluster.pools.values()
    return sum((pool.price_per_hour * (pool.max if most else pool.min) for pool in pools), Price())


def pools_of(cluster: Cluster) -> tuple[str, ...]:
    return tuple(f"`pools.{pool.name}`: {machines_in_words(pool)}" for pool in cluster.pools.values())


def still_retiring(change: Change) -> Iterator[str]:
    for one in staying(change).values():
        if change.before and one.id in change.before.kept:
            yield f"`{one.id}`, an old generation of `{one.cluster}`, {ends(one, change)}"


def _created(one: Succession, new: Cluster, change: Change) -> Finding:
    dormant = change.old.dormant.get(one.name) if change.old else None
    again = ""
    if dormant is not None and dormant.awaited:
        again = "; an earlier deployment could not make it"
    elif dormant is not None:
        again = "; it was given up" if dormant.why == "idle" else "; its season has begun"
    does = f"is offered, on `{new.id}`, which is there already" if one.there else f"is made: `{new.id}`"
    words = f"`{one.name}` {does}, {dollars(price(new))} idle{again}"
    return told("cluster-created", one.name, words, details=pools_of(new), key="", cost=price(new))


def _made_again(one: Succession, new: Cluster, change: Change) -> Iterator[Finding]:
    steps = change.preview.steps if change.preview else None
    unseen = steps is not None and not any(step.op == "create" and step.name == new.id for step in steps)
    if one.gone and not unseen:
        who = "a deployment that did not come to its end" if one.name in _withdrawn(change) else "somebody"
        words = f"`{one.name}` is made again: {who} deleted `{new.id}`"
        yield told("cluster-created", one.name, words, cost=price(new))


def _withdrawn(change: Change) -> frozenset[str]:
    return replacing(change.published) if change.published else frozenset()


def _followed(one: Succession, old: Cluster, new: Cluster, change: Change) -> Finding:
    ending = "" if one.gone else f", and `{old.id}` {fate(one, change)}"
    why = "failed" if one.failed else "is not there any more" if one.gone else "can't be used any more"
    lost = one.gone or one.failed
    if one.returns:
        # Else somebody reverts an edit, and the machines of the newer one go.
        fell = lost and (not one.edits or old.alternative != new.alternative)
        kind, words = "cluster-falls-back" if fell else "cluster-returns", f"`{one.name}` goes back to `{new.id}`"
        more = f", which still lives: submissions switch to it{ending}"
        return told(kind, one.name, words, more=more, key=one.key)
    if not one.edits:
        return told("cluster-created", one.name, f"`{one.name}` is made again as `{new.id}`: `{old.id}` {why}")
    if lost and old.alternative and not new.alternative:
        words = f"`{one.name}` is made again, as asked for first, as `{new.id}`: `{old.id}`, an alternative, {why}"
        return told("cluster-new-generation", one.name, words, key=one.key, cost=price(new))
    if one.in_place:
        return _replaced(one, old, new, change)
    takes = f"a second cluster is made, submissions switch to it{ending}"
    if one.there:
        takes = f"submissions switch to `{new.id}`, which is there already{ending}"
    elif one.gone:
        goes_on = f"`{old.id}` went already to make room for it; " if one.name in _withdrawn(change) else ""
        takes = f"{goes_on}`{new.id}` is made and gets its submissions"
    return told(
        "cluster-new-generation",
        one.name,
        f"`{one.name}` becomes a new generation",
        more=f": {named(map(str, one.edits))} can't change in place; {takes}",
        details=several(map(str, one.edits)),
        key=one.key,
        cost=price(new),
    )


def _replaced(one: Succession, old: Cluster, new: Cluster, change: Change) -> Finding:
    listed = jobs(one.jobs, change.now)
    back = f"; its {machines(summed(one.held))} may not come again" if one.held and scarce(old) else ""
    waits = f"; `pulumi up` refuses that until {have_ended(one.jobs, change.now)}" if listed else ""
    runs = f"`{new.id}`{' or an alternative of it' if new.instead else ''} runs"
    return told(
        "cluster-in-place",
        one.name,
        f"`{one.name}` is replaced in place",
        more=f", because {named(map(str, one.edits))} can't be changed on a living cluster: `{old.id}` is deleted "
        f"first, and nobody can submit to `{one.name}` until {runs}{back}{waits}",
        details=(*several(map(str, one.edits)), *listed),
        grade=None if scarce(old) or scarce(new) or listed else Grade.WARNING,
        key=one.key,
        cost=price(old),
    )


def _removed(one: Succession, old: Cluster, change: Change) -> Iterator[Finding]:
    dormant = change.new.dormant.get(one.name) if change.new else None
    why = f"`{one.name}` is not asked for any more"
    if dormant is not None and dormant.why == "idle":
        why = f"`{one.name}` is given up, as it had no job for its `idleLimit`"
    elif dormant is not None:
        why = dormant.words.replace(f"cluster {one.name}", f"`{one.name}`", 1)
    if one.gone:
        yield told("cluster-deleted", one.name, f"{why}; `{old.id}` is gone already", grade=Grade.NOTE, key="")
        return
    given = machines(summed(one.held or always(old)))
    back = f"; its {given} may not come again" if given and scarce(old) else f"; it gives {given} back" if given else ""
    mild = one.failed or (dormant is not None and dormant.season == old.season)  # The stack file announced it.
    idle, first = not (one.jobs or one.retires), before_creates(old.id, change) if dormant else ""
    yield told(
        "cluster-cleared" if one.failed else "cluster-retires" if one.retires else "cluster-deleted",
        one.name,
        why,
        more=f": `{old.id}` {fate(one, change)}{first}{'' if one.failed else back}",
        details=pools_of(old),
        grade=Grade.NOTE if mild else Grade.WARNING if idle and not scarce(old) else None,
        key="",
        cost=price(old),
    )


def _retiring(change: Change) -> Iterator[Finding]:
    """Clusters that stay and were never offered, nor kept before, as a deployment that did not finish made them, or its
    catalog is lost; and those that are overdue now."""
    before = change.before.kept if change.before else {}
    known = {*change.retiring, *(one.id for one in change.old.clusters.values())} if change.old else set()
    of = "of a deployment that did not finish" if change.before else "of which no catalog tells"
    for one in staying(change).values():
        subject, on = Subject("cluster", one.id), [f"`{job.display_name}`" for job in one.jobs]
        if one.id not in known:
            words = f"`{one.id}`, {of}, is taken over and {ends(one, change)}"
            yield KINDS["cluster-retires"].of(subject, words, details=on, grade=Grade.NOTE)
        if one.overdue and not (one.id in before and before[one.id].overdue):
            still = f": {named(on)} still on it" if on else ""
            words = f"`{one.id}`, an old generation of `{one.cluster}`, should have retired by now{still}"
            yield KINDS["cluster-overdue"].of(subject, words, field=key_of(one.cluster, "retireWithin"))
