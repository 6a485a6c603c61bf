"""Code of a template before and after: its package, its requirements, and its edited files. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from slipway.authoring.stack.secrets import KEEP, looks_secret
from slipway.base.formatting import few, join, last_part
from slipway.model.catalog.model import Template
from slipway.model.findings.finding import Finding, Grade
from slipway.model.labels import Launched
from slipway.reviewing.change.change import Change, Files
from slipway.reviewing.change.pins import package
from slipway.reviewing.change.secret_values import HIDDEN, shown
from slipway.reviewing.change.usual import job_spec
from slipway.reviewing.rules.templates.usage import finding

_REQUIREMENTS = "requirements.txt"
_NAME = re.compile(r"[\w.-]+")


def code(change: Change, old: Template, new: Template) -> Iterator[Finding]:
    """Find other code and other requirements, in one finding where both differ."""
    bucket = change.new.catalog_bucket if change.new else ""
    if new.package not in ("", old.package) and not new.package.startswith(f"gs://{bucket}/"):
        words = f"Jobs of `{new.name}` run code that is not in the catalog's bucket"
        yield finding("code-changed", new, words, "code", f"`{new.package}`", grade=Grade.BLOCKING, field="code")
        return
    folders = [join(f"`jobs/{root}`" for root in sorted(_folders(each))) for each in (new, old)]
    if all(folders) and folders[0] != folders[1]:
        words = f"Jobs of `{new.name}` run the code in {' instead of '.join(folders)}"
        added = [_installed(old, new, ()).sentence] if old.requirements != new.requirements else []
        yield finding("code-changed", new, words, "code", details=added, field="code")
        return
    # The name depends on its contents, whatever the catalog's bucket.
    other = bool(old.package and new.package) and _short(old.package) != _short(new.package)
    files = sorted(_files(change.files, new))
    edited = [file for file in files if not file.endswith(f"/{_REQUIREMENTS}") and file not in change.files.same]
    installs = old.requirements != new.requirements and sorted(old.requirements) != sorted(new.requirements)
    if installs:
        field = next((file for file in files if file.endswith(f"/{_REQUIREMENTS}")), _REQUIREMENTS)
        yield replace(_installed(old, new, edited if other else ()), field=field)
    elif other and (edited or not files):
        details = [f"`{file}`" for file in edited]
        words = f"Jobs of `{new.name}` run other code"
        yield finding("code-changed", new, words, "code", few(details), details=details, field="code")


def _files(files: Files, template: Template) -> Iterator[str]:
    roots = tuple(f"jobs/{root}/" for root in _folders(template))
    return (file for file in files.touched if roots and file.startswith(roots))


def _folders(template: Template) -> set[str]:
    found = set()
    for offer in template.offers:
        for pool in job_spec(offer).get("workerPoolSpecs") or ():
            if launched := Launched.read((pool.get("pythonPackageSpec") or {}).get("args") or ()):
                found.add(launched.module.partition(".")[0])
    return found


def _short(uri: str) -> str:
    return last_part(uri).removesuffix(".tar.gz")


def _installed(old: Template, new: Template, edited: Iterable[str]) -> Finding:
    before, after = ({_package(one): one for one in some.requirements} for some in (old, new))
    others = [name for name in after if name in before and before[name] != after[name]]
    added, gone = (
        [after[name] for name in after if name not in before],
        [before[name] for name in before if name not in after],
    )
    words, why = [], "results may differ"
    if others:
        moves = all("==" in before[one] and not {"=", "@"} & set(after[one]) for one in others)
        sides = ([some[one] for one in others] for some in (after, before))
        words.append(f"install {'the newest ' if moves else ''}{' instead of '.join(map(_named, sides))}")
        why = "each may get another version" if moves else why
    if added:
        words.append(f"install {_named(added)}{' too' if others else ''}")
        why = "it runs with all that their account may do"
    if gone:
        words.append(f"don't install {_named(gone)} any more")
        why = "code that imports it fails"
    files = [f"`{file}`" for file in edited]
    told = f"Jobs of `{new.name}` {join([*words, *(['run other code'] if files else [])])}"
    grade = Grade.BLOCKING if gone else None
    return finding(
        "requirements-changed", new, told, "requirements", why, details=files, grade=grade, field=_REQUIREMENTS
    )


def _package(requirement: str) -> str:
    found = _NAME.match(requirement.strip())
    return package(found[0]) if found else requirement


def _named(some: Iterable[str]) -> str:
    return few(map(_requirement, some))


def _requirement(one: str) -> str:
    if looks_secret(one):
        return f"`{one.partition(' @ ')[0]} @ …` (hidden)" if " @ " in one else HIDDEN
    return shown(one, longest=100)


def secret_requirements(old: Template | None, new: Template) -> Iterator[Finding]:
    for one in new.requirements:
        if looks_secret(one) and not (old and one in old.requirements):
            words = f"Whoever reads the code of `{new.name}` reads what looks like a secret in {_requirement(one)}"
            yield finding("plain-secret", new, words, "requirements", KEEP, field=_REQUIREMENTS)
