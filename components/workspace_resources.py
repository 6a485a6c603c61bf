"""The buckets, accounts and grants of a workspace as the engine's resources."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

import pulumi

from slipway.deploying.deployment.workspace_plan import trainer_display_name, trainer_owner
from slipway.google.live import Unknown
from slipway.model.facts import WORKSPACE
from slipway.model.state import State, StateGrant

from .gcp import projects, serviceaccount, storage
from .group import Group
from .member import Member

Known = TypeVar("Known", frozenset[str], Mapping[str, str])


class WorkspaceResources:
    """The resources that a workspace declares, by addresses: `gs://BUCKET`, and an account's own."""

    def __init__(self, parent: Member, group: Group) -> None:
        """Declare nothing yet. `parent`: the workspace."""
        self._parent, self._group = parent, group
        self._ignored = parent.options.ignore_changes or []
        state = State() if isinstance(group.state, Unknown) else group.state
        self._known = {each.name for each in (*state.buckets, *state.accounts)}
        #: The logical names.
        self.named: dict[str, str] = {}
        self.made: dict[str, Any] = {}

    def bucket(
        self,
        logical: str,
        name: str,
        own: pulumi.Resource | None = None,
        *,
        of_catalog: bool = False,
        rules: Iterable[Mapping[str, Any]] = (),
        region: str = "",
    ) -> str:
        """Declare a bucket, unless it is the program's `own`, and return its address. `rules`: when objects are
        deleted. A retiring one, which comes without rules, and an adopted one stay unchanged."""
        group, existing = self._group, _known(self._group.deployment.live.buckets)
        theirs = name in group.deployment.plan.workspace.adopted
        keep, changes = theirs or not of_catalog, bool(rules) and not theirs
        imported = name in existing and (changes or theirs)
        settings: dict[str, Any] = {}
        if changes:
            settings = {
                "uniform_bucket_level_access": True,
                "public_access_prevention": "enforced",
                "versioning": storage.BucketVersioningArgs(enabled=of_catalog),
                "lifecycle_rules": [
                    storage.BucketLifecycleRuleArgs(
                        action=storage.BucketLifecycleRuleActionArgs(type="Delete"),
                        condition=storage.BucketLifecycleRuleConditionArgs(**when),
                    )
                    for when in rules
                ],
                "force_destroy": not keep,
            }
            if key := group.deployment.stack.workspace.kms_key:
                settings["encryption"] = storage.BucketEncryptionArgs(default_kms_key_name=key)
        address = f"gs://{name}"
        self.named[address], self.made[address] = (
            logical,
            own
            or storage.Bucket(
                group.child(self._parent, logical),
                name=name,
                project=group.project,
                location=(region or group.region).upper(),
                opts=pulumi.ResourceOptions.merge(
                    pulumi.ResourceOptions(
                        parent=self._parent,
                        ignore_changes=self._ignored if changes else ["*"],
                        protect=None if rules else False,
                        retain_on_delete=keep,
                        hooks=None if keep else group.hooks.guard,
                    ),
                    self._existing(name, imported, name in self._known),
                ),
                **settings,
            ),
        )
        return address

    def account(self, logical: str, email: str, own: pulumi.Resource | None = None, *, old: bool = False) -> None:
        """Declare an account, unless it is the program's `own`. An `old` one stays unchanged."""
        group, known = self._group, _known(self._group.deployment.live.service_accounts)
        there = email in known
        full = f"projects/{group.project}/serviceAccounts/{email}"
        self.named[email], self.made[email] = (
            logical,
            own
            or serviceaccount.Account(
                group.child(self._parent, logical),
                account_id=email.partition("@")[0],
                project=group.project,
                display_name=trainer_display_name(group.identity.label),
                opts=pulumi.ResourceOptions.merge(
                    pulumi.ResourceOptions(
                        parent=self._parent,
                        ignore_changes=["*"] if old else ["displayName", "description", *self._ignored],
                        protect=False if old else None,
                        # An adopted account: its display name tells, which is never changed.
                        retain_on_delete=there and not trainer_owner(known[email]),
                        hooks=group.hooks.guard,
                    ),
                    self._existing(full, there and not old, email in self._known),
                ),
            ),
        )

    def _existing(self, id_: str, exists: bool, known: bool) -> pulumi.ResourceOptions:
        """Return the options of a resource that `exists`: the engine imports it by its id, unless it is `known` to the
        engine, which may then not replace it."""
        if exists and known:
            return self._group.hooks.kept
        return pulumi.ResourceOptions(import_=id_ if exists else None)

    def declare(self, grants: Iterable[StateGrant]) -> None:
        """Declare grants, by their logical names."""
        # They come and go with the submitters, also where the engine protects the workspace.
        for grant in grants:
            opts = pulumi.ResourceOptions(
                parent=self._parent,
                hooks=self._group.hooks.guard,
                protect=False,
                # Created first, the deletion of the old grant would take the role of the new one as well.
                delete_before_replace=True,
                retain_on_delete=self._group.guard.leaves(grant) or None,
            )
            named = replace(grant, name=self._group.child(self._parent, grant.name))
            self._group.hooks.grants[named] = declare_grant(named, self._group.project, opts, self.made).urn


def declare_grant(
    grant: StateGrant, project: str, opts: pulumi.ResourceOptions, resources: Mapping[str, Any]
) -> pulumi.Resource:
    """Declare a grant. `resources`: declared buckets, by `gs://BUCKET`, and accounts, by their addresses."""
    on, account = resources.get(grant.on), resources.get(grant.member.removeprefix("serviceAccount:"))
    given: dict[str, Any] = {"role": grant.role, "member": account.member if account else grant.member, "opts": opts}
    if not grant.on:
        return projects.IAMMember(grant.name, project=project, **given)
    if grant.on.startswith("gs://"):
        bucket = on.name if on else grant.on.removeprefix("gs://")
        return storage.BucketIAMMember(grant.name, bucket=bucket, **given)
    full = f"projects/{project}/serviceAccounts/{grant.on}"
    return serviceaccount.IAMMember(grant.name, service_account_id=on.name if on else full, **given)


def stand_in(
    name: str, outputs: Mapping[str, Any], options: pulumi.ResourceOptions | None = None
) -> pulumi.ComponentResource:
    """Declare a workspace that the program does not. Facts among its `outputs` are as they were, for where a
    destruction is refused: the next review compares with them."""
    workspace = pulumi.ComponentResource(WORKSPACE, name, dict(outputs.get("facts", {})), options)
    workspace.register_outputs(dict(outputs))
    return workspace


def leave_grants(
    grants: Iterable[StateGrant],
    project: str,
    hooks: pulumi.ResourceHookBinding,
    workspace: pulumi.Resource,
) -> None:
    """Let the engine leave these grants of a workspace in the cloud, of which nothing else is declared: the hooks take
    those that no other stack needs, once it is their turn."""
    for grant in grants:
        declare_grant(grant, project, pulumi.ResourceOptions(parent=workspace, retain_on_delete=True, hooks=hooks), {})


def _known(existing: Known | Unknown) -> Known:
    if isinstance(existing, Unknown):
        raise ValueError(f"what exists must be known before anything is declared: {existing.why}")
    return existing
