"""Run a command in this folder as a job, and follow it.

\b
  slipway run train.py --lr 0.1
  slipway run --machine n1-standard-8 --env LR=0.1 --max-run 2h -- python train.py
  slipway run -- nvidia-smi
"""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import click

from slipway.authoring.packages.packing import needs_folder, runs_any_folder
from slipway.base.errors import ConfigError
from slipway.base.formatting import join, nearest, quoted
from slipway.front.cli.terminal import completions
from slipway.front.cli.terminal.arguments import SubmitArguments, WaitOptions
from slipway.front.cli.terminal.options import catalog_option, job_options, word_option
from slipway.front.cli.terminal.single_job import submit_one
from slipway.model.catalog.command_line import literal, refusal, with_shell
from slipway.model.catalog.model import Catalog, Template
from slipway.using.context import Context
from slipway.using.submission.request import checked_request_id

_USUAL = "script"
"""The template that `slipway init` brings for it."""


_OWN = ("--dry-run", "--max-run", "--secret")
"""Flags that cost money or tell a secret where they reach the command instead, and that few commands have."""


class _OfACommand(click.Command):
    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        typed = tuple(args)
        rest = super().parse_args(ctx, args)
        words: tuple[str, ...] = ctx.params.get("words") or ()
        explicit = "--" in typed[: len(typed) - len(words)]
        if not explicit and (own := next((flag for flag in _OWN if _has(words, flag)), "")):
            raise ConfigError(
                f"{own} stands behind the command",
                why="flags there are the command's own",
                fix=f"slipway run {own} {words[0]}, or slipway run -- {shlex.join(words)}",
            )
        return rest


def _has(words: tuple[str, ...], flag: str) -> bool:
    return any(word == flag or word.startswith(f"{flag}=") for word in words)


@click.command(cls=_OfACommand, context_settings={"allow_interspersed_args": False})
@click.argument("words", nargs=-1, required=True, type=click.UNPROCESSED, metavar="COMMAND…")
@word_option("--machine", metavar="TYPE", help="The machine, of those that the template has: -p machine=TYPE.")
@job_options
@word_option(
    "--code",
    metavar="DIR",
    default=".",
    shell_complete=click.Path(file_okay=False).shell_complete,
    help="Another folder than this one.",
)
@word_option(
    "--template",
    metavar="NAME",
    shell_complete=completions.templates,
    help="The template that runs it. Default: script, or the only one for any folder.",
)
@click.option("-d", "--detach", is_flag=True, help="Send it, and do not follow it.")
@catalog_option
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
    **flags: Any,
) -> None:
    """`flags` are the other fields of `SubmitArguments`."""
    id_ = checked_request_id(request_id) if request_id is not None else None
    context = Context(flags["catalog"], in_season=True)
    line = command_line(words, Path(code))
    given = (*((f"machine={machine}",) if machine else ()), *params, f"command={line}")
    # A program of the image, as `nvidia-smi` is, runs without the files of whoever types it.
    folder = code if needs_folder(line) or (Path(code) / line).exists() else None
    found = script_template(context.catalog, template, machine)
    typed = SubmitArguments(found.name, params=given, code=folder, **flags)
    follows = not (detach or dry_run)
    ending = WaitOptions(waits=follows, timeout=None, follows=follows)
    submit_one(context, typed, id_, ending, dry_run=dry_run, json=False)


def command_line(words: tuple[str, ...], folder: Path) -> str:
    """Return the command as a parameter has it. One word alone is a line already, for a shell where it needs one, or a
    file of the folder; a Python file is run by Python, and a shell's by bash."""
    alone = len(words) == 1 and not (" " in words[0] and (folder / words[0]).is_file())
    line = words[0] if alone else literal(shlex.join(words))
    first = line.partition(" ")[0] if alone else words[0]
    if first.endswith(".py"):
        line = f"python {line}"
    elif first.endswith(".sh") and "/" not in first:
        line = f"bash {line}"
    return with_shell(line) if alone and refusal(line) else line


def script_template(catalog: Catalog, name: str | None, machine: str | None) -> Template:
    """Return the template of this name, or the usual one, that runs a command in any folder, with a choice of machines
    where one is chosen. Raises ConfigError."""
    found = _template(catalog, name)
    if machine and all(parameter.name != "machine" for parameter in found.parameters):
        raise ConfigError(
            f"{found.name} has no choice of machines",
            why="it has no parameter machine",
            fix=f"slipway templates show {found.name}, which has its machines; leave --machine out",
        )
    return found


def _template(catalog: Catalog, name: str | None) -> Template:
    fitting = {template.name: template for template in catalog.templates.values() if runs_any_folder(template)}
    wanted = name or (_USUAL if _USUAL in fitting or len(fitting) != 1 else next(iter(fitting)))
    if wanted in fitting:
        return fitting[wanted]
    if not fitting:
        raise ConfigError(
            f"no template of stack {catalog.stack} runs a command in a folder of yours",
            why="such a template has SCRIPT as its module and code_flag=True, as templates/script.py of slipway init",
            fix="slipway templates, for what there is to run; or ask the stack's owners for one",
        )
    near = nearest(wanted, fitting) or next(iter(fitting))
    raise ConfigError(
        f"{quoted(wanted)} runs no command in a folder of yours" if name else "several templates run a command",
        why=f"{join(fitting)} {'do' if len(fitting) > 1 else 'does'}",
        fix=f"slipway run --template {near} …",
    )
