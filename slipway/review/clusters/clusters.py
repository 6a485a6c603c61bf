"""What becomes of clusters: those made, those that another generation follows, those that go or stay a while."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from slipway.catalog.clusters import Cluster, DormantCluster
from slipway.catalog.withdrawal import replacing
from slipway.cluster_fields import machines_in_words
from slipway.facts import Kept
from slipway.findings.finding import Finding, Grade, Subject
from slipway.findings.kinds import KINDS
from slipway.formatting import span
from slipway.generations.action import What
from slipway.prices import Price, dollars
from slipway.review.change import Change
from slipway.review.clusters.deletions import before_creates
from slipway.review.clusters.succession import REGION, Succession, always, fate, later, successions
from slipway.review.words import Edit, have_ended, jobs, machines, named, summed

_KEY = "slipway:persistentResources"


def clusters(change: Change) -> Iterator[Finding]:
    for one in successions(change):
        if one.old is None or one.new is None:
            yield from _removed(one, change) if one.old else _created(one, change)
        elif one.stays:
            yield from _made_again(one, change)
        else:
            yield from _followed(one, one.old, one.new, change)
        yield from _finishing(one, change)
    yield from _orphans(change)
    yield from _overdue(change)
    yield from _cleared(change)


def scarce(cluster: Cluster) -> bool:
    """Machines that may not come again once they are given back."""
    return any(pool.machine.accelerator for pool in cluster.pools.values())


def price(cluster: Cluster, *, most: bool = False) -> Price:
    """USD an hour, idle or with every pool at its maximum."""
    pools = cluster.pools.values()
    return sum((pool.price_per_hour * (pool.max if most else pool.min) for pool in pools), Price())


def key_of(name: str, edits: Iterable[Edit]) -> str:
    """Where a person finds the first of them in the stack file."""
    key = next((edit.key for edit in edits), "")
    key = "alternatives" if key == REGION else key
    return key if key.startswith("gcp:") else f"{_KEY}.{name}.{key}" if key else f"{_KEY}.{name}"


def still_retiring(change: Change) -> Iterator[str]:
    """Old generations that were there before this change and stay after it."""
    before = change.before.kept if change.before else {}
    for one in _kept(change.after.kept.values() if change.after else ()):
        if one.id in before:
            yield f"`{one.id}`, an old generation of `{one.role}`, {_ends(one, change)}"


def _ends(one: Kept, change: Change) -> str:
    on = [job for job in change.jobs if job.name in one.jobs]
    return f"retires when {have_ended(on, change.now)}" if on else later(one)


def _created(one: Succession, change: Change) -> Iterator[Finding]:
    assert one.new is not None
    dormant = change.old.dormant.get(one.name) if change.old else None
    again = ""
    if dormant is not None and dormant.awaited:
        again = "; an earlier deployment could not make it"
    elif dormant is not None:
        again = "; it was given up" if dormant.why == "idle" else "; its season has begun"
    cost = dollars(price(one.new))
    already = one.there is not None
    does = f"is offered, on `{one.new.id}`, which is there already" if already else f"is made: `{one.new.id}`"
    yield KINDS["cluster-created"].of(
        Subject("cluster", one.name),
        f"`{one.name}` {does}, {cost} idle{again}",
        details=(f"`pools.{pool.name}`: {machines_in_words(pool)}" for pool in one.new.pools.values()),
        field=key_of(one.name, ()),
        cost=float(price(one.new).known),
    )


def _made_again(one: Succession, change: Change) -> Iterator[Finding]:
    """Somebody deleted it by hand; where the engine was asked, it says so."""
    assert one.new is not None
    steps = change.preview.steps if change.preview else None
    unseen = steps is not None and not any(step.op == "create" and step.name == one.new.id for step in steps)
    if one.gone and not unseen:
        who = "a deployment that did not come to its end" if _withdrawn(one, change) else "somebody"
        words = f"`{one.name}` is made again: {who} deleted `{one.new.id}`"
        yield KINDS["cluster-created"].of(Subject("cluster", one.name), words, cost=float(price(one.new).known))


def _withdrawn(one: Succession, change: Change) -> bool:
    return change.published is not None and one.name in replacing(change.published)


def _followed(one: Succession, old: Cluster, new: Cluster, change: Change) -> Iterator[Finding]:
    subject, ending = Subject("cluster", one.name), "" if one.gone else f", and `{old.id}` {fate(one, change)}"
    if one.returns:
        words, more = f"`{one.name}` goes back to `{new.id}`", f", which still lives: submissions switch to it{ending}"
        # Else somebody reverts an edit, and the machines of the newer one go.
        lost = (one.gone or one.failed) and (not one.edits or old.alternative != new.alternative)
        kind = "cluster-falls-back" if lost else "cluster-returns"
        yield KINDS[kind].of(subject, words, more=more, field=key_of(one.name, one.edits))
    elif not one.edits:
        why = "failed" if one.failed else "is not there any more" if one.gone else "can't be used any more"
        words = f"`{one.name}` is made again as `{new.id}`: `{old.id}` {why}"
        yield KINDS["cluster-created"].of(subject, words)
    elif (one.gone or one.failed) and old.alternative and not new.alternative:
        why = "failed" if one.failed else "is not there any more"
        far = f" in {old.region}" if old.region else ""
        yield KINDS["cluster-new-generation"].of(
            subject,
            f"`{one.name}` is made again, as asked for first, as `{new.id}` ({named(map(str, one.edits))}): "
            f"`{old.id}`, its alternative {old.alternative}{far}, {why}",
            field=key_of(one.name, one.edits),
            cost=float(price(new).known),
        )
    elif one.in_place:
        yield _replaced(one, old, new, change)
    else:
        if one.there:
            takes = f"submissions switch to `{new.id}`, which is there already{ending}"
        elif one.gone:
            goes_on = f"`{old.id}` went already to make room for it; " if _withdrawn(one, change) else ""
            takes = f"{goes_on}`{new.id}` is made and gets its submissions"
        else:
            takes = f"a second cluster is made, submissions switch to it{ending}"
        yield KINDS["cluster-new-generation"].of(
            subject,
            f"`{one.name}` becomes a new generation",
            more=f": {named(map(str, one.edits))} can't change in place; {takes}",
            details=map(str, one.edits) if len(one.edits) > 1 else (),
            field=key_of(one.name, one.edits),
            cost=float(price(new).known),
        )


def _replaced(one: Succession, old: Cluster, new: Cluster, change: Change) -> Finding:
    listed = jobs(one.jobs, change.now)
    back = f"; its {machines(summed(one.held))} may not come again" if one.held and scarce(old) else ""
    waits = f"; `pulumi up` refuses that until {have_ended(one.jobs, change.now)}" if listed else ""
    runs = f"`{new.id}`{' or an alternative of it' if new.instead else ''} runs"
    return KINDS["cluster-in-place"].of(
        Subject("cluster", one.name),
        f"`{one.name}` is replaced in place",
        more=f", because {named(map(str, one.edits))} can't be changed on a living cluster: `{old.id}` is deleted "
        f"first, and nobody can submit to `{one.name}` until {runs}{back}{waits}",
        details=(*(map(str, one.edits) if len(one.edits) > 1 else ()), *listed),
        grade=None if scarce(old) or scarce(new) or listed else Grade.WARNING,
        field=key_of(one.name, one.edits),
        cost=float(price(old).known),
    )


def _removed(one: Succession, change: Change) -> Iterator[Finding]:
    assert one.old is not None
    old, subject = one.old, Subject("cluster", one.name)
    dormant = change.new.dormant.get(one.name) if change.new else None
    if one.gone:
        words = f"{_why_not(one.name, dormant)}; `{old.id}` is gone already"
        yield KINDS["cluster-deleted"].of(subject, words, grade=Grade.NOTE, field=key_of(one.name, ()))
        return
    given = machines(summed(one.held or always(old)))
    back = f"; its {given} may not come again" if given and scarce(old) else f"; it gives {given} back" if given else ""
    mild = one.failed or (dormant is not None and dormant.season == old.season)  # The stack file announced it.
    idle, first = not (one.jobs or one.kept), before_creates(old.id, change) if dormant else ""
    yield KINDS["cluster-cleared" if one.failed else "cluster-retires" if one.kept else "cluster-deleted"].of(
        subject,
        _why_not(one.name, dormant),
        more=f": `{old.id}` {fate(one, change)}{first}{'' if one.failed else back}",
        details=(f"`pools.{pool.name}`: {machines_in_words(pool)}" for pool in old.pools.values()),
        grade=Grade.NOTE if mild else Grade.WARNING if idle and not scarce(old) else None,
        field=key_of(one.name, ()),
        cost=float(price(old).known),
    )


def _why_not(name: str, dormant: DormantCluster | None) -> str:
    if dormant is None:
        return f"`{name}` is not asked for any more"
    if dormant.why == "idle" and dormant.season.idle_limit:
        return f"`{name}` is given up, after {span(dormant.season.idle_limit.total_seconds())} without a job"
    return dormant.words.replace(f"cluster {name}", f"`{name}`", 1)


def _finishing(one: Succession, change: Change) -> Iterator[Finding]:
    if one.old and one.jobs and one.kept and not (one.stays or one.doomed or one.in_place):
        listed = jobs(one.jobs, change.now)
        finish = "1 job finishes" if len(listed) == 1 else f"{len(listed)} jobs finish"
        words = f"{finish} on `{one.old.id}`"
        yield KINDS["jobs-finish-on-old"].of(
            Subject("cluster", one.name), words, more=", which takes no others", details=listed
        )


def _orphans(change: Change) -> Iterator[Finding]:
    """What stays and was never offered, nor kept before: a deployment that did not finish made it, or its catalog is
    lost."""
    before = change.before
    known = (
        {*before.catalog.retiring, *before.kept, *(one.id for one in before.catalog.clusters.values())}
        if before
        else set()
    )
    of = "of a deployment that did not finish" if before else "of which no catalog tells"
    for one in _kept(change.after.kept.values() if change.after else ()):
        if one.id not in known:
            words = f"`{one.id}`, {of}, is taken over and {_ends(one, change)}"
            yield KINDS["cluster-retires"].of(
                Subject("cluster", one.id), words, details=(f"`{job}`" for job in one.jobs.values()), grade=Grade.NOTE
            )


def _overdue(change: Change) -> Iterator[Finding]:
    before = change.before.kept if change.before else {}
    for one in _kept(change.after.kept.values() if change.after else ()):
        if one.overdue and not (one.id in before and before[one.id].overdue):
            still = f": {named(f'`{job}`' for job in one.jobs.values())} still on it" if one.jobs else ""
            words = f"`{one.id}`, an old generation of `{one.role}`, should have retired by now{still}"
            yield KINDS["cluster-overdue"].of(
                Subject("cluster", one.id), words, field=f"{_KEY}.{one.role}.retireWithin"
            )


def _cleared(change: Change) -> Iterator[Finding]:
    for one in change.of(What.CLEAR):
        error = one.living.error if one.living else ""
        words = f"`{one.id}` failed{f' ({error})' if error else ''}, holds nothing and is deleted"
        yield KINDS["cluster-cleared"].of(Subject("cluster", one.cluster), words)


def _kept(all_kept: Iterable[Kept]) -> Iterator[Kept]:
    return (one for one in all_kept if one.kind == "cluster")
