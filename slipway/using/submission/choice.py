"""The choice of a submission's candidate: the first that can run, with the reasons against each before it. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from slipway.base.errors import Fix, PolicyError, ResourceError, SlipwayError
from slipway.base.formatting import join
from slipway.google.jobs import VertexJob
from slipway.model.capacity import WAIT_BY_THEMSELVES
from slipway.model.catalog.model import Catalog
from slipway.using.jobs.verdict import Outcome, Verdict
from slipway.using.submission.candidate import Candidate

if TYPE_CHECKING:
    from slipway.using.jobs.earlier_jobs import Times
    from slipway.using.jobs.earliest_start import EarliestStart
    from slipway.using.jobs.pause import Pause

_CAN = frozenset({Outcome.STARTS, Outcome.SCALES, Outcome.BESIDE, Outcome.UNKNOWN})
_WAITS = (Outcome.MAY_WAIT, Outcome.FULL, Outcome.WAITS, Outcome.HELD)
"""Outcomes of a wait, the nearest to a start first."""


@dataclass(frozen=True)
class JudgedCandidate:
    """A candidate and its verdict now."""

    candidate: Candidate
    verdict: Verdict
    problem: SlipwayError | None = None
    #: The run times of earlier runs of it, where enough are known.
    times: Times | None = None
    #: None where its time is not asked for.
    start: EarliestStart | None = None
    #: The pause that holds it.
    pause: Pause | None = None

    @property
    def can(self) -> bool:
        return self.verdict.outcome in _CAN

    @property
    def unsure(self) -> bool:
        return self.verdict.unread or self.verdict.outcome is Outcome.UNKNOWN

    @property
    def waits(self) -> bool:
        return self.verdict.outcome in _WAITS

    @property
    def comes_back(self) -> bool:
        """Tell whether its machines take no jobs now, and will once these are mended, or their time begins."""
        comes = self.verdict.comes or self.candidate.offer.dormant
        return self.problem is not None or bool(comes and not self.candidate.edit)

    def sentence(self, where: str = "") -> str:
        """Return the verdict behind its label: `spot in us-east5: runs on 1 machine of its own`."""
        text = self.verdict.text.removeprefix(f"{self.candidate.offer.capacity_type}: ")
        return f"{self.candidate.label}{where}: {text}"

    @property
    def reasons(self) -> tuple[str, ...]:
        return self.verdict.why or (self.verdict.text,)


@dataclass(frozen=True)
class Choice:
    """The candidate that a submission takes, and the others as far as they matter for it."""

    taken: JudgedCandidate
    #: The candidates before it, and other clusters where it would wait as well, in order.
    passed: tuple[JudgedCandidate, ...] = ()
    #: The later candidates that can never run, as far as they were judged.
    hopeless: tuple[JudgedCandidate, ...] = ()
    #: When it may start by each candidate, where it would wait for the first one.
    earliest: tuple[EarliestStart, ...] = ()
    #: The candidates of a race, all of which are sent; `taken` is the first of them.
    legs: tuple[JudgedCandidate, ...] = ()

    @property
    def moves(self) -> bool:
        return bool(self.taken.candidate.wait)

    @property
    def starts(self) -> bool:
        return self.taken.verdict.outcome is Outcome.STARTS

    @property
    def held(self) -> bool:
        return self.taken.verdict.outcome is Outcome.HELD


@dataclass(frozen=True)
class NoneCanRun:
    """The reasons why none of several candidates can run now."""

    #: By label: equal outcomes are no news, though the words of a reason change with the clock.
    outcomes: tuple[tuple[str, Outcome], ...]
    reasons: tuple[str, ...]
    unread: bool = False
    #: Another look may tell.
    again: bool = False
    #: One can, once others make way.
    held: bool = False

    def words(self, label: str, job: str, *, ended: bool = False) -> str:
        """Tell the reasons for a job on the candidate of this label, which stays or has `ended` without machines."""
        can = "is sure to run now" if self.unread else "can run now"
        stays = f"{job} stays there"
        if ended:
            stays = f"{job}, which got no machines, was not moved on"
            stays += " yet; they are looked at again every minute" if self.again else ""
        return "\n  ".join([f"no capacity type after {label} {can}: {stays}", *self.reasons])


def choose(
    template: str,
    judging: Iterable[JudgedCandidate],
    *,
    may_wait: bool = False,
    overdue: Collection[str] = (),
) -> Choice:
    """Choose the first candidate that can run, judging no more than it needs.

    A candidate whose cluster can't be read is left only for one in another region: its own may not answer at all, and
    then it takes no jobs either.

    A candidate that waits is taken when a wait was planned for it that is not `overdue`, by its label, or when its
    capacity type is the only one that can ever run; among several clusters the one with the shortest queue is taken, of
    the first shape that waits. Where several types would wait, a person chooses between them, unless the first
    `may_wait`. Raises PolicyError, or the fault of the preferred candidate.
    """
    seen: list[JudgedCandidate] = []
    guess: int | None = None  # The place of the first candidate whose cluster can't be read.
    for judged in judging:
        candidate = judged.candidate
        if judged.verdict.outcome is Outcome.UNKNOWN:
            guess = len(seen) if guess is None else guess
        elif judged.can or (judged.waits and _waits_as_planned(candidate) and candidate.label not in overdue):
            if guess is None or (not judged.unsure and candidate.region != seen[guess].candidate.region):
                return Choice(judged, tuple(seen))
            break
        seen.append(judged)
    if guess is not None:
        return Choice(seen[guess], tuple(seen[:guess]))
    waiting = [judged for judged in seen if judged.waits]
    types = list(dict.fromkeys(judged.candidate.offer.capacity_type for judged in waiting))
    if len(types) == 1 or (waiting and may_wait):
        alike = [judged for judged in waiting if judged.candidate.offer.capacity_type == types[0]]
        shape = alike[0].candidate.offer.shape
        taken = _shortest([judged for judged in alike if judged.candidate.offer.shape == shape])
        passed = [*seen[: seen.index(taken)], *alike]
        return Choice(taken, tuple(judged for judged in seen if judged is not taken and judged in passed))
    raise refusal(template, seen, waiting)


def _waits_as_planned(candidate: Candidate) -> bool:
    return candidate.wait is not None and not candidate.waits_by_itself


def _shortest(alike: list[JudgedCandidate]) -> JudgedCandidate:
    """Return the first candidate where the fewest jobs wait; the first of all where the queue of any is not known. Only
    candidates with the best outcome are compared: free machines come first, though others may take them."""
    best = min(_WAITS.index(judged.verdict.outcome) for judged in alike)
    equal = [judged for judged in alike if judged.verdict.outcome is _WAITS[best]]
    known = [(judged.verdict.queue, place) for place, judged in enumerate(equal) if judged.verdict.queue is not None]
    return equal[min(known)[1]] if len(known) == len(equal) else equal[0]


def obstacle(judging: Iterable[JudgedCandidate], seen: list[JudgedCandidate]) -> NoneCanRun | None:
    """Return the reasons why none can run, None where one surely can; judges no more than it needs. Those that can't
    are added to `seen`."""
    for judged in judging:
        if judged.can and not judged.unsure:
            return None
        seen.append(judged)
    outcomes = tuple((judged.candidate.label, judged.verdict.outcome) for judged in seen)
    unsure = [judged for judged in seen if judged.unsure]
    held = any(judged.verdict.outcome is Outcome.HELD for judged in seen)
    again = held or any(not judged.verdict.barred for judged in unsure)
    return NoneCanRun(outcomes, tuple(_rows(seen)), unread=bool(unsure), again=again, held=held)


def refusal(template: str, seen: list[JudgedCandidate], waiting: list[JudgedCandidate]) -> SlipwayError:
    if not waiting and seen[0].problem is not None:
        problem = seen[0].problem
        others = (f"{judged.candidate.label}: {'; '.join(judged.reasons)}" for judged in seen[1:])
        return type(problem)(problem.what, why="\n".join([problem.why, *others]), fix=problem.fix)
    fix = _queueing(template, waiting) if waiting else _remedies(template, seen)
    if len(seen) == 1:
        return PolicyError(f"{template} {seen[0].verdict.text}", why="\n".join(seen[0].reasons), fix=fix)
    what = f"{template} can't run now with any of its capacity types"
    return PolicyError(what, why="\n".join(_rows(seen)), fix=fix)


def not_taken(judged: JudgedCandidate) -> str:
    """Return `pool cpu not taken: full …`."""
    return f"{judged.candidate.label} not taken: {'; '.join(judged.reasons)}"


def never_runs(judged: JudgedCandidate) -> str:
    """Return `spot can never run: quota …`."""
    can = can_never_run(comes=judged.verdict.comes or bool(judged.candidate.offer.dormant))
    return f"{judged.candidate.label} {can}: {'; '.join(judged.reasons)}"


def can_never_run(*, comes: bool) -> str:
    return "can't run now" if comes else "can never run"


def quota_commands(judged: JudgedCandidate) -> tuple[str, ...]:
    """Return the commands that ask for the missing quota, one a metric; for all that is short where none is known."""
    from slipway.google.quota.metrics import ALL_SHORT_COMMAND, request_command

    return tuple(request_command(*pair) for pair in judged.verdict.lacking) or (ALL_SHORT_COMMAND,)


def _rows(seen: list[JudgedCandidate]) -> list[str]:
    """Return a row for each reason, without labels where all have the same reason."""
    alike: dict[tuple[str, ...], list[str]] = {}
    for judged in seen:
        alike.setdefault(judged.reasons, []).append(judged.candidate.label)
    if len(alike) == 1:
        return list(seen[0].reasons)
    return [f"{', '.join(labels)}: {'; '.join(reasons)}" for reasons, labels in alike.items()]


def _remedies(template: str, seen: list[JudgedCandidate]) -> Fix:
    barred = [judged.candidate for judged in seen if judged.candidate.barred]
    listed = "have the cluster listed for your team too"
    if teams := dict.fromkeys(team for candidate in barred for team in candidate.teams):
        named = [part for team in teams for part in (" or ", {"team": team})][1:]
        return (*named, f", if you are in it\nor {listed}")
    if len(barred) == len(seen):
        return listed
    dormant = {
        judged.candidate.offer.dormant: judged.candidate.edit for judged in seen if judged.candidate.offer.dormant
    }
    coming = [name for name, edit in dormant.items() if not edit]
    ways = [f"wait until {join(coming, 'or')} is there again: slipway pools"] if coming else []
    ways += [f"have {edit} of {name} declared" for name, edit in dormant.items() if edit]
    away = all(judged.candidate.offer.dormant or judged.verdict.comes for judged in seen)
    other = "take another pool or capacity type, where it has one" if away else "ask for less, or for something else"
    ways.append(f"{other}: slipway templates show {template}")
    if any(judged.verdict.lacking or judged.candidate.offer.lacks_quota for judged in seen):
        ways.append(f"for more quota: {_more_quota(seen)}")
    if any(judged.candidate.offer.cluster for judged in seen):
        ways.append("have the pool changed")
    return "\nor ".join(ways)


def _more_quota(seen: list[JudgedCandidate]) -> str:
    """Return the commands for the first candidate that lacks quota: all of its metrics are needed."""
    first = next((judged for judged in seen if judged.verdict.lacking), seen[0])
    return "\nand also: ".join(quota_commands(first))


def _queueing(template: str, waiting: list[JudgedCandidate]) -> Fix:
    names = list(dict.fromkeys(judged.candidate.offer.capacity_type for judged in waiting))
    holder = next((judged.verdict.holder for judged in waiting if judged.verdict.holder), "")
    wait = f"wait for {holder} (slipway jobs wait {holder}), or " if holder else ""
    more = f"{wait}ask for more: {_more_quota(waiting)}"
    queue: Fix = (f"{more}\nto queue for one of them: ", {"template": template, "capacity": names[0]})
    if names[0] in WAIT_BY_THEMSELVES:
        return queue
    return (*queue, "\nto wait and move on: ", {"wait_for": {names[0]: "30m"}, "then": tuple(names[1:])})


def broken(candidate: Candidate, problem: ResourceError) -> JudgedCandidate:
    verdict = Verdict(Outcome.NEVER, problem.what, (f"{problem.what} ({problem.why})",))
    return JudgedCandidate(candidate, verdict, problem)


def replaced(catalog: Catalog, job: VertexJob, candidate: Candidate) -> bool:
    """Tell whether the job waits on another cluster than its `candidate` has now."""
    old, name = job.persistent_resource_id, candidate.offer.cluster
    waits = job.start_time is None and not job.ended
    return waits and bool(old and name) and catalog.clusters[name].id != old


def about_replaced(catalog: Catalog, job: VertexJob, there: JudgedCandidate) -> str:
    """Say that a job stays on its old cluster; `there` is its candidate as it is now, on the new one."""
    name = there.candidate.offer.cluster
    text = (
        f"cluster {name} was replaced: {job.display_name} waits on the old one, {job.persistent_resource_id}; "
        f"on the new one, {catalog.clusters[name].id}: {'; '.join(there.reasons)}"
    )
    if not there.can or there.unsure:
        return text
    again = "submit it again, by another request id where you have chosen one"
    return f"{text}\n  to move it there: slipway jobs cancel {job.typed}; once it has ended, {again}"
