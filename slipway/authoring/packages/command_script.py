"""The script and the modules that a command starts, also in the text that it hands to a shell. Pure."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator
from itertools import pairwise
from pathlib import PurePosixPath

_SCRIPT = re.compile(r"[^{}$*?]+\.(py|sh|ipynb)")
_INTERPRETERS = re.compile(r"(python[\d.]*|bash|sh|torchrun)")
_OF_OWN = re.compile(r"<<|\b(?:install|curl|wget|alias|source|PATH=|function)\b|^\s*\.\s|\(\)", re.MULTILINE)
"""Signs of a script that brings programs, defines them, or has text of another language."""
_CONDITION = re.compile(r"\|\||&&|^\s*(?:#|if|elif|while|until|for|case|\[|test\b)")
SEPARATOR = re.compile(r"&&|\|\||[|;&\n]")
"""Parts the commands of a shell's text."""
_PARTS = re.compile(r"(?:'[^']*'|\"(?:\\.|[^\"\\])*\"|\\.|>&|&>|[^|;&\n'\"\\])+|[|;&\n'\"\\]+", re.DOTALL)
"""A command of a shell's text, with its redirections, or what separates two."""
_SHELLS = frozenset({"bash", "sh"})
MAKERS = frozenset(
    {"git", "cp", "mv", "ln", "cat", "curl", "wget", "tar", "unzip", "gsutil", "gcloud", "aws", "jupyter"}
)
"""Programs that make the files that a later part of a shell's text starts."""


def script_of(command: str) -> str:
    """Return the first script that a command starts, from the folder's top; empty for none, and for one that an earlier
    part of a shell's text makes."""
    place, before = "", ""
    for words in commands(command):
        program, rest = next(iter(words), ""), " ".join(words)
        if name := _started(words):
            return "" if PurePosixPath(name).name in before else os.path.normpath(PurePosixPath(place, name))
        if program in MAKERS or (program == "cd" and not re.fullmatch(r"[\w./ -]+", rest)):
            return ""
        place = os.path.join(place, *words[1:2]) if program == "cd" else place  # noqa: PTH118 - no path of this disk
        before += rest
    return ""


def commands(command: str) -> Iterator[list[str]]:
    """Yield the words of a command, and of each command in the text that it hands to a shell."""
    words = split(command)
    if script := _handed_to_shell(words):
        for part in SEPARATOR.split(script):
            yield from commands(part)
    else:
        yield words


def texts(command: str) -> list[str]:
    """Return the parts of a command as they are written, with what separates them, each in its place: joined they are
    the text that a shell is handed, or the command itself."""
    return _PARTS.findall(script_for_shell(command) or command)


def script_for_shell(command: str) -> str:
    """Return the text that a command hands to a shell; empty for none."""
    return _handed_to_shell(split(command))


def split(command: str) -> list[str]:
    """Return the words of a command; none where a quote is open."""
    try:
        return shlex.split(command)
    except ValueError:
        return []


def _handed_to_shell(words: list[str]) -> str:
    flag = next((place for place, word in enumerate(words) if re.fullmatch(r"-[a-z]*c", word)), 0)
    is_for_shell = flag and words[0] in _SHELLS
    return "".join(words[flag + 1 : flag + 2]) if is_for_shell else ""


def commands_of_script(content: bytes) -> Iterator[list[str]]:
    """Yield the words of each command that a script for a shell surely runs: none that is indented, as those in a
    condition or a loop are, or has an alternative; and none of a script that makes or finds programs of its own."""
    text = content.decode(errors="replace").replace("\\\n", " ")
    if _OF_OWN.search(text):
        return
    for line in text.splitlines():
        words = [] if line[:1].isspace() or _CONDITION.search(line) else [*commands(f"sh -c {shlex.quote(line)}")]
        yield from filter(None, words)


def modules_of(command: str) -> list[str]:
    """Return the modules that a command runs by `-m`."""
    return [name for words in commands(command) for flag, name in pairwise(words) if flag == "-m"]


def _started(words: list[str]) -> str:
    """Return the script that a command starts; empty for none."""
    if words[:1] and _SCRIPT.fullmatch(words[0]) and re.search(r"[/\\]|ipynb$", words[0]):
        return str(PurePosixPath(words[0]))
    if not words[:1] or not _INTERPRETERS.fullmatch(PurePosixPath(words[0]).name):
        return ""
    place = next((place for place, word in enumerate(words) if place and not word.startswith("-")), 0)
    takes_no_file = not place or {"-m", "-c"} & {*words[:place]}
    return str(PurePosixPath(words[place])) if not takes_no_file and _SCRIPT.fullmatch(words[place]) else ""
