"""Rules for what a template says: each of its fields has one, in words of at most thirty. # N8"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import pytest

from slipway.findings.finding import Grade, Section
from slipway.kinds.settings import Study
from slipway.review.templates.leaves import flat
from slipway.review.templates.requests import SILENT
from slipway.review.templates.rules import OTHER, RULES
from slipway.review.words import LONGEST
from slipway.template import JobTemplate, Parameter, Scheduling, WorkerPool
from tests.review.case import Case, Edit, stack, template
from tests.review.checkout import BASE
from tests.review.play import change_of, play

TIMEOUT = "    timeout_s=7200,\n"
UPLOAD = 'ModelUpload("judge", "us-docker.pkg.dev/acme-ml/serve@sha256:{}")'
TRAINERS = "  slipway:trainers:\n    judges:\n      submitters: [user:ada@acme.example]\n  slipway:policy:\n"


@dataclass(frozen=True)
class Field:
    """An edit of a field, and what is deployed already."""

    of: type[Any]
    name: str
    edits: tuple[Edit, ...]
    given: tuple[Edit, ...] = ()


def evals(text: str) -> Edit:
    """Fields more."""
    return template("evals", TIMEOUT, TIMEOUT + text)


def imports(name: str, more: str) -> Edit:
    return template(name, "from slipway.template import ", f"from slipway.template import {more}, ")


def pool(old: str, new: str) -> tuple[Edit, ...]:
    return (template("evals", old, new),)


def study(text: str) -> tuple[Edit, ...]:
    return (
        template(
            "tune", '        parallel_trials="${parallel}",\n', f'        parallel_trials="${{parallel}}",\n{text}'
        ),
    )


def fixed(parameter: str, field: str, value: int) -> tuple[Edit, ...]:
    """The study's count, which is a parameter's, as a number."""
    lines = (BASE / "templates/tune.py").read_text().splitlines(keepends=True)
    (line,) = (one for one in lines if f'Parameter("{parameter}"' in one)
    return (template("tune", line, ""), template("tune", f'{field}="${{{parameter}}}"', f"{field}={value}"))


def scheduling(text: str) -> tuple[Edit, ...]:
    return (imports("evals", "Scheduling"), evals(f"    scheduling=Scheduling({text}),\n"))


MACHINE = '"judge", "n1-standard-8", Disk("pd-ssd", 100), '
GPU = template("evals", MACHINE, f'{MACHINE}accelerator="NVIDIA_TESLA_T4", accelerator_count=1, ')
HELPERS = template(
    "evals",
    '"--batch=${batch}")),\n',
    '"--batch=${batch}")),\n        WorkerPool("helpers", "n1-standard-8", Disk("pd-ssd", 100), replicas=1),\n',
)
TPU = template("evals", MACHINE, '"judge", "ct5lp-hightpu-4t", Disk("pd-ssd", 100), tpu_topology="2x2", ')
BATCH = 'Parameter("batch", int, default=8, min=1, max=512'

FIELDS = (
    Field(JobTemplate, "name", (stack("    - evals\n", ""),)),
    Field(JobTemplate, "code", (template("evals", "1" * 64, "2" * 64),)),
    Field(JobTemplate, "worker_pools", pool('"n1-standard-8"', '"n1-standard-16"')),
    Field(JobTemplate, "kinds", (evals('    kinds=("custom-job", "training-pipeline"),\n'),)),
    Field(JobTemplate, "parameters", pool(BATCH, BATCH.replace("512", "256"))),
    Field(JobTemplate, "capacity_types", pool('("spot", "on-demand")', '("on-demand", "spot")')),
    Field(JobTemplate, "timeout_s", (template("evals", "timeout_s=7200", "timeout_s=3600"),)),
    Field(JobTemplate, "env", pool('"us-central1"}', '"us-east1"}')),
    Field(JobTemplate, "study", (template("tune", 'Metric("accuracy")', 'Metric("accuracy", "minimize")'),)),
    Field(
        JobTemplate,
        "model",
        (template("evals", "a" * 64, "b" * 64),),
        (
            imports("evals", "ModelUpload"),
            evals(f'    kinds=("custom-job", "training-pipeline"),\n    model={UPLOAD.format("a" * 64)},\n'),
        ),
    ),
    Field(JobTemplate, "scheduling", scheduling("disable_retries=True")),
    Field(JobTemplate, "waits", (template("lora", "7200", "600"),)),
    Field(
        JobTemplate,
        "variants",
        (template("lora", '("pool", "reservation", "spot")', '("spot", "pool", "reservation")'),),
    ),
    Field(JobTemplate, "secrets", pool('"judge-key"', '"other-key"')),
    Field(
        JobTemplate,
        "nfs_mounts",
        (imports("evals", "NfsMount"), evals('    nfs_mounts=(NfsMount("10.0.0.9", "/shared", "data"),),\n')),
        (template("evals", 'env={"REGION"', 'network="projects/123/global/networks/train",\n    env={"REGION"'),),
    ),
    Field(JobTemplate, "network", (evals('    network="projects/123/global/networks/train",\n'),)),
    Field(
        JobTemplate,
        "trainer",
        (template("evals", 'service_account="evals@acme-ml.iam.gserviceaccount.com"', 'trainer="judges"'),),
        (stack("  slipway:policy:\n", TRAINERS),),
    ),
    Field(JobTemplate, "service_account", pool("evals@acme-ml", "other@acme-ml")),
    Field(JobTemplate, "enable_web_access", (evals("    enable_web_access=True,\n"),)),
    Field(JobTemplate, "enable_dashboard_access", (evals("    enable_dashboard_access=True,\n"),)),
    Field(JobTemplate, "tensorboard", (evals('    tensorboard="123",\n'),)),
    Field(JobTemplate, "experiment", (evals('    experiment="scores",\n'),)),
    Field(
        JobTemplate,
        "code_flag",
        (template("digits", "    checkpoints=True,\n", "    checkpoints=True,\n    code_flag=True,\n"),),
        (
            stack("    trainer: trainer\n", "    trainer: trainer\n    code: true\n"),
            stack("      reviewedCodeOnly: true\n", ""),
        ),
    ),
    Field(JobTemplate, "checkpoints", (template("evals", "    checkpoints=True,\n", ""),)),
    Field(JobTemplate, "labels", (evals('    labels={"cost-center": "research"},\n'),)),
    Field(WorkerPool, "role", pool('WorkerPool("judge"', 'WorkerPool("referee"')),
    Field(WorkerPool, "machine", pool('"n1-standard-8"', '"n1-standard-16"')),
    Field(WorkerPool, "disk", pool('Disk("pd-ssd", 100)', 'Disk("pd-ssd", 200)')),
    Field(WorkerPool, "accelerator", pool("NVIDIA_TESLA_T4", "NVIDIA_TESLA_V100"), (GPU,)),
    Field(WorkerPool, "accelerator_count", pool("accelerator_count=1", "accelerator_count=2"), (GPU,)),
    Field(WorkerPool, "replicas", pool("100), replicas=1", "100), replicas=2"), (HELPERS,)),
    Field(WorkerPool, "args", pool('"--suite=${suite}", ', '"--suite=${suite}", "--fast", ')),
    Field(
        WorkerPool,
        "position",
        (template("digits", 'replicas="${workers}")', 'replicas="${workers}", position="parameter-servers")'),),
    ),
    Field(
        WorkerPool, "code", pool(MACHINE, f'{MACHINE}code=Image("us-docker.pkg.dev/acme-ml/other@sha256:{"3" * 64}"), ')
    ),
    Field(
        WorkerPool,
        "reservation",
        (template("lora", '"bought"', '"next"'),),
        (
            stack(
                "  slipway:workspace:\n",
                "    next: { path: projects/acme-ml/zones/us-central1-a/reservations/next,"
                " machine: a3-highgpu-8g, machines: 2 }\n\n"
                "  slipway:workspace:\n",
            ),
        ),
    ),
    Field(WorkerPool, "env", pool(MACHINE, f'{MACHINE}env={{"LEVEL": "2"}}, ')),
    Field(WorkerPool, "tpu_topology", pool('"2x2"', '"2x4"'), (TPU, *pool('("spot", "on-demand")', '("on-demand",)'))),
    Field(Parameter, "name", (template("evals", '"batch"', '"size"'), template("evals", "${batch}", "${size}"))),
    Field(Parameter, "type", pool(BATCH, 'Parameter("batch", float, default=8.0, min=1, max=512')),
    Field(Parameter, "default", pool("default=8", "default=16")),
    Field(Parameter, "min", pool("min=1", "min=2")),
    Field(Parameter, "max", pool("max=512", "max=256")),
    Field(Parameter, "choices", pool('("core", "full")', '("core",)')),
    Field(Parameter, "command", pool('("core", "full"), ', '("core", "full"), command=True, ')),
    Field(
        Scheduling,
        "max_wait_s",
        (
            imports("lora", "Scheduling"),
            template(
                "lora",
                '    waits={"flex-start": 7200},\n',
                '    waits={"flex-start": 7200},\n    scheduling=Scheduling(max_wait_s=60),\n',
            ),
        ),
    ),
    Field(Scheduling, "restart_job_on_worker_restart", scheduling("restart_job_on_worker_restart=True")),
    Field(Scheduling, "disable_retries", scheduling("disable_retries=True")),
    Field(Study, "metrics", (template("tune", 'Metric("accuracy")', 'Metric("loss", "minimize")'),)),
    Field(Study, "parameters", (template("tune", "max=16", "max=8"),)),
    Field(Study, "max_trials", (template("tune", "max_trials=8", "max_trials=80"),), fixed("trials", "max_trials", 8)),
    Field(
        Study,
        "parallel_trials",
        (template("tune", "parallel_trials=2", "parallel_trials=4"),),
        fixed("parallel", "parallel_trials", 2),
    ),
    Field(Study, "algorithm", study('        algorithm="random",\n')),
    Field(Study, "max_failed_trials", study("        max_failed_trials=3,\n")),
    Field(Study, "measurement", study('        measurement="last",\n')),
    Field(Study, "stopping", (imports("tune", "Stopping"), *study('        stopping=Stopping("median"),\n'))),
    Field(Study, "trials_without_progress", study("        trials_without_progress=3,\n")),
    Field(Study, "seconds_without_progress", study("        seconds_without_progress=1800,\n")),
)
FOR_PEOPLE = {(JobTemplate, "summary"), (Parameter, "help")}
"""What no job sees."""


def test_every_field_is_edited_here() -> None:
    known = {(of, one.name) for of in (JobTemplate, WorkerPool, Parameter, Scheduling, Study) for one in fields(of)}
    assert known == {(one.of, one.name) for one in FIELDS} | FOR_PEOPLE


@pytest.mark.parametrize("one", FIELDS, ids=lambda one: f"{one.of.__name__}.{one.name}")
def test_a_field_has_a_rule(one: Field) -> None:
    case = Case("", one.edits, given=one.given)
    found = [each for each in play(case).consequences if each.section is not Section.PROGRAM]
    assert found, play(case)
    for each in found:
        assert len(each.sentence.split()) <= LONGEST, each.sentence
        assert "`: `" not in each.sentence and not each.sentence.startswith("`"), each.sentence
    new = change_of(case).new
    assert new
    posted = {path for each in new.templates.values() for offer in each.offers for path in flat(offer, new)}
    ruled = (path for path in posted if any(rule.path.fullmatch(path) for rule in RULES) or SILENT.fullmatch(path))
    assert posted - set(ruled) == set()


def test_what_is_not_of_ours_is_told_as_it_stands() -> None:
    assert all(rule.kind == "request-changed" for rule in OTHER)


@pytest.mark.parametrize(
    ("machine", "stops"),
    [("g2-standard-12", True), ("a2-ultragpu-1g", False), ("a2-highgpu-2g", False)],
    ids=("24 GB instead of 40", "80 GB", "two of 40 GB"),
)
def test_less_gpu_memory_stops_a_merge(machine: str, stops: bool) -> None:
    found = play(Case("machine", (template("lora", '"a2-highgpu-1g", Disk', f'"{machine}", Disk'),)))
    grades = {one.grade for one in found.consequences if one.kind == "machines-changed"}
    assert (Grade.BLOCKING in grades) is stops
