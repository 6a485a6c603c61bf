"""Submitting from Python: `slipway.submit(...)`. The same code as the command.

Nothing is printed. The command's messages beside its result go to the logger `slipway` as INFO.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from slipway.base.errors import ConfigError
from slipway.base.formatting import meant, nearest
from slipway.front.api.call import check, overrides_of, params_as_typed, regions, types, waits_as_typed
from slipway.front.api.job import Job, tell_event
from slipway.google.jobs import AT_LEAST_ONCE
from slipway.model.prices import UNKNOWN_PRICE, Price, dollars
from slipway.using.context import Context, context_of
from slipway.using.submission.candidate import price
from slipway.using.submission.choice import Choice, never_runs
from slipway.using.submission.costs import Spending, dearest, leaving, region_lines, run_total
from slipway.using.submission.parameters import waits
from slipway.using.submission.prepared import PreparedSubmission, prepare
from slipway.using.submission.request import checked_request_id, new_request_id
from slipway.using.submission.sender import about_copies, about_earlier
from slipway.using.submission.submission_request import SubmissionRequest
from slipway.using.submission.submission_result import SubmissionResult
from slipway.using.submission.submitter import deliver, with_code
from slipway.using.submission.waiting_attempt import WaitingAttempt

if TYPE_CHECKING:
    from slipway.authoring.packages.working_tree import WorkingTree
    from slipway.using.jobs.follower import Event
    from slipway.using.sessions.likeness import RunLikeness

_log = logging.getLogger("slipway")


def submit(
    template: str | None = None,
    *,
    like: str | Job | None = None,
    capacity: str | None = None,
    pool: str | None = None,
    kind: str | None = None,
    team: str | None = None,
    wait_for: Mapping[str, str | float] | None = None,
    then: str | Sequence[str] = (),
    race: bool | str | Sequence[str] = False,
    request_id: str | None = None,
    catalog: str | None = None,
    code: str | os.PathLike[str] | None = None,
    yes: bool = False,
    labels: Mapping[str, str] | None = None,
    note: str | None = None,
    notify: str | None = None,
    env: Mapping[str, str | float] | None = None,
    secrets: Mapping[str, str] | None = None,
    max_run: str | float | None = None,
    retries: int | None = None,
    retry_on: Iterable[int] = (),
    replicas: int | None = None,
    job_name: str | None = None,
    **params: str | float | Sequence[str | float],
) -> Job:
    """Submit one job from a template of the catalog and return a handle to it.

    `like`: a job in place of a template, or its name, or a session's run as `session/2`. Its template, kind, code and
    parameters are taken over, and other arguments hold in their place; differences that can't be avoided go to the
    logger.
    `capacity` and `kind`: the command's `--capacity` and `--as`; None takes the template's first that can run.
    `pool`: `cluster/pool`, that one and no other place.
    `team`: the team that the job counts for, as `--team`; None is that of $SLIPWAY_TEAM, where several could be.
    `wait_for`: the time to wait for a capacity type before the next is taken, as `{"pool": "30m"}` or in seconds, in
    that order; 0 for flex-start waits forever.
    `then`: the types after those that are waited for.
    `race`: True, or regions, as `--race`: it waits for machines in all of them at once, and the first that has them
    runs it.
    `request_id`: the name of the submission. Given again with the same parameters it finds the job, and runs nothing
    twice.
    `catalog`: `gs://BUCKET[/NAME]`, else the command's default.
    `code`: a folder, a file or an address, as `--code`.
    `yes`: confirms a cost above the stack's limit for confirmation.
    `labels` and `note`: the job's own, to find it by and to remember what it was for.
    `notify`: the name of a secret, as `--notify`.
    `env`, `secrets`, `max_run`, `retries`, `retry_on`, `replicas` and `job_name`: those of this job alone, as `--env`,
    `--secret`, `--max-run`, `--retries`, `--retry-on`, `--replicas` and `--name`.
    `params`: the template's parameters. One whose name is taken above is written with one more underscore behind it
    (`code_=…`, and `code__=…` for one that is named `code_`).

    With `wait_for` or `race`, and where the template has waits of its own, this returns when the job has started or is
    on its last capacity type. If it is interrupted before that, call it again with the same `request_id` to go on.

    Raises ConfigError, AuthError, ResourceError, PolicyError and AnswerUnknown of `slipway.errors`, as the command
    exits with 2, 3, 4, 5 and 75, and Cancelled for a job that began while it was being given up.
    """
    model = like.resource_name if isinstance(like, Job) else like
    check(like=model, capacity=capacity, pool=pool, kind=kind, team=team, wait_for=wait_for, then=then)
    check(race=race)
    check(request_id=request_id, catalog=catalog, code=code, yes=yes, labels=labels, note=note, notify=notify)
    check(env=env, secrets=secrets, max_run=max_run, retries=retries, retry_on=retry_on, replicas=replicas)
    check(job_name=job_name)
    id_ = checked_request_id(request_id) if request_id is not None else new_request_id()
    context = context_of(catalog)
    if model is None:
        _require_template(template, params)
        check(template=template)
    elif template is not None:
        raise ConfigError(f"template {template!r} beside like", why="that job has its template", fix="leave one out")
    asked = SubmissionRequest(
        template=template or "",
        params=params_as_typed(params),
        capacity_type=capacity,
        pool=pool or "",
        kind=kind,
        team=team or "",
        waits=waits(waits_as_typed(wait_for)),
        then=types(then),
        race=regions(race),
        overrides=overrides_of(labels, note, notify, env, secrets, max_run, retries, retry_on, replicas, job_name),
        arguments=tuple(submit.__kwdefaults__ or ()),
    )
    run = None
    if model is not None:
        asked, run = _like(context, model, asked, own_code=code is not None)

    folder, tree = (run.typed, run.tree) if run and code is None else (code, None)
    return sent(context, asked, folder, id_, tree=tree, yes=yes, repeated=request_id is not None)


def _require_template(template: str | None, params: Mapping[str, object]) -> None:
    """Raise ConfigError for a call without a template, whose argument may be misspelled."""
    if template is not None:
        return
    arguments = ("template", "like")
    for name in params:
        if nearest(name, arguments):
            raise ConfigError(f"unknown argument {name}", fix=meant(name, arguments))
    raise ConfigError(
        "neither a template nor a job to repeat is given",
        why="slipway.submit takes one of them",
        fix="slipway.submit('NAME') or slipway.submit(like='JOB'); slipway templates lists the names",
    )


def sent(
    context: Context,
    asked: SubmissionRequest,
    code: str | os.PathLike[str] | None,
    id_: str,
    *,
    tree: WorkingTree | None = None,
    yes: bool,
    repeated: bool,
) -> Job:
    """Send a submission with the code of a folder, whose files are of a `tree` where that is given. `repeated`: the id
    may have been used before. Raises as `submit`."""

    def plan(asked: SubmissionRequest) -> PreparedSubmission:
        return prepare(context.catalog, asked, context.user, context.team, context.now)

    prepared = with_code(context, asked, code, plan, tell=_log.info, tree=tree)
    again = f"the same call with request_id={id_!r}"
    try:
        submitted = deliver(context, _LogDisplay(yes), prepared, id_, repeated=repeated, again=again)
    except KeyboardInterrupt as stopped:
        stopped.add_note(f"what was sent stays; {again} resumes it")
        raise
    job = submitted.attempt.job
    return Job(job.name, id_, job, submitted.context, job.display_name)


def _like(
    context: Context, name: str, asked: SubmissionRequest, *, own_code: bool
) -> tuple[SubmissionRequest, RunLikeness | None]:
    """Return the request, and the session's run that it is like, if any."""
    from slipway.using.sessions.likeness import run_like
    from slipway.using.submission.like import request_like
    from slipway.using.submission.sent_job import find_sent_job

    find = partial(find_sent_job, context, tell=_log.info)
    run = run_like(context.connection.storage, name, find)
    likeness = request_like(context, run.job if run else find(name), asked, own_code=own_code or bool(run))
    for line in likeness.notes:
        _log.info(line)
    for line in likeness.differences:
        _log.warning("not as it was: %s", line)
    return run.asked(likeness.asked) if run else likeness.asked, run


def _price_words(cost: Price) -> str:
    return UNKNOWN_PRICE if cost.unknown else f"{dollars(cost)} while it runs"


@dataclass(frozen=True)
class _LogDisplay:
    #: Any cost is confirmed.
    yes: bool

    def note(self, text: str) -> None:
        _log.info(text)

    def chosen(self, prepared: PreparedSubmission, choice: Choice) -> None:
        if left := leaving(prepared.catalog, choice):
            _log.info(left)
        taken = choice.taken.candidate
        # Beside the pool somebody pays for it, and a warning is shown where no logging is set up.
        level = logging.INFO if taken.offer.cluster else logging.WARNING
        costs = "" if taken.offer.cluster else f", {_price_words(price(prepared.catalog, taken))}"
        _log.log(level, "%s by %s: %s%s", prepared.template.name, taken.label, choice.taken.verdict.text, costs)
        if total := run_total(prepared.catalog, dearest(prepared.catalog, choice)):
            _log.info(total.words)
        if not choice.taken.candidate.request.job.starts_once:
            _log.info(AT_LEAST_ONCE)
        for line in region_lines(prepared, choice):
            _log.info(line)
        for judged in choice.hopeless:
            _log.info(never_runs(judged))

    def sent(self, submitted: SubmissionResult) -> None:
        job = submitted.attempt.job
        earlier = about_earlier(submitted.request, submitted.attempt)
        _log.info("job %s %s%s", job.display_name, job.name, f", {earlier}" if earlier else "")
        if copies := about_copies(submitted.request, submitted.attempt):
            _log.warning(copies)

    def confirm(self, costs: Spending) -> None:
        if not self.yes:
            raise costs.refusal

    def leaves_pool(self, departure: str) -> None:
        """Ask nothing: a call has no terminal, and `chosen` has logged a warning."""

    def falling_back(self, waiting: WaitingAttempt) -> None:
        _log.info("%s did not start by %s in time: moves on", waiting.job.display_name, waiting.candidate.label)

    @contextmanager
    def watching(self, waiting: WaitingAttempt) -> Iterator[Callable[[Event], None]]:
        yield tell_event
