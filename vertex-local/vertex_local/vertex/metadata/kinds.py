"""The kinds of resources of ML Metadata, and the fields that a client may set."""

from ..collection import Kind

STORE = Kind(
    "MetadataStore", "/metadataStores", "store", "metadataStores", ("encryptionSpec", "description"), strict=True
)
_IN_A_STORE = "/metadataStores/{store}/"
_NODE = ("displayName", "labels", "schemaTitle", "schemaVersion", "metadata", "description")
# Calls on resources that jobs log to are not counted with those on others.
_UNLIMITED = ""
CONTEXT = Kind("Context", _IN_A_STORE + "contexts", "context", "contexts", _NODE, _UNLIMITED, strict=True)
EXECUTION = Kind(
    "Execution", _IN_A_STORE + "executions", "execution", "executions", (*_NODE, "state"), _UNLIMITED, strict=True
)
ARTIFACT = Kind(
    "Artifact", _IN_A_STORE + "artifacts", "artifact", "artifacts", (*_NODE, "state", "uri"), _UNLIMITED, strict=True
)
