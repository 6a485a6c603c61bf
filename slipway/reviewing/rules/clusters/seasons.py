"""Seasons of clusters, before and after, and what later deployments do by themselves because of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime, timedelta

from slipway.base.formatting import join, span
from slipway.deploying.deployment.schedule import dates, prepared
from slipway.google.jobs import last_ends
from slipway.google.live import Unknown
from slipway.google.quota.seasons import Readiness
from slipway.model.catalog.clusters import Cluster, DormantCluster
from slipway.model.catalog.model import Catalog
from slipway.model.cluster_fields import machines_in_words
from slipway.model.findings.finding import Finding, Grade
from slipway.model.findings.kinds import AWAITS
from slipway.model.season import Season, moment_in_words
from slipway.reviewing.change.change import UNASKED, Change
from slipway.reviewing.change.edits import Edit
from slipway.reviewing.rules.clusters.clusters import costs, pools_of, told
from slipway.reviewing.rules.clusters.options import alike
from slipway.reviewing.rules.clusters.succession import edits
from slipway.reviewing.rules.words import in_words

_SOON = timedelta(days=7)
"""A cluster that ends sooner is taken from people who have jobs in hand."""


_ENDED = {
    "from": "is not dated any more",
    "until": "has no end any more",
    "idleLimit": "is not deleted any more for want of jobs",
}


def seasons(change: Change) -> Iterator[Finding]:
    """Find changed dates, with the events that they bring, and changes of a dormant cluster."""
    if change.new is None:
        return
    before, after = _all(change.old), _all(change.new)
    coming = _coming(change)
    for name in dict.fromkeys((*before, *after)):
        old, new = before.get(name), after.get(name)
        if old is not None and new is not None:
            yield from _changed(old, new, coming.get(name, ()), change.now)
            yield from _waits(old, new)
        elif isinstance(new, DormantCluster):
            when = moment_in_words(new.season.begins) if new.season.begins else "later"
            words = f"`{name}` is made {when}: from then on, {costs(new)}"
            follows = (new.words, *(_follows(new.season) if new.comes else ()), *pools_of(new))
            yield told("season-changed", name, words, details=follows, grade=Grade.NOTE, key="from")
        elif new is not None and (later := list(_follows(new.season))):
            words, key = f"`{name}` {join(later)}", "until" if new.season.ends else "idleLimit"
            yield told("season-changed", name, words, grade=Grade.NOTE, key=key, details=coming.get(name, ()))
        elif isinstance(old, DormantCluster):
            words = f"`{name}`, which is not there now, is not made any more"
            yield told("season-changed", name, words, grade=Grade.NOTE, key="")
    yield from _not_ready(change)


def due(change: Change) -> Iterator[str]:
    """Yield the due events of clusters that had their dates before this change, and the dormant clusters."""
    if change.new is None:
        return
    before = _all(change.old)
    for name, words in _coming(change).items():
        if _dated_before(before, change.new.clusters[name]):
            yield from (f"`{name}`: {one}" for one in words)
    ready = _ready(change)
    for name, one in change.new.dormant.items():
        if _dated_before(before, one):
            yield f"{one.words}; {ready[name]}" if name in ready else one.words


def _not_ready(change: Change) -> Iterator[Finding]:
    """Find quota that is newly short for a coming day. No grade depends on Google's answer, which must not make an
    approved change worse."""
    was = _ready_before(change)
    for name, one in _ready(change).items():
        lacked = {line.key: line.short for line in was[name].lacking} if name in was else {}
        if any(line.short > lacked.get(line.key, 0) for line in one.lacking):
            words = f"`{name}`, whose season begins {moment_in_words(one.begins)}, is not ready"
            yield told(AWAITS, name, words, more=f", because {one.why}", key="from")


def _ready(change: Change) -> Mapping[str, Readiness]:
    if change.new is None or change.after is None:
        return {}
    quota, asked = change.after.quota, dict(change.after.quota.requests or {})
    return prepared(change.actions, change.live, change.new.region, change.now, strict=quota.strict, asked=asked)


def _ready_before(change: Change) -> Mapping[str, Readiness]:
    if change.old is None or change.before is None:
        return {}
    strict = change.before.quota.strict
    return prepared(change.actions_before, change.live, change.old.region, change.now, strict=strict)


def _dated_before(before: Mapping[str, Cluster], new: Cluster) -> bool:
    return new.name in before and before[new.name].season == new.season


def _coming(change: Change) -> Mapping[str, tuple[str, ...]]:
    """Return `season ends 2026-12-20, in 29 days: …`, by the name of each existing or coming cluster."""
    live = change.live
    # A reading for a comment has all jobs of the last days, ended ones too; a deployment's has the end of the last job.
    if not live.last_ends and change.recent != UNASKED:
        ends = change.recent if isinstance(change.recent, Unknown) else last_ends(change.recent)
        live = replace(live, last_ends=ends)
    home = change.new.region if change.new else ""
    return {
        one.cluster: tuple(due.words(change.now) for due in dates(one.current, one.living, live, home, change.now))
        for one in change.actions
        if one.current
    }


def _changed(old: Cluster, new: Cluster, coming: Iterable[str], now: datetime) -> Iterator[Finding]:
    found = list(_dates(old, new))
    asleep = [isinstance(one, DormantCluster) for one in (old, new)]
    if any(asleep):  # No other comparison tells the edits of a cluster that comes or goes by its dates.
        found += _remade(old, new)
    if not found:
        return
    keys = {one.key for one in found}
    edited = replace(
        new.season,
        ends=new.season.ends if keys - {"idleLimit"} else None,
        idle_limit=new.season.idle_limit if "idleLimit" in keys else None,
    )
    if any(asleep):
        follows = new.words if isinstance(new, DormantCluster) else "; ".join(_follows(edited))
        words = f"`{new.name}`: {join(map(str, found))}; {follows or 'nothing that runs changes'}"
    else:
        ended = (_ENDED[one.key] for one in found if not one.after)
        words = f"`{new.name}` {join((*ended, *_follows(edited))) or 'stays as it is'}"
    grade = None if _shorter(old, new) and not all(asleep) else Grade.NOTE
    if grade is None and _ends_soon(old, new, now):
        grade = Grade.BLOCKING
    details = (*map(str, found), *(coming if old.season != new.season else ()))
    yield told("season-changed", new.name, words, grade=grade, key=found[0].key, details=details)


def _ends_soon(old: Cluster, new: Cluster, now: datetime) -> bool:
    ends = new.season.ends
    return ends is not None and ends != old.season.ends and ends - now < _SOON


def _follows(season: Season) -> Iterator[str]:
    if season.ends:
        yield f"takes no new jobs from {moment_in_words(season.ends)} on, and is deleted when its own have ended"
    if season.idle_limit:
        yield f"is deleted once it has had no job for {span(season.idle_limit.total_seconds())}"


def _waits(old: Cluster, new: Cluster) -> Iterator[Finding]:
    lacks, lacked = ({*one.lacks} if isinstance(one, DormantCluster) and one.lacks else set() for one in (new, old))
    if lacks - lacked:
        words = f"`{new.name}` is not made yet, though its season has begun"
        more = f": there is too little quota for {join(map(in_words, sorted(lacks)))}; later deployments look again"
        yield told(AWAITS, new.name, words, more=more, key="")


def _dates(old: Cluster, new: Cluster) -> Iterator[Edit]:
    was, becomes = old.season, new.season
    for key, before, after in (
        ("from", was.begins, becomes.begins),
        ("until", was.ends, becomes.ends),
        ("idleLimit", was.idle_limit, becomes.idle_limit),
    ):
        if before != after:
            yield Edit(key, _in_words(before), _in_words(after))


def _in_words(value: datetime | timedelta | None) -> str:
    if isinstance(value, datetime):
        return moment_in_words(value)
    return span(value.total_seconds()) if value else ""


def _remade(old: Cluster, new: Cluster) -> Iterator[Edit]:
    """Yield edits that make another cluster of it, or allow another one in its place. An alternative is compared with
    the same alternative on the other side."""
    was, becomes = _alternative(old, new.alternative), _alternative(new, old.alternative)
    yield from edits(was, becomes)
    if was.region != becomes.region or not alike(becomes.alternatives, was.alternatives):
        yield Edit("alternatives", _listed(old), _listed(new))


def _alternative(cluster: Cluster, number: int) -> Cluster:
    """Return the cluster in that alternative; itself where it has no such alternative."""
    return cluster.options[number] if number <= len(cluster.alternatives) else cluster


def _listed(cluster: Cluster) -> str:
    """Return `1–4 a2-highgpu-8g; 1–4 a3-highgpu-8g in us-east4`."""
    return "; ".join(
        f"{', '.join(map(machines_in_words, one.pools))}{f' in {one.region}' if one.region else ''}"
        for one in ([cluster] if cluster.alternative else cluster.alternatives)
    )


def _shorter(old: Cluster, new: Cluster) -> bool:
    was, becomes = old.season, new.season
    later = becomes.begins is not None and (was.begins is None or becomes.begins > was.begins)
    earlier = becomes.ends is not None and (was.ends is None or becomes.ends < was.ends)
    limit, before = becomes.idle_limit, was.idle_limit
    return later or earlier or (limit is not None and (before is None or limit < before))


def _all(catalog: Catalog | None) -> Mapping[str, Cluster]:
    return {} if catalog is None else {**catalog.clusters, **catalog.dormant}
