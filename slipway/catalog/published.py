"""What a deployment needs of the catalog that is published now, from whatever version wrote it."""

from __future__ import annotations

import json
from typing import Any

from slipway.live import PublishedCatalog


def published(content: bytes | str, source: str) -> PublishedCatalog:
    """Two keys of a catalog of any schema, older or newer: `clusters` and `retiring`. Never raises.

    They keep their meaning forever, and nothing else matters: no version's catalog stops another's deployment. The
    stack (`stack`), account and buckets (`trainer`, `storage`) are taken where they are.
    One that can't be told says so in `damage`, with its address `source`, and lists nothing.
    """
    try:
        body: Any = json.loads(content)
    except (ValueError, RecursionError) as problem:
        return PublishedCatalog(damage=f"{source}: not valid JSON: {problem}")
    if not isinstance(body, dict):
        return PublishedCatalog(damage=f"{source}: not a JSON object")
    clusters, retiring = body.get("clusters"), body.get("retiring", [])
    if not isinstance(clusters, dict) or not all(_has_id(one) for one in clusters.values()):
        return PublishedCatalog(damage=f"{source}: clusters is not an object of clusters with their ids")
    if not isinstance(retiring, list) or not all(isinstance(id_, str) for id_ in retiring):
        return PublishedCatalog(damage=f"{source}: retiring is not a list of ids")
    storage = body.get("storage")
    names = [body.get("trainer"), *(storage.values() if isinstance(storage, dict) else ())]
    needs = frozenset(name for name in names if isinstance(name, str) and name)
    ids, stack = {name: one["id"] for name, one in clusters.items()}, body.get("stack")
    return PublishedCatalog(ids, tuple(retiring), needs=needs, stack=stack if isinstance(stack, str) else "")


def _has_id(cluster: Any) -> bool:
    return isinstance(cluster, dict) and isinstance(cluster.get("id"), str)
