"""The shell between the live reader and the pure plan."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from slipway.authoring.stack.stack import Stack
from slipway.base.clock import poll, right_time, wrong_clock
from slipway.base.errors import ConfigError, Fault, PolicyError, ResourceError, WaitTimeout
from slipway.base.formatting import join, span
from slipway.deploying.deployment.plan import Plan, Waits, plan
from slipway.deploying.deployment.schedule import wait_for_quota
from slipway.deploying.deployment.shared_grants import (
    asked_of,
    dropped,
    new_on_project,
    refuse_crowd,
    shared,
    stacks_of,
    warn_of_domains,
)
from slipway.deploying.deployment.takeover import as_it_was, is_recovered, refuse_takeover
from slipway.deploying.deployment.workspace_plan import (
    CATALOG,
    TRAINER,
    WORK,
    family,
    other_trainer,
    trainer_email,
    trainer_owner,
    work_in,
)
from slipway.deploying.deployment.workspace_plan import renamed as renamed_workspace
from slipway.deploying.generations.dormant import ends_within
from slipway.deploying.generations.protection import Refusal
from slipway.google.catalog.document import PublishedCatalog
from slipway.google.connection import connect
from slipway.google.credentials import identity
from slipway.google.live import Live, Unknown
from slipway.google.live_reader import LiveScope, quota_info
from slipway.google.permissions import Holder
from slipway.google.provider_errors import Places
from slipway.google.quotas import QuotaInfo
from slipway.google.snapshot import read, skipped
from slipway.model.identity import words_of
from slipway.model.labels import STACK_LABEL
from slipway.model.state import State
from slipway.model.state_refusals import refuse_rename, renamed

_NOTHING = State()
_NONE: Waits = {}
_EVERY_S, _WITHIN_S = 10.0, 2 * 3600.0


@dataclass(frozen=True)
class Declared:
    """The parts of a stack that its program declares."""

    workspace: bool = True
    catalog: bool = True
    #: The roles of the program's own buckets and account, which are not the stack's.
    own: frozenset[str] = frozenset()
    #: By role, the names that the engine's state has for these.
    imported: Mapping[str, str] = field(default_factory=dict)
    #: The roles whose names only `up` knows.
    unknown: frozenset[str] = frozenset()


_ALL = Declared()


def read_and_plan(
    stack: Stack,
    environ: Mapping[str, str],
    preview: bool,
    now: datetime,
    say: Callable[[str], None],
    warn: Callable[[str], None],
    *,
    metrics: frozenset[str] = frozenset(),
    writers: Collection[str] = (),
    known: State | Unknown = _NOTHING,
    declared: Declared = _ALL,
    lives: Live | None = None,
    places: Places = lambda _: (),
    begins: bool = False,
    absent: str = "",
) -> tuple[Live, Plan]:
    """Read the live resources, and the limits of these quota metrics, and plan.

    `writers`: the trainers, by name, whose jobs write metrics; `known`: the engine's state of the stack; `lives`: what
    a test says, so that nothing is read; `places` names the stack file's lines of members; `begins`: the engine's state
    has nothing of the stack; `absent`: why a preview reads nothing. Outside of preview, wait for
    clusters that are still being made. Where `now` is far from the cloud's own time, the cloud's counts.

    Raises ResourceError when the live resources can't be told or forbid the plan; PolicyError for a deployment that
    another state has, for a change of a protected cluster, or for an in-place replacement of one in use; AuthError
    without credentials.
    """
    before = _NOTHING if isinstance(known, Unknown) else known
    workspace = _declared_names(stack, declared)
    skips = _skips(environ, preview=preview) or absent
    asked = asked_of(stack, writers)
    drops = dropped(before, asked)
    new = new_on_project(before, asked) if declared.workspace else frozenset()
    # Other stacks matter only where a grant goes that they may need, the project's policy where one comes.
    scope = _scope(stack, before, metrics, declared, preview=preview)
    scope = replace(scope, neighbours=bool(drops), policy=bool(new))
    reader = _StackReader(
        stack, environ, before, scope, warn, has_catalog=declared.catalog, preview=preview, skips=skips, given=lives
    )
    first_read = [reader.read(now)]
    if begins:
        refuse_takeover(stack, first_read[0], environ)
        _refuse_change(stack, first_read[0], declared, environ)
    if wrong := wrong_clock(now, first_read[0].time):
        warn(str(wrong))
    now = right_time(now, first_read[0].time)

    def planned(live: Live, waits: Waits = _NONE) -> Plan:
        return plan(
            stack.clusters,
            live,
            stack=stack.identity.label,
            project=stack.project,
            region=stack.region,
            now=now,
            known=before,
            workspace=workspace,
            waits=waits,
            origin=stack.origin,
        )

    live, decided = await_provisioned(
        lambda: first_read.pop() if first_read else reader.read(now), planned, say, wait=not preview
    )
    decided = wait_for_quota(decided, live, stack, lambda waits: planned(live, waits))
    _refuse_problems(stack, _problems(stack, live, decided, known))
    refuse_crowd(new, live.policy, stack.project, stack.origin)
    for fault in warn_of_domains(new, live, places):
        warn(str(fault))
    refuse(decided.refusals, preview=preview)
    seen = stacks_of(live.clusters)
    stay = shared(drops, live.neighbours, before, stack=stack.identity.label, project=stack.project, seen=seen)
    return live, replace(decided, workspace=replace(decided.workspace, dropped=drops, shared=stay))


@dataclass(frozen=True)
class _StackReader:
    """Reads the live resources of a stack."""

    stack: Stack
    environ: Mapping[str, str]
    #: The engine's state.
    state: State
    scope: LiveScope
    warn: Callable[[str], None]
    has_catalog: bool
    preview: bool
    #: The reason why nothing is read; empty if it is.
    skips: str
    #: Live resources in a test with mocks, which are used instead of those of the cloud.
    given: Live | None

    def read(self, time: datetime) -> Live:
        """Read in the stack's regions, those of the state, and those of the published catalog. Raises ConfigError."""
        regions = tuple(dict.fromkeys((*self.stack.other_regions, *self.state.regions_beside(self.stack.region))))
        snapshot = self._read_in(regions, time)
        self._refuse_rename(snapshot)
        # A lost state does not tell where clusters are, and a stack file not where they were.
        known_regions = (self.stack.region, *regions)
        more = tuple(region for region in self._published_regions(snapshot) if region not in known_regions)
        if not more:
            return snapshot
        return self._read_in((*regions, *more), time)

    def _read_in(self, regions: tuple[str, ...], time: datetime) -> Live:
        if self.skips:
            return skipped(self.skips)
        snapshot = self._read_cloud(regions, time) if self.given is None else self.given
        known_ids = tuple(cluster.name for cluster in self.state.clusters)
        snapshot = replace(snapshot, in_state=frozenset(known_ids))
        if self.has_catalog:
            return snapshot
        # Nobody is told of clusters by a catalog: those that the engine knows may go when they are idle.
        return replace(snapshot, catalog=PublishedCatalog(retiring=known_ids) if known_ids else None)

    def _read_cloud(self, regions: tuple[str, ...], time: datetime) -> Live:
        wanted = replace(self.scope, now=time, elsewhere=regions)
        connection = connect(self.environ)
        snapshot, warnings = read(connection, wanted, identity=identity(self.environ), off_is_empty=self.preview)
        for warning in warnings:
            self.warn(warning)
        return snapshot

    def _refuse_rename(self, snapshot: Live) -> None:
        if isinstance(snapshot.clusters, Unknown):
            return
        labels = {cluster.id: cluster.labels.get(STACK_LABEL, "") for cluster in snapshot.clusters}
        published = snapshot.deployed.stack if snapshot.deployed else ""
        refuse_rename(self.state, labels, self.stack.identity.label, self.stack.origin, published)

    def _published_regions(self, snapshot: Live) -> Collection[str]:
        """Return the regions of the published catalog, if the catalog is the stack's."""
        deployed = snapshot.deployed
        if deployed is None or deployed.identity != self.stack.identity:
            return ()
        return deployed.regions


def _declared_names(stack: Stack, declared: Declared) -> dict[str, str]:
    """Return the names of the workspace's resources that the stack declares, by their roles."""
    if not declared.workspace:
        return {}
    return {role: name for role, name in asked_for(stack).items() if role not in declared.own}


def _refuse_change(stack: Stack, live: Live, declared: Declared, environ: Mapping[str, str]) -> None:
    """Raise PolicyError for a recovery that would give the workspace another bucket or account than it had."""
    if not (declared.workspace and is_recovered(environ, stack.identity)):
        return
    names = {role: name for role, name in asked_for(stack).items() if role not in declared.unknown}
    before = as_it_was(stack.identity, live, declared.imported, declared.own)
    refuse(tuple(renamed_workspace(before, names, stack.origin)), preview=False)


def _problems(stack: Stack, live: Live, decided: Plan, known: State | Unknown) -> list[str]:
    """Return the reasons why a plan can't be decided. Raises ConfigError for names that are others'."""
    before = _NOTHING if isinstance(known, Unknown) else known
    _refuse_names(_foreign(live.buckets, stack) or [*_taken(live, stack, before), *_lent(live, stack, before)])
    _refuse_elsewhere(live, stack)
    problems = [*decided.problems, *_unread(live.buckets), *_unread(live.service_accounts)]
    if isinstance(known, Unknown) and not live.skipped:
        problems.append(f"can't tell what the stack has already, from {known}")
    return problems


def _refuse_names(mistakes: list[Fault]) -> None:
    """Raise ConfigError for declared buckets and accounts that are others'."""
    if mistakes:
        raise ConfigError(
            f"{join(mistake.what for mistake in mistakes)}, so nothing was changed",
            why="\n".join(mistake.why for mistake in mistakes),
            fix="\n".join(mistake.fix for mistake in mistakes),
        )


def _refuse_problems(stack: Stack, problems: list[str]) -> None:
    """Raise ResourceError if there are any problems."""
    if not problems:
        return
    shown, taken_down = map(stack.origin.command, ("preview", "destroy"))
    without = f"SLIPWAY_LIVE=skip {shown} reads nothing; {taken_down} asks only what is in use"
    raise ResourceError(
        "what to deploy can't be decided, so nothing was changed",
        why="\n".join(problems),
        fix=f"correct that and run it again ({without})",
    )


def refuse(refusals: tuple[Refusal, ...], *, preview: bool) -> None:
    """Raise PolicyError for forbidden changes; a preview continues where time alone helps."""
    held = [refusal for refusal in refusals if refusal.for_good]
    if not held and not preview:
        held = list(refusals)
    if len(held) > 1:
        raise PolicyError(
            f"{len(held)} things may not be changed as asked, so nothing was changed",
            why="\n".join(refusal.why for refusal in held),
            fix="\n".join(dict.fromkeys(refusal.fix for refusal in held)),
        )
    for refusal in held:
        raise refusal.error


def as_it_stays(stack: Stack, known: State) -> tuple[Stack, tuple[PolicyError, ...]]:
    """Return a stack as a preview shows it, with the deployed names of its workspace, and the errors of others."""
    refusals = tuple(renamed_workspace(known, asked_for(stack), stack.origin))
    names = {key: name for refusal in refusals for key, name in refusal.stays.items()}
    return replace(stack, workspace=stack.workspace.model_copy(update=names)), tuple(
        refusal.error for refusal in refusals
    )


def asked_for(stack: Stack) -> dict[str, str]:
    return {
        CATALOG: stack.workspace.catalog_bucket,
        WORK: stack.workspace.work_bucket,
        TRAINER: trainer_email(stack.workspace.trainer, stack.project),
        **{work_in(region): name for region, name in stack.work_elsewhere.items()},
        **{
            other_trainer(name): trainer_email(trainer.account, stack.project)
            for name, trainer in stack.trainers.items()
        },
    }


def _skips(environ: Mapping[str, str], *, preview: bool) -> str:
    """Return the setting by which a person wants nothing to be read; empty without. Raises ConfigError outside of a
    preview."""
    word = environ.get("SLIPWAY_LIVE", "")
    if word not in ("", "skip"):
        raise ConfigError(f"invalid SLIPWAY_LIVE={word}", fix="SLIPWAY_LIVE=skip, in a preview, or unset it")
    if word and not preview:
        raise ConfigError(
            "SLIPWAY_LIVE=skip is only for previews",
            why="without knowing what lives, a deployment could delete what is in use",
            fix="unset SLIPWAY_LIVE",
        )
    return f"SLIPWAY_LIVE={word}" if word else ""


def _scope(stack: Stack, known: State, metrics: frozenset[str], declared: Declared, *, preview: bool) -> LiveScope:
    asked = asked_for(stack) if declared.workspace else {}
    buckets = tuple(name for role, name in asked.items() if family(role) != TRAINER)
    accounts = [name for role, name in asked.items() if family(role) == TRAINER]
    accounts += (account.name for account in known.accounts if declared.workspace)
    return LiveScope(
        project=stack.project,
        region=stack.region,
        catalog_bucket=(known.catalog_bucket or stack.workspace.catalog_bucket) if declared.catalog else "",
        packages=declared.catalog and bool(known.catalog_bucket),
        # A stack file's project refreshes the state before each deployment.
        granted=_granted(known, stack.project) if stack.program and declared.catalog else {},
        buckets=buckets,
        accounts=tuple(dict.fromkeys(accounts)),
        metrics=metrics,
        # Both read alike; the official type is imported for a deployment, and no preview waits for it.
        read_quota=QuotaInfo.read if preview else quota_info,
        ends_within=ends_within(stack.clusters),
    )


def _granted(known: State, project: str) -> Mapping[str, tuple[Holder, str]]:
    """Return the resources on which the state has grants, by `StateGrant.on`."""
    holders: dict[str, tuple[Holder, str]] = {}
    for grant in known.grants:
        if not grant.on:
            holders[grant.on] = "project", project
        elif grant.on.startswith("gs://"):
            holders[grant.on] = "bucket", grant.on.removeprefix("gs://")
        else:
            holders[grant.on] = "account", grant.on
    return holders


def _taken(live: Live, stack: Stack, known: State) -> list[Fault]:
    """Return the fault of a declared catalog bucket that is another stack's. Raises ConfigError where this stack's
    own catalog bears another's name."""
    whose = live.catalog.identity if isinstance(live.catalog, PublishedCatalog) else None
    if whose is None or whose.label == stack.identity.label:
        return []
    if known.catalog_bucket:
        raise renamed(whose.label, stack.identity.label, stack.origin, known)
    bucket = stack.workspace.catalog_bucket
    return [
        Fault(
            f"bucket gs://{bucket} has the catalog of {whose.words}",
            f"the submitters of {whose.words} would get the catalog of {stack.name}",
            f"name another bucket: {stack.origin.place('slipway:workspace.catalogBucket')}\n"
            f"or, if {whose.words} no longer exists, delete gs://{bucket}/catalog.json",
        )
    ]


def _lent(live: Live, stack: Stack, known: State) -> list[Fault]:
    """Return a fault for each declared account that another stack of Slipway made."""
    if isinstance(live.service_accounts, Unknown):
        return []
    ours = {account.name for account in known.accounts}
    usual = trainer_email(stack.workspace.trainer, stack.project)
    return [
        Fault(
            f"account {address} is the trainer of {words_of(whose)}",
            f"account {address} would be deleted with {stack.name}",
            "name another account: "
            f"{stack.origin.place('slipway:workspace.trainer' if address == usual else 'slipway:trainers')}\n"
            f"or, if {words_of(whose)} no longer exists: "
            f"gcloud iam service-accounts update {address} --display-name=trainer",
        )
        for address, called in live.service_accounts.items()
        if address not in ours and (whose := trainer_owner(called)) not in ("", stack.identity.label)
    ]


def _refuse_elsewhere(live: Live, stack: Stack) -> None:
    """Raise ConfigError for a work bucket that is not in the region of the jobs that are to write there."""
    for region, name in ((stack.region, stack.workspace.work_bucket), *stack.work_elsewhere.items()):
        if (at := live.locations.get(name, region)) != region:
            raise ConfigError(
                f"bucket gs://{name} is in {at}, and jobs in {region} can't write their results there",
                why="Vertex AI refuses a job whose output bucket is not in the job's own region; the name is that of "
                f"{stack.origin.place('slipway:workspace.workBucket')}"
                f"{'' if region == stack.region else ', with the region behind it'}",
                fix="another one: a bucket there, or a name that is free, by which the stack makes one",
            )


def _foreign(buckets: object, stack: Stack) -> list[Fault]:
    """Return the fault of a name that another project's bucket has. Its catalog is another's too, and goes unsaid."""
    if not isinstance(buckets, Unknown) or not buckets.foreign:
        return []
    key = "catalogBucket" if buckets.on == f"gs://{stack.workspace.catalog_bucket}" else "workBucket"
    return [
        Fault(
            f"{buckets.on} is another project's bucket",
            "names of buckets are one for all of Google Cloud (two stacks share a default name if the names of their "
            "projects and stacks join to the same text)",
            f"name another bucket: {stack.origin.place(f'slipway:workspace.{key}')}",
        )
    ]


def _unread(part: object) -> list[str]:
    return [f"can't tell what exists already: {part}"] if isinstance(part, Unknown) else []


def await_provisioned(
    read: Callable[[], Live],
    decide: Callable[[Live], Plan],
    say: Callable[[str], None],
    *,
    wait: bool,
    sleep: Callable[[float], None] = time.sleep,
) -> tuple[Live, Plan]:
    """Read the live resources and plan; with `wait`, again until no current cluster is provisioning.

    Raises WaitTimeout after two hours.
    """
    reported = ""
    for _ in poll(sleep, _EVERY_S, within=_WITHIN_S):
        live = read()
        plan = decide(live)
        names = join(cluster.id for cluster in plan.current if cluster.state == "PROVISIONING")
        if not (wait and names):
            return live, plan
        if names != reported:
            say(f"waiting for {names}: still being made since an earlier deployment")
            reported = names
    raise WaitTimeout(
        f"{reported} is still being made after {span(_WITHIN_S)}",
        why="a cluster can't be used, changed or deleted while it is being made",
        fix="deploy again later; slipway pools shows its state",
    )
