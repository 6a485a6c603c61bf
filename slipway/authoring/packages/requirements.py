"""The requirements of a job's code, as its requirements.txt lists them. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from slipway.base.errors import ConfigError

# A name may stand before it, but no other scheme: `libs/x`, `x.whl`, `x @ ../x`, `file:x`.
_LOCAL = re.compile(
    r"([\w.\[\],\s-]+@\s*)?(file:|(?!\w[\w+.-]*://)(~?[^\s@;<>=!~\[]*/|[^\s@;<>=!]+\.(whl|zip|tar\.gz)(\s|$)))"
)


def requirement_lines(content: bytes, name: str) -> tuple[str, ...]:
    """Return the requirements in the file `name`. Raises ConfigError for what no job can install, and for invalid
    UTF-8."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ConfigError(f"{name} is not valid UTF-8", why=str(error), fix="save it in UTF-8") from error
    return tuple(_read(text, name))


def _read(text: str, name: str) -> Iterator[str]:
    for number, whole in enumerate(text.splitlines(), 1):
        line = re.sub(r"(^|\s)#.*", "", whole).strip()
        if line.startswith("-"):
            raise ConfigError(
                f"{name}:{number}: {line!r} is an option of pip",
                why="the requirements become the package's install_requires, which takes requirements only",
                fix="list the requirements themselves",
            )
        if _LOCAL.match(line):
            raise ConfigError(
                f"{name}:{number}: {line!r} is a file or folder of this machine",
                why="no job has it: the package of a job holds its own folder alone",
                fix="put that code into the job's folder, or publish a wheel of it and name that",
            )
        if line:
            yield line
