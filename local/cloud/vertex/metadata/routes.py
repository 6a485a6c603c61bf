"""All methods of ML Metadata."""

from local.cloud.vertex.metadata.artifacts import Artifacts
from local.cloud.vertex.metadata.contexts import Contexts
from local.cloud.vertex.metadata.executions import Executions
from local.cloud.vertex.metadata.metadata_schemas import MetadataSchemas
from local.cloud.vertex.metadata.metadata_stores import MetadataStores
from local.cloud.wire import Route
from local.cloud.world import World


def routes(world: World) -> list[Route]:
    methods = (MetadataStores(world), MetadataSchemas(world), Contexts(world), Executions(world), Artifacts(world))
    return [route for item in methods for route in item.routes()]
