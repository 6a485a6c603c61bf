"""Vertex ML Metadata: stores with contexts, executions, artifacts and what connects them; Experiments rest on it."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from local.cloud.services import World
    from local.cloud.wire import Route

API = "aiplatform.googleapis.com"


def routes(world: "World") -> "list[Route]":
    from local.cloud.metadata.lineage import Lineage
    from local.cloud.metadata.messages import ARTIFACT, CONTEXT, EXECUTION
    from local.cloud.metadata.nodes import Nodes
    from local.cloud.metadata.schemas import Schemas
    from local.cloud.metadata.stores import Stores

    found = [*Stores(world).routes(), *Schemas(world).routes(), *Lineage(world).routes()]
    for kind in (CONTEXT, EXECUTION, ARTIFACT):
        found += Nodes(world, kind).routes()
    return found
