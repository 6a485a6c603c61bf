"""Settings of clusters' entries that change nothing of what runs: seasons, replacement and limits of time.

A setting is a row: its phrase for a new value, the one for none, and the edits that take something from people.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from slipway.base.formatting import join, span
from slipway.deploying.deployment.schedule import dates, prepared
from slipway.deploying.generations.action import Action
from slipway.google.quota.seasons import Readiness
from slipway.model.catalog.clusters import Cluster, DormantCluster
from slipway.model.catalog.model import Catalog
from slipway.model.cluster import CREATE_WITHIN_S, PROTECT
from slipway.model.cluster_fields import machines_in_words
from slipway.model.facts import Facts
from slipway.model.findings.finding import Grade
from slipway.model.season import Season, moment_in_words
from slipway.reviewing.change.change import Change
from slipway.reviewing.change.edits import Edit
from slipway.reviewing.change.once import once
from slipway.reviewing.consequence import Consequence
from slipway.reviewing.rules.clusters.cluster_change import costs, edits, of_cluster, pools_of
from slipway.reviewing.rules.clusters.machines import alike
from slipway.reviewing.rules.table import ROWS
from slipway.reviewing.rules.templates.ways import without_cluster
from slipway.reviewing.rules.words import in_words

_SOON = timedelta(days=7)
"""A cluster that ends sooner is taken from people who have jobs in hand."""
_SEASON, _MODE = "season-changed", "cluster-protection"


class _Setting(NamedTuple):
    """A setting, which has rows for no value and for any, or for each value."""

    kind: str
    key: str
    value: Callable[[Cluster], Any]
    #: Whether a value takes something from people, compared with the one before.
    harms: Callable[[Any, Any], bool] | None = None

    def edit(self, old: Cluster, new: Cluster) -> Edit:
        return Edit(self.key, *(_text(self.value(side)) for side in (old, new)))

    def row(self, edit: Edit) -> str:
        row = f"{self.key}-{edit.after or 'none'}"
        return row if row in ROWS else f"{self.key}-any"

    def phrase(self, edit: Edit) -> str:
        return ROWS[self.row(edit)]["does"].format(value=edit.after)

    def harmful(self, old: Cluster, new: Cluster) -> bool:
        was, value = self.value(old), self.value(new)
        return self.harms is not None and value is not None and (was is None or self.harms(value, was))


_BACK = {
    "until": "nothing brings it back by itself: move the date while its machines are there",
    "idleLimit": "nothing brings it back by itself: a higher `generation` does, if its machines are found",
    "from": "give it an earlier date, or none",
}
"""The way back from a date, by its key."""
_DEFAULT = timedelta(seconds=CREATE_WITHIN_S)
_SETTINGS = (
    _Setting(_SEASON, "until", lambda of: of.season.ends, operator.lt),
    _Setting(_SEASON, "idleLimit", lambda of: of.season.idle_limit, operator.lt),
    _Setting(_SEASON, "from", lambda of: of.season.begins, operator.gt),
    _Setting(_MODE, "replacement", lambda of: of.replacement, lambda mode, was: mode not in (was, PROTECT)),
    _Setting(_MODE, "retireWithin", lambda of: of.retire_within),
    _Setting(_MODE, "createWithin", lambda of: of.create_within or _DEFAULT),
)


def settings(change: Change) -> Iterator[Consequence]:
    """Find changed settings, with the events that they bring, and changes of a dormant cluster."""
    before, after, coming = _all(change.old), _all(change.new), _coming(change)
    for name in dict.fromkeys((*before, *after)):
        old, new, events = before.get(name), after.get(name), coming.get(name, ())
        if old and new:
            if bool(old.adopted) == bool(new.adopted):
                yield from _edited(_MODE, old, new, change.now)
            yield from (
                *_edited(_SEASON, old, new, change.now, events, without_cluster(change.new, name)),
                *_waits(old, new),
            )
        elif isinstance(new, DormantCluster):
            when = moment_in_words(new.season.begins) if new.season.begins else "later"
            details = (new.words, *(_told(_dated(new)) if new.comes else ()), *pools_of(new))
            yield of_cluster("season-to-come", name, when=when, costs=costs(new), details=details, key="from")
        elif new and (dated := _dated(new)):
            (first, edit), *others = dated
            values: dict[str, Any] = {"value": edit.after, "details": (*_told(others), *events), "key": first.key}
            yield of_cluster(first.row(edit), name, so="", instead="", grade=Grade.NOTE, **values)
        elif isinstance(old, DormantCluster):
            yield of_cluster("season-given-up", name, key="")
    yield from _not_ready(change)


def _dated(cluster: Cluster) -> list[tuple[_Setting, Edit]]:
    """Return the settings of a new cluster's end."""
    undated = replace(cluster, season=Season(begins=cluster.season.begins))
    dated = (row for row in _SETTINGS if row.kind == _SEASON and row.value(cluster) != row.value(undated))
    return [(row, row.edit(undated, cluster)) for row in dated]


def _told(some: Iterable[tuple[_Setting, Edit]]) -> list[str]:
    return [setting.phrase(edit) for setting, edit in some]


def _edited(
    kind: str, old: Cluster, new: Cluster, now: datetime, events: Iterable[str] = (), without: Iterable[str] = ()
) -> Iterator[Consequence]:
    """`without`: where jobs go while the cluster is away."""
    rows = [row for row in _SETTINGS if row.kind == kind and row.value(old) != row.value(new)]
    edited = [row.edit(old, new) for row in rows]
    phrases = _told(zip(rows, edited, strict=True))
    dated, asleep = kind == _SEASON, [isinstance(side, DormantCluster) for side in (old, new)]
    # No other rule tells the edits of a cluster that comes or goes by its dates.
    remade = [*_remade(old, new)] if dated and any(asleep) else []
    if not (edited or remade):
        return
    harmful = [row.key for row in rows if row.harmful(old, new)]
    harms = bool(harmful) and not (dated and all(asleep))
    away = [f"then {line}" for line in without] if harms and dated else []
    ends = new.season.ends if dated and new.season.ends != old.season.ends else None
    yield of_cluster(
        "season-remade" if remade else rows[0].row(edited[0]),
        new.name,
        value=edited[0].after if edited else "",
        so=_so(old, new),
        instead=_BACK[harmful[0]] if harms and dated and not asleep[1] else "",
        edits=[*edited, *remade],
        details=(*(phrases if remade else phrases[1:]), *away, *(events if old.season != new.season else ())),
        grade=Grade.NOTE if not harms else Grade.BLOCKING if ends and ends - now < _SOON else None,
        key=[*edited, *remade][0].key,
    )


def _so(old: Cluster, new: Cluster) -> str:
    """Return why it is dormant, of one that is given up, which may still live, what brings it back; else how much
    sooner it ends."""
    was, ends = old.season.ends, new.season.ends
    if isinstance(new, DormantCluster):
        return new.reason().back if new.why == "idle" else new.reason().of("it")
    return f"{span((was - ends).total_seconds())} earlier than before" if was and ends and ends < was else ""


def due(change: Change) -> Iterator[str]:
    """Yield the due events of clusters that had their dates before this change, and the dormant clusters."""
    before, after, (_, ready) = _all(change.old), _all(change.new), _ready(change)
    coming = {name: [f"`{name}`: {event}" for event in events] for name, events in _coming(change).items()}
    for name, cluster in change.new.dormant.items():
        coming[name] = [f"{cluster.words}; {ready[name]}" if name in ready else cluster.words]
    for name, events in coming.items():
        if name in before and before[name].season == after[name].season:
            yield from events


def _not_ready(change: Change) -> Iterator[Consequence]:
    """Find quota that is newly short for a coming day. No grade depends on Google's answer, which must not make an
    approved change worse."""
    was, ready = _ready(change)
    for name, readiness in ready.items():
        lacked = {line.key: line.short for line in was[name].lacking} if name in was else {}
        if any(line.short > lacked.get(line.key, 0) for line in readiness.lacking):
            when = moment_in_words(readiness.begins)
            yield of_cluster("season-not-ready", name, when=when, why=str(readiness.why), key="from")


def _waits(old: Cluster, new: Cluster) -> Iterator[Consequence]:
    lacks, lacked = ({*side.lacks} if isinstance(side, DormantCluster) and side.lacks else set() for side in (new, old))
    if lacks - lacked:
        yield of_cluster("season-waits", new.name, quota=join(map(in_words, sorted(lacks))), key="")


@once
def _ready(change: Change) -> tuple[Mapping[str, Readiness], ...]:
    """Return which clusters that are to come have their quota, without this change, and with it and what it asks
    for."""
    return (
        _prepared(change, change.before, change.actions_before, {}),
        _prepared(change, change.after, change.actions, change.after.quota.requests or {}),
    )


def _prepared(
    change: Change, of: Facts, actions: Collection[Action], asked: Mapping[str, int]
) -> Mapping[str, Readiness]:
    return prepared(actions, change.live, of.catalog.region, change.now, strict=of.quota.strict, asked=asked)


@once
def _coming(change: Change) -> Mapping[str, tuple[str, ...]]:
    """Return `season ends 2026-12-20, in 29 days: …`, by the name of each existing or coming cluster."""
    return {
        action.cluster: tuple(
            event.words(change.now)
            for event in dates(action.current, action.living, change.live, change.new.region, change.now)
        )
        for action in change.actions
        if action.current
    }


def _text(value: datetime | timedelta | str | None) -> str:
    if isinstance(value, datetime):
        return f"{value.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
    return span(value.total_seconds()) if isinstance(value, timedelta) else value or ""


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
        f"{', '.join(map(machines_in_words, option.pools))}{f' in {option.region}' if option.region else ''}"
        for option in ([cluster] if cluster.alternative else cluster.alternatives)
    )


def _all(catalog: Catalog) -> Mapping[str, Cluster]:
    return {**catalog.clusters, **catalog.dormant}
