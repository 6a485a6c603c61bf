"""The templates that a stack names: `dask-digits` is `TEMPLATE` in `templates/dask_digits.py`."""

from __future__ import annotations

import re
import signal
import sys
import threading
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from runpy import run_path
from types import FrameType

from slipway.authoring.stack.secrets import has_form
from slipway.authoring.template.declaration import Scheduling, file_of
from slipway.authoring.template.job_template import JobTemplate
from slipway.authoring.template.pipeline import with_pipeline
from slipway.authoring.template.worker_pool import Image, Package, WorkerPool
from slipway.base.errors import ConfigError, SlipwayError
from slipway.base.formatting import join, meant, nearest, quoted, short
from slipway.model.kinds.settings import Study
from slipway.model.machines.spec import Disk

_CLASSES = (JobTemplate, WorkerPool, Image, Package, Disk, Scheduling, Study)
_UNKNOWN = re.compile(r"(\w+)\.__init__\(\) got an unexpected keyword argument '(\w+)'")


def available(folder: Path) -> tuple[str, ...]:
    """Return the names of all templates in a folder, in order."""
    paths = (path for path in folder.glob("[!_]*.py") if path.is_file() and "-" not in path.stem)
    return tuple(sorted(path.stem.replace("_", "-") for path in paths))


def source(name: str, folder: Path) -> str:
    """Return the place where a loaded template is defined: `templates/dask_digits.py:5`."""
    path = folder / file_of(name)
    # Python reads it by the coding that it declares; what is looked for is the same in each.
    lines = enumerate(path.read_bytes().decode(errors="replace").splitlines(), 1)
    line = next((number for number, text in lines if re.match(r"TEMPLATE\s*[:=]", text)), 1)
    return f"{folder.name}/{path.name}:{line}"


def load(name: str, folder: Path) -> JobTemplate:
    """Return a template. Raises ConfigError, also for any error of its own code."""
    path = folder / file_of(name)
    known = available(folder)
    if name not in known:
        dashed = f"{name}.py" in (other.name for other in folder.glob("*-*.py"))
        raise ConfigError(
            f"there is no template {quoted(name)}: no file {folder.name}/{short(path.name)}",
            why=f"{folder.name}/ has {', '.join(known) or 'none'}",
            fix=f"rename {folder.name}/{name}.py to {path.name}"
            if dashed
            else meant(name, known, "write it, or drop the name"),
        )
    interrupts: list[int] = []
    try:
        # What it prints is no part of a command's result.
        with _noting(interrupts), redirect_stdout(sys.stderr):
            module = run_path(str(path), run_name=f"{folder.name}.{path.stem}")
    except SlipwayError:
        raise
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt) and interrupts:
            raise
        text, line = _text(error), _line(error, path)
        message = f"{f'line {line}: ' if line else ''}{type(error).__name__}{f': {text}' if text else ''}"
        raise ConfigError(
            f"{folder.name}/{path.name} can't be loaded",
            why=message,
            fix=_beside(error, folder) or _meant(error, text) or f"correct {folder.name}/{path.name}",
        ) from error
    template = module.get("TEMPLATE")
    if not isinstance(template, JobTemplate) or template.name != name:
        named = f"TEMPLATE is a template named {template.name!r}" if isinstance(template, JobTemplate) else ""
        raise ConfigError(
            f"{folder.name}/{path.name} does not define template {name!r}",
            why=named
            or (f"TEMPLATE is of type {type(template).__name__}" if "TEMPLATE" in module else "it has no TEMPLATE"),
            fix=f"TEMPLATE = JobTemplate(name={name!r}, …)",
        )
    return with_pipeline(template, folder.parent)


@contextmanager
def _noting(interrupts: list[int]) -> Iterator[None]:
    """Note a person's interrupts, which a template's own `raise KeyboardInterrupt` is not."""
    before = signal.getsignal(signal.SIGINT)
    # Other threads get no signals.
    if not callable(before) or threading.current_thread() is not threading.main_thread():
        yield
        return

    def note(number: int, frame: FrameType | None) -> None:
        interrupts.append(number)
        before(number, frame)

    signal.signal(signal.SIGINT, note)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _text(error: BaseException) -> str:
    """Return the first line of an error's text: it is anybody's, and reviews quote it."""
    try:
        text = str(error)
    except Exception:
        return "its text can't be made"
    return "its text is hidden, as it may have a secret" if has_form(text) else next(iter(text.splitlines()), "")


def _beside(error: BaseException, folder: Path) -> str:
    """Return what to do about the import of a file beside a template; empty for other errors."""
    if not isinstance(error, ModuleNotFoundError):
        return ""
    file = f"{(error.name or '').rpartition('.')[2]}.py"
    if not (folder / file).is_file():
        return ""
    return f"a template is one file and imports none beside it: have in it what it takes from {folder.name}/{file}"


def _meant(error: BaseException, text: str) -> str:
    """Return the field that stands for a misspelled one of a template's class, or the class that has it; empty for
    other errors."""
    unknown, frames = _UNKNOWN.match(text), list(traceback.walk_tb(error.__traceback__))
    if not unknown:
        return ""
    known = getattr(frames[-1][0].f_globals.get(unknown[1]), "__dataclass_fields__", ())
    homes = [class_.__name__ for class_ in _CLASSES if unknown[2] in class_.__dataclass_fields__]
    if homes and not nearest(unknown[2], known, cutoff=0.8):
        return f"give `{unknown[2]}=` to {join(homes, 'or')}"
    return meant(unknown[2], known)


def _line(error: BaseException, path: Path) -> int:
    """Return the line of the template's file that an error came from, however deep it was raised."""
    if isinstance(error, SyntaxError) and error.filename == str(path):
        return error.lineno or 0
    frames = traceback.extract_tb(error.__traceback__)
    return next((frame.lineno or 0 for frame in reversed(frames) if frame.filename == str(path)), 0)
