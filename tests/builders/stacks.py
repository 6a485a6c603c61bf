"""Stacks, as their files declare them."""

from collections.abc import Sequence
from typing import Any

from slipway.authoring.stack.config import WorkspaceEntry
from slipway.authoring.stack.stack import Stack
from slipway.model.cluster import ClusterSpec

from .place import CATALOG_BUCKET, PROJECT, REGION, STACK, TEAM, WORK_BUCKET


def workspace_entry(
    submitters: Sequence[str] = (TEAM,),
    catalog_bucket: str = CATALOG_BUCKET,
    work_bucket: str = WORK_BUCKET,
    trainer: str = "trainer",
) -> WorkspaceEntry:
    names = {"catalog_bucket": catalog_bucket, "work_bucket": work_bucket, "trainer": trainer}
    return WorkspaceEntry(submitters=tuple(submitters)).model_copy(update=names)


def stack(*clusters: ClusterSpec, **fields: Any) -> Stack:
    usual: dict[str, Any] = {"workspace": workspace_entry(), "clusters": clusters}
    return Stack(STACK, PROJECT, REGION, **{**usual, **fields})
