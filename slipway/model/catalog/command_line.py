"""A command as a parameter's value. It is split into words as a shell would, but no shell reads it. `{name}` in a word
stands for another parameter, declared or not, whose value stays within that word; `{{name}}` is the text `{name}`.
Names are those of options and settings too: `{learning-rate}`, `{optim.lr}`."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping
from itertools import islice, pairwise

from slipway.model.catalog.parameter_types import Typed
from slipway.model.catalog.placeholders import joined
from slipway.model.catalog.shell_script import FREE, NAME, filled_script, script_follows

_PART = re.compile(r"""'[^']*'|"(?:\\.|[^"\\])*"|\\.|[^'"\\]+|.""", re.DOTALL)
"""What a shell reads in one way: text in quotes, a character behind a backslash, and plain text."""
_WORD = re.compile(r"""(?:'[^']*'|"(?:\\.|[^"\\])*"|\\.|[^ \t\r\n'"\\])+""", re.DOTALL)
_EXPANSION = re.compile(r"\$(?:[A-Za-z_]\w*|\{[^}]*\}?|\()|`")
_OPERATOR = re.compile(rf"&&|\|\||>>|<<|[|&;<>]|{_EXPANSION.pattern}")
_PIPE = re.compile(r"(?<![|>])\|(?!\|)")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_BUILTINS = re.compile(
    r"[!.{]|\[\[|alias|case|cd|command|declare|eval|exec|exit|export|for|function|hash|if|popd|pushd|readonly|set|shift"
    r"|shopt|source|time|trap|type|typeset|ulimit|umask|unalias|unset|until|wait|while"
)
"""First words that a shell has without a program of that name."""


def unreadable(text: str) -> str:
    """Return why a text can't be split into words, or an empty string."""
    try:
        shlex.split(text)
    except ValueError as error:
        return str(error).lower()
    return "a backslash at the end of a line" if "\\\n" in _PART.findall(text) else ""


def refusal(text: str) -> str:
    """Return why a text is no command that can be run without a shell, or an empty string."""
    if wrong := unreadable(text):
        return f"can't be split into words: {wrong}"
    for part in _PART.findall(_without_scripts(text)):
        # A shell reads nothing in single quotes or behind a backslash, and only expansions in double quotes.
        syntax = {"'": None, "\\": None, '"': _EXPANSION}.get(part[0], _OPERATOR)
        if syntax and (for_shell := syntax.search(re.sub(r"\\.", "", part))):
            return f"has {for_shell[0]} for a shell, and no shell reads it"
    if assigned := _ASSIGNMENT.match(text.lstrip()):
        return f"begins with {assigned[0]}… for a shell, and no shell reads it"
    if _BUILTINS.fullmatch(first := next(iter(shlex.split(text)), "")):
        return f"begins with {first}, which only a shell has, and no shell reads it"
    return ""


def _without_scripts(text: str) -> str:
    """Return a command without the texts in double quotes that a shell of the command reads itself, as the last word of
    `bash -c "echo $RANK"`."""
    words = [*_WORD.finditer(text)]
    kept, end = [], 0
    for before, word in pairwise(words):
        if word[0].startswith('"') and script_follows(shlex.split(text[: before.end()])):
            kept.append(text[end : word.start()])
            end = word.end()
    return "".join([*kept, text[end:]])


def with_shell(text: str) -> str:
    """Return the command that has a shell read a text; one with a pipe fails if any part of the pipe does."""
    options = "-o pipefail -c" if has_pipe(text) else "-c"
    return f"bash {options} {shlex.quote(text)}"


def has_pipe(text: str) -> bool:
    """Tell whether a shell's text has a pipe outside of quotes."""
    return any(_PIPE.search(part) for part in _PART.findall(text) if part[0] not in "'\"\\")


def can_name(name: str) -> bool:
    """Tell whether a command can name a parameter of that name."""
    return re.fullmatch(NAME, name) is not None


def program(text: str) -> tuple[str, ...]:
    """Return the program that a command runs, without its options: `python`, `train.py` of `python -u train.py --lr 1`;
    all words of a shell's text."""
    words = [] if unreadable(text) else shlex.split(text)
    if not words or words[1:2] == ["-c"] or words[1:4] == ["-o", "pipefail", "-c"]:
        return tuple(words)
    named = (word for before, word in pairwise(words) if before == "-m" or word.endswith((".py", ".sh")))
    return (words[0], *islice(named, 1))


def names(text: str) -> tuple[str, ...]:
    """Return the parameters that a command names, each once."""
    return tuple(dict.fromkeys(name for _, name in FREE.findall(text) if name))


def filled(text: str, values: Mapping[str, Typed]) -> str:
    """Return a command with the values of the parameters that it names, as a text that is split into the same words; a
    word that is a list's name becomes a word for each item. Raises KeyError for a name without a value."""
    if not FREE.search(text):
        return text
    parts: list[str] = []
    words = shlex.split(text)
    for place, word in enumerate(words):
        if script_follows(words[:place]):
            parts.append(filled_script(word, values))
        else:
            parts += _words(word, values)
    return shlex.join(parts)


def _words(word: str, values: Mapping[str, Typed]) -> Iterable[str]:
    whole = FREE.fullmatch(word)
    value = values[whole[2]] if whole and whole[2] else ""
    if isinstance(value, tuple):
        return value
    return (FREE.sub(lambda match: f"{{{match[1]}}}" if match[1] else joined(values[match[2]]), word),)
