"""Pipelines with everything that kfp has: each is judged as its template is deployed, and runs on the local cloud or is
refused there in words that are true. (N28)"""

import sysconfig
from dataclasses import dataclass

import pytest
import yaml
from vertex_local.nodes import mounts

from tests.checkouts.checkout import MACHINE, Checkout

pytestmark = [
    pytest.mark.journey,
    pytest.mark.deployed,
    pytest.mark.skipif(not mounts.possible(buckets=True), reason="tasks write below /gcs"),
]


@dataclass(frozen=True)
class Sample:
    """A pipeline's expected judgement and end."""

    #: The machines that its tasks need at once, as `templates show` has them.
    machines: str
    #: What its tasks log.
    says: tuple[str, ...]
    given: tuple[str, ...] = ()


# Numbers within lists and objects come with a point, as kfp's own local runner gives them.
RUN = {
    "hello_world": Sample("1 greet of all", ("hello, ada",), ("-p", "name=ada")),
    "sequential": Sample("1 task of all", ("doubled to 6", "doubled to 12")),
    "parallel_join": Sample("2 tasks of all", ("the sum is 24",)),
    "parameters": Sample("1 tell of all", ("told a b 2 0.25 True [7.0] 3.0",), ("-p", "ratio=0.25", "-p", "items=[7]")),
    "lists_and_dicts": Sample(
        "1 task of all", ("unfolded 9.0 ['x', 'z', 't'] ['y', 1.0]",), ("-p", 'items=["x", "z"]')
    ),
    "artifacts": Sample("1 task of all", ("rows in the metadata: 4",)),
    "metrics": Sample("1 task of all", ("none scores 10.0",)),
    "several_outputs": Sample("1 task of all", ("shown one ['two', 'three'] None",)),
    "optional_inputs": Sample("3 tasks of all", ("shown alone ['none'] None", "and nobody", "and it is ada")),
    "nested": Sample("2 tasks of all", ("the sum is 48",)),
    "containers": Sample("1 task of all", ("joined a-b!", "shown joined a-b! ['none'] None")),
    "ordered": Sample("1 task of all", ("shown last ['none'] None",)),
    "retried": Sample("1 fail-once of all", ("the second try goes well",)),
    "cached": Sample("2 tasks of all", ("doubled to 42", "doubled to 44")),
    "resources": Sample("1 double-2 n1-highmem-2, 1 double e2-standard-4", ("doubled to 4",)),
    "variables": Sample("1 environment of all", ("set to hi in variables-",)),
}
REFUSED = {
    "conditions": ("2 tasks of all", "task condition-branches-1.condition-2 is under a condition (dsl.If)"),
    "one_of": ("2 tasks of all", "task condition-branches-1.condition-2 is under a condition (dsl.If)"),
    "loops": ("2 for-loop-2.doubles of all", "task for-loop-2 is a loop (dsl.ParallelFor)"),
    "collected": ("2 tasks of all", "task for-loop-2 is a loop (dsl.ParallelFor)"),
    "exit_handler": (
        "1 task of all",
        "task show runs whatever became of others (dsl.ExitHandler, ignore_upstream_failure)",
    ),
    "whatever_failed": (
        "1 task of all",
        "task double runs whatever became of others (dsl.ExitHandler, ignore_upstream_failure)",
    ),
    "importer": ("1 fit of all", "task importer is an importer (dsl.importer), and only containers are run"),
}


def named(pipeline: str) -> str:
    """The name of a pipeline's template."""
    return pipeline.replace("_", "-")


def template(name: str) -> str:
    return f'''
from slipway.template import JobTemplate

TEMPLATE = JobTemplate(
    name="{named(name)}",
    summary="a sample",
    kinds=("pipeline",),
    pipeline="pipelines/{name}.yaml",
    capacity_types=({'"on-demand"' if name == "resources" else '"pool"'},),
)
'''


def lay_out(checkout: Checkout, name: str) -> None:
    """Compile a pipeline into the checkout, with its template. Images that have kfp are shown where it is."""
    # Every worker collects this file, and one needs what takes a second and a half to import.
    from kfp import compiler

    from tests.end_to_end import kubeflow_samples

    file = checkout.folder / "pipelines" / f"{name}.yaml"
    compiler.Compiler().compile(getattr(kubeflow_samples, name), str(file))
    spec = yaml.safe_load(file.read_text())
    for executor in spec["deploymentSpec"]["executors"].values():
        if executor.get("container", {}).get("image") == kubeflow_samples.HAS_KFP:
            where = {"name": "PYTHONPATH", "value": sysconfig.get_path("purelib")}
            executor["container"].setdefault("env", []).append(where)
    file.write_text(yaml.safe_dump(spec))
    (checkout.folder / "templates" / f"{name}.py").write_text(template(name))


def submitted(checkout: Checkout, *words: str) -> str:
    done = checkout.slipway("submit", *words, "--yes", "--output", "json")
    assert done.code == 0, done.said
    return str(done.json["job"]["displayName"])


def test_every_pipeline_is_judged_and_runs_or_is_refused_in_true_words(checkout: Checkout) -> None:
    (checkout.folder / "pipelines").mkdir()
    for name in (*RUN, *REFUSED):
        lay_out(checkout, name)
    pools = {"all": {**MACHINE, "replicas": {"min": 1, "max": 8}}}
    checkout.write(persistentResources={"cpu": {"pools": pools}}, templates=[*map(named, RUN), *map(named, REFUSED)])
    checkout.up()
    needed = {name: sample.machines for name, sample in RUN.items()} | {name: row[0] for name, row in REFUSED.items()}
    about = {name: checkout.slipway("templates", "show", named(name)).out for name in needed}
    assert [name for name, machines in needed.items() if machines not in about[name]] == []

    sent = {name: submitted(checkout, named(name), *sample.given) for name, sample in RUN.items()}
    for name, (_, words) in REFUSED.items():
        refused = checkout.slipway("submit", named(name))
        assert refused.code == 4 and f"The local cloud can't run this pipeline: {words}. Vertex AI does." in refused.err
    for name, job in sent.items():
        ended = checkout.slipway("jobs", "wait", job)
        log = checkout.slipway("jobs", "logs", job).out
        assert ended.code == 0, ended.said + log
        assert [words for words in RUN[name].says if words not in log] == [], log
    metrics = checkout.slipway("jobs", "show", sent["metrics"], "--output", "json").json["job"]["tasks"]
    assert [task["outputs"] for task in metrics if task["path"] == "evaluate"] == [{"Output": 10.0}]
