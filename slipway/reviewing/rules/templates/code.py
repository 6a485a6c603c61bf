"""Code of a template before and after: that it is other code, and what breaks the template's contract with it, as
arguments, the metric of a study, and the place of checkpoints; its requirements. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

from slipway.authoring.packages.requirements import CONSTRAINT, names_index
from slipway.authoring.stack.secrets import address_has_secret, looks_secret
from slipway.base.formatting import few, join, last_part
from slipway.model.catalog.template import Offer, Template
from slipway.reviewing.change.change import grouped
from slipway.reviewing.change.edits import NO_FILE, OWN, PLACE, Edit
from slipway.reviewing.change.pins import package
from slipway.reviewing.change.secret_values import HIDDEN, bare
from slipway.reviewing.change.usual import as_kind, whose
from slipway.reviewing.consequence import Consequence
from slipway.reviewing.rules.table import ROWS, RowName
from slipway.reviewing.rules.templates.usage import TemplateChange, flag, folders, started

if TYPE_CHECKING:
    from packaging.requirements import Requirement

_REQUIREMENTS = "requirements.txt"
_NAME = re.compile(rf"({CONSTRAINT})?[\w.-]+")
_HASH = re.compile(r"(?:\s+--hash[ =](\S{,20})\S*)+")
# They start code by a name that is made as it runs.
_AT_RUN = frozenset(("importlib", "__import__", "runpy", "pkgutil", "exec", "eval", "subprocess", "system"))
_TESTS = re.compile(r"(/test_[^/]*|_test|/conftest)\.py$|\.md$")


def code(template: TemplateChange) -> Iterator[Consequence]:
    old, new, files = template.old, template.new, template.change.files
    if new.package not in ("", old.package) and not new.package.startswith(f"gs://{template.becomes.catalog_bucket}/"):
        yield template.tells("code-foreign", part="code", package=new.package)
        return
    touched, edited = _touched(template)
    # An image that takes the package's place is reported, with what its launcher did.
    if new.package or not old.package:
        yield from _installed(template)
        if {*indexes(old.requirements)} != {*indexes(new.requirements)}:
            yield _elsewhere(template)
    if gone := sorted(_lost(template)):
        yield template.tells("code-imports-gone", part="imports", gone=join(f"`{each}`" for each in gone))
    roots = [sorted(f"jobs/{root}" for root in folders(side) - {*(side.shared or ())}) for side in (new, old)]
    # The name depends on its contents and the template's name, whatever the catalog's bucket.
    packages = [last_part(side.package).removesuffix(".tar.gz") for side in (old, new)]
    other = all(packages) and packages[0] != packages[1]
    told = touched or old.requirements != new.requirements or new.name in template.change.other_names.values()
    if all(roots) and roots[0] != roots[1]:
        names, tops = [join(map("`{}`".format, some)) for some in roots], tuple(f"{root}/" for root in chain(*roots))
        its = {*edited, *(file for file in (*files.touched, *files.code) if file.startswith(tops))}
        alike = files.moved.issuperset(its) and 2 * len(its & files.removed) == len(its) > 0
        yield template.tells("code-moved" if alike else "code-folder", part="code", new=names[0], old=names[1])
    # What is wanting has been told.
    elif other and not (gone and files.removed.issuperset(edited)) and (edited or not told):
        yield _edited(template, edited)


def _touched(template: TemplateChange) -> tuple[list[str], list[str]]:
    """Return the touched files of its code, and those among them that are other code."""
    files, roots = template.change.files, tuple(f"jobs/{root}/" for root in folders(template.new))
    touched = sorted(file for file in files.touched if file.startswith(roots))
    return touched, [file for file in touched if not file.endswith(f"/{_REQUIREMENTS}") and file not in files.same]


def _lost(template: TemplateChange) -> set[str]:
    """Return the modules that its code imports as it starts, and that go, or whose folder is packed no more."""
    files, packed = template.change.files, folders(template.new)
    seen, lost = set[str](), set[str]()
    ways = [start.file.removeprefix("jobs/")[:-3].replace("/", ".") for start in started(template.new)]
    while files.code and ways:
        name = ways.pop()
        top = name.partition(".")[0]
        if name in seen or top not in packed | folders(template.old):
            continue
        seen.add(name)
        path = f"jobs/{name.replace('.', '/')}"
        forms = {f"{path}.py", f"{path}/__init__.py"}
        # An edited package may give another thing that name.
        there = f"{path.rpartition('/')[0]}/__init__.py" in files.touched - files.removed
        there = top in packed and (there or any(file in forms or file.startswith(f"{path}/") for file in files.code))
        lost |= {name} if forms & (files.removed | files.code.keys()) and not there else set()
        ways += [name.rpartition(".")[0], *chain(*(files.code.get(file, NO_FILE).imports for file in forms))]
    return lost


def _edited(template: TemplateChange, edited: list[str]) -> Consequence:
    files = template.change.files
    starts, known = {start.file for start in started(template.new)}, _named(template, edited)
    idle = [file for file in edited if _TESTS.search(file) or (known and file.endswith(".py") and file in files.lines)]
    used = [file for file in edited if file not in idle or file in {*starts, *known}]
    row: RowName = "code-changed" if used or not edited else "code-tests"
    edited = used or edited
    # Another file may have it, or an argument has the place.
    lost = frozenset[str]().union(*(files.forgetting.get(file, ()) for file in edited if template.code))
    lost = lost.difference(*(file.keeps for file in template.code))
    given = {text for start in started(template.new) for text in start.arguments}
    outputs = {flag(text) for text in given if "slipway.output" in text}
    if any(template.reads([name]) for name in outputs):
        lost -= {PLACE, OWN}
    # Where its own place is gone, others may be those that it reads from.
    if row == "code-changed" and (PLACE in lost or (OWN in lost and template.new.checkpoints)):
        row = "code-begins-anew" if template.new.checkpoints else "code-keeps-nothing"
    elif row == "code-changed" and lost and template.new.checkpoints:
        row = "code-saves-nothing"
    return template.tells(
        row,
        part="code",
        files=few(map("`{}`".format, edited)),
        may=starts.isdisjoint(edited) and not {*edited} <= known,
        elsewhere=PLACE not in lost,
        gone=bool(edited) and files.removed.issuperset(edited),
        edits=[edit for file in edited for edit in files.lines.get(file, ())],
    )


def _named(template: TemplateChange, edited: list[str]) -> set[str]:
    """Return the modules that its jobs start and that these name in turn; none where code may load others unnamed."""
    code, known, starts = template.change.files.code, set[str](), [*started(template.new)]
    said = {*re.findall(r"\w+", " ".join(text for start in starts for text in (start.file, *start.arguments)))}
    while more := {file for file in (*code, *edited) if {*re.findall(r"\w+", file)} - {"__init__"} <= said} - known:
        known |= more
        said.update(*(code.get(file, NO_FILE).words for file in more))
    return known if {start.file for start in starts} <= code.keys() and said.isdisjoint(_AT_RUN) else set()


def arguments(template: TemplateChange) -> Iterator[Consequence]:
    """Find arguments that code is given and does not know, values that it does not take, and arguments that it requires
    and does not get, where either side was edited."""
    _, edited = _touched(template)
    found: dict[tuple[RowName, str, str, str], list[Offer]] = {}
    before = {(start.role, start.arguments) for start in started(template.old)}
    for role, module, given, offer in started(template.new):
        code = template.change.files.code.get(module)
        if code is None or not (edited or (role, given) not in before):
            continue
        flags = {*map(flag, given)}
        named = [name for name in flags if name.startswith("--") and code.flags]
        rows: Mapping[RowName, Iterable[str]] = {
            "arguments-strange": (name for name in named if not template.reads([name])),
            "arguments-unmet": (
                "/".join(each.names)
                for each in code.arguments
                if each.required and not any(name.startswith((*flags,)) for name in each.names)
            ),
            "arguments-refused": (text for text in given if code.refuses(text)),
        }
        for row, names in rows.items():
            for name in sorted(names):
                found.setdefault((row, module, name, role), []).append(offer)
    usual = template.new.kind
    cases = {key: [each for each in some if each.kind == usual] or some for key, some in found.items()}
    for (row, module, case), keys in grouped(cases, lambda key: (*key[:2], _case(cases[key], template.new))).items():
        names, roles = (join(f"`{each}`" for each in dict.fromkeys(some)) for some in [*zip(*keys, strict=True)][2:])
        part = f"{row.rpartition('-')[2]} arguments of {roles.replace('`', '')}{case}"
        yield template.tells(row, part=part, file=module, names=names, roles=roles, case=case)


def _case(offers: Sequence[Offer], template: Template) -> str:
    return f"{whose(offers, template)}{as_kind(offers[0], template)}"


def _sheets(template: TemplateChange) -> Mapping[str, str]:
    """Return the touched files of requirements, with their edited lines as packages are spelt."""
    sheets = (file for file in _touched(template)[0] if file.endswith(".txt"))
    return {sheet: package(" ".join(map(str, template.change.files.lines.get(sheet, ())))) for sheet in sheets}


def _places(sheets: Mapping[str, str], packages: Collection[str]) -> str:
    """Return the files whose edited lines name some of these packages, or else all."""
    return ", ".join([sheet for sheet, lines in sheets.items() if any(name in lines for name in packages)] or sheets)


def _installed(template: TemplateChange) -> Iterator[Consequence]:
    before, after = [_by_package(side.requirements) for side in (template.old, template.new)]
    names = [name for name in dict.fromkeys((*after, *before)) if not _same(before.get(name, ""), after.get(name, ""))]
    moves = {name: _row_of(before.get(name, ""), after.get(name, ""), template) for name in names}
    pairs = ((before, after), (after, before))
    shown = [{name: _shown(line, other.get(name, "")) for name, line in side.items()} for side, other in pairs]
    sheets = _sheets(template)
    for row in sorted({*moves.values()}, key=[*ROWS].index):
        alike = [name for name in names if moves[name] == row]
        lines = [few(f"`{side[name]}`" for name in alike if name in side) for side in shown]
        places = [f"in {_places(sheets, [name]) or _REQUIREMENTS}" for name in alike]
        yield template.tells(
            row,
            part=f"requirements {row.rpartition('-')[2]}",
            before=lines[0],
            after=lines[1],
            open=all("==" in before.get(name, "") and "==" not in after.get(name, "") for name in alike),
            field=_places(sheets, alike),
            edits=[Edit(at, *(side.get(name, "") for side in shown)) for at, name in zip(places, alike, strict=True)],
        )


def indexes(requirements: Iterable[str]) -> tuple[str, ...]:
    """Return the indexes that a job's packages are taken from, as pip reads the lines that name them."""
    named = [line.rstrip("/").partition(" ")[::2] for line in requirements if names_index(line)]
    first = [index for option, index in named if option == "--index-url"][-1:] or ["https://pypi.org/simple"]
    return (*first, *(index for option, index in named if option != "--index-url"))


def _elsewhere(template: TemplateChange) -> Consequence:
    was, now = (indexes(side.requirements) for side in (template.old, template.new))
    more = [index for index in now if index not in was] if {*was} < {*now} else []
    told = [few(f"`{_bare(index)}`" for index in some) for some in (was, now, more)]
    values: dict[str, Any] = dict(zip(("before", "after", "more"), told, strict=True))
    values |= {"fewer": {*now} < {*was}, "extra": now[1:]}
    values["private"] = any("-python.pkg.dev/" in each for each in {*now} - {*was})
    return template.tells("requirements-index", part="index", field=", ".join(_sheets(template)), **values)


def _row_of(before: str, after: str, template: TemplateChange) -> RowName:
    """Return the row of a requirement that differs."""
    if CONSTRAINT in after or CONSTRAINT in before:
        return "requirement-other"
    if not after:
        return "requirement-gone"
    if "://" in after:
        return "requirement-other" if before else "requirement-new"
    new, old = map(_parsed, (after, before))
    if new is None:
        # Lines of a package that differ by their markers are joined.
        return "requirement-other" if ", " in after else "requirement-unread"
    versions = [
        each.version for each in new.specifier if each.operator in ("==", "===") and not each.version.endswith(".*")
    ]
    other_indexes = {*indexes(template.new.requirements)} - {*indexes(())}
    if any("+" in version for version in versions) and not other_indexes:
        return "requirement-unread"
    if not before:
        return "requirement-new"
    if old is None or not versions or (str(old.marker), old.extras) != (str(new.marker), new.extras):
        return "requirement-other"
    other = "--hash" in before or "+" in versions[0] or not old.specifier.contains(versions[0], prereleases=True)
    return "requirement-other" if other else "requirement-pinned"


def _same(before: str, after: str) -> bool:
    """Tell whether two lines of a package are the same, in one spelling."""
    if before == after or "--hash" in f"{before}{after}":
        return before == after
    forms = [each and str(each).removeprefix(each.name) for each in map(_parsed, (before, after))]
    return forms[0] is not None and forms[0] == forms[1]


def _parsed(line: str) -> Requirement | None:
    # Needed only where requirements differ: importing it costs time.
    from packaging.requirements import InvalidRequirement, Requirement

    try:
        return Requirement(_HASH.sub("", line))
    except InvalidRequirement:
        return None


def _by_package(requirements: Iterable[str]) -> Mapping[str, str]:
    """Return the lines of each package, which may have several by their markers, as one."""
    lines: dict[str, list[str]] = {}
    for line in (line for line in requirements if not names_index(line)):
        match = _NAME.match(line.strip())
        lines.setdefault(package(match[0]) if match else line, []).append(line)
    return {name: ", ".join(sorted(some)) for name, some in lines.items()}


def _shown(requirement: str, beside: str = "") -> str:
    requirement, beside = (_HASH.sub(r" --hash=\1…", line, count=1) for line in (requirement, beside))
    name, at, _ = requirement.partition(" @ ")
    return f"{name} @ … (hidden)" if at and address_has_secret(requirement) else _bare(requirement, beside)


def _bare(requirement: str, beside: str = "") -> str:
    told = HIDDEN if address_has_secret(requirement) else bare(requirement, longest=100, beside=beside)
    name = _NAME.match(requirement)
    return f"{name[0]} {told}" if name and told.startswith("…") else told


def secret_requirements(template: TemplateChange) -> Iterator[Consequence]:
    for line in template.new.requirements:
        if looks_secret(line) and line not in template.old.requirements:
            sheets = ", ".join(_sheets(template))
            yield template.tells("plain-secret-required", part="requirements", line=_shown(line), field=sheets)
