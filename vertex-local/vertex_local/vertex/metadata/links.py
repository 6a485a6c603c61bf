"""The connections of nodes in a metadata store: contexts with their members, executions with artifacts by events.

(A context's parents are in the context itself.)
"""

from collections.abc import Mapping
from typing import Any

from ...store import Store

_MEMBER, _EVENT = "metadataMember", "metadataEvent"

Event = Mapping[str, Any]
"""An Event in canonical JSON, with full names."""


def join(store: Store, context: str, member: str) -> None:
    """Put an artifact or an execution into a context. Doing it again changes nothing."""
    store.put(_MEMBER, f"{context} {member}", {"context": context, "member": member})


def members(store: Store, context: str) -> set[str]:
    """Return the full names of a context's artifacts and executions."""
    return {str(body["member"]) for _, body in store.list(_MEMBER, f"{context} ")}


def record(store: Store, event: Event) -> None:
    """Keep that an artifact was an execution's input or output. Doing it again replaces the event."""
    store.put(_EVENT, f"{event['execution']} {event['artifact']} {event.get('type', '')}", dict(event))


def events(store: Store, execution: str) -> list[Event]:
    return [body for _, body in store.list(_EVENT, f"{execution} ")]


def forget(store: Store, name: str) -> None:
    """Remove all connections of a node that is being removed."""
    for kind, ends in ((_MEMBER, ("context", "member")), (_EVENT, ("execution", "artifact"))):
        for key, body in store.list(kind):
            if name in (body[end] for end in ends):
                store.delete(kind, key)
