"""The thin shell: reads a picture, everything at once. What can't be read is `Unknown`; sends nothing but questions."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from slipway.catalog.document import PublishedCatalog
from slipway.catalog.model import Catalog
from slipway.clock import right_time, wrong_clock
from slipway.cloud.credentials import identity
from slipway.cloud.jobs import VertexJob
from slipway.cloud.monitoring import Series
from slipway.cloud.storage import Location, StoredObject
from slipway.context import Context
from slipway.deployment.checkout import commits_since
from slipway.deployment.live_reader import LiveScope, Reader, Recent
from slipway.deployment.snapshot import AT_ONCE, CATALOG, Snapshot
from slipway.doctor.access import gaps, read_policies
from slipway.doctor.backend_reading import look
from slipway.doctor.picture import Backend, Need, Picture, Submission
from slipway.doctor.place import Place
from slipway.doctor.pools import sampled, submitted, use_of
from slipway.errors import SlipwayError
from slipway.formatting import join
from slipway.kinds import KINDS
from slipway.live import Unknown
from slipway.quota.report import QuotaReport
from slipway.quota.seasons import judge, metrics
from slipway.state import State
from slipway.submission.journal import EntryState, JournalEntry, SubmissionJournal

DAYS = 30
_MOST_RECENT = 1000
_PATIENCE_S = 1.0
_DEPLOYED = ("templates", "jobs", "components", "policy", "__main__.py")


def picture(context: Context, place: Place, say: Callable[[str], None]) -> Picture:
    """`say` gets a sentence of what is still being read after a second."""
    return _Reading(context, place).read(say)


class _Reading:
    def __init__(self, context: Context, place: Place) -> None:
        self.context, self.place, self.now, self.ahead = context, place, context.now, timedelta()
        self.who = identity(context.environ)
        self.connection = context.connection

    def read(self, say: Callable[[str], None]) -> Picture:
        place = self.place
        scope = LiveScope(
            place.project,
            place.region,
            place.address.bucket,
            catalog=place.address.name,
            now=self.now,
            recent=Recent(DAYS, _MOST_RECENT),
        )
        with ThreadPoolExecutor(AT_ONCE, thread_name_prefix="doctor") as threads:
            snapshot = Snapshot(self.connection, scope, threads, self.who)
            snapshot.ask(CATALOG, snapshot.reader.catalog)
            snapshot.look_in((place.region,))
            snapshot.ask("the state", self._backend)
            awaited(snapshot.parts, say, _PATIENCE_S)
            backend: Backend | str = snapshot.found("the state")
            published: PublishedCatalog | Unknown | None = snapshot.found(CATALOG)
            catalog = published.whole if isinstance(published, PublishedCatalog) else None
            others = self._elsewhere(catalog, backend)
            snapshot.look_in(others)
            snapshot.ask("roles", partial(self._gaps, snapshot.reader, catalog))
            if catalog is not None:
                snapshot.look_at_quota(metrics(catalog))
                snapshot.ask("packages", partial(self._packages, snapshot.reader))
                snapshot.ask("who may do what", read_policies(threads, self.connection, catalog, self.who))
            awaited(snapshot.parts, say, _PATIENCE_S)
            live = snapshot.live()
            here, self.now = self.now, right_time(self.now, live.time)
            self.ahead = here - self.now
            since, recent = self.now - timedelta(days=DAYS), live.recent
            if not isinstance(recent, Unknown) and len(recent) >= _MOST_RECENT:
                since = recent[-1].create_time or since  # Whatever is older was not looked at.
            quota: QuotaReport | Unknown | None = None
            if catalog is not None:
                unread = [part for part in (live.limits, *live.limits_elsewhere.values()) if isinstance(part, Unknown)]
                quota = unread[0] if unread else judge(catalog, live, self.now)
            return Picture(
                **vars(place),
                now=self.now,
                clock=wrong_clock(here, live.time),
                published=published,
                clusters=live.clusters,
                jobs=live.jobs,
                recent=recent,
                recent_since=since,
                quota=quota,
                backend=self._dated(backend) if isinstance(backend, Backend) else None,
                submissions=tuple(self._submissions(catalog)),
                packages=snapshot.found("packages", ()),
                gaps=snapshot.found("roles"),
                commits=self._commits(catalog),
                policies=snapshot.found("who may do what", ()),
                unseen=tuple(self._unseen(backend, catalog)),
                other_regions=others,
                use=self._use(snapshot.reader, live.jobs),
            )

    def _elsewhere(self, catalog: Catalog | None, backend: object) -> tuple[str, ...]:
        """Other regions that its file, its catalog or the engine names."""
        home = catalog.region if catalog else self.place.region
        state = backend.state if isinstance(backend, Backend) else None
        of_state = state.regions_beside(home) if isinstance(state, State) else ()
        of_catalog = (catalog.other_regions or ()) if catalog else ()
        every = dict.fromkeys((*self.place.declared_regions, *of_catalog, *of_state))
        return tuple(one for one in every if one != self.place.region)

    def _use(self, reader: Reader, jobs: tuple[VertexJob, ...] | Unknown) -> tuple[Series, ...] | Unknown:
        ids = sampled(jobs, self.place.stack, self.now)
        read = partial(use_of, self.connection.monitoring(self.place.project), ids, self.now)
        api = "monitoring.googleapis.com timeSeries.list"
        return reader.asked(api, "roles/monitoring.viewer", read, ()) if ids else ()

    def _packages(self, reader: Reader) -> tuple[StoredObject, ...] | Unknown:
        at = Location(self.place.address.bucket, "packages/")
        api = f"storage.googleapis.com gs://{at.bucket}"
        return reader.asked(api, "roles/storage.objectViewer", lambda: tuple(self.connection.storage.objects(at)), ())

    def _gaps(self, reader: Reader, catalog: Catalog | None) -> tuple[Need, ...] | Unknown:
        asked = partial(gaps, self.connection.permissions(self.place.project), self.place, catalog)
        return reader.asked("cloudresourcemanager.googleapis.com projects.testIamPermissions", "", asked, ())

    def _backend(self) -> Backend | str:
        checkout = self.place.checkout
        if checkout is None:
            return "the state: there is no checkout of the stack here (slipway doctor --stack NAME in one looks at it)"
        return look(checkout, self.context.environ, self.connection.storage, self.place.stack, self.who)

    def _commits(self, catalog: Catalog | None) -> tuple[str, ...]:
        if catalog is None or self.place.checkout is None or self.place.document is None:
            return ()
        return commits_since(self.place.checkout, catalog.commit, (self.place.document.file, *_DEPLOYED))

    def _dated(self, backend: Backend) -> Backend:
        """Locks of this machine's processes bear the time of its clock."""
        if isinstance(backend.locks, Unknown):
            return backend
        locks = (
            replace(lock, since=lock.since - self.ahead) if lock.since and lock.alive is not None else lock
            for lock in backend.locks
        )
        return replace(backend, locks=tuple(locks))

    def _submissions(self, catalog: Catalog | None) -> Iterable[Submission]:
        """Interrupted ones of this machine's journal that no process holds."""
        context, place = self.context, self.place
        try:
            journal = SubmissionJournal.find(context.folder, context.environ, place.project, place.stack)
        except SlipwayError:
            return
        for file in sorted(journal.folder.glob("*.json")):
            with contextlib.suppress(SlipwayError):
                entry = journal.read(file.stem)
                waited = file.with_suffix(".waiting").is_file()
                open_ = entry is not None and (waited or entry.state is EntryState.SENDING)
                if entry is not None and open_ and journal.free(entry.request_id):
                    when = datetime.fromisoformat(entry.when) - self.ahead
                    words = _typed(catalog, entry)
                    yield Submission(entry.request_id, entry.template, when, entry.job, waited, words)

    def _unseen(self, backend: object, catalog: Catalog | None) -> Iterable[str]:
        if isinstance(backend, str):
            yield backend
        if self.place.document is None:
            yield "whether the catalog is that of the newest commit: there is no checkout of the stack here"
        elif catalog is not None and catalog.commit in ("", "unknown"):
            yield "whether the catalog is that of the newest commit: it was deployed from no commit"
        if catalog is None:
            yield "quota, packages and whether everybody may use something: which of them matter stands in the catalog"


def _typed(catalog: Catalog | None, entry: JournalEntry) -> tuple[str, ...] | None:
    """Return the words after the template, as the recorded request tells; its kind stands nowhere else."""
    for kind in KINDS.values():
        with contextlib.suppress(KeyError, TypeError, ValueError, AttributeError):
            job = VertexJob.read(entry.body or {}, kind)
            if job.parameters is not None:
                return submitted(catalog, job)
    return None


def awaited(parts: Mapping[str, Future[Any]], say: Callable[[str], None], patience: float) -> None:
    """Wait for all of them, and name those that take longer than `patience` seconds."""
    _, late = wait(parts.values(), timeout=patience)
    if late:
        say(f"still reading {join(what for what, part in parts.items() if part in late)} …")
        wait(parts.values())
