"""Question: what happens to each cluster, and to the jobs on it, in the next deployment? Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from math import inf

from slipway.answers import cluster_steps
from slipway.answers.answer import Answer, Difference, Value
from slipway.answers.cluster_texts import job_lines, jobs_text, machines_text, phrase, phrases, scarce, users
from slipway.answers.comparison import Comparison, Side
from slipway.base.formatting import exact_span, few, join, last_part, short, sides
from slipway.deploying.generations.action import DELETE, REMOVALS, Action, What
from slipway.google.jobs import VertexJob, distinct
from slipway.model.catalog.clusters import Cluster, DormantCluster, PricedAlternative
from slipway.model.cluster import CREATE_WITHIN_S, IN_PLACE, PROTECT, ROLLOVER
from slipway.model.cluster_fields import FieldDifference, compare, machines_in_words
from slipway.model.findings.finding import Finding, Grade, Subject
from slipway.model.findings.kinds import KINDS
from slipway.model.machines.spec import MachineGroup
from slipway.model.prices import UNKNOWN, Price, dollars
from slipway.model.season import moment_in_words

_MOST_NAMED = 2
_LONGEST = 30
_LONGEST_DETAIL = 200
_SOON = timedelta(days=7)
"""An end sooner than this surprises people who have jobs in progress."""
_LONG = timedelta(days=365)
"""A new end later than this surprises no one."""
_WORKFLOW = timedelta(hours=2, minutes=30)
_EFFECTS = {"`until`": "; then the next deployment deletes it"}
"""Effects of a new amount."""
"""A longer wait hardly fits into a deployment workflow, which ends after three hours."""
_SAFEST_LAST = (IN_PLACE, ROLLOVER, PROTECT)
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
    #: The deployment deletes the deployed cluster, which no job uses.
    is_idle: bool
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
    def idle_limit(self) -> str:
        """The reason if this deployment deletes it because no job has used it for long; empty for another one."""
        if not isinstance(self.becomes, DormantCluster) or self.becomes.why != "idle":
            return ""
        return f"is given up: no job for longer than its `idleLimit` of {_span(self.becomes.season.idle_limit)}"

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
    yield from cluster_steps.findings(comparison)


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
    live = comparison.world.live_clusters or {}
    is_lost = comparison.world.live_clusters is not None and known.id not in {"", *live}
    held = live[known.id].machines if known.id in live else known.minimum_machines
    return ClusterPlan(
        name,
        *entries,
        *own,
        is_created=new.id in comparison.planned(What.CREATE),
        drains=known.id in comparison.planned(What.RETIRE) - cluster_steps.deleted_by_engine(comparison),
        is_idle=known.id in comparison.planned(*DELETE),
        jobs=comparison.world.jobs_on(known.id),
        loss="failed or no longer exists" if is_lost else "",
        held=() if is_lost else held,
        edits=(*moves, *_edits(old, new, comparison.new.region)),
        is_continued=name in (comparison.interrupted or ()),
        now=comparison.world.now,
    )


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
    field = f"slipway:persistentResources.{plan.name}{phrase('.', key)}"
    if key.startswith("gcp:"):
        field = key
    found = KINDS[kind].of(Subject("cluster", plan.name), sentence, fix, grade=grade, field=field)
    edits = [_edit_text(edit, _LONGEST_DETAIL) for edit in plan.edits]
    details = (*edits, *job_lines(plan.jobs, plan.now))
    return replace(found, details=details, facts={"jobs": len(distinct(plan.jobs)), "users": users(plan.jobs)})


def _fate(plan: ClusterPlan) -> Iterator[Finding]:
    is_again = plan.loss and plan.is_created and not plan.edits
    if not plan.new.id:
        yield from _ended(plan)
    elif is_again or not plan.old.id:
        yield _created(plan)
    elif plan.old.id != plan.new.id:
        yield _replaced(plan)


def _ended(plan: ClusterPlan) -> Iterator[Finding]:
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
    loss = phrase("the deployed cluster ", plan.loss)
    sentence = phrases(f"{verb}: {_sizes(plan.new)}, {dollars(price)} idle", loss)
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
        billed = phrase("billed twice until the end of ", unfinished, f" ({dollars(price)})")
        billed = billed or f"a later deployment deletes `{plan.old.id}`"
    sentence = phrases(
        f"replace (create before delete): {_edits_text(plan)}",
        exists,
        billed,
        phrase("the deployed cluster ", plan.loss),
        phrase("needs ", needed, " now"),
    )
    grade = Grade.NOTE if plan.is_continued else Grade.WARNING
    found = _of("cluster-replaced", plan, sentence, grade=grade, key=_first_key(plan))
    facts = {**found.facts, "needed": needed, "overlapPerHour": float(price.known)}
    details = found.details
    if plan.is_idle:
        details = (*details, f"`{plan.old.id}` is idle and is deleted")
    return replace(found, facts=facts, details=details, cost=float(price.known))


def _replaced_in_place(plan: ClusterPlan) -> Finding:
    sentence = phrases(
        "replace (delete before create): there is no pool meanwhile",
        phrase("`up` is rejected until the end of ", jobs_text(plan.jobs)),
        phrase("", machines_text(scarce(plan.held)), " may not be available again"),
        _edits_text(plan),
    )
    grade = Grade.BLOCKING if plan.jobs or scarce(plan.held) else Grade.WARNING
    if plan.is_continued:
        grade = Grade.NOTE
    fix = "set `replacement: rollover` if quota suffices for both clusters"
    return _of("cluster-replaced", plan, sentence, fix, grade=grade, key=_first_key(plan))


def _deleted(plan: ClusterPlan) -> Finding:
    """Return the deletion of a cluster that is no longer declared, or whose season ended."""
    grade = Grade.BLOCKING if scarce(plan.held) else Grade.WARNING
    sentence = phrases(
        "drain, then delete: takes no new jobs" if plan.drains else "delete",
        phrase("the deployed cluster ", plan.loss),
        phrase("finishes ", jobs_text(plan.jobs)),
        phrase("gives back ", machines_text(plan.held)),
        plan.idle_limit or plan.dormancy,
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
        "`createWithin`": Amount(_UPDATED, "createWithin", _wait(wait), -max(wait, _WORKFLOW).total_seconds()),
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
    for group in scarce(cluster.minimum_machines):
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
        changes = [change for change in changes if change.grade > Grade.NOTE and change.amount.field != "replacement"]
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
            effect = _EFFECTS.get(name, "") if now.text != "none" else ""
            changes.append(_Change(amount, was.grade_of(now), f"{name} {was.text} → {now.text}{effect}"))
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
    """Yield clusters that are current on neither side: deleted, taken over, or draining for longer than they should."""
    current = {cluster.id for cluster in (*comparison.old.clusters.values(), *comparison.new.clusters.values())}
    dormant = {cluster.id for cluster in comparison.old.dormant.values()}
    known = {*comparison.old.retiring, *comparison.before.kept, *dormant}
    late = {id_ for id_, entry in comparison.before.kept.items() if entry.overdue}
    kind = KINDS["cluster-deleted"]
    for action in comparison.actions:
        subject = Subject("cluster", action.id)
        who = jobs_text(action.jobs) or action.why.words
        if action.id in current:
            continue
        if action.what in REMOVALS:
            yield kind.of(subject, f"delete: an earlier deployment left it, and {_reason(action)}", grade=Grade.NOTE)
        elif action.what is What.RETIRE and action.id not in known:
            yield KINDS[_UPDATED].of(subject, f"is taken over and drains: {who}")
        elif action.overdue and action.id not in late:
            yield kind.of(subject, f"drains for longer than `retireWithin`: {who}", grade=Grade.NOTE)


def _reason(action: Action) -> str:
    if action.living and action.living.failed:
        return f"it failed: {short(action.living.error, _LONGEST_DETAIL)}"
    return "no job uses it"


def _idle_price(cluster: Cluster) -> Price:
    return _price(cluster, cluster.minimum_machines)


def _price(cluster: Cluster, groups: Iterable[MachineGroup]) -> Price:
    """Return USD an hour of machines of a cluster."""
    prices = {pool.machine: pool.price_per_hour for pool in cluster.pools}
    return sum((prices.get(group.machine, UNKNOWN) * group.count for group in groups), Price())


def _sizes(cluster: Cluster | PricedAlternative) -> str:
    return join(machines_in_words(pool) for pool in cluster.pools)


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


def _wait(wait: timedelta) -> str:
    text = exact_span(wait.total_seconds())
    return f"{text} (CI stops `up` after 3 h)" if wait > _WORKFLOW else text


def _span(span: timedelta | None) -> str:
    return exact_span(span.total_seconds()) if span else "none"
