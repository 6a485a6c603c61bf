"""Clusters as the engine would have them: deleted under their jobs, or different from the program's publication."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from slipway.base.formatting import join
from slipway.deploying.engine.touched import CLUSTER_TYPE, Fate, Touched, said
from slipway.deploying.generations.action import What
from slipway.deploying.generations.published_clusters import departures
from slipway.google.answers import MISREAD
from slipway.google.clusters import PersistentResource, ResourcePool
from slipway.google.jobs import distinct
from slipway.model.catalog.clusters import Cluster
from slipway.model.catalog.model import Catalog
from slipway.model.cluster_fields import NAMES
from slipway.model.findings.finding import Finding, Grade, Subject
from slipway.model.findings.kinds import KINDS
from slipway.model.labels import NAME_LABEL
from slipway.model.machines.spec import MachineGroup
from slipway.model.machines.table import regions
from slipway.model.prices import Price, dollars, hourly, per_hour
from slipway.reviewing.change.change import Change
from slipway.reviewing.rules.words import (
    LONGEST,
    MOST_NAMED,
    jobs,
    machines,
    named,
    owned,
    several,
    summed,
    told_jobs,
)


def deletions(change: Change) -> Iterator[Finding]:
    gone = destroyed(change)
    for id_ in dict.fromkeys((*gone, *undeclared(change))):
        there = (change.living or {}).get(id_)
        if change.jobs_on(id_) or (there and there.in_use):
            yield _cancelled(id_, gone.get(id_), there, change)
        if change.living is None or there:
            yield from _destruction(id_, gone.get(id_), there, change)
        elif id_ in gone and (where := _unread_place(gone[id_], change)):
            words, more = f"`{id_}` is deleted, with what runs on it", f": nobody looked for jobs in {where}"
            yield KINDS["cluster-deleted"].of(Subject("cluster", id_), words, more=more)


def destroyed(change: Change) -> Mapping[str, Touched]:
    return {one.physical: one for one in change.touched if one.type.startswith(CLUSTER_TYPE) and one.destroyed}


def _unread_place(gone: Touched, change: Change) -> str:
    """Return the cluster's project and region where reviews don't read clusters there; empty where they do."""
    catalog = change.old
    if not catalog.project:  # Neither side is known.
        return ""
    project = str(gone.was.get("project") or catalog.project)
    region = str(gone.was.get("location") or catalog.region)
    read = project == catalog.project and region in (catalog.region, *regions())
    return "" if read else f"{region} of project {project}"


def before_creates(id_: str, change: Change) -> str:
    """Return `, before `h100-4c57032` is made` for one that need not wait for that; empty for all others."""
    if id_ not in change.ids(What.DELETE_FIRST):
        return ""
    made = change.of(What.CREATE)
    return f", before {named(f'`{one.id}`' for one in made)} {'is' if len(made) == 1 else 'are'} made"


def undeclared(change: Change) -> Iterator[str]:
    old, new = change.old, change.new
    if old is None or new is None or change.after is None or (change.preview and change.preview.complete):
        return
    if (old.project, old.region) == (new.project, new.region):
        declared = {*change.after.kept, *(one.id for one in new.clusters.values())}
        ours = (one.id for one in old.clusters.values() if not one.adopted)
        yield from (id_ for id_ in (*ours, *change.retiring) if id_ not in declared)


def _cancelled(id_: str, gone: Touched | None, there: PersistentResource | None, change: Change) -> Finding:
    on_it, name, catalog = distinct(change.jobs_on(id_)), _name(id_, change), change.old or change.new
    does = "replaces" if gone and gone.fate is Fate.REPLACED else "deletes"
    be, them, have = ("are", "them", "they have") if len(on_it) > 1 else ("is", "it", "it has")
    who, running = ("A job that no list shows yet",) * 2
    if on_it:
        who, running = owned(on_it, ""), told_jobs(on_it, change.now)
    # All of the cluster's machines are lost, or, where they are unknown, those of its jobs.
    held = [(there.region, there.machines)] if there else [(job.region, job.machines) for job in on_it]
    lost = sum(per_hour(some, region or catalog.region).known for region, some in held) if catalog else 0
    words = f"{running} {be} cancelled: this deployment {does} `{name}` under {them}{_cause(gone)}"
    more, lacks = f"; wait until {have} ended", _lacks(there)
    whole = f"{more}; {lacks}" if lacks else more
    return KINDS["jobs-cancelled"].of(
        Subject("cluster", name),
        words,
        more=whole if len(f"{words}{whole}".split()) <= LONGEST else more,
        clause=f"{who} {be} cancelled with `{name}`",
        details=(f"its id is `{id_}`", *jobs(on_it, change.now)),
        cost=float(lost),
    )


def _destruction(id_: str, gone: Touched | None, there: PersistentResource | None, change: Change) -> Iterator[Finding]:
    retired, name = id_ in change.retiring, _name(id_, change)
    after, deleted = change.after, KINDS["cluster-deleted"].of
    was = change.old.cluster_named(id_) if change.old else None
    if was and not was.adopted and after and was.name not in after.catalog.clusters:
        return  # It is reported as a removal.
    declared = after is not None and (id_ in after.kept or after.catalog.cluster_named(id_) is not None)
    gpus = there is None or any(one.machine.accelerator for one in there.machines)
    back = f", and {lacks}" if (lacks := _lacks(there)) else ""
    if declared and gone:
        does = "deleted" if gone.fate is Fate.DELETED else "deleted and made anew"
        words, more = f"`{name}`, which the stack still asks for, is {does}", f"{_cause(gone)}{back}"
        yield deleted(Subject("cluster", name), words, more=more, field=next(iter(gone.replaces), ""))
    elif there and there.failed and retired:
        yield KINDS["cluster-cleared"].of(Subject("cluster", id_), f"`{id_}` failed, holds nothing and is deleted")
    elif retired and not declared:
        words = f"`{id_}`, an older `{name}`, is idle and is deleted"
        more = f"{before_creates(id_, change)}, as was announced"
        yield deleted(Subject("cluster", id_), words, more=more, grade=Grade.NOTE)
    elif gone and was is None:
        words = f"`{id_}`, to which nobody could submit, is deleted{back}"
        yield deleted(Subject("cluster", id_), words, grade=None if gpus else Grade.WARNING)


def _lacks(there: PersistentResource | None) -> str:
    """Return `its 2 `a3-highgpu-8g` may not come again`; empty where all its machines can be had any day."""
    held = there.machines if there else ()
    scarce = any(one.machine.accelerator for one in held)
    return f"its {machines(summed(held))} may not come again" if scarce else ""


def _cause(gone: Touched | None) -> str:
    return f" because of {named(f'`{path}`' for path in gone.replaces)}" if gone and gone.replaces else ""


def _name(id_: str, change: Change) -> str:
    for catalog in (change.old, change.new):
        if catalog and (one := catalog.cluster_named(id_)):
            return one.name
    if change.before and id_ in change.before.kept:
        return change.before.kept[id_].role
    there = (change.living or {}).get(id_)
    return there.labels.get(NAME_LABEL, id_) if there else id_


_MAKING = (Fate.CREATED, Fate.REPLACED, Fate.ADOPTED)


def unsaid_clusters(change: Change) -> Iterator[Finding]:
    for one in change.touched:
        if not one.type.startswith(CLUSTER_TYPE):
            continue
        if one.fate is Fate.FORGOTTEN or (one.goes and not one.destroyed):
            words, more = f"`{one.physical}` stays in the cloud, paid as before", ", and no deployment ends it any more"
            subject = Subject("cluster", one.physical)
            yield KINDS["resource-forgotten"].of(subject, words, more=more, grade=Grade.BLOCKING)
        if one.fate in _MAKING:
            yield from _made(one, change)
        elif one.fate is Fate.CHANGED:
            yield from (*_updated(one, change), *_kept_otherwise(one))


def _made(one: Touched, change: Change) -> Iterator[Finding]:
    after, id_ = change.after, str(one.becomes.get("name", one.name))
    if after is None or id_ in after.kept:
        return
    cluster = after.catalog.cluster_named(id_)
    if cluster is None:
        does = "is adopted" if one.fate is Fate.ADOPTED else "is made"
        has, cost = _machines(one.becomes, after.catalog)
        words, more = f"`{id_}` {does}, and nobody can submit to it", f": {has} for {dollars(cost)}, in no stack file"
        yield KINDS["cluster-unsaid"].of(Subject("cluster", id_), words, more=more, cost=float(cost.known))
    elif cluster.adopted:
        words = f"`{id_}`, which somebody else made, becomes the stack's own"
        more = ": a later deployment may change or delete it"
        yield KINDS["cluster-unsaid"].of(Subject("cluster", id_), words, more=more)
    elif found := tuple(_differences(one, cluster, after.catalog)):
        some = join(found) if len(found) < MOST_NAMED else f"{found[0]} and {len(found) - 1} more"
        words, more = f"`{id_}` is not made as its stack file says", f": {some}"
        yield KINDS["cluster-unsaid"].of(Subject("cluster", id_), words, more=more, details=several(found))


def _machines(inputs: Mapping[str, Any], catalog: Catalog) -> tuple[str, Price]:
    try:
        pools = [ResourcePool.read(body) for body in inputs.get("resourcePools") or ()]
    except MISREAD:
        pools = []
    if not pools:
        return "machines that nobody can tell", Price(complete=False)
    has = machines(summed(MachineGroup(pool.machine, max(pool.replicas, pool.min or 0)) for pool in pools))
    region = str(inputs.get("location") or catalog.region)
    prices = (hourly(pool.machine, region) * max(pool.replicas, pool.min or 0) for pool in pools)
    return has or "no machine yet", sum(prices, Price())


def _differences(one: Touched, cluster: Cluster, catalog: Catalog) -> Iterator[str]:
    """Compare the engine's request with the program's publication. A cluster that the engine takes over keeps its
    labels and its display name, whatever the program says."""
    inputs, sides = one.becomes, {"project": catalog.project, "location": cluster.region or catalog.region}
    for key, place in sides.items():
        if inputs.get(key) != place:
            yield f"`{key}` is {said(inputs.get(key))}, said to be {said(place)}"
    try:
        asked = PersistentResource.read(inputs).spec
    except MISREAD:
        yield "its fields can't be read"
        return
    for each in departures(cluster, asked, catalog.stack):
        if not (one.fate is Fate.ADOPTED and each.key.startswith(NAMES)):
            yield f"`{each.key}` is {said(each.after or None)}, said to be {said(each.before or None)}"


def _updated(one: Touched, change: Change) -> Iterator[Finding]:
    """Find an update: the service can't change a living cluster, so the provider's update fails, or ends its jobs."""
    if one.diffs:
        on_it = jobs(change.jobs_on(one.physical), change.now)
        words, more = f"`{one.physical}` is to be updated while it lives", ": the deployment fails, or ends its jobs"
        details = (*on_it, *(f"`{path}`" for path in one.diffs))
        yield KINDS["cluster-unsaid"].of(Subject("cluster", one.physical), words, more=more, details=details)


def _kept_otherwise(one: Touched) -> Iterator[Finding]:
    if one.old is None or one.new is None:
        return
    does: list[str] = []
    if one.old.stays != one.new.stays:
        does.append(f"{'stays in the cloud, paid,' if one.new.stays else 'goes'} when it leaves the stack")
    if one.old.protected != one.new.protected:
        does.append("can't be deleted, so the deployment that would fails" if one.new.protected else "can be deleted")
    if does:
        words = f"`{one.physical}` {join(does)} from now on; no stack file says so"
        yield KINDS["cluster-protection"].of(Subject("cluster", one.physical), words)
