"""Run a command in this folder as a job, and follow it.

\b
  slipway run train.py --lr 0.1
  slipway run --machine n1-standard-8 --env LR=0.1 --max-run 2h -- python train.py
  slipway run -- nvidia-smi
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from slipway.authoring.packages.packing import needs_folder
from slipway.base.errors import ConfigError
from slipway.base.formatting import quoted
from slipway.front.cli.terminal import completions
from slipway.front.cli.terminal.arguments import SubmitArguments, WaitOptions
from slipway.front.cli.terminal.options import catalog_and_output, folder_option, job_options, word_option
from slipway.front.cli.terminal.single_job import submit_one
from slipway.using.context import Context
from slipway.using.submission.own_command import command_line, is_of_project, script_template
from slipway.using.submission.request import checked_request_id

_OWN = (
    "--dry-run",
    "--env-file",
    "--machine",
    "--max-run",
    "--replicas",
    "--request-id",
    "--retry-on",
    "--secret",
    "--wait-for",
)
"""Flags that cost money, tell a secret or end the run where they reach the command instead, and that few commands
have."""

_AS_PARAMETER = "command="


class _OfACommand(click.Command):
    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        typed = tuple(args)
        rest = super().parse_args(ctx, args)
        words: tuple[str, ...] = ctx.params.get("words") or ()
        front = typed[: len(typed) - len(words)]
        if "--" not in front and (own := next((word for word in words if _flag(word)), "")):
            moved, command = _parted(words)
            given = [flag for flag in front if flag == "--dry-run"]
            as_meant = [*front, *(word for word in moved if word not in given), *command]
            raise ConfigError(
                f"{_flag(own)} stands behind the command",
                why="flags there are the command's own",
                fix=f"slipway run {shlex.join(as_meant)}, or slipway run {shlex.join([*front, '--', *words])}",
            )
        return rest


def _parted(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the flags of `slipway run` among the words, with their values, and the command without them."""
    moved: list[str] = []
    command: list[str] = []
    value_follows = False
    for word in words:
        flag = _flag(word)
        if flag or value_follows:
            moved.append(word)
        else:
            command.append(word)
        value_follows = flag == word and flag != "--dry-run"
    return moved, command


def _flag(word: str) -> str:
    """Return the flag of `slipway run` that a word is; empty for none."""
    flag = word.partition("=")[0]
    return flag if flag in _OWN else ""


def _require_one(line: str, params: Sequence[str]) -> None:
    """Raise ConfigError for an empty command, and for one that is given as a parameter, too."""
    if not line.strip():
        raise ConfigError(
            "the command is empty", why="there is nothing to run", fix="slipway run train.py, for example"
        )
    if other := next((param for param in params if param.startswith(_AS_PARAMETER)), ""):
        raise ConfigError(
            f"-p {_AS_PARAMETER}… is given beside the command {quoted(line)}",
            why="a job runs one command, which stands behind the flags of slipway run",
            fix=f"slipway run {shlex.quote(other.removeprefix(_AS_PARAMETER))}, or leave -p {_AS_PARAMETER}… out",
        )


@click.command(cls=_OfACommand, context_settings={"allow_interspersed_args": False})
@click.argument("words", nargs=-1, required=True, type=click.UNPROCESSED, metavar="COMMAND…")
@word_option("--machine", metavar="TYPE", help="The machine, of those that the template has: -p machine=TYPE.")
@job_options
@folder_option
@word_option(
    "--template",
    metavar="NAME",
    shell_complete=completions.templates,
    help="The template that runs it. Default: script, or the only one for any folder.",
)
@click.option("-d", "--detach", is_flag=True, help="Send it, and do not follow it.")
@catalog_and_output
def command(
    *,
    words: tuple[str, ...],
    machine: str | None,
    params: tuple[str, ...],
    code: str,
    template: str | None,
    detach: bool,
    dry_run: bool,
    request_id: str | None,
    output: str,
    **flags: Any,
) -> None:
    """`flags` are the other fields of `SubmitArguments`."""
    id_ = checked_request_id(request_id) if request_id is not None else None
    context = Context(flags["catalog"], in_season=True)
    line = command_line(words, Path(code))
    _require_one(line, params)
    given = (*((f"machine={machine}",) if machine else ()), *params, f"{_AS_PARAMETER}{line}")
    # A program of the image, as `nvidia-smi` is, runs without the files of whoever types it.
    of_folder = needs_folder(line) or (Path(code) / line).exists() or is_of_project(line, Path(code))
    folder = code if of_folder or code != "." else None
    found = script_template(context.catalog, template, machine)
    typed = SubmitArguments(found.name, params=given, code=folder, **flags)
    waits, json = not (detach or dry_run), output == "json"
    ending = WaitOptions(waits=waits, timeout=None, follows=waits and not json)
    submit_one(context, typed, id_, ending, dry_run=dry_run, json=json)
