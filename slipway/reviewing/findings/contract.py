"""Code of a job that no longer matches its template, found as problems that only the new side has. Pure."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace

from slipway.answers.comparison import Comparison
from slipway.model.catalog.template import Template
from slipway.model.findings.finding import Finding, Grade, Subject
from slipway.model.findings.kinds import KINDS
from slipway.model.labels import INPUT
from slipway.model.machines.images import PrebuiltImage, images_of
from slipway.model.rules.code import SCRIPT
from slipway.reviewing.change.files import Files
from slipway.reviewing.change.pins import package
from slipway.reviewing.change.python_code import CHECKPOINT_LINE, OUTPUT_LINE, PLACE, RESTORES, SAVES, JobCode
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
_AGAIN = "a restarted job begins from the start"
_NO_TEMPLATE = Template("", "", "", (), (), ())
_FIX = "change the code and its template together"


def broken_contracts(comparison: Comparison, files: Files) -> Iterator[Finding]:
    for name, template in comparison.new.templates.items():
        old = comparison.old.templates.get(name, _NO_TEMPLATE)
        roots = (*folders(old, files.code_before), *folders(template, files.code))
        before = JobCode.within(files.code_before, roots)
        after = JobCode.within(files.code, roots)
        problems = [*_problems(template, after, files.code), *_lost_checkpoints(template, before, after)]
        broken = dict.fromkeys(problems if after.files else ())
        for problem in _problems(old, before, files.code_before):
            broken.pop(problem, None)
        unset = _unset_variables(template, after) - _unset_variables(old, before)
        found = (
            *broken,
            *[f"the code needs variable `{name}`, which the template does not set" for name in sorted(unset)],
        )
        if found:
            # A variable that the code alone has begun to read may be set by the image.
            is_sure = broken or unset & before.variables or any(name.startswith(INPUT) for name in unset)
            grade = Grade.BLOCKING if is_sure else Grade.WARNING
            finding = KINDS["code-contract-broken"].of(Subject("template", name), found[0], _FIX, grade=grade)
            yield replace(finding, details=found[1:])


def _problems(template: Template, code: JobCode, texts: Mapping[str, str]) -> Iterator[str]:
    """Yield why new jobs fail."""
    for start in starts(template):
        yield from _start_problems(start, code)
        yield from _missing_imports(start.module, code) if start.module != SCRIPT else ()
    for image in images_of(pool for offer in template.offers for pool in offer.worker_pools):
        yield from _python_problems(image, template, code, texts)
    metrics = dict(template.study.metrics if template.study else ())
    for metric in metrics.keys() - {*re.findall(r"[\w.-]+", code.text)}:
        yield f"trials have no result: no line of the code names the metric `{metric}`"


def _start_problems(start: Start, code: JobCode) -> Iterator[str]:
    fail = f"new jobs fail: `{start.module}`"
    for name in sorted(start.values.keys() - (code.flags or start.values.keys())):
        yield f"{fail} does not know the argument `{name}`"
    for argument in code.arguments(start.module):
        given = [value for name in argument.names for value in start.values.get(name, ())]
        if argument.is_required and start.values.keys().isdisjoint(argument.names):
            yield f"{fail} requires `{argument.names[-1]}`, which is not passed"
        for value in given:
            if not argument.accepts(value):
                yield f"{fail} does not accept `{argument.names[-1]}={value}`"
    if code.positions(start.module) > start.count:
        yield f"{fail} reads {code.positions(start.module)} arguments, and {start.count} are passed"


def _missing_imports(start: str, code: JobCode) -> Iterator[str]:
    """Follow the imports of the folders' own modules."""
    known = {*code.files, *[name.rpartition(".")[0] for name in code.files]}
    own = re.compile("|".join(rf"{re.escape(name.partition('.')[0])}(\..*)?" for name in known))
    names = [start]
    for name in names:
        parent, _, last = name.rpartition(".")
        if name not in known and last not in code.files.get(parent, ""):
            yield f"new jobs fail: they import `{name}`, which does not exist"
        imported = filter(own.fullmatch, (*code.imports(name), parent))
        names += {*imported} - {*names}


def _unset_variables(template: Template, code: JobCode) -> frozenset[str]:
    """Return the inputs and variables that code needs and some worker pool does not set."""
    unset: set[str] = set()
    for task in tasks(template):
        declared = {str(entry.get("name")).removesuffix("__SECRET") for entry in task.get("env", ())}
        unset |= code.variables - declared
    return frozenset(unset - {*filter(_OF_PLATFORM.fullmatch, unset)})


def _python_problems(
    image: PrebuiltImage, template: Template, code: JobCode, texts: Mapping[str, str]
) -> Iterator[str]:
    minor = int(image.python.partition(".")[2])
    has = f"image `{image.name}` has Python {image.python}"
    needs = {line.partition(" ")[0]: _needed(line) for line in template.requirements}
    for module in code.files:
        needs.update({name: _NEW_NAMES.get(name, 0) for name in code.imports(module)})
        path = f"jobs/{module.partition('.')[0]}/pyproject.toml"
        needs[path] = max(map(int, _REQUIRES.findall(texts.get(path, ""))), default=0)
        # An older Python than the image's can't parse its code.
        problem = code.syntax_problem(module, minor) if minor <= sys.version_info.minor else ""
        if problem:
            yield f"new jobs fail: {has}, which can't parse module `{module}`, {problem}"
    for name in sorted(needs):
        if needs[name] > minor:
            yield f"new jobs fail: `{name}` needs Python 3.{needs[name]}, and {has}"


def _needed(line: str) -> int:
    """Return the minor version of Python 3 that a pinned requirement needs; 0 if that is not known."""
    name, major, minor = (*_PINNED.findall(line), ("", "0", "0"))[0]
    known = _NEEDS.get(package(name), {})
    return max((needed for first, needed in known.items() if first <= (int(major), int(minor))), default=0)


def _lost_checkpoints(template: Template, before: JobCode, after: JobCode) -> Iterator[str]:
    """Compare whether code saves and restores, and where."""
    effects = {PLACE: "results are lost when a job ends: no line names `SLIPWAY_OUTPUT` or another bucket any more"}
    gone = sorted(before.names(CHECKPOINT_LINE) - after.names(OUTPUT_LINE))
    come = sorted(after.names(OUTPUT_LINE) - before.names(OUTPUT_LINE))
    if template.checkpoints:
        effects[SAVES] = f"{_AGAIN}: no line saves a checkpoint any more"
        effects[RESTORES] = f"{_AGAIN}: no line restores a checkpoint any more"
    for pattern, effect in effects.items():
        if pattern.search(before.text) and not pattern.search(after.text):
            yield effect
    if template.checkpoints and gone and come:
        yield f"{_AGAIN}: the checkpoint's place has the name `{come[0]}` instead of `{gone[0]}`"
