"""The conversion of a gcloud job file to a template: the same machines, and the same code with the same arguments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from slipway.capacity import DAY, FLEX_START, ON_DEMAND, POOL, RESERVATION, of_job
from slipway.catalog.placeholders import OUTPUT, names, placeholder
from slipway.errors import ConfigError
from slipway.gcloud.fields import JOB, field_of
from slipway.gcloud.workers import WorkersReader
from slipway.kinds import CUSTOM_JOB
from slipway.stack.yaml_file import Document, DocumentPart, FileMistake, in_words
from slipway.template import JobTemplate, NfsMount, Scheduling
from slipway.template.declaration import Declaration
from slipway.template.job_template import MAX_TIMEOUT_S, problems

_STRATEGIES = ("STANDARD", "ON_DEMAND", "SPOT", "FLEX_START", "STRATEGY_UNSPECIFIED")


@dataclass(frozen=True)
class Imported:
    """A template. `notes`: the settings of the job that its template lacks, because Slipway sets them."""

    template: JobTemplate
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Naming:
    """The facts that a job file lacks. `folder` has the code of a Python package, from the repository's root."""

    name: str
    summary: str
    folder: str = ""


def read(document: Document, naming: Naming) -> Imported:
    """Read a job file. Raises ConfigError with all mistakes, each with its line."""
    mistakes = list(document.mistakes)
    root = DocumentPart(document, (), mistakes)
    if not mistakes and (spec := field_of(root, CUSTOM_JOB.spec)).value is not None:
        spec.wrong(
            "this is the body of a whole request, and a job file is the job's spec alone",
            f"give what is under {spec.path[-1]}, as {CUSTOM_JOB.gcloud} --config takes it",
        )
    found: dict[str, Any] = {} if mistakes else JOB(root) or {}
    if not mistakes and not found.get("workerPoolSpecs"):
        root.wrong("there are no workerPoolSpecs in it", f"a job's spec, as {CUSTOM_JOB.gcloud} --config takes")
    if not mistakes:
        imported = _template(root, found, naming)
        if imported is not None:
            return imported
    ordered = sorted(mistakes, key=lambda one: one.line)
    raise _refusal(document.file, ordered)


def _refusal(file: str, mistakes: list[FileMistake]) -> ConfigError:
    first, *more = in_words(mistakes)
    what = f"{file} can't be imported, and nothing was written"
    return ConfigError(what, why="\n".join((first, *more)), fix=f"correct {file}, or the flags")


def _template(root: DocumentPart, found: Mapping[str, Any], naming: Naming) -> Imported | None:
    """Return the template; None after a mistake, which is then a finding."""
    notes: list[str] = []
    scheduling = found.get("scheduling", {})
    output = found.get("baseOutputDirectory", {}).get("outputUriPrefix", "")
    reader = WorkersReader(field_of(root, "workerPoolSpecs"), naming.folder, output)
    workers = reader.read(found["workerPoolSpecs"])
    if output:
        notes.append(f"each job has an output directory of its own: {output} became {placeholder(OUTPUT)}")
    if "persistentResourceId" in found:
        notes.append(
            f"it runs on the stack's pool with such machines, and not by name on {found['persistentResourceId']}"
        )
    if "experimentRun" in found:
        notes.append("each job has a run of its own in the experiment")
    asked: dict[str, Any] = {
        "name": naming.name,
        "summary": naming.summary,
        **workers,
        "capacity_types": (_capacity_type(root, found, scheduling),),
        "timeout_s": scheduling.get("timeout", MAX_TIMEOUT_S),
        "scheduling": _scheduling(root, scheduling),
        "nfs_mounts": tuple(
            NfsMount(one.get("server", ""), one.get("path", ""), one.get("mountPoint", "")) for one in reader.mounts
        ),
        "network": found.get("network"),
        "service_account": found.get("serviceAccount"),
        "enable_web_access": found.get("enableWebAccess", False),
        "enable_dashboard_access": found.get("enableDashboardAccess", False),
        "tensorboard": found.get("tensorboard"),
        "experiment": found["experiment"].rpartition("/")[2] if "experiment" in found else None,
    }
    _no_parameters(root)
    if not root.mistakes:
        for problem in problems(Declaration(**asked)):
            root.wrong(f"as a template it is not well-formed: {problem}", "correct the field, or leave it out")
    return None if root.mistakes else Imported(JobTemplate(**asked), (*notes, *reader.notes))


def _capacity_type(root: DocumentPart, found: Mapping[str, Any], scheduling: Mapping[str, Any]) -> str:
    if "persistentResourceId" in found:
        return POOL
    if any("reservationAffinity" in pool.get("machineSpec", {}) for pool in found["workerPoolSpecs"] if pool):
        return RESERVATION
    strategy = scheduling.get("strategy", "STANDARD")
    if strategy not in _STRATEGIES:
        strategies = ", ".join(_STRATEGIES[:-1])
        field_of(field_of(root, "scheduling"), "strategy").wrong(
            f"unknown strategy {strategy!r}", f"one of {strategies}"
        )
        return ON_DEMAND
    return of_job("STANDARD" if strategy in ("ON_DEMAND", "STRATEGY_UNSPECIFIED") else strategy)


def _scheduling(root: DocumentPart, asked: Mapping[str, Any]) -> Scheduling:
    wait = asked.get("maxWaitDuration")
    if wait is not None and of_job(asked.get("strategy", "STANDARD")) != FLEX_START:
        part = field_of(field_of(root, "scheduling"), "maxWaitDuration")
        part.wrong("only a job of the strategy FLEX_START waits by itself", "leave it out, or strategy: FLEX_START")
    return Scheduling(
        max_wait_s=None if wait == DAY else wait,
        restart_job_on_worker_restart=asked.get("restartJobOnWorkerRestart", False),
        disable_retries=asked.get("disableRetries", False),
    )


def _no_parameters(part: DocumentPart) -> None:
    """Refuse `${name}`, which would be a parameter of the template; in a job file it is text that nothing replaces."""
    if isinstance(part.value, str):
        for name in names(part.value):
            fix = (
                "$(NAME) for a variable of the environment; a template's parameters are added to its Python afterwards"
            )
            part.wrong(f"${{{name}}} is no variable: Vertex AI would pass it on as it is", fix)
    for _, child in part.items():
        _no_parameters(child)
    for child in part.entries():
        _no_parameters(child)
