"""Question: what happens to each cluster, and to the jobs on it, in the next deployment? Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from slipway.answers.answer import Answer, Difference, Value
from slipway.answers.comparison import Comparison, Side
from slipway.base.formatting import exact_span, join, last_part, short
from slipway.deploying.engine.touched import CLUSTER_TYPE, Fate, Touched
from slipway.deploying.generations.action import DELETE, What
from slipway.deploying.generations.published_clusters import departures
from slipway.google.answers import MISREAD
from slipway.google.clusters import PersistentResource
from slipway.google.jobs import VertexJob, distinct
from slipway.google.live import Unknown
from slipway.model.catalog.clusters import Cluster, DormantCluster
from slipway.model.catalog.withdrawal import replacing
from slipway.model.cluster import CREATE_WITHIN_S, IN_PLACE, PROTECT
from slipway.model.cluster_fields import NAMES, FieldDifference, compare, machines_in_words
from slipway.model.findings.finding import Finding, Grade, Subject
from slipway.model.findings.kinds import KINDS
from slipway.model.machines.spec import MachineGroup
from slipway.model.machines.table import regions
from slipway.model.prices import Price, dollars
from slipway.model.season import moment_in_words

_MOST_NAMED = 2
_LONGEST = 30
_LONGEST_DETAIL = 200
_SOON = timedelta(days=7)
"""An end sooner than this surprises people who have jobs in progress."""
_LONG = timedelta(days=365)
"""A new end later than this surprises no one."""
_WORKFLOW = timedelta(hours=2, minutes=30)
"""A longer wait hardly fits into a deployment workflow, which ends after three hours."""
_FIRST = datetime.min.replace(tzinfo=UTC)
_LAST = datetime.max.replace(tzinfo=UTC)
_REMOVALS = (*DELETE, What.CLEAR)
_NO_COST = Price()


@dataclass(frozen=True)
class ClusterPlan:
    """The deployed and the declared cluster of a name, and what the deployment does with both."""

    name: str
    #: The entry on each side, also if its cluster does not exist, or has another owner.
    was: Cluster | None
    becomes: Cluster | None
    #: The stack's own existing cluster on each side; None for a dormant or an adopted one.
    old: Cluster | None
    new: Cluster | None
    #: The declared cluster does not exist yet.
    is_created: bool
    #: The deployed cluster has no machines: it does not exist any more, or failed.
    is_lost: bool
    #: The program declares the deployed cluster until its last job ends, and Pulumi does not delete it.
    drains: bool
    #: The unfinished jobs on the deployed cluster.
    jobs: tuple[VertexJob, ...]
    #: The machines of the deployed cluster: those that are up, or the minimum if they could not be read.
    held: tuple[MachineGroup, ...]
    edits: tuple[FieldDifference, ...]
    #: An interrupted deployment of this commit began to replace it in place.
    is_continued: bool
    now: datetime

    @property
    def is_dated(self) -> bool:
        """Return whether the deployed dates, and no edit, end the cluster."""
        if self.was is None or not isinstance(self.becomes, DormantCluster):
            return False
        return self.was.season == self.becomes.season

    @property
    def held_price(self) -> Price:
        """USD an hour of `held`."""
        prices = {pool.machine: pool.price_per_hour for pool in self.old.pools} if self.old else {}
        return sum((prices.get(group.machine, Price(complete=False)) * group.count for group in self.held), Price())


def answers(comparison: Comparison, side: Side) -> Iterator[Answer]:
    """Yield an answer for each entry of the stack's clusters: its cluster, machines and dates."""
    catalog = comparison.old if side is Side.BEFORE else comparison.new
    for name, cluster in {**catalog.dormant, **catalog.clusters}.items():
        values: dict[str, Value] = {"id": cluster.id, "replacement": cluster.replacement}
        values["exists"] = not isinstance(cluster, DormantCluster)
        values["from"] = _date(cluster.season.begins)
        values["until"] = _date(cluster.season.ends)
        values["idleLimit"] = _span(cluster.season.idle_limit)
        for pool in cluster.pools:
            values[f"pools.{pool.name}"] = machines_in_words(pool)
        yield Answer("cluster", (name,), Subject("cluster", name), values=values)


def findings(comparison: Comparison, differences: Sequence[Difference]) -> Iterator[Finding]:
    """Yield the findings about clusters; also about equal ones, as the deployment may have to create one again."""
    if not comparison.unknown:
        before = {**comparison.old.dormant, **comparison.old.clusters}
        after = {**comparison.new.dormant, **comparison.new.clusters}
        for name in dict.fromkeys((*before, *after)):
            plan = _plan(comparison, name, before.get(name), after.get(name))
            yield from _fate(plan)
            yield from _adoption(plan)
            yield from _capacity(plan)
            yield from _settings(plan)
        yield from _earlier_clusters(comparison)
    for step in comparison.touched:
        if step.type.startswith(CLUSTER_TYPE):
            yield from _of_step(comparison, step)
    yield from _cancelled(comparison)


def _plan(comparison: Comparison, name: str, was: Cluster | None, becomes: Cluster | None) -> ClusterPlan:
    old = _own(comparison.old.clusters.get(name))
    new = _own(comparison.new.clusters.get(name))
    # The review does not read the former place of a stack that moves.
    moves = _moves(comparison)
    id_ = old.id if old and not moves else ""
    live = _live_clusters(comparison)
    cluster = live.get(id_) if live else None
    is_lost = cluster.failed if cluster else live is not None and not moves
    held = old.minimum_machines if old and not is_lost else ()
    return ClusterPlan(
        name=name,
        was=was,
        becomes=becomes,
        old=old,
        new=new,
        is_created=new is not None and new.id in _ids(comparison, What.CREATE),
        is_lost=is_lost,
        drains=id_ in (_ids(comparison, What.RETIRE) | comparison.after.kept.keys()) - deleted_by_engine(comparison),
        jobs=comparison.world.jobs_on(id_) if id_ else (),
        held=cluster.machines if cluster and not is_lost else held,
        edits=(*moves, *_edits(old, new, comparison.new.region)),
        is_continued=name in _continued(comparison),
        now=comparison.world.now,
    )


def _ids(comparison: Comparison, *actions: What) -> frozenset[str]:
    """Return the ids of the clusters that the plan does this with."""
    return frozenset(action.id for action in comparison.actions if action.what in actions)


def _own(cluster: Cluster | None) -> Cluster | None:
    return None if cluster is None or cluster.adopted else cluster


def _live_clusters(comparison: Comparison) -> Mapping[str, PersistentResource] | None:
    """Return the clusters of Vertex AI by id; None if they could not be read."""
    live = comparison.world.live
    if live.skipped or isinstance(live.clusters, Unknown):
        return None
    return {cluster.id: cluster for cluster in live.clusters}


def _continued(comparison: Comparison) -> frozenset[str]:
    published = comparison.published
    if published is None or comparison.new.dirty or published.under_way != comparison.new.commit:
        return frozenset()
    return replacing(published)


def _moves(comparison: Comparison) -> tuple[FieldDifference, ...]:
    old = comparison.old
    new = comparison.new
    sides = (("gcp:project", old.project, new.project), ("gcp:region", old.region, new.region))
    return tuple(FieldDifference(*each) for each in sides if each[1] != each[2])


def _edits(old: Cluster | None, new: Cluster | None, home: str) -> tuple[FieldDifference, ...]:
    if old is None or new is None:
        return ()
    region = FieldDifference("region", old.region or home, new.region or home)
    moved = (region,) if old.region != new.region else ()
    return (*moved, *compare(old, new))


def _of(
    kind: str,
    plan: ClusterPlan,
    sentence: str,
    fix: str = "",
    *,
    grade: Grade,
    key: str | None = None,
    cost: Price = _NO_COST,
) -> Finding:
    """Return a finding about a cluster's entry; `key` is the edited one below it, by default that of the first edit."""
    keys = [edit.key for edit in plan.edits] if key is None else [key]
    field = ""
    if keys:
        field = keys[0] if keys[0].startswith("gcp:") else f"slipway:persistentResources.{plan.name}.{keys[0]}"
    found = KINDS[kind].of(Subject("cluster", plan.name), sentence, fix, grade=grade, field=field)
    facts = {"jobs": len(distinct(plan.jobs)), "users": users(plan.jobs)}
    edits = [_edit_text(edit, _LONGEST_DETAIL) for edit in plan.edits]
    details = (*edits, *job_lines(plan.jobs, plan.now))
    return replace(found, details=details, cost=float(cost.known), facts=facts)


def _fate(plan: ClusterPlan) -> Iterator[Finding]:
    if plan.new is None:
        if plan.old:
            yield _deleted(plan)
    elif plan.old is None or (plan.is_lost and plan.is_created and not plan.edits):
        yield _created(plan, plan.new)
    elif plan.old.id != plan.new.id:
        yield _replaced(plan, plan.new)


def _created(plan: ClusterPlan, new: Cluster) -> Finding:
    price = idle_price(new)
    verb = "create" if plan.is_created else "offered again, as it still exists"
    why = ""
    if plan.old:
        verb = "create again"
        why = ", as the deployed cluster failed or no longer exists"
    elif isinstance(plan.was, DormantCluster) and plan.was.season.begins:
        why = ", as its season has begun"
    sentence = f"{verb}{why}: {_sizes(new)}, {dollars(price)} idle"
    return _of("cluster-created", plan, sentence, grade=Grade.NOTE, key="", cost=price)


def _replaced(plan: ClusterPlan, new: Cluster) -> Finding:
    if new.replacement == IN_PLACE and plan.is_created and not plan.is_lost:
        return _replaced_in_place(plan)
    needed = ""
    parts = [f"replace (create before delete): {_edits_text(plan)}"]
    if not plan.is_created:
        parts.append(f"`{new.id}` exists already")
    elif new.minimum_machines:
        needed = machines_text(new.minimum_machines, " more")
        parts.append(f"Needs {needed} now")
    if plan.is_lost:
        parts.append("The deployed cluster failed or no longer exists")
    elif plan.jobs and plan.drains:
        overlap = dollars(plan.held_price)
        parts.append(f"The old cluster finishes {jobs_text(plan.jobs)}, and is also billed until then ({overlap})")
    grade = Grade.NOTE if plan.is_continued else Grade.WARNING
    found = _of("cluster-replaced", plan, ". ".join(parts), grade=grade, cost=plan.held_price)
    return replace(found, facts={**found.facts, "needed": needed, "overlapPerHour": found.cost})


def _replaced_in_place(plan: ClusterPlan) -> Finding:
    parts = [f"replace (delete before create): {_edits_text(plan)}. Submissions fail until the new cluster runs"]
    scarce = machines_text(_scarce(plan.held))
    grade = Grade.WARNING
    fix = ""
    if plan.is_continued:
        grade = Grade.NOTE
    elif plan.jobs:
        grade = Grade.BLOCKING
        parts.append(f"the deployment is rejected until the cluster is idle: {jobs_text(plan.jobs)}")
        fix = "deploy after the last job ends, or set `replacement: rollover`"
    elif scarce:
        grade = Grade.BLOCKING
        parts.append(f"{scarce} may not be available again")
    return _of("cluster-replaced", plan, "; ".join(parts), fix, grade=grade)


def _deleted(plan: ClusterPlan) -> Finding:
    """Return the deletion of a cluster that is no longer declared, or whose season ended."""
    grade = Grade.BLOCKING if _scarce(plan.held) else Grade.WARNING
    if plan.is_lost or plan.is_dated or plan.is_continued:
        grade = Grade.NOTE
    sentence = f"delete: gives back {machines_text(plan.held) or 'no machines'}"
    if plan.is_lost:
        sentence = "delete: the cluster failed or no longer exists"
    elif plan.drains and plan.jobs:
        sentence = f"drain, then delete: takes no new jobs, and is deleted after {jobs_text(plan.jobs)}"
    elif plan.drains:
        sentence = "drain, then delete: takes no new jobs; a later deployment deletes it"
    if isinstance(plan.becomes, DormantCluster):
        sentence = f"{sentence}; {plan.becomes.reason(plan.now).state}"
    return _of("cluster-deleted", plan, sentence, grade=grade, key="")


def _adoption(plan: ClusterPlan) -> Iterator[Finding]:
    old = plan.was.id if plan.was and plan.was.adopted else ""
    new = plan.becomes.id if plan.becomes and plan.becomes.adopted else ""
    if old != new:
        sentence = f"`{old}` is no longer offered; its jobs continue, and its owner keeps it"
        if new:
            sentence = f"import: jobs run on `{new}`, which has another owner; deployments never change or delete it"
        yield _of("cluster-orphaned", plan, sentence, grade=Grade.WARNING, key="id")


@dataclass(frozen=True)
class _Part:
    """A part of a changed capacity."""

    text: str
    grade: Grade
    #: Below the cluster's entry.
    key: str


def _capacity(plan: ClusterPlan) -> Iterator[Finding]:
    """Yield that a cluster has fewer machines, other dates or other alternatives, in one finding."""
    if plan.was and plan.becomes:
        parts = [*_dates(plan, plan.was, plan.becomes), *_alternatives(plan.was, plan.becomes)]
        parts += _fewer_machines(plan, plan.was, plan.becomes)
    else:
        parts = [*_to_come(plan)]
    parts.sort(key=lambda part: -part.grade)
    if parts:
        sentence = "; ".join(part.text for part in parts[:_MOST_NAMED])
        found = _of("capacity-changed", plan, sentence, grade=parts[0].grade, key=parts[0].key)
        yield replace(found, details=(*(part.text for part in parts[_MOST_NAMED:]), *found.details))


def _to_come(plan: ClusterPlan) -> Iterator[_Part]:
    """Yield an entry that one side alone has, and whose cluster does not exist."""
    if isinstance(plan.becomes, DormantCluster):
        state = plan.becomes.reason(plan.now).state
        yield _Part(f"create later: {state}; {dollars(idle_price(plan.becomes))} idle", Grade.NOTE, "from")
    elif isinstance(plan.was, DormantCluster):
        yield _Part("removed from the stack before its cluster was created", Grade.NOTE, "")


def _fewer_machines(plan: ClusterPlan, was: Cluster, becomes: Cluster) -> Iterator[_Part]:
    """Yield the machine types of which fewer are always ready, or fewer can be had."""
    if was.adopted or becomes.adopted:
        return
    had = Counter(_accelerators(was))
    has = Counter(_accelerators(becomes))
    gives_back = plan.old is not None and plan.new is not None and not plan.is_lost and bool(had - has)
    grade = Grade.BLOCKING if gives_back else Grade.WARNING
    ready = _sums((str(pool.machine), pool.min) for pool in was.pools)
    most = _sums((str(pool.machine), pool.max) for pool in was.pools)
    ready_then = _sums((str(pool.machine), pool.min) for pool in becomes.pools)
    most_then = _sums((str(pool.machine), pool.max) for pool in becomes.pools)
    for machine in ready - ready_then:
        yield _Part(f"keeps {ready_then[machine]} instead of {ready[machine]} `{machine}`", grade, "pools")
    for machine in (most - most_then).keys() - (ready - ready_then).keys():
        text = f"can grow to {most_then[machine]} instead of {most[machine]} `{machine}`"
        yield _Part(text, Grade.WARNING, "pools")


def _accelerators(cluster: Cluster) -> Counter[str]:
    """Return the accelerators that a cluster always has, by type."""
    counts = _sums(
        (pool.machine.accelerator or "", pool.machine.accelerator_count * pool.min) for pool in cluster.pools
    )
    del counts[""]
    return counts


def _sums(amounts: Iterable[tuple[str, int]]) -> Counter[str]:
    sums = Counter[str]()
    for name, amount in amounts:
        sums[name] += amount
    return sums


def _dates(plan: ClusterPlan, was: Cluster, becomes: Cluster) -> Iterator[_Part]:
    old = was.season
    new = becomes.season
    # A cluster that the dates delete has a finding of its own.
    warning = Grade.NOTE if plan.old and plan.new is None else Grade.WARNING
    if old.begins != new.begins:
        is_less = (new.begins or _FIRST) > max(old.begins or _FIRST, plan.now)
        text = f"`from` {_date(old.begins)} → {_date(new.begins)}"
        yield _Part(text, warning if is_less else Grade.NOTE, "from")
    if old.ends != new.ends:
        end = new.ends or _LAST
        grade = Grade.BLOCKING if end < plan.now + _SOON else warning
        is_less = end < min(old.ends or _LAST, plan.now + _LONG)
        text = f"`until` {_date(old.ends)} → {_date(new.ends)}"
        yield _Part(text, grade if is_less else Grade.NOTE, "until")
    if old.idle_limit != new.idle_limit:
        is_less = (new.idle_limit or timedelta.max) < (old.idle_limit or timedelta.max)
        text = f"`idleLimit` {_span(old.idle_limit)} → {_span(new.idle_limit)}"
        yield _Part(text, warning if is_less else Grade.NOTE, "idleLimit")


def _alternatives(was: Cluster, becomes: Cluster) -> Iterator[_Part]:
    # A cluster that exists as one of its alternatives has no others.
    if becomes.alternative or was.alternative:
        return
    known = [_option(option) for option in was.options[1:]]
    machines = {pool.machine.type for option in was.options for pool in option.pools}
    for option in becomes.options[1:]:
        if _option(option) not in known:
            is_other = any(pool.machine.type not in machines for pool in option.pools)
            text = f"may be created as {_option(option)} if its machines are not available"
            yield _Part(text, Grade.WARNING if is_other or not known else Grade.NOTE, "alternatives")
    if len(becomes.alternatives) < len(was.alternatives):
        count = f"{len(was.alternatives)} → {len(becomes.alternatives)}"
        yield _Part(f"`alternatives` {count}", Grade.NOTE, "alternatives")


def _option(option: Cluster) -> str:
    return f"{_sizes(option)} in {option.region}" if option.region else _sizes(option)


def _settings(plan: ClusterPlan) -> Iterator[Finding]:
    """Yield settings that apply to later edits, and change nothing of the cluster itself."""
    was = _own(plan.was)
    becomes = _own(plan.becomes)
    if was is None or becomes is None or plan.edits:
        return
    usual = timedelta(seconds=CREATE_WITHIN_S)
    before = was.create_within or usual
    after = becomes.create_within or usual
    if after >= _WORKFLOW > before:
        sentence = f"`createWithin` {_span(before)} → {_span(after)}: the deployment workflow ends after 3 h"
        yield _of("cluster-updated", plan, sentence, grade=Grade.WARNING, key="createWithin")
    elif was.replacement != becomes.replacement:
        sentence = f"update in place: later edits replace it by `replacement` {was.replacement} → {becomes.replacement}"
        is_riskier = becomes.replacement == IN_PLACE or was.replacement == PROTECT
        grade = Grade.WARNING if is_riskier else Grade.NOTE
        yield _of("cluster-updated", plan, sentence, grade=grade, key="replacement")


def _earlier_clusters(comparison: Comparison) -> Iterator[Finding]:
    """Yield clusters that are current on neither side, and are deleted, or drain for longer than they should."""
    current = {cluster.id for cluster in (*comparison.old.clusters.values(), *comparison.new.clusters.values())}
    kept = comparison.before.kept
    late = {id_ for id_, entry in kept.items() if entry.overdue}
    drained = {*comparison.old.retiring, *kept}
    kind = KINDS["cluster-deleted"]
    for action in comparison.actions:
        subject = Subject("cluster", action.id)
        if action.what in _REMOVALS and action.id not in current:
            sentence = "delete: an earlier deployment created it and did not finish"
            if action.id in drained:
                sentence = "delete: drained, and its last job has ended"
            yield kind.of(subject, sentence, grade=Grade.NOTE)
        elif action.overdue and action.id not in (*late, *current):
            who = jobs_text(action.jobs) or action.why.words
            yield kind.of(subject, f"drains for longer than `retireWithin`: {who}", grade=Grade.WARNING)


def deleted_by_engine(comparison: Comparison) -> frozenset[str]:
    """Return the ids of clusters that Pulumi deletes, or that the program leaves out if the preview is incomplete."""
    steps = [step for step in comparison.touched if step.type.startswith(CLUSTER_TYPE)]
    gone = {step.physical for step in steps if step.destroyed}
    is_complete = comparison.preview is not None and comparison.preview.complete
    if is_complete or comparison.unknown or _moves(comparison):
        return frozenset(gone)
    declared = {*comparison.after.kept, *(cluster.id for cluster in comparison.new.clusters.values())}
    own = {cluster.id for cluster in comparison.old.clusters.values() if not cluster.adopted}
    earlier = {*comparison.old.retiring, *comparison.before.kept, *comparison.world.live.in_state}
    return frozenset(gone | ((own | earlier) - declared))


def _cancelled(comparison: Comparison) -> Iterator[Finding]:
    """Yield the jobs on clusters that are deleted under them."""
    clusters = _live_clusters(comparison) or {}
    busy = {cluster.id for cluster in clusters.values() if cluster.in_use}
    for id_ in sorted(deleted_by_engine(comparison)):
        jobs = comparison.world.jobs_on(id_)
        if jobs or id_ in busy:
            who = jobs_text(jobs) or "unlisted work"
            sentence = f"cancels {who}: Pulumi deletes `{id_}` without waiting"
            fix = "deploy after the jobs end, or keep the cluster declared until then"
            found = KINDS["jobs-cancelled"].of(_subject(comparison, id_), sentence, fix)
            facts = {"jobs": len(distinct(jobs)), "users": users(jobs)}
            yield replace(found, details=job_lines(jobs, comparison.world.now), facts=facts)


def _of_step(comparison: Comparison, step: Touched) -> Iterator[Finding]:
    """Yield a step of Pulumi that the plan does not have."""
    id_ = step.physical
    subject = _subject(comparison, id_)
    if step.destroyed:
        if id_ not in _ids(comparison, *_REMOVALS) and not _is_removed(comparison, id_):
            yield from _deleted_unplanned(comparison, step)
    elif step.fate is Fate.FORGOTTEN or step.goes:
        sentence = f"`{id_}` leaves Pulumi's state and keeps running: it is billed, and no deployment deletes it"
        yield KINDS["cluster-orphaned"].of(subject, sentence, grade=Grade.BLOCKING)
    elif step.fate is Fate.CHANGED and step.diffs:
        paths = join(f"`{path}`" for path in step.diffs[:_MOST_NAMED])
        sentence = f"Vertex AI can't update {paths} of a running cluster: the deployment fails, or ends its jobs"
        found = KINDS["cluster-rejected"].of(subject, sentence, "change it by an edit that replaces the cluster")
        yield replace(found, details=job_lines(comparison.world.jobs_on(id_), comparison.world.now))
    if step.fate in (Fate.CREATED, Fate.REPLACED, Fate.ADOPTED) and Side.AFTER not in comparison.unknown:
        yield from _created_unplanned(comparison, step)


def _is_removed(comparison: Comparison, id_: str) -> bool:
    """Return whether the cluster's entry is removed, which has a finding of its own."""
    cluster = _own(comparison.old.cluster_named(id_))
    return cluster is not None and cluster.name not in comparison.new.clusters


def _deleted_unplanned(comparison: Comparison, step: Touched) -> Iterator[Finding]:
    """Yield a cluster that Pulumi deletes although it is declared, or that no catalog has."""
    id_ = step.physical
    clusters = _live_clusters(comparison)
    region = step.was.get("location") or comparison.old.region
    # A review does not read the clusters of a region that has no machines.
    is_read = clusters is not None and region in (comparison.old.region, *regions())
    cluster = (clusters or {}).get(id_)
    if is_read and cluster is None:
        return
    held = cluster.machines if cluster else ()
    is_declared = id_ in comparison.after.kept or comparison.new.cluster_named(id_) is not None
    field = next(iter(step.replaces), "")
    because = f" because of `{field}`" if field else ""
    declared = ", although the program declares it" if is_declared else ""
    sentence = f"delete: Pulumi deletes `{id_}`{because}{declared}; gives back {machines_text(held) or 'its machines'}"
    is_known = is_read and not is_declared and not _scarce(held)
    grade = Grade.WARNING if is_known else Grade.BLOCKING
    fix = "find what in the program deletes it"
    yield KINDS["cluster-deleted"].of(_subject(comparison, id_), sentence, fix, grade=grade, field=field)


def _created_unplanned(comparison: Comparison, step: Touched) -> Iterator[Finding]:
    """Yield a cluster that Pulumi creates or imports, and that the catalog does not offer as such."""
    id_ = str(step.becomes.get("name", step.name))
    subject = _subject(comparison, id_)
    cluster = _own(comparison.new.cluster_named(id_))
    if cluster is None:
        if id_ not in comparison.after.kept:
            kind = "cluster-orphaned" if step.fate is Fate.ADOPTED else "cluster-created"
            sentence = f"Pulumi creates or imports `{id_}`, which the catalog does not offer: submissions can't use it"
            yield KINDS[kind].of(subject, sentence, grade=Grade.BLOCKING)
        return
    keys = _differing_requests(comparison, step, cluster)
    if keys:
        named = join(f"`{key}`" for key in keys[:_MOST_NAMED])
        sentence = f"Pulumi creates `{id_}` with other {named} than the catalog publishes"
        yield KINDS["cluster-updated"].of(subject, sentence, grade=Grade.BLOCKING)


def _differing_requests(comparison: Comparison, step: Touched, cluster: Cluster) -> list[str]:
    """Return the fields in which Pulumi's request differs from the published cluster."""
    catalog = comparison.new
    try:
        requested = PersistentResource.read(step.becomes).spec
    except MISREAD:
        return ["fields"]
    keys = [each.key for each in departures(cluster, requested, catalog.identity.label)]
    # An imported cluster keeps its names.
    keys = [key for key in keys if step.fate is not Fate.ADOPTED or not key.startswith(NAMES)]
    place = (cluster.region or catalog.region, catalog.project)
    if place != (step.becomes.get("location"), step.becomes.get("project")):
        keys.append("location")
    return keys


def _subject(comparison: Comparison, id_: str) -> Subject:
    cluster = comparison.old.cluster_named(id_) or comparison.new.cluster_named(id_)
    return Subject("cluster", cluster.name if cluster else id_)


def idle_price(cluster: Cluster) -> Price:
    """Return USD an hour of a cluster with nothing running."""
    return sum((pool.price_per_hour * pool.min for pool in cluster.pools), Price())


def machines_text(groups: Iterable[MachineGroup], more: str = "") -> str:
    """Return ``1 `a3-highgpu-8g` and 2 `n1-standard-8` ``; empty for none. `more` stands behind each number."""
    counts = _sums((str(group.machine), group.count) for group in groups)
    return join(f"{count:,}{more} `{machine}`" for machine, count in counts.items() if count)


def _scarce(groups: Iterable[MachineGroup]) -> tuple[MachineGroup, ...]:
    return tuple(group for group in groups if group.machine.accelerator)


def _sizes(cluster: Cluster) -> str:
    return join(machines_in_words(pool) for pool in cluster.pools)


def users(jobs: Iterable[VertexJob]) -> tuple[str, ...]:
    return tuple(sorted({job.user for job in jobs if job.user}))


def jobs_text(jobs: Iterable[VertexJob]) -> str:
    """Return ``job `tune-27b` (ada)``, or `3 jobs (ada and bob)`; empty for none."""
    listed = distinct(jobs)
    people = users(listed)
    if not listed:
        return ""
    what = f"job `{listed[0].called}`" if len(listed) == 1 else f"{len(listed)} jobs"
    named = join(people) if len(people) <= _MOST_NAMED else f"{len(people)} users"
    return f"{what} ({named})" if people else what


def job_lines(jobs: Iterable[VertexJob], now: datetime) -> tuple[str, ...]:
    """Return ``job `tune-27b` (ada, running 3 h 12 min)`` for each job, by name."""
    listed = sorted(distinct(jobs), key=lambda job: job.called)
    return tuple(f"job `{job.called}` ({job.owner_and_age(now)})" for job in listed)


def _edits_text(plan: ClusterPlan) -> str:
    texts = [_edit_text(edit, _LONGEST) for edit in plan.edits]
    more = len(texts) - _MOST_NAMED
    if more > 0:
        texts = [*texts[:_MOST_NAMED], f"{more} more"]
    return ", ".join(texts) or "no setting differs"


def _edit_text(edit: FieldDifference, longest: int) -> str:
    before = last_part(edit.before) if edit.before.startswith("projects/") else edit.before
    after = last_part(edit.after) if edit.after.startswith("projects/") else edit.after
    return f"`{edit.key}` {short(before, longest) or 'none'} → {short(after, longest) or 'none'}"


def _date(date: datetime | None) -> str:
    return moment_in_words(date) if date else "none"


def _span(span: timedelta | None) -> str:
    return exact_span(span.total_seconds()) if span else "none"
