"""Which candidate a submission takes: the first that can run, with a reason for each that was passed over. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from slipway.capacity import WAIT_BY_THEMSELVES
from slipway.errors import Fix, PolicyError, ResourceError, SlipwayError
from slipway.formatting import join
from slipway.jobs.verdict import Outcome, Verdict
from slipway.submission.candidates import Candidate

if TYPE_CHECKING:
    from slipway.jobs.earlier_jobs import Times

_CAN = frozenset({Outcome.STARTS, Outcome.SCALES, Outcome.BESIDE, Outcome.UNKNOWN})
_WAITS = (Outcome.MAY_WAIT, Outcome.FULL, Outcome.WAITS)
"""The nearest to a start first."""


@dataclass(frozen=True)
class JudgedCandidate:
    """A candidate and what is to be expected of it now. `problem`: what is broken there, of a candidate that is.
    `times`: how long earlier runs of it took, where enough are known."""

    candidate: Candidate
    verdict: Verdict
    problem: SlipwayError | None = None
    times: Times | None = None

    @property
    def can(self) -> bool:
        """It runs now, or nothing speaks against it."""
        return self.verdict.outcome in _CAN

    @property
    def unsure(self) -> bool:
        """What the verdict rests on could not be read."""
        return self.verdict.unread or self.verdict.outcome is Outcome.UNKNOWN

    @property
    def waits(self) -> bool:
        """It would run as soon as others are done."""
        return self.verdict.outcome in _WAITS

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why it does not run now, without the verdict's own first words where reasons follow."""
        return self.verdict.why or (self.verdict.text,)


@dataclass(frozen=True)
class Choice:
    """`passed`: the candidates before the one taken, and the other clusters where it would wait as well, in order.
    `hopeless`: those after it that can never run, as far as they were looked at: where it would move on to them."""

    taken: JudgedCandidate
    passed: tuple[JudgedCandidate, ...] = ()
    hopeless: tuple[JudgedCandidate, ...] = ()

    @property
    def moves(self) -> bool:
        """Whether it goes on to the next when the one taken has not started in time. Machines that are to come, on a
        pool that grows or beside the pools, may not come, and those that are free may be taken first."""
        return bool(self.taken.candidate.wait)

    @property
    def starts(self) -> bool:
        """Nothing that was looked at makes it wait."""
        return self.taken.verdict.outcome is Outcome.STARTS


@dataclass(frozen=True)
class Obstacle:
    """Why none of several candidates can run now. `outcomes` by label: who meets the same ones again has no news,
    though the words of a reason change with the clock. `unread`: of some nobody could tell. `again`: of some nobody
    could just then, and asking again may tell."""

    outcomes: tuple[tuple[str, Outcome], ...]
    reasons: tuple[str, ...]
    unread: bool = False
    again: bool = False

    def words(self, label: str, job: str, *, ended: bool = False) -> str:
        """Of a job with the candidate of this label, that stays where it is or has `ended` without machines."""
        can = "is known to be able to run now" if self.unread else "can run now"
        stays = f"{job} stays there"
        if ended:
            stays = f"{job}, which got no machines, was not moved on"
            stays += " yet; they are looked at again every minute" if self.again else ""
        return "\n  ".join([f"no capacity type after {label} {can}: {stays}", *self.reasons])


def choose(template: str, judging: Iterable[JudgedCandidate], *, settle: bool = False) -> Choice:
    """The first candidate that can run; judges no more than it needs.

    One whose cluster can't be read is passed over for one in another region alone: its own may not answer at all, and
    then it takes no jobs either.

    One that waits is taken when a wait was planned for it, or when its capacity type is the only one that can ever run:
    then its queue is the place to be, and of several clusters the shortest one. Where several types would wait, which
    one is a person's choice, unless they `settle` for the first. Raises PolicyError, or what is broken with the one
    that is preferred.
    """
    seen: list[JudgedCandidate] = []
    guess: int | None = None
    for one in judging:
        if one.verdict.outcome is Outcome.UNKNOWN:
            guess = len(seen) if guess is None else guess
        elif one.can or (one.waits and one.candidate.wait is not None and not one.candidate.waits_by_itself):
            if guess is None or (not one.unsure and one.candidate.region != seen[guess].candidate.region):
                return Choice(one, tuple(seen))
            break
        seen.append(one)
    if guess is not None:
        return Choice(seen[guess], tuple(seen[:guess]))
    waiting = [one for one in seen if one.waits]
    if len({one.candidate.offer.capacity_type for one in waiting}) == 1 or (waiting and settle):
        alike = [
            one for one in waiting if one.candidate.offer.capacity_type == waiting[0].candidate.offer.capacity_type
        ]
        taken = _shortest(alike)
        named = [*seen[: seen.index(taken)], *alike]
        return Choice(taken, tuple(one for one in seen if one is not taken and one in named))
    raise refusal(template, seen, waiting)


def _shortest(alike: list[JudgedCandidate]) -> JudgedCandidate:
    """The first of those where the fewest jobs wait; the first of all where of any that is not known. Only those with
    the best outcome are compared: machines that are free, though others may take them, come before a full cluster."""
    best = min(_WAITS.index(one.verdict.outcome) for one in alike)
    equal = [one for one in alike if one.verdict.outcome is _WAITS[best]]
    known = [(one.verdict.queue, place) for place, one in enumerate(equal) if one.verdict.queue is not None]
    return equal[min(known)[1]] if len(known) == len(equal) else equal[0]


def obstacle(judging: Iterable[JudgedCandidate]) -> Obstacle | None:
    """None where one surely can run; judges no more than it needs."""
    seen: list[JudgedCandidate] = []
    for one in judging:
        if one.can and not one.unsure:
            return None
        seen.append(one)
    outcomes = tuple((one.candidate.label, one.verdict.outcome) for one in seen)
    unsure = [one for one in seen if one.unsure]
    again = any(not one.verdict.barred for one in unsure)
    return Obstacle(outcomes, tuple(_rows(seen)), unread=bool(unsure), again=again)


def refusal(template: str, seen: list[JudgedCandidate], waiting: list[JudgedCandidate]) -> SlipwayError:
    """Why nothing is sent."""
    if not waiting and seen[0].problem is not None:
        problem = seen[0].problem
        more = "".join(f"\n{_row(one)}" for one in seen[1:])
        return type(problem)(problem.what, why=problem.why + more, fix=problem.fix) if more else problem
    if len(seen) == 1:
        verdict, why = seen[0].verdict, "\n".join(seen[0].reasons)
        return PolicyError(f"{template} {verdict.text}", why=why, fix=_other(template, seen))
    return PolicyError(
        f"{template} can't run now with any of its capacity types",
        why="\n".join(_rows(seen)),
        fix=_way_out(template, seen, waiting),
    )


def passed_over(one: JudgedCandidate) -> str:
    """`pool cpu passed over: full …`"""
    return f"{one.candidate.label} passed over: {'; '.join(one.reasons)}"


def quota_commands(seen: Iterable[JudgedCandidate]) -> tuple[str, ...]:
    """What asks for the quota that they lack, a command for each metric; for all that is short where none is known.

    All of one candidate's are needed, so those of several are told apart by `more_quota`.
    """
    from slipway.quota.metrics import ALL_SHORT_COMMAND, request_command

    enough: dict[str, int] = {}
    for metric, limit in (pair for one in seen for pair in one.verdict.lacking):
        enough[metric] = max(limit, enough.get(metric, 0))
    return tuple(request_command(*pair) for pair in enough.items()) or (ALL_SHORT_COMMAND,)


def never_runs(one: JudgedCandidate) -> str:
    """`spot can never run: quota …`"""
    can = "can't run now" if one.candidate.offer.dormant else "can never run"
    return f"{one.candidate.label} {can}: {'; '.join(one.reasons)}"


def _row(one: JudgedCandidate, label: str = "") -> str:
    first, *rest = one.reasons
    return "\n".join([f"{label or one.candidate.label:<14} {first}", *(f"{'':<14} {line}" for line in rest)])


def _rows(seen: list[JudgedCandidate]) -> list[str]:
    """One for each reason, and no labels where all have the same one."""
    alike: dict[tuple[str, ...], list[JudgedCandidate]] = {}
    for one in seen:
        alike.setdefault(one.reasons, []).append(one)
    if len(alike) == 1:
        return list(seen[0].reasons)
    return [_row(those[0], ", ".join(one.candidate.label for one in those)) for those in alike.values()]


def _other(template: str, seen: list[JudgedCandidate]) -> str:
    """What to do where nothing would help but other parameters, another pool or more quota."""
    dormant = {one.candidate.offer.dormant: one.candidate.edit for one in seen if one.candidate.offer.dormant}
    alone = all(one.candidate.offer.dormant for one in seen)
    coming = [name for name, edit in dormant.items() if not edit]
    it = "it" if alone and len(dormant) == 1 else join(coming, "or")
    ways = [f"wait until {it} is there again: slipway pools"] if coming else []
    ways += [f"have {edit} of {name} put into the stack file" for name, edit in dormant.items() if edit]
    less = "" if alone else "less, or for "
    ways.append(f"ask for {less}something else: slipway templates show {template}")
    fix = "\nor ".join(ways)
    if any(one.verdict.lacking or one.candidate.offer.lacks_quota for one in seen):
        fix += "".join(f"\nor for more quota{what}" for what in _more_quota(seen))
    if any(one.candidate.offer.cluster for one in seen):
        fix += "\nor have the pool changed in the stack file"
    return fix


def _more_quota(seen: Iterable[JudgedCandidate]) -> list[str]:
    """`: COMMAND` for each way to get enough, with what else that way needs in lines of its own. Which capacity types
    it is for is said where there are several ways."""
    ways: dict[tuple[str, ...], list[str]] = {}
    seen = list(seen)
    for one in [one for one in seen if one.verdict.lacking] or seen[:1]:
        ways.setdefault(quota_commands([one]), []).append(one.candidate.label)
    told = {way: f" for {join(dict.fromkeys(labels), 'or')}" if len(ways) > 1 else "" for way, labels in ways.items()}
    return ["\nand also: ".join((f"{told[way]}: {way[0]}", *way[1:])) for way in ways]


def _way_out(template: str, seen: list[JudgedCandidate], waiting: list[JudgedCandidate]) -> Fix:
    if not waiting:
        return _other(template, seen)
    names = list(dict.fromkeys(one.candidate.offer.capacity_type for one in waiting))
    holder = next((one.verdict.holder for one in waiting if one.verdict.holder), "")
    more = "\nor ask for more".join(_more_quota(waiting))
    help_ = (
        f"wait for {holder} (slipway jobs wait {holder}), or ask for more{more}" if holder else f"ask for more{more}"
    )
    queue: Fix = (f"{help_}\nto queue for one of them: ", {"template": template, "capacity": names[0]})
    if names[0] in WAIT_BY_THEMSELVES:
        return queue
    return (*queue, "\nto wait and move on: ", {"wait_for": {names[0]: "30m"}, "then": ",".join(names[1:])})


def broken(candidate: Candidate, problem: ResourceError) -> JudgedCandidate:
    """A candidate whose cluster can't take jobs."""
    return JudgedCandidate(
        candidate, Verdict(Outcome.NEVER, problem.what, (f"{problem.what} ({problem.why})",)), problem
    )
