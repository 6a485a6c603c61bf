"""Options and arguments that several commands share."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from slipway.base.errors import ConfigError
from slipway.base.formatting import counted, quoted, unfit
from slipway.front.cli.terminal import completions
from slipway.model.own_settings import MOST_RETRIES

if TYPE_CHECKING:
    from slipway.google.jobs import VertexJob
    from slipway.using.context import Context

Command = Callable[..., Any]


class _Word(click.ParamType[str]):
    """Text that is not empty: in a script, empty text is an unset variable."""

    name = "text"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if not str(value).strip():
            self.fail("it is empty; leave it out, or give it a value", param, ctx)
        if wrong := unfit(str(value)):  # For a variable of the environment; typed text was checked before.
            self.fail(f"it {wrong}", param, ctx)
        return str(value)


def _known_variables(_: click.Context, __: click.Parameter, given: tuple[str, ...]) -> tuple[str, ...]:
    """Return the variables as they are typed. Raises ConfigError for a name alone that the shell has no value of."""
    lacking = [name for name in given if "=" not in name and name not in os.environ]
    if lacking:
        raise ConfigError(
            f"{counted(len(lacking), 'variable')} wrong",
            why="\n".join(f"{quoted(name)} is not name=value, and no variable of this shell" for name in lacking),
            fix=f"--env {lacking[0]}=VALUE, or export {lacking[0]}",
        )
    return given


def _exit_codes(_: click.Context, __: click.Parameter, given: str | None) -> tuple[int, ...]:
    words = [word.strip() for word in (given or "").split(",") if word.strip()]
    if wrong := next((word for word in words if not word.isdecimal()), ""):
        raise ConfigError(f"{quoted(wrong)} is no exit code", fix="--retry-on 75,137, for example")
    return tuple(map(int, words))


def _with_unit(_: click.Context, option: click.Parameter, given: str | None) -> str | None:
    """Return a job's or a session's time. People who type a number alone mean minutes as often as hours."""
    if given is not None and given.strip().isdecimal():
        typed = f"{option.opts[0]} {given.strip()}"
        raise ConfigError(
            f"{typed} has no unit", why="a number alone would be seconds", fix=f"{typed}m, {typed}h or {typed}s"
        )
    return given


WORD = _Word()
word_option = partial(click.option, type=WORD)
span_option = partial(click.option, callback=_with_unit)
_CATALOG = "The catalog to use.  [env: SLIPWAY_CATALOG; else slipway use]"
catalog_option = word_option("--catalog", metavar="gs://BUCKET", help=_CATALOG)
folder_option = word_option(
    "--code",
    metavar="CODE",
    default=".",
    shell_complete=click.Path().shell_complete,
    help="Another folder than this one, or a file, an archive, a notebook, gs://…, https://HOST/REPOSITORY.git@COMMIT.",
)
_TIMEOUT = "Stop waiting after 90s, 10m or 2h (exit 9); the job goes on."
timeout_option = click.option("--timeout", metavar="TIME", help=_TIMEOUT)
job_argument = click.argument("job", type=WORD, shell_complete=completions.jobs)


def read_output(_: click.Context, __: click.Parameter, value: str) -> str:
    """Return the value of `--output`, which also says how an error is printed."""
    from slipway.front.cli.terminal import screen

    if value == "json":
        screen.request_json()
    return value


def output_option(command: Command, *, csv: bool = False) -> Command:
    more = "; csv: a row for each, for other programs" if csv else ""
    return click.option(
        "-o",
        "--output",
        type=click.Choice(["table", "json", *(["csv"] if csv else [])]),
        default="table",
        show_default=True,
        is_eager=True,  # An error of another option is printed as this one says.
        callback=read_output,
        help=f"json: one versioned document on stdout, and nothing else there{more}.",
    )(command)


review_output_option = click.option(
    "-o",
    "--output",
    type=click.Choice(["text", "markdown", "json"]),
    default="text",
    show_default=True,
    is_eager=True,
    callback=read_output,
)


def catalog_and_output(command: Command, *, csv: bool = False) -> Command:
    return catalog_option(output_option(command, csv=csv))


catalog_and_output_with_csv = partial(catalog_and_output, csv=True)


def jobs_argument(*, required: bool) -> Callable[[Command], Command]:
    return click.argument(
        "jobs", type=WORD, nargs=-1, required=required, metavar="JOB…", shell_complete=completions.active_jobs
    )


_OF_A_JOB: tuple[Callable[[Command], Command], ...] = (
    click.option(
        "-p",
        "--param",
        "params",
        multiple=True,
        metavar="NAME=VALUE",
        shell_complete=completions.parameters,
        help="A parameter; may be repeated.",
    ),
    word_option(
        "--capacity",
        "capacity_type",
        metavar="TYPE",
        shell_complete=completions.capacity_types,
        help="Where the machines come from. Default: the template's first type that can run.",
    ),
    word_option(
        "--pool", metavar="CLUSTER/POOL", shell_complete=completions.pools, help="This pool and no other place."
    ),
    click.option(
        "--wait-for",
        multiple=True,
        metavar="TYPE=TIME",
        shell_complete=completions.waits,
        help="How long to wait for a capacity type before the next, as in pool=30m; flex-start=0 waits forever.",
    ),
    word_option(
        "--then",
        callback=lambda _, __, value: tuple(name.strip() for name in (value or "").split(",") if name.strip()),
        metavar="TYPE,…",
        shell_complete=completions.then,
        help="The capacity types after those, in order.",
    ),
    word_option(
        "--team", metavar="NAME", help="The team that it counts for: the stack's, or a group that may submit it."
    ),
    click.option("--label", "labels", multiple=True, metavar="KEY=VALUE", help="A label of the job; may be repeated."),
    click.option(
        "-e",
        "--env",
        multiple=True,
        callback=_known_variables,
        metavar="NAME[=VALUE]",
        help="A variable of this job, where your code runs, without a value that of your shell; may be repeated.",
    ),
    click.option(
        "--env-file",
        "env_files",
        multiple=True,
        metavar="FILE",
        shell_complete=click.Path().shell_complete,
        help="Variables of this job, NAME=value in each line, as in .env; --env and --secret come before it.",
    ),
    click.option(
        "--secret",
        "secrets",
        multiple=True,
        metavar="NAME=SECRET",
        help="A variable with a secret of Secret Manager, by its name; may be repeated.",
    ),
    span_option("--max-run", metavar="TIME", help="End it after 90m or 2h: at most the template's own limit."),
    click.option(
        "--retries",
        type=click.IntRange(0, MOST_RETRIES),
        metavar="N",
        help="Run it again where its own code fails, so often at most; never once it is cancelled or over time.",
    ),
    click.option(
        "--retry-on",
        callback=_exit_codes,
        metavar="CODE,…",
        help="With --retries: after these exit codes alone, as 75,137.",
    ),
    click.option(
        "--replicas",
        type=click.IntRange(1),
        metavar="N",
        help="Run your own command on N machines, which find each other by MASTER_ADDR, RANK and WORLD_SIZE.",
    ),
    click.option("--name", metavar="NAME", help="A name of yours, by which lists show it and every verb finds it."),
    click.option("--note", metavar="TEXT", help="What to remember of it: a line that lists show."),
    click.option("--shell", is_flag=True, help="Ask for a shell in its machines: see `slipway jobs open JOB --shell`."),
    click.option(
        "--notify",
        metavar="SECRET",
        help="The secret with the address that the job tells when it starts after a wait, succeeds or fails.",
    ),
    click.option(
        "--yes", is_flag=True, help="Do not ask whether to send what costs much: see slipway:workspace.confirmAbove."
    ),
    click.option("--dry-run", is_flag=True, help="Print the exact request and send nothing."),
    click.option(
        "--request-id", metavar="ID", help="Name this submission: sent again with the same id, it still runs once."
    ),
)


def job_options(command: Command) -> Command:
    """Add the options of a job that is submitted, in their order: the fields of `SubmitArguments`, `dry_run` and
    `request_id`."""
    for option in reversed(_OF_A_JOB):
        command = option(command)
    return command


def found_jobs(context: Context, texts: Sequence[str], *, of_template: bool = True) -> list[VertexJob]:
    """Return each job once, in the order of the names. Raises ResourceError for a missing one."""
    found = (found_job(context, text, of_template=of_template) for text in texts)
    return list({job.name: job for job in found}.values())


def found_job(context: Context, text: str, *, of_template: bool = True) -> VertexJob:
    """Return the job that `find_sent_job` does, and tell which of several was taken. Raises ResourceError."""
    from slipway.front.cli.terminal import screen
    from slipway.using.submission.sent_job import find_sent_job

    return find_sent_job(context, text, of_template=of_template, tell=lambda message: screen.note(f"note: {message}"))


def found_last_attempt(context: Context, text: str) -> VertexJob:
    """Return the job that `last_attempt` does, and tell which was taken. Raises ResourceError."""
    from slipway.front.cli.terminal import screen
    from slipway.using.submission.next_attempt import last_attempt

    return last_attempt(context, text, lambda message: screen.note(f"note: {message}"))
