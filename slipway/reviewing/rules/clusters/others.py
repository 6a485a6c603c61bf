"""Clusters beside the current ones of the stack's own: those that somebody else made, that retire, or that failed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from slipway.deploying.generations.action import What
from slipway.google.live import Unknown
from slipway.model.catalog.clusters import Cluster
from slipway.model.cluster_fields import NAMES
from slipway.model.findings.finding import Grade, Subject
from slipway.reviewing.change.change import Change
from slipway.reviewing.consequence import IT, Consequence, consequence
from slipway.reviewing.rules.clusters.cluster_change import edits, ends, key_of, of_cluster, pools_of, staying
from slipway.reviewing.rules.words import jobs

_ADOPTED = "cluster-adopted"
_THEIRS = "no deployment changes or deletes it"


def adoption(change: Change) -> Iterator[Consequence]:
    before, after = change.old.clusters, change.new.clusters
    for name in dict.fromkeys((*before, *after)):
        old, new = before.get(name), after.get(name)
        same = old is not None and new is not None and old.id == new.id
        if new and new.adopted and not same:
            so = f"submissions switch to it from `{old.id}`; {_THEIRS}" if old else _THEIRS
            does, grade = f"stands for `{new.id}`, which somebody else made", Grade.WARNING if old else None
            yield of_cluster(_ADOPTED, name, does, so=so, details=pools_of(new), grade=grade, key="id")
        elif old and new and new.adopted:
            seen = [edit for edit in edits(old, new) if not edit.key.startswith(NAMES)]
            if seen:
                does = f"is told as `{new.id}` is by now"
                yield of_cluster(_ADOPTED, name, does, so=f"it is adopted: {_THEIRS}", edits=seen, key=seen[0].key)
        if old and old.adopted and not same:
            yield _left(old, change)


def _left(old: Cluster, change: Change) -> Consequence:
    lives, here = change.live.clusters, ("", change.old.region)
    # Another region may have a different cluster with that id.
    there = isinstance(lives, Unknown) or any(living.id == old.id and living.region in here for living in lives)
    so = "it is kept, as it was adopted" if there or change.live.skipped else "it is gone already"
    who, does, on_it = f"`{old.id}`", f"is not offered as {IT} any more", jobs(change.jobs_on(old.id), change.now)
    return of_cluster("cluster-left", old.name, does, who=who, so=so, details=on_it, key="")


def still_retiring(change: Change) -> Iterator[str]:
    for action in staying(change).values():
        if action.id in change.before.kept:
            yield f"`{action.id}`, an older `{action.cluster}`, {ends(action)}"


def retiring(change: Change) -> Iterator[Consequence]:
    """Find remaining clusters that were never on offer, nor kept before, as an unfinished deployment made them, or its
    catalog is lost; and those that are overdue now."""
    before = change.before.kept
    known = {*change.retiring, *(cluster.id for cluster in change.old.clusters.values())}
    for action in staying(change).values() if not change.unknown else ():
        subject = Subject("cluster", action.id)
        on_it = [f"`{job.display_name}`" for job in action.jobs]
        if action.id not in known:
            does, so = f"is taken over and {ends(action)}", "a deployment that did not finish left it"
            so = "no catalog tells of it" if change.first else so
            yield consequence("cluster-retires", subject, does, so=so, details=on_it, grade=Grade.NOTE)
        if action.overdue and not (action.id in before and before[action.id].overdue):
            so = f"it is an older `{action.cluster}`, and is paid until its jobs have ended"
            instead, field = "ask their owners, or cancel them", key_of(action.cluster, "retireWithin")
            parts: dict[str, Any] = {"so": so, "instead": instead, "details": on_it, "field": field}
            yield consequence("cluster-overdue", subject, "should be gone by now", **parts)
    for action in change.of(What.CLEAR):
        does = "failed, holds nothing and is deleted"
        error = action.living.error if action.living else ""
        yield of_cluster("cluster-cleared", action.cluster, does, who=f"`{action.id}`", so=error)
