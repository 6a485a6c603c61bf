"""The program itself: its files, the files that deploy and approve, and a preview that fails."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePosixPath

from slipway.errors import Fault
from slipway.findings.finding import Finding, Subject
from slipway.findings.kinds import KINDS
from slipway.fingerprint import is_generation_of
from slipway.formatting import short
from slipway.live import Unknown
from slipway.review.change import Change, Files
from slipway.review.pins import slipway_changed
from slipway.review.reach import DEPLOYING, LAPTOP, OUTSIDE, PINS, PROSE, reaches
from slipway.review.words import LONGEST, MOST_NAMED, job, named, oldest_first

GUARD = "slipway-guard-v1"
"""The hook that asks again before a deletion. Frozen: living stacks have it."""
_GUARDING = (
    "components/guard.py",
    "slipway/deployment/deletion_guard.py",
    "slipway/deployment/removal.py",
)
_JUDGING = ("slipway/review/", "slipway/forges/", "slipway/policy/", "slipway/cli/review")
_PROGRAM = ("components/", "slipway/", "__main__.py", "Pulumi.")
"""The program's files. The engine takes `Pulumi.json` before `Pulumi.yaml`, and a stack's file at the top where it is
given no other."""
_SHADOWING = ("slipway/", "__main__.py", "Pulumi.")
"""In a team's repository: a folder of that name would be imported in place of the package."""
ELSEWHERE = (
    "slipway/api.py",
    "slipway/cli/",
    "slipway/gcloud/",
    "slipway/history/",
    "slipway/job_api.py",
    "slipway/jobs/",
    "slipway/notebook.py",
    "slipway/notices/",
    "slipway/result_api.py",
    "slipway/submission/",
    "slipway/sweep_api.py",
    "slipway/sweeps/",
    "slipway/whatif/",
)
"""Modules that no deployment imports."""
# Files that Python imports, where the program finds them: in the folder of `__main__.py`, before all installed ones.
_CODE = (".py", ".pyc", ".so", ".pth", ".zip")
_NOT_IMPORTED = ("docs/", "jobs/", "templates/", "tests/")
_NOT_IMPORTED_HERE = (*_NOT_IMPORTED, "bench/", "journey/", "local/")
_DATA = (".csv", ".json")
# Where Python finds packages that nobody imports by name: those that others look for, and an environment of its own.
_INSTALLED = re.compile(r"^\.venv(/|$)|\.(dist|egg)-info(/|$)")
_REQUIREMENTS = re.compile(r"requirements[^/]*\.(txt|in)")
_PACKAGES = (LAPTOP, "Pipfile", "Pipfile.lock", "poetry.lock", "pyproject.toml", "setup.cfg", "uv.lock")
"""The files by which the engine, or its setup, installs packages for a program."""
STACK_FILE = re.compile(r"stacks/Pulumi\.([^/]+)\.ya?ml")
_TEMPLATE = re.compile(r"templates/(\w+)\.py")
_CLUSTERS = "slipway:persistentResources."
_LONGEST, _HEADLINE = 300, 100
_UNCHANGED = ", so nothing was changed"


def program(change: Change) -> Iterator[Finding]:
    yield from _failed(change)
    unguarded = tuple(_unguarded(change))
    yield from unguarded
    yield from _stacks_gone(change)
    yield from slipway_changed(change.files.pins) if change.files.pins else ()
    yield from _edited(change.files, guarded=not unguarded)
    yield from _running(change.files.template_code)


def _edited(files: Files, *, guarded: bool) -> Iterator[Finding]:
    program: list[str] = []
    unproven: list[str] = []
    judging, packages, deploying = [], [], []
    told, others = (files.pins.slipway, files.pins.others) if files.pins else (None, ())
    for file in sorted(files.touched):
        if reaches(file, files.reached):
            unproven.append(file)
        elif file == PINS:
            unproven += [file] if others or not told else []
        elif file == LAPTOP and _same_slipway(files):
            continue
        elif file in _PACKAGES and not files.of_slipway:
            unproven.append(file)
        elif _REQUIREMENTS.fullmatch(file):
            packages.append(file)
        elif file.startswith((OUTSIDE, *DEPLOYING)):
            deploying.append(file)
        elif _INSTALLED.search(file):
            unproven.append(file)
        elif PurePosixPath(file).suffix in PROSE:
            continue
        elif not files.of_slipway:
            unproven += [file] if file.startswith(_SHADOWING) or _imported(file, _NOT_IMPORTED) else []
        elif file.startswith(_JUDGING):
            judging.append(file)
        elif file.startswith(_PROGRAM) or _imported(file, _NOT_IMPORTED_HERE):
            data = file.startswith("slipway/") and file.endswith(_DATA)
            (program if data or file.startswith(ELSEWHERE) else unproven).append(file)
    if not guarded:
        program, unproven = sorted((*program, *unproven)), []
    if unproven:
        yield KINDS["guard-unproven"].of(
            Subject("program", "guard"),
            "Whether jobs still stop a deletion can't be proven",
            more=f": what the deployment runs is edited, {_listed(unproven)}; have somebody read it",
            details=(*_lines(unproven), *others),
        )
    for kind, subject, words, listed, more in (
        ("program-edited", "program", "Commands or tables of Slipway are edited", program, ""),
        (
            "workflow-edited",
            "review and policy",
            "What judges changes like this one is edited",
            judging,
            "; this review runs the base branch's",
        ),
        ("program-edited", "requirements", "Packages for tests or releases are edited", packages, ""),
        ("workflow-edited", "workflows", "What previews, approves or deploys is edited", deploying, ""),
    ):
        if listed:
            yield KINDS[kind].of(Subject(subject), words, more=f": {_listed(listed)}{more}", details=_lines(listed))


def _same_slipway(files: Files) -> bool:
    """Tell whether the laptop's pins get the very slipway of the deployment's, and nothing else: that one is
    reported."""
    both = [pins.slipway if pins and not pins.others else None for pins in (files.pins, files.laptop)]
    return both[0] is not None and both[0] == both[1]


def _imported(file: str, never: tuple[str, ...]) -> bool:
    """Tell whether Python may import it. A file without an ending may be a link to a folder."""
    link = file.isidentifier() and not file.isupper()
    return link or (file.endswith(_CODE) and not file.startswith(never))


def _running(template_code: Mapping[str, Iterable[str]]) -> Iterator[Finding]:
    for file, does in template_code.items():
        words = f"`{file}` does more than declare a template, with the rights of whoever deploys: it {named(does)}"
        yield KINDS["guard-unproven"].of(Subject("template file", file), words, details=_lines(does, quote=False))


def _stacks_gone(change: Change) -> Iterator[Finding]:
    for file in sorted(change.files.removed):
        match = STACK_FILE.fullmatch(file)
        if match is None:
            continue
        here = match[1] == change.stack and change.before is not None
        when = "is deleted while the stack is deployed:" if here else "is deleted; if the stack is deployed,"
        words = f"`{file}` {when} its clusters, buckets and grants stay, paid, and nothing tends them"
        yield KINDS["stack-gone"].of(Subject("stack", match[1]), words)


def _unguarded(change: Change) -> Iterator[Finding]:
    preview, guards = change.preview, [file for file in sorted(change.files.removed) if file in _GUARDING]
    guards = guards if change.files.of_slipway else []
    unregistered = preview is not None and preview.complete and preview.hooks is not None and GUARD not in preview.hooks
    if guards or unregistered:
        why = f"{_listed(guards)} is deleted" if guards else f"the program does not register the hook `{GUARD}`"
        words = "Nothing asks for unfinished jobs any more before a cluster, an account or a bucket is deleted"
        yield KINDS["guard-removed"].of(Subject("guard"), words, more=f": {why}")


def _failed(change: Change) -> Iterator[Finding]:
    if change.preview is None or not change.preview.errors:
        return
    first, *others = (error.removeprefix("error: ").strip() for error in change.preview.errors)
    said, *below = first.splitlines() or ["the engine does not say why"]
    rest = [line.strip() for text in ("\n".join(below), *others) for line in text.splitlines() if line.strip()]
    fault, _ = Fault.read(said, below)
    cause = short(fault.what.removesuffix(_UNCHANGED), _LONGEST).rstrip(".")
    why, fix = (text.partition("\n")[0] for text in (fault.why, fault.fix))
    start, do = "The deployment is refused: ", fix.partition("; ")[0]
    told = (
        ("; ".join(filter(None, parts)))
        for parts in ((cause, why, fix), (cause, why, do), (why, do), (cause, why), (why,), (cause,))
        if parts[0]
    )
    words = next((start + one for one in told if len(one.split()) <= LONGEST - len(start.split())), start + cause)
    rest = rest if cause in words else [cause, *rest]
    yield KINDS["preview-failed"].of(
        Subject("preview"),
        words,
        clause=start + cause if len(start + cause) <= _HEADLINE else "the deployment is refused",
        details=[*(_meets(change) if change.after is None else ()), *(short(line, _LONGEST) for line in rest)],
    )


def _meets(change: Change) -> Iterator[str]:
    """Yield the edits of a refused declaration, and the jobs that they concern."""
    edits = change.files.stacks.get(change.stack, ())
    yield from (f"edited: {each}" for each in edits)
    clusters = {each.key.split(".")[1] for each in edits if each.key.startswith(_CLUSTERS)}
    templates = {match[1] for file in change.files.touched if (match := _TEMPLATE.fullmatch(file))}
    for one in oldest_first(() if isinstance(change.live.jobs, Unknown) else change.live.jobs):
        if one.template in templates or any(is_generation_of(one.persistent_resource_id, name) for name in clusters):
            yield f"{job(one, change.now)} goes on"


def _listed(files: Iterable[str]) -> str:
    return named(f"`{file}`" for file in files)


def _lines(files: Iterable[str], *, quote: bool = True) -> tuple[str, ...]:
    listed = tuple(f"`{file}`" if quote else file for file in files)
    return listed if len(listed) > MOST_NAMED + 1 else ()
