"""Files that the code of a job needs and its package leaves out. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import filterfalse

from slipway.answers.comparison import Comparison
from slipway.model.catalog.template import Template
from slipway.model.findings.finding import Finding, Subject
from slipway.model.rules.code import SCRIPT
from slipway.reviewing.change.files import Files, printable
from slipway.reviewing.change.python_code import JobCode, module_of
from slipway.reviewing.findings.job_code import KIND, WITHOUT_EFFECT, folders, listed, source_file, starts

_READ = re.compile(r"""["'](?:[^"'\s]*/)?([^"'/\s]+\.[^"'/\s]+)["']""")
"""Names of files as text."""
_SCRIPTS = re.compile(r"([\w-]+)\.py\b")


def repacked(comparison: Comparison, files: Files) -> Iterator[Finding]:
    """Compare which files of a job an edited list keeps out of its package."""
    effects = {
        "new jobs no longer have": files.left_out - files.left_out_before,
        "new jobs also have": files.left_out_before - files.left_out,
    }
    for name, template in comparison.new.templates.items():
        own = folders(template, files.code)
        for effect, paths in effects.items():
            packed = filterfalse(WITHOUT_EFFECT.fullmatch, sorted(paths))
            shown = listed(printable(path) for path in packed if path.startswith(own))
            if shown:
                yield KIND.of(Subject("template", name), f"{effect} {shown}")


def imported_modules(start: str, code: JobCode) -> list[str]:
    """Return a module with all that it imports of the folders' own modules, and what these import."""
    names = [start]
    for name in names:
        imported = filter(code.is_own, (*code.imports(name), name.rpartition(".")[0]))
        names += {*imported} - {*names}
    return names


def package_problems(
    template: Template, code: JobCode, texts: Mapping[str, str], lacking: Iterable[str]
) -> Iterator[str]:
    """Compare the files that the package leaves out with those that its code imports and reads."""
    own = folders(template, texts)
    missing = {path for path in filterfalse(WITHOUT_EFFECT.fullmatch, lacking) if path.startswith(own)}
    if not missing:
        return
    imported = _all_imported(template, code, texts)
    read = _read(template, texts, missing)
    for path in sorted(missing):
        module = module_of(path)
        shown = f"the package leaves out `{printable(path)}`"
        if not imported.isdisjoint({module, module.rpartition(".")[2]}):
            yield f"new jobs fail: {shown}, which the code imports"
        elif path.rpartition("/")[2] in read:
            yield f"{shown}, which the code reads"


def _all_imported(template: Template, code: JobCode, texts: Mapping[str, str]) -> set[str]:
    imported: set[str] = set()
    for start in starts(template):
        imported.update(imported_modules(start.module, code))
        if start.module == SCRIPT:
            # A script imports the files beside it, and its command names it.
            imported |= code.imported
            imported.update(_SCRIPTS.findall(texts.get(source_file(template), "")))
    return imported


def _read(template: Template, texts: Mapping[str, str], missing: set[str]) -> set[str]:
    """Return the names of files that the packed code, without tests, has as text."""
    packed = {}
    for path in filterfalse(missing.__contains__, texts):
        if not WITHOUT_EFFECT.fullmatch(path):
            packed[path] = texts[path]
    code = JobCode.within(packed, folders(template, texts))
    return set(_READ.findall(code.text))
