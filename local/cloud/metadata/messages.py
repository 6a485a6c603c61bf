"""The message types of ML Metadata, and what of each a client may set."""

from local.cloud.collection import Kind
from local.cloud.messages import Messages

MESSAGES = Messages(
    packages={"v1": "aiplatform_v1", "v1beta1": "aiplatform_v1beta1"},
    modules={
        "MetadataStore": "metadata_store",
        "MetadataSchema": "metadata_schema",
        "Context": "context",
        "Execution": "execution",
        "Artifact": "artifact",
        "LineageSubgraph": "lineage_subgraph",
        "AddContextArtifactsAndExecutionsRequest": "metadata_service",
        "AddContextChildrenRequest": "metadata_service",
        "RemoveContextChildrenRequest": "metadata_service",
        "AddExecutionEventsRequest": "metadata_service",
    },
)

STORE = Kind("MetadataStore", "/metadataStores", "store", "metadataStores", ("encryptionSpec", "description"))
_IN_A_STORE = "/metadataStores/{store}/"
_NODE = ("displayName", "labels", "schemaTitle", "schemaVersion", "metadata", "description")
SCHEMA = Kind(
    "MetadataSchema",
    _IN_A_STORE + "metadataSchemas",
    "schema",
    "metadataSchemas",
    ("schemaVersion", "schema", "schemaType", "description"),
)
# What jobs log to is not counted with other resources' calls.
_UNLIMITED = ""
CONTEXT = Kind("Context", _IN_A_STORE + "contexts", "context", "contexts", _NODE, _UNLIMITED)
EXECUTION = Kind("Execution", _IN_A_STORE + "executions", "execution", "executions", (*_NODE, "state"), _UNLIMITED)
ARTIFACT = Kind("Artifact", _IN_A_STORE + "artifacts", "artifact", "artifacts", (*_NODE, "state", "uri"), _UNLIMITED)
