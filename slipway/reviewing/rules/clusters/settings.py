"""Settings of clusters' entries that change nothing of what runs: seasons, replacement and limits of time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from slipway.base.formatting import join
from slipway.deploying.deployment.schedule import prepared
from slipway.google.live import Unknown
from slipway.google.quota.seasons import Readiness
from slipway.model.catalog.clusters import Cluster, DormantCluster
from slipway.model.catalog.model import Catalog
from slipway.model.cluster_fields import machines_in_words
from slipway.model.findings.finding import Grade
from slipway.model.season import moment_in_words
from slipway.reviewing.change.change import Change, once
from slipway.reviewing.change.edits import Edit
from slipway.reviewing.change.usual import DEAR, over, scripts, takes_sessions_alone, ways_without, whose
from slipway.reviewing.consequence import Consequence
from slipway.reviewing.rules.clusters import cluster_change as of
from slipway.reviewing.rules.clusters.cluster_change import TOO_LONG, USUAL_WAIT, ClusterChange, of_cluster, price
from slipway.reviewing.rules.clusters.machines import alike, alternatives
from slipway.reviewing.rules.declared import compare, row_of
from slipway.reviewing.rules.table import RowName, say
from slipway.reviewing.rules.templates.waits import left
from slipway.reviewing.rules.words import in_words, machines, named

_SOON = timedelta(days=7)
"""A cluster that ends sooner is taken from people who have jobs in hand."""


def settings(change: Change) -> Iterator[Consequence]:
    """Find changed settings, with the events that they bring, and changes of a dormant cluster."""
    before, after = _all(change.old), _all(change.new)
    for name in dict.fromkeys((*before, *after)):
        old, new = before.get(name), after.get(name)
        if new is None:
            if isinstance(old, DormantCluster):
                yield of_cluster("season-given-up", name, key="")
        elif old is None:
            if isinstance(new, DormantCluster):
                begins, told = new.season.begins, {"state": new.reason().state, "costs": of.costs(new)}
                told["when"] = moment_in_words(begins) if begins and begins > change.now else ""
                yield of_cluster("season-to-come", name, details=of.pools_of(new), key="from", **told)
        else:
            yield from _edited(old, new, change)
            if isinstance(old, DormantCluster) and isinstance(new, DormantCluster):
                sleeps = ClusterChange(name, None, None, read=False, dormant_before=old, dormant_after=new)
                yield from alternatives(sleeps, change)
            # No other rule tells the edits of a cluster that comes or goes by its dates.
            if DormantCluster in (type(old), type(new)) and (remade := [*_remade(old, new)]):
                dearer = of.costs(new) if price(old) != price(new) else ""
                yield of_cluster("season-remade", name, edits=remade, key=remade[0].key, costs=dearer)
            if lacks := _lacks(new) - _lacks(old):
                yield of_cluster("season-waits", name, quota=join(map(in_words, sorted(lacks))), key="")
    short, sides = set[str](), season_quota(change)
    rows: tuple[RowName, ...] = ("season-not-ready", "season-short-at-most")
    for most, (row, was, ready) in enumerate(zip(rows, sides[::2], sides[1::2], strict=True)):
        for name, readiness in ready.items():
            # No grade depends on Google's answer, which must not make an approved change worse.
            lines = was[name].lacking if name in was else ()
            lacked = {line.key: line.most.short if most else line.short for line in lines}
            if name not in short and any(line.short > lacked.get(line.key, 0) for line in readiness.lacking):
                short.add(name)
                yield of_cluster(row, name, when=moment_in_words(readiness.begins), why=readiness.why, key="from")


def _edited(old: Cluster, new: Cluster, change: Change) -> Iterator[Consequence]:
    """Yield the settings that differ, but for dates by which the cluster comes or goes at once: its fate has them."""
    was_asleep, asleep = (isinstance(side, DormantCluster) for side in (old, new))
    for key, was, value in compare(_by_key(old), _by_key(new)):
        dated = key in of.DATED
        # A cluster without a beginning is wanted, as one whose has passed.
        past = key in ("from", "until") and all(at <= change.now if at else key == "from" for at in (was, value))
        if was_asleep != asleep or past if dated else old.adopted or new.adopted:
            continue
        later, asked = key == "from", value is not None and not (dated and asleep)
        sooner = asked and dated and (was is None or (value > was if later else value < was))
        harms = sooner or (key == "createWithin" and was and value and value >= TOO_LONG > was)
        shorter = asleep and key == "until" and was and value and value < was
        loses = sooner or shorter
        ways = list(ways_without(change.new, new.name)) if loses else []
        if isinstance(value, datetime):
            ways = [(*way[:2], [each for each in way[2] if not over(each, change.new, value)]) for way in ways]
        alone = named(f"`{template.name}`{whose([offer], template)}" for template, offer, rest in ways if not rest)
        scarce = machines(new.minimum_machines) if new.scarce and not asleep else ""
        lost = {"alone": alone, "scarce": scarce, "sessions": takes_sessions_alone(ways, change.new)}
        lost["left"] = left(ways, change.new)
        limits = change.new.sessions if loses and scripts(change.new) else None
        pools = limits.pools if limits and limits.pools else ()
        lost["fewer"] = named(pool for pool in pools if pool.startswith(f"{new.name}/"))
        more = value - was if was and value and key == "until" else timedelta(0)
        endless = dated and value is None and not (new.season.ends or new.season.idle_limit)
        paid = not asleep and (endless or (more > _SOON and price(new).known >= DEAR))
        soon = key == "until" and value and value - change.now < _SOON
        lonely = [template.name for template, _, rest in ways if not rest]
        used = isinstance(change.live.recent, Unknown) or any(map(change.jobs_by_template.get, lonely))
        shuts = harms and (soon or (lonely and used))
        warns = paid or harms or shorter
        # What is made anew now by the new word is told of its fate.
        settled = key == "replacement" and old.id != new.id
        yield of_cluster(
            row_of(f"cluster/{key}", was, value, "later" * (asleep or more > timedelta(0))),
            new.name,
            part=key,
            value=of.setting(value),
            before=of.setting(was),
            costs=of.costs(new) if paid else "",
            lost=say("cluster-lost", **lost) if loses else "",
            edits=[Edit(key, of.setting(was), of.setting(value))],
            grade=Grade.BLOCKING if shuts else Grade.NOTE if settled else Grade.WARNING if warns else None,
            key=key,
        )


def _by_key(cluster: Cluster) -> dict[str, Any]:
    return {
        **of.dates(cluster),
        "replacement": cluster.replacement,
        "retireWithin": cluster.retire_within,
        "createWithin": cluster.create_within or USUAL_WAIT,
    }


def _lacks(cluster: Cluster) -> set[str]:
    return set(cluster.lacks or ()) if isinstance(cluster, DormantCluster) else set()


@once
def season_quota(change: Change) -> tuple[Mapping[str, Readiness], ...]:
    """Return which coming clusters have their quota: without this change, and with it and what it asks for; then both
    with pools at their maximum."""
    asked = change.after.quota.requests or {}
    sides = ((change.before, change.actions_before, dict[str, int]()), (change.after, change.actions, asked))
    live = replace(change.live, jobs=())  # They may have ended by then.
    return tuple(
        prepared(actions, live, of.catalog.region, change.now, strict=most or of.quota.strict, asked=increases)
        for most in (False, True)
        for of, actions, increases in sides
    )


def _remade(old: Cluster, new: Cluster) -> Iterator[Edit]:
    """Yield edits that make another cluster of it, and another list of alternatives that no other rule tells."""
    was, becomes = old.as_alternative(new.alternative), new.as_alternative(old.alternative)
    yield from of.edits(was, becomes)
    asleep = isinstance(old, DormantCluster) and isinstance(new, DormantCluster)
    if was.region != becomes.region or not (asleep or alike(becomes.alternatives, was.alternatives)):
        sides = ([(pool, each.region) for each in side.alternatives for pool in each.pools] for side in (old, new))
        words = ([f"{machines_in_words(pool)}{region and f' in {region}'}" for pool, region in side] for side in sides)
        yield Edit("alternatives", *map("; ".join, words))


def _all(catalog: Catalog) -> Mapping[str, Cluster]:
    return {**catalog.clusters, **catalog.dormant}
