"""The connections of nodes in a metadata store: contexts with their members, executions with artifacts by events.

(A context's parents are in the context itself.)
"""

from collections.abc import Mapping
from typing import Any

from ...repository import Repository
from ...store import Store

Event = Mapping[str, Any]
"""An Event in canonical JSON, with full names."""

_MEMBERS = Repository(kind="metadataMember", record=dict, key=lambda link: f"{link['context']} {link['member']}")
_EVENTS = Repository(
    kind="metadataEvent",
    record=dict,
    key=lambda event: f"{event['execution']} {event['artifact']} {event.get('type', '')}",
)


def join(store: Store, context: str, member: str) -> None:
    """Put an artifact or an execution into a context. Doing it again changes nothing."""
    _MEMBERS.put(store, {"context": context, "member": member})


def members(store: Store, context: str) -> set[str]:
    """Return the full names of a context's artifacts and executions."""
    return {link["member"] for link in _MEMBERS.every(store, f"{context} ")}


def record(store: Store, event: Event) -> None:
    """Keep that an artifact was an execution's input or output. Doing it again replaces the event."""
    _EVENTS.put(store, dict(event))


def events(store: Store, execution: str) -> list[dict[str, Any]]:
    return _EVENTS.every(store, f"{execution} ")


def forget(store: Store, name: str) -> None:
    """Remove all connections of a node that is being removed."""
    for links, ends in ((_MEMBERS, ("context", "member")), (_EVENTS, ("execution", "artifact"))):
        for link in links.every(store):
            if name in (link[end] for end in ends):
                links.remove(store, links.key(link))
