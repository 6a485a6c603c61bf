"""Mistyped words: an unknown option, a surplus word, and the most likely meaning."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from itertools import pairwise

import click

from slipway.base.formatting import nearest
from slipway.front.cli.terminal.peers import flag_meant
from slipway.model.catalog.template import USUAL_SCRIPT

_EXTRA = re.compile(r"Got unexpected extra arguments? \((.*)\)", re.DOTALL)
_CHOICE = re.compile(r"'(.*)' is not one of ", re.DOTALL)
_ASSIGNMENT = re.compile(r"[a-z][a-z0-9_]*=")

_PROGRAM = re.compile(
    r"python[\d.]*|torchrun|accelerate|deepspeed|ba?sh|uvx?|poetry|mpirun|env|nvidia-smi|.*\s.*|\.{0,2}/.*|.*\.(py|sh|ipynb)",
    re.DOTALL,
)
_NOT_OF_RUN = ("-f", "--follow", "--wait", "--")
"""Words of `slipway submit` that `slipway run` has no use for: it follows the job, and its flags come first."""


def in_words(error: click.UsageError) -> str:
    """Return click's own sentence, and a possible correction. click alone compares the dashes too."""
    command = error.ctx.command if error.ctx else None
    if error.ctx and isinstance(error, click.NoSuchOption):
        return " ".join((error.message, *_meant_by(error.option_name.lstrip("-"), error.ctx)))
    extra = _EXTRA.fullmatch(error.message)
    if command and extra and _takes_parameters(command):
        return f"{error.message}{_as_parameters(extra[1])}"
    return error.format_message()


def fix_of(error: click.UsageError, help: str) -> str:
    """Return the correction of a wrong choice, or of a parameter and its value without a `=`; else `help`, the command
    that lists the choices."""
    if isinstance(error, click.NoSuchOption) and error.option_name == "--stack" and error.ctx:
        return _in_place_of_stack(error.ctx.command, help.removesuffix(" --help")) or help
    of_a_command = error.ctx and not (error.ctx.allow_interspersed_args or isinstance(error.ctx.command, click.Group))
    if isinstance(error, click.NoSuchOption) and error.ctx and of_a_command:
        return _before_command(error.option_name, error.ctx, help)
    option = error.param if isinstance(error, click.BadParameter) else None
    if option and isinstance(option.type, click.Choice) and (wrong := _CHOICE.match(error.message)):
        near = nearest(wrong[1], map(str, option.type.choices))
        given_as = help.removesuffix(" --help") if isinstance(option, click.Argument) else option.opts[-1]
        return f"{given_as} {near}" if near else help
    extra, given = _EXTRA.fullmatch(error.message), error.ctx.params.get("params") if error.ctx else None
    names = [assignment for assignment in given or () if "=" not in assignment]
    values = extra[1].split(" ") if extra else []
    if names and len(names) == len(values):
        pairs = (f"{name}={value}" for name, value in zip(names, values, strict=True))
        return " ".join(f"-p {shlex.quote(pair)}" for pair in pairs)
    return help


def run_meant(context: click.Context, args: Sequence[str]) -> str:
    """Return the `slipway run` that is meant by a template and a command as words of `slipway submit`; empty if these
    words are no command."""
    places = _positional(context.command, args)
    if len(places) < 2:
        return ""
    template, command = args[places[0]], args[places[1] :]
    named = "" if template == USUAL_SCRIPT else f"--template {template}"
    if _ASSIGNMENT.match(command[0]) or (named and not _PROGRAM.fullmatch(command[0])):
        return ""
    if any(before in ("-p", "--param") and "=" not in word for before, word in pairwise(args)):
        return ""  # A parameter's value follows its name.
    flags = [word for place, word in enumerate(args[: places[1]]) if place != places[0] and word not in _NOT_OF_RUN]
    return " ".join(filter(None, ("slipway run", named, shlex.join([*flags, *command]))))


def _positional(command: click.Command, args: Sequence[str]) -> list[int]:
    """Return the places of words that are neither a flag nor the value of a known one, up to an unknown flag."""
    flags = {flag: param for param in command.params if isinstance(param, click.Option) for flag in param.opts}
    places: list[int] = []
    value_follows = only_words = False
    for place, word in enumerate(args):
        if value_follows:
            value_follows = False
        elif word == "--" and not only_words:
            only_words = True
        elif only_words or not word.startswith("-"):
            places.append(place)
        elif word in flags:
            value_follows = not flags[word].is_flag
        elif word.partition("=")[0] not in flags:
            break
    return places


def _before_command(flag: str, context: click.Context, help: str) -> str:
    """Return the correction of an unknown flag that stands before a command of the person's own."""
    name, typed, known = flag.lstrip("-"), help.removesuffix(" --help"), _flags(context.command)
    if _known_elsewhere(name, context):
        return help
    if near := nearest(name, known):
        return f"{typed} {known[near]} …, or {typed} COMMAND {flag} … for the command's own"
    return f"{typed} COMMAND {flag} …, as the command's own flags stand behind it"


def _in_place_of_stack(command: click.Command, typed: str) -> str:
    """Return how a verb without `--stack` is told the stack; empty for one that has none."""
    given = {word for param in command.params for word in (*param.opts, param.name)}
    if given & {"events", "sources"}:
        return f"make events STACK=NAME, then {typed} .slipway/NAME.events"
    return "the stack is that of the catalog: slipway use, or --catalog gs://BUCKET" if "--catalog" in given else ""


def _meant_by(name: str, context: click.Context) -> list[str]:
    """Return a sentence for an unknown option; none without a likely meaning."""
    command = context.command
    flags = _flags(command)
    arguments = [argument.name for argument in command.params if isinstance(argument, click.Argument) and argument.name]
    if meant := _known_elsewhere(name, context):
        return [f"Did you mean {meant}?"]
    near = nearest(name, [*flags, *arguments])
    if near in arguments:
        return [f"Did you mean {near.upper()}, without a flag?"]
    likely = [flags[near]] if near else []
    if _takes_parameters(command) and command.context_settings.get("allow_interspersed_args", True) and len(name) > 1:
        likely.append(f"the parameter -p {name.replace('-', '_')}=VALUE")
    return [f"Did you mean {', or '.join(likely)}?"] if likely else []


def _known_elsewhere(name: str, context: click.Context) -> str:
    """Return what is meant by a flag of another tool, or at `run` by one of `submit`; empty if none is known."""
    command = context.command
    if meant := flag_meant(name, [flag for option in command.params for flag in option.opts]):
        return meant
    if "--code" not in _flags(command).values() or not _takes_parameters(command):
        return ""
    if name == "like":
        return "slipway submit --like JOB"
    root = context.find_root()
    submit = root.command.get_command(root, "submit") if isinstance(root.command, click.Group) else None
    return f"slipway submit script --code . -p command=… --{name}" if submit and name in _flags(submit) else ""


def _flags(command: click.Command) -> dict[str, str]:
    options = [option for option in command.params if isinstance(option, click.Option) and not option.hidden]
    return {flag.lstrip("-"): flag for option in options for flag in option.opts if flag.startswith("--")}


def _as_parameters(words: str) -> str:
    """Return `; did you mean -p workers=3?` Spaces separate words, unless only the whole is an assignment."""
    parts = words.split(" ")
    given = parts if all(map(_ASSIGNMENT.match, parts)) else [words] if _ASSIGNMENT.match(words) else []
    typed = " ".join(f"-p {shlex.quote(assignment)}" for assignment in given)
    return f"; did you mean {typed}?" if typed else ""


def _takes_parameters(command: click.Command) -> bool:
    return any("-p" in option.opts for option in command.params)
