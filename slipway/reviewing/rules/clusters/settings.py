"""Settings of clusters' entries that change nothing of what runs: seasons, replacement and limits of time."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from slipway.base.formatting import join, span
from slipway.deploying.deployment.schedule import dates, prepared
from slipway.google.quota.seasons import Readiness
from slipway.model.catalog.clusters import Cluster, DormantCluster
from slipway.model.catalog.model import Catalog
from slipway.model.cluster import CREATE_WITHIN_S, IN_PLACE, PROTECT, ROLLOVER
from slipway.model.cluster_fields import machines_in_words
from slipway.model.findings.finding import Grade
from slipway.model.prices import dollars
from slipway.model.season import Season, moment_in_words
from slipway.reviewing.change.change import Change
from slipway.reviewing.change.edits import Edit
from slipway.reviewing.change.once import once
from slipway.reviewing.change.usual import ends_of, ways_without, whose
from slipway.reviewing.consequence import Consequence
from slipway.reviewing.rules.clusters import cluster_change as of
from slipway.reviewing.rules.clusters.cluster_change import of_cluster, price
from slipway.reviewing.rules.clusters.machines import alike
from slipway.reviewing.rules.table import RowName
from slipway.reviewing.rules.templates.usage import facts
from slipway.reviewing.rules.words import in_words, machines, named


@dataclass(frozen=True)
class Setting:
    """A setting of a cluster's entry, with the rows of what follows."""

    key: str
    of: Callable[[Cluster], Any]
    #: It has no value any more, it has another one, and that takes something from people, which `harms` tells of the
    #: new value and the one before.
    none: RowName
    any: RowName
    harmful: RowName | None = None
    harms: Callable[[Any, Any], bool] = lambda *_: False


_SOON = timedelta(days=7)
"""A cluster that ends sooner is taken from people who have jobs in hand."""
_DATED = ("until", "idleLimit", "from")
"""The settings of a season."""
_DEFAULT = timedelta(seconds=CREATE_WITHIN_S)
_TOO_LONG = timedelta(hours=2, minutes=30)
"""A wait that the run of a workflow, which ends after three hours, hardly outlives."""
_SETTINGS: tuple[Setting, ...] = (
    Setting("until", lambda of: of.season.ends, "until-none", "until-any", "until-harmful", operator.lt),
    Setting(
        "idleLimit",
        lambda of: of.season.idle_limit,
        "idleLimit-none",
        "idleLimit-any",
        "idleLimit-harmful",
        operator.lt,
    ),
    Setting("from", lambda of: of.season.begins, "from-none", "from-any", "from-harmful", operator.gt),
    Setting("replacement", lambda of: of.replacement, "replacement-any", "replacement-any"),
    Setting("retireWithin", lambda of: of.retire_within, "retireWithin-none", "retireWithin-any"),
    Setting(
        "createWithin",
        lambda of: of.create_within or _DEFAULT,
        "createWithin-any",
        "createWithin-any",
        "createWithin-harmful",
        lambda wait, _: wait >= _TOO_LONG,
    ),
)
_REPLACEMENTS: Mapping[str, RowName] = {
    ROLLOVER: "replacement-rollover",
    IN_PLACE: "replacement-in-place",
    PROTECT: "replacement-protect",
}


def settings(change: Change) -> Iterator[Consequence]:
    """Find changed settings, with the events that they bring, and changes of a dormant cluster."""
    before, after, coming = _all(change.old), _all(change.new), _coming(change)
    for name in dict.fromkeys((*before, *after)):
        old, new, events = before.get(name), after.get(name), coming.get(name, ())
        if new is None:
            if isinstance(old, DormantCluster):
                yield of_cluster("season-given-up", name, key="")
        elif old is None:
            if isinstance(new, DormantCluster):
                when = moment_in_words(new.season.begins) if new.season.begins else "later"
                details = (new.words, *of.pools_of(new))
                yield of_cluster("season-to-come", name, when=when, costs=of.costs(new), details=details, key="from")
            if not isinstance(new, DormantCluster) or new.comes:
                undated = replace(new, season=Season(begins=new.season.begins))
                yield from _edited(undated, new, events, change, fresh=True)
        else:
            yield from _edited(old, new, events, change)
            # No other rule tells the edits of a cluster that comes or goes by its dates.
            if DormantCluster in (type(old), type(new)) and (remade := [*_remade(old, new)]):
                yield of_cluster("season-remade", name, so=_reason(new), edits=remade, key=remade[0].key)
            if lacks := _lacks(new) - _lacks(old):
                yield of_cluster("season-waits", name, quota=join(map(in_words, sorted(lacks))), key="")
    was, ready = _ready(change)
    for name, readiness in ready.items():
        # No grade depends on Google's answer, which must not make an approved change worse.
        lacked = {line.key: line.short for line in was[name].lacking} if name in was else {}
        if any(line.short > lacked.get(line.key, 0) for line in readiness.lacking):
            when = moment_in_words(readiness.begins)
            yield of_cluster("season-not-ready", name, when=when, why=str(readiness.why), key="from")


def _edited(
    old: Cluster, new: Cluster, events: Iterable[str], change: Change, *, fresh: bool = False
) -> Iterator[Consequence]:
    """Yield the settings that differ. `fresh`: the cluster is new, so that nobody had it without them."""
    was_asleep, asleep = (isinstance(side, DormantCluster) for side in (old, new))
    for setting in _SETTINGS:
        key, was, value, dated = setting.key, setting.of(old), setting.of(new), setting.key in _DATED
        if was == value or (not dated and bool(old.adopted) != bool(new.adopted)):
            continue
        asked = value is not None and not fresh and not (dated and was_asleep and asleep)
        harms = asked and setting.harmful is not None and (was is None or setting.harms(value, was))
        row: RowName = setting.none if value is None else setting.any
        row = setting.harmful if harms and setting.harmful else _REPLACEMENTS.get(value, row)
        row = "replacement-protect-rollover" if (was, value) == (PROTECT, ROLLOVER) else row
        ways = list(ways_without(change.new, new.name)) if harms and dated else []
        alone = named(f"`{template.name}`{whose([offer], template)}" for template, offer, rest in ways if not rest)
        away = [f"then {line}" for line in ends_of((way for way in ways if way[2]), change.new)]
        longer = key == "until" and was and value and value - was > _SOON
        endless = key in ("until", "idleLimit") and value is None and not (new.season.ends or new.season.idle_limit)
        paid = not (asleep or fresh) and (longer or endless)
        if harms and key in ("until", "idleLimit") and not asleep:
            lost = f"then nobody can submit {alone}, for lack of other machines" if alone else ""
            so, away = facts(lost, _given_back(new), *away[:1]), away[1:]
        else:
            so = of.costs(new) if paid else _reason(new) if dated else ""
        soon = harms and key == "until" and value - change.now < _SOON
        yield of_cluster(
            row,
            new.name,
            part=key,
            value=_words(value),
            before=_words(was),
            so=so,
            first=f"first list another capacity type under `capacity_types` of {alone}; or " if alone else "",
            edits=[Edit(key, _words(was), _words(value))],
            details=(*away, *(events if dated else ())),
            grade=Grade.BLOCKING if soon else Grade.NOTE if fresh else Grade.WARNING if paid else None,
            key=key,
        )


def _given_back(cluster: Cluster) -> str:
    held = machines(of.minimum_machines(cluster))
    saves = f"that saves {dollars(price(cluster))}" if held else ""
    return f"{saves}, and its {held} may not come again" if held and of.scarce(cluster) else saves


def _words(value: Any) -> str:
    if isinstance(value, datetime):
        return f"{value.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
    return span(value.total_seconds()) if isinstance(value, timedelta) else value or ""


def _lacks(cluster: Cluster) -> set[str]:
    return set(cluster.lacks or ()) if isinstance(cluster, DormantCluster) else set()


def _reason(cluster: Cluster) -> str:
    """Return why a cluster is dormant, and of one that is given up, which may still live, what brings it back."""
    if not isinstance(cluster, DormantCluster):
        return ""
    return cluster.reason().back if cluster.why == "idle" else cluster.reason().of("it")


def due(change: Change) -> Iterator[str]:
    """Yield the due events of clusters that had their dates before this change, and the dormant clusters."""
    before, after, (_, ready) = _all(change.old), _all(change.new), _ready(change)
    coming = {name: [f"`{name}`: {event}" for event in events] for name, events in _coming(change).items()}
    for name, cluster in change.new.dormant.items():
        coming[name] = [f"{cluster.words}; {ready[name]}" if name in ready else cluster.words]
    for name, events in coming.items():
        if name in before and before[name].season == after[name].season:
            yield from events


@once
def _ready(change: Change) -> tuple[Mapping[str, Readiness], ...]:
    """Return which coming clusters have their quota: without this change, and with it and what it asks for."""
    asked = change.after.quota.requests or {}
    sides = ((change.before, change.actions_before, dict[str, int]()), (change.after, change.actions, asked))
    return tuple(
        prepared(actions, change.live, of.catalog.region, change.now, strict=of.quota.strict, asked=increases)
        for of, actions, increases in sides
    )


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


def _remade(old: Cluster, new: Cluster) -> Iterator[Edit]:
    """Yield edits that make another cluster of it, or allow another one in its place. An alternative is compared with
    the same alternative on the other side."""
    was, becomes = _alternative(old, new.alternative), _alternative(new, old.alternative)
    yield from of.edits(was, becomes)
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
