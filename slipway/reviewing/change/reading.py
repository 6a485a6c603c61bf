"""The cloud as a review reads it beside the engine's events: the published, the deployed and the living parts, and
their users.

Changes nothing. An unreadable part is `Unknown`, and is told.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from slipway.answers.comparison import DAYS, Comparison, World
from slipway.answers.questions import by_our_fault
from slipway.answers.removed import removed_workspaces
from slipway.answers.submissions import spot_needs
from slipway.base.clock import right_time, wrong_clock
from slipway.base.codec import MalformedError
from slipway.base.errors import SlipwayError
from slipway.base.formatting import join
from slipway.deploying.engine import events
from slipway.deploying.engine.preview import Preview
from slipway.deploying.engine.touched import BUCKET, CLUSTER_TYPE, Fate, published_in, touched
from slipway.deploying.generations.dormant import ends_within
from slipway.google.advice import read_advice
from slipway.google.catalog.document import PublishedCatalog
from slipway.google.connection import Connection
from slipway.google.failures import CloudError
from slipway.google.live import Live, Unknown
from slipway.google.live_reader import LiveScope, Recent, unanswered
from slipway.google.permissions import Bound
from slipway.google.quota.seasons import metrics
from slipway.google.snapshot import read
from slipway.model import facts
from slipway.model.catalog.model import Catalog
from slipway.model.catalog.withdrawal import before_withdrawal
from slipway.model.facts import CATALOG, Fact, Facts
from slipway.model.machines.table import regions
from slipway.reviewing.change.change import Change
from slipway.reviewing.change.files import NO_FILES, Files

MOST_RECENT = 1000
"""The number of newest jobs of the last days that are read."""
_WINDOWS = 6
_UNREAD, _GONE = Unknown("nothing was read", "", ""), Unknown("it is gone", "", "")
_NOTHING: Live = Live(_UNREAD, _UNREAD, _UNREAD, _UNREAD, recent=_UNREAD, skipped=True)


def change(
    preview: Preview,
    connection: Connection | None,
    now: datetime,
    *,
    stack: str,
    identity: str = "",
    files: Files = NO_FILES,
) -> Change:
    """Read the change of one stack. Without a connection nothing of the cloud is read, which is told. Of facts that
    can't be compared, which a program may have written in any form, only the engine's steps are left."""
    try:
        return _change(preview, connection, now, stack, identity, files)
    except SlipwayError:
        raise
    except Exception as problem:
        unread = (by_our_fault("the change could not be read", problem),)
        world = World(_NOTHING, now)
        comparison = Comparison.between(stack, None, None, world, preview=preview, known=False)
        return Change(comparison, files, unread)


def _change(
    preview: Preview, connection: Connection | None, now: datetime, stack: str, identity: str, files: Files
) -> Change:
    after, problem = declared(preview)
    _, others = _reviewed(preview)
    # The program's word on its place may be edited: jobs are where it was deployed.
    known = deployed(preview)[0] or after
    cloud = _cloud(preview, connection, now, identity, known, after)
    before, untold = deployed_facts(preview, cloud.live.catalog, after)
    comparison = Comparison.between(
        stack,
        before,
        after,
        World(cloud.live, cloud.now, cloud.policies),
        preview=_compared(preview, others),
        known=not (untold and events.deployed(preview)),
    )
    unread = (*untold, *_unread_facts(preview, after, problem), *_uncompared_stacks(preview, others), *cloud.unread)
    return Change(comparison, files, unread, (*cloud.notes, *_advice(connection, before, after)))


@dataclass(frozen=True)
class _Cloud:
    """The parts of the cloud that a change concerns."""

    live: Live
    #: The right time.
    now: datetime
    #: The IAM policies of adopted buckets, by name.
    policies: Mapping[str, frozenset[Bound] | Unknown] = field(default_factory=dict)
    #: The parts that were not read, a sentence each.
    unread: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def _cloud(
    preview: Preview,
    connection: Connection | None,
    now: datetime,
    identity: str,
    known: Facts | None,
    after: Facts | None,
) -> _Cloud:
    """Read the cloud. `known`: the facts of the place where jobs are; `after`: those that the program declares."""
    if connection is None or known is None:
        unread = "live clusters, jobs and quota were not read, so affected jobs and users are unknown"
        return _Cloud(_NOTHING, now, unread=(unread,))
    live = _live(preview, connection, identity, _scope(preview, known, after, now))
    wrong = wrong_clock(now, live.time)
    notes = [wrong.what] if wrong else []
    if not isinstance(live.recent, Unknown) and len(live.recent) >= MOST_RECENT:
        notes.append(f"of the jobs of the last {DAYS} days, only the newest {MOST_RECENT:,} were read")
    policies = _policies(preview, connection, known.catalog.project, identity)
    return _Cloud(live, right_time(now, live.time), policies, _unread_parts(live), tuple(notes))


def _scope(preview: Preview, known: Facts, after: Facts | None, now: datetime) -> LiveScope:
    of_several, _ = _reviewed(preview)
    lines = after.quota.lines if after else {}
    catalogs = [side.catalog for side in (known, after) if side]
    coming_metrics = (metrics(catalog) for catalog in catalogs if catalog.coming)
    clusters = [cluster for catalog in catalogs for cluster in (*catalog.clusters.values(), *catalog.dormant.values())]
    return LiveScope(
        known.catalog.project,
        known.catalog.region,
        published_in(preview, known.catalog.catalog_bucket if of_several else ""),
        metrics=frozenset(line.metric for line in lines.values()).union(*coming_metrics),
        now=now,
        ends_within=ends_within(clusters),
        recent=Recent(DAYS, MOST_RECENT, known.catalog.identity.label, _WINDOWS),
        elsewhere=_elsewhere(preview, known, after),
    )


def _live(preview: Preview, connection: Connection, identity: str, scope: LiveScope) -> Live:
    live, _ = read(connection, scope, identity=identity, off_is_empty=True)
    known_clusters = (step.name for step in preview.standing.values() if step.type.startswith(CLUSTER_TYPE))
    live = replace(live, in_state=frozenset(known_clusters))
    if scope.catalog_bucket and live.catalog is None:
        return replace(live, catalog=_GONE)
    return live


def _unread_parts(live: Live) -> tuple[str, ...]:
    """Return a sentence for each part of the cloud that can't be read."""
    parts = {
        "clusters can't be read": live.clusters,
        "jobs can't be read": live.jobs,
        "quota limits can't be read": live.limits,
        f"jobs of the last {DAYS} days can't be read": live.recent,
        **{f"quota limits of {region} can't be read": part for region, part in live.limits_elsewhere.items()},
    }
    return tuple(f"{what}: {part}" for what, part in parts.items() if isinstance(part, Unknown))


def _policies(
    preview: Preview, connection: Connection, project: str, identity: str
) -> dict[str, frozenset[Bound] | Unknown]:
    """Read the IAM policies of buckets that the change adopts, by name."""
    policies: dict[str, frozenset[Bound] | Unknown] = {}
    for step in touched(preview):
        if step.type == BUCKET and step.fate is Fate.ADOPTED:
            policies[step.physical] = _policy(connection, project, step.physical, identity)
    return policies


def _policy(connection: Connection, project: str, bucket: str, identity: str) -> frozenset[Bound] | Unknown:
    try:
        return connection.permissions(project).policy("bucket", bucket)
    except CloudError as error:
        asked = f"getIamPolicy of bucket {bucket}"
        return unanswered(error, asked, "roles/iam.securityReviewer", identity)


def _unread_facts(preview: Preview, after: Facts | None, problem: str) -> tuple[str, ...]:
    """Return why the program's facts are not compared. `problem`: why they can't be read; empty if they can."""
    if problem:
        return (f"the program publishes facts that this version does not read ({problem})",)
    if after is None and preview.complete:
        return ("the program publishes no facts, so templates, access and cost are not compared",)
    return ()


def _uncompared_stacks(preview: Preview, others: Iterable[str]) -> tuple[str, ...]:
    """Return that other stacks of the program change; the review lists what is lost with a removed workspace."""
    edited = [name for name in others if name not in removed_workspaces(preview)]
    if not edited:
        return ()
    verb = "changes" if len(edited) == 1 else "change"
    return (f"{join(edited)} also {verb}, and only one stack of a program is compared",)


def _advice(connection: Connection | None, before: Facts | None, after: Facts | None) -> tuple[str, ...]:
    """Read the advice on spot capacity that the change newly needs."""
    if connection is None or after is None:
        return ()
    known_needs = spot_needs(before.catalog) if before else ()
    new = (need for need in spot_needs(after.catalog) if need not in known_needs)
    return read_advice(connection, after.catalog.project, new).lines


def declared(preview: Preview) -> tuple[Facts | None, str]:
    """Return the facts that the program declares, None where there are none or the preview ended before the last of
    them, and why they can't be read."""
    components = events.declared(preview)
    lacking = {type_ for type_, *_ in events.deployed(preview)} - {type_ for type_, *_ in components}
    if not preview.complete and lacking & {facts.WORKSPACE, facts.QUOTA}:
        return None, ""
    return _read(_of_one(preview, components))


def deployed(preview: Preview) -> tuple[Facts | None, str]:
    """Return the same of the components' own last inputs."""
    return _read(_of_one(preview, events.deployed(preview)))


def _reviewed(preview: Preview) -> tuple[str, tuple[str, ...]]:
    """Return the stack of a program that is reviewed, the first one with a change, and the others that change as well;
    empty for a program of one stack."""
    before, after = (facts.by_stack(side) for side in (events.deployed(preview), events.declared(preview)))
    every = list(dict.fromkeys((*after, *before)))
    if len(every) < 2:
        return "", ()
    edited = [name for name in every if _bare(before.get(name, ())) != _bare(after.get(name, ()))]
    first = next((name for name in (*edited, *every) if name in after), every[0])
    return first, tuple(name for name in edited if name != first)


def _compared(preview: Preview, others: Iterable[str]) -> Preview:
    """Return the preview without the clusters that stacks which are not compared begin or cease to declare: those are
    neither the reviewed stack's nor anybody's mistake. What else the engine does to a cluster stays."""
    was, becomes = (
        _clusters(facts.by_stack(side), others) for side in (events.deployed(preview), events.declared(preview))
    )
    expected = {("delete", id_) for id_ in was - becomes}
    expected |= {(op, id_) for op in ("create", "import") for id_ in becomes - was}
    steps = (
        step for step in preview.steps if not (step.type.startswith(CLUSTER_TYPE) and (step.op, step.name) in expected)
    )
    return replace(preview, steps=tuple(steps))


def _clusters(of_stacks: Mapping[str, Sequence[events.Published]], stacks: Iterable[str]) -> set[str]:
    """Return the ids of clusters, retiring ones too, that the catalogs of these stacks name."""
    ids: set[str] = set()
    for type_, _, inputs in (each for stack in stacks for each in of_stacks.get(stack, ())):
        current = inputs.get("clusters")
        if type_ == CATALOG and isinstance(current, Mapping):
            ids |= {*current.values(), *inputs.get("retiring", ())}
    return ids


def _bare(components: Iterable[events.Published]) -> dict[tuple[str, str], Fact]:
    """Return the facts of components without the commit, which each deployment changes."""
    ours = (facts.WORKSPACE, facts.QUOTA, facts.TEMPLATE, CATALOG)
    return {
        (type_, name): {key: value for key, value in inputs.items() if key not in ("commit", "dirty")}
        for type_, name, inputs in components
        if type_ in ours
    }


def _of_one(preview: Preview, components: tuple[events.Published, ...]) -> Sequence[events.Published]:
    stack, _ = _reviewed(preview)
    return facts.by_stack(components).get(stack, ()) if stack else components


def _read(components: Sequence[events.Published], published: Catalog | None = None) -> tuple[Facts | None, str]:
    try:
        return facts.read(components, published), ""
    except MalformedError as problem:
        return None, str(problem)


def _elsewhere(preview: Preview, known: Facts, after: Facts | None) -> tuple[str, ...]:
    """Return regions where clusters of the stack are or may come to be besides its own: as deployed, as declared, and
    as the engine has them."""
    told = [region for side in (known, after) if side for region in side.catalog.other_regions or ()]
    clusters = (step for step in (*preview.standing.values(), *preview.steps) if step.type.startswith(CLUSTER_TYPE))
    told += [str(step.old.inputs.get("location", "")) for step in clusters if step.old]
    return tuple(region for region in dict.fromkeys(told) if region != known.catalog.region and region in regions())


def deployed_facts(
    preview: Preview, catalog: PublishedCatalog | Unknown | None, after: Facts | None
) -> tuple[Facts | None, tuple[str, ...]]:
    """Return the facts that a change is compared with, None where nothing is deployed or that is unknown; and the
    unknown parts, a sentence each. `catalog` is the published one: it is written last, so it never runs ahead of the
    deployed stack. The components' own inputs do after a failed deployment, so they are used only for the parts that no
    catalog has, and for everything where the catalog can't be read. A part in neither is as in `after`: not
    compared."""
    if catalog is None:
        return None, ()
    if isinstance(catalog, PublishedCatalog) and catalog.whole is not None:
        same = as_declared(catalog.whole)
        beside, problem = _read(_of_one(preview, events.deployed(preview)), same)
        if beside is not None:
            return beside, ()
        why = "the events do not list the current submitters"
        if problem:
            why = f"submitters and quota settings were written by another version ({problem})"
        return replace(after or Facts(same), catalog=same), (f"{why}, so that is not compared",)
    why = str(catalog) if isinstance(catalog, Unknown) else catalog.damage or "it is of another version"
    told = f"the published catalog can't be read ({why})"
    if catalog is _UNREAD:
        told = "the program read no published catalog"
    before, problem = deployed(preview)
    if before is None and events.deployed(preview):
        whose = f"were written by another version ({problem})" if problem else "are not all there"
        return None, (f"{told}, and the last deployment's inputs {whose}: what is deployed is not compared",)
    return before, (f"{told}, so what is deployed is taken from the last deployment's inputs",)


def as_declared(catalog: Catalog) -> Catalog:
    """Return the catalog in the components of a preview, without the parts that differ at each deployment; with
    clusters that were withdrawn for a replacement in place, as that deployment has not come to its end."""
    bare = Facts(before_withdrawal(catalog))
    clusters: Mapping[str, Fact] = bare.clusters
    components = (
        (facts.WORKSPACE, "workspace", bare.workspace),
        *((facts.CLUSTER, id_, cluster) for id_, cluster in clusters.items()),
        *((facts.TEMPLATE, name, template) for name, template in bare.templates.items()),
        (CATALOG, "catalog", bare.published),
    )
    told = (facts.read(components) or bare).catalog
    return replace(told, retiring=catalog.retiring, trainers=catalog.trainers)
