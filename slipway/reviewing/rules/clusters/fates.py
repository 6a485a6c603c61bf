"""Fates of clusters: of the current ones under a name, of those that somebody else made, and of retiring ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from slipway.base.formatting import last_part, short
from slipway.deploying.engine.preview import UNKNOWN, EngineStep, Preview
from slipway.deploying.generations.action import What
from slipway.model.cluster_fields import CLUSTER
from slipway.model.findings.finding import Grade, Subject
from slipway.reviewing.change.change import Change
from slipway.reviewing.change.edits import Edit
from slipway.reviewing.change.usual import DEAR
from slipway.reviewing.consequence import Consequence
from slipway.reviewing.rules.clusters import cluster_change as of
from slipway.reviewing.rules.clusters.cluster_change import ClusterChange, held_up, key_of, of_cluster, price
from slipway.reviewing.rules.clusters.machines import new_machines
from slipway.reviewing.rules.clusters.pools import pools
from slipway.reviewing.rules.table import ROWS, RowName, by_row, say
from slipway.reviewing.rules.words import have_ended, in_backticks, jobs, machines, owned

_OF_MACHINES = ("pools.", "region", "gcp:")
"""The beginnings of keys whose edits ask for other machines, another number of them, or another place."""
_COMING, _GOING = ("found", "beside"), ("removed", "in-place")
"""Groups of fates in the table, by the side whose price they have."""
_AGENT, _KEY_USER = "@gcp-sa-aiplatform.", "roles/cloudkms.cryptoKeyEncrypterDecrypter"
_NEEDS: Mapping[str, RowName] = {
    "encryption.kmsKey": "needs-key",
    "network": "needs-network",
    "reservedIpRanges": "needs-ranges",
    "pscInterface.networkAttachment": "needs-attachment",
    "pscInterface.dnsPeeringConfigs": "needs-dns-peering",
}
"""By field, the row of a cluster that has another value."""


def clusters(change: Change) -> Iterator[Consequence]:
    """Yield all that happens to the clusters of the stack's own, one name after another."""
    listed = of.cluster_changes(change)
    steps = change.preview.steps if change.preview else None
    made = {step.name for step in steps or () if step.op == "create"}
    for cluster in listed:
        fate = _fate(cluster, change)
        group = ROWS[fate]["of"]
        # An unchanged cluster that is gone is made again, if the engine says so where it was asked.
        again = cluster.gone and cluster.new is not None and (steps is None or cluster.new.id in made)
        if not cluster.stays or again:
            by_time = (cluster.dormant_before or cluster.dormant_after) and not cluster.edits
            paid = cluster.new if group in _COMING else cluster.old if group in _GOING else None
            yield of_cluster(
                fate,
                cluster.name,
                as_kind=_kind(cluster, group),
                edits=cluster.edits_of_entry,
                details=_details(cluster, group, change),
                grade=_grade(cluster, group),
                key=None if cluster.stays or by_time else cluster.key,
                cost=price(paid) if paid else None,
                **_values(cluster, change),
            )
        yield from _needed(cluster, change)
        busy = cluster.jobs and cluster.retires
        if busy and not (cluster.in_place or cluster.name in held_up(change)):
            on_it = jobs(cluster.jobs, change.now)
            yield of_cluster("jobs-finish-on-old", cluster.name, details=on_it, failed=cluster.failed)
    yield from new_machines(listed, change)
    yield from pools(listed, change)


def _fate(cluster: ClusterChange, change: Change) -> RowName:
    old, new, dormant = cluster.old, cluster.new, cluster.dormant_before
    if new is None:
        return "fate-gone" if cluster.gone or cluster.failed else "fate-removed"
    if old is None:
        awaited = dormant is not None and (dormant.awaited or dormant.why == "idle")
        return "fate-season" if dormant and new.season.begins and not awaited else "fate-made"
    if cluster.returns:
        return "fate-returns"
    if cluster.gone:
        return "fate-by-hand"
    if cluster.failed or not cluster.edits:
        return "fate-failed"
    return "fate-in-place" if cluster.in_place else "fate-beside"


def _wasted(cluster: ClusterChange) -> bool:
    """Tell whether jobs run and no machine changes: an edit that could wait."""
    can_wait = not any(edit.key.startswith(("generation", *_OF_MACHINES)) for edit in cluster.edits)
    return bool(cluster.jobs and cluster.retires and can_wait and not cluster.new_in_cloud)


def _kind(cluster: ClusterChange, group: str) -> str:
    """Return the kind of a fate where it is not its row's."""
    old, new, lost = cluster.old, cluster.new, cluster.gone or cluster.failed
    # Otherwise the edit is a revert, and the machines of the newer one go.
    falls_back = lost and old and new and (not cluster.edits or old.alternative != new.alternative)
    kinds = {
        "found": "cluster-new-generation" if old and cluster.edits else "",
        "gone": "cluster-cleared" if cluster.failed else "",
        "removed": "cluster-retires" if cluster.retires else "",
        "revived": "cluster-falls-back" if falls_back else "",
    }
    return kinds.get(group, "")


def _values(cluster: ClusterChange, change: Change) -> Mapping[str, Any]:
    old, new, dormant = cluster.old, cluster.new, cluster.dormant_after
    brief = [str(_brief(edit)) for edit in cluster.edits_of_entry]
    keys = ["alternatives"] if cluster.reordered else [edit.key.rpartition(".")[2] for edit in cluster.edits]
    older = [each for each in of.staying(change).values() if each.cluster == cluster.name and each.living]
    held = cluster.held or (old.minimum_machines if old and new is None else ())
    return {
        "costs": of.costs(new) if new else "",
        "edit": brief[0] if len(brief) == 1 else "",
        "keys": in_backticks(dict.fromkeys(keys)),
        "wasted": _wasted(cluster),
        "held": cluster.name in held_up(change),
        "end": _end(cluster, change),
        "busy": cluster.jobs and cluster.retires,
        "paid": cluster.retires and cluster.held,
        "there": cluster.new_in_cloud,
        "older": older[1:],
        "ended": have_ended(cluster.jobs),
        "lost": owned(cluster.jobs),
        "found": machines(new.minimum_machines) if new else "",
        "unique": machines(held) if old and old.scarce else "",
        "adopted": new is None and cluster.name in change.new.clusters,
        "state": dormant.reason().state if dormant and not dormant.awaited else "",
        "idle": dormant and dormant.why == "idle",
    }


def _brief(edit: Edit) -> Edit:
    """Return an edit without the parts of full names that are the same on both sides."""
    sides = [edit.before, edit.after]
    if all(side.startswith("projects/") for side in sides) and len({*map(last_part, sides)}) > 1:
        sides = [*map(last_part, sides)]
    return Edit(edit.key, *(short(side, 24) for side in sides))


def _end(cluster: ClusterChange, change: Change) -> str:
    """Return the end of the old cluster, after its name: `is deleted when … has ended`."""
    return say(
        "fate-end",
        gone=cluster.gone,
        failed=cluster.failed,
        held=cluster.name in held_up(change),
        retires=of.ends(cluster.retires) if cluster.retires else "",
        busy=bool(cluster.jobs),
        read=cluster.read,
    )


def _details(cluster: ClusterChange, group: str, change: Change) -> Iterator[str]:
    old, new = cluster.old, cluster.new
    if group == "beside" and old:
        yield f"`{old.id}` {_end(cluster, change)}"
    elif only := new if old is None or group == "revived" else None if new else old:
        yield from (say("cluster-id", id=only.id), *of.pools_of(only))
    if new and (cluster.in_place or cluster.gone):
        yield from jobs(cluster.jobs, change.now)


def _grade(cluster: ClusterChange, group: str) -> Grade | None:
    old, new, dormant = cluster.old, cluster.new, cluster.dormant_after
    if group == "beside" and _wasted(cluster) and new and price(new).known >= DEAR:
        return Grade.BLOCKING
    if group == "found" and old and cluster.jobs:
        return Grade.WARNING
    if group == "removed" and dormant and old and dormant.season == old.season:
        return Grade.NOTE  # The stack file announced it.
    harmless = not cluster.jobs or (group == "removed" and cluster.retires)
    return Grade.WARNING if group in _GOING and harmless and not cluster.scarce else None


def is_lent(key: str, preview: Preview) -> bool:
    """Return whether the program itself lets Vertex AI's service agent use a key."""
    changed = {step.urn for step in preview.steps}
    kept = [step.old for urn, step in preview.standing.items() if urn not in changed and _grants_keys(step)]
    for granted in (*kept, *(step.new for step in preview.steps if _grants_keys(step))):
        given = granted.inputs if granted else {}
        members = (given.get("member"), *(given.get("members") or ()))
        to_agent = any(_AGENT in str(member) for member in members)
        if to_agent and given.get("role") == _KEY_USER and given.get("cryptoKeyId") in (key, UNKNOWN):
            return True
    return False


def _lends(change: Change, was: str, key: str) -> bool:
    """Return whether a change sets the first key, and its program grants the use of that key."""
    return not was and change.preview is not None and is_lent(key, change.preview)


def _grants_keys(step: EngineStep) -> bool:
    return step.type.startswith("gcp:kms/cryptoKeyIAM")


def _needed(cluster: ClusterChange, change: Change) -> Iterator[Consequence]:
    """Find what a cluster to be made needs besides machines, as no deployed one does, and what its edit takes away."""
    if cluster.new is None or cluster.stays or cluster.new_in_cloud:
        return
    for field in CLUSTER:
        was, value = (field.words(side) if side else "" for side in (cluster.old, cluster.new))
        known = value and any(field.words(deployed) == value for deployed in change.old.clusters.values())
        row = _NEEDS.get(field.key)
        if row and was != value and not known and not (field.key == "encryption.kmsKey" and _lends(change, was, value)):
            row = row if value else "cluster-loses"
            new, old = last_part(value), last_part(was)
            details = () if cluster.old else (f"`{value}`",)
            parts: Mapping[str, Any] = {"what": field.key, "value": new, "was": old, "details": details}
            yield of_cluster(row, cluster.name, part=field.key, key=field.key, **parts)


def adoption(change: Change) -> Iterator[Consequence]:
    before, after = change.old.clusters, change.new.clusters
    for name in dict.fromkeys((*before, *after)):
        old, new = before.get(name), after.get(name)
        same = old is not None and new is not None and old.id == new.id
        if new and new.adopted and not same:
            was, grade = (old.id, Grade.WARNING) if old else ("", None)
            details = of.pools_of(new)
            yield of_cluster("cluster-adopted", name, id=new.id, old=was, grade=grade, details=details, key="id")
        if old and old.adopted and not same:
            on_it = jobs(change.jobs_on(old.id), change.now)
            yield of_cluster("cluster-left", name, id=old.id, details=on_it, key="")


def still_retiring(change: Change) -> Iterator[str]:
    for action in of.staying(change).values():
        if action.id in change.before.kept:
            yield f"`{action.id}` {of.ends(action)}"


def retiring(change: Change) -> Iterator[Consequence]:
    """Find remaining clusters that were never on offer, nor kept before, as an unfinished deployment made them, or its
    catalog is lost; and those that are overdue now."""
    before = change.before.kept
    old = (*change.old.clusters.values(), *change.old.dormant.values())
    known = {*change.retiring, *(cluster.id for cluster in old)}
    for action in of.staying(change).values() if not change.unknown else ():
        subject = Subject("cluster", action.id)
        on_it = [f"`{job.display_name}`" for job in action.jobs]
        if action.id not in known:
            yield by_row("taken-over", subject, end=of.ends(action), details=on_it)
        # One that was current until now has no limit behind it.
        current = change.old.cluster_named(action.id)
        if action.overdue and not (current or (action.id in before and before[action.id].overdue)):
            field = key_of(action.cluster, "retireWithin")
            yield by_row("cluster-overdue", subject, end=of.ends(action), details=on_it, field=field)
    for action in change.of(What.CLEAR):
        error = action.living.error if action.living else ""
        yield of_cluster("cleared-failed", action.cluster, id=action.id, error=error)
