"""docs/job-template.md: each key of a template, with what it takes and what a change of it does, and the variables that
a job gets. # D3 # D8

`python -m tests.docs.test_job_template` writes it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, Field, fields, replace
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

import pytest

from slipway import template as public
from slipway.authoring.template.case import cases
from slipway.authoring.template.compile import request, usual_values
from slipway.authoring.template.jobspec import CompileContext
from slipway.base.errors import ConfigError
from slipway.model.catalog.placeholders import BUILT_IN, KIND, fill
from slipway.model.labels import RECORDS
from slipway.template import (
    Condition,
    Disk,
    Image,
    JobTemplate,
    Metric,
    ModelUpload,
    NfsMount,
    Package,
    Parameter,
    Scheduling,
    Search,
    Stopping,
    Study,
    Variant,
    WorkerPool,
)
from tests.docs.setting_keys import SETTING_KEYS
from tests.docs.template_keys import TEMPLATE_KEYS, Key

PAGE = Path(__file__).resolve().parents[2] / "docs" / "job-template.md"
_GENERATED = re.compile(r"(?<=<!-- keys -->\n).*(?=<!-- /keys -->)", re.DOTALL)
_DIGEST = re.compile(r"[01]{64}")
KEYS = {**TEMPLATE_KEYS, **SETTING_KEYS}
CONTEXT = CompileContext(
    stack="dev",
    region="us-central1",
    commit="3f9c2e1",
    catalog_bucket="catalog",
    work_bucket="work",
    trainer="trainer@acme-ml.iam.gserviceaccount.com",
    clusters={},
    project="acme-ml",
    trainers={"evals": "evals@acme-ml.iam.gserviceaccount.com"},
)
BASE = JobTemplate(
    name="count-words",
    summary="counts words",
    code=Package("jobs/count_words", "count_words.task", "us-docker.pkg.dev/vertex-ai/training/sklearn-cpu.1-6:latest"),
    worker_pools=(
        WorkerPool("chief", "n1-standard-8", args=("--text=${text}", "--size=${size}", "--steps=${steps}")),
        WorkerPool("workers", "n1-standard-8"),
    ),
    kinds=("custom-job", "hyperparameter-tuning-job", "training-pipeline"),
    parameters=(
        Parameter("text", str, default="to be"),
        Parameter("size", str, default="small", choices=("small", "big")),
        Parameter("steps", int, default=100, min=1, max=1000),
    ),
    capacity_types=("pool", "on-demand", "reservation"),
    study=Study((Metric("accuracy"),), (Search("rate", "double", min=0.1, max=1.0),), 8, 2),
    model=ModelUpload("words", "us-docker.pkg.dev/vertex-ai/prediction/sklearn-cpu.1-6:latest"),
    variants=(Variant({"size": "big"}, capacity_types=("spot",)),),
)


def _study(**changes: Any) -> JobTemplate:
    assert BASE.study
    return replace(BASE, study=replace(BASE.study, **changes))


def _pool(one: WorkerPool) -> JobTemplate:
    return replace(BASE, worker_pools=(BASE.worker_pools[0], one))


def _parameter(one: Parameter) -> JobTemplate:
    chief = replace(BASE.worker_pools[0], args=("${text}", "${size}", f"${{{one.name}}}"))
    return replace(BASE, worker_pools=(chief,), parameters=(*BASE.parameters[:2], one))


def _condition(one: Condition) -> JobTemplate:
    return _study(parameters=(Search("model", "categorical", values=("svc", "forest"), conditions=(one,)),))


NETWORK = "projects/123456789012/global/networks/training"
DEPTH = Search("depth", "integer", min=1, max=9)
PLACES: Mapping[str, tuple[Any, Callable[[Any], JobTemplate]]] = {
    "JobTemplate": (replace(BASE, kinds=("custom-job",), study=None, model=None), lambda one: one),
    "WorkerPool": (BASE.worker_pools[1], _pool),
    "Disk": (Disk("pd-ssd"), lambda one: _pool(replace(BASE.worker_pools[1], disk=one))),
    "Package": (BASE.code, lambda one: replace(BASE, code=one)),
    "Image": (Image(f"example/train@sha256:{'0' * 64}"), lambda one: replace(BASE, code=one)),
    "Parameter": (BASE.parameters[2], _parameter),
    "Variant": (BASE.variants[0], lambda one: replace(BASE, variants=(one,))),
    "Scheduling": (
        Scheduling(),
        lambda one: replace(BASE, scheduling=one, capacity_types=("on-demand", "flex-start"), variants=()),
    ),
    "NfsMount": (NfsMount("10.0.0.2", "/data", "data"), lambda one: replace(BASE, nfs_mounts=(one,), network=NETWORK)),
    "Study": (BASE.study, lambda one: replace(BASE, study=one)),
    "Metric": (Metric("accuracy"), lambda one: _study(metrics=(one,))),
    "Search": (Search("rate", "double", min=0.1, max=1.0), lambda one: _study(parameters=(one,))),
    "Condition": (Condition(("svc",), (DEPTH,)), _condition),
    "Stopping": (Stopping("median"), lambda one: _study(stopping=one)),
    "ModelUpload": (BASE.model, lambda one: replace(BASE, model=one)),
}
ALL = [(owner, name) for owner, keys in KEYS.items() for name in keys]


def test_the_page_has_every_key() -> None:
    found = _GENERATED.search(PAGE.read_text("utf-8"))
    assert found and found[0] == made(), "python -m tests.docs.test_job_template writes it"


def test_each_class_of_a_template_and_each_of_its_keys_is_there() -> None:
    assert set(KEYS) == set(PLACES) == {name for name in public.__all__ if isinstance(getattr(public, name), type)}
    for owner, keys in KEYS.items():
        assert list(keys) == [one.name for one in fields(getattr(public, owner))], owner


@pytest.mark.parametrize(("owner", "name"), ALL)
def test_an_example_is_taken_and_what_is_out_of_bounds_refused(owner: str, name: str) -> None:
    key = KEYS[owner][name]
    posted(applied(owner, key, key.example))
    for fragment in key.refused:
        with pytest.raises(ConfigError):
            posted(applied(owner, key, fragment), refused=False)


def test_what_a_change_does_is_what_is_posted() -> None:
    assert change("JobTemplate", "env") == change("Parameter", "default") == change("Disk", "size_gb") == "the request"
    assert change("JobTemplate", "waits") == change("Parameter", "max") == change("Variant", "refusal") == "the choice"
    assert change("JobTemplate", "summary") == change("JobTemplate", "checkpoints") == "–"


def test_the_placeholders_are_those_that_a_submission_fills() -> None:
    told = set(re.findall(r"^\| `\$\{(slipway\.\w+)\}` \|", PAGE.read_text("utf-8"), re.MULTILINE))
    assert told == {*BUILT_IN, KIND}


def test_the_variables_are_those_that_a_job_gets() -> None:
    environment = pytest.importorskip("vertex_local.nodes.environment", reason="needs the local cloud")
    places = [environment.Place(index, 0, "host", 2222, 8080) for index in (0, 1)]
    spec = {"baseOutputDirectory": {"outputUriPrefix": "gs://work/jobs/j"}, "experiment": "e", "experimentRun": "r"}
    got = environment.variables(places, places[0], project="1", job_id="1", region="us-central1", spec=spec, trial="2")
    table = PAGE.read_text("utf-8").rpartition("| variable |")[2]
    told = {
        name for cell in re.findall(r"^\| ([^|]+) \|", table, re.MULTILINE) for name in re.findall(r"`(\w+)`", cell)
    }
    assert told == {*got, *RECORDS, "CLOUD_ML_HP_METRIC_FILE", "NAME", "NAME__SECRET", "SLIPWAY_OUTPUT"}
    alone = environment.variables(places[:1], places[0], project="1", job_id="1", region="us-central1", spec=spec)
    of_several = re.search(r"^\| (.*) \| several replicas \|", table, re.MULTILINE)
    assert of_several and set(re.findall(r"`([A-Z_]+)`", of_several[1])) == {*got} - {*alone} - {"CLOUD_ML_TRIAL_ID"}


def made() -> str:
    return "\n".join(line for owner in KEYS for line in _section(owner))


def _section(owner: str) -> Iterator[str]:
    kind = getattr(public, owner)
    hints = get_type_hints(kind)
    yield f"## `{owner}`\n"
    yield "| key | takes | left out | | a change |\n|---|---|---|---|---|"
    for field in fields(kind):
        key = KEYS[owner][field.name]
        takes = "; ".join(filter(None, (_takes(hints[field.name]), key.bounds)))
        about = " ".join(filter(None, (key.about, f"`{_DIGEST.sub('…', key.example)}`")))
        cells = (f"`{field.name}`", takes, _left_out(field), about, change(owner, field.name))
        yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"
    yield ""


def _takes(hint: Any) -> str:
    """A type in words, with links to what is told here."""
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        some = [one for one in inner if one is not NoneType]
        value = {int, float, str, bool} <= set(some)
        if value or get_origin(some[0]) is type:
            return " or ".join(
                ["value" if value else "type", *(_takes(one) for one in some if get_origin(one) is tuple)]
            )
        return " or ".join(map(_takes, some))
    if origin is tuple:
        return f"tuple of {_takes(inner[0])}"
    if origin is not None:
        return f"dict of {_takes(inner[1])}"
    if hint.__name__ in KEYS:
        return f"[{hint.__name__}](#{hint.__name__.lower()})"
    return {str: "text", int: "whole number", float: "number", bool: "`True` or `False`"}[hint]


def _left_out(field: Field[Any]) -> str:
    if field.default is MISSING and field.default_factory is MISSING:
        return ""
    value = field.default if field.default_factory is MISSING else field.default_factory()
    if value in (None, "", (), {}):
        return "–"
    return f"`{value!r}`" if isinstance(value, str | int | tuple) else f"`{type(value).__name__}()`"


def applied(owner: str, key: Key, fragment: str) -> JobTemplate:
    """The template with these arguments of one of its parts."""
    base, place = PLACES[owner]
    return place(replace(base, **{**_arguments(key.given), **_arguments(fragment)}))


def _arguments(fragment: str) -> dict[str, Any]:
    known = {name: getattr(public, name) for name in public.__all__}
    return dict(eval(f"dict({fragment})", known))


def change(owner: str, name: str) -> str:
    """Tell what a change of a key does to the next submission."""
    key = KEYS[owner][name]
    before, after = (applied(owner, key, fragment) for fragment in ("", key.example))
    old, new = posted(before), posted(after)
    if any(new[one] != body for one, body in old.items() if one in new):
        return "the request"
    return "the choice" if (list(old), _choices(before)) != (list(new), _choices(after)) else "–"


def posted(template: JobTemplate, *, refused: bool = True) -> dict[tuple[str, str, str], Any]:
    """Requests that a submission without parameters of its own would post, by its kind, case and capacity type."""
    packages = {one: f"gs://catalog/{one.folder}" for one in template.packages}
    return {
        (kind, str(case), type): fill(
            request(template, type, CONTEXT, packages, kind=kind, case=case, refused=refused),
            usual_values(template, case),
        )
        for kind in template.kinds
        for case in cases(template)
        for type in case.capacity_types(template)
        if refused or type == "on-demand"
    }


def _choices(template: JobTemplate) -> object:
    parameters = [replace(one, help="") for one in template.parameters]
    return parameters, template.waits, template.code_flag, [one.refusal for one in template.variants]


if __name__ == "__main__":
    PAGE.write_text(_GENERATED.sub(lambda _: made(), PAGE.read_text("utf-8")), "utf-8")
