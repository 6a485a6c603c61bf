"""Code of a job that no longer matches its template, found as problems that only the new side has. Pure."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import chain

from slipway.answers.comparison import Comparison
from slipway.model.catalog.template import Template
from slipway.model.findings.finding import Finding, Grade, Subject
from slipway.model.findings.kinds import KINDS
from slipway.model.machines.images import PrebuiltImage, images_of
from slipway.model.rules.code import SCRIPT
from slipway.reviewing.change.files import Files
from slipway.reviewing.change.pins import package
from slipway.reviewing.change.python_code import PLACE, RESTORES, SAVES, JobCode, PythonFile
from slipway.reviewing.findings.job_code import Start, folders, starts, tasks

_OF_PLATFORM = re.compile(
    r"(SLIPWAY_(?!INPUT)|AIP_|CLOUD_ML_|CUDA|NVIDIA|NCCL|PYTHON|XDG_|HF_HOME|LOCAL_|GROUP_|MASTER_|TORCHELASTIC|TPU_).*"
    r"|CLUSTER_SPEC|TF_CONFIG|RANK|WORLD_SIZE|NODE_RANK|HOME|PATH|USER|HOSTNAME|TMPDIR|PWD|SHELL|LANG"
)
_NEW_NAMES = {"tomllib": 11, "enum.StrEnum": 11, "typing.Self": 11, "datetime.UTC": 11, "asyncio.TaskGroup": 11}
_NEW_NAMES |= {"itertools.batched": 12, "typing.override": 12, "itertools.pairwise": 10, "zoneinfo": 9, "graphlib": 9}
"""The minor version of Python 3 that has a module or name first."""
_NEEDS = {"numpy": {(2, 1): 10, (2, 3): 11}, "scipy": {(1, 14): 10, (1, 16): 11}, "jax": {(0, 5): 10, (0, 7): 11}}
_NEEDS |= {"pandas": {(3, 0): 11}, "scikit-learn": {(1, 7): 10, (1, 8): 11}, "networkx": {(3, 3): 10, (3, 5): 11}}
_NEEDS |= {"torch": {(2, 9): 10}, "xgboost": {(3, 0): 10}, "matplotlib": {(3, 10): 10}, "ipython": {(9, 0): 11}}
"""The minor version of Python 3 that versions of packages require, as PyPI lists it."""
_PINNED = re.compile(r"([\w.-]+)(?:\[.*\])?\s*==\s*(\d+)\.(\d+)")
_REQUIRES = re.compile(r"""requires-python\s*=\s*["']\s*>=?\s*3\.(\d+)""")
_FIX = "change the code and its template together"
_NO_FILE = PythonFile("", "")


def broken_contracts(comparison: Comparison, files: Files) -> Iterator[Finding]:
    for name, template in comparison.new.templates.items():
        old = comparison.old.templates.get(name, template)
        roots = tuple({*folders(old, files), *folders(template, files)})
        before = JobCode.within(files.code_before, roots)
        after = JobCode.within(files.code, roots)
        known = {*_problems(old, before, files.code_before)} if name in comparison.old.templates else set()
        found = [problem for problem in _problems(template, after, files.code) if problem not in known]
        found += _lost_checkpoints(template, before, after)
        unset = [problem for problem in _unset_variables(template, after) if problem not in _unset_variables(old, before)]
        problems = list(dict.fromkeys((*found, *unset)))
        if problems:
            grade = Grade.BLOCKING if found else Grade.WARNING
            finding = KINDS["code-contract-broken"].of(Subject("template", name), problems[0], _FIX, grade=grade)
            yield replace(finding, details=tuple(problems[1:]))


def _problems(template: Template, code: JobCode, texts: Mapping[str, str]) -> Iterator[str]:
    """Yield why new jobs fail; nothing if the code is not known."""
    for start in starts(template) if code.files else ():
        file = code.modules.get(start.module) or code.modules.get(f"{start.module}.__main__")
        if file:
            yield from _argument_problems(start, file, code)
            yield from _missing_imports(start, code)
        elif start.module != SCRIPT:
            yield f"new jobs fail: module `{start.module}` does not exist"
    for image in images_of(pool for offer in template.offers for pool in offer.worker_pools):
        yield from _python_problems(image, template, code, texts)
    metrics = template.study.metrics if template.study and code.files else ()
    for metric, _ in metrics:
        if metric not in code.text:
            yield f"trials have no result: no line of the code names the metric `{metric}`"


def _argument_problems(start: Start, file: PythonFile, code: JobCode) -> Iterator[str]:
    fail = f"new jobs fail: `{file.path}`"
    for name in sorted(start.flags) if file.flags else ():
        if not any(flag.startswith(name.replace("--no-", "--", 1)) for flag in code.flags):
            yield f"{fail} does not know the argument `{name}`"
    for argument in file.arguments:
        if argument.is_missing(start.flags):
            yield f"{fail} requires `{argument.names[-1]}`, which is not passed"
        own = [text for text in sorted(start.arguments) if text.partition("=")[0] in argument.names and "${" not in text]
        for text in own:
            if "=" in text and argument.rejects(text.partition("=")[2]):
                yield f"{fail} does not accept `{text}`"
    if file.positions > start.count and not file.flags:
        yield f"{fail} reads {file.positions} arguments, and {start.count} are passed"


def _missing_imports(start: Start, code: JobCode) -> Iterator[str]:
    """Follow the imports of the folders' own modules."""
    packages = {name.rpartition(".")[0] for name in code.modules}
    tops = {name.partition(".")[0] for name in code.modules}
    seen: set[str] = set()
    left = [start.module]
    while left:
        name = left.pop()
        parent = name.rpartition(".")[0]
        if name in seen or name.partition(".")[0] not in tops:
            continue
        seen.add(name)
        defined = code.modules.get(parent, _NO_FILE).code
        if name not in code.modules.keys() | packages and name.rpartition(".")[2] not in defined:
            yield f"new jobs fail: the code imports `{name}`, which does not exist"
        left += [*code.modules.get(name, _NO_FILE).imports, parent]


def _unset_variables(template: Template, code: JobCode) -> list[str]:
    """Return the inputs and variables that code needs and some worker pool does not set."""
    found: list[str] = []
    for _, task in tasks(template):
        declared = {str(entry.get("name")).removesuffix("__SECRET") for entry in task.get("env") or ()}
        for name in sorted(code.variables - declared):
            if not _OF_PLATFORM.fullmatch(name):
                found.append(f"the code needs the variable `{name}`, which the template does not declare")
    return found


def _python_problems(
    image: PrebuiltImage, template: Template, code: JobCode, texts: Mapping[str, str]
) -> Iterator[str]:
    minor = int(image.python.partition(".")[2])
    has = f"image `{image.name}` has Python {image.python}"
    # An older Python than the image's can't parse its code.
    checked = code.files.values() if minor <= sys.version_info.minor else ()
    problems = {file.path: file.syntax_problem(minor) for file in checked}
    for path in filter(problems.get, problems):
        yield f"new jobs fail: {has}, which can't parse `{path}`, {problems[path]}"
    imports = chain.from_iterable(file.imports for file in code.files.values())
    needs = {name: _NEW_NAMES[name] for name in imports if name in _NEW_NAMES}
    needs |= {line.partition(" ")[0]: _needed(line) for line in template.requirements}
    for path in {"/".join((*path.split("/")[:2], "pyproject.toml")) for path in code.files}:
        needs[path] = max(map(int, _REQUIRES.findall(texts.get(path, ""))), default=0)
    for name in sorted(needs):
        if needs[name] > minor:
            yield f"new jobs fail: `{name}` needs Python 3.{needs[name]}, and {has}"


def _needed(line: str) -> int:
    """Return the minor version of Python 3 that a pinned requirement needs; 0 if that is not known."""
    pinned = _PINNED.match(line)
    known = _NEEDS.get(package(pinned[1]), {}) if pinned else {}
    version = (int(pinned[2]), int(pinned[3])) if pinned else (0, 0)
    return max((minor for first, minor in known.items() if first <= version), default=0)


def _lost_checkpoints(template: Template, before: JobCode, after: JobCode) -> Iterator[str]:
    """Compare whether code saves and restores, and where."""
    again = "a restarted job begins from the start"
    if _is_lost(PLACE, before, after):
        yield "results are lost when a job ends: no line names `SLIPWAY_OUTPUT` or another bucket any more"
    if not template.checkpoints:
        return
    if _is_lost(SAVES, before, after):
        yield f"{again}: no line saves a checkpoint any more"
    if _is_lost(RESTORES, before, after):
        yield f"{again}: no line restores a checkpoint any more"
    gone = sorted(before.checkpoint_names - after.checkpoint_names)
    come = sorted(after.checkpoint_names - before.checkpoint_names)
    if gone and come:
        yield f"{again}: the checkpoint's place has the name `{come[0]}` instead of `{gone[0]}`"


def _is_lost(pattern: re.Pattern[str], before: JobCode, after: JobCode) -> bool:
    return bool(after.files) and bool(pattern.search(before.text)) and not pattern.search(after.text)
