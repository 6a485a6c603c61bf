"""Each kind of job stands in one file: how it compiles, reads back and is listed. Nobody else keeps a list of them."""

import ast
import copy
import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from slipway.google.failures import ROLES
from slipway.google.jobs import VertexJob
from slipway.model.kinds import CUSTOM_JOB, KINDS, PIPELINE, PIPELINE_JOB, JobKind, kind_of
from slipway.model.kinds.settings import Metric, ModelUpload, Search, Study

ROOT = Path(__file__).resolve().parents[4]
SPEC: dict[str, Any] = {
    "workerPoolSpecs": [{"machineSpec": {"machineType": "n1-standard-4"}, "replicaCount": 2}],
    "baseOutputDirectory": {"outputUriPrefix": "${slipway.output}"},
}
STUDY = Study((Metric("loss", "minimize"),), (Search("rate", "double", 0.1, 1.0),), 8, 4)
MODEL = ModelUpload("digits", "gcr.io/acme/serve", artifact="best/")


OF_SPECS = [kind for kind in KINDS.values() if kind is not PIPELINE_JOB]
"""The kinds that are made of a CustomJobSpec; of a pipeline tells test_pipeline.py."""


@pytest.mark.parametrize("kind", OF_SPECS, ids=[kind.name for kind in OF_SPECS])
def test_what_it_compiles_to_reads_back(kind: JobKind) -> None:
    body = kind.body(SPEC, STUDY, MODEL, None)
    assert kind.spec_of(body) == SPEC
    name = f"projects/p/locations/r/{kind.collection}/7"
    job = VertexJob.read({**body, "name": name}, kind)
    assert kind_of(job.name) is kind and job.replicas == 2
    assert job.trials == (4 if kind.has_trials else 1)
    assert f"aiplatform.{kind.collection}." in ROLES


def test_a_pipeline_is_read_in_a_custom_jobs_words_and_listed_in_its_own() -> None:
    job = VertexJob.read({"state": "PIPELINE_STATE_FAILED"}, PIPELINE)
    assert job.ended and job.state == "JOB_STATE_FAILED"
    assert PIPELINE.filter('state="JOB_STATE_FAILED"') == 'state="PIPELINE_STATE_FAILED"'
    assert CUSTOM_JOB.filter('state="JOB_STATE_FAILED"') == 'state="JOB_STATE_FAILED"'


def test_a_pipeline_of_somebody_elses_may_be_a_tuning_job_in_another_spelling() -> None:
    inputs = {"parallel_trial_count": 3, "trial_job_spec": {"worker_pool_specs": [{"replica_count": "2"}]}}
    job = VertexJob.read({"trainingTaskInputs": inputs}, PIPELINE)
    assert (job.trials, job.replicas) == (3, 2)


@pytest.mark.parametrize("kind", KINDS.values(), ids=list(KINDS))
def test_a_copy_of_a_kind_is_the_kind(kind: JobKind) -> None:
    job = VertexJob.read({"name": f"projects/p/locations/r/{kind.collection}/7"}, kind)
    for again in (pickle.loads(pickle.dumps(job)), copy.deepcopy(job), copy.copy(job)):
        assert again == job and again.kind is kind
    assert len({type(item) for item in KINDS.values()}) == len(set(map(id, KINDS.values()))) == len(KINDS)


def texts(source: str) -> Iterator[str]:
    """The texts of a file that are no docstrings."""
    tree = ast.parse(source)
    said = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in said:
            yield node.value


def test_no_other_file_names_the_kinds() -> None:
    names = {name for kind in KINDS.values() for name in (kind.name, kind.collection, kind.message, kind.spec)}
    names -= {PIPELINE_JOB.name}  # It is a word of sentences, and a field of templates.
    for path in (ROOT / "slipway").rglob("*.py"):
        source = path.read_text("utf-8")
        if path.parent.name != "kinds" and any(name in source for name in names):
            found = {name for text in texts(source) for name in names if name in text}
            assert not found, f"{path.relative_to(ROOT)} names {', '.join(sorted(found))}"
