"""The requirements of a job's code, as its requirements.txt lists them. Pure."""

from __future__ import annotations

import codecs
import posixpath
import re
from collections.abc import Collection, Iterator, Mapping

from slipway.base.errors import ConfigError

# A name may stand before it, but no other scheme: `libs/x`, `x.whl`, `x @ ../x`, `file:x`.
_LOCAL = re.compile(
    r"([\w.\[\],\s-]+@\s*)?(file:|(?!\w[\w+.-]*://)(~?[^\s@;<>=!~\[]*/|[^\s@;<>=!]+\.(whl|zip|tar\.gz)(\s|$)))"
)
_OPTION = re.compile(r"^-[\w-]*")
_INDEX = re.compile(r"(-i|--index-url|--extra-index-url)(?:[\s=]\s*(.*))?")
# pip itself trusts plain HTTP on loopback alone.
_ADDRESS = re.compile(r"(https://[\w.-]+(:\d+)?|http://(127\.0\.0\.1|localhost)(:\d+)?)(/[\w.~:/-]*)?")


_FILE = re.compile(r"(-r|--requirement|-c|--constraint)(?:[\s=]\s*(.*))?")
_SSH = re.compile(r"([\w.\[\],\s-]+@\s*)?git\+(ssh://|git@)")
_OF_CONDA = re.compile(r"file://.*/(croot|feedstock_root|conda-bld)/")
_ARCHIVE = re.compile(r"(?:[\w.\[\],\s-]+@\s*)?(?:\./)?((?!\.)[\w./+-]+\.(?:whl|zip|tar\.gz))")
"""An archive below the folder."""
_EDITABLE = re.compile(r"(?:-e|--editable)[\s=]\s*")
_FOLDER = re.compile(
    r"(?:[\w.-]+\s*(?:\[[\w,\s-]*\]\s*)?@\s*)?(?:file:)?(\.|(?!/|~)[\w./-]*/[\w./-]*?)/?(\[[^\]]*\])?(\s*;.*)?"
)
"""A folder below the requirements' own, with its extras."""
CONSTRAINT = "--constraint "
"""The beginning of a line that limits the version of a package, if it is installed."""
CODE = "--code "
"""The beginning of a line that names a project of the folder, whose code the job has already."""


def is_for_launcher(line: str) -> bool:
    """Tell whether a line is pip's alone: an index, a constraint, a hash, which no package's metadata can have."""
    return line.startswith("-") or has_hash(line)


def has_hash(line: str) -> bool:
    """Return whether a line has a hash; such a file lists every package."""
    return " --hash=" in line


def requirement_lines(
    content: bytes, name: str, beside: Mapping[str, bytes] | None = None, folders: Collection[str] = ()
) -> tuple[str, ...]:
    """Return the requirements in the file `name`, and in those of `beside` that it names. A line that names one of the
    `folders` with a project begins with CODE. Raises ConfigError for what no job can install, and for invalid UTF-8."""
    lines = tuple(dict.fromkeys(_file(content, name, beside or {}, (), folders)))
    packages = [line for line in lines if not line.startswith("-")]
    without = [line for line in packages if not has_hash(line)]
    if without and without != packages:
        raise ConfigError(
            f"{name}: {without[0]!r} has no hash, and others have one",
            why="pip takes hashes of all packages or of none, and has none for a repository's commit",
            fix="without any: uv export --no-hashes, or poetry export --without-hashes"
            if "://" in without[0]
            else "give it its version and hash, as uv pip compile --generate-hashes does",
        )
    return lines


def _file(
    content: bytes, name: str, beside: Mapping[str, bytes], above: tuple[str, ...], folders: Collection[str]
) -> Iterator[str]:
    utf_16 = content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    try:
        text = content.decode("utf-16" if utf_16 else "utf-8-sig")
    except UnicodeDecodeError as error:
        raise ConfigError(f"{name} is not valid UTF-8", why=str(error), fix="save it in UTF-8") from error
    for number, line in _read(text, name, folders):
        if not (match := _FILE.fullmatch(line)):
            yield line
            continue
        other = posixpath.normpath(posixpath.join(posixpath.dirname(name), match[2] or ""))
        if not match[2]:
            raise ConfigError(f"{name}:{number}: {match[1]} names no file", fix=f"{match[1]} FILE, in one line")
        if other not in beside:
            raise ConfigError(
                f"{name}:{number}: {match[2]} is not in the folder",
                why="the package of a job holds its own folder alone",
                fix="put it there, or its lines into this file",
            )
        inner = () if other in above else _file(beside[other], other, beside, (*above, name), folders)
        limits = "c" in match[1][:3]
        yield from (f"{CONSTRAINT}{each}" if limits and not each.startswith("-") else each for each in inner)


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


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield lines without comments by their numbers; one that a backslash ends goes on with the next."""
    begun, start = "", 0
    for number, whole in enumerate(text.splitlines(), 1):
        line, start = re.sub(r"(^|\s)#.*", "", whole).strip(), start or number
        if line.endswith("\\"):
            begun += f"{line[:-1].strip()} "
            continue
        yield start, f"{begun}{line}".strip()
        begun, start = "", 0
    if begun:
        yield start, begun.strip()


def _own_folder(line: str, folders: Collection[str]) -> str | None:
    """Return the folder with a project that a line names, with its extras; None for any other line."""
    found = _FOLDER.fullmatch(_EDITABLE.sub("", line.partition(" --hash=")[0], count=1).strip())
    if not found:
        return None
    folder = posixpath.normpath(found[1])
    known = "" if folder == "." else folder
    return f"{folder}{found[2] or ''}" if known in folders else None


def _read(text: str, name: str, folders: Collection[str]) -> Iterator[tuple[int, str]]:
    first = 0
    for number, line in _lines(text):
        place = f"{name}:{number}"
        if own := _own_folder(line, folders):
            yield number, f"{CODE}{own}"
            continue
        if match := _INDEX.fullmatch(line):
            line = _index(match, place, first)
            first = first or (number if line.startswith("--index-url") else 0)
        elif line.startswith("-") and not _FILE.fullmatch(line):
            raise _of_pip(line, place)
        _require_reachable(line, place)
        if line:
            yield number, line


def _index(match: re.Match[str], place: str, first: int) -> str:
    """Return the line of an index; `first` is the line of one in the place of PyPI, 0 for none. Raises ConfigError."""
    extra = "extra" in match[1]
    if not match[2]:
        raise ConfigError(f"{place}: {match[1]} names no index", fix=f"{match[1]} https://HOST/PATH/, in one line")
    if first and not extra:
        raise ConfigError(
            f"{place}: --index-url is on line {first} already",
            why="there is one index in the place of PyPI, and pip would take the last",
            fix="--extra-index-url for the others, from which pip takes packages as well",
        )
    if not _ADDRESS.fullmatch(match[2]):
        raise ConfigError(
            f"{place}: an index is https://HOST/PATH/ alone",
            why="a password, token or query in it would stand in git, in the catalog and in each job's package",
            fix="leave it out, and revoke it if it was pushed: to Artifact Registry a job signs in as its "
            "service account",
        )
    return f"{'--extra-index-url' if extra else '--index-url'} {match[2]}"


def _of_pip(line: str, place: str) -> ConfigError:
    itself = re.fullmatch(r"(-e|--editable)[\s=]\s*\.", line)
    return ConfigError(
        f"{place}: {_OPTION.findall(line)[0]!r} is an option of pip",
        why="a job installs what is named, from PyPI or from --index-url and --extra-index-url",
        fix="leave the line out, as the job has the folder: uv export --no-emit-project writes none"
        if itself
        else "list the requirements themselves",
    )


def _require_reachable(line: str, place: str) -> None:
    """Raise ConfigError for a package that no job can fetch: by ssh, or from a disk."""
    if _SSH.match(line):
        raise ConfigError(
            f"{place}: {line!r} is fetched by ssh",
            why="no job has a key for that",
            fix="git+https://… for a public repository; else publish a wheel of it on an index that the file names",
        )
    what = f"{place}: {line!r} is a file or folder of this machine"
    if _OF_CONDA.search(line):
        fix = f"pip list --format=freeze > {place.rpartition(':')[0].rpartition('/')[2]}"
        raise ConfigError(what, why="pip freeze writes where conda built a package", fix=fix)
    if not _LOCAL.match(line):
        return
    if inner := _ARCHIVE.fullmatch(line):
        raise ConfigError(
            what,
            why="packages are installed before the job has its folder",
            fix=f"leave the line out, and begin the command with it: 'pip install ./{inner[1]} && …'; or publish it on "
            "an index that the file names",
        )
    raise ConfigError(
        what,
        why="no job has it: the package of a job holds its own folder alone",
        fix="put that code into the job's folder, or publish a wheel of it on an index that it names",
    )
