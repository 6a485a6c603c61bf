"""Stacks, as their files declare them."""

from __future__ import annotations

from typing import Any

from slipway.authoring.stack.stack import Stack, WorkspaceSettings
from slipway.model.cluster import ClusterSpec

from .place import CATALOG_BUCKET, PROJECT, REGION, STACK, TEAM, WORK_BUCKET


def workspace(**changes: Any) -> WorkspaceSettings:
    usual = {
        "submitters": (TEAM,),
        "catalog_bucket": CATALOG_BUCKET,
        "work_bucket": WORK_BUCKET,
        "trainer": "trainer",
    }
    return WorkspaceSettings(**{**usual, **changes})


def stack(*clusters: ClusterSpec, **fields: Any) -> Stack:
    usual: dict[str, Any] = {"workspace": workspace(), "clusters": clusters}
    return Stack(STACK, PROJECT, REGION, **{**usual, **fields})
