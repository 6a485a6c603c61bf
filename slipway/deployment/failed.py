"""Clears a failed cluster away: one in ERROR holds its name and no machines, and no job ever runs on it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from slipway.cloud.failures import CloudError, NotFound
from slipway.cloud.resources import PersistentResource
from slipway.deployment.new_cluster import Cloud
from slipway.errors import ResourceError
from slipway.labels import HASH_LABEL
from slipway.live import Unknown
from slipway.words import span


def clear(id_: str, known_by: Mapping[str, str], cloud: Cloud, pause: Callable[[], None], within: float) -> str:
    """Deletes it and waits until it is gone, for so many seconds. Only one of ours, in ERROR, without jobs; else it
    says what stays, and why.

    It may be of another generation than `known_by` tells, not of another stack or name.
    """
    try:
        found = cloud.vertex.persistent_resource(id_)
        if found.state == "ERROR":
            _may_go(found, known_by, cloud)
            cloud.vertex.delete_persistent_resource(id_)
            cloud.say(f"cluster {id_} failed ({found.error or 'for no reason given'}) and is deleted: it holds nothing")
        began = cloud.now()
        while (state := cloud.vertex.persistent_resource(id_).state) in ("STOPPING", "ERROR"):
            if (spent := cloud.now() - began) >= within:
                raise ResourceError(f"it was deleted {span(spent)} ago and is {state.lower()}")
            pause()
    except NotFound:
        pass
    except (CloudError, ResourceError) as error:
        why = error.why if isinstance(error, CloudError) else error.what
        left = f"the failed cluster {id_} stays, holds its name and no machines ({why})"
        cloud.warn(f"{left}; the next pulumi up makes another and clears it")
        return left
    return ""


def _may_go(found: PersistentResource, known_by: Mapping[str, str], cloud: Cloud) -> None:
    if any(found.labels.get(key) != value for key, value in known_by.items() if key != HASH_LABEL):
        raise ResourceError("it has not the labels of this stack")
    use = cloud.use(found.name)
    if isinstance(use, Unknown):
        raise ResourceError(f"its jobs can't be read: {use.why}")
    if use.jobs or use.unlisted:
        raise ResourceError(f"{use.jobs[0].display_name if use.jobs else 'a job'} is on it")
