"""A race: the jobs of one request, its *legs*, that wait for machines in several regions at once.

Their launchers share the request's claim, so that the first leg whose machines come runs, and any other ends before its
code. Whoever looks once the claim is taken cancels those that still wait: the sender while it waits, or anybody's look
later. A leg that nobody cancels ends by itself, when its machines come or at the end of its wait.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from itertools import groupby

from slipway.base.errors import WaitTimeout
from slipway.base.formatting import join, last_part, span
from slipway.google.answers import region_of
from slipway.google.failures import CloudError, Conflict, NotFound, Refused
from slipway.google.jobs import CANCELLED, CANCELLING, VertexJob
from slipway.google.storage import Storage
from slipway.model.labels import REQUEST_LABEL, STACK_LABEL, label_filter
from slipway.using.context import Context
from slipway.using.jobs.claim import claim_number, claim_of, claim_text
from slipway.using.jobs.claimant import JobGoneError
from slipway.using.jobs.follower import TRANSIENT, WATCHING, Contact, look_pause

_LEAST_PAUSE_S, _END_FOR_S = 2.0, 60.0
_SUCCEEDED = "JOB_STATE_SUCCEEDED"
OUTRUN = "outrun"
"""The outcome of a leg that had machines after another one's launcher had taken the claim: it ended at once."""


@dataclass(frozen=True)
class Race:
    """A race at one look."""

    #: In the order of their regions.
    legs: tuple[VertexJob, ...]
    #: The number of the job that has the claim, or the end of the submission; empty where it is free.
    claim: str = ""
    #: The regions that do not answer.
    silent: tuple[str, ...] = ()

    @property
    def winner(self) -> VertexJob | None:
        return next((leg for leg in self.legs if leg.id == self.claim), None)

    @property
    def stands(self) -> VertexJob:
        """The leg that stands for the submission: its winner, else one that goes on, else the last one to end."""
        going = (leg for leg in self.legs if not leg.ended)
        return self.winner or next(going, None) or max(self.legs, key=_end)

    @property
    def left_over(self) -> tuple[str, ...]:
        """The names of the legs that wait on though the claim is not theirs."""
        return tuple(
            leg.name
            for leg in self.legs
            if self.claim and leg.id != self.claim and not leg.ended and leg.state != CANCELLING
        )

    @property
    def over(self) -> bool:
        """Tell whether nothing but the standing leg can run."""
        return self.winner is not None or (not self.silent and all(leg.ended for leg in self.legs))

    @property
    def open(self) -> bool:
        """Tell whether another leg may run: no job has begun, and nobody has ended them all."""
        going, cancelled = any(not leg.ended for leg in self.legs), any(leg.state == CANCELLED for leg in self.legs)
        return not self.claim and (going or not cancelled)

    @property
    def words(self) -> str:
        """Return `us-east5 won; us-central1 cancelled, europe-west4 does not answer`."""
        winner = self.winner
        ends = {_SUCCEEDED: OUTRUN} if winner else {}  # It has run nothing.
        states = [f"{leg.region} {ends.get(leg.state, leg.outcome)}" for leg in self.legs if leg is not winner]
        others = ", ".join([*states, *(f"{region} does not answer" for region in self.silent)])
        return "; ".join(filter(None, (f"{winner.region} won" if winner else "", others)))


def _end(leg: VertexJob) -> str:
    return leg.end_time.isoformat() if isinstance(leg.end_time, datetime) else ""


def read_race(context: Context, job: VertexJob, known: Iterable[str] = ()) -> Race:
    """Read the race of a leg. `known`: names of legs that a list may hide. Raises CloudError where no region answers,
    and JobGoneError where the winner was deleted."""
    wanted = label_filter({STACK_LABEL: job.labels.get(STACK_LABEL, ""), REQUEST_LABEL: job.request_id})
    # The claim is read first: a leg that starts meanwhile is seen at the next look.
    claim = claim_number(claim_text(context.connection.storage, claim_of(job)))
    names = dict.fromkeys((job.name, *known))

    def legs_in(region: str) -> list[VertexJob] | CloudError:
        here = context.vertex.at(region)
        try:
            listed = [leg for leg in here.jobs(job.kind, wanted) if leg.race]
            known = [name for name in names if region_of(name) == region]
            if claim.isdecimal():
                known.append(f"projects/{here.project}/locations/{region}/{job.kind.collection}/{claim}")
            return [*listed, *filter(None, map(here.found, _hidden(known, listed)))]
        except CloudError as problem:
            return problem

    regions = tuple(dict.fromkeys((*job.race, job.region)))
    with ThreadPoolExecutor(len(regions), thread_name_prefix="legs") as threads:
        answers = dict(zip(regions, threads.map(legs_in, regions), strict=True))
    silent = {region: answer for region, answer in answers.items() if isinstance(answer, CloudError)}
    if len(silent) == len(regions):
        raise silent[job.region]
    legs = [leg for answer in answers.values() if not isinstance(answer, CloudError) for leg in answer]
    race = Race(tuple(legs), claim, tuple(silent))
    if claim.isdecimal() and race.winner is None and not silent:
        end(context, race.left_over, lambda _: None)
        raise JobGoneError(
            f"job {claim} won the race of {job.called}, and is gone",
            why="it was deleted, most likely, so nobody can tell how it ended; the others are cancelled",
        )
    return race


def _hidden(known: Iterable[str], listed: Iterable[VertexJob]) -> list[str]:
    """Return the `known` names of jobs that are not `listed`, one for each number: a name has the project's number or
    its id."""
    seen = {leg.id for leg in listed}
    hidden = []
    for name in known:
        if last_part(name) not in seen:
            seen.add(last_part(name))
            hidden.append(name)
    return hidden


def outrun(storage: Storage, jobs: Iterable[VertexJob]) -> frozenset[str]:
    """Return the names of the legs among these jobs that succeeded as another one had the claim."""
    succeeded = [job for job in jobs if job.race and job.state == _SUCCEEDED]
    names = set[str]()
    for claim, legs in groupby(succeeded, claim_of):
        with suppress(CloudError):
            number = claim_number(claim_text(storage, claim))
            names |= {leg.name for leg in legs if leg.id != number}
    return frozenset(names)


def end(context: Context, names: Iterable[str], tell: Callable[[str], None]) -> None:
    """Cancel the legs of these names. `tell` is told of those that may not be. Raises CloudError for a fault that
    passes, once all others are cancelled."""
    passing: CloudError | None = None
    for name in names:
        try:
            context.vertex.cancel(name)
        except (Refused, Conflict, NotFound):
            pass  # It has ended by itself.
        except TRANSIENT as problem:
            passing = problem
        except CloudError as problem:
            tell(_waits_on(name, problem))
    if passing:
        raise passing


def _waits_on(name: str, problem: CloudError) -> str:
    number = last_part(name)
    return (
        f"! {number} in {region_of(name)} waits on, and ends before your code: {problem.message}; "
        f"to end it: slipway jobs cancel {number}"
    )


def decided(
    context: Context, job: VertexJob, tell: Callable[[str], None], *, timeout: float | None = None
) -> VertexJob:
    """Return the leg that stands for the submission of `job`, after `follow`; a job of no race itself."""
    return follow(context, job, tell, timeout=timeout).stands if job.race else job


def follow(
    context: Context,
    job: VertexJob,
    tell: Callable[[str], None],
    *,
    known: Iterable[str] = (),
    timeout: float | None = None,
) -> Race:
    """Return the race of a leg once nothing but one leg can run, and cancel the others. `tell` is told of each change.
    `known`: names of legs that a list may hide.

    Raises WaitTimeout after `timeout` seconds, JobGoneError, and CloudError after a long time without contact.
    """
    clock, contact, ends, told = context.clock, Contact(context.clock, context.no_contact), _Ends(context, tell), ""
    watching, begun, race = context.with_policy(WATCHING), clock.monotonic(), None
    while True:
        try:
            race = read_race(watching, job, known)
            contact.there()
        except TRANSIENT as problem:
            if message := contact.lost(problem):
                tell(message)
        else:
            if race.words != told and (told or race.winner is not job):
                unseen = "; it is asked again, and after Ctrl-C the same command goes on" if race.silent else ""
                tell(f"{job.called}  race: {race.words}{'' if race.over else unseen}")
            told = race.words
            if ends.try_to(race.left_over) and race.over:
                return race
        age = clock.monotonic() - begun
        if timeout is not None and age >= timeout:
            raise _none_has_machines(job, race, timeout)
        pause = max(_LEAST_PAUSE_S, look_pause(age))
        clock.sleep(pause if timeout is None else min(pause, timeout - age))


@dataclass
class _Ends:
    """The cancels of legs that wait on though another one has the claim."""

    context: Context
    tell: Callable[[str], None]
    _failed_since: float | None = field(default=None, init=False)

    def try_to(self, names: tuple[str, ...]) -> bool:
        """Cancel legs; tell whether no other try helps: all are cancelled, or their regions have not answered for long,
        which is told."""
        now = self.context.clock.monotonic()
        try:
            end(self.context.with_policy(WATCHING), names, self.tell)
        except TRANSIENT as problem:
            if self._failed_since is None:
                self._failed_since = now
            if now - self._failed_since < _END_FOR_S:
                return False
            for name in names:
                self.tell(_waits_on(name, problem))
        return True


def _none_has_machines(job: VertexJob, race: Race | None, timeout: float) -> WaitTimeout:
    """Return the error of a time-out. `race`: as it was at the last look, None where no look was answered."""
    waiting = [leg.region for leg in race.legs if not leg.ended] if race else []
    silent = list(race.silent) if race else list(job.race)
    words = [f"it waits on in {join(waiting)}" if waiting else "", f"{join(silent)} does not answer" if silent else ""]
    return WaitTimeout(
        f"none of the regions of {job.called} has had machines after {span(timeout)}",
        why="; ".join(filter(None, words)),
        fix=f"slipway jobs wait {job.typed}     or end it: slipway jobs cancel {job.typed}",
    )
