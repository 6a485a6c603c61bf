"""A file of variables, as Docker and dotenv read one: `NAME=value` in each line. Pure but for `read_env_files`."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path

from slipway.base.errors import ConfigError
from slipway.base.formatting import counted, quoted

_VALUE = r"""(?P<value>"(?:[^"\\]|\\.)*"|'[^']*'|[^"'].*?|)"""
_LINE = re.compile(rf"(?:export\s+)?(?P<name>[^\s=#]+)(?P<given>\s*=(?:\s+#.*|\s*{_VALUE}(?:\s+#.*)?))?")
_MEANT = {"n": "\n", "t": "\t", "r": "\r"}
_ESCAPED = re.compile(r"\\(.)")
_EXPANSION = re.compile(r"(?<!\\)\$(?:\w|\{)")


def read_env_files(files: Iterable[str], besides: Collection[str], environ: Mapping[str, str]) -> dict[str, str]:
    """Return the variables of all files but those `besides`; of a name in two files the later has the value, and one
    without a value has that of `environ`. Raises one ConfigError with all lines that can't be read."""
    values: dict[str, str] = {}
    for file in files:
        try:
            text = Path(file).read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError) as problem:
            why = getattr(problem, "strerror", None) or "it is not valid UTF-8"
            raise ConfigError(f"can't read {quoted(file)}", why=why, fix="--env-file .env, for example") from problem
        wrong: list[str] = []
        values |= dict(_variables(text, environ, wrong))
        if wrong:
            raise ConfigError(
                f"{file}: {counted(len(wrong), 'line')} wrong",
                why="\n".join(wrong),
                fix="NAME=value in each line; single quotes keep a value as it is",
            )
    return {name: value for name, value in values.items() if name not in besides}


def _variables(text: str, environ: Mapping[str, str], wrong: list[str]) -> Iterator[tuple[str, str]]:
    """Yield names and values; `wrong` is given a sentence for each line that is none, which repeats no value."""
    for number, line in enumerate(map(str.strip, text.splitlines()), 1):
        if not line or line.startswith("#"):
            continue
        found = _LINE.fullmatch(line)
        if not found:
            wrong.append(f"line {number} is not NAME=value, or its quotes stay open")
            continue
        name, value = found["name"], found["value"] or ""
        if not found["given"] and name not in environ:
            wrong.append(f"line {number}: {quoted(name)} has no value, and is no variable of this shell")
        elif not value.startswith("'") and _EXPANSION.search(value):
            wrong.append(f"line {number}: {name} names another variable, which nothing fills in here")
        else:
            yield name, _unquoted(value) if found["given"] else environ[name]


def _unquoted(value: str) -> str:
    if value.startswith('"'):
        return _ESCAPED.sub(lambda escaped: _MEANT.get(escaped[1], escaped[1]), value[1:-1])
    return value[1:-1] if value.startswith("'") else value
