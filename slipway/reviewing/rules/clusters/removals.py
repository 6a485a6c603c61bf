"""Clusters that go, and those that stay for a while first."""

from __future__ import annotations

from collections.abc import Iterator

from slipway.deploying.generations.action import What
from slipway.model.catalog.clusters import Cluster
from slipway.model.cluster_fields import machines_in_words
from slipway.model.findings.finding import Finding, Grade, Subject
from slipway.model.findings.kinds import KINDS
from slipway.model.prices import dollars
from slipway.reviewing.change.change import Change
from slipway.reviewing.rules.clusters.clusters import key_of, pools_of, price, scarce, told, with_month
from slipway.reviewing.rules.clusters.engine import before_creates
from slipway.reviewing.rules.clusters.succession import Succession, always, ends, fate, staying, successions
from slipway.reviewing.rules.words import have_ended, jobs, machines, named, summed


def removals(change: Change) -> Iterator[Finding]:
    for one in successions(change):
        if one.old and one.new is None:
            yield from _removed(one, one.old, change)
    yield from _retiring(change)
    for action in change.of(What.CLEAR):
        error = f" ({action.living.error})" if action.living and action.living.error else ""
        yield told("cluster-cleared", action.cluster, f"`{action.id}` failed{error}, holds nothing and is deleted")


def still_retiring(change: Change) -> Iterator[str]:
    for one in staying(change).values():
        if change.before and one.id in change.before.kept:
            yield f"`{one.id}`, an older `{one.cluster}`, {ends(one)}"


def _removed(one: Succession, old: Cluster, change: Change) -> Iterator[Finding]:
    dormant = change.new.dormant.get(one.name) if change.new else None
    why = ""
    if dormant is not None and dormant.why == "idle":
        why = ", given up for want of jobs"
    elif dormant is not None and not dormant.awaited:
        why = f", as {dormant.reason().of('it')}"
    if one.gone:
        words = f"`{one.name}` is given up{why}; it is gone already"
        yield told("cluster-deleted", one.name, words, grade=Grade.NOTE, key="")
        return
    given = machines(summed(one.held or always(old)))
    back = f"; {with_month(price(old))}, saved" if price(old).known else ""
    if given and scarce(old):
        back = f"; its {given} may not come again"
    made = (other for other in successions(change) if other.old is None and _alike(old, other.new))
    same = None if dormant else next(made, None)
    first = before_creates(old.id, change) if dormant else ""
    words, more = f"`{one.name}` {fate(one)}{why}", f"{first}: nobody can submit to it any more{back}"
    if one.failed:
        more = f"{first}: nobody can submit to it any more"
    elif same and one.retires:
        words = f"`{one.name}` can't be renamed: a second cluster, `{same.name}`, is made"
        until = have_ended(one.jobs) if one.jobs else "a later deployment"
        more = f"; both are paid, {dollars(price(old))} more, until {until}"
    elif same:
        words = f"`{one.name}` can't be renamed: it is deleted, and `{same.name}` is made"
    mild = one.failed or (dormant is not None and dormant.season == old.season)  # The stack file announced it.
    yield told(
        "cluster-cleared" if one.failed else "cluster-retires" if one.retires else "cluster-deleted",
        one.name,
        words,
        more=more,
        clause="" if same else f"`{one.name}` {'takes no new jobs' if one.retires else 'is deleted'}",
        details=(f"its id is `{old.id}`", *pools_of(old), *jobs(one.jobs, change.now)),
        grade=Grade.NOTE if mild else None if scarce(old) or same or (one.jobs and not one.retires) else Grade.WARNING,
        key="",
        cost=price(old),
    )


def _alike(old: Cluster, new: Cluster | None) -> bool:
    """Tell whether their pools have the same machines, whatever the pools' names."""
    before, after = (sorted(map(machines_in_words, one.pools)) if one else None for one in (old, new))
    return before == after


def _retiring(change: Change) -> Iterator[Finding]:
    """Find remaining clusters that were never on offer, nor kept before, as an unfinished deployment made them, or its
    catalog is lost; and those that are overdue now."""
    before = change.before.kept if change.before else {}
    known = {*change.retiring, *(one.id for one in change.old.clusters.values())} if change.old else set()
    of = "of a deployment that did not finish" if change.before else "of which no catalog tells"
    for one in staying(change).values():
        subject, on = Subject("cluster", one.id), [f"`{job.display_name}`" for job in one.jobs]
        if one.id not in known:
            words = f"`{one.id}`, {of}, is taken over and {ends(one)}"
            yield KINDS["cluster-retires"].of(subject, words, details=on, grade=Grade.NOTE)
        if one.overdue and not (one.id in before and before[one.id].overdue):
            still = f": {named(on)} still on it" if on else ""
            words = f"`{one.id}`, an older `{one.cluster}`, should be gone by now{still}"
            yield KINDS["cluster-overdue"].of(subject, words, field=key_of(one.cluster, "retireWithin"))
