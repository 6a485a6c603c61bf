"""Cancelling a submission: its job and the copies of it, and what would be sent in their stead. That it is cancelled is
noted in its claims before a job is asked to end, so that every sender sees it; a bucket that hangs delays no cancel."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from datetime import datetime

from slipway.base.errors import PolicyError, ResourceError, SlipwayError
from slipway.base.formatting import few, join, last_part, span
from slipway.google.failures import CloudError, Refused
from slipway.google.jobs import CANCELLED, VertexJob, state_word
from slipway.google.vertex import Vertex
from slipway.model.agents import AGENT
from slipway.model.labels import AGENT_LABEL, REQUEST_LABEL, STACK_LABEL, label_filter, label_value
from slipway.using.context import HURRIED, Context
from slipway.using.jobs.claim import cancel_claims, mark_of
from slipway.using.jobs.claimant import JobGoneError
from slipway.using.submission.journal import SubmissionJournal
from slipway.using.submission.request import attempt_id, leg_entry

NOTED_FIRST_S = 1.0
"""The seconds for which the claims alone are written, before jobs are asked to end meanwhile."""


@dataclass
class CancelledJobs:
    """The jobs that were asked to end, and the errors of others."""

    asked: list[VertexJob] = field(default_factory=list)
    problems: list[SlipwayError] = field(default_factory=list)

    def cancel(self, context: Context, jobs: Iterable[VertexJob], seen: set[str]) -> None:
        """Ask for the end of those jobs whose names are not `seen`, and add these."""
        for job in jobs:
            if job.name in seen:
                continue
            seen.add(job.name)
            try:
                cancel_job(context.vertex, job, context.now)
            except (ResourceError, CloudError) as problem:
                self.problems.append(problem)
            else:
                self.asked.append(job)


def cancel_submissions(
    context: Context,
    whole: Sequence[list[VertexJob]],
    tell: Callable[[str], None],
    alone: Sequence[VertexJob] = (),
) -> CancelledJobs:
    """Cancel the jobs of `whole` submissions, of which nothing more is sent, and jobs `alone`, whose submissions go on.
    `tell` is told of what takes a while, and of the errors of `withheld`."""
    done, seen = CancelledJobs(), set[str]()
    impatient = context.with_policy(HURRIED)
    with ThreadPoolExecutor(max(1, len(whole)), thread_name_prefix="claims") as threads:
        noting = [threads.submit(withheld, impatient, jobs, tell) for jobs in whole]
        late = wait(noting, timeout=NOTED_FIRST_S).not_done
        if late:
            tell(f"gs://{context.catalog.work_bucket} has not answered yet; the jobs are cancelled meanwhile")
        for jobs, note in zip(whole, noting, strict=True):
            done.cancel(context, jobs if note in late else note.result(), seen)
        done.cancel(context, alone, seen)
        for note in late:
            done.cancel(context, note.result(), seen)
    return done


def cancel_job(vertex: Vertex, job: VertexJob, now: datetime) -> None:
    """Ask for the job's end. Raises ResourceError for a job that has ended, meanwhile by itself too, and CloudError."""
    if not job.ended:
        try:
            vertex.cancel(job.name)
            return
        except Refused:
            job = vertex.job(job.name)
            if job.race and job.state == CANCELLED:  # Its sender saw in the claim that it is to end.
                return
            if not job.ended:
                raise
    raise _over(job, now)


def _over(job: VertexJob, now: datetime) -> ResourceError:
    age = f" {span((now - job.end_time).total_seconds())} ago" if job.end_time else ""
    return ResourceError(
        f"job {job.called} has ended, there is nothing to cancel",
        why=f"{state_word(job.state)}{age}",
        fix=f"slipway jobs show {job.typed}",
    )


def with_copies(context: Context, job: VertexJob, tell: Callable[[str], None]) -> list[VertexJob]:
    """Return a job with the unfinished copies of it, one of which would run in its stead; without it where it has
    ended and they have not. `tell` is told of them, and where they can't be looked for."""
    wanted = label_filter({STACK_LABEL: job.labels.get(STACK_LABEL, ""), REQUEST_LABEL: job.request_id})
    if job.yields:  # The one that goes on behind has another request, and the same name.
        wanted = f'{label_filter({STACK_LABEL: job.labels.get(STACK_LABEL, "")})} AND display_name="{job.display_name}"'
    try:
        listed = context.looked_up(lambda vertex: list(vertex.jobs(job.kind, wanted)), tell) if job.request_id else []
    except CloudError as problem:
        tell(f"a copy of {job.called} may go on where nobody could look: {problem.message}")
        return [job]
    going = [each for each in (job, *(copy for copy in listed if copy.name != job.name)) if not each.ended]
    if len(going) > 1:
        one = len({each.request_id for each in going}) == 1
        of = f"request {job.request_id}" if one else job.called
        tell(f"all {len(going)} jobs of {of} are cancelled: one that stays would run")
    return going or [job]


def withheld(context: Context, jobs: list[VertexJob], tell: Callable[[str], None]) -> list[VertexJob]:
    """Note that nothing more is sent of the request that these `jobs` bear, and return the unfinished ones of them and
    of the attempts that it has moved on to; `jobs` where all of these have ended. `tell` is told of later attempts, and
    where no note could be taken."""
    if any(each.state == "JOB_STATE_SUCCEEDED" for each in jobs):
        return jobs
    called, requests = jobs[0].called, {mark_of(each, context.catalog): each.request_id for each in jobs}
    each_later = (withheld_request(context, mark, id_, tell, what=called) for mark, id_ in requests.items())
    later = [job for found in each_later for job in found]
    if later:
        tell(f"{called} has moved on: {join(each.called for each in later)} is cancelled")
    every = {each.name: each for each in (*_legs(context, jobs[0], tell), *jobs, *later)}
    return [each for each in every.values() if not each.ended] or jobs


def _legs(context: Context, job: VertexJob, tell: Callable[[str], None]) -> tuple[VertexJob, ...]:
    """Return the legs of a job's race, with the one that has begun, which a list may hide."""
    if not job.race:
        return ()
    from slipway.using.jobs.race import read_race  # Most jobs do without its import.

    try:
        race = read_race(context, job, _legs_sent_from_here(context, job))
    except (CloudError, JobGoneError) as problem:
        tell(f"a leg of {job.called} may go on where nobody could look: {problem.what}")
        return ()
    if race.silent:
        tell(
            f"{join(race.silent)} does not answer: what waits there of {job.called} waits on, and ends before your code"
        )
    return race.legs


def _legs_sent_from_here(context: Context, job: VertexJob) -> list[str]:
    """Return the names of the legs of a job's race that this machine has sent: a list may hide them."""
    catalog = context.catalog
    try:
        journal = SubmissionJournal.find(context.folder, context.environ, catalog.project, catalog.identity.label)
        entries = [journal.read(leg_entry(job.request_id, region)) for region in job.race]
    except SlipwayError:  # What lists show is cancelled all the same.
        return []
    return [entry.job for entry in entries if entry and entry.job]


def withheld_request(
    context: Context, mark: str, request_id: str, tell: Callable[[str], None], *, what: str
) -> list[VertexJob]:
    """Note in the claim `mark` that nothing more is sent of a request; return the unfinished jobs of the attempts that
    it has moved on to."""
    if not mark:
        return []
    then = f"{mark.rpartition('/')[0]}/{attempt_id(request_id, 1)}"
    try:
        claims = cancel_claims(context.connection.storage, mark, then)
        wanted = [{STACK_LABEL: context.catalog.identity.label, REQUEST_LABEL: last_part(claim)} for claim in claims]
        found = [job for labels in wanted for job in context.vertex.jobs_of_every_kind(label_filter(labels))]
    except CloudError as problem:
        tell(f"a command that waits for {what} may still send its next job: {problem.message}")
        return []
    return [job for job in found if not job.ended]


def of_others(jobs: Iterable[VertexJob], context: Context) -> list[VertexJob]:
    """Return those of `jobs` that go on and are not the user's, or not sent by the agent that types, by labels."""
    own, agent = label_value(context.user), label_value(context.agent)
    going = [job for job in jobs if not job.ended]
    return [job for job in going if not (own and job.user == own and agent in ("", job.labels.get(AGENT_LABEL)))]


def not_ones_own(jobs: Iterable[VertexJob], context: Context, *, yes: bool = False) -> PolicyError | None:
    """Return the refusal to cancel others' jobs without a `yes`, with their owners; None where all that go on are the
    user's. It is by the labels of jobs, as the service does not tell who made one.

    Raises PolicyError for an agent, whatever it answers, where it has not sent all of them itself.
    """
    own, agent = label_value(context.user), label_value(context.agent)
    theirs = of_others(jobs, context)
    if not theirs or (yes and not agent):
        return None
    jobs_and_owners = few((f"{job.called} ({job.owner_and_age(context.now)})" for job in theirs), 3)
    if agent:
        raise PolicyError(
            f"{jobs_and_owners} {'was' if len(theirs) == 1 else 'were'} not sent by agent {agent}",
            why="an agent cancels what it has sent, and its yes counts for nothing else",
            fix=f"have a person cancel {'it' if len(theirs) == 1 else 'them'}, without {AGENT}",
        )
    whose = "not yours" if all(job.user for job in theirs) else "not by its labels yours"
    return PolicyError(
        f"{jobs_and_owners} {'is' if len(theirs) == 1 else 'are'} {whose}",
        why=f"you are {own or 'nobody by name'}, and what others run is cancelled when that is confirmed",
        fix="cancel(yes=True)",
    )
