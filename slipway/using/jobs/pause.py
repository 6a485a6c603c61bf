"""Pauses of a stack, or of one of its clusters: while one stands, senders hold what they would send. What the service
has goes on. A pause and its end are objects in the work bucket, where submitters create objects and change none."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from slipway.base import codec
from slipway.base.errors import ConfigError, PolicyError
from slipway.base.formatting import join, last_part, meant, quoted, short
from slipway.google.failures import CloudError, Denied, NotFound
from slipway.google.jobs import VertexJob
from slipway.google.storage import Location, Storage
from slipway.model.agents import AGENT
from slipway.using.context import Context

STACK = ""
"""The name of a pause of the whole stack, among those of clusters."""
_FOLDER, _ENDED = "pauses/", ".resumed"
_LONGEST = 200


@dataclass(frozen=True)
class Pause:
    """A pause of a cluster or stack."""

    #: Its object.
    at: Location
    #: Empty for the whole stack.
    cluster: str = STACK
    since: datetime | None = None
    by: str = "somebody"
    why: str = ""
    #: Somebody ended it, at this time.
    ended: bool = False
    until: datetime | None = None

    def words(self, stack: str) -> str:
        """Return `cluster h100 is paused by ada since 2026-11-28 09:12 UTC: disks are replaced`."""
        what = f"cluster {self.cluster}" if self.cluster else f"stack {stack}"
        since = f" since {self.since:%Y-%m-%d %H:%M} UTC" if self.since else ""
        return f"{what} is paused by {short(self.by)}{since}{f': {short(self.why, _LONGEST)}' if self.why else ''}"

    @property
    def document(self) -> dict[str, str | datetime | None]:
        return {"cluster": self.cluster or None, "by": self.by, "why": self.why, "since": self.since}

    @property
    def resume(self) -> str:
        """The command that ends it."""
        return f"slipway resume {self.cluster}".rstrip()

    def stands(self, storage: Storage) -> bool:
        """Tell whether nobody has ended it, or deleted its object; where that can't be read now it does."""
        try:
            return any(pause.at == self.at for pause in all_pauses(storage, self.at.bucket) if not pause.ended)
        except CloudError:
            return True


def read_pauses(storage: Storage, bucket: str, *, barred: bool = True) -> dict[str, Pause]:
    """Return the pauses that stand, by cluster. Raises CloudError; where a caller who may not list them can be `barred`
    they are none to them."""
    try:
        listed = all_pauses(storage, bucket)
    except (Denied, NotFound):
        if not barred:
            raise
        return {}
    return {pause.cluster: _read(storage, pause) for pause in listed if not pause.ended}


def all_pauses(storage: Storage, bucket: str) -> list[Pause]:
    """Return all pauses with their times, those that have ended too. Raises CloudError."""
    listed = {stored.at.name: stored for stored in storage.objects(Location(bucket, _FOLDER))}
    pauses = []
    for name, stored in listed.items():
        if last_part(name).isdecimal():
            cluster, end = name.removeprefix(_FOLDER).rpartition("/")[0], listed.get(f"{name}{_ENDED}")
            until = end.created if end else None
            pauses.append(Pause(stored.at, cluster, stored.created, ended=end is not None, until=until))
    return pauses


def _read(storage: Storage, pause: Pause) -> Pause:
    """Return the pause with what its object tells."""
    try:
        known = codec.from_json(storage.read(pause.at))
        return replace(pause, by=str(known["by"]), why=str(known["why"]))
    except (CloudError, LookupError, TypeError, ValueError, RecursionError):  # Jobs may write there as well.
        return pause


def pause_of(pauses: Mapping[str, Pause], cluster: str) -> Pause | None:
    """Return the pause that keeps jobs off a cluster, or off machines of their own where that is empty."""
    return pauses.get(STACK) or pauses.get(cluster)


def about_pause(context: Context, job: VertexJob) -> str:
    """Return the pause beside which a waiting job goes on, for whoever waits for it; empty where there is none, or it
    can't be read."""
    if not job.waits:
        return ""
    try:
        pauses = read_pauses(context.brief.storage, context.catalog.work_bucket)
    except CloudError:
        return ""
    cluster = context.cluster_name(job.persistent_resource_id) if job.persistent_resource_id else STACK
    pause = pause_of(pauses, cluster)
    return f"{pause.words(context.catalog.stack)}; what was sent before starts all the same" if pause else ""


def pause(context: Context, cluster: str, why: str) -> Pause:
    """Pause a cluster, or the stack where that is empty; return the pause that stands, which may be an earlier one.
    Raises ConfigError, PolicyError for an agent, and CloudError."""
    _require_person(context)
    catalog, storage = context.catalog, context.connection.storage
    known = [*catalog.clusters, *catalog.dormant]
    if cluster and cluster not in known:
        why = f"stack {catalog.stack} has {join(sorted(known)) or 'none'}"
        raise ConfigError(
            f"there is no cluster {quoted(cluster)}", why=why, fix=meant(cluster, known) or "slipway pools"
        )
    while not (there := read_pauses(storage, catalog.work_bucket).get(cluster)):
        folder = Location(catalog.work_bucket, f"{_FOLDER}{cluster}/" if cluster else _FOLDER)
        made = (last_part(stored.at.name) for stored in storage.objects(folder))
        number = max((int(name) for name in made if name.isdecimal()), default=0) + 1
        content = json.dumps({"by": context.user or "nobody by name", "why": why}).encode()
        storage.create(replace(folder, name=f"{folder.name}{number}"), content, "application/json", again=True)
    return there


def resume(context: Context, paused: Pause) -> None:
    """End a pause, if nobody else has. Raises PolicyError for an agent, and CloudError."""
    _require_person(context)
    ended = replace(paused.at, name=f"{paused.at.name}{_ENDED}")
    context.connection.storage.create(ended, context.user.encode(), "text/plain", again=True)


def own_resumption(context: Context, cluster: str) -> Pause | None:
    """Return the last pause of a cluster, or of the stack where that is empty, if the user has ended it; None where
    another person has, or there was none. Raises CloudError."""
    storage, catalog = context.connection.storage, context.catalog
    ended = [each for each in all_pauses(storage, catalog.work_bucket) if each.cluster == cluster and each.until]
    last = max(ended, key=lambda each: each.until or context.now, default=None)
    if last is None:
        return None
    by = storage.read(replace(last.at, name=f"{last.at.name}{_ENDED}")).decode(errors="replace")
    return _read(storage, last) if by == context.user else None


def _require_person(context: Context) -> None:
    if context.agent:
        what = f"agent {context.agent} may neither pause nor resume stack {context.catalog.stack}"
        raise PolicyError(what, why="it concerns everybody who submits", fix=f"have a person do it, without {AGENT}")
