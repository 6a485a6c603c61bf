"""Edited files that deploy, review or grant permissions: program, workflows, files of Pulumi and GitHub. Pure."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain, filterfalse, islice

from slipway.answers.comparison import Comparison
from slipway.base.formatting import few, first_lines
from slipway.model.catalog.clusters import Cluster
from slipway.model.findings.finding import Finding, Grade, Subject
from slipway.model.findings.kinds import KINDS
from slipway.reviewing.change.files import STACK_FILE, Files, Sides, deploys, is_list, printable
from slipway.reviewing.change.leaves import LeafEdit, leaf_edits
from slipway.reviewing.change.lines import changed_lines, code_of, is_harmless
from slipway.reviewing.change.secret_values import shown
from slipway.reviewing.findings.dependencies import is_version
from slipway.reviewing.findings.grants import new_grants
from slipway.reviewing.findings.workflows import effects, grade_of

KIND = KINDS["deployment-code-changed"]
MOST_DETAILS = 40
_MOST_WORDS = 30
_PROJECT_FILE = re.compile(r"(?:.*/)?Pulumi\.ya?ml")
_OWN_SUBJECTS = (
    (re.compile(r"(?:.*/)?(Pulumi\.yaml|CODEOWNERS|Makefile)"), "file"),
    (re.compile(r"(?:.*/)?(?:\.github/workflows|\.github|\.gitlab|\.ci)/(.*)|(?:.*/)?(\.gitlab-ci\.yml)"), "workflow"),
    (re.compile(r"(policy)/.*"), "code of the"),
)
_YAML = (".yaml", ".yml")
_FROM_STACK_FILE = re.compile(
    r"encryptionsalt|secretsprovider|encryptedkey|environment(?:\..*)?|config\.(?!slipway:).*"
)
_HARMLESS_KEYS = re.compile(r"config\.gcp:(project|region|addPulumiAttributionLabel)|(.*\.)?description")


def changed_deployment_code(comparison: Comparison, files: Files) -> Iterator[Finding]:
    changes: dict[Subject, dict[str, list[str]]] = {}
    for path in sorted(files.touched):
        lines = _changes(path, files)
        if lines:
            changes.setdefault(_subject(path, files), {})[path] = lines
    for subject, by_path in changes.items():
        yield _finding(subject, by_path, files, comparison.new.clusters)
    for path in filter(STACK_FILE.fullmatch, sorted(files.touched)):
        yield from _stack_file(STACK_FILE.sub(r"\1", path), path, files, comparison.stack)


def _finding(
    subject: Subject, by_path: Mapping[str, list[str]], files: Files, clusters: Mapping[str, Cluster]
) -> Finding:
    lines = list(chain.from_iterable(by_path.values()))
    shown = few(map("`{}`".format, map(printable, by_path)))
    usual = {"program": f"{shown} changed: the deployment or its review runs such files"}
    known: list[str] = []
    grade = Grade.NOTE
    for path in by_path:
        sides = files.texts.get(path, Sides())
        edits = _edits(path, sides)
        known += _of_project(path, edits)
        module = path.removesuffix(".py")
        if path.endswith(".py") and module in sys.stdlib_module_names:
            known.append(f"`{path}` hides Python's module `{module}` from the program")
        if path.endswith(".py"):
            known += new_grants(sides)
        known += effects(edits, sides, clusters)
        is_read = subject.what == "workflow" and path.endswith(_YAML) and bool(edits)
        grade = max(grade, grade_of(edits, sides) if is_read else KIND.usual)
    sentence = _worst(known) or usual.get(subject, lines[0])
    fix = "" if grade is Grade.NOTE else "have a code owner read the change"
    finding = KIND.of(subject, sentence, fix, grade=grade, files=len(by_path))
    return replace(finding, details=tuple(first_lines(lines, MOST_DETAILS)))


def _of_project(path: str, edits: Iterable[LeafEdit]) -> Iterator[str]:
    """Yield that the project has another name."""
    for edit in edits:
        if _PROJECT_FILE.fullmatch(path) and edit.name == "name":
            yield f"another name of the project gives its stacks an empty state, and `up` rejects what exists: {edit}"


def _worst(known: Iterable[str]) -> str:
    """Return the first effect, and the second one if both are short; empty without any."""
    first = list(islice(dict.fromkeys(known), 2))
    both = "; ".join(first)
    if len(both.split()) <= _MOST_WORDS:
        return both
    return first[0]


def _subject(path: str, files: Files) -> Subject:
    if path in files.links:
        return Subject("program")
    for pattern, kind in _OWN_SUBJECTS:
        match = pattern.fullmatch(path)
        if match:
            return Subject(kind, printable(match[match.lastindex or 0]))
    return Subject("program")


def _changes(path: str, files: Files) -> list[str]:
    """Return the changes of a file, for the details; none if it deploys nothing, lists dependencies, or is harmless."""
    name = f"`{printable(path)}`"
    if path in files.links:
        return [f"{name} is a symbolic link, which is not read"]
    if not deploys(path) or is_list(path):
        return []
    if path in files.unread:
        return [f"{name} is not text or too large: not compared"]
    if path in files.removed:
        return [f"{name} is deleted"]
    sides = files.texts.get(path)
    if sides is None:
        return [f"{name} is edited"]
    if not sides.before:
        return [f"{name} is new or was empty"]
    if path.endswith(_YAML):
        return list(map(str, _edits(path, sides)))
    if is_harmless(path, sides):
        return []
    return list(islice(changed_lines(path, sides), MOST_DETAILS))


def _edits(path: str, sides: Sides) -> list[LeafEdit]:
    """Return the edited values of a YAML file, without versions of dependencies; another file is one value."""
    if path.endswith(".py"):
        return [LeafEdit((printable(path),), code_of(sides.before), code_of(sides.after))]
    if not path.endswith(_YAML):
        return [LeafEdit((printable(path),), sides.before, sides.after)]
    others = filterfalse(is_version, leaf_edits(sides))
    return [edit for edit in others if not _HARMLESS_KEYS.fullmatch(edit.name)]


def _stack_file(name: str, path: str, files: Files, stack: str) -> Iterator[Finding]:
    """Yield the edited keys that Pulumi and its provider read."""
    if path in files.removed:
        sentence = "its stack file is deleted: nothing deploys it any more, and its resources are kept and billed"
        yield KIND.of(Subject("stack", name), sentence, "delete its resources first: pulumi destroy")
        return
    if name != stack:
        return
    for edit in _edits(path, files.texts.get(path, Sides())):
        key = edit.name.removeprefix("config.")
        if _FROM_STACK_FILE.fullmatch(edit.name):
            values = f"{shown(edit.before, key)} → {shown(edit.after, key)}"
            sentence = f"Pulumi deploys with another value: {values}"
            yield KIND.of(Subject("key", key), sentence, field=key)
