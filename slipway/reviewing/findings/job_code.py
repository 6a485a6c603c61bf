"""Edited code of jobs, for each template that uses it. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
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
    r"(.*/)?(test_[^/]*|[^/]*_test\.py|conftest\.py|tests/.*|.*\.(md|lock)|requirements[^/]*|\.gitignore)", re.DOTALL
)
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


def tasks(template: Template) -> list[Mapping[str, Any]]:
    """Return the package or container of each worker pool."""
    pools = chain.from_iterable(offer.worker_pools for offer in template.offers)
    return [{**pool.get("pythonPackageSpec", {}), **pool.get("containerSpec", {})} for pool in pools]


def starts(template: Template) -> Iterator[Start]:
    for offer in template.offers:
        searched = every(offer.request.get("studySpec", {}).get("parameters"))
        trials = [f"--{parameter.get('parameterId')}" for parameter in searched]
        for task in tasks(replace(template, offers=(offer,))):
            usual = Launched(str(task.get("pythonModule", "")), list(task.get("args", ())), [])
            launched = Launched.of(task) or usual
            if launched.module:
                arguments = [*map(str, launched.arguments), *trials]
                yield Start(launched.module, _values(arguments, template, offer), len(arguments))


def _values(arguments: list[str], template: Template, offer: Offer) -> Mapping[str, list[str]]:
    """Return the values of arguments: for a parameter, its choices or its default."""
    known = {
        placeholder(parameter.name): parameter.choices or (parameter.default,) for parameter in template.parameters
    }
    known.update({placeholder(name): values for name, values in offer.when.items()})
    found: dict[str, list[str]] = {}
    for argument in filter(_FLAG.match, arguments):
        name, _, value = argument.partition("=")
        found.setdefault(name, []).extend(map(render, known.get(value, (value,))))
    return found


def source_file(template: Template) -> str:
    """Return the path of the file that declares it."""
    return template.source.partition(":")[0] or f"templates/{template.name.replace('-', '_')}.py"


def folders(template: Template, files: Files) -> tuple[str, ...]:
    """Return the folders of its code, such as `jobs/lora/`."""
    found = {f"jobs/{start.module.partition('.')[0]}" for start in starts(template)}
    found |= {f"jobs/{name.removeprefix('jobs/')}" for name in template.shared or ()}
    # The module that starts a script does not name its folder.
    found.update(_FOLDER.findall(files.code.get(source_file(template), "")))
    return tuple(f"{folder.rstrip('/')}/" for folder in sorted(found))


def changed_job_code(comparison: Comparison, files: Files) -> Iterator[Finding]:
    moved = _moved(files)
    own = f"gs://{comparison.new.catalog_bucket}/", f"gs://{comparison.old.catalog_bucket}/"
    for name in comparison.new.templates.keys() & comparison.old.templates.keys():
        template = comparison.new.templates[name]
        old = comparison.old.templates[name]
        subject = Subject("template", name)
        edited = [path for path in _used(template, old, files) if path not in moved]
        is_other = template.package not in ("", old.package)
        if is_other and not template.package.startswith(own):
            sentence = f"runs the package `{template.package}`, which is not built from this repository"
            yield KIND.of(subject, sentence, "use code=Package(…)", grade=Grade.BLOCKING)
        elif edited:
            details = chain.from_iterable(changed_lines(path, files.texts.get(path, Sides())) for path in edited)
            shown = few(f"`{printable(path)}`" for path in edited)
            finding = KIND.of(subject, f"new jobs run edited code: {shown}", files=len(edited))
            yield replace(finding, details=tuple(islice(details, _MOST_DETAILS)))
        elif is_other and not files.touched:
            yield KIND.of(subject, "new jobs run another package of code; its files are not known")


def _used(template: Template, old: Template, files: Files) -> Iterator[str]:
    """Yield the touched files of its code that can change what jobs do."""
    roots = (*folders(template, files), *folders(old, files))
    for path in sorted(files.touched):
        sides = files.texts.get(path)
        is_used = path.startswith(roots) and not _WITHOUT_EFFECT.fullmatch(path)
        if is_used and not (sides and is_harmless(path, sides)):
            yield path


def _moved(files: Files) -> set[str]:
    """Return files that only moved to another folder, by both paths."""
    places: dict[tuple[str, str], set[str]] = {}
    for path, sides in files.texts.items():
        places.setdefault((path.rpartition("/")[2], sides.before or sides.after), set()).add(path)
    moved = [paths for paths in places.values() if 0 < len(paths & files.removed) < len(paths)]
    return set().union(*moved)
