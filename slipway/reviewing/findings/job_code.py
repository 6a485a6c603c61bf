"""Edited code of jobs, for each template that uses it. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, filterfalse, islice, repeat
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
WITHOUT_EFFECT = re.compile(
    r"(.*/)?(test_[^/]*|[^/]*_test\.py|conftest\.py|tests/.*|.*\.(md|lock|py[co]|sw[op])|requirements[^/]*|\.(git|slipway)ignore|.*~"
    r"|\.DS_Store|(__pycache__|[^/]*\.egg-info|\.(pytest_cache|mypy_cache|ruff_cache|ipynb_checkpoints))/.*)",
    re.DOTALL,
)
"""Tests, notes, and files that tools generate, which no package has."""
_FLAG = re.compile("--")
_FOLDER = re.compile(r"""["'](jobs/[\w.-]+)""")
_MOST_DETAILS = 60
_UNKNOWN = Sides("\ufffd", "")


@dataclass(frozen=True)
class Start:
    """The start of a package's module by an offer."""

    module: str
    #: The known values of arguments that have the form `--name=value`, by name.
    values: Mapping[str, list[str]]
    #: The number of arguments.
    count: int
    #: The passer of the arguments: a role such as `` role `workers` ``, or the template if it has one role alone.
    passer: str = "the template"


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
        named = map("role `{}`".format, offer.roles)
        several = len(offer.roles) > 1
        alone = Start.passer
        if len(template.kinds) > 1:
            alone = f"the template as {offer.kind}"
        passers = chain(named if several else (), repeat(alone))
        for passer, task in zip(passers, _tasks(offer), strict=False):
            launched = Launched.of(task) or Launched(str(task.get("pythonModule", "")), list(task.get("args", ())), [])
            arguments = [*map(str, launched.arguments), *trials]
            if launched.module:
                yield Start(launched.module, _values(arguments, template, offer), len(arguments), passer)


def _values(arguments: list[str], template: Template, offer: Offer) -> Mapping[str, list[str]]:
    """Return the values of arguments: for a parameter, its choices, or its default and bounds."""
    known: dict[str, Sequence[Any]] = {}
    for parameter in template.parameters:
        bounds = [bound for bound in (parameter.min, parameter.max) if bound is not None]
        known[placeholder(parameter.name)] = parameter.choices or (parameter.default, *bounds)
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
    own = (f"gs://{comparison.new.catalog_bucket}/", f"gs://{comparison.old.catalog_bucket}/")
    for name in comparison.new.templates.keys() & comparison.old.templates.keys():
        old = comparison.old.templates[name]
        new = comparison.new.templates[name]
        is_other = new.package not in ("", old.package)
        if is_other and not new.package.startswith(own):
            sentence = f"runs the package `{new.package}`, which is not built from this repository"
            fix = "use code=Package(…)"
            yield KIND.of(Subject("template", name), sentence, fix, grade=Grade.BLOCKING)
        else:
            yield from _changed_package(old, new, files)


def _changed_package(old: Template, new: Template, files: Files) -> Iterator[Finding]:
    subject = Subject("template", new.name)
    edited = _edited(old, new, files)
    if edited:
        details = chain.from_iterable(changed_lines(path, files.texts.get(path, Sides())) for path in edited)
        shown = listed(map(printable, edited))
        finding = KIND.of(subject, f"new jobs run edited code: {shown}", files=len(edited))
        yield replace(finding, details=tuple(islice(details, _MOST_DETAILS)))
        return
    before = _modules(old)
    after = _modules(new)
    is_known = all((before, after))
    if is_known and before != after and not _is_same_code(old, new, files):
        sentence = f"new jobs run other code: module {listed(after)} instead of {listed(before)}"
        yield KIND.of(subject, sentence)
    elif new.package not in ("", old.package) and not files.touched:
        yield KIND.of(subject, "new jobs run another package of code; its files are not known")


def _modules(template: Template) -> list[str]:
    return sorted({start.module for start in starts(template)})


def listed(names: Iterable[str]) -> str:
    return few(map("`{}`".format, names))


def _edited(old: Template, new: Template, files: Files) -> list[str]:
    """Return the touched files of its code that can change what jobs do."""
    roots = (*folders(new, files.code), *folders(old, files.code_before))
    candidates = filterfalse(WITHOUT_EFFECT.fullmatch, sorted(files.touched - _moved(files) - files.left_out))
    found = []
    for path in candidates:
        # A file that can't be read may have any effect.
        sides = files.texts.get(path, _UNKNOWN)
        if path.startswith(roots) and not is_harmless(path, sides):
            found.append(path)
    return found


def _is_same_code(old: Template, new: Template, files: Files) -> bool:
    """Return whether its folders have other names and the same files."""
    before = _by_place(folders(old, files.code_before), files.code_before)
    return before != {} and before == _by_place(folders(new, files.code), files.code)


def _by_place(roots: tuple[str, ...], code: Mapping[str, str]) -> dict[str, str]:
    """Return the texts by their paths within the folders."""
    found = {}
    for path in code:
        if path.startswith(roots):
            found[path.split("/", 2)[-1]] = code[path]
    return found


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
