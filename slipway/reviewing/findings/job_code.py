"""Edited code of jobs, for each template that uses it. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from slipway.answers.comparison import Comparison
from slipway.base.formatting import few, first_lines
from slipway.model.catalog.placeholders import fill, names
from slipway.model.catalog.template import Offer, Template
from slipway.model.findings.finding import Finding, Grade, Subject
from slipway.model.findings.kinds import KINDS
from slipway.model.labels import Launched
from slipway.model.rules.study import every
from slipway.reviewing.change.files import Files, printable
from slipway.reviewing.change.lines import changed_lines, is_harmless

KIND = KINDS["job-code-changed"]
_WITHOUT_EFFECT = re.compile(
    r"(.*/)?(test_[^/]*|[^/]*_test\.py|conftest\.py|tests/.*|.*\.(md|lock)|requirements[^/]*|\.gitignore)", re.DOTALL
)
_FOLDER = re.compile(r"""["'](jobs/[\w.-]+)""")
_MOST_DETAILS = 60


@dataclass(frozen=True)
class Start:
    """The start of a package's module by an offer."""

    module: str
    #: An argument that a single parameter fills in is listed with each choice, or with the default.
    arguments: frozenset[str]
    #: The number of arguments.
    count: int

    @property
    def flags(self) -> frozenset[str]:
        return frozenset(argument.partition("=")[0] for argument in self.arguments if argument.startswith("--"))


def tasks(template: Template) -> Iterator[tuple[Offer, Mapping[str, Any]]]:
    """Yield the package or container of each worker pool."""
    for offer in template.offers:
        for pool in offer.worker_pools:
            yield offer, pool.get("pythonPackageSpec") or pool.get("containerSpec") or {}


def starts(template: Template) -> Iterator[Start]:
    for offer, task in tasks(template):
        usual = Launched(str(task.get("pythonModule", "")), list(map(str, task.get("args") or ())), [])
        launched = Launched.of(task) or usual
        searched = every((offer.request.get("studySpec") or {}).get("parameters"))
        arguments = [*launched.arguments, *(f"--{parameter.get('parameterId')}" for parameter in searched)]
        if launched.module:
            filled = [text for argument in arguments for text in _filled(argument, template, offer)]
            yield Start(launched.module, frozenset(filled), len(arguments))


def _filled(argument: str, template: Template, offer: Offer) -> Iterator[str]:
    usual = {parameter.name: parameter.choices or (parameter.default,) for parameter in template.parameters}
    name = next(iter(names(argument)), "")
    for value in {**usual, **offer.when}.get(name) or (None,):
        yield fill(argument, {name: value}) if value is not None else argument


def folders(template: Template, files: Files) -> tuple[str, ...]:
    """Return the folders of its code, such as `jobs/lora/`."""
    found = {f"jobs/{start.module.partition('.')[0]}" for start in starts(template)}
    found |= {f"jobs/{name.removeprefix('jobs/')}" for name in template.shared or ()}
    # The module that starts a script does not name its folder.
    source = template.source.partition(":")[0] or f"templates/{template.name.replace('-', '_')}.py"
    found.update(_FOLDER.findall(files.code.get(source, "")))
    return tuple(f"{folder.rstrip('/')}/" for folder in sorted(found))


def changed_job_code(comparison: Comparison, files: Files) -> Iterator[Finding]:
    moved = _moved(files)
    own = tuple(f"gs://{side.catalog_bucket}/" for side in (comparison.new, comparison.old))
    for name, template in comparison.new.templates.items():
        old = comparison.old.templates.get(name, template)
        subject = Subject("template", name)
        edited = [path for path in _used(template, old, files) if path not in moved]
        is_other = template.package != old.package
        if is_other and template.package and not template.package.startswith(own):
            sentence = f"runs the package `{template.package}`, which is not built from this repository"
            yield KIND.of(subject, sentence, "use code=Package(…)", grade=Grade.BLOCKING)
        elif edited and name in comparison.old.templates:
            sides = {path: files.texts[path] for path in edited if path in files.texts}
            details = [line for path in sides for line in changed_lines(path, sides[path])]
            shown = few(f"`{printable(path)}`" for path in edited)
            finding = KIND.of(subject, f"new jobs run edited code: {shown}", files=len(edited))
            yield replace(finding, details=tuple(first_lines(details, _MOST_DETAILS)))
        elif is_other and not files.touched:
            yield KIND.of(subject, "new jobs run another package of code; its files are not known")


def _used(template: Template, old: Template, files: Files) -> Iterator[str]:
    """Yield the touched files of its code that can change what jobs do."""
    roots = (*folders(template, files), *folders(old, files))
    for path in sorted(files.touched):
        sides = files.texts.get(path)
        is_same = sides is not None and (sides.before == sides.after or is_harmless(path, sides))
        if path.startswith(roots) and not _WITHOUT_EFFECT.fullmatch(path) and not is_same:
            yield path


def _moved(files: Files) -> set[str]:
    """Return files that only moved to another folder, by both paths."""
    gone = {(path.rpartition("/")[2], files.texts[path].before): path for path in files.removed & files.texts.keys()}
    found: set[str] = set()
    for path in files.texts.keys() - files.removed:
        origin = gone.get((path.rpartition("/")[2], files.texts[path].after))
        found |= {origin, path} if origin else set()
    return found
