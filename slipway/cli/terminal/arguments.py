"""Options that several commands have, and what `slipway submit` was given: enough to type it again."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from slipway.cli.terminal import completions
from slipway.errors import ConfigError, ResourceError
from slipway.formatting import quoted, seconds, short
from slipway.labels import unfit
from slipway.submission.candidates import SubmissionRequest
from slipway.submission.parameters import assignments, invalid_wait, waits
from slipway.submission.request import RequestOverrides

if TYPE_CHECKING:
    from slipway.cloud.jobs import VertexJob
    from slipway.context import Context


_RUN = re.compile(r"[a-z0-9][a-z0-9-]{0,127}")


@dataclass(frozen=True)
class WaitOptions:
    """The wait for the job's end: `timeout` in seconds, and as it was `typed`."""

    waits: bool
    timeout: float | None
    follows: bool = False
    typed: str = ""

    @classmethod
    def of(cls, *, wait: bool, follow: bool, timeout: str | None, dry_run: bool) -> WaitOptions:
        """Raises ConfigError for flags that do not go together."""
        limit = seconds(timeout) if timeout is not None else None
        if limit is not None and not (wait or follow):
            raise ConfigError(
                "--timeout says how long to wait", why="this command does not wait", fix="add --wait or --follow"
            )
        if dry_run and (wait or follow):
            raise ConfigError("--dry-run sends nothing that could be waited for", fix="leave out --wait and --follow")
        return cls(wait or follow, limit, follow, timeout or "")


@dataclass(frozen=True)
class SubmitArguments:
    """The words after `slipway submit`, those of each flag together."""

    template: str
    params: tuple[str, ...] = ()
    capacity_type: str | None = None
    kind: str | None = None
    wait_for: tuple[str, ...] = ()
    then: tuple[str, ...] = ()
    code: str | None = None
    sweep: str | None = None
    experiment: str | None = None
    experiment_run: str | None = None
    catalog: str | None = None
    yes: bool = False

    @property
    def words(self) -> list[str]:
        """Return the command without what names or confirms this one submission."""
        words = ["slipway", "submit", self.template]
        words += [word for param in self.params for word in ("-p", param)]
        words += [word for one in self.wait_for for word in ("--wait-for", one)]
        words += ["--then", ",".join(self.then)] if self.then else []
        for flag, value in (
            ("--capacity", self.capacity_type),
            ("--as", self.kind),
            ("--code", self.code),
            ("--sweep", self.sweep),
            ("--experiment", self.experiment),
            ("--experiment-run", self.experiment_run),
            ("--catalog", self.catalog),
        ):
            words += [flag, value] if value else []
        return words

    def again(self, request_id: str | None) -> str:
        """Return the command that resumes this submission, or, without its id, the same command."""
        id_, yes = ("--request-id", request_id) if request_id else (), ("--yes",) if self.yes else ()
        return shlex.join([*self.words, *yes, *id_])

    def request(self) -> SubmissionRequest:
        """Raises ConfigError."""
        overrides = RequestOverrides(
            experiment=_run_name("--experiment", self.experiment),
            experiment_run=_run_name("--experiment-run", self.experiment_run),
        )
        given = assignments(self.params)
        return SubmissionRequest(
            self.template, given, self.capacity_type, self.kind, self._waits(), self.then, overrides
        )

    def _waits(self) -> dict[str, float]:
        given: dict[str, str] = {}
        for one in self.wait_for:
            name, equals, time = one.partition("=")
            if not equals:
                raise invalid_wait(one)
            if name in given:
                raise ConfigError(f"--wait-for {short(name)} is given twice", fix="one time for each type")
            given[name] = time
        return waits(given)


def _run_name(flag: str, value: str | None) -> str:
    """Return the name of an experiment or of a run in one, empty when none is given. Raises ConfigError."""
    if value is None:
        return ""
    if not _RUN.fullmatch(value):
        raise ConfigError(
            f"invalid {flag} {quoted(value)}",
            why="lower-case letters, digits and -, at most 128, beginning with a letter or digit",
            fix=f"{flag} baseline-2, for example",
        )
    return value


Command = Callable[..., Any]


class _Word(click.ParamType[str]):
    """Text that is not empty: in a script, empty text is a variable that nobody set."""

    name = "text"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if not str(value).strip():
            self.fail("it is empty; leave it out, or give it a value", param, ctx)
        if wrong := unfit(str(value)):  # Of a variable of the environment; what is typed was looked at before.
            self.fail(f"it {wrong}", param, ctx)
        return str(value)


WORD = _Word()


def catalog_and_output(command: Command) -> Command:
    return click.option(
        "--catalog",
        type=WORD,
        metavar="gs://BUCKET",
        help="The catalog to use.  [env: SLIPWAY_CATALOG; else slipway use]",
    )(output_option(command))


def timeout_option(command: Command) -> Command:
    words = "Stop waiting after 90s, 10m or 2h (exit 9); the job goes on."
    return click.option("--timeout", metavar="TIME", help=words)(command)


def output_option(command: Command) -> Command:
    return click.option(
        "-o",
        "--output",
        type=click.Choice(["table", "json"]),
        default="table",
        show_default=True,
        help="json: one versioned document on stdout, and nothing else there.",
    )(command)


def template_argument(command: Command) -> Command:
    return click.argument("template", type=WORD, shell_complete=completions.templates)(command)


def job_argument(command: Command) -> Command:
    return click.argument("job", type=WORD, shell_complete=completions.jobs)(command)


def jobs_argument(*, required: bool) -> Callable[[Command], Command]:
    return click.argument(
        "jobs", type=WORD, nargs=-1, required=required, metavar="JOB…", shell_complete=completions.active_jobs
    )


def found_jobs(context: Context, texts: Sequence[str], *, of_template: bool = True) -> list[VertexJob]:
    """Return each once, in the order in which they were named. Raises ResourceError for one that is not there."""
    return list(
        {job.name: job for job in (found_job(context, text, of_template=of_template) for text in texts)}.values()
    )


def found_job(context: Context, text: str, *, of_template: bool = True) -> VertexJob:
    """Return the job of this name, number, resource name, request id or, with `of_template`, a template's newest; say
    which of several was taken. Raises ResourceError."""
    from slipway.cli.terminal import screen
    from slipway.jobs.claim import JobGoneError, OtherJobError, original
    from slipway.jobs.finding import find_jobs
    from slipway.jobs.waiting import state_word
    from slipway.labels import label_value

    catalog = context.catalog
    try:
        newest, *namesakes = find_jobs(context.vertex, text, stack=catalog.stack, of_template=of_template)
    except ResourceError as problem:
        if text not in catalog.templates:
            raise
        why = "it is a template, of which there are no jobs yet" if of_template else "it is a template, and no job"
        fix = f"slipway submit {text}" if of_template else f"slipway jobs list --template {text}"
        raise ResourceError(problem.what, why=why, fix=fix) from None
    if newest.display_name != text:
        about = ", ".join(word for word in (newest.user, state_word(newest.state)) if word)
        if newest.template and newest.template == label_value(text):
            screen.note(f"note: {text} is a template; this is its newest job, {newest.display_name} ({about})")
        elif newest.request_id == text:
            screen.note(f"note: {text} is a request; this is its job, {newest.display_name} ({about})")
    if not namesakes:
        return newest
    ran = None
    with suppress(JobGoneError, OtherJobError):
        ran = original(context.vertex, context.connection.storage, newest)
    which = f"{ran.id}, which runs the submission" if ran else f"the newest, {newest.id}"
    screen.note(f"note: {len(namesakes) + 1} jobs are called {text}; this is {which}")
    return ran or newest
