"""The kinds of resources of ML Metadata, and what of each a client may set."""

from ..collection import Kind

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
