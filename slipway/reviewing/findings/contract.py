"""Code of a job that no longer matches its template, found as problems that only the new side has. Pure."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import chain, filterfalse

from slipway.answers.comparison import Comparison
from slipway.model.catalog.template import Template
from slipway.model.findings.finding import Finding, Grade, Subject
from slipway.model.findings.kinds import KINDS
from slipway.model.labels import INPUT
from slipway.model.machines.images import PrebuiltImage, images_of
from slipway.model.own_settings import OF_SECRET
from slipway.model.rules.code import SCRIPT
from slipway.reviewing.change.files import Files
from slipway.reviewing.change.pins import package
from slipway.reviewing.change.python_code import Argument, JobCode
from slipway.reviewing.findings.job_code import Start, folders, starts, tasks
from slipway.reviewing.findings.packed_files import imported_modules, package_problems
from slipway.reviewing.findings.results import losses, moved_outputs

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
_LOCAL_VERSION = re.compile(r"==\s*[\w.!]+\+[\w.]+")
_INDEX = re.compile(r"(-i|--(extra-)?index-url|-f|--find-links)\b.*")
_OF_IMAGES = frozenset({"numpy", "pandas", "scipy", "scikit-learn", "matplotlib", "pyyaml", "requests", "tqdm", "six"})
_OF_IMAGES |= {"pillow", "absl-py", "protobuf", "torchvision", "torchaudio", "cloudml-hypertune"}
_OF_IMAGES |= {"google-cloud-storage", "google-cloud-bigquery", "google-cloud-aiplatform"}
"""Packages that prebuilt images may have besides their framework."""
_MODULES = {"scikit-learn": "sklearn", "opencv-python": "cv2", "python-dateutil": "dateutil", "beautifulsoup4": "bs4"}
_MODULES |= {
    "pyyaml": "yaml",
    "pillow": "PIL",
    "absl-py": "absl",
    "protobuf": "google",
    "cloudml-hypertune": "hypertune",
}
"""The modules of packages that have another name."""
_REQUIRES = re.compile(r"""requires-python\s*=\s*["']\s*>=?\s*3\.(\d+)""")
_NAME = re.compile(r"^[A-Za-z0-9][\w.-]*")
_INPUT = re.compile(INPUT)
_NO_TEMPLATE = Template("", "", "", (), (), ())
_FIX = "change the code and its template together"


def broken_contracts(comparison: Comparison, files: Files) -> Iterator[Finding]:
    for name, template in comparison.new.templates.items():
        yield from _of_template(comparison.old.templates.get(name, _NO_TEMPLATE), template, files)


def _of_template(old: Template, new: Template, files: Files) -> Iterator[Finding]:
    roots = (*folders(old, files.code_before), *folders(new, files.code))
    before = JobCode.within(files.code_before, roots)
    after = JobCode.within(files.code, roots)
    problems = [*_requirement_problems(old, new, after), *moved_outputs(old, new)]
    unset: frozenset[str] = frozenset()
    # Code that is not in the repository is unknown.
    if after.files:
        problems += _problems(new, after, files.code, files.left_out)
        problems += losses(old, new, before, after)
        unset = _unset_variables(new, after) - _unset_variables(old, before)
    known = frozenset(_problems(old, before, files.code_before, files.left_out_before))
    broken = tuple(filterfalse(known.__contains__, dict.fromkeys(problems)))
    variables = map("the code needs variable `{}`, which the template does not set".format, sorted(unset))
    # A rejected program tells nothing about its requirements.
    imports = () if old == new else _new_imports(new, before, after)
    found = (*broken, *variables, *imports)
    if not found:
        return
    # A variable that the code alone has begun to read may be set by the image.
    inputs = {*filter(_INPUT.match, unset)}
    is_sure = any((broken, inputs, unset & before.variables))
    grade = Grade.BLOCKING if is_sure else Grade.WARNING
    finding = KINDS["code-contract-broken"].of(Subject("template", new.name), found[0], _FIX, grade=grade)
    yield replace(finding, details=found[1:])


def _problems(template: Template, code: JobCode, texts: Mapping[str, str], left_out: frozenset[str]) -> Iterator[str]:
    """Yield why new jobs fail. `left_out`: the files that no package has."""
    for start in starts(template):
        yield from _start_problems(start, code)
        if start.module != SCRIPT:
            yield from _missing_imports(start.module, code)
    yield from package_problems(template, code, texts, left_out)
    for image in _images(template):
        yield from _python_problems(image, template, code, texts)


def _images(template: Template) -> frozenset[PrebuiltImage]:
    pools = chain.from_iterable(offer.worker_pools for offer in template.offers)
    return frozenset(images_of(pools))


def _requirement_problems(old: Template, new: Template, code: JobCode) -> Iterator[str]:
    """Compare which packages are installed."""
    added = [line for line in new.requirements if line not in old.requirements]
    has_index = any(map(_INDEX.fullmatch, new.requirements))
    for line in () if has_index else filter(_LOCAL_VERSION.search, added):
        yield f"new jobs fail: PyPI does not have `{line}`, and no line of the requirements names another index"
    images = _images(new)
    brought = {*_OF_IMAGES, *[image.framework for image in images]}
    removed = _packages(old) - _packages(new) - brought
    imported = code.imported if images else frozenset()
    for name in sorted(removed):
        module = _MODULES.get(name, name.replace("-", "_"))
        if module in imported:
            yield f"the code imports `{module}`, which the requirements no longer have and the image may not have"


def _new_imports(new: Template, before: JobCode, after: JobCode) -> Iterator[str]:
    """Yield modules that the code newly imports, and that neither its requirements nor a prebuilt image bring."""
    images = _images(new)
    if not images:
        return
    brought = {*_OF_IMAGES, *[image.framework for image in images], *_packages(new)}
    modules = {_MODULES.get(name, name.replace("-", "_")).partition(".")[0] for name in brought}
    own = {module.partition(".")[0] for module in after.files}
    known = {*modules, *own, *sys.stdlib_module_names, "google"}
    for module in sorted(after.imported - before.imported - known):
        yield f"the code now imports `{module}`, which its requirements do not list and the image may not have"


def _packages(template: Template) -> set[str]:
    names = chain.from_iterable(map(_NAME.findall, template.requirements))
    return set(map(package, names))


def _start_problems(start: Start, code: JobCode) -> Iterator[str]:
    fail = f"new jobs fail: `{start.module}`"
    unknown = start.values.keys() - code.flags if code.flags else set()
    for name in sorted(unknown):
        yield f"{fail} does not know the argument `{name}` of {start.passer}"
    for argument in code.arguments(start.module):
        for problem in _argument_problems(argument, start):
            yield f"new jobs fail: {problem}"
    positions = code.positions(start.module)
    if positions > start.count:
        yield f"{fail} reads {positions} arguments, and {start.passer} passes {start.count}"


def _argument_problems(argument: Argument, start: Start) -> Iterator[str]:
    if argument.is_required and start.values.keys().isdisjoint(argument.names):
        yield f"{start.passer} does not pass `{argument.names[-1]}`, which `{start.module}` requires"
    values = chain.from_iterable(start.values.get(name, ()) for name in argument.names)
    for value in filterfalse(argument.accepts, values):
        yield f"`{start.module}` does not accept `{argument.names[-1]}={value}` of {start.passer}"


def _missing_imports(start: str, code: JobCode) -> Iterator[str]:
    """Follow the imports of the folders' own modules."""
    for name in imported_modules(start, code):
        parent, _, last = name.rpartition(".")
        if name not in code.known and last not in code.files.get(parent, ""):
            yield f"new jobs fail: they import `{name}`, which does not exist"


def _unset_variables(template: Template, code: JobCode) -> frozenset[str]:
    """Return the inputs and variables that code needs and some worker pool does not set."""
    unset: set[str] = set()
    for task in tasks(template):
        declared = {str(entry.get("name")).removesuffix(OF_SECRET) for entry in task.get("env", ())}
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
