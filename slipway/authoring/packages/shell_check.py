"""A look at a command's text for a shell before it is sent. Pure."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator
from pathlib import PurePosixPath

from slipway.authoring.packages.command_script import commands, script_for_shell, split
from slipway.base.formatting import join
from slipway.model.catalog.command_line import has_pipe, with_shell

_VARIABLE = re.compile(r"\$(?:[A-Z_][A-Z0-9_]+\b|\{[A-Z_][A-Z0-9_]+\})")
_WITH_VARIABLES = frozenset({"awk", "envsubst", "gawk", "jq", "mawk", "perl", "php", "ruby", "sed"})
"""Programs whose own language has `$NAME`."""
_CONDITION = re.compile(r"\|\||\b(?:if|test|case|for|while|until)\b|\[")
_READS = ("source", ".")
_MAKE_NOTHING = frozenset(
    {"cd", "export", "set", "shopt", "ulimit", "umask", "unset", "trap", "pwd", "nvidia-smi", *_READS}
)
"""Programs that make no file which a later part of a shell's text may read."""
_READ_FILE = re.compile(r"[^{}$*?~]*[./][^{}$*?~]*")
"""A name that a shell looks for in the folder, and not among its programs alone, as `source activate`."""


def masked_failures(command: str) -> Iterator[str]:
    """Yield a line for a pipe whose shell tells the end of its last part alone."""
    script = script_for_shell(command)
    if has_pipe(script) and "pipefail" not in command and "PIPESTATUS" not in script:
        fix = f"bash -o pipefail -c {shlex.quote(script)}"
        yield f"! the job succeeds even if a part of its pipe fails, as the last one alone counts: {fix}"


def literal_variables(command: str) -> Iterator[str]:
    """Yield a line for the variables in a command's words that no shell replaces."""
    words = split(command)
    if script_for_shell(command) or PurePosixPath(next(iter(words), "")).name in _WITH_VARIABLES:
        return
    code = {place + 1 for place, word in enumerate(words) if word in ("-c", "-e")}
    arguments = [word for place, word in enumerate(words) if place not in code]
    if names := dict.fromkeys(name for word in arguments for name in _VARIABLE.findall(word)):
        are = "is" if len(names) == 1 else "are"
        text = " ".join(map(_in_double_quotes, words))
        yield f"! {join(names)} {are} no variable here, as no shell reads the words: {with_shell(text)}"


def _in_double_quotes(word: str) -> str:
    if not _VARIABLE.search(word):
        return shlex.quote(word)
    text = re.sub(r'(["`\\])', r"\\\1", word)
    return f'"{text}"'


def read_by_shell(command: str) -> str:
    """Return the first file that a command's shell surely reads by `source`, from the folder's top; empty for none, and
    for one that an earlier part may make."""
    place = ""
    if _CONDITION.search(script_for_shell(command)):
        return ""
    for words in filter(None, commands(command)):
        named = "".join(words[1:2])
        if words[0] not in _MAKE_NOTHING or ">" in "".join(words):
            return ""
        if words[0] in _READS and _READ_FILE.fullmatch(named):
            return os.path.normpath(PurePosixPath(place, named))
        if words[0] == "cd" and not re.fullmatch(r"[\w./ -]+", named):
            return ""
        place = os.path.join(place, named) if words[0] == "cd" else place  # noqa: PTH118 - no path of this disk
    return ""
