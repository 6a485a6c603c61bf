"""Question: what happens to each cluster, and to the jobs on it, in the next deployment? Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from math import inf

from slipway.answers.answer import Answer, Difference, Value
from slipway.answers.comparison import Comparison, Side
from slipway.base.formatting import exact_span, few, join, last_part, sides
from slipway.deploying.engine.touched import CLUSTER_TYPE, Fate, Touched
from slipway.deploying.generations.action import DELETE, What
from slipway.deploying.generations.published_clusters import departures
from slipway.google.answers import MISREAD
from slipway.google.clusters import PersistentResource
from slipway.google.jobs import VertexJob, distinct
from slipway.google.live import Unknown
from slipway.model.catalog.clusters import Cluster, DormantCluster, PricedAlternative
from slipway.model.catalog.withdrawal import replacing
from slipway.model.cluster import CREATE_WITHIN_S, IN_PLACE, PROTECT, ROLLOVER
from slipway.model.cluster_fields import NAMES, FieldDifference, compare, machines_in_words
from slipway.model.findings.finding import Finding, Grade, Subject
from slipway.model.findings.kinds import KINDS
from slipway.model.machines.spec import MachineGroup
from slipway.model.machines.table import regions
from slipway.model.prices import UNKNOWN, Price, dollars
from slipway.model.season import moment_in_words

_MOST_NAMED = 2
_MOST_WORDS = 30
_LONGEST = 30
_LONGEST_DETAIL = 200
_SOON = timedelta(days=7)
"""An end sooner than this surprises people who have jobs in progress."""
_LONG = timedelta(days=365)
"""A new end later than this surprises no one."""
_WORKFLOW = timedelta(hours=2, minutes=30)
"""A longer wait hardly fits into a deployment workflow, which ends after three hours."""
_SAFEST_LAST = (IN_PLACE, ROLLOVER, PROTECT)
_REMOVALS = (*DELETE, What.CLEAR)
_CHANGED = "capacity-changed"
_UPDATED = "cluster-updated"


@dataclass(frozen=True)
class Amount:
    """A setting of which people want more, and the finding about less of it."""

    kind: str
    #: Below the cluster's entry.
    field: str
    text: str
    size: float
    #: A decrease to less than this is blocking.
    vital: float = -inf

    @property
    def nothing(self) -> Amount:
        """The amount on the side that lacks the setting."""
        return replace(self, text="none", size=0)

    def grade_of(self, after: Amount) -> Grade:
        """Return the severity of the change from this amount to another one."""
        if after.size >= self.size:
            return Grade.NOTE
        return Grade.BLOCKING if after.size < self.vital else Grade.WARNING


@dataclass(frozen=True)
class ClusterPlan:
    """The deployed and the declared cluster of a name, and what the deployment does with both.

    A missing cluster has no id and no machines.
    """

    name: str
    #: The entry on each side, also if its cluster does not exist, or has another owner.
    was: Cluster
    becomes: Cluster
    #: The stack's own existing cluster on each side.
    old: Cluster
    new: Cluster
    #: The declared cluster does not exist yet.
    is_created: bool
    #: The program declares the deployed cluster until its last job ends, and Pulumi does not delete it.
    drains: bool
    #: The unfinished jobs on the deployed cluster.
    jobs: tuple[VertexJob, ...]
    #: `failed or no longer exists` if the deployed cluster has no machines; empty otherwise.
    loss: str
    #: The machines of the deployed cluster: those that are up, or the minimum if they could not be read.
    held: tuple[MachineGroup, ...]
    edits: tuple[FieldDifference, ...]
    #: An interrupted deployment of this commit began to replace it in place.
    is_continued: bool
    now: datetime

    @property
    def dormancy(self) -> str:
        """The state of a declared cluster that does not exist; empty for others."""
        return self.becomes.reason(self.now).state if isinstance(self.becomes, DormantCluster) else ""

    @property
    def is_announced(self) -> bool:
        """Return whether no new edit ends the cluster: it is lost, its dates end it, or this commit did already."""
        is_dated = bool(self.dormancy) and self.was.season == self.becomes.season
        return bool(self.loss) or is_dated or self.is_continued

    @property
    def gravest(self) -> Grade:
        """The severity that no smaller amount exceeds."""
        # The end of a cluster has a finding of its own.
        if self.old.id and not self.new.id:
            return Grade.NOTE
        return Grade.BLOCKING if self.held else Grade.WARNING


def answers(comparison: Comparison, side: Side) -> Iterator[Answer]:
    """Yield an answer for each entry of the stack's clusters: its cluster, machines and dates."""
    catalog = comparison.old if side is Side.BEFORE else comparison.new
    for name, cluster in {**catalog.dormant, **catalog.clusters}.items():
        values: dict[str, Value] = {"id": cluster.id, "exists": not isinstance(cluster, DormantCluster)}
        for setting, amount in _amounts(cluster, comparison.world.now).items():
            values[setting] = amount.text
        yield Answer("cluster", (name,), Subject("cluster", name), values=values)


def findings(comparison: Comparison, differences: Sequence[Difference]) -> Iterator[Finding]:
    """Yield the findings about clusters; also about equal ones, as the deployment may have to create one again."""
    if not comparison.unknown:
        for plan in _plans(comparison):
            yield from _fate(plan)
            yield from _adoption(plan)
            yield from _amounts_changed(plan)
        yield from _earlier_clusters(comparison)
    for step in _cluster_steps(comparison):
        yield from _of_step(comparison, step)
    yield from _cancelled(comparison)


def _plans(comparison: Comparison) -> Iterator[ClusterPlan]:
    before = {**comparison.old.dormant, **comparison.old.clusters}
    after = {**comparison.new.dormant, **comparison.new.clusters}
    for name in dict.fromkeys((*before, *after)):
        nothing = Cluster(name=name, pools=(), id="")
        was = before.get(name, nothing)
        becomes = after.get(name, nothing)
        old = was if _is_own(was) else nothing
        new = becomes if _is_own(becomes) else nothing
        yield _plan(comparison, name, (was, becomes), (old, new))


def _is_own(cluster: Cluster) -> bool:
    """Return whether the stack owns the cluster, and it exists or is to be created."""
    return not cluster.adopted and not isinstance(cluster, DormantCluster)


def _plan(
    comparison: Comparison, name: str, entries: tuple[Cluster, Cluster], own: tuple[Cluster, Cluster]
) -> ClusterPlan:
    old, new = own
    moves = _moves(comparison)
    # The review does not read the former place of a stack that moves.
    known = replace(old, id="", pools=()) if moves else old
    live = _live_clusters(comparison) or {}
    is_lost = _live_clusters(comparison) is not None and known.id not in {"", *live}
    held = live[known.id].machines if known.id in live else known.minimum_machines
    return ClusterPlan(
        name,
        *entries,
        *own,
        is_created=new.id in _ids(comparison, What.CREATE),
        drains=known.id in _ids(comparison, What.RETIRE) - deleted_by_engine(comparison),
        jobs=comparison.world.jobs_on(known.id),
        loss="failed or no longer exists" if is_lost else "",
        held=() if is_lost else held,
        edits=(*moves, *_edits(old, new, comparison.new.region)),
        is_continued=name in _continued(comparison),
        now=comparison.world.now,
    )


def _ids(comparison: Comparison, *actions: What) -> frozenset[str]:
    """Return the ids of the clusters that the plan does this with."""
    return frozenset(action.id for action in comparison.actions if action.what in actions)


def _live_clusters(comparison: Comparison) -> Mapping[str, PersistentResource] | None:
    """Return the clusters of Vertex AI that did not fail, by id; None if they could not be read."""
    live = comparison.world.live
    if live.skipped or isinstance(live.clusters, Unknown):
        return None
    return {cluster.id: cluster for cluster in live.clusters if not cluster.failed}


def _continued(comparison: Comparison) -> frozenset[str]:
    published = comparison.published
    if published is None or comparison.new.dirty or published.under_way != comparison.new.commit:
        return frozenset()
    return replacing(published)


def _moves(comparison: Comparison) -> tuple[FieldDifference, ...]:
    old = comparison.old
    new = comparison.new
    project = FieldDifference("gcp:project", old.project, new.project)
    return _differing(project, FieldDifference("gcp:region", old.region, new.region))


def _edits(old: Cluster, new: Cluster, home: str) -> tuple[FieldDifference, ...]:
    if not (old.id and new.id):
        return ()
    region = FieldDifference("region", old.region or home, new.region or home)
    return (*_differing(region), *compare(old, new))


def _differing(*fields: FieldDifference) -> tuple[FieldDifference, ...]:
    return tuple(field for field in fields if field.before != field.after)


def _of(kind: str, plan: ClusterPlan, sentence: str, fix: str = "", *, grade: Grade, key: str = "") -> Finding:
    """Return a finding about a cluster's entry; `key` is the edited one, below the entry or of the whole stack."""
    field = f"slipway:persistentResources.{plan.name}{_phrase('.', key)}"
    if key.startswith("gcp:"):
        field = key
    found = KINDS[kind].of(Subject("cluster", plan.name), sentence, fix, grade=grade, field=field)
    edits = [_edit_text(edit, _LONGEST_DETAIL) for edit in plan.edits]
    details = (*edits, *job_lines(plan.jobs, plan.now))
    return replace(found, details=details, facts={"jobs": len(distinct(plan.jobs)), "users": users(plan.jobs)})


def _phrases(first: str, *others: str) -> str:
    """Return the phrases as one sentence, the most important first; what makes it too long is left out."""
    sentence = first
    for phrase in filter(None, others):
        longer = f"{sentence}; {phrase}"
        if len(longer.split()) <= _MOST_WORDS:
            sentence = longer
    return sentence


def _phrase(start: str, value: str, end: str = "") -> str:
    """Return a phrase with a value; empty without a value."""
    return f"{start}{value}{end}" if value else ""


def _fate(plan: ClusterPlan) -> Iterator[Finding]:
    is_again = plan.loss and plan.is_created and not plan.edits
    if not plan.new.id:
        yield from _gone(plan)
    elif is_again or not plan.old.id:
        yield _created(plan)
    elif plan.old.id != plan.new.id:
        yield _replaced(plan)


def _gone(plan: ClusterPlan) -> Iterator[Finding]:
    """Yield what an entry without a cluster had before."""
    if plan.old.id:
        yield _deleted(plan)
    elif plan.dormancy and not plan.was.id:
        sentence = f"create later: {plan.dormancy}; {dollars(_idle_price(plan.becomes))} idle"
        yield _of(_CHANGED, plan, sentence, grade=Grade.NOTE, key="from")
    elif isinstance(plan.was, DormantCluster) and not plan.becomes.id:
        yield _of(_CHANGED, plan, "removed from the stack before its cluster was created", grade=Grade.NOTE)


def _created(plan: ClusterPlan) -> Finding:
    price = _idle_price(plan.new)
    verb = "create" if plan.is_created else "offer again"
    loss = _phrase("the deployed cluster ", plan.loss)
    sentence = _phrases(f"{verb}: {_sizes(plan.new)}, {dollars(price)} idle", loss)
    return replace(_of("cluster-created", plan, sentence, grade=Grade.NOTE), cost=float(price.known))


def _replaced(plan: ClusterPlan) -> Finding:
    if plan.new.replacement == IN_PLACE and plan.is_created and not plan.loss:
        return _replaced_in_place(plan)
    needed = machines_text(plan.new.minimum_machines) if plan.is_created else ""
    price = _price(plan.old, plan.held)
    unfinished = jobs_text(plan.jobs)
    exists = "" if plan.is_created else f"`{plan.new.id}` exists already"
    billed = ""
    if plan.drains:
        billed = _phrase("billed twice until the end of ", unfinished, f" ({dollars(price)})")
        billed = billed or f"a later deployment deletes `{plan.old.id}`"
    sentence = _phrases(
        f"replace (create before delete): {_edits_text(plan)}",
        exists,
        billed,
        _phrase("the deployed cluster ", plan.loss),
        _phrase("needs ", needed, " now"),
    )
    grade = Grade.NOTE if plan.is_continued else Grade.WARNING
    found = _of("cluster-replaced", plan, sentence, grade=grade, key=_first_key(plan))
    facts = {**found.facts, "needed": needed, "overlapPerHour": float(price.known)}
    return replace(found, facts=facts, cost=float(price.known))


def _replaced_in_place(plan: ClusterPlan) -> Finding:
    sentence = _phrases(
        f"replace (delete before create): {_edits_text(plan)}; there is no pool meanwhile",
        _phrase("`up` is rejected until the end of ", jobs_text(plan.jobs)),
        _phrase("", machines_text(_scarce(plan.held)), " may not be available again"),
    )
    grade = Grade.BLOCKING if plan.jobs or _scarce(plan.held) else Grade.WARNING
    if plan.is_continued:
        grade = Grade.NOTE
    fix = "set `replacement: rollover` if quota suffices for both clusters"
    return _of("cluster-replaced", plan, sentence, fix, grade=grade, key=_first_key(plan))


def _deleted(plan: ClusterPlan) -> Finding:
    """Return the deletion of a cluster that is no longer declared, or whose season ended."""
    grade = Grade.BLOCKING if _scarce(plan.held) else Grade.WARNING
    sentence = _phrases(
        "drain, then delete: takes no new jobs" if plan.drains else "delete",
        _phrase("the deployed cluster ", plan.loss),
        _phrase("finishes ", jobs_text(plan.jobs)),
        _phrase("gives back ", machines_text(plan.held)),
        plan.dormancy,
    )
    return _of("cluster-deleted", plan, sentence, grade=Grade.NOTE if plan.is_announced else grade)


def _adoption(plan: ClusterPlan) -> Iterator[Finding]:
    old = _adopted_id(plan.was)
    new = _adopted_id(plan.becomes)
    if old != new:
        sentence = f"adopted cluster {old} → {new}: another owner has it, and deployments never change or delete it"
        yield _of("cluster-orphaned", plan, sentence, grade=Grade.WARNING, key="id")


def _adopted_id(cluster: Cluster) -> str:
    return f"`{cluster.id}`" if cluster.adopted else "none"


def _amounts(cluster: Cluster, now: datetime) -> Mapping[str, Amount]:
    """Return the amounts of a cluster by their names in sentences."""
    season = cluster.season
    begins = max(season.begins or now, now)
    ends = min(season.ends or now + _LONG, now + _LONG)
    idle_limit = season.idle_limit or timedelta.max
    wait = cluster.create_within or timedelta(seconds=CREATE_WITHIN_S)
    safety = _SAFEST_LAST.index(cluster.replacement)
    found = {
        "`from`": Amount(_CHANGED, "from", _date(season.begins), -begins.timestamp()),
        "`until`": Amount(_CHANGED, "until", _date(season.ends), ends.timestamp(), (now + _SOON).timestamp()),
        "`idleLimit`": Amount(_CHANGED, "idleLimit", _span(season.idle_limit), idle_limit.total_seconds()),
        "`createWithin`": Amount(_UPDATED, "createWithin", _span(wait), -max(wait, _WORKFLOW).total_seconds()),
        "`replacement`": Amount(_UPDATED, "replacement", cluster.replacement, safety),
    }
    for number, option in enumerate(cluster.alternatives, 1):
        text = f"{_sizes(option)} in {option.region or 'the same region'}"
        found[f"alternative {number}"] = Amount(_CHANGED, "alternatives", text, -1)
    return {**found, **_machines(cluster)}


def _machines(cluster: Cluster) -> Mapping[str, Amount]:
    """Return the machines by type that are always ready, and that the cluster can have."""
    ready = Counter[str]()
    most = Counter[str]()
    for pool in cluster.pools:
        ready[f"`{pool.machine}` always ready"] += pool.min
        most[f"`{pool.machine}` at most"] += pool.max
    accelerators = Counter[str]()
    for group in _scarce(cluster.minimum_machines):
        accelerators[f"`{group.machine.accelerator}` always ready"] += group.count * group.machine.accelerator_count
    return {
        **{name: Amount(_CHANGED, "pools", str(count), count, inf) for name, count in accelerators.items()},
        **{name: Amount(_CHANGED, "pools", str(count), count) for name, count in (ready + most).items()},
    }


def _amounts_changed(plan: ClusterPlan) -> Iterator[Finding]:
    """Yield a finding for each kind of amounts that change; beside an edit that replaces the cluster, that shrink."""
    was = plan.was
    becomes = plan.becomes
    if not (was.id and becomes.id) or was.adopted or becomes.adopted:
        return
    # A cluster that was created as an alternative has other machines by itself, and no further alternatives.
    if was.alternative != becomes.alternative:
        return
    changes = _changed(_amounts(was, plan.now), _amounts(becomes, plan.now))
    if plan.edits:
        yield from _of_changes(plan, _CHANGED, [change for change in changes if change.grade > Grade.NOTE])
        return
    yield from _of_changes(plan, _CHANGED, changes)
    yield from _of_changes(plan, _UPDATED, changes)


@dataclass(frozen=True)
class _Change:
    """A changed amount."""

    amount: Amount
    grade: Grade
    text: str


def _changed(before: Mapping[str, Amount], after: Mapping[str, Amount]) -> list[_Change]:
    changes = []
    for name, amount in {**before, **after}.items():
        was = before.get(name, amount.nothing)
        now = after.get(name, amount.nothing)
        if was != now:
            changes.append(_Change(amount, was.grade_of(now), f"{name} {was.text} → {now.text}"))
    return sorted(changes, key=lambda change: -change.grade)


def _of_changes(plan: ClusterPlan, kind: str, changes: Sequence[_Change]) -> Iterator[Finding]:
    """Yield in one finding the changes of a kind, of which the most severe is first."""
    of_kind = [change for change in changes if change.amount.kind == kind]
    if not of_kind:
        return
    texts = [change.text for change in of_kind]
    grade = min(of_kind[0].grade, plan.gravest)
    found = _of(kind, plan, "; ".join(texts[:_MOST_NAMED]), grade=grade, key=of_kind[0].amount.field)
    yield replace(found, details=(*texts[_MOST_NAMED:], *found.details))


def _earlier_clusters(comparison: Comparison) -> Iterator[Finding]:
    """Yield clusters that are current on neither side, and are deleted, or drain for longer than they should."""
    current = {cluster.id for cluster in (*comparison.old.clusters.values(), *comparison.new.clusters.values())}
    late = {id_ for id_, entry in comparison.before.kept.items() if entry.overdue}
    kind = KINDS["cluster-deleted"]
    for action in comparison.actions:
        subject = Subject("cluster", action.id)
        if action.id in current:
            continue
        if action.what in _REMOVALS:
            yield kind.of(subject, "delete: an earlier deployment left it, and no job uses it", grade=Grade.NOTE)
        elif action.overdue and action.id not in late:
            who = jobs_text(action.jobs) or action.why.words
            yield kind.of(subject, f"drains for longer than `retireWithin`: {who}", grade=Grade.NOTE)


def _cluster_steps(comparison: Comparison) -> list[Touched]:
    return [step for step in comparison.touched if step.type.startswith(CLUSTER_TYPE)]


def deleted_by_engine(comparison: Comparison) -> frozenset[str]:
    """Return the ids of clusters that Pulumi deletes, or that the program leaves out if the preview is incomplete."""
    gone = frozenset(step.physical for step in _cluster_steps(comparison) if step.destroyed)
    is_complete = comparison.preview is not None and comparison.preview.complete
    if is_complete or comparison.unknown or _moves(comparison):
        return gone
    declared = {*comparison.after.kept, *(cluster.id for cluster in comparison.new.clusters.values())}
    own = {cluster.id for cluster in comparison.old.clusters.values() if not cluster.adopted}
    earlier = {*comparison.old.retiring, *comparison.before.kept, *comparison.world.live.in_state}
    return gone | ((own | earlier) - declared)


def _cancelled(comparison: Comparison) -> Iterator[Finding]:
    """Yield the jobs on clusters that are deleted under them."""
    clusters = _live_clusters(comparison) or {}
    for id_ in sorted(deleted_by_engine(comparison)):
        jobs = comparison.world.jobs_on(id_)
        who = jobs_text(jobs)
        if id_ in clusters and clusters[id_].in_use:
            who = who or "unlisted work"
        if who:
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
        yield from _deleted_unplanned(comparison, step)
    elif step.fate is Fate.FORGOTTEN or step.goes:
        sentence = f"`{id_}` leaves Pulumi's state and keeps running: it is billed, and no deployment deletes it"
        yield KINDS["cluster-orphaned"].of(subject, sentence, grade=Grade.BLOCKING)
    elif step.fate is Fate.CHANGED and step.diffs:
        paths = few(f"`{path}`" for path in step.diffs)
        sentence = f"Vertex AI can't update {paths} of a running cluster: the deployment fails, or ends its jobs"
        found = KINDS["cluster-rejected"].of(subject, sentence, "change it by an edit that replaces the cluster")
        yield replace(found, details=job_lines(comparison.world.jobs_on(id_), comparison.world.now))
    if step.fate in (Fate.CREATED, Fate.REPLACED, Fate.ADOPTED) and Side.AFTER not in comparison.unknown:
        yield from _created_unplanned(comparison, step)


def _deleted_unplanned(comparison: Comparison, step: Touched) -> Iterator[Finding]:
    """Yield a cluster that Pulumi deletes although it is declared, or that no catalog has."""
    id_ = step.physical
    live = _live_clusters(comparison)
    # A review does not read the clusters of a region that has no machines.
    is_read = live is not None and step.was.get("location") in (None, comparison.old.region, *regions())
    clusters = live or {}
    is_gone = is_read and id_ not in clusters
    if is_gone or _is_planned_removal(comparison, id_):
        return
    held = clusters[id_].machines if id_ in clusters else ()
    is_declared = id_ in comparison.after.kept or comparison.new.cluster_named(id_) is not None
    although = ""
    if is_declared:
        although = ", although the program declares it"
    sentence = _phrases(
        f"delete: Pulumi deletes `{id_}`{_phrase(' because of ', few(step.replaces))}{although}",
        f"gives back {machines_text(held) or 'unknown machines'}",
    )
    is_minor = held and not is_declared and not _scarce(held)
    grade = Grade.WARNING if is_minor else Grade.BLOCKING
    fix = "find what in the program deletes it"
    field = "".join(step.replaces[:1])
    yield KINDS["cluster-deleted"].of(_subject(comparison, id_), sentence, fix, grade=grade, field=field)


def _is_planned_removal(comparison: Comparison, id_: str) -> bool:
    """Return whether the plan deletes the cluster, or its entry is removed: both have a finding of their own."""
    cluster = comparison.old.cluster_named(id_)
    if cluster is not None and cluster.name not in comparison.new.clusters and not cluster.adopted:
        return True
    return id_ in _ids(comparison, *_REMOVALS)


def _created_unplanned(comparison: Comparison, step: Touched) -> Iterator[Finding]:
    """Yield a cluster that Pulumi creates or imports, and that the catalog does not offer as such."""
    id_ = str(step.becomes.get("name", step.name))
    subject = _subject(comparison, id_)
    if id_ in comparison.after.kept:
        return
    cluster = comparison.new.cluster_named(id_)
    if cluster is None or cluster.adopted:
        kind = "cluster-orphaned" if step.fate is Fate.ADOPTED else "cluster-created"
        sentence = f"Pulumi creates or imports `{id_}`, which the catalog does not offer: submissions can't use it"
        yield KINDS[kind].of(subject, sentence, grade=Grade.BLOCKING)
        return
    keys = _differing_requests(comparison, step, cluster)
    if keys:
        sentence = f"Pulumi creates `{id_}` with other {few(keys)} than the catalog publishes"
        yield KINDS[_UPDATED].of(subject, sentence, grade=Grade.BLOCKING)


def _differing_requests(comparison: Comparison, step: Touched, cluster: Cluster) -> list[str]:
    """Return the fields in which Pulumi's request differs from the published cluster."""
    catalog = comparison.new
    try:
        requested = PersistentResource.read(step.becomes).spec
    except MISREAD:
        return ["fields"]
    # An imported cluster keeps its names.
    ignored = NAMES if step.fate is Fate.ADOPTED else ()
    departing = departures(cluster, requested, catalog.identity.label)
    keys = [f"`{each.key}`" for each in departing if not each.key.startswith(ignored)]
    place = (cluster.region or catalog.region, catalog.project)
    if place != (step.becomes.get("location"), step.becomes.get("project")):
        keys.append("`location`")
    return keys


def _subject(comparison: Comparison, id_: str) -> Subject:
    cluster = comparison.old.cluster_named(id_) or comparison.new.cluster_named(id_)
    return Subject("cluster", cluster.name if cluster else id_)


def _idle_price(cluster: Cluster) -> Price:
    return _price(cluster, cluster.minimum_machines)


def _price(cluster: Cluster, groups: Iterable[MachineGroup]) -> Price:
    """Return USD an hour of machines of a cluster."""
    prices = {pool.machine: pool.price_per_hour for pool in cluster.pools}
    return sum((prices.get(group.machine, UNKNOWN) * group.count for group in groups), Price())


def machines_text(groups: Iterable[MachineGroup]) -> str:
    """Return ``1 `a3-highgpu-8g` and 2 `n1-standard-8` ``; empty for none."""
    counts = Counter[str]()
    for group in groups:
        counts[str(group.machine)] += group.count
    return join(f"{count:,} `{machine}`" for machine, count in (+counts).items())


def _scarce(groups: Iterable[MachineGroup]) -> tuple[MachineGroup, ...]:
    return tuple(group for group in groups if group.machine.accelerator)


def _sizes(cluster: Cluster | PricedAlternative) -> str:
    return join(machines_in_words(pool) for pool in cluster.pools)


def users(jobs: Iterable[VertexJob]) -> tuple[str, ...]:
    return tuple(sorted({job.user for job in jobs if job.user}))


def jobs_text(jobs: Iterable[VertexJob]) -> str:
    """Return ``job `tune-27b` (ada) and 3 more``; empty for none."""
    return few(f"job `{job.called}` ({job.user or 'unknown user'})" for job in distinct(jobs))


def job_lines(jobs: Iterable[VertexJob], now: datetime) -> tuple[str, ...]:
    """Return ``job `tune-27b` (ada, running 3 h 12 min)`` for each job, by name."""
    listed = sorted(distinct(jobs), key=lambda job: job.called)
    return tuple(f"job `{job.called}` ({job.owner_and_age(now)})" for job in listed)


def _first_key(plan: ClusterPlan) -> str:
    return plan.edits[0].key if plan.edits else ""


def _edits_text(plan: ClusterPlan) -> str:
    return few(_edit_text(edit, _LONGEST) for edit in plan.edits) or "no setting differs"


def _edit_text(edit: FieldDifference, longest: int) -> str:
    before = _shown(edit.before)
    after = _shown(edit.after)
    if before == after:
        before = edit.before
        after = edit.after
    before, after = sides(before, after, longest)
    return f"`{edit.key}` {before} → {after}"


def _shown(value: str) -> str:
    if value.startswith("projects/"):
        value = last_part(value)
    return value or "none"


def _date(date: datetime | None) -> str:
    return moment_in_words(date) if date else "none"


def _span(span: timedelta | None) -> str:
    return exact_span(span.total_seconds()) if span else "none"
