"""The projects and APIs that the program itself creates: what a deployment reads is in them."""

from __future__ import annotations

import asyncio
from collections.abc import Collection

import pulumi

from .member import Member
from .namesakes import noted
from .waiting import waits_for

PROJECT = "gcp:organizations/project:Project"
_TYPES = (PROJECT, "gcp:projects/service:Service")


def foundations(components: Collection[Member]) -> list[pulumi.Resource]:
    """Return the program's projects and APIs, but for those that wait for one of its components."""
    own = [args.resource for args in noted() if args.type_ in _TYPES]
    return [resource for resource in own if not waits_for(resource, components)]


async def await_created(resources: Collection[pulumi.Resource]) -> None:
    """Wait until Pulumi has created resources. If it can't, the program ends with that error."""
    await asyncio.gather(*(resource.urn.future() for resource in resources))


async def absent_projects() -> set[str]:
    """Return the ids of the program's projects that only `up` will create."""
    ids: set[str] = set()
    for args in noted():
        if args.type_ == PROJECT and not await pulumi.Output.from_input(vars(args.resource)["number"]).is_known():
            id_ = await pulumi.Output.from_input(args.props.get("project_id")).future()
            ids.update([str(id_)] if id_ else [])
    return ids
