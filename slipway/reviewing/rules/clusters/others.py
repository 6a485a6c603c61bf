"""Clusters beside the current ones of the stack's own: those that somebody else made, that retire, or that failed."""

from __future__ import annotations

from collections.abc import Iterator

from slipway.deploying.generations.action import What
from slipway.google.live import Unknown
from slipway.model.cluster_fields import NAMES
from slipway.model.findings.finding import Subject
from slipway.reviewing.change.change import Change
from slipway.reviewing.consequence import Consequence
from slipway.reviewing.rules.clusters.cluster_change import edits, ends, key_of, of_cluster, pools_of, staying
from slipway.reviewing.rules.table import by_row
from slipway.reviewing.rules.words import jobs


def adoption(change: Change) -> Iterator[Consequence]:
    before, after = change.old.clusters, change.new.clusters
    for name in dict.fromkeys((*before, *after)):
        old, new = before.get(name), after.get(name)
        same = old is not None and new is not None and old.id == new.id
        if new and new.adopted and not same:
            row, was = ("cluster-adopted-instead", old.id) if old else ("cluster-adopted", "")
            yield of_cluster(row, name, id=new.id, old=was, details=pools_of(new), key="id")
        elif old and new and new.adopted:
            seen = [edit for edit in edits(old, new) if not edit.key.startswith(NAMES)]
            if seen:
                yield of_cluster("cluster-adopted-otherwise", name, id=new.id, edits=seen, key=seen[0].key)
        if old and old.adopted and not same:
            lives, here = change.live.clusters, ("", change.old.region)
            # Another region may have a different cluster with that id.
            there = isinstance(lives, Unknown) or any(each.id == old.id and each.region in here for each in lives)
            row, on_it = "cluster-left" if there or change.live.skipped else "cluster-left-gone", change.jobs_on(old.id)
            yield of_cluster(row, name, id=old.id, details=jobs(on_it, change.now), key="")


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
            row = "taken-over-at-first" if change.first else "taken-over"
            yield by_row(row, subject, end=ends(action), details=on_it)
        if action.overdue and not (action.id in before and before[action.id].overdue):
            field = key_of(action.cluster, "retireWithin")
            yield by_row("cluster-overdue", subject, cluster=action.cluster, details=on_it, field=field)
    for action in change.of(What.CLEAR):
        error = action.living.error if action.living else ""
        yield of_cluster("cleared-failed", action.cluster, id=action.id, error=error)
