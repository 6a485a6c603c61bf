"""Templates: what they may say, field by field however deep, and how a stack loads them."""

import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from slipway.authoring.template.load import available, load
from slipway.authoring.template.types import mistyped
from slipway.base.errors import ConfigError
from slipway.model.kinds.settings import Study as TuningStudy
from slipway.template import (
    Condition,
    Disk,
    Image,
    Metric,
    ModelUpload,
    Package,
    Parameter,
    Search,
    Stopping,
    Study,
    WorkerPool,
)
from tests import shipped
from tests.builders.templates import job_template as template

STUDY = Study((Metric("accuracy"),), (Search("rate", "double", 0.1, 1.0),), max_trials=4, parallel_trials=2)
CHIEF = WorkerPool("scheduler", "n1-standard-4", args=("${trees}",))


def tuned(**changes: Any) -> dict[str, Any]:
    return {"kinds": ("hyperparameter-tuning-job",), "study": replace(STUDY, **changes)}


def parameters(*others: Parameter) -> dict[str, Any]:
    return {"parameters": (Parameter("workers", int, default=2, min=1, max=16), *others)}


def workers(**changes: Any) -> tuple[WorkerPool, ...]:
    return (CHIEF, WorkerPool("workers", **{"machine": "n1-standard-8", "replicas": "${workers}", **changes}))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"name": "Dask_Digits"}, "name: at most 50 lowercase letters"),
        ({"service_account": "trainer"}, "service_account: 'trainer' is not an account's address"),
        ({"service_account": "serviceAccount:a@b.iam.gserviceaccount.com"}, "is not an account's address"),
        ({"trainer": "trainer@acme-ml.iam.gserviceaccount.com"}, "is not a name under slipway:trainers"),
        ({"trainer": "evals", "service_account": "a@acme-ml.iam.gserviceaccount.com"}, "not both"),
        ({"kinds": ("batch",)}, "unknown 'batch'; known: custom-job"),
        ({"kinds": ()}, "at least one"),
        ({"kinds": ("hyperparameter-tuning-job",)}, "hyperparameter-tuning-job needs a study"),
        ({"study": STUDY}, "only a hyperparameter-tuning-job has one"),
        ({"model": ModelUpload("digits", "image")}, "only a training-pipeline uploads one"),
        ({"capacity_types": ("pool", "flex")}, "unknown 'flex'; known: pool, flex-start, spot, on-demand, reservation"),
        ({"waits": {"flex-start": 60}}, "'flex-start' is none of the capacity types pool, spot"),
        ({"waits": {"pool": 0}}, "pool: 0 is not a valid time"),
        (tuned(algorithm="annealing"), "unknown algorithm 'annealing'; known: bayesian, grid, random"),
        (tuned(measurement="mean"), "unknown measurement 'mean'"),
        (tuned(metrics=(Metric("a", "larger"),)), "unknown goal 'larger'"),
        (tuned(stopping=Stopping("luck")), "unknown stopping 'luck'"),
        (tuned(max_trials="${trials}"), "max_trials '${trials}' is neither a number nor"),
        (tuned(max_trials="${trees}"), "trees counts trials: it needs min (1 or more) and max"),
        (tuned(parallel_trials=0), "parallel_trials 0 is below 1"),
        (tuned(parameters=(Search("a", "double", values=(1,)),)), "a: double needs min and max, and takes no values"),
        (tuned(parameters=(Search("a", "discrete", 1, 2),)), "a: discrete needs values, and takes neither min nor max"),
        (tuned(parameters=(Search("a", "any"),)), "a: unknown kind 'any'"),
        (tuned(parameters=(Search("a", "integer", 0.5, 2),)), "a: 0.5 is not a whole number"),
        (tuned(parameters=(Search("a", "double", "0", 1),)), "a: '0' is not a number"),  # type: ignore[arg-type]
        (tuned(parameters=(Search("a", "double", 0, float("inf")),)), "a: inf is not a number"),
        (tuned(parameters=(Search("a", "discrete", values=("x",)),)), "a: 'x' is not a number"),
        (
            tuned(parameters=(Search("a", "discrete", values=(1,), conditions=(Condition(("x",), ()),)),)),
            "a: 'x' is not a number",
        ),
        (tuned(parameters=(Search("a", "double", 0, 1, scale="square"),)), "unknown scale 'square'"),
        (
            tuned(parameters=(Search("a", "double", 0, 1, conditions=(Condition((1,), ()),)),)),
            "a double can't have conditions",
        ),
        ({"worker_pools": (CHIEF, WorkerPool("w", "n1-standard-8", position="chief"))}, "'w': no place is left"),
        ({"worker_pools": (CHIEF, WorkerPool("w", "n1-standard-8", position="boss"))}, "unknown position 'boss'"),
        ({"worker_pools": (WorkerPool("w", "n1-standard-8", position="workers"),)}, "'w': the first one is the chief"),
        ({"code": Image("docker.io/a/b:latest")}, "is not pinned"),
        ({"code": Image(f"a/b@sha256:{'0' * 64}"), "code_flag": True}, "this template runs an image"),
        ({"secrets": {"HF_TOKEN": "hf_abc=1"}}, "never its value"),
        ({"secrets": {"A": "a"}, "env": {"A": "1"}}, "it is in env as well"),
        ({"capacity_types": ()}, "at least one"),
        ({"capacity_types": ("spot", "spot")}, "at most once"),
        ({"timeout_s": 8 * 24 * 3600}, "timeout_s: 691200 is not between 1 and 604800 (7 days)"),
        (
            {"code": Package("jobs/dask_digits", "other.task", "image")},
            "module other.task is not in the import package",
        ),
        ({"worker_pools": ()}, "worker_pools: 0; Vertex AI takes 1 to 4"),
        ({"worker_pools": (WorkerPool("a", "n1-standard-4", replicas=2),)}, "chief and must have exactly 1 replica"),
        ({"worker_pools": (CHIEF, CHIEF)}, "each needs a role of its own"),
        ({"worker_pools": workers(machine="n1-standard-9")}, "unknown machine type 'n1-standard-9'"),
        ({"worker_pools": workers(tpu_topology="2x2")}, "n1-standard-8 has no topology, as it is no TPU"),
        (
            {"worker_pools": workers(machine="e2-standard-4", accelerator="NVIDIA_TESLA_T4")},
            "can't have NVIDIA_TESLA_T4",
        ),
        ({"worker_pools": workers(disk=Disk("hyperdisk-balanced"))}, "disk 'hyperdisk-balanced' does not fit"),
        ({"worker_pools": workers(replicas=0)}, "replicas 0 is below 1"),
        ({"worker_pools": workers(replicas="${trees}")}, "trees counts machines: it needs min (1 or more) and max"),
        ({"worker_pools": workers(replicas="two")}, "replicas 'two' is neither a number nor '${name}'"),
        ({"worker_pools": workers(args=("--seed=${seed}",))}, "unknown parameter ${seed}; declared: trees, workers"),
        ({"labels": {"slipway-team": "vision"}}, "labels: 'slipway-team' begins with slipway-"),
        ({"labels": {"team": "Vision"}}, "a value must have at most 64 lowercase letters"),
        ({"labels": {"team": ""}}, "labels: 'team' is empty; leave it out"),
        ({"labels": {f"l{one}": "x" for one in range(33)}}, "labels: 33; at most 32"),
        ({"env": {"NOT-C": "1"}}, "env 'NOT-C': not a C identifier"),
        ({"worker_pools": workers(env={"NOT-C": "1"})}, "env 'NOT-C': not a C identifier"),
        ({"worker_pools": workers(env={"SLIPWAY_PARAMETERS": ""})}, "SLIPWAY_PARAMETERS: Slipway sets it itself"),
        ({"worker_pools": workers(env={"A": "${seed}"})}, "unknown parameter ${seed}; declared: trees, workers"),
        ({"worker_pools": workers(env={"A": "1"}), "secrets": {"A": "a"}}, "it is in env as well"),
        ({"worker_pools": workers(args=("$${ROOT} $$${seed}",))}, "unknown parameter ${seed}; declared"),
        ({"worker_pools": (WorkerPool("chief", "n1-standard-4"),)}, "parameter trees is used nowhere"),
        (parameters(Parameter("trees", int, help=5)), "parameters.help of trees: 5 is not a string"),  # type: ignore
        (parameters(Parameter("trees", int, 10**5000)), "parameter trees: default is too large"),
        (parameters(Parameter("trees", float, max=float("inf"))), "parameter trees: max is not finite; leave it out"),
        (parameters(Parameter("trees", int, min=-(10**400))), "parameter trees: min is too large; leave it out"),
        (parameters(Parameter("trees", str, "x" * 40_000)), "the defaults take 40,024 bytes as JSON, at most 32,768"),
        (parameters(Parameter("trees", str, "a\0b")), "default 'a\\x00b' has a null character"),
        (parameters(Parameter("trees", str, "\ud800")), "parameters.default of trees: '\\ud800' is not valid UTF-8"),
        (parameters(Parameter("trees", int), Parameter("trees", int)), "parameter trees: declared twice"),
        (
            parameters(Parameter("run", str, "a {lr} {workers}", command=True)),
            "run: {lr} is not a parameter",
        ),
        ({"summary": 5}, "summary: 5 is not a string"),
        ({"timeout_s": "1h"}, "timeout_s: '1h' is not a whole number"),
        ({"timeout_s": True}, "timeout_s: True is not a whole number"),
        ({"enable_web_access": "false"}, "enable_web_access: 'false' is not True or False"),
        ({"waits": {"pool": "30m"}}, "waits: '30m' is not a whole number"),
        ({"env": {"A": 5}}, "env: 5 is not a string"),
        ({"kinds": ["custom-job"]}, "kinds: ['custom-job'] is not a tuple"),
        ({"code": "jobs/x"}, "code: 'jobs/x' is not Package or Image"),
        ({"network": 5}, "network: 5 is not a string or None"),
        ({"worker_pools": workers(disk=Disk(size_gb="100"))}, "disk.size_gb of workers: '100' is not a whole number"),  # type: ignore
    ],
)
def test_what_is_wrong_is_said_in_words(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigError) as error:
        template(**changes)
    assert words in error.value.why
    assert "templates/" in error.value.fix


@pytest.mark.parametrize(
    ("parameter", "words"),
    [
        (Parameter("Trees", int), "lowercase"),
        (Parameter("trees", list), "type must be int, float, str or bool"),  # type: ignore[arg-type]
        (Parameter("trees", str, min=1), "min and max are for numbers"),
        (Parameter("trees", int, min=3, max=2), "min 3 is above max 2"),
        (Parameter("trees", int, default=0, min=1), "default 0 is below min 1"),
        (Parameter("trees", int, default=9, max=5), "default 9 is above max 5"),
        (Parameter("trees", float, default=float("nan")), "default nan is not finite"),
        (Parameter("trees", int, default="many"), "default 'many' is not of type int"),
        (Parameter("trees", int, default=True), "default True is not of type int"),
        (Parameter("trees", str, default="c", choices=("a", "b")), "default 'c' is none of the choices a, b"),
        (Parameter("trees", float, choices=(0.5, "x")), "choice 'x' is not of type float"),
        (Parameter("trees", int, command=True), "command is for str, not for int"),
        (Parameter("trees", str, "a && b", command=True), "default 'a && b' has && for a shell"),
    ],
)
def test_a_parameter_is_typed_and_bounded(parameter: Parameter, words: str) -> None:
    assert words in "; ".join(parameter.problems())


def test_a_whole_number_serves_for_a_float() -> None:
    assert list(Parameter("rate", float, default=1, min=0).problems()) == []


def test_all_problems_come_at_once() -> None:
    with pytest.raises(ConfigError) as error:
        template(name="X", capacity_types=(), timeout_s=0)
    assert len(error.value.why.splitlines()) == 3


def test_replicas_are_a_number_or_a_parameters_range() -> None:
    asked = template()
    assert [asked.replicas(pool) for pool in asked.worker_pools] == [(1, 1, 1), (1, 2, 16)]
    by_choice = template(parameters=(Parameter("workers", int, choices=(8, 2, 4)), Parameter("trees", int, default=1)))
    assert by_choice.replicas(by_choice.worker_pools[1]) == (2, 2, 8)


@pytest.mark.parametrize("value", [WorkerPool("a", "b", tpu_topology=None), WorkerPool("a", "b", replicas="${n}")])
def test_what_is_as_declared_is_nobodys_news(value: WorkerPool) -> None:
    assert list(mistyped(value, WorkerPool)) == []
    assert list(mistyped(3, float)) == [] == list(mistyped((1, 0.5), tuple[float, ...]))


@pytest.mark.parametrize(
    ("value", "hint", "said"),
    [
        (True, float, "here: True is not a number"),
        (2.0, int | str, "here: 2.0 is not a whole number or a string"),
        ("a", tuple[str, ...], "here: 'a' is not a tuple"),
        ((1, "a"), tuple[int, ...], "here: 'a' is not a whole number"),
        ({"a": ("b", 1)}, dict[str, str | tuple[str, ...]], "here: 1 is not a string"),
        (WorkerPool("w", "m", Disk(5)), WorkerPool, "here.disk.type of w: 5 is not a string"),  # type: ignore[arg-type]
        (WorkerPool("w", "m", code=Image("i", ("a", None))), WorkerPool, "here.code.command of w: None is not"),  # type: ignore[arg-type]
        (
            TuningStudy((Metric("m", 1),), (Search("rate", "double", "x", 1),), 1, 1),  # type: ignore[arg-type]
            TuningStudy,
            "here.parameters.min of rate: 'x' is not a number or None",
        ),
    ],
)
def test_the_place_and_what_is_expected_there_are_named(value: Any, hint: Any, said: str) -> None:
    assert any(one.startswith(said) for one in mistyped(value, hint, "here"))


SHIPPED = shipped.ROOT / "templates"
FILE = """
from slipway.template import JobTemplate, Package, WorkerPool
TEMPLATE = JobTemplate(
    name="{name}", summary="", code=Package("jobs/a", "a.task", "image"),
    worker_pools=(WorkerPool("chief", "n1-standard-4"),),
)
"""


def test_the_shipped_templates_load() -> None:
    names = tuple(shipped.templates())
    assert set(names) <= set(available(SHIPPED))
    assert [template.name for template in load(names, SHIPPED)] == list(names)


def test_they_come_in_the_order_asked_for(tmp_path: Path) -> None:
    for name in ("one", "two-b"):
        (tmp_path / f"{name.replace('-', '_')}.py").write_text(FILE.format(name=name))
    assert [template.name for template in load(("two-b", "one"), tmp_path)] == ["two-b", "one"]


def test_an_edit_of_the_same_length_in_the_same_second_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    for number, machine in enumerate(("n1-standard-4", "n1-standard-8")):
        file = tmp_path / "one.py"
        file.write_text(FILE.format(name="one").replace("n1-standard-4", machine))
        os.utime(file, ns=(0, 10**18 + number * 10**6))
        (template,) = load(("one",), tmp_path)
        assert template.worker_pools[0].machine == machine


def test_a_missing_one_is_refused_with_a_suggestion(tmp_path: Path) -> None:
    folder = tmp_path / "templates"
    folder.mkdir()
    (folder / "dask_digits.py").touch()
    with pytest.raises(ConfigError) as error:
        load(("dask-digit",), folder)
    assert "no file templates/dask_digit.py" in error.value.what
    assert error.value.fix == "did you mean `dask-digits`?"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        *((text, "does not define template 'one'") for text in ("", "TEMPLATE = 3", FILE.format(name="other"))),
        (FILE.format(name="One"), "is not well-formed"),
    ],
)
def test_a_file_must_define_the_template_of_its_name(tmp_path: Path, content: str, said: str) -> None:
    (tmp_path / "one.py").write_text(content)
    with pytest.raises(ConfigError, match=said):
        load(("one",), tmp_path)


@pytest.mark.parametrize(
    ("content", "line", "said"),
    [
        ("x = 1\n1 / 0", 2, "ZeroDivisionError: division by zero"),
        ("x = 1\n\nfoo bar", 3, "SyntaxError: invalid syntax"),
        ("import json\njson.loads('{')", 2, "JSONDecodeError"),
        ("raise SystemExit(3)", 1, "SystemExit: 3"),
        ("import no_such_module", 1, "ModuleNotFoundError: No module named 'no_such_module'"),
    ],
)
def test_whatever_its_code_raises_is_named_with_its_line(tmp_path: Path, content: str, line: int, said: str) -> None:
    (tmp_path / "one.py").write_text(content)
    with pytest.raises(ConfigError, match="can't be loaded") as error:
        load(("one",), tmp_path)
    assert error.value.why.startswith(f"line {line}: ") and said in error.value.why
