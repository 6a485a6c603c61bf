"""A run that deletes what a stack has and was killed at it: whoever takes a stack down is not to be told to make it."""

from __future__ import annotations

from slipway.doctor.picture import Picture
from slipway.state import State


def broke_off(picture: Picture) -> bool:
    """Whether the stack was being taken down: its catalog goes first, and then its clusters."""
    if picture.backend is None or picture.published is not None:
        return False
    return picture.backend.deletes or _deleting(picture)


def ways(picture: Picture) -> tuple[str, str]:
    """What goes on from there, and where each way leads. Nobody can tell an `up` from a `destroy` that was killed."""
    busy = picture.backend is not None and picture.backend.busy
    when = "unless it is still at work" if busy else "which goes on from there"
    keep = f"to keep it: {picture.up}, which makes what its file asks for"
    return f"type again what was killed, {when}", f"{destroys(picture)}; {keep}"


def destroys(picture: Picture) -> str:
    return f"to take the stack down: SLIPWAY_PURPOSE=destroy pulumi destroy --run-program --stack {picture.stack}"


def _deleting(picture: Picture) -> bool:
    """Whether the cloud deletes a cluster that the engine still knows: what was pending a later run has cleared."""
    state = picture.backend.state if picture.backend else None
    known = state.clusters if isinstance(state, State) else ()
    return any((found := picture.there.get(one.name)) and found.state == "STOPPING" for one in known)
