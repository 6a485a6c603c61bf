"""The templates that a stack names: `dask-digits` is `TEMPLATE` in `templates/dask_digits.py`."""

from __future__ import annotations

import re
import sys
import traceback
from contextlib import redirect_stdout
from pathlib import Path
from runpy import run_path

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
    return tuple(sorted(path.stem.replace("_", "-") for path in folder.glob("*.py") if not path.stem.startswith("_")))


def source(name: str, folder: Path) -> str:
    """Return the place where a loaded template is defined: `templates/dask_digits.py:5`."""
    path = folder / file_of(name)
    lines = enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
    line = next((number for number, text in lines if re.match(r"TEMPLATE\s*[:=]", text)), 1)
    return f"{folder.name}/{path.name}:{line}"


def load(name: str, folder: Path) -> JobTemplate:
    """Return a template. Raises ConfigError, also for any error of its own code."""
    path = folder / file_of(name)
    known = available(folder)
    if name not in known:
        raise ConfigError(
            f"there is no template {quoted(name)}: no file {folder.name}/{short(path.name)}",
            why=f"{folder.name}/ has {', '.join(known) or 'none'}",
            fix=meant(name, known, "write it, or drop the name"),
        )
    try:
        with redirect_stdout(sys.stderr):  # What it prints is no part of a command's result.
            module = run_path(str(path), run_name=f"{folder.name}.{path.stem}")
    except SlipwayError:
        raise
    except (Exception, SystemExit) as error:
        message = f"{type(error).__name__}: {error}".splitlines()[0]
        raise ConfigError(
            f"{folder.name}/{path.name} can't be loaded",
            why=f"line {_line(error, path)}: {message}",
            fix=_meant(error) or f"correct {folder.name}/{path.name}",
        ) from error
    template = module.get("TEMPLATE")
    if not isinstance(template, JobTemplate) or template.name != name:
        defined = f"a template named {template.name!r}" if isinstance(template, JobTemplate) else repr(template)
        raise ConfigError(
            f"{folder.name}/{path.name} does not define template {name!r}",
            why=f"TEMPLATE is {defined}",
            fix=f"TEMPLATE = JobTemplate(name={name!r}, …)",
        )
    return with_pipeline(template, folder.parent)


def _meant(error: BaseException) -> str:
    """Return the field that stands for a misspelled one of a template's class, or the class that has it; empty for
    other errors."""
    unknown, frames = _UNKNOWN.match(str(error)), list(traceback.walk_tb(error.__traceback__))
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
