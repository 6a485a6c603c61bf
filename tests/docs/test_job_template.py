"""docs/job-template.md: each key of a template, with its type, its default, an example, which is applied, and what a
change of it does; and the variables that a job gets. # D3 # D8
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, Field, dataclass, fields, replace
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import pytest

from slipway import template as public
from slipway.authoring.template.case import cases
from slipway.authoring.template.compile import request, usual_values
from slipway.authoring.template.job_template import MAX_TIMEOUT_S, MOST_LABELS
from slipway.authoring.template.jobspec import CompileContext
from slipway.authoring.template.pipeline import with_pipeline
from slipway.base.errors import ConfigError
from slipway.model.capacity import CAPACITY_TYPES
from slipway.model.catalog.placeholders import BUILT_IN, KIND, fill
from slipway.model.kinds import KINDS
from slipway.model.labels import RECORDS, RESERVED, SHAPE_VARIABLES
from slipway.model.rules.code import MOST_ENV
from slipway.model.rules.workers import LARGEST_DISK, MOST_POOLS, POSITIONS, SMALLEST_DISK
from slipway.template import (
    Condition,
    Disk,
    Idle,
    Image,
    JobTemplate,
    Metric,
    ModelUpload,
    NfsMount,
    Package,
    Parameter,
    Scheduling,
    Search,
    Shape,
    Stopping,
    Study,
    Variant,
    WorkerPool,
)

PAGE = Path(__file__).resolve().parents[2] / "docs" / "job-template.md"
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


def _pool(pool: WorkerPool) -> JobTemplate:
    return replace(BASE, worker_pools=(BASE.worker_pools[0], pool))


def _parameter(parameter: Parameter) -> JobTemplate:
    chief = replace(BASE.worker_pools[0], args=("${text}", "${size}", f"${{{parameter.name}}}"))
    return replace(BASE, worker_pools=(chief,), parameters=(*BASE.parameters[:2], parameter))


def _condition(condition: Condition) -> JobTemplate:
    return _study(parameters=(Search("model", "categorical", values=("svc", "forest"), conditions=(condition,)),))


NETWORK = "projects/123456789012/global/networks/training"
DEPTH = Search("depth", "integer", min=1, max=9)
PLACES: Mapping[str, tuple[Any, Callable[[Any], JobTemplate]]] = {
    "JobTemplate": (replace(BASE, kinds=("custom-job",), study=None, model=None), lambda part: part),
    "WorkerPool": (BASE.worker_pools[1], _pool),
    "Disk": (Disk("pd-ssd"), lambda part: _pool(replace(BASE.worker_pools[1], disk=part))),
    "Package": (BASE.code, lambda part: replace(BASE, code=part)),
    "Image": (
        Image(f"example/train@sha256:{'0' * 64}", ("run",)),
        lambda part: replace(BASE, code=part, code_flag=part.launched),
    ),
    "Parameter": (BASE.parameters[2], _parameter),
    "Variant": (BASE.variants[0], lambda part: replace(BASE, variants=(part,))),
    "Shape": (Shape((WorkerPool("one", "n1-standard-16"),)), lambda part: replace(BASE, shapes=(part,))),
    "Scheduling": (
        Scheduling(),
        lambda part: replace(BASE, scheduling=part, capacity_types=("on-demand", "flex-start"), variants=()),
    ),
    "Idle": (Idle(1800), lambda part: replace(BASE, idle=part)),
    "NfsMount": (
        NfsMount("10.0.0.2", "/data", "data"),
        lambda part: replace(BASE, nfs_mounts=(part,), network=NETWORK),
    ),
    "Study": (BASE.study, lambda part: replace(BASE, study=part)),
    "Metric": (Metric("accuracy"), lambda part: _study(metrics=(part,))),
    "Search": (Search("rate", "double", min=0.1, max=1.0), lambda part: _study(parameters=(part,))),
    "Condition": (Condition(("svc",), (DEPTH,)), _condition),
    "Stopping": (Stopping("median"), lambda part: _study(stopping=part)),
    "ModelUpload": (BASE.model, lambda part: replace(BASE, model=part)),
}
GIVEN = {
    "JobTemplate.worker_pools": 'parameters=(), variants=(), worker_pools=(WorkerPool("one", "n1-standard-8"),)',
    "JobTemplate.parameters": 'worker_pools=(WorkerPool("one", "n1-standard-4", args=("${text}",)),), variants=(), '
    'parameters=(Parameter("text", int),)',
    "JobTemplate.study": 'kinds=("hyperparameter-tuning-job",), '
    'study=Study((Metric("loss"),), (Search("depth", "double", min=0.1, max=1.0),), 9, 3)',
    "JobTemplate.model": 'kinds=("training-pipeline",)',
    "JobTemplate.pipeline": 'kinds=("pipeline",), pipeline="pipelines/other.yaml", code=None, worker_pools=(), '
    'parameters=(), variants=(), capacity_types=("pool",)',
    "JobTemplate.nfs_mounts": f'network="{NETWORK}"',
    "WorkerPool.accelerator_count": 'accelerator="NVIDIA_TESLA_T4", accelerator_count=1',
    "Parameter.command": "type=str, default='python a.py', min=None, max=None",
    "Variant.worker_pools": 'refusal=""',
    "Search.values": "min=None, max=None, kind='discrete', values=(1, 2)",
    "Search.conditions": "min=None, max=None, kind='discrete', values=(1, 2)",
}
"""Arguments that an example builds on."""
SAID: Mapping[str, Iterable[str]] = {
    "JobTemplate.worker_pools": [f"1 to {MOST_POOLS}"],
    "JobTemplate.kinds": KINDS,
    "JobTemplate.capacity_types": CAPACITY_TYPES,
    "JobTemplate.timeout_s": [f"1 to {MAX_TIMEOUT_S:,}"],
    "JobTemplate.env": [f"at most {MOST_ENV - 1} "],
    "JobTemplate.labels": [f"at most {MOST_LABELS};", *RESERVED],
    "WorkerPool.position": POSITIONS,
    "Disk.size_gb": [f"{SMALLEST_DISK:,} to {LARGEST_DISK:,}"],
    "Variant.capacity_types": CAPACITY_TYPES,
    "Shape.capacity_types": CAPACITY_TYPES,
}
"""Parts of what a key is said to take, as the code has them."""
REFUSED: Mapping[str, str] = {
    "JobTemplate": """
        name="Digits"
        name="a" * 51
        worker_pools=()
        worker_pools=(WorkerPool("one", "n1-standard-4", replicas=2),), parameters=(), variants=()
        kinds=()
        kinds=("job",)
        kinds=("custom-job", "custom-job")
        kinds=("pipeline",)
        pipeline="pipelines/train.yaml"
        parameters=(Parameter("other", str),)
        capacity_types=()
        capacity_types=("cheap",)
        timeout_s=0
        timeout_s=MAX_TIMEOUT_S + 1
        env={"1A": "b"}
        env={"SLIPWAY_PARAMETERS": ""}
        env={f"V{i}": "1" for i in range(MOST_ENV)}
        waits={"pool": 0}
        waits={"flex-start": 9}
        regions=("mars",)
        regions=("us-east5", "us-east5")
        regions=("us-east5",), capacity_types=("pool",), variants=()
        regions=("us-east5",), tensorboard="1"
        secrets={"A B": "x"}
        secrets={"A": "not a name"}
        inputs={"Data": "gs://acme-data"}
        inputs={"data": "/gcs/acme-data"}
        inputs={"data": "${steps}"}
        inputs={"data": "gs://acme-data"}, code=Image("a@sha256:" + "0" * 64)
        network="training"
        trainer="a@b"
        trainer="a", service_account="a@acme-ml.iam.gserviceaccount.com"
        service_account="train"
        tensorboard="1", experiment="words"
        code_flag=True, code=Image("a@sha256:" + "0" * 64)
        labels={"Team": "vision"}
        labels={"team": ""}
        labels={"team": "${text}"}
        labels={"goog-x": "y"}
        labels={"slipway-team": "vision"}
        labels={"a" * 65: "b"}
        labels={f"l{i}": "b" for i in range(MOST_LABELS + 1)}""",
    "WorkerPool": """
        machine="big"
        disk=Disk("hyperdisk-balanced")
        accelerator="T4", accelerator_count=1
        accelerator="NVIDIA_TESLA_T4", accelerator_count=3
        replicas=0
        replicas="${text}"
        position="last"
        position="chief"
        machine="ct5lp-hightpu-4t", tpu_topology="3x3"
        env={"1A": "b"}""",
    "Disk": """
        type="floppy"
        size_gb=SMALLEST_DISK - 1
        size_gb=LARGEST_DISK + 1""",
    "Package": """
        module="other.task"
        module="count_words.1"
        image="python:3.12"
        shared=("src/common",)""",
    "Image": 'uri="example/train:latest"',
    "Parameter": """
        name="Rounds"
        name="a" * 41
        type=list
        default=0
        min=2000
        type=str, default='', max=None
        max=50
        choices=(0, 100)
        type=str, min=None, max=None, command=True, default='python a.py && python b.py'
        type=str, min=None, max=None, command=True, default='python a.py {lr}'""",
    "Variant": """
        when={}
        when={"text": "a"}
        when={"size": "huge"}
        capacity_types=("cheap",)""",
    "Shape": """
        worker_pools=()
        worker_pools=BASE.worker_pools
        capacity_types=("cheap",)""",
    "Scheduling": "disable_retries=True, restart_job_on_worker_restart=True",
    "Idle": """
        after_s=10
        below=0.0
        below=1.5""",
    "NfsMount": """
        server=""
        path="more"
        mount_point="/etc" """,
    "Study": """
        max_trials=0
        parallel_trials=9
        algorithm="luck"
        max_failed_trials=9
        measurement="mean" """,
    "Metric": 'goal="best"',
    "Search": """
        kind="float"
        kind="discrete"
        min=None
        max=None
        min=0.1, max=None, kind='discrete', values=("svc",)
        scale="cubic" """,
    "Stopping": 'rule="early"',
    "ModelUpload": """
        model_id="Words!"
        parent_model="words" """,
}


@dataclass(frozen=True)
class Row:
    """A row of the page."""

    key: str
    takes: str
    left_out: str
    about: str
    change: str

    @property
    def example(self) -> str:
        """Return the arguments at the end of its words, with a digest that the page shortens."""
        return self.about[:-1].rpartition("`")[2].replace("…", "1" * 64)


def rows(owner: str) -> list[Row]:
    section = PAGE.read_text("utf-8").partition(f"## `{owner}`\n")[2].partition("\n## ")[0]
    cells = [re.split(r"(?<!\\)\|", line)[1:-1] for line in section.splitlines() if line.startswith("| `")]
    return [Row(*(cell.strip().replace("\\|", "|") for cell in row)) for row in cells]


def test_each_class_of_a_template_is_there() -> None:
    assert set(PLACES) == {name for name in public.__all__ if isinstance(getattr(public, name), type)}


@pytest.mark.parametrize("owner", PLACES)
def test_each_key_is_there_with_what_it_takes_and_an_example_that_changes_what_is_told(owner: str) -> None:
    kind, found = getattr(public, owner), rows(owner)
    assert [row.key for row in found] == [f"`{field.name}`" for field in fields(kind)]
    for field, row in zip(fields(kind), found, strict=True):
        name, takes = f"{owner}.{field.name}", _takes(get_type_hints(kind)[field.name])
        assert f"{row.takes}; ".startswith(f"{takes}; "), f"{name} takes {takes}"
        assert all(part in row.takes for part in SAID.get(name, ())), name
        assert (row.left_out, row.change) == (_left_out(field), change(owner, field.name, row.example)), name


@pytest.mark.parametrize(
    ("owner", "fragment"),
    [(owner, line.strip()) for owner, some in REFUSED.items() for line in some.strip().split("\n")],
)
def test_what_is_out_of_bounds_is_refused(owner: str, fragment: str) -> None:
    with pytest.raises(ConfigError):
        posted(applied(owner, fragment), refused=False)


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
    assert told == {
        *got,
        *RECORDS,
        *SHAPE_VARIABLES,
        "CLOUD_ML_HP_METRIC_FILE",
        "NAME",
        "NAME__SECRET",
        "SLIPWAY_INPUT_NAME",
        "SLIPWAY_OUTPUT",
    }
    alone = environment.variables(places[:1], places[0], project="1", job_id="1", region="us-central1", spec=spec)
    of_several = re.search(r"^\| (.*) \| several replicas \|", table, re.MULTILINE)
    assert of_several and set(re.findall(r"`([A-Z_]+)`", of_several[1])) == {*got} - {*alone} - {"CLOUD_ML_TRIAL_ID"}


def _takes(hint: Any) -> str:
    """A type in words, with links to what is told here."""
    origin, inner = get_origin(hint), get_args(hint)
    if origin is Literal:
        return "text"
    if origin in (Union, UnionType):
        some = [kind for kind in inner if kind is not NoneType]
        value = {int, float, str, bool} <= set(some)
        if value or get_origin(some[0]) is type:
            return " or ".join(
                ["value" if value else "type", *(_takes(kind) for kind in some if get_origin(kind) is tuple)]
            )
        return " or ".join(map(_takes, some))
    if origin is tuple:
        return f"tuple of {_takes(inner[0])}"
    if origin is not None:
        return f"dict of {_takes(inner[1])}"
    if hint.__name__ in PLACES:
        return f"[{hint.__name__}](#{hint.__name__.lower()})"
    return {str: "text", int: "whole number", float: "number", bool: "`True` or `False`"}[hint]


def _left_out(field: Field[Any]) -> str:
    if field.default is MISSING and field.default_factory is MISSING:
        return ""
    value = field.default if field.default_factory is MISSING else field.default_factory()
    if value in (None, "", (), {}):
        return "–"
    return f"`{value!r}`" if isinstance(value, str | int | float | tuple) else f"`{type(value).__name__}()`"


def applied(owner: str, *fragments: str) -> JobTemplate:
    """Return the template with these arguments of one of its parts."""
    base, place = PLACES[owner]
    known = {name: getattr(public, name) for name in public.__all__} | globals()
    given = {name: value for fragment in fragments for name, value in eval(f"dict({fragment})", known).items()}
    return place(replace(base, **given))


def change(owner: str, name: str, example: str) -> str:
    """Tell what a change of a key does to the next submission."""
    given = GIVEN.get(f"{owner}.{name}", "")
    before, after = applied(owner, given), applied(owner, given, example)
    old, new = posted(before), posted(after)
    if any(new[name] != body for name, body in old.items() if name in new):
        return "the request"
    return "the choice" if (list(old), _choices(before)) != (list(new), _choices(after)) else "–"


def posted(template: JobTemplate, *, refused: bool = True) -> dict[tuple[str, str, str], Any]:
    """Requests that a submission without parameters of its own would post, by its kind, case, shape and type."""
    template = with_pipeline(template, Path(__file__).parent)
    packages = {code: f"gs://catalog/packages/{getattr(code, 'folder', 'x.pyz')}" for code in template.uploaded}
    return {
        (kind, f"{case} {case.shape_name}", type): fill(
            request(template, type, CONTEXT, packages, kind=kind, case=case, refused=refused),
            usual_values(template, case),
        )
        for kind in template.kinds
        for case in cases(template)
        for type in case.capacity_types(template)
        if refused or type == "on-demand"
    }


def _choices(template: JobTemplate) -> object:
    parameters = [replace(parameter, help="") for parameter in template.parameters]
    refusals = [variant.refusal for variant in template.variants]
    return parameters, template.waits, template.regions, template.code_flag, refusals
