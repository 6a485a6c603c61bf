"""Reads the templates a stack names: `dask-digits` is `TEMPLATE` in `templates/dask_digits.py`."""

from __future__ import annotations

import difflib
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

from slipway.errors import ConfigError
from slipway.template.model import JobTemplate


def load(names: tuple[str, ...], folder: Path) -> tuple[JobTemplate, ...]:
    """The templates in the order of `names`. Raises ConfigError; what a template file raises itself is passed on."""
    return tuple(_load(name, folder) for name in names)


def available(folder: Path) -> tuple[str, ...]:
    """The names of all templates in a folder, in order."""
    return tuple(sorted(path.stem.replace("_", "-") for path in folder.glob("*.py") if not path.stem.startswith("_")))


def _load(name: str, folder: Path) -> JobTemplate:
    path = folder / (name.replace("-", "_") + ".py")
    if not path.is_file():
        known = available(folder)
        close = difflib.get_close_matches(name, known, n=1)
        raise ConfigError(
            f"template {name!r}: no file {folder.name}/{path.name}",
            why=f"{folder.name}/ has {', '.join(known) or 'none'}",
            fix=f"slipway:templates: [{close[0]}]" if close else f"write {folder.name}/{path.name}, or drop the name",
        )
    spec = spec_from_file_location(f"{folder.name}.{path.stem}", path)
    assert spec is not None and spec.loader is not None, "a .py file has a loader"
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    template = getattr(module, "TEMPLATE", None)
    if not isinstance(template, JobTemplate) or template.name != name:
        found = f"a template named {template.name!r}" if isinstance(template, JobTemplate) else repr(template)
        raise ConfigError(
            f"{folder.name}/{path.name} does not define template {name!r}",
            why=f"TEMPLATE is {found}",
            fix=f"TEMPLATE = JobTemplate(name={name!r}, …)",
        )
    return template
