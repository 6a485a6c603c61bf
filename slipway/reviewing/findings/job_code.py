"""Edited code of jobs, for each template that uses it. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

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
_IDLE = re.compile(r"(.*/)?(test_[^/]*|[^/]*_test\.py|conftest\.py|tests/.*|.*\.md|.*\.lock|requirements[^/]*|\.gitignore)")
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
    def file(self) -> str:
        return f"jobs/{self.module.replace('.', '/')}.py"


def starts(template: Template) -> Iterator[Start]:
    """Yield the start of each worker pool that runs a package."""
    for offer in template.offers:
        searched = every((offer.request.get("studySpec") or {}).get("parameters"))
        trials = [f"--{parameter.get('parameterId')}" for parameter in searched]
        for pool in offer.worker_pools:
            package = pool.get("pythonPackageSpec") or {}
            launched = Launched.of(package)
            module = launched.module if launched else str(package.get("pythonModule", ""))
            arguments = launched.arguments if launched else package.get("args") or ()
            if module:
                filled = _filled([*map(str, arguments), *trials], template, offer)
                yield Start(module, frozenset(filled), len(arguments) + len(trials))


def _filled(arguments: list[str], template: Template, offer: Offer) -> Iterator[str]:
    usual = {parameter.name: parameter.choices or (parameter.default,) for parameter in template.parameters}
    usual.update(offer.when)
    for argument in arguments:
        name = next(iter(names(argument)), "")
        for value in usual.get(name, (None,)):
            yield fill(argument, {} if value is None else {name: value})


def folders(template: Template, files: Files) -> tuple[str, ...]:
    """Return the folders of its code, such as `jobs/lora/`."""
    found = {f"jobs/{start.module.partition('.')[0]}" for start in starts(template)}
    found.update(f"jobs/{name.removeprefix('jobs/')}" for name in template.shared or ())
    # The module that starts a script does not name its folder.
    source = template.source.partition(":")[0] or f"templates/{template.name.replace('-', '_')}.py"
    found.update(_FOLDER.findall(files.code.get(source, "")))
    return tuple(f"{folder.rstrip('/')}/" for folder in sorted(found))


def changed_job_code(comparison: Comparison, files: Files) -> Iterator[Finding]:
    for name, template in comparison.new.templates.items():
        old = comparison.old.templates.get(name)
        if old is None:
            continue
        subject = Subject("template", name)
        own = (f"gs://{comparison.new.catalog_bucket}/", f"gs://{comparison.old.catalog_bucket}/")
        edited = _edited(template, old, files)
        if template.package != old.package and template.package.startswith("gs://") and not template.package.startswith(own):
            sentence = f"runs the package `{template.package}`, which is not built from this repository"
            yield KIND.of(subject, sentence, "use code=Package(…)", grade=Grade.BLOCKING)
        elif edited:
            shown = few(f"`{printable(path)}`" for path in edited)
            details: list[str] = []
            for path in edited:
                details += changed_lines(path, files.texts[path]) if path in files.texts else []
            finding = KIND.of(subject, f"new jobs run edited code: {shown}", files=len(edited))
            yield replace(finding, details=tuple(first_lines(details, _MOST_DETAILS)))
        elif template.package != old.package and not files.touched:
            yield KIND.of(subject, "new jobs run another package of code; its files are not known")


def _edited(template: Template, old: Template, files: Files) -> list[str]:
    """Return the touched files of its code that change what jobs do."""
    roots = {*folders(template, files), *folders(old, files)}
    edited = []
    for path in sorted(files.touched):
        sides = files.texts.get(path)
        is_used = path.startswith(tuple(roots)) and not _IDLE.fullmatch(path)
        if is_used and path not in _moved(files) and (sides is None or not is_harmless(path, sides)):
            edited.append(path)
    return edited


def _moved(files: Files) -> set[str]:
    """Return files that only moved to another folder of `jobs/`: both the old and the new path."""
    gone = {(path.rpartition("/")[2], files.texts[path].before): path for path in files.removed & files.texts.keys()}
    found: set[str] = set()
    for path, sides in files.texts.items():
        origin = gone.get((path.rpartition("/")[2], sides.after))
        if origin is not None and path not in files.removed:
            found |= {origin, path}
    return found
