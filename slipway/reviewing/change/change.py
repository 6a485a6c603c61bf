"""A change of one stack, as far as it is known: every comparison of `slipway.reviewing.rules` takes it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from functools import cached_property, wraps
from typing import Any, TypeVar

from slipway.deploying.deployment.actions import of_catalog
from slipway.deploying.deployment.workspace_plan import WRITES_METRICS
from slipway.deploying.engine.grants import Grant, gained_and_lost
from slipway.deploying.engine.preview import Preview
from slipway.deploying.engine.touched import ACCOUNT, Fate, Touched, touched
from slipway.deploying.generations.action import Action, What, Why
from slipway.google.catalog.lookup import (
    for_members,
    for_one_team,
    for_shapes,
    for_teams,
    groups_of,
    takers_of,
)
from slipway.google.clusters import PersistentResource
from slipway.google.jobs import VertexJob, distinct
from slipway.google.live import Live, Unknown
from slipway.google.permissions import Bound
from slipway.google.quota.usage import drawn as drawn_by
from slipway.model.catalog.model import Catalog
from slipway.model.catalog.renaming import as_called, other_names
from slipway.model.catalog.template import Offer, Template
from slipway.model.facts import Facts, Kept
from slipway.reviewing.change.edits import Edit, JobFile
from slipway.reviewing.change.usual import fits_reservation, usual_values

Thing = TypeVar("Thing")
Key = TypeVar("Key")
From = TypeVar("From")
Found = TypeVar("Found")
DAYS = 30
"""The days of jobs that a review looks at."""
_LEFT = "group:-left-@"
"""A group that stands for others than one team, who left: it has nothing of its own."""
UNASKED = Unknown(f"the review reads the jobs of the last {DAYS} days, a deployment does not", "", "")


def by_our_fault(what: str, problem: Exception) -> str:
    """Return `quota could not be compared, by a fault of Slipway itself: report it (KeyError: 'cpus')`."""
    return f"{what}, by a fault of Slipway itself: report it ({type(problem).__name__}: {problem})"


@dataclass(frozen=True)
class Files:
    """The files of a change, by their paths from the project's folder."""

    touched: frozenset[str] = frozenset()
    removed: frozenset[str] = frozenset()
    #: Links to other files.
    links: frozenset[str] = frozenset()
    #: The packages that differ, by file.
    pins: Mapping[str, tuple[Edit, ...]] = field(default_factory=dict)
    #: Files of jobs of which no run sees the edit.
    same: frozenset[str] = frozenset()
    #: Files of jobs that went, and those that came with the same text, in another folder and by the same name there.
    moved: frozenset[str] = frozenset()
    #: The edited places of the other files of jobs, and of those that deploy or judge.
    lines: Mapping[str, tuple[Edit, ...]] = field(default_factory=dict)
    #: By file of jobs, what checkpoints need and it has no more.
    forgetting: Mapping[str, frozenset[str]] = field(default_factory=dict)
    #: The files of jobs' code as they become, edited or not.
    code: Mapping[str, JobFile] = field(default_factory=dict)
    #: The edits of each stack's file.
    stacks: Mapping[str, tuple[Edit, ...]] = field(default_factory=dict)
    #: People's addresses on lines that differ.
    addresses: frozenset[str] = frozenset()


NO_FILES = Files()


class Side(StrEnum):
    """A side of a change."""

    BEFORE = "before"
    AFTER = "after"


@dataclass(frozen=True)
class Change:
    """A change of a stack."""

    stack: str
    #: The deployed stack: the published catalog, which names nothing that does not exist, and the components' own last
    #: inputs for the parts that no catalog has (submitters, quota, kept resources).
    before: Facts
    #: The program's declaration.
    after: Facts
    #: Clusters, jobs that have not ended, limits.
    live: Live
    now: datetime
    #: None without the engine: in the program itself, at the start of a preview.
    preview: Preview | None = None
    #: Of buckets that are adopted: who may use them already.
    policies: Mapping[str, frozenset[Bound] | Unknown] = field(default_factory=dict)
    files: Files = NO_FILES
    #: The parts that the comparison lacked, a sentence each, for the first line.
    unread: tuple[str, ...] = ()
    #: Other facts about the comparison for its reader.
    notes: tuple[str, ...] = ()
    #: Sides of which nothing is known; each is told as the other, so that nothing differs.
    unknown: frozenset[Side] = frozenset()
    #: Nothing is deployed.
    first: bool = False
    #: New names of templates by the deployed ones; `before` has the new ones.
    other_names: Mapping[str, str] = field(default_factory=dict)
    #: The catalogs with the offers for teams, too, whose members may submit on one side alone.
    of_all_teams: Mapping[Side, Catalog] = field(default_factory=dict)

    @classmethod
    def between(
        cls,
        stack: str,
        before: Facts | None,
        after: Facts | None,
        live: Live,
        now: datetime,
        *,
        known: bool = True,
        **fields: Any,
    ) -> Change:
        """Return the change of two sides. `before`: None where nothing is deployed or, without `known`, nobody can tell
        what is; `after`: None where the program refused before it could declare."""
        unknown = frozenset(side for side, there in ((Side.BEFORE, before), (Side.AFTER, after)) if there is None)
        first = before is None and after is not None and known
        declared = after or before or Facts(_nothing(stack, "", ""))
        deployed = before or declared
        if first:
            # Nothing, in the place and under the settings of the declared stack.
            nothing = _nothing(declared.catalog.stack, declared.catalog.project, declared.catalog.region)
            quota = replace(declared.quota, lines={}, requests=None)
            deployed = Facts(nothing, code=declared.code, quota=quota, policy=declared.policy)
        # A template that can't be loaded is refused, and stays as it is deployed.
        stay = {name: each for name, each in deployed.catalog.templates.items() if name in declared.unloaded}
        whole = replace(declared, catalog=replace(declared.catalog, templates={**stay, **declared.catalog.templates}))
        names = other_names(deployed.catalog, whole.catalog)
        deployed = replace(deployed, catalog=as_called(deployed.catalog, names))
        new = whole.with_submitters
        both = for_one_team(_with_staying(deployed.with_submitters, new)), for_one_team(new)
        sides = {Side.BEFORE: (deployed, *both), Side.AFTER: (declared, *both[::-1])}
        before, after = (replace(side[0], catalog=_comparable(*side, now, members=new)) for side in sides.values())
        return cls(
            stack=stack,
            before=before,
            after=after,
            of_all_teams={of: _comparable(*side, now) for of, side in sides.items()},
            live=live,
            now=now,
            unknown=unknown - {Side.BEFORE} if first else unknown,
            first=first,
            other_names=names,
            **fields,
        )

    @property
    def old(self) -> Catalog:
        return self.before.catalog

    @property
    def new(self) -> Catalog:
        return self.after.catalog

    @property
    def edited(self) -> bool:
        """Tell whether it is of another commit than the deployed one: of that nothing moves but time and the cloud."""
        return self.new.dirty or self.new.revision != self.old.revision

    @property
    def published(self) -> Catalog | None:
        """The catalog as people find it: a deployment that was cut short may have taken clusters out of it."""
        return self.live.deployed

    @cached_property
    def actions(self) -> tuple[Action, ...]:
        """The actions of the deployment, as this version decides them for the program's publication."""
        if Side.AFTER in self.unknown:
            return ()
        return of_catalog(self.new, self._deployed, self.live, self.now)

    @cached_property
    def actions_before(self) -> tuple[Action, ...]:
        """The actions of the same deployment without this change."""
        return of_catalog(self.old, self.old, self.live, self.now) if self._deployed else ()

    @property
    def _deployed(self) -> Catalog | None:
        return None if self.first or Side.BEFORE in self.unknown else self.old

    def of(self, *what: What) -> tuple[Action, ...]:
        return tuple(action for action in self.actions if action.what in what)

    @cached_property
    def touched(self) -> tuple[Touched, ...]:
        return touched(self.preview) if self.preview else ()

    @cached_property
    def grants(self) -> tuple[tuple[Grant, ...], tuple[Grant, ...]]:
        return gained_and_lost(self.touched)

    @cached_property
    def jobs(self) -> tuple[VertexJob, ...]:
        return () if isinstance(self.live.jobs, Unknown) else tuple(job for job in self.live.jobs if not job.ended)

    @cached_property
    def jobs_by_template(self) -> Mapping[str, Sequence[VertexJob]]:
        """The jobs of the last days, and those that have not ended, without those by which others run."""
        recent = () if isinstance(self.live.recent, Unknown) else self.live.recent
        return grouped(distinct((*recent, *self.jobs)), lambda job: self.other_names.get(job.template, job.template))

    def jobs_on(self, id_: str) -> tuple[VertexJob, ...]:
        return tuple(job for job in self.jobs if job.persistent_resource_id == id_)

    @cached_property
    def going(self) -> tuple[frozenset[str], frozenset[str]]:
        """The names of deleted and forgotten resources, and of the accounts that go."""
        going = [resource for resource in self.touched if resource.goes]
        forgotten = [resource for resource in self.touched if resource.fate is Fate.FORGOTTEN]
        gone = frozenset(resource.physical for resource in (*going, *forgotten))
        return gone, frozenset(resource.physical for resource in going if resource.type == ACCOUNT)

    @cached_property
    def living(self) -> Mapping[str, PersistentResource] | None:
        clusters = self.live.clusters
        if self.live.skipped or isinstance(clusters, Unknown):
            return None
        return {cluster.id: cluster for cluster in clusters}

    @property
    def retiring(self) -> frozenset[str]:
        kept = (cluster.id for cluster in self.before.kept.values() if cluster.kind == "cluster")
        return frozenset((*self.before.catalog.retiring, *kept))


def once(compute: Callable[[From], Found]) -> Callable[[From], Found]:
    """Keep a function's value with the immutable object that it is of, as `cached_property` does for a method. What is
    made by `replace` begins anew."""
    key = f"{compute.__module__}.{compute.__qualname__}"

    @wraps(compute)
    def known(of: From) -> Found:
        values = vars(of)
        if key not in values:
            values[key] = compute(of)
        value: Found = values[key]
        return value

    return known


def grouped(some: Iterable[Thing], key: Callable[[Thing], Key]) -> dict[Key, list[Thing]]:
    groups: dict[Key, list[Thing]] = {}
    for thing in some:
        groups.setdefault(key(thing), []).append(thing)
    return groups


def let_go(change: Change, id_: str) -> Kept | None:
    """Return the account or bucket that was kept for jobs alone and that nothing needs any more. None for one that the
    deployed catalog still sends jobs to: no completed deployment gave that up."""
    if id_ in change.after.kept or any(job.needs(id_) for job in change.jobs):
        return None
    asked_for = {*_names(change.before.catalog), *_names(change.after.catalog)}
    kept = None if id_ in asked_for else change.before.kept.get(id_)
    return kept if kept and kept.kind != "cluster" else None


def lapsed(change: Change, account: str, role: str, place: str) -> bool:
    """Tell whether an account's role was kept only for jobs that have ended. `place`: empty for the project."""
    if let_go(change, account):
        return True
    if role != WRITES_METRICS or place or any(job.needs(account) for job in change.jobs):
        return False
    for catalog in (change.old, change.new):
        theirs = (offer.spec for offer in catalog.offers_as(account))
        # The condition of `workspace_plan.metric_writers`; an account of no template has the role for itself.
        if account not in _names(catalog) or any(spec.keys() & {"experiment", "tensorboard"} for spec in theirs):
            return False
    return True


def come_by_time(change: Change) -> frozenset[str]:
    """Return the names of clusters that the deployed dates bring back."""
    dated = (action for action in change.actions if action.current and action.why in (Why.SEASON, Why.AWAITED))
    return frozenset(action.cluster for action in dated)


def added(change: Change) -> frozenset[str]:
    """Return the names of clusters that are not deployed yet, or not in the configuration that is made."""
    return frozenset(change.new.clusters) - {*change.old.clusters, *come_by_time(change)}


def drawn_why(change: Change, metric: str) -> str:
    """Return `season` where a quota of the stack's own region is drawn more than in the last declaration only because
    seasons begin, and `deployed` where deployed clusters, and those of deployed seasons, draw it; empty for all others,
    and where it is checked in another way."""
    before, after = change.before.quota, change.after.quota
    if change.first or (before.mode, before.strict, before.region) != (after.mode, after.strict, after.region):
        return ""
    more = set()
    for key, line in after.lines.items():
        if line.metric == metric and not line.region:
            drawn = before.lines[key].drawn if key in before.lines else {}
            more |= {who.partition("/")[0] for who, amount in line.drawn.items() if amount > drawn.get(who, 0)}
    known = {cluster.id for cluster in change.old.dormant.values()}
    for cluster in change.new.dormant.values():
        if cluster.comes and cluster.id not in known and metric in drawn_by((cluster,), ()):
            more.add(cluster.name)
    deployed = {action.cluster for action in change.actions if action.why is Why.DEPLOYED}
    come = come_by_time(change)
    return "season" if more and more <= come else "deployed" if more <= come | deployed else ""


def _names(catalog: Catalog) -> tuple[str, ...]:
    return catalog.trainer, *catalog.trainers.values(), *catalog.buckets


def _with_staying(old: Catalog, new: Catalog) -> Catalog:
    """Return the deployed catalog without those who may not submit as an account any more, where others may. All
    submissions count for one team there if they did before."""
    # A team that goes may have another name, and one whose people are all exchanged is still that team.
    renamed = {
        each
        for name, team in old.teams.items()
        if name not in new.teams
        or (new.teams[name].submitters and not {*team.submitters} & {*new.teams[name].submitters})
        for each in team.submitters
    }

    def staying(of: str, members: tuple[str, ...]) -> tuple[str, ...]:
        kept = {*new.submitters.get(of, members), *renamed}
        stay = tuple(each for each in members if each in kept) or members
        if len(groups_of(old, members)) == 1:
            return members
        return (*stay, _LEFT) if len(groups_of(old, stay)) == 1 else stay

    return replace(old, submitters={of: staying(of, members) for of, members in old.submitters.items()})


def _comparable(facts: Facts, own: Catalog, other: Catalog, now: datetime, members: Catalog | None = None) -> Catalog:
    """Return a catalog to compare with another one, in which no offer can be had whose submissions count for none of
    its cluster's teams, or whose reservation takes no usual one now. `members`: the later one, where those who may
    submit on one side alone are left out."""
    of_teams = for_teams(own, other)
    catalog = for_shapes(for_members(of_teams, other, members) if members else of_teams, other)

    def judged(offer: Offer, template: Template) -> Offer:
        owners, teams = catalog.owners(offer.cluster), takers_of(catalog, template, offer)
        barred = owners and not teams & {*owners} and facts.people
        shut = barred or not fits_reservation(offer, catalog.reservations, usual_values(template), now)
        return replace(offer, available=False) if shut else offer

    templates = {
        name: replace(template, offers=tuple(judged(offer, template) for offer in template.offers))
        for name, template in catalog.templates.items()
    }
    return replace(catalog, templates=templates)


def _nothing(stack: str, project: str, region: str) -> Catalog:
    return Catalog(
        stack=stack,
        project=project,
        region=region,
        commit="",
        dirty=False,
        work_bucket="",
        trainer="",
        clusters={},
        retiring=(),
        templates={},
    )
