"""Each edited field of a template is in the table of settings. # N8"""

from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any

import pytest

from slipway.answers.settings import settings
from slipway.google.catalog.document import read, write
from slipway.model.kinds.settings import Study
from slipway.reviewing.change.reading import as_declared
from slipway.reviewing.reviewer import review
from slipway.template import JobTemplate, Parameter, Scheduling, WorkerPool
from tests.review.case import Case, Edit, imports, more, stack, template
from tests.review.checkout import BASE
from tests.review.play import change_of

UPLOAD = 'ModelUpload("judge", "us-docker.pkg.dev/acme-ml/serve@sha256:{}")'
TRAINERS = "  slipway:trainers:\n    judges:\n      submitters: [user:ada@acme.example]\n  slipway:policy:\n"
EVALS, LORA, DIGITS, TUNE = (partial(template, name) for name in ("evals", "lora", "digits", "tune"))


@dataclass(frozen=True)
class Field:
    """An edit of a field, and what is deployed already."""

    of: type[Any]
    name: str
    edits: tuple[Edit, ...]
    given: tuple[Edit, ...]


def field(of: type[Any], name: str, *edits: Edit, given: tuple[Edit, ...] = ()) -> Field:
    return Field(of, name, edits, given)


def study(text: str) -> Edit:
    last = '        parallel_trials="${parallel}",\n'
    return TUNE(last, last + text)


def fixed(parameter: str, field: str, value: int) -> tuple[Edit, ...]:
    """The study's count, which is a parameter's, as a number."""
    lines = (BASE / "templates/tune.py").read_text().splitlines(keepends=True)
    (line,) = (text for text in lines if f'Parameter("{parameter}"' in text)
    return TUNE(line, ""), TUNE(f'{field}="${{{parameter}}}"', f"{field}={value}")


def scheduling(text: str) -> tuple[Edit, ...]:
    return imports("evals", "Scheduling"), more("evals", f"scheduling=Scheduling({text})")


ELSEWHERE = (
    stack("  slipway:policy:\n", "  slipway:regions: [us-east4]\n  slipway:policy:\n"),
    stack("regions: [us-central1]", "regions: [us-central1, us-east4]"),
)
MACHINE = '"judge", "n1-standard-8", Disk("pd-ssd", 100), '
GPU = EVALS(MACHINE, f'{MACHINE}accelerator="NVIDIA_TESLA_T4", accelerator_count=1, ')
LAST = '"--batch=${batch}")),\n'
HELPERS = EVALS(LAST, f'{LAST}        WorkerPool("helpers", "n1-standard-8", Disk("pd-ssd", 100), replicas=1),\n')
TPU = EVALS(MACHINE, '"judge", "ct5lp-hightpu-4t", Disk("pd-ssd", 100), tpu_topology="2x2", ')
LARGER = EVALS('"n1-standard-8"', '"n1-standard-16"')
BATCH = 'Parameter("batch", int, default=8, min=1, max=512'
UPLOADS = more("evals", f'kinds=("custom-job", "training-pipeline"),\n    model={UPLOAD.format("a" * 64)}')
NETWORK = 'network="projects/123/global/networks/train"'
OWN_CODE = (
    stack("    trainer: trainer\n", "    trainer: trainer\n    code: true\n"),
    stack("      reviewedCodeOnly: true\n", ""),
)
NEXT = (
    "    next: { path: projects/acme-ml/zones/us-central1-a/reservations/next,"
    " machine: a3-highgpu-8g, machines: 2 }\n\n"
)
FLEX = '    waits={"flex-start": 7200},\n'
ACCOUNT = 'service_account="evals@acme-ml.iam.gserviceaccount.com"'

PIPELINE = """
schemaVersion: 2.1.0
components: {task: {executorLabel: task}}
deploymentSpec: {executors: {task: {container: {image: "python:3.11", command: ["true"]}}}}
root: {dag: {tasks: {task: {componentRef: {name: task}}}}}
"""
PIPE = """from slipway.reviewing.reviewer import review
from slipway.template import JobTemplate

TEMPLATE = JobTemplate(
    name="pipe", summary="a pipeline", kinds=("pipeline",), pipeline="pipelines/a.yaml", capacity_types=("on-demand",)
)
"""
PIPES = (
    Edit("pipelines/a.yaml", "", PIPELINE),
    Edit("templates/pipe.py", "", PIPE),
    stack("    - evals\n", "    - evals\n    - pipe\n"),
)

FIELDS = (
    field(JobTemplate, "name", stack("    - evals\n", "")),
    field(JobTemplate, "code", EVALS("1" * 64, "2" * 64)),
    field(JobTemplate, "worker_pools", LARGER),
    field(JobTemplate, "kinds", more("evals", 'kinds=("custom-job", "training-pipeline")')),
    field(JobTemplate, "parameters", EVALS(BATCH, BATCH.replace("512", "256"))),
    field(JobTemplate, "capacity_types", EVALS('("spot", "on-demand")', '("on-demand", "spot")')),
    field(JobTemplate, "timeout_s", EVALS("timeout_s=7200", "timeout_s=3600")),
    field(JobTemplate, "env", EVALS('"us-central1"}', '"us-east1"}')),
    field(JobTemplate, "study", TUNE('Metric("accuracy")', 'Metric("accuracy", "minimize")')),
    field(JobTemplate, "model", EVALS("a" * 64, "b" * 64), given=(imports("evals", "ModelUpload"), UPLOADS)),
    field(JobTemplate, "pipeline", Edit("pipelines/a.yaml", '"true"', '"false"'), given=PIPES),
    field(JobTemplate, "scheduling", *scheduling("disable_retries=True")),
    field(JobTemplate, "idle", imports("evals", "Idle"), more("evals", "idle=Idle(1800)")),
    field(JobTemplate, "waits", LORA("7200", "600")),
    field(JobTemplate, "variants", LORA('("pool", "reservation", "spot")', '("spot", "pool", "reservation")')),
    field(
        JobTemplate,
        "shapes",
        imports("lora", "Shape"),
        more("lora", 'shapes=(Shape((WorkerPool("tuner", "a2-ultragpu-1g", Disk("pd-ssd", 200), args=ARGS),)),)'),
    ),
    field(JobTemplate, "regions", more("evals", 'regions=("us-east4",)'), given=ELSEWHERE),
    field(JobTemplate, "secrets", EVALS('"judge-key"', '"other-key"')),
    field(JobTemplate, "inputs", DIGITS("/old", "/new"), given=(more("digits", 'inputs={"data": "gs://acme/old"}'),)),
    field(
        JobTemplate,
        "nfs_mounts",
        imports("evals", "NfsMount"),
        more("evals", 'nfs_mounts=(NfsMount("10.0.0.9", "/shared", "data"),)'),
        given=(EVALS('env={"REGION"', f'{NETWORK}, env={{"REGION"'),),
    ),
    field(JobTemplate, "network", more("evals", NETWORK)),
    field(JobTemplate, "trainer", EVALS(ACCOUNT, 'trainer="judges"'), given=(stack("  slipway:policy:\n", TRAINERS),)),
    field(JobTemplate, "service_account", EVALS("evals@acme-ml", "other@acme-ml")),
    field(JobTemplate, "enable_web_access", more("evals", "enable_web_access=True")),
    field(JobTemplate, "enable_dashboard_access", more("evals", "enable_dashboard_access=True")),
    field(JobTemplate, "tensorboard", more("evals", 'tensorboard="123"')),
    field(JobTemplate, "experiment", more("evals", 'experiment="scores"')),
    field(
        JobTemplate, "code_flag", DIGITS("    checkpoints=True", "    code_flag=True, checkpoints=True"), given=OWN_CODE
    ),
    field(JobTemplate, "checkpoints", EVALS("    checkpoints=True,\n", "")),
    field(JobTemplate, "labels", more("evals", 'labels={"cost-center": "research"}')),
    field(WorkerPool, "role", EVALS('WorkerPool("judge"', 'WorkerPool("referee"')),
    field(WorkerPool, "machine", LARGER),
    field(WorkerPool, "disk", EVALS('Disk("pd-ssd", 100)', 'Disk("pd-ssd", 200)')),
    field(WorkerPool, "accelerator", EVALS("NVIDIA_TESLA_T4", "NVIDIA_TESLA_V100"), given=(GPU,)),
    field(WorkerPool, "accelerator_count", EVALS("accelerator_count=1", "accelerator_count=2"), given=(GPU,)),
    field(WorkerPool, "replicas", EVALS("100), replicas=1", "100), replicas=2"), given=(HELPERS,)),
    field(WorkerPool, "args", EVALS('"--suite=${suite}", ', '"--suite=${suite}", "--fast", ')),
    field(WorkerPool, "position", DIGITS('"${workers}")', '"${workers}", position="parameter-servers")')),
    field(WorkerPool, "code", EVALS(MACHINE, f'{MACHINE}code=Image("docker.io/acme/other@sha256:{"3" * 64}"), ')),
    field(
        WorkerPool,
        "reservation",
        LORA('"bought"', '"next"'),
        given=(stack("  slipway:workspace:\n", f"{NEXT}  slipway:workspace:\n"),),
    ),
    field(WorkerPool, "env", EVALS(MACHINE, f'{MACHINE}env={{"LEVEL": "2"}}, ')),
    field(
        WorkerPool,
        "tpu_topology",
        EVALS('"2x2"', '"2x4"'),
        given=(TPU, EVALS('("spot", "on-demand")', '("on-demand",)')),
    ),
    field(Parameter, "name", EVALS('"batch"', '"size"'), EVALS("${batch}", "${size}")),
    field(Parameter, "type", EVALS(BATCH, 'Parameter("batch", float, default=8.0, min=1, max=512')),
    field(Parameter, "default", EVALS("default=8", "default=16")),
    field(Parameter, "min", EVALS("min=1", "min=2")),
    field(Parameter, "max", EVALS("max=512", "max=256")),
    field(Parameter, "choices", EVALS('("core", "full")', '("core",)')),
    field(Parameter, "command", EVALS('("core", "full"), ', '("core", "full"), command=True, ')),
    field(
        Scheduling,
        "max_wait_s",
        imports("lora", "Scheduling"),
        LORA(FLEX, f"{FLEX}    scheduling=Scheduling(max_wait_s=60),\n"),
    ),
    field(Scheduling, "restart_job_on_worker_restart", *scheduling("restart_job_on_worker_restart=True")),
    field(Scheduling, "disable_retries", *scheduling("disable_retries=True")),
    field(Study, "metrics", TUNE('Metric("accuracy")', 'Metric("loss", "minimize")')),
    field(Study, "parameters", TUNE("max=16", "max=8")),
    field(Study, "max_trials", TUNE("max_trials=8", "max_trials=80"), given=fixed("trials", "max_trials", 8)),
    field(
        Study,
        "parallel_trials",
        TUNE("parallel_trials=2", "parallel_trials=4"),
        given=fixed("parallel", "parallel_trials", 2),
    ),
    field(Study, "algorithm", study('        algorithm="random",\n')),
    field(Study, "max_failed_trials", study("        max_failed_trials=3,\n")),
    field(Study, "measurement", study('        measurement="last",\n')),
    field(Study, "stopping", imports("tune", "Stopping"), study('        stopping=Stopping("median"),\n')),
    field(Study, "trials_without_progress", study("        trials_without_progress=3,\n")),
    field(Study, "seconds_without_progress", study("        seconds_without_progress=1800,\n")),
)
FOR_PEOPLE = {(JobTemplate, "summary"), (Parameter, "help")}
"""What no job sees."""


def test_every_field_is_edited_here() -> None:
    known = {(of, field.name) for of in (JobTemplate, WorkerPool, Parameter, Scheduling, Study) for field in fields(of)}
    assert known == {(field.of, field.name) for field in FIELDS} | FOR_PEOPLE


@pytest.mark.parametrize("one", FIELDS, ids=lambda item: f"{item.of.__name__}.{item.name}")
def test_an_edit_is_in_the_table_of_settings(one: Field) -> None:
    rows = settings(change_of(Case("", one.edits, given=one.given)).comparison)
    assert rows
    assert [row for row in rows if row.before == row.after] == []


@pytest.mark.parametrize("one", FIELDS, ids=lambda item: f"{item.of.__name__}.{item.name}")
def test_the_order_of_keys_is_no_edit(one: Field) -> None:
    """A published catalog has its keys in another order than the program."""
    change = change_of(Case("", one.edits, given=one.given))
    comparison = change.comparison
    published = as_declared(read(write(comparison.before.catalog), "published"))
    reread = replace(comparison, before=replace(comparison.before, catalog=published))
    assert review(replace(change, comparison=reread)).findings == review(change).findings
