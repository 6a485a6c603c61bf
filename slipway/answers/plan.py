"""Question: what happens to each cluster, and to the jobs on it, in the next deployment? Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from slipway.answers.answer import Answer, Difference, Value
from slipway.answers.comparison import Comparison, Side
from slipway.base.formatting import exact_span, join, last_part, short
from slipway.deploying.engine.touched import CLUSTER_TYPE, Fate, Touched
from slipway.deploying.generations.action import DELETE, Action, What, Why
from slipway.deploying.generations.published_clusters import departures
from slipway.google.answers import MISREAD
from slipway.google.clusters import PersistentResource
from slipway.google.jobs import VertexJob, distinct
from slipway.google.live import Unknown
from slipway.model.catalog.clusters import Cluster, DormantCluster, Pool
from slipway.model.catalog.withdrawal import replacing
from slipway.model.cluster import CREATE_WITHIN_S, IN_PLACE, PROTECT
from slipway.model.cluster_fields import NAMES, FieldDifference, compare, machines_in_words, renamed_pools, same_pools
from slipway.model.findings.finding import Finding, Grade, Subject
from slipway.model.findings.kinds import KINDS
from slipway.model.machines.spec import MachineGroup
from slipway.model.prices import Price, dollars
from slipway.model.season import moment_in_words

_MOST_EDITS = 2
_LONGEST = 30
_LONGEST_DETAIL = 200
_MOST_PEOPLE = 3
_SOON = timedelta(days=7)
"""An end sooner than this surprises people who have jobs in progress."""
_WORKFLOW = timedelta(hours=2, minutes=30)
"""A longer wait hardly fits into a deployment workflow, which ends after three hours."""
_KEPT_BY_ENGINE = ("deletionPolicy", "timeouts")
"""Inputs of a cluster that only Pulumi's provider reads."""


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
    #: The action on the declared cluster, and on the deployed one if it is no longer current.
    coming: Action | None
    leaving: Action | None
    #: The unfinished jobs on the deployed cluster.
    jobs: tuple[VertexJob, ...]
    #: The deployed cluster in Vertex AI.
    live: PersistentResource | None
    #: Whether the clusters of Vertex AI could be read.
    is_read: bool
    edits: tuple[FieldDifference, ...]
    #: An interrupted deployment of this commit began to replace it in place.
    is_continued: bool
    #: The program declares the deployed cluster until its last job ends, and Pulumi does not delete it.
    drains: bool
    now: datetime

    @property
    def is_lost(self) -> bool:
        """Return whether the deployed cluster has no machines: it does not exist any more, or failed."""
        if self.live is None:
            return self.is_read
        return self.live.failed

    @property
    def is_created(self) -> bool:
        return self.coming is not None and self.coming.what is What.CREATE

    @property
    def is_dated(self) -> bool:
        """Return whether the deployed dates, and no edit, create or delete the cluster."""
        if self.was is None or self.becomes is None:
            return False
        return isinstance(self.was, DormantCluster) != isinstance(self.becomes, DormantCluster) and (
            self.was.season == self.becomes.season
        )

    @property
    def held(self) -> tuple[MachineGroup, ...]:
        """The machines of the deployed cluster: those that are up, or the minimum if they could not be read."""
        if self.is_lost or self.old is None:
            return ()
        return self.live.machines if self.live else self.old.minimum_machines

    @property
    def held_price(self) -> Price:
        """USD an hour of `held`."""
        pools = self.old.pools if self.old else ()
        prices = {pool.machine: pool.price_per_hour for pool in pools}
        return sum((prices.get(group.machine, Price(complete=False)) * group.count for group in self.held), Price())


def answers(comparison: Comparison, side: Side) -> Iterator[Answer]:
    """Yield an answer for each entry of the stack's clusters: its cluster, machines and dates."""
    catalog = comparison.old if side is Side.BEFORE else comparison.new
    for name, cluster in {**catalog.dormant, **catalog.clusters}.items():
        values: dict[str, Value] = {
            "id": cluster.id,
            "exists": not isinstance(cluster, DormantCluster),
            "from": _date(cluster.season.begins),
            "until": _date(cluster.season.ends),
            "idleLimit": _span(cluster.season.idle_limit),
            "replacement": cluster.replacement,
        }
        for pool in cluster.pools:
            values[f"pools.{pool.name}"] = machines_in_words(pool)
        yield Answer("cluster", (name,), Subject("cluster", name), values=values)


def findings(comparison: Comparison, differences: Sequence[Difference]) -> Iterator[Finding]:
    """Yield the findings about clusters; also about equal ones, as the deployment may have to create one again."""
    if not comparison.unknown:
        for plan in plans(comparison):
            yield from _of_plan(comparison, plan)
        yield from _earlier_clusters(comparison)
    for step in comparison.touched:
        if step.type.startswith(CLUSTER_TYPE):
            yield from _of_step(comparison, step)
    yield from _cancelled(comparison)


def plans(comparison: Comparison) -> Iterator[ClusterPlan]:
    """Yield the plan of each entry that either side has."""
    live = comparison.world.live
    is_read = not live.skipped and not isinstance(live.clusters, Unknown)
    clusters = {} if isinstance(live.clusters, Unknown) else {cluster.id: cluster for cluster in live.clusters}
    old, new = comparison.old, comparison.new
    # The review does not read the former place of a stack that moves.
    moves = _moves(comparison)
    published = comparison.published
    continued: frozenset[str] = frozenset()
    if published is not None and published.under_way == new.commit and not new.dirty:
        continued = replacing(published)
    before = {**old.dormant, **old.clusters}
    after = {**new.dormant, **new.clusters}
    for name in dict.fromkeys((*before, *after)):
        own_old = _own(old.clusters.get(name))
        own_new = _own(new.clusters.get(name))
        id_ = own_old.id if own_old and not moves else ""
        edits: tuple[FieldDifference, ...] = ()
        if own_old and own_new and own_old.id != own_new.id:
            edits = (*moves, *_region_edits(own_old, own_new, new.region), *compare(own_old, own_new))
        yield ClusterPlan(
            name=name,
            was=before.get(name),
            becomes=after.get(name),
            old=own_old,
            new=own_new,
            coming=_action(comparison, own_new.id if own_new else "", is_current=True),
            leaving=_action(comparison, id_, is_current=False),
            jobs=comparison.world.jobs_on(id_) if id_ else (),
            live=clusters.get(id_),
            is_read=is_read and not moves,
            edits=edits,
            is_continued=name in continued,
            drains=_drains(comparison, id_),
            now=comparison.world.now,
        )


def _own(cluster: Cluster | None) -> Cluster | None:
    return None if cluster is None or cluster.adopted else cluster


def _action(comparison: Comparison, id_: str, *, is_current: bool) -> Action | None:
    """Return the action on a cluster; the rejection of its replacement, if there is one."""
    found = [each for each in comparison.actions if id_ and each.id == id_ and (each.current is not None) == is_current]
    return found[-1] if found else None


def _moves(comparison: Comparison) -> tuple[FieldDifference, ...]:
    old, new = comparison.old, comparison.new
    sides = (("gcp:project", old.project, new.project), ("gcp:region", old.region, new.region))
    return tuple(FieldDifference(*each) for each in sides if each[1] != each[2])


def _region_edits(old: Cluster, new: Cluster, home: str) -> tuple[FieldDifference, ...]:
    if old.region == new.region:
        return ()
    return (FieldDifference("region", old.region or home, new.region or home),)


def _of_plan(comparison: Comparison, plan: ClusterPlan) -> Iterator[Finding]:
    if plan.leaving and plan.leaving.what is What.REFUSE:
        yield _rejected(plan)
    elif plan.old and plan.new:
        if plan.old.id != plan.new.id:
            yield _replaced(plan)
        elif plan.is_created:
            yield _created_again(plan)
    elif plan.new:
        yield _created(plan)
    elif plan.old:
        yield _deleted(plan)
    yield from _adoption(plan)
    yield from _capacity(plan)
    yield from _settings(plan)


def _drains(comparison: Comparison, id_: str) -> bool:
    if id_ in deleted_by_engine(comparison):
        return False
    retires = any(each.id == id_ and each.what is What.RETIRE for each in comparison.actions)
    return retires or id_ in comparison.after.kept


def _of(kind: str, plan: ClusterPlan, sentence: str, fix: str = "", *, grade: Grade, cost: Price = Price()) -> Finding:
    """Return a finding about a cluster's entry, whose details are the edits and the jobs."""
    field = ""
    if plan.edits:
        field = _field(plan.name, plan.edits[0].key)
    people = users(plan.jobs)
    found = KINDS[kind].of(
        Subject("cluster", plan.name), sentence, fix, grade=grade, field=field, jobs=len(plan.jobs), users=people
    )
    details = (*(_edit_text(edit, _LONGEST_DETAIL) for edit in plan.edits), *job_lines(plan.jobs, plan.now))
    return replace(found, details=details, cost=float(cost.known))


def _field(name: str, key: str) -> str:
    if key.startswith("gcp:"):
        return key
    return f"slipway:persistentResources.{name}.{key}"


def _rejected(plan: ClusterPlan) -> Finding:
    why = plan.leaving.why.words if plan.leaving else ""
    if plan.jobs:
        verb = "runs" if len(plan.jobs) == 1 else "run"
        why = f"{jobs_text(plan.jobs)} {verb} on it"
    sentence = f"in-place replacement ({_edits_text(plan)}) is rejected: {why}, and it deletes the cluster first"
    fix = "deploy after the last job ends, or set `replacement: rollover`"
    return _of("cluster-rejected", plan, sentence, fix, grade=Grade.BLOCKING)


def _created(plan: ClusterPlan) -> Finding:
    assert plan.new, "a created cluster is declared"
    size = f"{_sizes(plan.new.pools)}, {dollars(idle_price(plan.new))} idle"
    if plan.is_created:
        sentence = f"create: {size}"
    else:
        sentence = f"offered again, as it still exists: {size}"
    if isinstance(plan.was, DormantCluster) and plan.was.season.begins:
        sentence = f"{sentence}; its season has begun"
    return _of("cluster-created", plan, sentence, grade=Grade.NOTE, cost=idle_price(plan.new))


def _created_again(plan: ClusterPlan) -> Finding:
    assert plan.new, "a created cluster is declared"
    sentence = f"create again, as the deployed cluster no longer exists: {_sizes(plan.new.pools)}"
    return _of("cluster-created", plan, sentence, grade=Grade.NOTE)


def _replaced(plan: ClusterPlan) -> Finding:
    assert plan.new, "a replaced cluster is declared"
    if plan.is_lost:
        sentence = f"create again, as the deployed cluster failed or no longer exists: {_sizes(plan.new.pools)}"
        if plan.edits:
            sentence = f"replace: {_edits_text(plan)}. The deployed cluster failed or no longer exists"
        grade = Grade.NOTE if plan.is_continued else Grade.WARNING
        return _of("cluster-replaced", plan, sentence, grade=grade)
    if plan.new.replacement == IN_PLACE and plan.is_created:
        return _replaced_in_place(plan)
    needed = machines_text(plan.new.minimum_machines)
    parts = [f"replace (create before delete): {_edits_text(plan)}"]
    if not plan.is_created:
        parts.append("The new cluster already exists")
    elif needed:
        parts.append(f"Needs {needed} more now")
    both = plan.held_price + idle_price(plan.new)
    if plan.jobs and plan.drains:
        verb = "finishes" if len(plan.jobs) == 1 else "finish"
        parts.append(f"{jobs_text(plan.jobs)} {verb} on the old cluster; both are billed until then ({dollars(both)})")
    found = _of("cluster-replaced", plan, ". ".join(parts), grade=Grade.WARNING, cost=plan.held_price)
    return replace(found, facts={**found.facts, "needed": needed, "overlapPerHour": float(both.known)})


def _replaced_in_place(plan: ClusterPlan) -> Finding:
    sentence = f"replace (delete before create): {_edits_text(plan)}. Submissions to it fail until the new cluster runs"
    scarce = machines_text(_scarce(plan.held))
    grade = Grade.WARNING
    if scarce:
        sentence = f"{sentence}; {scarce} may not be available again"
        grade = Grade.BLOCKING
    if plan.is_continued:
        grade = Grade.NOTE
    return _of("cluster-replaced", plan, sentence, grade=grade)


def _deleted(plan: ClusterPlan) -> Finding:
    """Return the deletion of a cluster that is no longer declared, or whose season ended."""
    why = ""
    if isinstance(plan.becomes, DormantCluster):
        why = f"{plan.becomes.reason(plan.now).state}; "
    if plan.is_lost:
        sentence = f"{why}removed from the stack: the cluster failed or no longer exists"
        return _of("cluster-deleted", plan, sentence, grade=Grade.NOTE)
    gives_back = machines_text(plan.held) or "no machines"
    if plan.drains and plan.jobs:
        sentence = f"{why}drain, then delete: takes no new jobs, and is deleted after {jobs_text(plan.jobs)}"
    elif plan.drains:
        sentence = f"{why}drain, then delete: takes no new jobs; a later deployment deletes it"
    elif plan.leaving:
        sentence = f"{why}delete: idle; gives back {gives_back}"
    else:
        sentence = f"{why}delete: its jobs could not be read; gives back {gives_back}"
    grade = Grade.WARNING
    if _scarce(plan.held):
        grade = Grade.BLOCKING
    if plan.is_dated or plan.is_continued:
        grade = Grade.NOTE
    return _of("cluster-deleted", plan, sentence, grade=grade)


def _adoption(plan: ClusterPlan) -> Iterator[Finding]:
    old = plan.was.id if plan.was and plan.was.adopted else ""
    new = plan.becomes.id if plan.becomes and plan.becomes.adopted else ""
    if old == new:
        return
    if new:
        sentence = f"import: submissions run on `{new}`, which has another owner; deployments never change or delete it"
        grade = Grade.WARNING if plan.was else Grade.NOTE
        yield _of("cluster-updated", plan, sentence, grade=grade)
    if old:
        sentence = f"`{old}` is no longer offered; its jobs continue, and its owner keeps it"
        yield _of("cluster-orphaned", plan, sentence, grade=Grade.WARNING)


@dataclass(frozen=True)
class _Part:
    """A part of a changed capacity."""

    text: str
    grade: Grade
    #: Below the cluster's entry.
    key: str


def _capacity(plan: ClusterPlan) -> Iterator[Finding]:
    """Yield that a cluster has fewer machines, other dates or other alternatives, in one finding."""
    parts = [*_dates(plan), *_alternatives(plan), *_pools(plan)]
    if parts:
        worst = max(parts, key=lambda part: part.grade)
        text = "; ".join(part.text for part in [worst, *(part for part in parts if part is not worst)][:2])
        found = _of("capacity-changed", plan, text, grade=worst.grade)
        details = tuple(part.text for part in parts if len(parts) > 1)
        yield replace(found, details=details, field=_field(plan.name, worst.key))


def _pools(plan: ClusterPlan) -> Iterator[_Part]:
    was, becomes = plan.was, plan.becomes
    if was is None or becomes is None or was.adopted or becomes.adopted:
        return
    renamed = renamed_pools(was, becomes)
    exists = plan.old is not None and plan.new is not None and not plan.is_lost
    for pool in was.pools:
        after = becomes.pool(renamed.get(pool.name, pool.name))
        same_machine = after is not None and after.machine.kind == pool.machine.kind
        grade = Grade.WARNING
        if exists and _accelerators(was, pool) > _accelerators(becomes, pool):
            grade = Grade.BLOCKING
        if after is None:
            yield _Part(f"pool `{pool.name}` is deleted: {machines_in_words(pool)}", grade, f"pools.{pool.name}")
        elif not same_machine:
            text = f"`{pool.name}` machines: `{pool.machine}` → `{after.machine}`"
            yield _Part(text, grade, f"pools.{pool.name}.machine")
        elif after.min < pool.min:
            text = f"`{pool.name}` keeps {after.min} instead of {pool.min} `{pool.machine}`"
            yield _Part(text, grade, f"pools.{pool.name}.{_size_key(after, 'min')}")
        elif after.max < pool.max:
            text = f"`{pool.name}` can grow to {after.max} instead of {pool.max} machines"
            yield _Part(text, Grade.WARNING, f"pools.{pool.name}.{_size_key(after, 'max')}")


def _accelerators(cluster: Cluster, like: Pool) -> int:
    """Return the accelerators of a pool's type that a cluster always has."""
    if not like.machine.accelerator:
        return 0
    pools = [pool for pool in cluster.pools if pool.machine.accelerator == like.machine.accelerator]
    return sum(pool.machine.accelerator_count * pool.min for pool in pools)


def _size_key(pool: Pool, end: str) -> str:
    return f"replicas.{end}" if pool.autoscaled else "replicas"


def _dates(plan: ClusterPlan) -> Iterator[_Part]:
    """Yield other dates of an entry, and an entry whose only cluster is one to come."""
    was, becomes = plan.was, plan.becomes
    if was is None and isinstance(becomes, DormantCluster):
        cost = dollars(idle_price(becomes))
        yield _Part(f"created later ({becomes.reason(plan.now).state}): {cost} idle", Grade.NOTE, "from")
    elif becomes is None and isinstance(was, DormantCluster):
        yield _Part(f"removed from the stack; it {was.reason(plan.now).state}", Grade.NOTE, "")
    elif was and becomes:
        old, new = was.season, becomes.season
        if old.begins != new.begins:
            later = new.begins is not None and new.begins > (old.begins or plan.now)
            text = f"`from` {_date(old.begins)} → {_date(new.begins)}"
            yield _Part(text, Grade.WARNING if later else Grade.NOTE, "from")
        if old.ends != new.ends:
            text = f"`until` {_date(old.ends)} → {_date(new.ends)}"
            yield _Part(text, _grade_of_end(old.ends, new.ends, plan.now), "until")
        if old.idle_limit != new.idle_limit:
            shorter = new.idle_limit is not None and (old.idle_limit is None or new.idle_limit < old.idle_limit)
            text = f"`idleLimit` {_span(old.idle_limit)} → {_span(new.idle_limit)}"
            yield _Part(text, Grade.WARNING if shorter else Grade.NOTE, "idleLimit")


def _grade_of_end(old: datetime | None, new: datetime | None, now: datetime) -> Grade:
    if new is None or (old is not None and new > old):
        return Grade.NOTE
    return Grade.BLOCKING if new - now < _SOON else Grade.WARNING


def _alternatives(plan: ClusterPlan) -> Iterator[_Part]:
    was, becomes = plan.was, plan.becomes
    if was is None or becomes is None or becomes.alternative:
        return
    for option in becomes.alternatives:
        known = [each for each in was.alternatives if each.region == option.region]
        if not any(same_pools(each.pools, option.pools) for each in known):
            place = f" in {option.region}" if option.region else ""
            text = f"may be created as {_sizes(option.pools)}{place} if its machines are not available"
            yield _Part(text, Grade.WARNING, "alternatives")
    if len(becomes.alternatives) < len(was.alternatives):
        count = f"{len(was.alternatives)} → {len(becomes.alternatives)}"
        yield _Part(
            f"alternatives {count}: fewer ways if its machines are not available", Grade.WARNING, "alternatives"
        )


def _settings(plan: ClusterPlan) -> Iterator[Finding]:
    """Yield settings that apply to later edits, and change nothing of the cluster itself."""
    was, becomes = plan.was, plan.becomes
    if was is None or becomes is None or becomes.adopted or was.adopted:
        return
    waits = [each.create_within or timedelta(seconds=CREATE_WITHIN_S) for each in (was, becomes)]
    if waits[1] >= _WORKFLOW > waits[0]:
        sentence = f"`createWithin` {_span(waits[0])} → {_span(waits[1])}: the deployment workflow ends after 3 h"
        found = _of("cluster-updated", plan, sentence, grade=Grade.WARNING)
        yield replace(found, field=_field(plan.name, "createWithin"))
    elif was.replacement != becomes.replacement:
        grade = Grade.NOTE
        effect = "later edits create the new cluster first"
        if becomes.replacement == IN_PLACE:
            effect = "later edits delete the cluster before its successor runs"
            grade = Grade.WARNING
        elif becomes.replacement == PROTECT:
            effect = "later edits are rejected"
        elif was.replacement == PROTECT:
            grade = Grade.WARNING
        sentence = f"update in place: `replacement` {was.replacement} → {becomes.replacement}; {effect}"
        found = _of("cluster-updated", plan, sentence, grade=grade)
        yield replace(found, field=_field(plan.name, "replacement"))


def _earlier_clusters(comparison: Comparison) -> Iterator[Finding]:
    """Yield deletions of clusters that are not current on either side: drained, failed, or of a failed deployment."""
    current = {cluster.id for cluster in (*comparison.old.clusters.values(), *comparison.new.clusters.values())}
    for action in comparison.actions:
        if action.id in current or action.what not in (*DELETE, What.CLEAR):
            continue
        sentence = "delete: drained, and its last job has ended"
        if action.what is What.CLEAR or (action.living and action.living.failed):
            sentence = "delete: it failed and has no machines"
        elif action.id not in (*comparison.old.retiring, *comparison.before.kept):
            sentence = "delete: an earlier deployment created it and did not finish"
        yield KINDS["cluster-deleted"].of(Subject("cluster", action.id), sentence, grade=Grade.NOTE)


def deleted_by_engine(comparison: Comparison) -> frozenset[str]:
    """Return the ids of clusters that Pulumi deletes, or that the program leaves out if the preview is incomplete."""
    steps = [step for step in comparison.touched if step.type.startswith(CLUSTER_TYPE)]
    gone = {step.physical for step in steps if step.destroyed}
    is_told = comparison.preview is not None and comparison.preview.complete
    if not is_told and not _moves(comparison) and not comparison.unknown:
        declared = {*comparison.after.kept, *(cluster.id for cluster in comparison.new.clusters.values())}
        own = {cluster.id for cluster in comparison.old.clusters.values() if not cluster.adopted}
        earlier = {*comparison.old.retiring, *comparison.before.kept, *comparison.world.live.in_state}
        gone |= (own | earlier) - declared
    return frozenset(gone)


def _cancelled(comparison: Comparison) -> Iterator[Finding]:
    """Yield the jobs on clusters that are deleted under them."""
    live = comparison.world.live
    clusters = {} if isinstance(live.clusters, Unknown) else {cluster.id: cluster for cluster in live.clusters}
    for id_ in sorted(deleted_by_engine(comparison)):
        jobs = comparison.world.jobs_on(id_)
        cluster = clusters.get(id_)
        is_busy = cluster is not None and cluster.in_use
        if not jobs and not is_busy:
            continue
        name = _name(comparison, id_)
        who = jobs_text(jobs) or "unlisted work on its machines"
        verb = "are" if len(distinct(jobs)) > 1 else "is"
        sentence = f"{who} {verb} cancelled: Pulumi deletes `{id_}`, and does not wait"
        fix = "deploy after the jobs end, or keep the cluster declared until then"
        people = users(jobs)
        found = KINDS["jobs-cancelled"].of(Subject("cluster", name), sentence, fix, jobs=len(jobs), users=people)
        yield replace(found, details=job_lines(jobs, comparison.world.now))


def _of_step(comparison: Comparison, step: Touched) -> Iterator[Finding]:
    """Yield a step of Pulumi that the plan does not have."""
    id_ = step.physical
    subject = Subject("cluster", _name(comparison, id_))
    planned = {action.id: action.what for action in comparison.actions}
    if step.destroyed:
        if planned.get(id_) not in (*DELETE, What.CLEAR) and not _is_removed(comparison, id_):
            yield _deleted_unplanned(comparison, step, subject)
    elif step.fate is Fate.FORGOTTEN or step.goes:
        sentence = (
            f"`{id_}` is removed from Pulumi's state and keeps running: it is billed, and no deployment deletes it"
        )
        yield KINDS["cluster-orphaned"].of(subject, sentence, grade=Grade.BLOCKING)
    diffs = [path for path in step.diffs if not path.startswith(_KEPT_BY_ENGINE)]
    if step.fate is Fate.CHANGED and diffs:
        paths = join(f"`{path}`" for path in diffs[:_MOST_EDITS])
        sentence = f"Vertex AI can't update {paths} of a running cluster: the deployment fails, or ends its jobs"
        found = KINDS["cluster-rejected"].of(
            subject, sentence, "declare the change as an edit that replaces the cluster"
        )
        yield replace(found, details=job_lines(comparison.world.jobs_on(id_), comparison.world.now))
    elif step.fate in (Fate.CREATED, Fate.REPLACED, Fate.ADOPTED):
        yield from _created_unplanned(comparison, step)


def _is_removed(comparison: Comparison, id_: str) -> bool:
    """Return whether the cluster's entry is removed, which has a finding of its own."""
    cluster = comparison.old.cluster_named(id_)
    return cluster is not None and not cluster.adopted and cluster.name not in comparison.new.clusters


def _deleted_unplanned(comparison: Comparison, step: Touched, subject: Subject) -> Finding:
    live = comparison.world.live
    clusters = () if isinstance(live.clusters, Unknown) else live.clusters
    held = next((cluster.machines for cluster in clusters if cluster.id == step.physical), ())
    because = ""
    if step.replaces:
        because = f" because of `{step.replaces[0]}`"
    sentence = f"Pulumi deletes `{step.physical}`{because}, although the plan keeps it"
    if machines_text(_scarce(held)):
        sentence = f"{sentence}; {machines_text(_scarce(held))} may not be available again"
    return KINDS["cluster-deleted"].of(
        subject,
        sentence,
        "find what in the program deletes it",
        grade=Grade.BLOCKING,
        field=next(iter(step.replaces), ""),
    )


def _created_unplanned(comparison: Comparison, step: Touched) -> Iterator[Finding]:
    """Yield a cluster that Pulumi creates or imports, and that the catalog does not offer as such."""
    id_ = str(step.becomes.get("name", step.name))
    if id_ in comparison.after.kept or Side.AFTER in comparison.unknown:
        return
    catalog = comparison.new
    cluster = catalog.cluster_named(id_)
    subject = Subject("cluster", cluster.name if cluster else id_)
    if cluster is None or cluster.adopted:
        kind, verb = ("cluster-orphaned", "imports") if step.fate is Fate.ADOPTED else ("cluster-created", "creates")
        sentence = f"Pulumi {verb} `{id_}`, which the catalog does not offer: no one can submit to it"
        yield KINDS[kind].of(subject, sentence, grade=Grade.BLOCKING)
        return
    place = (cluster.region or catalog.region, catalog.project)
    differing = [] if place == (step.becomes.get("location"), step.becomes.get("project")) else ["location"]
    try:
        requested = PersistentResource.read(step.becomes).spec
        differing += [each.key for each in departures(cluster, requested, catalog.identity.label)]
    except MISREAD:
        differing.append("its fields")
    if step.fate is Fate.ADOPTED:
        # An imported cluster keeps its names.
        differing = [key for key in differing if not key.startswith(NAMES)]
    if differing:
        keys = join(f"`{key}`" for key in differing[:_MOST_EDITS])
        sentence = f"Pulumi creates `{id_}` with another value of {keys} than the catalog publishes"
        yield KINDS["cluster-created"].of(subject, sentence, grade=Grade.BLOCKING)


def _name(comparison: Comparison, id_: str) -> str:
    cluster = comparison.old.cluster_named(id_) or comparison.new.cluster_named(id_)
    return cluster.name if cluster else id_


def idle_price(cluster: Cluster) -> Price:
    """Return USD an hour of a cluster with nothing running."""
    return sum((pool.price_per_hour * pool.min for pool in cluster.pools), Price())


def machines_text(groups: Iterable[MachineGroup]) -> str:
    """Return ``1 `a3-highgpu-8g` and 2 `n1-standard-8` ``; empty for none."""
    counts = Counter[str]()
    for group in groups:
        counts[str(group.machine)] += group.count
    return join(f"{count:,} `{machine}`" for machine, count in counts.items() if count)


def _scarce(groups: Iterable[MachineGroup]) -> tuple[MachineGroup, ...]:
    return tuple(group for group in groups if group.machine.accelerator and group.count)


def _sizes(pools: Iterable[Pool]) -> str:
    return join(machines_in_words(pool) for pool in pools)


def users(jobs: Iterable[VertexJob]) -> tuple[str, ...]:
    return tuple(sorted({job.user for job in jobs if job.user}))


def jobs_text(jobs: Iterable[VertexJob]) -> str:
    """Return ``job `tune-27b` (ada)``, or `3 unfinished jobs of ada and bob`; empty for none."""
    listed = distinct(jobs)
    people = users(listed)
    if not listed:
        return ""
    if len(listed) == 1:
        owner = f" ({people[0]})" if people else ""
        return f"job `{listed[0].called}`{owner}"
    whose = ""
    if people:
        named = join(people) if len(people) <= _MOST_PEOPLE else f"{len(people)} users"
        whose = f" of {named}"
    return f"{len(listed)} unfinished jobs{whose}"


def job_lines(jobs: Iterable[VertexJob], now: datetime) -> tuple[str, ...]:
    """Return ``job `tune-27b` (ada, running 3 h 12 min)`` for each job, by name."""
    listed = sorted(distinct(jobs), key=lambda job: job.called)
    return tuple(f"job `{job.called}` ({job.owner_and_age(now)})" for job in listed)


def _edits_text(plan: ClusterPlan) -> str:
    texts = [_edit_text(edit, _LONGEST) for edit in plan.edits]
    if not texts:
        return "another configuration of it"
    more = len(texts) - _MOST_EDITS
    if more > 0:
        texts = [*texts[:_MOST_EDITS], f"{more} more"]
    return ", ".join(texts)


def _edit_text(edit: FieldDifference, longest: int) -> str:
    sides = [edit.before, edit.after]
    if all(side.startswith("projects/") for side in sides):
        sides = [last_part(side) for side in sides]
    before, after = (short(side, longest) or "none" for side in sides)
    return f"`{edit.key}` {before} → {after}"


def _date(date: datetime | None) -> str:
    return moment_in_words(date) if date else "none"


def _span(span: timedelta | None) -> str:
    return exact_span(span.total_seconds()) if span else "none"
