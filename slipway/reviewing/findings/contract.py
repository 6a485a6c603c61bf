"""Code of a job that no longer matches its template, found as problems that only the new side has. Pure."""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet

from slipway.answers.comparison import Comparison
from slipway.model.catalog.template import Template
from slipway.model.findings.finding import Finding, Grade, Subject
from slipway.model.findings.kinds import KINDS
from slipway.model.machines.images import images_of
from slipway.model.rules.code import SCRIPT
from slipway.reviewing.change.files import Files
from slipway.reviewing.change.python_code import PLACE, RESTORES, SAVES, PythonFile
from slipway.reviewing.findings.job_code import Start, folders, starts

Code = Mapping[str, PythonFile]
Problem = tuple[Grade, str]
_OF_PLATFORM = re.compile(
    r"(SLIPWAY_(?!INPUT)|AIP_|CLOUD_ML_|CUDA|NVIDIA|NCCL|PYTHON|XDG_|HF_HOME|LOCAL_|GROUP_|MASTER_|TORCHELASTIC).*"
    r"|CLUSTER_SPEC|TF_CONFIG|RANK|WORLD_SIZE|NODE_RANK|HOME|PATH|USER|HOSTNAME|TMPDIR|PWD|SHELL|LANG|TPU_.*"
)
_NEW_NAMES = {"tomllib": 11, "enum.StrEnum": 11, "typing.Self": 11, "datetime.UTC": 11, "asyncio.TaskGroup": 11}
_NEW_NAMES |= {"itertools.batched": 12, "typing.override": 12, "itertools.pairwise": 10, "zoneinfo": 9, "graphlib": 9}
"""The minor version of Python 3 that has a module or name first."""
_NEEDS = (("numpy>=2.3", 11), ("numpy>=2.1", 10), ("scipy>=1.16", 11), ("scipy>=1.14", 10), ("pandas>=3", 11))
_NEEDS += (("scikit-learn>=1.8", 11), ("scikit-learn>=1.7", 10), ("torch>=2.9", 10), ("jax>=0.7", 11), ("jax>=0.5", 10))
_NEEDS += (("networkx>=3.5", 11), ("xgboost>=3", 10), ("matplotlib>=3.10", 10), ("ipython>=9", 11))
"""The minor version of Python 3 that versions of packages require, as PyPI lists it."""


def broken_contracts(comparison: Comparison, files: Files) -> Iterator[Finding]:
    for name, template in comparison.new.templates.items():
        old = comparison.old.templates.get(name, template)
        before = _code(files.code_before, folders(old, files))
        after = _code(files.code, folders(template, files))
        known = set(_problems(old, before, files.code_before)) if name in comparison.old.templates else set()
        found = [problem for problem in _problems(template, after, files.code) if problem not in known]
        found += _checkpoints(template, before.values(), after.values())
        found = sorted(dict.fromkeys(found), reverse=True, key=lambda problem: problem[0])
        if found:
            grade, sentence = found[0]
            more = f", and {len(found) - 1} more problems" if len(found) > 1 else ""
            fix = "change the code and its template together"
            finding = KINDS["code-contract-broken"].of(Subject("template", name), f"{sentence}{more}", fix, grade=grade)
            yield replace(finding, details=tuple(text for _, text in found[1:]))


def _code(code: Mapping[str, str], roots: tuple[str, ...]) -> Code:
    own = {path: text for path, text in code.items() if path.startswith(roots) and path.endswith(".py")}
    return {path: PythonFile(path, text) for path, text in own.items()}


def _problems(template: Template, code: Code, texts: Mapping[str, str]) -> Iterator[Problem]:
    if not code:
        return
    for start in starts(template):
        file = code.get(start.file) or code.get(f"{start.file[:-3]}/__main__.py")
        if file is not None:
            yield from _argument_problems(start, file, code)
            yield from _import_problems(start.module, code)
        elif start.module != SCRIPT:
            yield Grade.BLOCKING, f"new jobs fail: module `{start.module}` does not exist"
    yield from _variable_problems(template, code)
    yield from _python_problems(template, code, texts)
    words = " ".join(file.code for file in code.values())
    for metric, _ in template.study.metrics if template.study else ():
        if metric not in words:
            yield Grade.BLOCKING, f"no line of the code names the study's metric `{metric}`, so trials have no result"


def _argument_problems(start: Start, file: PythonFile, code: Code) -> Iterator[Problem]:
    given = {argument.partition("=")[0] for argument in start.arguments}
    known = frozenset[str]().union(*(each.flags for each in code.values()))
    for name in sorted(given):
        is_known = any(flag.startswith(name.replace("--no-", "--", 1)) for flag in known)
        if file.flags and name.startswith("--") and not is_known:
            yield Grade.BLOCKING, f"new jobs fail: `{file.path}` does not know the argument `{name}`"
    for argument in file.arguments:
        is_given = any(name.startswith(tuple(given)) for name in argument.names)
        if argument.is_required and not is_given:
            yield Grade.BLOCKING, f"new jobs fail: `{file.path}` requires `{argument.names[-1]}`, which is not passed"
    for text in sorted(start.arguments):
        name, _, value = text.partition("=")
        listed = [argument for argument in file.arguments if name in argument.names]
        if value and "${" not in value and listed and all(argument.rejects(value) for argument in listed):
            yield Grade.BLOCKING, f"new jobs fail: `{file.path}` does not accept `{text}`"
    if file.positions > start.count and not file.flags:
        yield Grade.BLOCKING, f"new jobs fail: `{file.path}` reads {file.positions} arguments, and {start.count} are passed"


def _import_problems(module: str, code: Code) -> Iterator[Problem]:
    """Follow the imports of the folders' own modules."""
    tops = {path.split("/")[1] for path in code}
    tops |= {module.partition(".")[0]}
    seen: set[str] = set()
    left = [module]
    while left:
        name = left.pop()
        if name in seen or name.partition(".")[0] not in tops:
            continue
        seen.add(name)
        path = f"jobs/{name.replace('.', '/')}"
        parent = code.get(f"{path.rpartition('/')[0]}.py") or code.get(f"{path.rpartition('/')[0]}/__init__.py")
        file = code.get(f"{path}.py") or code.get(f"{path}/__init__.py")
        is_folder = any(each.startswith(f"{path}/") for each in code)
        is_defined = parent is not None and re.search(rf"\b{name.rpartition('.')[2]}\b|import \*", parent.code)
        if file is None and not is_folder and not is_defined:
            yield Grade.BLOCKING, f"new jobs fail: the code imports `{name}`, which does not exist"
        left += [*(file.imports if file else ()), name.rpartition(".")[0]]


def _variable_problems(template: Template, code: Code) -> Iterator[Problem]:
    required = frozenset[str]().union(*(file.variables for file in code.values()))
    for offer in template.offers:
        for pool in offer.worker_pools:
            task = pool.get("pythonPackageSpec") or pool.get("containerSpec") or {}
            declared = {str(entry.get("name")).removesuffix("__SECRET") for entry in task.get("env") or ()}
            for name in sorted(required - declared):
                if name.startswith("SLIPWAY_INPUT_"):
                    yield Grade.BLOCKING, f"the code reads input `{name}`, which the template does not declare"
                elif not _OF_PLATFORM.fullmatch(name):
                    yield Grade.WARNING, f"the code needs the variable `{name}`, which the template does not set"


def _python_problems(template: Template, code: Code, texts: Mapping[str, str]) -> Iterator[Problem]:
    pools = [pool for offer in template.offers for pool in offer.worker_pools]
    for image in images_of(pools):
        minor = int(image.python.partition(".")[2])
        has = f"image `{image.name}` has Python {image.python}"
        for file in code.values():
            problem = file.syntax_problem(minor) if minor <= sys.version_info.minor else ""
            if problem:
                yield Grade.BLOCKING, f"new jobs fail: {has}, which can't parse `{file.path}`, {problem}"
            for name in file.imports:
                if _NEW_NAMES.get(name, 0) > minor:
                    yield Grade.BLOCKING, f"new jobs fail: `{name}` needs Python 3.{_NEW_NAMES[name]}, and {has}"
        for line in template.requirements:
            if _needed(line) > minor:
                yield Grade.BLOCKING, f"new jobs fail: `{line}` needs Python 3.{_needed(line)}, and {has}"
        for path in {f"{'/'.join(path.split('/')[:2])}/pyproject.toml" for path in code}:
            required = _requires_python(texts.get(path, ""))
            if not required.contains(f"3.{minor}.99"):
                yield Grade.BLOCKING, f"new jobs fail: `{path}` requires Python {required}, and {has}"


def _needed(line: str) -> int:
    """Return the minor version of Python 3 that a pinned requirement needs; 0 if that is not known."""
    try:
        required = Requirement(line.partition(" --hash")[0])
    except InvalidRequirement:
        return 0
    versions = [each.version for each in required.specifier if each.operator == "=="]
    for known, minor in _NEEDS:
        package = Requirement(known)
        if package.name == required.name and versions and package.specifier.contains(versions[0]):
            return minor
    return 0


def _requires_python(pyproject: str) -> SpecifierSet:
    try:
        return SpecifierSet(str(tomllib.loads(pyproject).get("project", {}).get("requires-python", "")))
    except (tomllib.TOMLDecodeError, InvalidSpecifier, AttributeError):
        return SpecifierSet("")


def _checkpoints(template: Template, before: Collection[PythonFile], after: Collection[PythonFile]) -> Iterator[Problem]:
    """Compare where code saves, and whether it does."""
    sides = [" \n".join(file.code for file in files) for files in (before, after)]
    lost = [bool(pattern.search(sides[0])) and not pattern.search(sides[1]) for pattern in (PLACE, SAVES, RESTORES)]
    if not after:
        return
    if lost[0]:
        yield Grade.BLOCKING, "no line names `SLIPWAY_OUTPUT` or another bucket any more: results are lost when a job ends"
    if not template.checkpoints:
        return
    if lost[1]:
        yield Grade.BLOCKING, "no line saves a checkpoint any more: a restarted job begins from the start"
    if lost[2]:
        yield Grade.BLOCKING, "no line restores a checkpoint any more: a restarted job begins from the start"
    names = [frozenset[str]().union(*(file.checkpoint_names for file in files)) for files in (before, after)]
    gone = sorted(names[0] - names[1])
    come = sorted(names[1] - names[0])
    if gone and come:
        yield Grade.BLOCKING, f"checkpoints are at `{come[0]}` instead of `{gone[0]}`: a restarted job finds no earlier one"
