"""The conversion of a gcloud job file to a template: the same machines, and the same code with the same arguments."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import yaml

from slipway.authoring.gcloud.fields import JOB, field_of, items
from slipway.authoring.gcloud.output import BUCKET, Note, OutputReader
from slipway.authoring.gcloud.workers import WorkersReader
from slipway.authoring.stack.yaml_file import DocumentPart, FileMistake, dotted, from_text, in_words
from slipway.authoring.stack.yaml_loader import StackLoader
from slipway.authoring.template.declaration import Declaration, Scheduling
from slipway.authoring.template.job_template import MAX_TIMEOUT_S, NAME, JobTemplate, problems
from slipway.base.codec import camel
from slipway.base.errors import ConfigError
from slipway.base.formatting import quoted
from slipway.model.capacity import CAPACITY_TYPES, DAY, FLEX_START, ON_DEMAND, POOL, RESERVATION, of_job
from slipway.model.catalog.placeholders import OUTPUT, names, placeholder
from slipway.model.cluster import SERVICE_ACCOUNT
from slipway.model.kinds import CUSTOM_JOB, KINDS, PIPELINE_JOB
from slipway.model.rules.reservations import NO_RESERVATION

_STRATEGIES: Mapping[str, str] = {
    "ON_DEMAND": ON_DEMAND,  # Its deprecated name.
    **{row.strategy: name for name, row in CAPACITY_TYPES.items() if row.strategy},
}


_POOLS_OF_CLUSTERS = ("resourcePools", "resourcePoolSpecs")
"""The key of a cluster's pools in the API, and in the file of `gcloud ai persistent-resources create --config`."""
_SPACE = r"\s+(?:beta\s+)?"
_NO_JOB_FILES = {
    "a shell script": re.compile(rf"\A#!|^\s*(?:\$ )?{CUSTOM_JOB.gcloud.replace(' ', _SPACE)}\b", re.M),
    "Terraform": re.compile(r"""^\s*resource\s+"google_""", re.M),
}
_PYTHON = re.compile(r"^(?:import [\w.]+|from [\w.]+ import |def \w+\()", re.M)
_OF_SHELLS = re.compile(r"\$\{[A-Za-z_]\w*(?:[#%:/^,-][^}]*)?\}|\$[A-Z_]{2,}\b")


class _JobFileLoader(StackLoader):
    """A loader of YAML 1.1, as gcloud has it: `yes` is true, `1:30` a number. Words that are no
    texts there are none here either, so that each argument says what it says there."""

    yaml_constructors = {**yaml.SafeLoader.yaml_constructors}  # noqa: RUF012 - PyYAML's own attribute

    def resolve(self, kind: type[yaml.Node], value: str | None, implicit: tuple[bool, bool]) -> str:
        return str(yaml.SafeLoader.resolve(self, kind, value, implicit))  # type: ignore[no-untyped-call]


@dataclass(frozen=True)
class Imported:
    """A template, with notes on all in which its jobs differ from the file's."""

    template: JobTemplate
    notes: tuple[Note, ...] = ()


@dataclass(frozen=True)
class Naming:
    """The facts that a job file lacks."""

    name: str
    summary: str
    #: The folder of a Python package's code, from the repository's root.
    folder: str = ""
    #: The template is printed only: an image without a digest is a note, and is imported with `UNPINNED`.
    is_draft: bool = False


def read(text: str, file: str, naming: Naming, also: Sequence[FileMistake] = ()) -> Imported:
    """Read a job file, whose name is `file`. Raises ConfigError with all mistakes, each with its line, and `also`."""
    if other := next((what for what, words in _NO_JOB_FILES.items() if words.search(text)), ""):
        raise ConfigError(
            f"{file} is {other}, and no job file",
            why="its text makes a job once its variables are expanded and its flags are read, by other programs",
            fix="import a job that it has sent: "
            f"{CUSTOM_JOB.gcloud.removesuffix('create')}describe JOB --region=REGION > job.yaml",
        )
    if file.endswith((".py", ".ipynb")) or _PYTHON.search(text):
        raise ConfigError(
            f"{file} is a Python program, and no job file",
            why="a job file names machines and an image in YAML, and a program has no such fields",
            fix=f"slipway run {shlex.quote(file)}, which needs no template; or write one: docs/write-a-template.md",
        )
    document = from_text(text, file, _JobFileLoader)
    root = DocumentPart(document, (), [*also, *document.mistakes])
    if not NAME.fullmatch(naming.name):
        what = f"{naming.name!r} can't be a template's name"
        root.mistakes.append(flag_mistake(what, "--name NAME: at most 50 of a-z, 0-9 and -, a letter first"))
    if not document.mistakes and (imported := _imported(root, naming)):
        return imported
    every = "\n".join(mistake.what for mistake in root.mistakes)
    for number, line in enumerate(text.splitlines(), 1):
        for variable in filter(lambda found: found not in every, _OF_SHELLS.findall(line)):
            what = f"{quoted(variable)} is a shell variable, and nothing has expanded it"
            root.mistakes.append(FileMistake(file, number, "", what, "its value"))
    ordered = sorted(root.mistakes, key=lambda mistake: mistake.line)
    raise ConfigError(
        f"{file} can't be imported, and nothing was written",
        why="\n".join(in_words(ordered)),
        fix=f"correct {file}, or the flags",
    )


def flag_mistake(what: str, fix: str) -> FileMistake:
    """Return a mistake of the command line."""
    return FileMistake(file="", line=0, key="", what=what, fix=fix)


def _imported(root: DocumentPart, naming: Naming) -> Imported | None:
    """Return the template; None after a mistake, which is then a finding. Unknown and mistyped fields are told
    first, as others are right or wrong by them."""
    notes: list[Note] = []
    told = len(root.mistakes)
    root = _job_spec(root, notes)
    job = JOB(root) if len(root.mistakes) == told else None
    if job is None:
        return None
    if not any(job.get("workerPoolSpecs", ())):
        what = "there is no worker pool in it"
        field_of(root, "workerPoolSpecs").wrong(what, f"a job's spec, as {CUSTOM_JOB.gcloud} --config takes it")
        return None
    return _template(root, job, naming, notes)


def _job_spec(root: DocumentPart, notes: list[Note]) -> DocumentPart:
    """Return the job's spec, also of a request for a job and of what describes one. Something else that the API has is
    a finding."""
    body = {camel(key): part for key, part in root.items()}
    if CUSTOM_JOB.spec not in body:
        _no_job(body)
        return root
    spec = body.pop(CUSTOM_JOB.spec)
    for name in ("encryptionSpec", *JOB.known):
        if name in body:
            fix = f"move it to {dotted(spec.path)}.{name}" if name in JOB.known else JOB.refused[name]
            body.pop(name).wrong("no field beside a job's spec", fix)
    if body:
        notes.append(Note(next(iter(body.values())), f"{', '.join(body)}: left out, as each job has its own"))
    return spec


def _no_job(body: Mapping[str, DocumentPart]) -> None:
    """Add a finding where a file has a pipeline, a cluster, or a job of another kind."""
    kind = next((kind for kind in KINDS.values() if kind.spec in body), None)
    if kind:
        settings = f"give a template `{kind.takes[0]}=` in its Python"
        has_pools = kind is not PIPELINE_JOB
        fix = f"import what is under {body[kind.spec].path[-1]}, then {settings}" if has_pools else settings
        body[kind.spec].wrong(f"this is a {kind.words}, and a job file is a custom job's spec", fix)
    elif "deploymentSpec" in body:
        body["deploymentSpec"].wrong("this is a compiled pipeline", "give a template `pipeline=` in its Python")
    elif pools := next(filter(None, map(body.get, _POOLS_OF_CLUSTERS)), None):
        name = body["name"].value if "name" in body else "ID"
        fix = f"`slipway pools adopt {name} --print` writes its entry of a stack file, once the cluster exists"
        pools.wrong("this is a cluster, and not a job", fix)
    else:
        for name, part in body.items():
            if name not in JOB.known and field_of(part, "workerPoolSpecs").value:
                part.wrong("a job's spec is below it", f"give what is under {part.path[-1]} alone")


def _template(root: DocumentPart, job: Mapping[str, Any], naming: Naming, notes: list[Note]) -> Imported | None:
    """Return the template; None after a mistake, which is then a finding."""
    _no_placeholders(root)
    output = OutputReader(_output(root, job, notes), notes)
    scheduling = job.get("scheduling", {})
    pools = field_of(root, "workerPoolSpecs")
    workers = WorkersReader(pools, naming.folder, output, is_draft=naming.is_draft)
    asked: dict[str, Any] = {
        "name": naming.name,
        "summary": naming.summary,
        **workers.read(job["workerPoolSpecs"]),
        "capacity_types": (_capacity_type(root, job, notes),),
        "timeout_s": _timeout(root, scheduling),
        "scheduling": _scheduling(root, scheduling),
        "network": job.get("network"),
        "service_account": _account(root, job, notes),
        "enable_web_access": job.get("enableWebAccess", False),
        "enable_dashboard_access": job.get("enableDashboardAccess", False),
        "tensorboard": job.get("tensorboard"),
    }
    if not root.mistakes:
        for problem in problems(Declaration(**asked)):
            root.wrong(f"as a template it is not well-formed: {problem}", "correct the field, or leave it out")
    return None if root.mistakes else Imported(JobTemplate(**asked), tuple(sorted(notes, key=lambda note: note.line)))


def _output(root: DocumentPart, job: Mapping[str, Any], notes: list[Note]) -> str:
    """Return the output directory, empty for none: each job of the template has one of its own."""
    uri = str(job.get("baseOutputDirectory", {}).get("outputUriPrefix", ""))
    part = field_of(root, "baseOutputDirectory", "outputUriPrefix")
    if uri and not BUCKET.match(uri):
        part.wrong(f"{uri!r} is not in Cloud Storage", "gs://BUCKET/FOLDER")
        return ""
    before = f"{uri} became" if uri else "none is named; it became"
    notes.append(Note(part, f"baseOutputDirectory: {before} {placeholder(OUTPUT)}, a directory of each job's own"))
    return uri


def _account(root: DocumentPart, job: Mapping[str, Any], notes: list[Note]) -> str | None:
    account: str | None = job.get("serviceAccount")
    part = field_of(root, "serviceAccount")
    if account is None:
        notes.append(Note(part, "serviceAccount: none is named, so its jobs run as the stack's trainer"))
    elif not re.fullmatch(SERVICE_ACCOUNT, account):
        part.wrong(f"{account!r} is not an account's address", "trainer@acme-ml.iam.gserviceaccount.com, for example")
    return account


def _capacity_type(root: DocumentPart, job: Mapping[str, Any], notes: list[Note]) -> str:
    """Return the source of the machines. A job has one of them: a second one is a finding."""
    strategy = field_of(root, "scheduling", "strategy")
    asked = job.get("scheduling", {}).get("strategy", "STANDARD")
    if asked not in _STRATEGIES:
        strategy.wrong(f"a template has no strategy {quoted(asked)}", f"one of {', '.join(_STRATEGIES)}")
    cluster = field_of(root, "persistentResourceId")
    named = {
        POOL: cluster if "persistentResourceId" in job else None,
        RESERVATION: _reservation(root, job["workerPoolSpecs"]),
        _STRATEGIES.get(asked, ON_DEMAND): strategy,
        ON_DEMAND: None,
    }
    sources = {source: part for source, part in named.items() if part is not None}
    for part in [*sources.values()][1:]:
        first = dotted(next(iter(sources.values())).path)
        part.wrong(f"machines come from one source, and {first} names another", "leave one of the two out")
    if POOL in sources:
        name = job["persistentResourceId"]
        what = f"persistentResourceId: {name} became any pool of the stack that has such machines"
        notes.append(Note(cluster, what))
    return next(iter(sources), ON_DEMAND)


def _reservation(root: DocumentPart, pools: Sequence[Mapping[str, Any]]) -> DocumentPart | None:
    for part, pool in zip(items(field_of(root, "workerPoolSpecs")), pools, strict=True):
        affinity = pool.get("machineSpec", {}).get("reservationAffinity", {})
        if affinity.get("reservationAffinityType", NO_RESERVATION) != NO_RESERVATION:
            return field_of(part, "machineSpec", "reservationAffinity")
    return None


def _timeout(root: DocumentPart, scheduling: Mapping[str, Any]) -> int:
    """Return the seconds; Vertex AI's default is the most that a template can have."""
    seconds: int = scheduling.get("timeout", MAX_TIMEOUT_S)
    if not 0 < seconds <= MAX_TIMEOUT_S:
        part = field_of(root, "scheduling", "timeout")
        part.wrong(f"{seconds}s is not within a template's bounds", f"1s to {MAX_TIMEOUT_S}s, which is 7 days")
    return seconds


def _scheduling(root: DocumentPart, asked: Mapping[str, Any]) -> Scheduling:
    wait = asked.get("maxWaitDuration")
    if wait is not None and of_job(asked.get("strategy", "")) != FLEX_START:
        part = field_of(root, "scheduling", "maxWaitDuration")
        part.wrong("only a job of the strategy FLEX_START waits by itself", "leave it out, or strategy: FLEX_START")
    return Scheduling(
        max_wait_s=None if wait == DAY else wait,
        restart_job_on_worker_restart=asked.get("restartJobOnWorkerRestart", False),
        disable_retries=asked.get("disableRetries", False),
    )


def _no_placeholders(part: DocumentPart) -> None:
    """Refuse `${name}` but in arguments and environment: there it would be a parameter of the template, and here it is
    text that nothing replaces."""
    if isinstance(part.value, str):
        for name in names(part.value):
            part.wrong(f"${{{name}}} is no variable: nothing would replace it", "its value, or leave the field out")
    for key, child in part.items():
        if camel(key) not in ("args", "command", "env"):
            _no_placeholders(child)
    for child in part.entries():
        _no_placeholders(child)
