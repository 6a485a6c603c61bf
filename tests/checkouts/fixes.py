"""The commands of `slipway` in what an error says to type, parsed by the verbs that they name."""

import re
import shlex
from collections.abc import Iterator

import click

from slipway.front.cli import slipway

_BEGIN = re.compile(r"(?<![.\w])slipway (?=[a-z])")
_END = re.compile(r"\n|  +|[;,] |,$| [(→|]|\)|: |\.(?=\s|$)|`| or (?=slipway)| and (?=[a-z])")
_QUOTED = re.compile(r"(?<= )(?:'[^'\n]*'|\"[^\"\n]*\")+(?= |$)", re.MULTILINE)
_PROSE = re.compile(r"(?!-)[A-Za-z',-]*[a-z]")
_FIX = re.compile(r"^  fix: (.*(?:\n {7}.*)*)", re.MULTILINE)
_PLACEHOLDER = "…"


def wrong_fixes(said: str) -> list[str]:
    """Return the commands in the fixes of an error as it is printed that no verb takes, each with the reason."""
    return [wrong for fix in _FIX.findall(said) for wrong in wrong_commands(fix)]


def wrong_commands(text: str) -> list[str]:
    return [f"slipway {command}: {problem}" for command in commands(text) if (problem := problem_of(command))]


def commands(text: str) -> Iterator[str]:
    """Yield the words after each `slipway`, as far as they can be a command: a sentence may go on behind it."""
    for begin in _BEGIN.finditer(text):
        rest = text[begin.end() :]
        end = _END.search(_QUOTED.sub(lambda quoted: "_" * len(quoted[0]), rest))
        yield (rest[: end.start()] if end else rest).strip()


def problem_of(command: str) -> str:
    """Return why a verb does not take a command, empty where it does, with or without the last words of a sentence."""
    words = _words(command)
    problem = last = _parsed(words)
    while last and len(words) > 1 and (words[-1] == _PLACEHOLDER or _PROSE.fullmatch(words[-1])):
        words = words[:-1]
        last = _parsed(words)
    return problem if last else ""


def _words(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError:  # A quotation mark of the sentence.
        return command.replace("'", "").replace('"', "").split()


def _parsed(words: list[str]) -> str:
    command: click.Command = slipway
    context = click.Context(slipway, info_name="slipway")
    rest = list(words)
    while isinstance(command, click.Group):
        name = rest[0] if rest else ""
        known = command.get_command(context, name) if name and not name.startswith("-") else None
        if known is None:
            if command.invoke_without_command and (not name or name.startswith("-")):
                break
            return "" if name == "--help" else f"unknown verb {name!r}"
        context = click.Context(known, parent=context, info_name=name, **known.context_settings)
        command, rest = known, rest[1:]
    return "" if rest == ["--help"] else _of_verb(command, context, rest)


def _of_verb(command: click.Command, context: click.Context, rest: list[str]) -> str:
    try:
        given, extra, _ = command.make_parser(context).parse_args(list(rest))
    except click.UsageError as error:
        return error.format_message()
    if extra and not isinstance(command, click.Group):
        return f"unexpected {extra}"
    for param in command.params:
        value = given.get(param.name)
        if isinstance(param, click.Argument) and param.required and not (isinstance(value, str | tuple) and value):
            return f"{param.name} is missing"
        if isinstance(value, str) and not value.isupper() and value not in getattr(param.type, "choices", (value,)):
            return f"{param.name} can't be {value!r}"
    return ""
