"""The thin shell: reads a picture, everything at once. What can't be read is `Unknown`; sends nothing but questions."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Executor, Future, ThreadPoolExecutor, wait
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from itertools import islice
from typing import Any, TypeVar

from slipway.catalog.document import PublishedCatalog
from slipway.catalog.model import Catalog
from slipway.clock import right_time, wrong_clock
from slipway.cloud.clusters import PersistentResource
from slipway.cloud.credentials import identity
from slipway.cloud.failures import CloudError
from slipway.cloud.jobs import VertexJob
from slipway.cloud.monitoring import Series
from slipway.cloud.storage import Location
from slipway.context import Context
from slipway.deployment.checkout import commits_since
from slipway.deployment.live_reader import LiveScope, Reader, all_or_unknown, unanswered
from slipway.doctor import policies
from slipway.doctor.backend_reading import look
from slipway.doctor.commands import submitted
from slipway.doctor.gaps import gaps
from slipway.doctor.idle_jobs import sampled, use_of
from slipway.doctor.picture import Backend, Gap, Package, Picture, Submission
from slipway.doctor.place import Place
from slipway.errors import SlipwayError
from slipway.formatting import join
from slipway.kinds import CUSTOM_JOB, KINDS
from slipway.live import Live, Unknown
from slipway.quota.published import judge, metrics
from slipway.quota.report import QuotaReport
from slipway.season import moment_text
from slipway.state import State
from slipway.submission.journal import EntryState, JournalEntry, SubmissionJournal

DAYS = 30
_MOST_RECENT = 1000
_CLUSTERS, _RECENT = "clusters", f"the jobs of the last {DAYS} days"
_PATIENCE_S = 1.0
_DEPLOYED = ("templates", "jobs", "components", "policy", "__main__.py")
Found = TypeVar("Found")
_NOTHING_SAID: Callable[[str], None] = lambda _: None  # noqa: E731 - a default, with its type


def picture(
    context: Context, place: Place, say: Callable[[str], None] = _NOTHING_SAID, patience: float = _PATIENCE_S
) -> Picture:
    """`say` gets a sentence of what is still being read after `patience` seconds."""
    return _Reading(context, place).read(say, patience)


class _Reading:
    def __init__(self, context: Context, place: Place) -> None:
        self.context, self.place, self.now, self.clock = context, place, context.now, ""
        self.who = identity(context.environ)
        self.connection = context.connection

    def read(self, say: Callable[[str], None], patience: float) -> Picture:
        place, since = self.place, self.now - timedelta(days=DAYS)
        with ThreadPoolExecutor(len(KINDS) + 8, thread_name_prefix="doctor") as threads:
            reader = self._reader()
            first: dict[str, Future[Any]] = {
                "the catalog": threads.submit(reader.catalog),
                "the state": threads.submit(self._backend),
                **self._of_region(threads, reader, since),
            }
            awaited(first, say, patience)
            if self._right_the_clock():
                since = self.now - timedelta(days=DAYS)
                first[_RECENT] = threads.submit(self._recent, place.region, since)
            published: PublishedCatalog | Unknown | None = first["the catalog"].result()
            backend = first["the state"].result()
            catalog = published.whole if isinstance(published, PublishedCatalog) else None
            second: dict[str, Future[Any]] = {"roles": threads.submit(self._gaps, catalog)}
            others = self._elsewhere(catalog, backend)
            second |= {
                f"{what} in {region}": part
                for region in others
                for what, part in self._of_region(threads, reader.elsewhere(region), since).items()
            }
            if catalog is not None:
                scoped = self._reader(metrics(catalog))
                second["quota"] = threads.submit(scoped.limits)
                second |= {f"quota in {region}": threads.submit(scoped.elsewhere(region).limits) for region in others}
                second["requests for quota"] = threads.submit(scoped.preferences)
                second["packages"] = threads.submit(self._packages)
                second["who may do what"] = threads.submit(policies.read(threads, self.connection, catalog, self.who))
            awaited(second, say, patience)

            def everywhere(*parts: str) -> tuple[Any, ...] | Unknown:
                here = (first[part].result() for part in parts)
                there = (second[f"{part} in {region}"].result() for region in others for part in parts)
                return all_or_unknown((*here, *there))

            clusters: tuple[PersistentResource, ...] | Unknown = everywhere(_CLUSTERS)
            jobs: tuple[VertexJob, ...] | Unknown = everywhere(*(f"{kind.words}s" for kind in KINDS.values()))
            recent: tuple[VertexJob, ...] | Unknown = everywhere(_RECENT)
            if not isinstance(recent, Unknown) and len(recent) >= _MOST_RECENT:
                # Whatever is older was not looked at.
                recent = tuple(sorted(recent, key=lambda job: job.create_time or since, reverse=True)[:_MOST_RECENT])
                since = recent[-1].create_time or since
            quota: QuotaReport | Unknown | None = None
            if catalog is not None:
                limits = second["quota"].result()
                live = Live(
                    clusters,
                    jobs,
                    limits,
                    None,
                    preferences=second["requests for quota"].result(),
                    limits_elsewhere={region: second[f"quota in {region}"].result() for region in others},
                )
                unread = [part for part in live.limits_elsewhere.values() if isinstance(part, Unknown)]
                quota = limits if isinstance(limits, Unknown) else unread[0] if unread else judge(catalog, live)
            return Picture(
                stack=place.stack,
                project=place.project,
                region=place.region,
                now=self.now,
                clock=self.clock,
                published=published,
                clusters=clusters,
                jobs=jobs,
                recent=recent,
                recent_since=since,
                quota=quota,
                backend=self._dated(backend) if isinstance(backend, Backend) else None,
                submissions=tuple(self._submissions(catalog)),
                packages=second["packages"].result() if catalog is not None else (),
                gaps=second["roles"].result(),
                stacks=place.stacks,
                spoken_for=place.spoken_for,
                document=place.document,
                commits=self._commits(catalog),
                policies=second["who may do what"].result() if catalog is not None else (),
                of_catalog=place.of_catalog,
                unseen=tuple(self._unseen(backend, catalog)),
                other_regions=others,
                use=self._use(jobs),
            )

    def _elsewhere(self, catalog: Catalog | None, backend: object) -> tuple[str, ...]:
        """The other regions where clusters of the stack are or may come to be: by its file, what is published, and what
        the engine knows."""
        home = catalog.region if catalog else self.place.region
        state = backend.state if isinstance(backend, Backend) else None
        of_state = state.regions_beside(home) if isinstance(state, State) else ()
        of_catalog = (catalog.other_regions or ()) if catalog else ()
        every = dict.fromkeys((*self.place.other_regions, *of_catalog, *of_state))
        return tuple(one for one in every if one != self.place.region)

    def _of_region(self, threads: Executor, reader: Reader, since: datetime) -> dict[str, Future[Any]]:
        return {
            _CLUSTERS: threads.submit(reader.clusters),
            _RECENT: threads.submit(self._recent, reader.wanted.region, since),
            **{f"{kind.words}s": threads.submit(reader.jobs, kind) for kind in KINDS.values()},
        }

    def _right_the_clock(self) -> bool:
        """By the answers that came. Whether this machine's was wrong, and jobs were asked for of other days."""
        here, cloud = self.context.now, self.connection.session.time
        self.now, self.clock = right_time(here, cloud), wrong_clock(here, cloud)
        return bool(self.clock)

    def _reader(self, wanted: frozenset[str] = frozenset()) -> Reader:
        place = self.place
        scope = LiveScope(place.project, place.region, place.catalog.bucket, catalog=place.catalog.name, metrics=wanted)
        return Reader(self.connection, scope, self.who)

    def _recent(self, region: str, since: datetime) -> tuple[VertexJob, ...] | Unknown:
        def listed() -> tuple[VertexJob, ...]:
            vertex = self.connection.vertex(self.place.project, region)
            found = vertex.jobs_of_every_kind(f'create_time>"{moment_text(since)}"')
            return tuple(islice(found, _MOST_RECENT))

        api = f"aiplatform.googleapis.com {CUSTOM_JOB.collection}.list"
        return self._asked(api, "roles/aiplatform.viewer", listed)

    def _use(self, jobs: tuple[VertexJob, ...] | Unknown) -> tuple[Series, ...] | Unknown:
        ids = sampled(jobs, self.place.stack, self.now)
        read = partial(use_of, self.connection.monitoring(self.place.project), ids, self.now)
        return self._asked("monitoring.googleapis.com timeSeries.list", "roles/monitoring.viewer", read) if ids else ()

    def _packages(self) -> tuple[Package, ...] | Unknown:
        bucket = self.place.catalog.bucket

        def listed() -> tuple[Package, ...]:
            found = self.connection.storage.objects(Location(bucket, "packages/"))
            return tuple(Package(str(one.at), one.size, one.updated) for one in found)

        return self._asked(f"storage.googleapis.com gs://{bucket}", "roles/storage.objectViewer", listed)

    def _gaps(self, catalog: Catalog | None) -> tuple[Gap, ...] | Unknown:
        def asked() -> tuple[Gap, ...]:
            return gaps(self.connection.permissions, self.place.project, self.place.catalog.bucket, catalog)

        return self._asked("cloudresourcemanager.googleapis.com projects.testIamPermissions", "", asked)

    def _asked(self, api: str, role: str, ask: Callable[[], Found]) -> Found | Unknown:
        try:
            return ask()
        except CloudError as error:
            return unanswered(error, api, role or error.role, self.who)

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
        if isinstance(backend.locks, Unknown) or not self.clock:
            return backend
        ahead = self.context.now - self.now
        locks = (
            replace(lock, since=lock.since - ahead) if lock.since and lock.alive is not None else lock
            for lock in backend.locks
        )
        return replace(backend, locks=tuple(locks))

    def _submissions(self, catalog: Catalog | None) -> Iterable[Submission]:
        """Those of this machine's journal that were interrupted, and that no process holds."""
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
                    when = datetime.fromisoformat(entry.when) + (self.now - context.now)  # That is of this clock.
                    words = _typed(catalog, entry)
                    known = words is not None
                    yield Submission(entry.request_id, entry.template, when, entry.job, waited, words or (), known)

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
    """What was typed after the template, as the request that was recorded tells; its kind stands nowhere else."""
    for kind in KINDS.values():
        with contextlib.suppress(KeyError, TypeError, ValueError, AttributeError):
            job = VertexJob.read(entry.body or {}, kind)
            if job.parameters is not None:
                return submitted(catalog, job)
    return None


def awaited(parts: Mapping[str, Future[Any]], say: Callable[[str], None], patience: float) -> None:
    """Waits for all of them, and names those that take longer."""
    _, late = wait(parts.values(), timeout=patience)
    if late:
        say(f"still reading {join(what for what, part in parts.items() if part in late)} …")
        wait(parts.values())
