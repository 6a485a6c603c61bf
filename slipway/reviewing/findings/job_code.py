"""Edited code of jobs, for each template that uses it. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import Any

from slipway.answers.comparison import Comparison
from slipway.base.formatting import few
from slipway.model.catalog.placeholders import placeholder, render
from slipway.model.catalog.template import Offer, Template
from slipway.model.findings.finding import Finding, Grade, Subject
from slipway.model.findings.kinds import KINDS
from slipway.model.labels import Launched
from slipway.model.rules.study import every
from slipway.reviewing.change.files import Files, Sides, printable
from slipway.reviewing.change.lines import changed_lines, is_harmless

KIND = KINDS["job-code-changed"]
_WITHOUT_EFFECT = re.compile(
    r"(.*/)?(test_[^/]*|[^/]*_test\.py|conftest\.py|tests/.*|.*\.(md|lock|py[co]|sw[op])|requirements[^/]*|\.gitignore|.*~"
    r"|\.DS_Store|(__pycache__|[^/]*\.egg-info|\.(pytest_cache|mypy_cache|ruff_cache|ipynb_checkpoints))/.*)",
    re.DOTALL,
)
"""Tests, notes, and files that tools generate, which no package has."""
_FLAG = re.compile("--")
_FOLDER = re.compile(r"""["'](jobs/[\w.-]+)""")
_MOST_DETAILS = 60


@dataclass(frozen=True)
class Start:
    """The start of a package's module by an offer."""

    module: str
    #: The known values of arguments that have the form `--name=value`, by name.
    values: Mapping[str, list[str]]
    #: The number of arguments.
    count: int


def tasks(template: Template) -> Iterator[Mapping[str, Any]]:
    """Yield the package or container of each worker pool."""
    for offer in template.offers:
        yield from _tasks(offer)


def _tasks(offer: Offer) -> Iterator[Mapping[str, Any]]:
    for pool in offer.worker_pools:
        yield {**pool.get("pythonPackageSpec", {}), **pool.get("containerSpec", {})}


def starts(template: Template) -> Iterator[Start]:
    for offer in template.offers:
        searched = every(offer.request.get("studySpec", {}).get("parameters"))
        trials = [f"--{parameter.get('parameterId')}" for parameter in searched]
        for task in _tasks(offer):
            usual = Launched(str(task.get("pythonModule", "")), list(task.get("args", ())), [])
            launched = Launched.of(task) or usual
            if launched.module:
                arguments = [*map(str, launched.arguments), *trials]
                yield Start(launched.module, _values(arguments, template, offer), len(arguments))


def _values(arguments: list[str], template: Template, offer: Offer) -> Mapping[str, list[str]]:
    """Return the values of arguments: for a parameter, its choices or its default."""
    known: dict[str, Sequence[Any]] = {}
    for parameter in template.parameters:
        known[placeholder(parameter.name)] = parameter.choices or (parameter.default,)
    for name, values in offer.when.items():
        known[placeholder(name)] = values
    found: dict[str, list[str]] = {}
    for argument in filter(_FLAG.match, arguments):
        name, _, value = argument.partition("=")
        found.setdefault(name, []).extend(map(render, known.get(value, (value,))))
    return found


def source_file(template: Template) -> str:
    """Return the path of the file that declares it."""
    return template.source.partition(":")[0] or f"templates/{template.name.replace('-', '_')}.py"


def folders(template: Template, code: Mapping[str, str]) -> tuple[str, ...]:
    """Return the folders of its code, such as `jobs/lora/`; none if its code is not in the repository."""
    found = {f"jobs/{start.module.partition('.')[0]}/" for start in starts(template)}
    # The module that starts a script does not name its folder.
    named = (*(template.shared or ()), *_FOLDER.findall(code.get(source_file(template), "")))
    found.update(f"jobs/{name.removeprefix('jobs/').rstrip('/')}/" for name in named)
    return tuple(sorted(found))


def changed_job_code(comparison: Comparison, files: Files) -> Iterator[Finding]:
    for name in comparison.new.templates.keys() & comparison.old.templates.keys():
        yield from _changed(comparison, files, comparison.old.templates[name], comparison.new.templates[name])


def _changed(comparison: Comparison, files: Files, old: Template, new: Template) -> Iterator[Finding]:
    subject = Subject("template", new.name)
    own = tuple(f"gs://{catalog.catalog_bucket}/" for catalog in (comparison.new, comparison.old))
    is_other = new.package not in ("", old.package)
    edited = _edited(old, new, files)
    modules = [sorted({start.module for start in starts(template)}) for template in (old, new)]
    if is_other and not new.package.startswith(own):
        sentence = f"runs the package `{new.package}`, which is not built from this repository"
        yield KIND.of(subject, sentence, "use code=Package(…)", grade=Grade.BLOCKING)
    elif edited:
        details = chain.from_iterable(changed_lines(path, files.texts.get(path, Sides())) for path in edited)
        shown = few(f"`{printable(path)}`" for path in edited)
        finding = KIND.of(subject, f"new jobs run edited code: {shown}", files=len(edited))
        yield replace(finding, details=tuple(islice(details, _MOST_DETAILS)))
    elif modules[0] != modules[1] and all(modules) and not _is_same_code(old, new, files):
        before, after = (few(f"`{module}`" for module in side) for side in modules)
        yield KIND.of(subject, f"new jobs run other code: module {after} instead of {before}")
    elif is_other and not files.touched:
        yield KIND.of(subject, "new jobs run another package of code; its files are not known")


def _edited(old: Template, new: Template, files: Files) -> list[str]:
    """Return the touched files of its code that can change what jobs do."""
    roots = (*folders(new, files.code), *folders(old, files.code_before))
    moved = _moved(files)
    found = []
    for path in sorted(files.touched - moved):
        sides = files.texts.get(path)
        is_used = path.startswith(roots) and not _WITHOUT_EFFECT.fullmatch(path)
        if is_used and not (sides and is_harmless(path, sides)):
            found.append(path)
    return found


def _is_same_code(old: Template, new: Template, files: Files) -> bool:
    """Return whether its folders have other names and the same files."""
    before = _by_place(folders(old, files.code_before), files.code_before)
    return before != {} and before == _by_place(folders(new, files.code), files.code)


def _by_place(roots: tuple[str, ...], code: Mapping[str, str]) -> dict[str, str]:
    """Return the texts by their paths within the folders."""
    return {path.split("/", 2)[-1]: text for path, text in code.items() if text and path.startswith(roots)}


def _moved(files: Files) -> set[str]:
    """Return files that only moved to another folder, by both paths."""
    places: dict[tuple[str, str], set[str]] = {}
    for path, sides in files.texts.items():
        places.setdefault((path.rpartition("/")[2], sides.before or sides.after), set()).add(path)
    moved: set[str] = set()
    for paths in places.values():
        if 0 < len(paths & files.removed) < len(paths):
            moved |= paths
    return moved
