"""The requirements of a job's code, as its requirements.txt lists them. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from slipway.base.errors import ConfigError

# A name may stand before it, but no other scheme: `libs/x`, `x.whl`, `x @ ../x`, `file:x`.
_LOCAL = re.compile(
    r"([\w.\[\],\s-]+@\s*)?(file:|(?!\w[\w+.-]*://)(~?[^\s@;<>=!~\[]*/|[^\s@;<>=!]+\.(whl|zip|tar\.gz)(\s|$)))"
)
_OPTION = re.compile(r"^-[\w-]*")
_INDEX = re.compile(r"(-i|--index-url|--extra-index-url)(?:[\s=]\s*(.*))?")
# pip itself trusts plain HTTP on loopback alone.
_ADDRESS = re.compile(r"(https://[\w.-]+(:\d+)?|http://(127\.0\.0\.1|localhost)(:\d+)?)(/[\w.~:/-]*)?")


def names_index(line: str) -> bool:
    """Tell whether a line of the requirements names an index, and not a package."""
    return line.startswith("-")


def requirement_lines(content: bytes, name: str) -> tuple[str, ...]:
    """Return the requirements in the file `name`. Raises ConfigError for what no job can install, and for invalid
    UTF-8."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ConfigError(f"{name} is not valid UTF-8", why=str(error), fix="save it in UTF-8") from error
    return tuple(_read(text, name))


def together(files: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """Return the requirements of several files, a line of two once. Raises ConfigError where two files differ about a
    package or the index, of which pip would refuse one or take the last."""
    known: dict[str, tuple[str, tuple[str, ...]]] = {}
    every: tuple[str, ...] = ()
    for file, lines in files.items():
        by_name: dict[str, tuple[str, ...]] = {}
        for line in lines:
            name = line if line.startswith("--extra") else re.split(r"[^\w-]", line)[0].lower().replace("_", "-")
            by_name[name] = (*by_name.get(name, ()), line)
        for name, own in by_name.items():
            other, theirs = known.setdefault(name, (file, own))
            if theirs != own:
                raise ConfigError(
                    f"{file} and {other} differ about {name}",
                    why=f"{', '.join(own)} in one, {', '.join(theirs)} in the other, and both are packed",
                    fix="write the same lines in both, or leave them to one of the files",
                )
        every += tuple(line for line in lines if line not in every) if every else lines
    return every


def _read(text: str, name: str) -> Iterator[str]:
    first = 0
    for number, whole in enumerate(text.splitlines(), 1):
        line = re.sub(r"(^|\s)#.*", "", whole).strip()
        if match := _INDEX.fullmatch(line):
            extra = "extra" in match[1]
            if not match[2]:
                raise ConfigError(
                    f"{name}:{number}: {match[1]} names no index", fix=f"{match[1]} https://HOST/PATH/, in one line"
                )
            if first and not extra:
                raise ConfigError(
                    f"{name}:{number}: --index-url is on line {first} already",
                    why="there is one index in the place of PyPI, and pip would take the last",
                    fix="--extra-index-url for the others, from which pip takes packages as well",
                )
            first = first if extra else number
            if not _ADDRESS.fullmatch(match[2]):
                raise ConfigError(
                    f"{name}:{number}: an index is https://HOST/PATH/ alone",
                    why="a password, token or query in it would stand in git, in the catalog and in each job's package",
                    fix="leave it out, and revoke it if it was pushed: to Artifact Registry a job signs in as its "
                    "service account",
                )
            line = f"{'--extra-index-url' if extra else '--index-url'} {match[2]}"
        elif line.startswith("-"):
            raise ConfigError(
                f"{name}:{number}: {_OPTION.findall(line)[0]!r} is an option of pip",
                why="a job installs what is named, from PyPI or from --index-url and --extra-index-url",
                fix="list the requirements themselves",
            )
        if _LOCAL.match(line):
            raise ConfigError(
                f"{name}:{number}: {line!r} is a file or folder of this machine",
                why="no job has it: the package of a job holds its own folder alone",
                fix="put that code into the job's folder, or publish a wheel of it on an index that it names",
            )
        if line:
            yield line
