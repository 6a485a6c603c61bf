"""Preflight: one concurrent reading of all that verdicts before sending need. Failures to read are reported."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, TypeVar

from slipway.base.clock import right_time
from slipway.base.errors import PolicyError, ResourceError
from slipway.google.catalog.lookup import reason, remedy
from slipway.google.clusters import PersistentResource
from slipway.google.failures import CloudError, Denied, NotFound, Unauthenticated, Unreachable, needs_role
from slipway.google.jobs import VertexJob
from slipway.google.vertex import Vertex
from slipway.model.capacity import RESERVATION
from slipway.model.kinds import CUSTOM_JOB, JobKind
from slipway.model.labels import URGENT_LABEL
from slipway.using.context import Context
from slipway.using.jobs.earlier_jobs import (
    EARLIER,
    earlier_filter,
    programs_of,
    run_times,
    start_times,
    succeeded_filter,
    wait_times,
)
from slipway.using.jobs.earliest_start import EarliestStart, compared
from slipway.using.jobs.pause import STACK, pause_of, read_pauses
from slipway.using.jobs.usual_end import usual_room
from slipway.using.jobs.verdict import Outcome, Verdict, on_cluster
from slipway.using.submission.candidate import Candidate
from slipway.using.submission.choice import Choice, JudgedCandidate, broken, choose
from slipway.using.submission.offline import ends_before, named_reservations, never, offline
from slipway.using.submission.prepared import PreparedSubmission
from slipway.using.submission.region_ties import ties

if TYPE_CHECKING:
    from slipway.using.submission.quota_verdict import LimitsReader

AT_ONCE = 16
"""The threads of a preflight: enough that no call waits for another's answer."""
_FIRST_PAGE = 100
_STARTED = 'state!="JOB_STATE_QUEUED"'

Read = TypeVar("Read")


class Preflight:
    """A look at the regions of the candidates. Clusters and jobs are read at once; limits too when the first candidate
    draws quota or `all_at_once`, else only when a candidate that draws some is judged.

    `threads`: they stay their owner's.
    `template`: its earlier jobs are read too, for their waits.
    `patient`: all jobs that draw quota are read, not only the newest, however many pages that takes, and the limits
    that only a list has.
    """

    def __init__(
        self,
        context: Context,
        candidates: Iterable[Candidate],
        threads: ThreadPoolExecutor,
        template: str = "",
        *,
        patient: bool = False,
        all_at_once: bool = False,
    ) -> None:
        self._connection, self._catalog, self._now = context.hurried, context.catalog, context.now
        self._threads, self._patient = threads, patient
        self._pauses = threads.submit(read_pauses, self._connection.storage, self._catalog.work_bucket)
        #: The most jobs of a region that are read as users of its quota, None for all.
        self._most_users = None if patient else _FIRST_PAGE
        self._options = candidates = [
            candidate for candidate in candidates if candidate.offer.available or candidate.offer.lacks_quota
        ]
        regions = tuple(dict.fromkeys(candidate.region for candidate in candidates))
        self._vertex = self._connection.vertex(self._catalog.project, self._catalog.region, regions)
        #: The most jobs of a region that are read for its clusters: all where teams share them.
        self._most_listed = None if self._catalog.shares else _FIRST_PAGE
        on_clusters = {candidate.offer.cluster: candidate.region for candidate in candidates if candidate.offer.cluster}
        #: The unfinished jobs of each region with a candidate's cluster.
        self._jobs = {
            region: threads.submit(_first, self._vertex.at(region).active_jobs(CUSTOM_JOB), self._most_listed)
            for region in dict.fromkeys(on_clusters.values())
        }
        #: The started jobs of each region where a candidate draws quota.
        self._quota_users: dict[str, Future[tuple[VertexJob, ...]]] = {}
        self._clusters = {
            name: threads.submit(self._vertex.at(region).persistent_resource, self._catalog.clusters[name].id)
            for name, region in on_clusters.items()
        }

        def ended(vertex: Vertex, kind: JobKind, wanted: str) -> Future[tuple[VertexJob, ...]]:
            return threads.submit(_first, vertex.jobs(kind, wanted, page_size=EARLIER), EARLIER)

        self._earlier: Future[tuple[VertexJob, ...]] | None = None
        self._succeeded: dict[str, Future[tuple[VertexJob, ...]]] = {}
        if template and candidates:
            # In one page, ended jobs would crowd out unfinished ones. Both are read before a full pool is known: a
            # submission has three round trips.
            stack, at = self._catalog.identity.label, self._vertex.at
            self._earlier = ended(self._vertex, candidates[0].kind, earlier_filter(stack, template))
            self._succeeded = {region: ended(at(region), CUSTOM_JOB, succeeded_filter(stack)) for region in self._jobs}
        self._limits: LimitsReader | None = None
        #: The clusters of each region where they may draw the same quota as a candidate.
        self._quota_clusters: dict[str, Future[tuple[PersistentResource, ...]]] = {}
        if candidates and (all_at_once or not candidates[0].offer.cluster):
            self._read_quota(candidates)

    def judge(self, candidates: Iterable[Candidate]) -> Iterator[JudgedCandidate]:
        """Judge some of the preflight's candidates, in order, on demand.

        Raises Unauthenticated, and Unreachable for the stack's own region: with them nothing can be sent either.
        """
        return map(self._judged, candidates)

    def choice(
        self,
        prepared: PreparedSubmission,
        candidates: Sequence[Candidate],
        *,
        may_wait: bool = False,
        overdue: Collection[str] = (),
    ) -> Choice:
        """Return the choice of `choose`, with the candidates that it could never move to.

        Where the template has planned the waits, the last deployment's judgement of these stands, but for quota, which
        may have been granted since, and for other teams' clusters. Where the submission has, they are judged anew; for
        a job that starts now only those that could not run at the last deployment.

        Raises the errors of `choose` and `judge`.
        """
        seen: list[JudgedCandidate] = []
        # Where none may be sent, or some have waited long enough, nobody has to choose.
        may_wait = may_wait or bool(overdue) or STACK in self._pauses.result()
        try:
            choice = choose(
                prepared.template.name, _kept(self.judge(candidates), seen), may_wait=may_wait, overdue=overdue
            )
        except PolicyError as problem:
            if earliest := self._earliest(candidates, seen):
                problem.why = f"{problem.why}\n{compared(earliest)}"
            raise
        choice = replace(choice, earliest=self._earliest(candidates, seen))
        if not choice.moves:
            return choice
        later = candidates[candidates.index(choice.taken.candidate) + 1 :]
        unavailable = [each for each in later if each.barred or not each.offer.available or self._closed(each)]
        if prepared.asked.waits or prepared.asked.then:
            judged = list(self.judge(unavailable if choice.starts else later))
        else:
            judged = [self._judged_at_once(candidate) for candidate in unavailable]
        hopeless = (later for later in judged if later.verdict.outcome is Outcome.NEVER)
        return replace(choice, hopeless=tuple(hopeless))

    def _earliest(self, candidates: Sequence[Candidate], seen: Iterable[JudgedCandidate]) -> tuple[EarliestStart, ...]:
        """Return when the job may start by each candidate that may ever run it, where the first one waits; by what has
        been read for other reasons."""
        judged = {each.candidate: each for each in seen}
        if self._earlier is None or not judged[candidates[0]].waits:
            return ()
        starts = []
        for candidate in candidates:
            if candidate not in judged and candidate.offer.cluster:
                with suppress(CloudError):  # Another's answer is no matter of the one that is taken.
                    judged[candidate] = self._judged(candidate)
            known = judged.get(candidate)
            if known is None and candidate.offer.available and not candidate.barred:
                unread = EarliestStart(candidate.label)
                starts.append(unread if candidate.offer.cluster else self._start_beside(candidate))
            elif known and known.start and known.verdict.outcome is not Outcome.NEVER:
                starts.append(known.start)
        return tuple(starts) if len(starts) > 1 else ()

    def _start_beside(self, candidate: Candidate) -> EarliestStart:
        readings = [*self._succeeded.values(), *([self._earlier] if self._earlier else [])]
        known = [job for reading in readings for job in _or_none(reading) or ()]
        times = start_times(known, candidate.offer.capacity_type, candidate.demand, candidate.region, self._now)
        return EarliestStart.by_history(candidate.label, times)

    def _judged_at_once(self, candidate: Candidate) -> JudgedCandidate:
        """Judge without the pages of a list: by limits that have an id, else by the last deployment's."""
        from slipway.google.quota.metrics import quota_id
        from slipway.using.submission.quota_verdict import draws

        by_id = all(quota_id(need.metric, self._catalog.quotas) for need in draws(candidate))
        return (None if by_id else offline(candidate)) or self._judged(candidate)

    def _judged(self, candidate: Candidate) -> JudgedCandidate:
        judged = self._judged_alone(candidate)
        pause = pause_of(self._pauses.result(), candidate.offer.cluster)
        if judged.verdict.outcome is Outcome.NEVER:
            return judged
        why = f"{pause.words(self._catalog.stack)}; {pause.resume} ends that" if pause else self._above_share(candidate)
        return JudgedCandidate(candidate, Verdict(Outcome.HELD, f"held: {why}"), pause=pause) if why else judged

    def ended(self, candidates: Iterable[Candidate], now: datetime) -> str:
        """Return why one of these candidates can't have its reservation any more, `now` by this machine's clock; empty
        while all can."""
        then = self._right_time
        reserved = [each for each in candidates if then and each.offer.capacity_type == RESERVATION]
        at = then and then + (now - self._now)
        judged = (offline(each, reserved=self._catalog.reservations, now=at, limits_follow=True) for each in reserved)
        return next(("; ".join(each.reasons) for each in judged if each), "")

    @cached_property
    def _right_time(self) -> datetime | None:
        """The time that dates of reservations go by: the cloud's, where this machine's clock is wrong."""
        if not self._catalog.reservations:
            return None
        self._pauses.result()  # Its answer tells the cloud's.
        return right_time(self._now, self._connection.session.time)

    def _closed(self, candidate: Candidate) -> bool:
        now, named = self._right_time, named_reservations(candidate, self._catalog.reservations)
        return now is not None and any(each.closed(now) for each in named)

    def _judged_alone(self, candidate: Candidate) -> JudgedCandidate:
        """Judge without what others may do."""
        if tied := ties(candidate, self._catalog.region):
            return JudgedCandidate(candidate, Verdict(Outcome.NEVER, f"can never run in {candidate.region}", tied))
        reserved, now = self._catalog.reservations, self._right_time
        if impossible := offline(candidate, reserved=reserved, now=now, limits_follow=True):
            return impossible
        try:
            verdict = self._on_pool(candidate) if candidate.offer.cluster else self._beside(candidate)
            if ends := ends_before(candidate, reserved, now):
                verdict = replace(verdict, text=f"{verdict.text}; {ends}")
        except ResourceError as problem:
            return broken(candidate, problem)
        if self._earlier is None:
            return JudgedCandidate(candidate, verdict)
        offer, earlier = candidate.offer, _or_none(self._earlier) or ()
        cluster = _or_none(self._clusters[offer.cluster]) if offer.cluster else None
        active = _or_none((self._jobs if offer.cluster else self._quota_users)[candidate.region]) or ()
        known = (*earlier, *active)
        if times := wait_times(known, offer.capacity_type, candidate.demand, verdict.outcome, cluster, self._now):
            verdict = replace(verdict, text=f"{verdict.text} {times.here}")
        if offer.cluster:
            start = EarliestStart.by_history(candidate.label, times, verdict.queue or 0)
            if verdict.outcome is Outcome.STARTS:
                start = EarliestStart(candidate.label, 0.0, 0.0)
            if verdict.outcome is Outcome.FULL and cluster is not None:
                succeeded = _or_none(self._succeeded[candidate.region]) or ()
                if room := usual_room(candidate.demand, cluster, active, succeeded, self._now):
                    verdict = replace(verdict, text=f"{verdict.text}; {room}")
                    start = EarliestStart.by_room(candidate.label, room, verdict.queue or 0)
            return JudgedCandidate(candidate, verdict, start=start)
        programs = programs_of(candidate.request.job)
        times = run_times(earlier, offer.capacity_type, candidate.demand, self._now, programs)
        return JudgedCandidate(candidate, verdict, times=times, start=self._start_beside(candidate))

    def _on_pool(self, candidate: Candidate) -> Verdict:
        name, catalog = candidate.offer.cluster, self._catalog
        id_ = catalog.clusters[name].id
        try:
            cluster = self._clusters[name].result()
        except NotFound as problem:
            raise ResourceError(
                f"cluster {name} is gone",
                why=f"{id_}: {problem.message}",
                fix=remedy(catalog, id_, ", which makes it again"),
            ) from problem
        except CloudError as problem:
            at_home = candidate.region == catalog.region
            if isinstance(problem, Unauthenticated) or (at_home and isinstance(problem, Unreachable)):
                raise
            text = f"cannot tell whether it starts now: {problem.message}{needs_role(problem)}"
            return Verdict(Outcome.UNKNOWN, text, barred=isinstance(problem, Denied))
        if cluster.state in ("ERROR", "STOPPING"):
            raise ResourceError(
                f"cluster {name} is in {cluster.state} and takes no jobs",
                why=f"{id_}: {cluster.error or 'the service gives no reason'}",
                fix=remedy(catalog, id_, "   (makes a new one)"),
            )
        jobs = _or_none(self._jobs[candidate.region])
        verdict = on_cluster(name, candidate.demand, cluster, jobs, self._now)
        # Any number of jobs may wait beyond the page.
        return replace(verdict, queue=None) if jobs and len(jobs) == self._most_listed else verdict

    def _above_share(self, candidate: Candidate) -> str:
        """Return the reason why a candidate's team waits for others; empty where it does not, or that can't be read."""
        name, job = candidate.offer.cluster, candidate.request.job
        shares = (self._catalog.shares or {}).get(name)
        cluster = _or_none(self._clusters[name]) if shares else None
        jobs = _or_none(self._jobs[candidate.region]) if shares else None
        if not shares or cluster is None or jobs is None or URGENT_LABEL in job.labels:
            return ""
        from slipway.using.jobs.team_share import team_share  # Few stacks have shares.

        share = team_share(name, shares, cluster, jobs, job.team, candidate.demand)
        return share.keeps_out(candidate.demand.machines)

    def _beside(self, candidate: Candidate) -> Verdict:
        from slipway.using.submission.quota_verdict import NotRead, draws, on_own_machines

        limits = self._read_quota(self._options).limits(candidate)
        reading = self._quota_clusters.get(candidate.region)
        clusters = () if reading is None else _or_none(reading)
        known = [limits[need.metric] for need in draws(candidate) if need.metric in limits]
        if candidate.offer.lacks_quota and (not known or any(isinstance(limit, NotRead) for limit in known)):
            return never(candidate, f"{reason(candidate.offer)}; the limit can't be read now")
        active = _or_none(self._quota_users[candidate.region])
        all_read = active is None or self._most_users is None or len(active) < self._most_users
        return on_own_machines(candidate, candidate.region, limits, active, clusters, all_read=all_read)

    def _read_quota(self, candidates: list[Candidate]) -> LimitsReader:
        """Begin to read the limits that any of the candidates draws, by their ids, and the quota's users, once."""
        from slipway.using.submission.quota_verdict import LimitsReader, as_clusters_do

        beside = [candidate for candidate in candidates if not candidate.offer.cluster]
        for candidate in beside:
            if candidate.region not in self._quota_users:
                # A page of its own: queued jobs draw nothing, and a sweep's would crowd out those that run.
                started = self._vertex.at(candidate.region).active_jobs(CUSTOM_JOB, _STARTED)
                self._quota_users[candidate.region] = self._threads.submit(_first, started, self._most_users)
        if self._limits is None:
            quotas = self._connection.quotas(self._catalog.project, self._catalog.quotas)
            self._limits = LimitsReader(quotas, self._threads, patient=self._patient)
        self._limits.begin(beside)
        for region in {candidate.region for candidate in beside if as_clusters_do(candidate)} - {*self._quota_clusters}:
            self._quota_clusters[region] = self._threads.submit(self._vertex.at(region).persistent_resources)
        return self._limits


def _kept(judging: Iterable[JudgedCandidate], seen: list[JudgedCandidate]) -> Iterator[JudgedCandidate]:
    for judged in judging:
        seen.append(judged)
        yield judged


def _first(listed: Iterable[VertexJob], most: int | None) -> tuple[VertexJob, ...]:
    """Read the first jobs of a list, whose pages are read on demand."""
    return tuple(islice(listed, most))


def _or_none(reading: Future[Read]) -> Read | None:
    try:
        return reading.result()
    except CloudError:
        return None
