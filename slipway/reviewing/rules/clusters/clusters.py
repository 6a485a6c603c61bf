"""Clusters that are made, and those with a new generation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from slipway.model.catalog.clusters import Cluster
from slipway.model.catalog.withdrawal import replacing
from slipway.model.cluster_fields import machines_in_words
from slipway.model.findings.finding import Finding, Grade, Subject
from slipway.model.findings.kinds import KINDS
from slipway.model.machines.price_tables import HOURS_OF_A_MONTH
from slipway.model.prices import Price, dollars
from slipway.reviewing.change.change import Change
from slipway.reviewing.rules.clusters.succession import (
    Succession,
    fate,
    staying,
    successions,
)
from slipway.reviewing.rules.words import LONGEST, have_ended, jobs, machines, several, summed

_WASTE = 10
"""USD an hour, some $7,300 a month, that nobody should pay for an edit of a name or a label."""
_LONGEST_EDIT = 60


def clusters(change: Change) -> Iterator[Finding]:
    for one in successions(change):
        if one.new and one.old is None:
            yield _created(one, one.new, change)
        elif one.new and one.stays:
            yield from _made_again(one, one.new, change)
        elif one.new and one.old:
            yield _followed(one, one.old, one.new, change)
        yield from _unchecked_key(one, change)
        if one.old and one.jobs and one.retires and not (one.stays or one.in_place):
            listed = jobs(one.jobs, change.now)
            old = "the old cluster" if one.new else f"`{one.name}`"
            words = f"{'1 job finishes' if len(listed) == 1 else f'{len(listed)} jobs finish'} on {old}"
            yield told("jobs-finish-on-old", one.name, f"{words}, which takes no new ones", details=listed)


def told(
    kind: str,
    name: str,
    words: str,
    *,
    more: str = "",
    clause: str = "",
    details: Iterable[str] = (),
    grade: Grade | None = None,
    key: str | None = None,
    cost: Price | None = None,
) -> Finding:
    """Return a finding of a cluster. `key`, below its entry, caused it; empty for the whole entry. `cost`: USD an
    hour."""
    amount, field = float(cost.known) if cost else 0.0, "" if key is None else key_of(name, key)
    subject = Subject("cluster", name)
    return KINDS[kind].of(
        subject, words, more=more, clause=clause, details=details, grade=grade, field=field, cost=amount
    )


def key_of(name: str, key: str) -> str:
    return key if key.startswith("gcp:") else f"slipway:persistentResources.{name}.{key}".rstrip(".")


def scarce(cluster: Cluster) -> bool:
    return any(pool.machine.accelerator for pool in cluster.pools)


def price(cluster: Cluster, *, most: bool = False) -> Price:
    """Return USD an hour, idle or with every pool at its maximum."""
    return sum((pool.price_per_hour * (pool.max if most else pool.min) for pool in cluster.pools), Price())


def pools_of(cluster: Cluster) -> tuple[str, ...]:
    return tuple(f"`pools.{pool.name}`: {machines_in_words(pool)}" for pool in cluster.pools)


def _created(one: Succession, new: Cluster, change: Change) -> Finding:
    dormant = change.old.dormant.get(one.name) if change.old else None
    again = ""
    if dormant is not None and dormant.awaited:
        again = ", which an earlier deployment could not make"
    elif dormant is not None:
        again = ", which was given up" if dormant.why == "idle" else ", as its season has begun"
    does = f"is offered{again}; it is there already" if one.there else f"is made{again}"
    return told(
        "cluster-created",
        one.name,
        f"`{one.name}` {does}",
        more=f"; {costs(new)}",
        details=(f"its id is `{new.id}`", *pools_of(new)),
        key="",
        cost=price(new),
    )


def costs(cluster: Cluster) -> str:
    """Return `with nothing running it costs $2.35/h, $1,719 a month`."""
    hourly = price(cluster)
    if hourly.known:
        return f"with nothing running it costs {with_month(hourly)}"
    return "idle it costs nothing" if hourly.complete else "what it costs is in no price list"


def with_month(hourly: Price) -> str:
    """Return `$2.35/h, $1,719 a month`."""
    monthly = f", ${hourly.known * HOURS_OF_A_MONTH:,.0f} a month" if hourly.known else ""
    return f"{dollars(hourly)}{monthly}"


def _unchecked_key(one: Succession, change: Change) -> Iterator[Finding]:
    """Find a key that no deployed cluster has, of a cluster to be made."""
    key = one.new.kms_key if one.new and not (one.stays or one.there) else ""
    if key and not any(cluster.kms_key == key for cluster in (change.old.clusters.values() if change.old else ())):
        yield told(
            "key-unchecked",
            one.name,
            f"`{one.name}` can't be made unless Vertex AI's service agent may use key `{key.rpartition('/')[2]}`",
            more=": nobody looked; ask whoever owns the key",
            clause=f"nobody looked whether Vertex AI may use the key of `{one.name}`",
            details=(f"the key is `{key}`",),
            key="encryption.kmsKey",
        )


def _made_again(one: Succession, new: Cluster, change: Change) -> Iterator[Finding]:
    steps = change.preview.steps if change.preview else None
    unseen = steps is not None and not any(step.op == "create" and step.name == new.id for step in steps)
    if one.gone and not unseen:
        yield told("cluster-created", one.name, _again(one, change), more=f"; {costs(new)}", cost=price(new))


def _again(one: Succession, change: Change) -> str:
    who = "a deployment that did not come to its end" if one.name in _withdrawn(change) else "somebody"
    return f"`{one.name}` is made again: {who} deleted it"


def _withdrawn(change: Change) -> frozenset[str]:
    return replacing(change.published) if change.published else frozenset()


def _followed(one: Succession, old: Cluster, new: Cluster, change: Change) -> Finding:
    ending = "" if one.gone else f", and the newer one {fate(one)}"
    lost = one.gone or one.failed
    edited = several(map(str, one.edits))
    if one.returns:
        # Otherwise the edit is a revert, and the machines of the newer one go.
        fell = lost and (not one.edits or old.alternative != new.alternative)
        kind, words = "cluster-falls-back" if fell else "cluster-returns", f"`{one.name}` goes back to an older cluster"
        more = f" that still lives: new jobs go there{ending}"
        return told(kind, one.name, words, more=more, details=(f"its id is `{new.id}`",), key=one.key)
    if one.failed or not one.edits:
        why = "failed" if one.failed else "can't be used any more"
        words = _again(one, change) if one.gone else f"`{one.name}` is made again: the one that is there {why}"
        kind = "cluster-new-generation" if one.edits else "cluster-created"
        grade = Grade.NOTE if one.failed and not one.gone else None  # It was deployed, and only its cost returns.
        more = f"; {costs(new)}"
        return told(kind, one.name, words, more=more, details=edited, grade=grade, key=one.key, cost=price(new))
    if one.gone:
        again = ", as asked for first" if old.alternative and not new.alternative else ""
        words = f"{_again(one, change)}{again}"
        return told(
            "cluster-new-generation",
            one.name,
            words,
            more=f"; {costs(new)}",
            details=edited,
            key=one.key,
            cost=price(new),
        )
    return _replaced(one, old, new, change) if one.in_place else _beside(one, new, change)


def _beside(one: Succession, new: Cluster, change: Change) -> Finding:
    """Return the finding of a second cluster for an edit: a living one can't change."""
    edit = str(one.edits[0]) if len(one.edits) == 1 else f"{len(one.edits)} fields"
    edit = edit if len(edit) <= _LONGEST_EDIT else f"`{one.edits[0].key}`"
    older = [each for each in staying(change).values() if each.cluster == one.name and each.living]
    count, both = {2: ("third", "all three"), 3: ("fourth", "all four")}.get(len(older), ("second", "both"))
    takes = "is there already, and takes the new jobs" if one.there else f"must be made for {edit}"
    words, more = f"A {count} `{one.name}` {takes}", price(new)
    why, paid, instead = ", as a living cluster can't change", f"; the old one {fate(one, 'then')}", ""
    clause = f"a {count} `{one.name}` {'takes over' if one.there else 'is made beside the old one'}"
    wasteful = one.retires and one.jobs and more.known >= _WASTE and not one.of_machines
    if one.retires:
        on_them = {job.name: job for each in older for job in each.jobs} | {job.name: job for job in one.jobs}
        until = have_ended(on_them.values(), "") if on_them else "a later deployment"
        costs_more = "" if one.there or not more.known else f", {dollars(more)} more"
        paid, clause = f"; {both} are paid{costs_more}, until {until}", f"{clause}{costs_more}"
    if wasteful:
        why, instead = "", "; merged after that, nothing is paid twice"
    longest = len(f"{words}{why}{paid}{instead}".split()) > LONGEST
    return told(
        "cluster-new-generation",
        one.name,
        words,
        more=f"{'' if longest else why}{paid}{'' if longest else instead}",
        clause=clause,
        details=(
            *several(map(str, one.edits)),
            f"`{new.id}` {'is there' if one.there else 'is made'}, and `{one.old_id}` {fate(one)}",
        ),
        grade=Grade.BLOCKING if wasteful and not any(e.key == "generation" for e in one.edits) else None,
        key=one.key,
        cost=more if one.retires and not one.there else None,
    )


def _replaced(one: Succession, old: Cluster, new: Cluster, change: Change) -> Finding:
    listed = jobs(one.jobs, change.now)
    held = machines(summed(one.held))
    back = f", and its {held} may not come again" if held and scarce(old) else ""
    waits = f"; `up` refuses that until {have_ended(one.jobs)}" if listed and one.retires else ""
    return told(
        "cluster-in-place",
        one.name,
        f"`{one.name}` is deleted first, then made anew",
        more=f": nobody can submit in between{back}{waits}",
        details=(*map(str, one.edits), *listed),
        grade=None if scarce(old) or scarce(new) or listed else Grade.WARNING,
        key=one.key,
        cost=price(old),
    )
