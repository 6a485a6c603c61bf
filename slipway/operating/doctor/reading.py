"""The thin shell of the doctor and of drift: reads a picture, or the values that drift is compared with.

Failures to read are reported, and hide nothing else.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from slipway.authoring.stack.yaml_file import StackErrors
from slipway.base import installation
from slipway.base.clock import right_time, wrong_clock
from slipway.base.errors import SlipwayError
from slipway.base.formatting import join
from slipway.deploying.deployment.checkout import commits_since
from slipway.deploying.engine.preview import Preview
from slipway.deploying.engine.touched import published_in
from slipway.deploying.generations.dormant import ends_within
from slipway.google.catalog.document import PublishedCatalog
from slipway.google.connection import Connection
from slipway.google.credentials import identity
from slipway.google.jobs import VertexJob
from slipway.google.live import Unknown
from slipway.google.live_reader import LiveScope, Reader, Recent
from slipway.google.quota.report import QuotaReport
from slipway.google.quota.seasons import judge, metrics
from slipway.google.snapshot import AT_ONCE, CATALOG, Snapshot, neighbours
from slipway.google.storage import Location
from slipway.model.catalog.model import Catalog
from slipway.model.cluster import ClusterSpec
from slipway.model.findings.finding import Finding
from slipway.model.kinds import KINDS
from slipway.model.state import State
from slipway.operating.doctor.access import gaps, read_policies
from slipway.operating.doctor.backend_reading import look
from slipway.operating.doctor.drift import by_hand, of_clusters, of_engine, of_labels, of_policies, together
from slipway.operating.doctor.picture import Backend, Picture, Policy, Submission, UnseenPolicy
from slipway.operating.doctor.place import Place
from slipway.operating.doctor.pools import idle_candidates, read_utilization, words_submitted
from slipway.operating.doctor.roles_left import strangers
from slipway.using.context import Context
from slipway.using.jobs.pause import read_pauses
from slipway.using.sessions.listing import SessionRow, session_rows
from slipway.using.sessions.session import Session
from slipway.using.submission.budget_check import read_ledger
from slipway.using.submission.delivery import SendState
from slipway.using.submission.journal import JournalEntry, SubmissionJournal

DAYS = 30
_MOST_RECENT = 1000
_PATIENCE_S = 1.0
_NO_CHECKOUT = "the state: there is no checkout of the stack here (slipway doctor --stack NAME in one looks at it)"
_PERMISSIONS = "cloudresourcemanager.googleapis.com projects.testIamPermissions"
_BUDGET, _PAUSES = "what is spent of the budget", "what is paused"
_SERIES = "monitoring.googleapis.com timeSeries.list"
_DEPLOYED = ("templates", "jobs", "components", "policy", "__main__.py")


def picture(context: Context, place: Place, say: Callable[[str], None]) -> Picture:
    """Read the picture. `say` gets a sentence about the parts that are still being read after a second."""
    here, who, connection = context.now, identity(context.environ), context.connection
    scope = LiveScope(
        project=place.project,
        region=place.region,
        catalog_bucket=place.address.bucket,
        catalog=place.address.name,
        now=here,
        recent=Recent(days=DAYS, most=_MOST_RECENT),
    )
    with ThreadPoolExecutor(AT_ONCE, thread_name_prefix="doctor") as threads:
        snapshot = Snapshot(connection, scope, threads, who)
        reader = snapshot.reader
        snapshot.ask(CATALOG, reader.catalog)
        snapshot.look_in((place.region,))
        if place.checkout is not None:
            snapshot.ask("the state", partial(look, place.checkout, context.environ, place.stack))
        awaited(snapshot.parts, say, _PATIENCE_S)
        backend: Backend | str = snapshot.found("the state", _NO_CHECKOUT)
        published: PublishedCatalog | Unknown | None = snapshot.found(CATALOG)
        catalog = published.whole if isinstance(published, PublishedCatalog) else None
        others = _elsewhere(place, catalog, backend)
        snapshot.look_in(others)
        held = partial(gaps, connection.permissions(place.project), place, catalog)
        snapshot.ask("roles", lambda: reader.asked(_PERMISSIONS, "", held, ()))
        if catalog is not None:
            snapshot.look_at_quota(metrics(catalog))
            snapshot.look_at_ends(ends_within((*catalog.clusters.values(), *catalog.dormant.values())))
            api, role = f"storage.googleapis.com gs://{place.address.bucket}", "roles/storage.objectViewer"
            packages = partial(connection.storage.objects, Location(place.address.bucket, "packages/"))
            if catalog.budget is not None:
                snapshot.ask(_BUDGET, partial(read_ledger, connection.storage, place.address.bucket))
            objects = f"storage.googleapis.com gs://{catalog.work_bucket}"
            pauses = partial(read_pauses, connection.storage, catalog.work_bucket)
            snapshot.ask(_PAUSES, lambda: reader.asked(objects, role, pauses, {}))
            snapshot.ask("packages", lambda: reader.asked(api, role, lambda: tuple(packages()), ()))
        snapshot.ask("who may do what", read_policies(threads, connection, catalog, place.project, who))
        awaited(snapshot.parts, say, _PATIENCE_S)
        live = snapshot.live()
        now = right_time(here, live.time)
        since, recent = now - timedelta(days=DAYS), live.recent
        if not isinstance(recent, Unknown) and len(recent) >= _MOST_RECENT:
            since = recent[-1].create_time or since  # Older jobs were not read.
        quota: QuotaReport | Unknown | None = None
        if catalog is not None:
            unread = [part for part in (live.limits, *live.limits_elsewhere.values()) if isinstance(part, Unknown)]
            quota = unread[0] if unread else judge(catalog, live, now)
        declared = _declared(place)
        policies: tuple[Policy | UnseenPolicy, ...] = snapshot.found("who may do what", ())
        ids = idle_candidates(live.jobs, place.identity.label, now)
        used = partial(read_utilization, connection.monitoring(place.project), ids, now)
        listed = () if isinstance(live.jobs, Unknown) else live.jobs
        sessions = [each for each in map(Session.of, listed) if each and not each.job.ended]
        rows: tuple[SessionRow, ...] | Unknown = ()
        if sessions and catalog:
            objects, role = f"storage.googleapis.com gs://{catalog.work_bucket}", "roles/storage.objectViewer"
            rows = reader.asked(objects, role, lambda: session_rows(context, sessions, now), rows)
        return Picture(
            **vars(place),
            now=now,
            clock=wrong_clock(here, live.time),
            published=published,
            clusters=live.clusters,
            jobs=live.jobs,
            last_ends=live.last_ends,
            recent=recent,
            recent_since=since,
            quota=quota,
            backend=backend if isinstance(backend, Backend) else None,
            submissions=tuple(_submissions(context, place, catalog)),
            packages=snapshot.found("packages", ()),
            gaps=snapshot.found("roles"),
            commits=commits_since(place.checkout, catalog.commit, (place.document.file, *_DEPLOYED))
            if catalog and place.checkout and place.document
            else (),
            policies=policies,
            neighbours=neighbours(reader) if strangers(policies, published) else {},
            declared=() if isinstance(declared, str) else declared,
            unseen=tuple(_unseen(place, backend, catalog, declared)),
            other_regions=others,
            ledger=snapshot.found(_BUDGET),
            pauses=snapshot.found(_PAUSES),
            use=snapshot.reader.asked(_SERIES, "roles/monitoring.viewer", used, ()) if ids else (),
            sessions={} if isinstance(rows, Unknown) else {row.session.job.name: row for row in rows},
        )


def _elsewhere(place: Place, catalog: Catalog | None, backend: object) -> tuple[str, ...]:
    home = catalog.region if catalog else place.region
    state = backend.state if isinstance(backend, Backend) else None
    of_state = state.regions_beside(home) if isinstance(state, State) else ()
    of_catalog = (catalog.other_regions or ()) if catalog else ()
    every = dict.fromkeys((*place.declared_regions, *of_catalog, *of_state))
    return tuple(region for region in every if region != place.region)


def _submissions(context: Context, place: Place, catalog: Catalog | None) -> Iterable[Submission]:
    """Return the interrupted submissions in this machine's journal that no process holds."""
    try:
        journal = SubmissionJournal.find(context.folder, context.environ, place.project, place.identity.label)
    except SlipwayError:
        return
    for file in sorted(journal.folder.glob("*.json")):
        with contextlib.suppress(SlipwayError):
            entry = journal.read(file.stem)
            if entry and entry.template and entry.state is SendState.SENDING and journal.free(entry.request_id):
                yield Submission(
                    request_id=entry.request_id,
                    template=entry.template,
                    when=datetime.fromisoformat(entry.when),
                    words=_typed(catalog, entry),
                )


def _declared(place: Place) -> tuple[ClusterSpec, ...] | str:
    """Return the clusters of the stack's file; the reason where it does not tell them."""
    if place.document is None:
        return ()
    unread = "clusters that its file declares anew"
    try:
        from slipway.authoring.stack.edit import edit_line
        from slipway.authoring.stack.stack import parse
    except ModuleNotFoundError as error:  # Slipway alone has what submitting needs.
        return f"{unread}: there is no {error.name} here, {installation.install_extra('deploy')}"
    if place.checkout and edit_line(place.checkout / "__main__.py"):
        return f"{unread}: the program edits the stack"
    try:
        return parse(place.document, stack=place.stack, identity=place.identity).clusters
    except StackErrors:
        return f"{unread}: it has mistakes, which slipway check {place.stack} names"


def _unseen(place: Place, backend: object, catalog: Catalog | None, declared: object) -> Iterable[str]:
    yield from (part for part in (backend, declared) if isinstance(part, str))
    if place.document is None:
        yield "whether the catalog is that of the newest commit: there is no checkout of the stack here"
    elif catalog is not None and catalog.commit in ("", "unknown"):
        yield "whether the catalog is that of the newest commit: it was deployed from no commit"
    if catalog is None:
        yield "quota, packages and whether everybody may use something: which of them matter stands in the catalog"


def _typed(catalog: Catalog | None, entry: JournalEntry) -> tuple[str, ...] | None:
    """Return the words after the template, from the recorded request."""
    # Nothing records the kind: a request can only be read as its own.
    for kind in KINDS.values():
        with contextlib.suppress(KeyError, TypeError, ValueError, AttributeError):
            job = VertexJob.read(entry.body or {}, kind)
            if job.parameters is not None:
                return words_submitted(catalog, job)
    return None


def awaited(parts: Mapping[str, Future[Any]], say: Callable[[str], None], patience: float) -> None:
    """Wait for all parts, and name those that take longer than `patience` seconds."""
    _, late = wait(parts.values(), timeout=patience)
    if late:
        say(f"still reading {join(what for what, part in parts.items() if part in late)} …")
        wait(parts.values())


@dataclass(frozen=True)
class Drifted:
    """The drift of a stack."""

    found: tuple[Finding, ...]
    #: The parts that could not be compared, a sentence each.
    unread: tuple[str, ...] = ()


def drifted(preview: Preview, connection: Connection | None, identity: str) -> Drifted:
    """Read drift. Without a connection only the events are read, which the result says."""
    unread = [] if preview.complete else [f"all of it: {preview.why}"]
    live: list[Finding] = []
    engine = tuple(of_engine(preview))
    bucket = published_in(preview)
    if connection is None:
        unread.append("clusters and policies: nothing but the engine's events was looked at (--no-live)")
    elif not bucket:
        unread.append("clusters and policies: no catalog is deployed")
    else:
        catalog = Reader(connection, LiveScope(project="", region="", catalog_bucket=bucket), identity).catalog()
        if isinstance(catalog, PublishedCatalog) and catalog.whole is not None:
            live, missed = _live(preview, connection, catalog.whole, identity)
            unread = [*unread, *missed]
            engine = tuple(by_hand(engine, catalog.whole))
        else:
            why = str(catalog) if isinstance(catalog, Unknown) else "it is not there, or another version wrote it"
            unread.append(f"clusters and policies: the catalog can't be read: {why}")
    return Drifted(together(engine, live), tuple(unread))


def _live(preview: Preview, connection: Connection, whole: Catalog, identity: str) -> tuple[list[Finding], list[str]]:
    # An idle alternative elsewhere that is not on offer is no drift.
    regions = dict.fromkeys(map(whole.region_of, ("", *whole.clusters)))
    with ThreadPoolExecutor(AT_ONCE, thread_name_prefix="drift") as threads:
        snapshot = Snapshot(connection, LiveScope(whole.project, whole.region, kinds=()), threads, identity)
        snapshot.look_in(regions)
        for name in whole.buckets:
            snapshot.ask(name, partial(_labels, snapshot.reader, name))
        await_policies = read_policies(threads, connection, whole, whole.project, identity)
        clusters = snapshot.live().clusters
        policies = await_policies()
        labels = {name: snapshot.found(name) for name in whole.buckets}
    findings: list[Finding] = []
    unread: list[str] = []
    if isinstance(clusters, Unknown):
        unread.append(f"clusters: {clusters}")
    else:
        findings += of_clusters(whole, clusters)
    unread += [f"who may do what: {policy}" for policy in policies if isinstance(policy, Unknown)]
    unread += [f"labels: {answer}" for answer in labels.values() if isinstance(answer, Unknown)]
    findings += of_labels(preview, {name: answer for name, answer in labels.items() if not isinstance(answer, Unknown)})
    findings += of_policies(preview, [policy for policy in policies if isinstance(policy, Policy)])
    return findings, unread


def _labels(reader: Reader, bucket: str) -> Mapping[str, str] | Unknown:
    body = reader.bucket(bucket)
    return body if isinstance(body, Unknown) else body.get(bucket, {}).get("labels") or {}
