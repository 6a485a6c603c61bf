"""What a review reads of the cloud beside the engine's events: what is published, what lives, who used what lately.

Sends nothing but GETs. What can't be read is `Unknown`, and is said.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import islice

from slipway import facts
from slipway.catalog.document import PublishedCatalog
from slipway.clock import right_time, wrong_clock
from slipway.cloud.connection import Connection
from slipway.cloud.failures import CloudError
from slipway.cloud.jobs import VertexJob
from slipway.codec import MalformedError
from slipway.deployment.live_reader import LiveScope, Reader, all_or_unknown, unanswered
from slipway.deployment.quota_limits import quota_info
from slipway.facts import Facts
from slipway.kinds import KINDS, Kind
from slipway.labels import STACK_LABEL
from slipway.live import Live, Unknown
from slipway.machines.table import regions
from slipway.review import deployed, events
from slipway.review.change import Change
from slipway.review.clusters.deletions import CLUSTER_TYPE
from slipway.review.preview import Preview
from slipway.review.templates.usage import DAYS

MOST_RECENT = 1000
"""Of the jobs of the last days, the newest are looked at."""
_WINDOWS = 6
_AT_ONCE = len(KINDS) * (_WINDOWS + 1) + 4
_UNREAD = Unknown("nothing was read", "", "")


@dataclass(frozen=True)
class Files:
    """What a change touches, relative to the checkout; `removed` are those of them that it deletes. `template_code`:
    what those of templates do beside declaring one."""

    touched: frozenset[str] | None = None
    removed: frozenset[str] = frozenset()
    template_code: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


_NO_FILES = Files()


def change(
    preview: Preview,
    connection: Connection | None,
    now: datetime,
    *,
    stack: str,
    identity: str = "",
    files: Files = _NO_FILES,
) -> Change:
    """Of one stack. Without a connection nothing of the cloud is read, which is said."""
    after, unread = _after(preview)
    # What the program says of its place may be edited: jobs are where it was deployed.
    known = _before(preview) or after
    live: Live = Live(_UNREAD, _UNREAD, _UNREAD, _UNREAD, skipped=True)
    recent: tuple[VertexJob, ...] | Unknown = _UNREAD
    clock: tuple[str, ...] = ()
    if connection is None or known is None:
        unread += ("live clusters, jobs and quota were not read, so nobody can tell whom it concerns",)
    else:
        place, bucket = (known.catalog.project, known.catalog.region), deployed.published_in(preview)
        reading = _Reading(connection, place, bucket, after, stack, identity, now, _elsewhere(preview, known, after))
        live, recent = reading.read()
        if wrong := wrong_clock(now, live.time):
            now = right_time(now, live.time)  # Other jobs are the recent ones by that.
            live, recent = replace(reading, now=now).read()
            clock = (wrong.partition("\n")[0],)
        unread += tuple(f"{what}: {part}" for what, part in _unknown(live, recent).items())
    told = deployed.read(preview, live.catalog, after)
    many = not isinstance(recent, Unknown) and len(recent) >= MOST_RECENT
    return Change(
        stack=stack,
        before=told.facts,
        after=after,
        live=live,
        now=now,
        preview=preview,
        recent=recent,
        files=files.touched,
        removed=files.removed,
        template_code=files.template_code,
        unread=(*told.unread, *unread),
        notes=(*clock, *((f"of the jobs of the last {DAYS} days the newest {MOST_RECENT:,} were looked at",) * many)),
    )


def _after(preview: Preview) -> tuple[Facts | None, tuple[str, ...]]:
    try:
        after = facts.read(events.declared(preview))
    except MalformedError as problem:
        return None, (f"the program publishes facts that this version does not read ({problem})",)
    silent = after is None and preview.complete
    why = "the program does not say what it declares, so templates, people and money are not compared"
    return after, (why,) if silent else ()


def _before(preview: Preview) -> Facts | None:
    try:
        return facts.read(events.deployed(preview))
    except MalformedError:
        return None


def _elsewhere(preview: Preview, known: Facts, after: Facts | None) -> tuple[str, ...]:
    """Where clusters of the stack are or may come to be besides its own region: as deployed, as declared, and as the
    engine has them."""
    told = [region for one in (known, after) if one for region in one.catalog.other_regions or ()]
    clusters = (step for step in (*preview.standing.values(), *preview.steps) if step.type.startswith(CLUSTER_TYPE))
    told += [str(step.old.inputs.get("location", "")) for step in clusters if step.old]
    return tuple(one for one in dict.fromkeys(told) if one != known.catalog.region and one in regions())


def _unknown(live: Live, recent: tuple[VertexJob, ...] | Unknown) -> dict[str, Unknown]:
    parts = {
        "clusters can't be read": live.clusters,
        "jobs can't be read": live.jobs,
        "quota limits can't be read": live.limits,
        f"jobs of the last {DAYS} days can't be read": recent,
        **{f"quota limits of {region} can't be read": part for region, part in live.limits_elsewhere.items()},
    }
    return {what: part for what, part in parts.items() if isinstance(part, Unknown)}


@dataclass(frozen=True)
class _Reading:
    """`elsewhere`: the other regions to look in."""

    connection: Connection
    place: tuple[str, str]
    bucket: str
    after: Facts | None
    stack: str
    identity: str
    now: datetime
    elsewhere: tuple[str, ...] = ()

    def read(self) -> tuple[Live, tuple[VertexJob, ...] | Unknown]:
        project, region = self.place
        lines = self.after.quota.lines if self.after else {}
        scope = LiveScope(
            project=project,
            region=region,
            catalog_bucket=self.bucket,
            metrics=frozenset(line.metric for line in lines.values()),
            read_quota=quota_info,
        )
        reader = Reader(self.connection, scope, self.identity, off_is_empty=True)
        places = {region: reader, **{one: reader.elsewhere(one) for one in self.elsewhere}}
        with ThreadPoolExecutor(_AT_ONCE * len(places), thread_name_prefix="review") as threads:
            catalog: Future[PublishedCatalog | Unknown | None] | None = None
            if self.bucket:
                catalog = threads.submit(reader.catalog)
            clusters = [threads.submit(one.clusters) for one in places.values()]
            limits = {name: threads.submit(one.limits) for name, one in places.items()}
            preferences = threads.submit(reader.preferences)
            unfinished = [threads.submit(one.jobs, kind) for one in places.values() for kind in KINDS.values()]
            recent = [
                threads.submit(self._recent, name, kind, at)
                for name in places
                for kind in KINDS.values()
                for at in range(_WINDOWS)
            ]
            live = Live(
                clusters=all_or_unknown(future.result() for future in clusters),
                jobs=all_or_unknown(future.result() for future in unfinished),
                limits=limits.pop(region).result(),
                limits_elsewhere={name: future.result() for name, future in limits.items()},
                catalog=catalog.result() if catalog else None,
                preferences=preferences.result(),
                time=self.connection.session.time,
            )
            return live, self._newest(all_or_unknown(future.result() for future in recent))

    def _recent(self, region: str, kind: Kind, window: int) -> tuple[VertexJob, ...] | Unknown:
        """Those of one part of the time: a list is read page by page, so several parts are read at once."""
        step = timedelta(days=DAYS) / _WINDOWS
        until, since = self.now - window * step, self.now - (window + 1) * step
        parts = [f'labels.{STACK_LABEL}="{self.stack}"', f'create_time>="{since.isoformat()}"']
        if window:
            parts.append(f'create_time<"{until.isoformat()}"')
        try:
            vertex = self.connection.vertex(self.place[0], region)
            listed: Iterator[VertexJob] = vertex.jobs(kind, " AND ".join(parts))
            return tuple(islice(listed, MOST_RECENT))
        except CloudError as error:
            api = f"aiplatform.googleapis.com {kind.collection}.list"
            return unanswered(error, api, "roles/aiplatform.viewer", self.identity)

    def _newest(self, found: tuple[VertexJob, ...] | Unknown) -> tuple[VertexJob, ...] | Unknown:
        if isinstance(found, Unknown):
            return found
        return tuple(sorted(found, key=lambda job: job.create_time or self.now, reverse=True)[:MOST_RECENT])
