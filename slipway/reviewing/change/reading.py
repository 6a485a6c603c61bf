"""The cloud as a review reads it beside the engine's events: the published, the deployed and the living parts, and
their users.

Changes nothing. An unreadable part is `Unknown`, and is told.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from itertools import filterfalse, product

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
from slipway.model.catalog.clusters import Cluster, DormantCluster
from slipway.model.catalog.model import Catalog
from slipway.model.catalog.withdrawal import before_withdrawal
from slipway.model.facts import CATALOG, Fact, Facts
from slipway.model.machines.table import regions
from slipway.reviewing.change.change import Change
from slipway.reviewing.change.files import NO_FILES, Files

MOST_RECENT = 1000
"""The number of newest jobs of the last days that are read."""
_WINDOWS = 6
_TYPES = (facts.WORKSPACE, facts.QUOTA, facts.TEMPLATE, CATALOG)
_UNREAD = Unknown("nothing was read", "", "")
_GONE = Unknown("it is gone", "", "")
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
    stacks = _Stacks.of(preview)
    # The program's word on its place may be edited: jobs are where it was deployed.
    known = deployed(preview)[0] or after
    cloud = _cloud(preview, connection, now, identity, known, after)
    before, untold = deployed_facts(preview, cloud.live.catalog, after)
    comparison = Comparison.between(
        stack,
        before,
        after,
        World(cloud.live, cloud.now, cloud.policies),
        preview=_compared(preview, stacks),
        known=not (untold and events.deployed(preview)),
    )
    unread = (
        *untold,
        *_unread_facts(preview, after, problem),
        *_uncompared_stacks(preview, stacks.others),
        *cloud.unread,
    )
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
    catalogs = [known.catalog]
    asked: set[str] = set()
    if after:
        catalogs.append(after.catalog)
        asked.update(line.metric for line in after.quota.lines.values())
    clusters: list[Cluster | DormantCluster] = []
    for catalog in catalogs:
        clusters += [*catalog.clusters.values(), *catalog.dormant.values()]
        if catalog.coming:
            asked.update(metrics(catalog))
    bucket = known.catalog.catalog_bucket if _Stacks.of(preview).reviewed else ""
    return LiveScope(
        known.catalog.project,
        known.catalog.region,
        published_in(preview, bucket),
        metrics=frozenset(asked),
        now=now,
        ends_within=ends_within(clusters),
        recent=Recent(DAYS, MOST_RECENT, known.catalog.identity.label, _WINDOWS),
        elsewhere=_elsewhere(preview, catalogs),
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
    parts: dict[str, object] = {
        "clusters can't be read": live.clusters,
        "jobs can't be read": live.jobs,
        "quota limits can't be read": live.limits,
        f"jobs of the last {DAYS} days can't be read": live.recent,
    }
    for region, limits in live.limits_elsewhere.items():
        parts[f"quota limits of {region} can't be read"] = limits
    sentences = []
    for what, part in parts.items():
        if isinstance(part, Unknown):
            sentences.append(f"{what}: {part}")
    return tuple(sentences)


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
    edited = list(filterfalse(removed_workspaces(preview).__contains__, others))
    if not edited:
        return ()
    verb = "changes" if len(edited) == 1 else "change"
    return (f"{join(edited)} also {verb}, and only one stack of a program is compared",)


def _advice(connection: Connection | None, before: Facts | None, after: Facts | None) -> tuple[str, ...]:
    """Read the advice on spot capacity that the change newly needs."""
    if connection is None or after is None:
        return ()
    known = spot_needs(before.catalog) if before else ()
    new = filterfalse(known.__contains__, spot_needs(after.catalog))
    return read_advice(connection, after.catalog.project, new).lines


def declared(preview: Preview) -> tuple[Facts | None, str]:
    """Return the facts that the program declares, None where there are none or the preview ended before the last of
    them, and why they can't be read."""
    components = events.declared(preview)
    lacking = _types(events.deployed(preview)) - _types(components)
    if not preview.complete and lacking & {facts.WORKSPACE, facts.QUOTA}:
        return None, ""
    return _read(_of_one(preview, components))


def _types(components: Iterable[events.Published]) -> set[str]:
    return {type_ for type_, _, _ in components}


def deployed(preview: Preview) -> tuple[Facts | None, str]:
    """Return the same of the components' own last inputs."""
    return _read(_of_one(preview, events.deployed(preview)))


@dataclass(frozen=True)
class _Stacks:
    """The components of a program's stacks by name: as deployed, and as declared."""

    before: Mapping[str, Sequence[events.Published]]
    after: Mapping[str, Sequence[events.Published]]

    @classmethod
    def of(cls, preview: Preview) -> _Stacks:
        return cls(facts.by_stack(events.deployed(preview)), facts.by_stack(events.declared(preview)))

    @cached_property
    def edited(self) -> tuple[str, ...]:
        """The stacks that change, of several."""
        return tuple(filter(self._is_edited, self._several))

    @property
    def _several(self) -> tuple[str, ...]:
        names = tuple(dict.fromkeys((*self.after, *self.before)))
        return names if len(names) > 1 else ()

    def _is_edited(self, name: str) -> bool:
        return _bare(self.before.get(name, ())) != _bare(self.after.get(name, ()))

    @property
    def reviewed(self) -> str:
        """The stack that is reviewed, the first one with a change; empty for a program of one stack."""
        candidates = (*self.edited, *self._several)
        return next(filter(self.after.__contains__, candidates), (*self._several, "")[0])

    @property
    def others(self) -> tuple[str, ...]:
        """The stacks that change besides the reviewed one."""
        return tuple(name for name in self.edited if name != self.reviewed)


def _compared(preview: Preview, stacks: _Stacks) -> Preview:
    """Return the preview without the clusters that stacks which are not compared begin or cease to declare: those are
    neither the reviewed stack's nor anybody's mistake. What else the engine does to a cluster stays."""
    before = _clusters(stacks.before, stacks.others)
    after = _clusters(stacks.after, stacks.others)
    expected = {*product(["delete"], before - after), *product(["create", "import"], after - before)}
    steps = []
    for step in preview.steps:
        is_cluster = step.type.startswith(CLUSTER_TYPE)
        if not (is_cluster and (step.op, step.name) in expected):
            steps.append(step)
    return replace(preview, steps=tuple(steps))


def _clusters(by_stack: Mapping[str, Sequence[events.Published]], stacks: Iterable[str]) -> set[str]:
    """Return the ids of clusters, retiring ones too, that the catalogs of these stacks name."""
    ids: set[str] = set()
    for stack in stacks:
        for type_, _, inputs in by_stack.get(stack, ()):
            current = inputs.get("clusters")
            if type_ == CATALOG and isinstance(current, Mapping):
                ids.update(map(str, current.values()))
                ids.update(inputs.get("retiring", ()))
    return ids


def _bare(components: Iterable[events.Published]) -> dict[tuple[str, str], Fact]:
    """Return the facts of components without the commit, which each deployment changes."""
    found: dict[tuple[str, str], Fact] = {}
    for type_, name, inputs in components:
        if type_ in _TYPES:
            found[type_, name] = {**inputs, "commit": None, "dirty": None}
    return found


def _of_one(preview: Preview, components: tuple[events.Published, ...]) -> Sequence[events.Published]:
    stack = _Stacks.of(preview).reviewed
    return facts.by_stack(components).get(stack, ()) if stack else components


def _read(components: Sequence[events.Published], published: Catalog | None = None) -> tuple[Facts | None, str]:
    try:
        return facts.read(components, published), ""
    except MalformedError as problem:
        return None, str(problem)


def _elsewhere(preview: Preview, catalogs: Sequence[Catalog]) -> tuple[str, ...]:
    """Return regions where clusters of the stack are or may come to be besides its own, which is that of the first
    catalog: as deployed, as declared, and as the engine has them."""
    named: list[str] = []
    for catalog in catalogs:
        named += catalog.other_regions or ()
    for step in (*preview.standing.values(), *preview.steps):
        if step.old and step.type.startswith(CLUSTER_TYPE):
            named.append(str(step.old.inputs.get("location", "")))
    other = dict.fromkeys(filter(regions().__contains__, named))
    other.pop(catalogs[0].region, None)
    return tuple(other)


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
        return _beside(preview, as_declared(catalog.whole), after)
    unread = _why_unread(catalog)
    before, problem = deployed(preview)
    if before is not None or not events.deployed(preview):
        return before, (f"{unread}, so what is deployed is taken from the last deployment's inputs",)
    whose = f"were written by another version ({problem})" if problem else "are not all there"
    return None, (f"{unread}, and the last deployment's inputs {whose}: what is deployed is not compared",)


def _beside(preview: Preview, catalog: Catalog, after: Facts | None) -> tuple[Facts, tuple[str, ...]]:
    """Return a published catalog's facts, with those that only the components' own inputs have."""
    before, problem = _read(_of_one(preview, events.deployed(preview)), catalog)
    if before is not None:
        return before, ()
    why = "the events do not list the current submitters"
    if problem:
        why = f"submitters and quota settings were written by another version ({problem})"
    return replace(after or Facts(catalog), catalog=catalog), (f"{why}, so that is not compared",)


def _why_unread(catalog: PublishedCatalog | Unknown) -> str:
    if catalog is _UNREAD:
        return "the program read no published catalog"
    if isinstance(catalog, Unknown):
        return f"the published catalog can't be read ({catalog})"
    return f"the published catalog can't be read ({catalog.damage or 'it is of another version'})"


def as_declared(catalog: Catalog) -> Catalog:
    """Return the catalog in the components of a preview, without the parts that differ at each deployment; with
    clusters that were withdrawn for a replacement in place, as that deployment has not come to its end."""
    bare = Facts(before_withdrawal(catalog))
    components: list[events.Published] = [(facts.WORKSPACE, "workspace", bare.workspace)]
    components += [(facts.CLUSTER, id_, cluster) for id_, cluster in bare.clusters.items()]
    components += [(facts.TEMPLATE, name, template) for name, template in bare.templates.items()]
    components.append((CATALOG, "catalog", bare.published))
    known = (facts.read(components) or bare).catalog
    return replace(known, retiring=catalog.retiring, trainers=catalog.trainers)
