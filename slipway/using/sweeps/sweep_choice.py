"""The choice of where a sweep's runs go: one for all runs that need the same machines, made before any is sent.

Many runs on machines of their own cost a lot at once. So they stay on the first capacity type that can ever run them,
where they may wait, and another one is taken only where somebody has named it, or answers that it may be. Pure, but for
the verdicts that are asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from slipway.base.errors import Fix, PolicyError, ResourceError, SlipwayError
from slipway.base.formatting import join
from slipway.model.catalog.model import Catalog
from slipway.using.jobs.verdict import Outcome
from slipway.using.submission.candidate import Candidate
from slipway.using.submission.choice import Choice, JudgedCandidate, choose, refusal
from slipway.using.submission.costs import Spending, spending_at_once
from slipway.using.submission.offline import offline
from slipway.using.sweeps.forecast import Share, bound_words
from slipway.using.sweeps.runs import Run, runs_in_words
from slipway.using.sweeps.sweep_plan import SweepPlan

Judge = Callable[[Iterable[Candidate]], Iterable[JudgedCandidate]]


@dataclass(frozen=True)
class GroupChoice:
    """The choice for runs that need the same machines."""

    #: By the first capacity type that can ever run them, or the error where that takes no jobs now.
    first: Choice | SlipwayError
    #: By a later type that could run now, where they would wait.
    sooner: Choice | None = None


@dataclass(frozen=True)
class SoonerChoice:
    """The capacity types that could run now where runs would wait."""

    #: The choice of each of these groups by a later type.
    choices: Mapping[int, Choice]
    #: The shares of the costs by these choices.
    shares: tuple[Share, ...]
    #: The text that tells what the runs would wait for.
    waits: str
    #: None where nobody has to confirm it.
    spending: Spending | None

    @property
    def types(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(choice.taken.candidate.offer.capacity_type for choice in self.choices.values()))

    @property
    def words(self) -> str:
        """The choice as text: `spot could run now, at most $3,084.40 for all 40 runs, …`"""
        return f"{join(self.types)} could run now, {bound_words(self.shares)}"

    def refusal(self, spending: Spending, how: str) -> PolicyError:
        """Return the error where `--yes` would have to confirm a dear type that nobody has named; `how` names it."""
        return PolicyError(
            f"nothing was sent: a yes alone does not send these runs to {join(self.types)}",
            why=f"{self.waits}\n{self.words}\n{spending.words} (slipway:workspace.confirmAbove)",
            fix=f"to send them there: {how}\nto let them wait: the same without yes",
        )

    def in_place_of(self, problem: SlipwayError) -> SlipwayError:
        """Return the error of a first type that takes no jobs now, with this way on."""
        then: Fix = (f"{problem.fix}\nor send them to {join(self.types)}: ", {"then": tuple(self.types)})
        return type(problem)(problem.what, why=f"{problem.why}\n{self.words}", fix=then)


def choose_group(template: str, candidates: Sequence[Candidate], judge: Judge, then: Sequence[str]) -> GroupChoice:
    """Choose for runs that have these candidates. `then`: the capacity types that may be taken where the first one
    would wait; where none is named, all others are looked at. Judges no more than it needs.

    Raises PolicyError, or ResourceError for a broken cluster, where no type can ever run them.
    """
    by_type: dict[str, list[Candidate]] = {}
    for candidate in candidates:
        by_type.setdefault(candidate.offer.capacity_type, []).append(candidate)
    left = list(by_type)
    seen: list[JudgedCandidate] = []
    while not any(judged.verdict.outcome is not Outcome.NEVER or judged.comes_back for judged in seen):
        if not left:
            raise refusal(template, seen, [])
        seen += judge(by_type[left.pop(0)])
    first: Choice | SlipwayError
    try:
        first = choose(template, seen, may_wait=True)
    except (PolicyError, ResourceError) as problem:
        first = problem
    if isinstance(first, Choice) and not first.taken.waits:
        return GroupChoice(first)
    for name in [type_ for type_ in then if type_ in left] if then else left:
        for judged in list(judge(by_type[name])):
            if judged.can and judged.verdict.outcome is not Outcome.UNKNOWN:
                return GroupChoice(first, sooner=Choice(judged, tuple(seen)))
            seen.append(judged)
    return GroupChoice(first)


def choose_groups(plan: SweepPlan, runs: Iterable[Run], judge: Judge) -> dict[int, GroupChoice]:
    """Choose for each group of these runs. Raises PolicyError, or ResourceError for a broken cluster, with the reasons
    of every group that can go nowhere now."""
    groups: dict[int, list[int]] = {}
    for run in runs:
        groups.setdefault(plan.of_group[run.index], []).append(run.index)
    chosen: dict[int, GroupChoice] = {}
    refused: list[tuple[str, SlipwayError]] = []
    for group, numbers in sorted(groups.items()):
        try:
            choice = choose_group(plan.template.name, plan.groups[group].candidates, judge, plan.then)
            if isinstance(choice.first, SlipwayError) and not choice.sooner:
                raise choice.first
        except (PolicyError, ResourceError) as problem:
            refused.append((runs_in_words(sorted(numbers)), problem))
        else:
            chosen[group] = choice
    if refused:
        first = refused[0][1]
        if len(plan.groups) > 1:
            first.why = "\n".join(
                "\n  ".join([f"{runs}: {problem.what}", *problem.why.splitlines()]) for runs, problem in refused
            )
            first.what = f"{plan.template.name}: nothing is sent, as some of {plan.count:,} runs can't be"
        raise first
    return chosen


def sooner_choice(
    plan: SweepPlan,
    groups: Mapping[int, GroupChoice],
    counts: Mapping[int, int],
    shares: Callable[[Mapping[int, Choice]], tuple[Share, ...]],
) -> SoonerChoice | None:
    """Return what could run now in place of the groups that would wait; None where nothing could. `counts`: the runs
    of each group; `shares` returns those of such choices."""
    choices = {group: choice.sooner for group, choice in groups.items() if choice.sooner}
    if not choices:
        return None
    waiting = dict.fromkeys(_waits(groups[group].first) for group in choices)
    runs = [(choice.taken.candidate, counts[group]) for group, choice in choices.items()]
    catalog = plan.groups[0].catalog
    return SoonerChoice(
        choices=choices,
        shares=shares(choices),
        waits="; ".join(waiting),
        spending=spending_at_once(catalog, plan.template.name, runs),
    )


def _waits(first: Choice | SlipwayError) -> str:
    if isinstance(first, SlipwayError):
        return first.what
    return f"{first.taken.candidate.label} would wait: {'; '.join(first.taken.reasons)}"


def check_rules(plan: SweepPlan, candidates: Mapping[Run, Candidate], catalog: Catalog) -> None:
    """Raise PolicyError when a run breaks a rule of the service, with each reason once; quota was judged before."""
    broken: dict[str, list[int]] = {}
    for run, candidate in candidates.items():
        if judged := offline(candidate, reserved=catalog.reservations, limits_follow=True):
            for reason in judged.reasons:
                broken.setdefault(reason, []).append(run.index)
    if broken:
        runs = {number for numbers in broken.values() for number in numbers}
        raise PolicyError(
            f"{len(runs):,} of {plan.count:,} runs can never run",
            why="\n".join(f"{runs_in_words(numbers)}: {reason}" for reason, numbers in broken.items()),
            fix="correct them",
        )
