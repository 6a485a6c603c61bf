"""A single job from the terminal: prepared, and sent and waited for, or only shown."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from slipway.base.errors import PolicyError, SlipwayError, WaitTimeout
from slipway.front.cli.terminal import screen
from slipway.front.cli.terminal.arguments import SubmitArguments, WaitOptions
from slipway.front.cli.terminal.delivery import last_sent, send
from slipway.front.cli.terminal.gcloud import as_formatted
from slipway.front.cli.terminal.options import found_job
from slipway.front.cli.terminal.submission import choice_lines, confirm, sent_words
from slipway.front.cli.terminal.submission_document import document, plan_document
from slipway.google.advice import NO_ADVICE, SpotNeed, SpotReport, read_advice
from slipway.google.failures import CloudError
from slipway.model.capacity import SPOT
from slipway.using.context import Context
from slipway.using.jobs.demand import Demand
from slipway.using.submission.candidate import Candidate, likely
from slipway.using.submission.checks import Checks
from slipway.using.submission.choice import Choice, never_runs
from slipway.using.submission.costs import Spending, crossing, possible, spending_of
from slipway.using.submission.delivery import RetryPolicy
from slipway.using.submission.preflight import AT_ONCE, Preflight
from slipway.using.submission.prepared import PreparedSubmission, prepare
from slipway.using.submission.request import new_request_id
from slipway.using.submission.sender import Sender, about_earlier
from slipway.using.submission.submission_request import SubmissionRequest
from slipway.using.submission.submitter import journal_of, under, with_code

if TYPE_CHECKING:
    from slipway.google.jobs import VertexJob
    from slipway.google.logging import LogEntry
    from slipway.using.sessions.likeness import RunLikeness
    from slipway.using.urgent import Room


def submit_one(
    context: Context,
    typed: SubmitArguments,
    id_: str | None,
    ending: WaitOptions,
    *,
    dry_run: bool,
    json: bool,
    format_: str | None = None,
) -> None:
    """Submit what was typed, under a request id of one's own or a new one. Raises the errors of `send`, and those of
    the job's end where it is waited for."""
    run = _run(context, typed.like) if typed.like else None
    if run:
        typed = replace(typed, like=run.typed, code=typed.code or run.typed)
        asked = run.asked(typed.request_like(context, run.job).asked)
    elif typed.like is None:
        asked = typed.request()
    else:
        model = found_job(context, typed.like)
        typed = replace(typed, like=model.typed)  # A template's name does not name the job for good.
        asked = typed.request_like(context, model).asked
    tree = run.tree if run and typed.code == run.typed else None

    def plan(asked: SubmissionRequest) -> PreparedSubmission:
        return prepare(context.catalog, asked, context.user, context.team, context.now)

    prepared = with_code(context, asked, typed.code, plan, upload=not dry_run, tell=screen.note, tree=tree)
    if typed.by is not None:
        from slipway.front.cli.terminal.deadline import by_deadline

        typed, prepared = by_deadline(context, typed, typed.by, prepared, id_, dry_run=dry_run)
    room = _room(context, prepared, typed, id_, dry_run=dry_run) if typed.urgent else None
    if dry_run:
        prepared = under(journal_of(context), prepared, id_ or new_request_id())
        _dry_run(context, prepared, json=json, format_=format_, repeated=id_ is not None)
        return
    submitted, submission_id = send(context, typed, prepared, id_, json=json)
    context, job = submitted.context, submitted.attempt.job
    if room:
        _make_room(context, job, replace(typed, yes=typed.yes or len(room.holders) > 1), submission_id)
    with screen.after(*sent_words(job)):
        job, problem = _watched(context, job, ending, json=json)
        if json:
            screen.out_json("submission", document(context, submitted, job, submission_id), problem)
    if problem:
        raise problem


def _watched(
    context: Context, job: VertexJob, ending: WaitOptions, *, json: bool
) -> tuple[VertexJob, SlipwayError | None]:
    """Wait for the end if that was asked for. Return the job as it is then, and the error of its end or of the wait."""
    if not ending.waits:
        return job, None
    from slipway.front.cli.terminal.watching import FOLLOWED, recorded, watch
    from slipway.using.submission.ending import problem_of_end

    followed: deque[LogEntry] = deque(maxlen=FOLLOWED)
    try:
        text = recorded(followed)
        ended = watch(context, job, logs=ending.follows, timeout=ending.timeout, quiet=json, text=text)
    except WaitTimeout as late:
        return (context.vertex.found(job.name) or job if json else job), late
    return ended, problem_of_end(context, ended, [*followed])


def _room(
    context: Context, prepared: PreparedSubmission, typed: SubmitArguments, id_: str | None, *, dry_run: bool
) -> Room:
    """Return who would make room, after a confirmation where that is more than one. `id_`: it may have been sent under
    it before. Raises PolicyError where the submission may not be urgent, or nobody can be asked."""
    from slipway.using.submission.yielding import require_urgent
    from slipway.using.urgent import Room, find_room

    require_urgent(context.catalog, context.user, prepared.team, context.agent)
    candidate = likely(prepared.candidates)
    cluster = context.catalog.clusters.get(candidate.offer.cluster)
    sent = last_sent(context, prepared, id_) if id_ else None
    room = find_room(context, candidate.demand, cluster.id, candidate.region, sent) if cluster else Room()
    if dry_run:
        for line in room.lines("would make room"):
            screen.note(line)
    else:
        _agreed(room, typed, id_)
    return room


def _agreed(room: Room, typed: SubmitArguments, id_: str | None) -> None:
    """Ask whether several jobs are to make room. Raises PolicyError where nobody can be asked, and KeyboardInterrupt
    where the answer is no."""
    if len(room.holders) > 1 and not typed.yes:
        for line in room.lines("would make room"):
            screen.note(line)
        several = f"{len(room.holders)} jobs would make room"
        confirm(f"{several}. Send it?", PolicyError(several, fix=replace(typed, yes=True).again(id_)))


def _make_room(context: Context, job: VertexJob, typed: SubmitArguments, id_: str) -> None:
    """Ask who makes room for an urgent job that was sent: by now these may be others, and several though one was. It
    waits where that fails, or is not agreed to."""
    from slipway.using.urgent import ask_for_room, find_room

    again = typed.again(id_)
    try:
        now = context.vertex.job(job.name)
        room = find_room(context, Demand.of(now), now.persistent_resource_id, now.region, now)
        try:
            _agreed(room, typed, id_)
        except (PolicyError, KeyboardInterrupt):
            screen.note(f"{job.called} was sent, and waits: several jobs would make room by now, and none is asked")
            screen.note(f"  to ask them: {replace(typed, yes=True).again(id_)}")
            return
        for line in room.lines("makes room"):
            screen.note(line)
        ask_for_room(context, now, room, tell=screen.note, again=again)
    except CloudError as problem:
        screen.note(f"warning: {job.called} was sent, and not all make room for it: {problem.message}")
        screen.note(f"  to ask once more: {again}")


def _run(context: Context, like: str) -> RunLikeness | None:
    if "/" not in like:
        return None
    from slipway.using.sessions.likeness import run_like

    return run_like(context.connection.storage, like, partial(found_job, context))


@dataclass(frozen=True)
class Forecast:
    """Outcome of a submission now."""

    choice: Choice
    #: Google's advice on Spot machines.
    spot: SpotReport
    #: The costs that a person would have to confirm.
    costs: tuple[Spending, ...]


def _dry_run(
    context: Context, prepared: PreparedSubmission, *, json: bool, format_: str | None, repeated: bool
) -> None:
    """Print the request as it would be sent now. `repeated`: the id may have been used before. Raises the errors before
    a sending, but tells of costs that somebody would have to confirm."""
    from slipway.using.submission.offline import offline_candidate

    def show(candidate: Candidate, known: Forecast | None = None, problem: SlipwayError | None = None) -> None:
        if json:
            choice = known.choice if known else None
            costs = known.costs if known else ()
            spot = known.spot if known else NO_ADVICE
            plan = plan_document(context, prepared, candidate, choice, costs, spot)
            screen.out_json("submission-plan", plan, problem)
        elif format_:
            screen.out(as_formatted(context, prepared, candidate))
        else:
            screen.out(screen.json_text(candidate.body, indent=2))

    if repeated:
        first = likely(prepared.candidates)
        sender = Sender(context, journal_of(context), screen.note, RetryPolicy())
        if (earlier := sender.sent_before(first.request)) and (before := about_earlier(first.request, earlier)):
            screen.note(f"not sent; {before}")
            show(first)
            return
    lines: list[str] = []
    try:
        forecast = _forecast(context, prepared, lines.append)
    except SlipwayError as problem:
        show(offline_candidate(prepared), problem=problem)
        raise
    else:
        show(forecast.choice.taken.candidate, forecast)
    finally:
        for line in lines:  # Below the request, which is longer than most terminals.
            screen.note(line)


def _forecast(context: Context, prepared: PreparedSubmission, tell: Callable[[str], None]) -> Forecast:
    """Tell the forecast, and return it. Raises the errors before a sending."""
    needs = [
        SpotNeed.of(candidate.region, part.machine, part.machines)
        for candidate in prepared.candidates
        if candidate.offer.capacity_type == SPOT
        for part in candidate.demand.parts
    ]
    with ThreadPoolExecutor(AT_ONCE, thread_name_prefix="preflight") as threads:
        advising = threads.submit(read_advice, context.connection, prepared.catalog.project, needs)
        checks = Checks.begin(context, prepared, [prepared.values], threads)
        if prepared.races:
            from slipway.using.submission.race import choose_legs

            choice = choose_legs(context, prepared, prepared.candidates, threads)
        else:
            preflight = Preflight(context, prepared.candidates, threads, prepared.template.name)
            choice = preflight.choice(prepared, prepared.candidates)
    taken, checked = choice.taken.candidate, list[str]()
    sent = [leg.candidate for leg in choice.legs] or [taken]
    checks.check(sent, checked.append)  # A refusal is told alone, without machines that would start now.
    verdict = choice.taken.sentence("" if taken.offer.region else context.elsewhere(taken.region))
    for line in choice_lines(context, prepared, choice, f"not sent; {verdict}"):
        tell(line)
    for line in advising.result().lines if not choice.starts else ():
        tell(f"  {line}")
    for judged in choice.hopeless:
        tell(f"  {never_runs(judged)}")
    moved = crossing(prepared, possible(prepared, choice), checks.most)
    costs = tuple(filter(None, (spending_of(prepared, choice), moved)))
    for each in costs:
        tell(f"  {each.words}")
    for line in checked:
        tell(line)
    return Forecast(choice, advising.result(), costs)
