"""Buckets and accounts of the program that another deployment of Slipway has made, or uses.

Pulumi would change such a resource as the program declares it, and delete it together with the program's stack. The
display name of an account names its deployment; a bucket's own name does, or the published catalogs of the project.
These also tell who uses a resource that nobody has marked, such as one of another program.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import pulumi

from slipway.base.errors import ConfigError
from slipway.deploying.deployment.undeclared import owner_in_name
from slipway.deploying.deployment.workspace_plan import trainer_owner
from slipway.google.catalog.document import PublishedCatalog
from slipway.google.live import Neighbours, Unknown
from slipway.google.snapshot import neighbours
from slipway.model.identity import Identity, identity_in, words_of
from slipway.model.state import ACCOUNT, BUCKET, State
from slipway.model.state_refusals import forgetting

from .former_names import is_entry_of
from .live_reading import found_resource, reader_of
from .world import mocked


@dataclass(frozen=True)
class Subject:
    """A bucket or an account that exists."""

    type: str
    #: The bucket's name, or the account's address.
    name: str
    project: str
    #: The account's display name.
    called: str = ""
    #: The bucket has the lifecycle rules of Slipway's buckets.
    made: bool = False
    #: The URN of its entry in the state; empty without one.
    urn: str = ""

    @property
    def words(self) -> str:
        return f"bucket gs://{self.name}" if self.type == BUCKET else f"account {self.name}"


def refuse_owned(declared: Iterable[pulumi.ResourceTransformationArgs], state: State) -> None:
    """Raise ConfigError if the state has an entry of the program for what another deployment made."""
    for args in declared:
        subject = in_state(args, state) if args.type_ in (BUCKET, ACCOUNT) else None
        owner = owner_of(subject, state) if subject else ""
        if subject and owner:
            raise rejected(args.name, subject, owner)


def in_state(args: pulumi.ResourceTransformationArgs, state: State) -> Subject | None:
    """Return a resource of the program as the state has it; None if it does not."""
    project = pulumi.Config("gcp").get("project") or ""
    for entry in state.outside:
        if is_entry_of(args, entry):
            return Subject(entry.type, entry.name, entry.project or project, entry.marked, entry.made, entry.urn)
    return None


def existing(type_: str, name: str, project: str) -> Subject | None:
    """Return a resource as it exists; None if it does not, or can't be read."""
    world = mocked()
    if world is None:
        called, made = found_resource(type_, name, project) or (None, False)
        return None if called is None else Subject(type_, name, project, called, made)
    found = world.live.buckets if type_ == BUCKET else world.live.service_accounts
    if isinstance(found, Unknown) or name not in found:
        return None
    called = dict(found)[name] if isinstance(found, Mapping) else ""
    return Subject(type_, name, project, called)


def owner_of(subject: Subject, state: State) -> str:
    """Return the label of the other deployment that made a resource; empty for none."""
    label = trainer_owner(subject.called) if subject.type == ACCOUNT else _owner_of_bucket(subject)
    return "" if _is_own(label, state) else label


def user_of(subject: Subject, state: State) -> str:
    """Return the label of another deployment that uses a resource; empty for none, and if this one uses it too."""
    users = _users(subject)
    if isinstance(users, Unknown) or any(_is_own(label, state) for label in users):
        return ""
    return next(iter(users), "")


def may_be_published(subject: Subject, state: State) -> bool:
    """Return whether this deployment has a catalog in the project, or may have one."""
    catalogs = _catalogs(subject.project)
    if isinstance(catalogs, Unknown):
        return True
    owners = [each.owner for each in catalogs.values() if isinstance(each, PublishedCatalog)]
    return any(_is_own(owner, state) for owner in owners if owner)


def _owner_of_bucket(bucket: Subject) -> str:
    named = owner_in_name(bucket.name, bucket.project)
    if not named and not bucket.made:
        return ""
    users = _users(bucket)
    if isinstance(users, Unknown):
        return named if bucket.made else ""
    if named in users:
        return named
    return users[0] if users and bucket.made else ""


def _users(subject: Subject) -> list[str] | Unknown:
    """Return the labels of the deployments whose published catalogs need a bucket or an account."""
    catalogs = _catalogs(subject.project)
    if isinstance(catalogs, Unknown):
        return catalogs
    published = {name: each for name, each in catalogs.items() if isinstance(each, PublishedCatalog)}
    needing = [each for name, each in published.items() if name == subject.name or each.offers(subject.name)]
    return [each.owner for each in needing if each.owner]


def _catalogs(project: str) -> Neighbours:
    world = mocked()
    return neighbours(reader_of(project)) if world is None else world.live.neighbours


def _is_own(label: str, state: State) -> bool:
    """Return whether a label is of this stack, by any of its workspaces."""
    project, stack = pulumi.get_project(), pulumi.get_stack()
    identity = identity_in(label)
    if identity is not None and (identity.project, identity.stack) == (project, stack):
        return True
    workspaces = ["", *(place.name for place in state.workspaces.values())]
    return label in {Identity(project, stack, workspace).label for workspace in workspaces}


def rejected(resource: str, subject: Subject, owner: str) -> ConfigError:
    """Return the error of a resource of the program that another deployment made."""
    deployment = words_of(owner)
    fixes = [f"remove {resource} from the program, or choose another name"]
    if subject.type == BUCKET:
        fixes += [] if _has_catalog(subject) else [_use(subject)]
    else:  # Its deployment would delete it.
        fixes.append(f"for jobs of this program, choose another account: {deployment} deletes its own when it goes")
    if subject.urn:
        forget = forgetting(pulumi.get_stack(), subject.urn)
        fixes.append(f"remove it from the state as well, which deletes nothing:\n{forget}")
    return ConfigError(
        f"{subject.words} belongs to {deployment}, so the resource is rejected",
        why=f"the program declares it as {resource}: Pulumi would change it, and delete it when {resource} is removed",
        fix="\n".join(fixes),
    )


def used_elsewhere(resource: str, subject: Subject, user: str) -> ConfigError:
    """Return the error of a resource of the program that exists, and that another deployment uses."""
    deployment, identity = words_of(user), identity_in(user)
    another = f"remove {resource} from the program, or choose another name"
    if identity is not None and identity.project == pulumi.get_project():
        another = "choose another name for each stack, such as one with `pulumi.get_stack()` in it"
    return ConfigError(
        f"{subject.words} is used by {deployment}, so the resource is rejected",
        why=f"the program declares it as {resource}: Pulumi would fail to create it, as its name is in use (409), or, "
        "with an import, change it and delete it together with this stack",
        fix=f"{another}\n{_use(subject)}",
    )


def _has_catalog(bucket: Subject) -> bool:
    catalogs = _catalogs(bucket.project)
    return not isinstance(catalogs, Unknown) and bucket.name in catalogs


def _use(subject: Subject) -> str:
    argument, name = "work_bucket", subject.name
    if subject.type == ACCOUNT:
        argument, name = "trainer", subject.name.partition("@")[0]
    return f"to use what exists, give a Workspace its name: `{argument}={name!r}`"
