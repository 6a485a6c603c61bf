"""Grants as the engine's resources."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pulumi

from slipway.model.facts import WORKSPACE
from slipway.model.state import StateGrant

from .gcp import projects, serviceaccount, storage


def declare_grant(
    grant: StateGrant, project: str, opts: pulumi.ResourceOptions, resources: Mapping[str, Any] | None = None
) -> None:
    """Declare a grant. `resources`: declared buckets, by `gs://BUCKET`, and accounts, by their addresses."""
    known = resources or {}
    on, account = known.get(grant.on), known.get(grant.member.removeprefix("serviceAccount:"))
    given: dict[str, Any] = {"role": grant.role, "member": account.member if account else grant.member, "opts": opts}
    if not grant.on:
        projects.IAMMember(grant.name, project=project, **given)
    elif grant.on.startswith("gs://"):
        storage.BucketIAMMember(grant.name, bucket=on.name if on else grant.on.removeprefix("gs://"), **given)
    else:
        full = f"projects/{project}/serviceAccounts/{grant.on}"
        serviceaccount.IAMMember(grant.name, service_account_id=on.name if on else full, **given)


def leave_grants(
    grants: Iterable[StateGrant], project: str, hooks: pulumi.ResourceHookBinding, facts: Mapping[str, Any]
) -> None:
    """Let the engine leave these grants in the cloud, when a destruction declares nothing else: the hooks take those
    that no other stack needs, once it is their turn. `facts`: the workspace's as they are, for where the destruction is
    refused: the next review compares with them."""
    workspace = pulumi.ComponentResource(WORKSPACE, "workspace", dict(facts))
    workspace.register_outputs({"facts": dict(facts)})
    for grant in grants:
        declare_grant(grant, project, pulumi.ResourceOptions(parent=workspace, retain_on_delete=True, hooks=hooks))
