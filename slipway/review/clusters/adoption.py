"""Clusters that somebody else made: nothing happens to one, but people may submit to it from now on, or no more."""

from __future__ import annotations

from collections.abc import Iterator

from slipway.catalog.clusters import Cluster
from slipway.cluster_fields import NAMES, machines_in_words
from slipway.findings.finding import Finding, Grade
from slipway.live import Unknown
from slipway.review.change import Change
from slipway.review.clusters.clusters import told
from slipway.review.clusters.succession import edits
from slipway.review.words import Edit, jobs, named


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
    details = (f"`pools.{pool.name}`: {machines_in_words(pool)}" for pool in new.pools.values())
    id_, grade = (Edit("id", "", new.id),), Grade.WARNING if old else None
    yield told("cluster-adopted", new.name, words, details=details, grade=grade, edits=id_)


def _told_anew(old: Cluster, new: Cluster) -> Iterator[Finding]:
    seen = [edit for edit in edits(old, new) if not edit.key.startswith(NAMES)]
    if seen:
        words = f"`{new.name}` is told as `{new.id}` is by now, adopted and unchanged: {named(map(str, seen))}"
        yield told("cluster-adopted", new.name, words, edits=seen)


def _left(old: Cluster, change: Change) -> Finding:
    on = jobs(change.jobs_on(old.id), change.now)
    lives = change.live.clusters
    # Another region may have one of that id, which is not it.
    here = ("", change.old.region if change.old else "")
    there = isinstance(lives, Unknown) or any(one.id == old.id and one.region in here for one in lives)
    gone = not (there or change.live.skipped)
    runs = f", and so {'is the job' if len(on) == 1 else f'are the {len(on)} jobs'} on it" if on else ""
    fate = "is gone already" if gone else f"is kept, as it was adopted{runs}"
    words = f"`{old.id}` is not offered as `{old.name}` any more, and {fate}"
    return told("cluster-left", old.name, words, details=on, edits=())
