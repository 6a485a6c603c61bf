"""The files of a change, read from a list of names and from two checkouts, without running any.

The base branch's is the folder that this runs in; the change's own is another one, where there is one.
"""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from slipway.cli.terminal.sources import text_of
from slipway.files import repository
from slipway.review.reach import LAPTOP, PINS, PROSE, counts, included, local_paths, seen_from

if TYPE_CHECKING:
    from slipway.review.change import Files
    from slipway.review.job_code import CodeEdit
    from slipway.review.pins import Pins
    from slipway.review.words import Edit

_SOURCE = Path("slipway", "cli", "review.py")
_NEVER_LOOKED_INTO = (".git", ".slipway", ".venv", "__pycache__", "node_modules")
_LARGEST = 10_000_000
_SEPARATED = re.compile(r"[A-Z]\d*\0")


def files_of(file: str | None, head: str | None, folder: str = "", *, fetch: bool = False) -> Files:
    """Read the list of `git diff --name-status`, with or without `-z`; a bare path counts as touched. `folder`: the
    project's place in the repository. With `fetch`, notes of a pinned wheel are read from its address."""
    from slipway.review.change import NO_FILES, Files
    from slipway.review.rendering.redaction import addresses

    if file is None:
        return NO_FILES
    touched, removed = set(), set()
    for status, paths in _listed(text_of(file)):
        seen = [seen_from(folder.strip("/").removeprefix("./"), path) for path in paths if path]
        touched |= {*seen}
        if status.startswith(("D", "R")) and seen:
            removed.add(seen[0])
    checkout = Path(head or "")
    reached = frozenset(one for folder in {Path.cwd(), checkout.resolve()} for one in _reached(folder))
    touched = {path for path in touched if counts(path, reached)}
    if head and Path(head).resolve() != Path.cwd():
        touched -= {path for path in touched - removed if _same_program(path, Path(head))}
    there = sorted(touched - removed) if head else []
    both = [file for file in there if _beside_base(file, checkout)]
    code, job_code, stacks = _template_code(checkout, there), _job_code(checkout, both), _stack_edits(checkout, both)
    # The diff of a link shows its target, and not the target's contents.
    plain = (one for one in both if not _is_link(checkout, one))
    told = frozenset[str]().union(*(addresses(text_of(one), text_of(str(checkout / one))) for one in plain))
    return Files(
        frozenset(touched),
        frozenset(removed),
        dict(code),
        dict(job_code),
        dict(stacks),
        told,
        _noted(_pins(checkout, PINS), fetch=fetch) if head and any(_is_pins(one, reached) for one in touched) else None,
        _pins(checkout, LAPTOP) if head and LAPTOP in touched else None,
        reached,
        _SOURCE.is_file(),
    )


def _listed(text: str) -> Iterator[tuple[str, list[str]]]:
    """Yield statuses with their paths: of `M\\tpath` and `R100\\told\\tnew`, or of the same between zero bytes."""
    if _SEPARATED.match(text):
        words = iter(text.split("\0")[:-1])
        for status in words:
            yield status, [next(words, "") for _ in range(2 if status.startswith(("R", "C")) else 1)]
        return
    for line in text.splitlines():
        status, *paths = line.split("\t") if "\t" in line else ("M", line.strip())
        yield status, paths


def _is_pins(path: str, reached: Iterable[str]) -> bool:
    return path == PINS or path in reached


def _pins(checkout: Path, file: str) -> Pins | None:
    """Return the pins; None where both sides are one checkout: the earlier ones are unknown."""
    from slipway.review.pins import Pins, read

    if checkout.resolve() == Path.cwd():
        return None
    before, after = (read("\n".join(_requirements(one, Path(file)))) for one in (Path(), checkout))
    return Pins(before, after)


def _noted(pins: Pins | None, *, fetch: bool) -> Pins | None:
    """Add the pinned release's notes."""
    from dataclasses import replace

    from slipway.cli.terminal.wheel_notes import notes

    was, becomes = (pins and pins.slipway) or (None, None)
    if pins is None or becomes is None:
        return pins
    told, why = notes(was, becomes, fetch=fetch)
    return replace(pins, notes=told, unnoted=why)


def _requirements(checkout: Path, file: Path, known: frozenset[Path] = frozenset()) -> Iterator[str]:
    """Yield a file of requirements, and all that it includes. A file outside of the repository is not read."""
    path = checkout / file
    if path.resolve() in known or not _readable(path, checkout):
        return
    text = path.read_text(encoding="utf-8", errors="replace")
    yield text
    for one in included(text):
        yield from _requirements(checkout, file.parent / one, known | {path.resolve()})


def _readable(path: Path, checkout: Path) -> bool:
    try:
        inside = path.resolve().is_relative_to(repository(checkout))
        return inside and path.is_file() and path.stat().st_size < _LARGEST
    except (OSError, ValueError, RuntimeError):
        return False


def _reached(checkout: Path) -> Iterator[str]:
    """Yield the targets of requirements, links and the project's own file, and the files that always count."""
    root = checkout.resolve()
    texts, files = [], [Path(PINS), Path(LAPTOP)]
    for file in files:  # which grows
        if _readable(checkout / file, checkout):
            texts.append((file, (checkout / file).read_text(encoding="utf-8", errors="replace")))
            more = (Path(os.path.normpath(file.parent / one)) for one in included(texts[-1][1]))
            files += [one for one in more if one not in files and not one.is_absolute()]
    yield from (one.as_posix() for one in files[2:])
    for file, text in texts:
        yield from (posixpath.normpath(f"{file.parent.as_posix()}/{one}") for one in local_paths(text) if one[0] != "/")
    for main in filter(None, (_main(checkout / f"Pulumi.{ending}") for ending in ("json", "yaml", "yml"))):
        yield from (one for one in (posixpath.normpath(main),) if one != ".")
    for folder, folders, names in os.walk(root):
        folders[:] = [one for one in folders if one not in _NEVER_LOOKED_INTO]
        for path in (Path(folder, one) for one in (*folders, *names)):
            if path.is_symlink() and path.suffix not in PROSE:
                yield Path(os.path.relpath(path.resolve(), root)).as_posix()


def _main(file: Path) -> str:
    """Return the program's place in the project's file; empty where it has none."""
    import yaml

    try:
        found = yaml.safe_load(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, yaml.YAMLError, RecursionError):
        return ""
    main = found.get("main") if isinstance(found, dict) else None
    return main if isinstance(main, str) else ""


def _beside_base(file: str, checkout: Path) -> bool:
    """Tell whether a file is in the base branch, whose checkout this command runs in, and in the change's own, if that
    is another one. A link to a place outside is not a file of it."""
    root, path = checkout.resolve(), (checkout / file).resolve()
    return root != Path.cwd() and path.is_relative_to(root) and path.is_file() and Path(file).is_file()


def _is_link(checkout: Path, file: str) -> bool:
    return (checkout / file).resolve() != checkout.resolve() / file


def _same_program(file: str, checkout: Path) -> bool:
    """Tell whether a module does the same as the base branch's. Templates and jobs are compared by their
    publications."""
    from slipway.review.job_code import same_program

    if not file.endswith(".py") or file.startswith(("templates/", "jobs/")) or _is_link(checkout, file):
        return False
    try:
        return same_program(*((folder / file).read_text(encoding="utf-8") for folder in (Path(), checkout)))
    except (OSError, ValueError):
        return False


def _template_code(checkout: Path, files: Iterable[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
    from slipway.review.templates.template_code import beyond_declaring

    for file in files:
        if not (file.startswith("templates/") and file.endswith(".py") and (checkout / file).is_file()):
            continue
        if _is_link(checkout, file):
            yield file, ("is a link, and whoever edits what it leads to edits the template",)
        elif does := beyond_declaring(text_of(str(checkout / file))):
            yield file, does


def _stack_edits(checkout: Path, files: Iterable[str]) -> Iterator[tuple[str, tuple[Edit, ...]]]:
    from slipway.review.program import STACK_FILE
    from slipway.review.stack_file import edits

    for file in files:
        if match := STACK_FILE.fullmatch(file):
            yield match[1], edits(text_of(file), text_of(str(checkout / file)))


def _job_code(checkout: Path, files: Iterable[str]) -> Iterator[tuple[str, CodeEdit]]:
    from slipway.review.job_code import edit

    for file in files:
        if file.startswith("jobs/"):
            yield file, edit(file, text_of(file), text_of(str(checkout / file)))
