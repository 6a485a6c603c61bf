"""Code of a job that no longer matches its template, found as problems that only the new side has. Pure."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain

from slipway.answers.comparison import Comparison
from slipway.base.formatting import short
from slipway.model.catalog.placeholders import OUTPUT, placeholder
from slipway.model.catalog.template import Template
from slipway.model.findings.finding import Finding, Grade, Subject
from slipway.model.findings.kinds import KINDS
from slipway.model.labels import INPUT
from slipway.model.machines.images import PrebuiltImage, images_of
from slipway.model.rules.code import SCRIPT
from slipway.reviewing.change.files import Files
from slipway.reviewing.change.pins import package
from slipway.reviewing.change.python_code import (
    CHECKPOINT_LINE,
    LOCAL_PLACE,
    OUTPUT_LINE,
    OWN_PLACE,
    PLACE,
    PLACE_OF_PLATFORM,
    RESTORES,
    SAVES,
    JobCode,
)
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
_LOCAL_VERSION = re.compile(r"==\s*[\w.!]+\+[\w.]+")
_INDEX = re.compile(r"(-i|--(extra-)?index-url|-f|--find-links)\b.*")
_OF_IMAGES = frozenset({"numpy", "pandas", "scipy", "scikit-learn", "matplotlib", "pyyaml", "requests", "tqdm", "six"})
_OF_IMAGES |= {"pillow", "absl-py", "protobuf", "torchvision", "torchaudio", "cloudml-hypertune"}
_OF_IMAGES |= {"google-cloud-storage", "google-cloud-bigquery", "google-cloud-aiplatform"}
"""Packages that prebuilt images may have besides their framework."""
_MODULES = {"scikit-learn": "sklearn", "opencv-python": "cv2", "python-dateutil": "dateutil", "beautifulsoup4": "bs4"}
"""The modules of packages that have another name."""
_REQUIRES = re.compile(r"""requires-python\s*=\s*["']\s*>=?\s*3\.(\d+)""")
_OUTPUT_NAME = re.compile(r"(?i)out|ckpt|checkpoint|result|save|export")
_LASTS = re.compile(r"gs://|/gcs/|/mnt/|\$\{slipway\.output\}")
_OF_MACHINE = re.compile(r"/(var/)?tmp\b|/root\b|/home\b|/dev/shm\b")
_NAME = re.compile(r"[A-Za-z0-9][\w.-]*")
_LOST = "results are lost when a job ends"
_AGAIN = "a restarted job begins from the start"
_NO_TEMPLATE = Template("", "", "", (), (), ())
_FIX = "change the code and its template together"


def broken_contracts(comparison: Comparison, files: Files) -> Iterator[Finding]:
    for name, template in comparison.new.templates.items():
        old = comparison.old.templates.get(name, _NO_TEMPLATE)
        roots = tuple({*folders(old, files.code_before), *folders(template, files.code)})
        before = JobCode.within(files.code_before, roots)
        after = JobCode.within(files.code, roots)
        broken = dict.fromkeys((*_requirement_problems(old, template, after), *_moved_outputs(old, template)))
        unset: frozenset[str] = frozenset()
        # Code that is not in the repository is unknown.
        if after.files:
            broken.update(dict.fromkeys(_problems(template, after, files.code)))
            broken.update(dict.fromkeys(_losses(old, template, before, after)))
            unset = _unset_variables(template, after) - _unset_variables(old, before)
        for problem in _problems(old, before, files.code_before):
            broken.pop(problem, None)
        lines = [f"the code needs variable `{variable}`, which the template does not set" for variable in sorted(unset)]
        found = (*broken, *lines)
        if found:
            # A variable that the code alone has begun to read may be set by the image.
            is_input = any(variable.startswith(INPUT) for variable in unset)
            grade = Grade.BLOCKING if broken or is_input or unset & before.variables else Grade.WARNING
            finding = KINDS["code-contract-broken"].of(Subject("template", name), found[0], _FIX, grade=grade)
            yield replace(finding, details=found[1:])


def _problems(template: Template, code: JobCode, texts: Mapping[str, str]) -> Iterator[str]:
    """Yield why new jobs fail."""
    for start in starts(template):
        yield from _start_problems(start, code)
        if start.module != SCRIPT:
            yield from _missing_imports(start.module, code)
    for image in _images(template):
        yield from _python_problems(image, template, code, texts)


def _images(template: Template) -> frozenset[PrebuiltImage]:
    pools = chain.from_iterable(offer.worker_pools for offer in template.offers)
    return frozenset(images_of(pools))


def _requirement_problems(old: Template, new: Template, code: JobCode) -> Iterator[str]:
    """Compare which packages are installed."""
    has_index = any(map(_INDEX.fullmatch, new.requirements))
    for line in new.requirements:
        if _LOCAL_VERSION.search(line) and not has_index and line not in old.requirements:
            yield f"new jobs fail: PyPI does not have `{line}`, and no line of the requirements names another index"
    images = _images(new)
    brought = {image.framework for image in images} | _OF_IMAGES
    gone = _packages(old) - _packages(new) - brought
    for name in sorted(gone):
        module = _MODULES.get(name, name.replace("-", "_"))
        if images and module in code.imported:
            yield f"the code imports `{module}`, which the requirements no longer have and the image may not have"


def _packages(template: Template) -> set[str]:
    return {package(found[0]) for found in map(_NAME.match, template.requirements) if found}


def _losses(old: Template, new: Template, before: JobCode, after: JobCode) -> Iterator[str]:
    """Compare where the code's results, checkpoints and metrics go."""
    yield from _lost_results(before, after)
    yield from _untold_outputs(old, new, after)
    yield from _unnamed_metrics(old, new, before, after)
    if new.checkpoints:
        yield from _lost_checkpoints(before, after)


def _lost_results(before: JobCode, after: JobCode) -> Iterator[str]:
    own = before.lines(OWN_PLACE)
    left = after.lines(OWN_PLACE)
    gone = before.lines(PLACE) and not after.lines(PLACE)
    new_places = after.lines(PLACE) - before.lines(PLACE)
    local = after.lines(LOCAL_PLACE) - before.lines(LOCAL_PLACE) - after.lines(PLACE)
    if gone or (own and not left and not new_places):
        yield f"{_LOST}: no line names their place any more, as did `{_quotable(own or before.lines(PLACE))}`"
    elif local and len(left) < len(own):
        yield f"{_LOST}: they go to the machine's own disk, `{_quotable(local)}`"


def _quotable(lines: Iterable[str]) -> str:
    """Return the first of some lines of code, short and without backticks."""
    return short(min(lines).replace("`", "'"), 60)


def _settings(template: Template) -> dict[str, str]:
    """Return its variables and its arguments of the form `--name=value`."""
    found = {}
    for task in tasks(template):
        for entry in task.get("env", ()):
            found[str(entry.get("name"))] = str(entry.get("value"))
        for argument in task.get("args", ()):
            name, _, value = str(argument).partition("=")
            found[name] = value
    return found


def _moved_outputs(old: Template, new: Template) -> Iterator[str]:
    """Yield variables and arguments that have a path of the machine as the place of results."""
    after = _settings(new)
    for name, value in _settings(old).items():
        now = after.get(name, "")
        if _OUTPUT_NAME.search(name) and _LASTS.match(value) and _OF_MACHINE.match(now):
            yield f"{_LOST}: `{name}` is `{short(now, 60)}`, on the machine's own disk"


def _untold_outputs(old: Template, new: Template, code: JobCode) -> Iterator[str]:
    """Yield what told jobs the place of their results and goes, if nothing else tells it."""
    after = _settings(new)
    is_told = placeholder(OUTPUT) in "".join(after.values()) or code.lines(PLACE_OF_PLATFORM)
    for name, value in _settings(old).items():
        is_gone = placeholder(OUTPUT) in value and name not in after
        if is_gone and not is_told and name in (code.flags or (name,)):
            yield f"{_LOST}: `{name}` told jobs their place and goes, and no code names `SLIPWAY_OUTPUT`"


def _unnamed_metrics(old: Template, new: Template, before: JobCode, after: JobCode) -> Iterator[str]:
    """Yield metrics that the code doesn't name, if it named the earlier ones: else their names may be computed."""
    known = dict(old.study.metrics if old.study else ())
    wanted = dict(new.study.metrics if new.study else ())
    if known and known.keys() <= before.words and not after.has_computed_metrics:
        for metric in sorted(wanted.keys() - after.words):
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
    names = [start]
    for name in names:
        parent, _, last = name.rpartition(".")
        if name not in code.known and last not in code.files.get(parent, ""):
            yield f"new jobs fail: they import `{name}`, which does not exist"
        imported = filter(code.is_own, (*code.imports(name), parent))
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


def _lost_checkpoints(before: JobCode, after: JobCode) -> Iterator[str]:
    """Compare whether code saves and restores, and under which name."""
    if before.lines(SAVES) and not after.lines(SAVES):
        yield f"{_AGAIN}: no line saves a checkpoint any more"
    if before.lines(RESTORES) and not after.lines(RESTORES):
        yield f"{_AGAIN}: no line restores a checkpoint any more"
    gone = sorted(before.names(CHECKPOINT_LINE) - after.names(OUTPUT_LINE))
    come = sorted(after.names(OUTPUT_LINE) - before.names(OUTPUT_LINE))
    if gone and come:
        yield f"{_AGAIN}: the checkpoint's place has the name `{come[0]}` instead of `{gone[0]}`"
