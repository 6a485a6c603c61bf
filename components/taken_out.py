"""A workspace that a program had and has no more. It goes with all that is its own, unless a job needs it.

The engine would take its roles from whoever has them. So those that another stack needs are declared once more, as
roles that the engine leaves in the cloud, and go out of its state with the deployment after that.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace

import pulumi

from slipway.base.errors import ConfigError
from slipway.base.formatting import join
from slipway.deploying.deployment.deletion_guard import GuardSubject, StackGuard
from slipway.deploying.deployment.destruction import must_leave_none
from slipway.deploying.deployment.own_resources import must_keep_own
from slipway.deploying.deployment.shared_grants import by_member
from slipway.deploying.deployment.summary import outliving
from slipway.deploying.deployment.workspace_plan import trainer_owner
from slipway.google.catalog.document import PublishedCatalog
from slipway.google.live import InUse, Unknown
from slipway.google.unfinished_jobs import must_be_idle
from slipway.model.facts import WORKSPACE
from slipway.model.origin import Program
from slipway.model.state import State, StateGrant
from slipway.model.state_refusals import belongs_elsewhere

from .engine import EngineRun, destroys
from .group import prefix
from .leaving import Leaving
from .member import Member
from .namesakes import noted, retained
from .workspace_resources import leave_grants, stand_in


class TakenOut(Leaving):
    """A workspace that the engine's state has, and no component of the program stands for.

    `component`: the engine's name of it.
    """

    def __init__(self, run: EngineRun, known: State, component: str) -> None:
        self.component, self._run, self._all, self._destroys = component, run, known, destroys()
        self.at = known.workspaces[component]
        self.share = (prefix(self.at.name), (self.at.project, self.at.region), run.identity(self.at.name).label)

    @property
    def title(self) -> str:
        """The component, as the program declared it."""
        return f"Workspace {self.component}"

    def know(self, part: State | Unknown) -> None:
        """Take what the state has of it."""
        self.prefix, place, stack = self.share
        super().__init__(os.environ, stack, place, part)
        self.retained = retained()
        if not self._destroys:
            self.grace.began_with(None, "")  # The program goes on, without any name of the workspace's.

    @property
    def origin(self) -> Program:
        kept = f"Workspace {self.at.name}"
        return Program(self._run.name, self.at.name, None if kept == self.title else {kept: self.title})

    @property
    def back(self) -> str:
        return f"put {self.title} back, and {self.origin.up}"

    def use(self, subject: GuardSubject) -> InUse | Unknown:
        if (world := self._run.world) is None:
            return super().use(subject)
        ids = frozenset(cluster.name for cluster in self._known.clusters)
        jobs = () if isinstance(world.live.jobs, Unknown) else world.live.jobs
        return InUse(tuple(job for job in jobs if job.persistent_resource_id in ids), clusters=ids)

    def refuse(self) -> None:
        """Raise SlipwayError where a job needs it, or a cluster of its own would be left."""
        if self.at.left:
            return
        self._must_be_own()
        if self._run.world is None:
            must_leave_none(self)
            if self._destroys:
                must_keep_own(self)
        out = "down" if self._destroys else "out"
        stays = f"{self.title} can't be taken {out}, so nothing was changed"
        then = "then again" if self._destroys else f"then again, or put {self.title} back"
        must_be_idle(self.use(GuardSubject()), stays, then=then)

    def _must_be_own(self) -> None:
        """Raise ConfigError where another stack made it: `pulumi state move` moves states, and nothing in the cloud."""
        owners = {trainer_owner(self._known.called.get(account.name, "")) for account in self._known.accounts}
        if owner := min(owners - {"", self.stack}, default=""):
            urn = self._all.urns.get((WORKSPACE, self.component))
            raise belongs_elsewhere(self.title, owner, self.origin, [urn] if urn else ())

    def foretell(self) -> None:
        """Tell what becomes of it."""
        if self.at.left:
            return
        if not self._destroys:
            pulumi.log.info(self._loss())
        if kept := outliving(self._known):
            pulumi.log.info(kept)
        if self._run.world is None:
            super().foretell()

    def _loss(self) -> str:
        """Return what is deleted with the workspace, and who can no longer submit there."""
        published = None
        if self._known.catalog_bucket and self._run.world is None:
            published = self.reader(self.place, self._known.catalog_bucket).catalog()
        catalog = published.whole if isinstance(published, PublishedCatalog) else None
        templates = sorted(catalog.templates) if catalog else ()
        members = sorted(catalog.submitters.get(catalog.trainer, ())) if catalog else ()
        parts = [f"catalog gs://{self._known.catalog_bucket}"] if self._known.catalog_bucket else []
        parts += [f"cluster {cluster.name}" for cluster in self._known.clusters]
        parts += [f"template {template}" for template in templates]
        gone = f", and {join(parts)} with it" if parts else ""
        people = f"; {join(members)} can no longer submit there" if members else ""
        unread = f"; its templates can't be read: {published}" if isinstance(published, Unknown) else ""
        region = f" ({self.at.region})" if self.at.region else ""
        return f"{self.title}{region} is no longer in the program: it is deleted{gone}{people}{unread}"

    def go(self, hooks: pulumi.ResourceHookBinding, itself: pulumi.Resource | None) -> None:
        """Declare the roles that the engine may not take. `itself`: its component, where a program with a mistake is
        taken down. Raises ConfigError where the provider that made them has left the program too."""
        if self.at.left:
            return
        staying = self.grants if self._destroys else tuple(self._told)
        if not staying:
            return
        whose = join(by_member(self._told.values()))
        providers = [each.resource for each in noted() if isinstance(each.resource, pulumi.ProviderResource)]
        provider = next((each for each in providers if each.pulumi_resource_name == self.at.provider), None)
        if self.at.provider and provider is None:
            raise ConfigError(
                f"provider {self.at.provider} left the program together with {self.title}",
                why=f"another stack needs roles of {whose} that it made, and only by it can they be left",
                fix=f"put provider {self.at.provider} back for two deployments",
            )
        former = self._all.urns.get((WORKSPACE, self.component))
        options = pulumi.ResourceOptions(aliases=[former] if former else [], providers=[provider] if provider else None)
        itself = itself or stand_in(self.component, {"place": replace(self.at, left=True).written}, options)
        grants = [replace(grant, name=f"{self.prefix}{grant.name}") for grant in staying]
        leave_grants(grants, self.at.project, hooks, itself)

    def let_go(self, grant: StateGrant) -> None:
        if self.at.left or self._destroys:
            super().let_go(grant)
        else:  # Those that others need are declared: the engine takes what is not.
            StackGuard.let_go(self, grant)


def taken_out(run: EngineRun, known: State, workspaces: Sequence[Member]) -> list[TakenOut]:
    """Return the workspaces that the program lacks. None where one of those declared is new: it may be another one
    renamed, which is told elsewhere."""
    names = [{each.name, each.pulumi_resource_name} for each in workspaces]
    if not names or not all(each & known.workspaces.keys() for each in names):
        return []
    return [TakenOut(run, known, name) for name in sorted(known.workspaces.keys() - set().union(*names))]
