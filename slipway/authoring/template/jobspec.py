"""The CustomJobSpec: the common part of a custom job, a tuning job's trial and a training pipeline."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from slipway.authoring.template.case import Case
from slipway.authoring.template.job_template import JobTemplate
from slipway.authoring.template.template_error import TemplateError
from slipway.authoring.template.worker_pool import ANY_RESERVATION, Code, Image, Package, WorkerPool, places
from slipway.base import codec
from slipway.base.formatting import join, meant
from slipway.model.capacity import CAPACITY_TYPES, DAY, ON_DEMAND, POOL, RESERVATION
from slipway.model.catalog.placeholders import EXPERIMENT_RUN, OUTPUT, PACKAGE, REQUEST
from slipway.model.cluster import ClusterSpec, Reservation
from slipway.model.identity import Identity
from slipway.model.kinds import JobKind
from slipway.model.labels import IDLE, IMAGE_START, INPUT, Launched
from slipway.model.origin import Origin, Program
from slipway.model.rules.reservations import NAME_KEY
from slipway.model.secret import secret_version

LAUNCHER = "slipway_launcher"


@dataclass(frozen=True)
class CompileContext:
    """The stack's part of every template."""

    stack: str
    region: str
    commit: str
    catalog_bucket: str
    work_bucket: str
    #: The address of the account that jobs run as.
    trainer: str
    clusters: Mapping[str, str]
    project: str = ""
    #: The reservations, by the names that templates use.
    reservations: Mapping[str, Reservation] = field(default_factory=dict)
    code_allowed: bool = False
    dirty: bool = False
    #: The addresses of the other trainers' accounts, by the names that templates use.
    trainers: Mapping[str, str] = field(default_factory=dict)
    #: The key of jobs on machines of their own; empty for Google's.
    kms_key: str = ""
    program: Program | None = None
    pulumi_project: str = ""

    @property
    def origin(self) -> Origin:
        return self.program or Origin(self.stack)

    @property
    def identity(self) -> Identity:
        return self.origin.identity(self.pulumi_project)

    def account(self, template: JobTemplate) -> str:
        """Return the account that a template's jobs run as. Raises ConfigError for an undeclared trainer."""
        if template.service_account or template.trainer is None:
            return template.service_account or self.trainer
        if template.trainer in self.trainers:
            return self.trainers[template.trainer]
        known = f", which has {join(self.trainers)}" if self.trainers else ""
        raise TemplateError(
            template.name,
            ("runs", "run"),
            f"as trainer {template.trainer}, which stack {self.stack} does not have",
            why="without it jobs have no account",
            # Of another one jobs would read other secrets: it is named where that is a slip of the pen.
            fix=meant(
                template.trainer, self.trainers, f"declare it under {self.origin.key('slipway:trainers')}{known}", 0.8
            ),
        )


def job_spec(
    template: JobTemplate,
    kind: JobKind,
    capacity_type: str,
    case: Case,
    context: CompileContext,
    packages: Mapping[Code, str],
    on: ClusterSpec | None,
) -> dict[str, Any]:
    """Return the spec without its persistent resource. `packages` are gs:// URIs; `on` is the job's cluster."""
    workers = () if template.pipeline else case.worker_pools(template)
    pools: list[dict[str, Any]] = [{} for _ in range(places(workers)[-1] + 1 if workers else 0)]
    for place, worker in zip(places(workers), workers, strict=True):
        pools[place] = _worker_pool(template, worker, kind, capacity_type, context, packages)
    home = f"projects/{context.project}/locations/{(on.region if on else '') or context.region}"
    board = template.tensorboard
    experiment = template.experiment and f"{home}/metadataStores/default/contexts/{template.experiment}"
    return {
        "workerPoolSpecs": pools,
        "scheduling": _scheduling(template, capacity_type),
        "serviceAccount": context.account(template),
        "baseOutputDirectory": {"outputUriPrefix": f"${{{OUTPUT}}}"},
        **codec.given(
            network=template.network or (on.network if on else None),
            reservedIpRanges=list(on.reserved_ip_ranges) if on else [],
        ),
        **({"pscInterfaceConfig": on.psc.request()} if on and on.psc else {}),
        **codec.given(
            enableWebAccess=template.enable_web_access,
            enableDashboardAccess=template.enable_dashboard_access,
            tensorboard=f"{home}/tensorboards/{board}" if board and "/" not in board else board,
            experiment=experiment,
            experimentRun=experiment and f"{experiment}-${{{EXPERIMENT_RUN}}}",
        ),
    }


def on_cluster(
    template: JobTemplate, case: Case, context: CompileContext, id_: str, on: ClusterSpec | None
) -> dict[str, Any]:
    """Return what a job on a cluster adds to its spec. A pipeline's tasks wait for the cluster's machines one by one;
    when their wait is over they take machines of their own, where the template goes on to those, and fail otherwise."""
    if template.pipeline is None:
        return {"persistentResourceId": id_}
    types = case.capacity_types(template)
    then = POOL in template.waits and types[types.index(POOL) + 1 :][:1] == (ON_DEMAND,)
    region = (on.region if on else "") or context.region
    detail = {
        "persistentResourceName": f"projects/{context.project}/locations/{region}/persistentResources/{id_}",
        "taskResourceUnavailableWaitTimeMs": str(template.waits.get(POOL, DAY) * 1000),
        "taskResourceUnavailableTimeoutBehavior": "FALL_BACK_TO_ON_DEMAND" if then else "FAIL",
    }
    return {"persistentResourceRuntimeDetail": detail}


def _scheduling(template: JobTemplate, capacity_type: str) -> dict[str, Any]:
    asked, row = template.scheduling, CAPACITY_TYPES[capacity_type]
    # Always written out: for an omitted wait, clients and pages differ about the default; and 0 is a value, forever.
    wait = asked.max_wait_s if asked.max_wait_s is not None else template.waits.get(capacity_type, DAY)
    return codec.given(
        timeout=f"{template.timeout_s}s",
        restartJobOnWorkerRestart=asked.restart_job_on_worker_restart,
        strategy=row.strategy,
        disableRetries=asked.disable_retries,
        maxWaitDuration=f"{wait}s" if row.waits_by_itself else None,
    )


def _worker_pool(
    template: JobTemplate,
    worker: WorkerPool,
    kind: JobKind,
    capacity_type: str,
    context: CompileContext,
    packages: Mapping[Code, str],
) -> dict[str, Any]:
    pool: dict[str, Any] = {**worker.spec.request(), "replicaCount": str(worker.replicas)}
    if topology := worker.shape.tpu_topology:
        pool["machineSpec"]["tpuTopology"] = topology
    if capacity_type == RESERVATION and worker.reservation:
        known = context.reservations.get(worker.reservation)
        path = known.path if known else worker.reservation
        specific = {"reservationAffinityType": "SPECIFIC_RESERVATION", "key": NAME_KEY, "values": [path]}
        some = {"reservationAffinityType": "ANY_RESERVATION"} if worker.reservation == ANY_RESERVATION else specific
        pool["machineSpec"]["reservationAffinity"] = some
    if template.nfs_mounts:
        pool["nfsMounts"] = list(map(codec.write, template.nfs_mounts))
    arguments = kind.arguments(worker.args, template.study)
    return pool | _code(template, worker, arguments, context, packages)


def _code(
    template: JobTemplate,
    worker: WorkerPool,
    arguments: list[str],
    context: CompileContext,
    packages: Mapping[Code, str],
) -> dict[str, Any]:
    code, usual = worker.code or template.code, template.code
    assert code is not None and usual is not None, "checked when the template was made"
    secrets = {f"{name}__SECRET": secret_version(secret, context.project) for name, secret in template.secrets.items()}
    inputs = {f"{INPUT}{name.upper()}": address for name, address in template.inputs.items()}
    idle = {IDLE: f"{template.idle.below:g} {template.idle.after_s}"} if template.idle else {}
    variables = {**template.env, **worker.env, **inputs, **secrets, **idle}
    env = [{"name": name, "value": value} for name, value in variables.items()]
    claim = ["--claim", f"gs://{context.work_bucket}/claims/${{{REQUEST}}}"]
    if isinstance(code, Image):
        command = list(code.command)
        if code.launched:
            takes_folder = template.code_flag and isinstance(usual, Image) and code.uri == usual.uri
            folder = [f"--code=${{{PACKAGE}}}", f"--path={code.path}"] if takes_folder else []
            arguments = Launched("", arguments, [*claim, *folder], code.command).written()
            command = [*IMAGE_START, f"/gcs/{packages[code].removeprefix('gs://')}"]
        container = codec.given(command=command, args=arguments, env=env)
        return {"containerSpec": {"imageUri": code.uri, **container}}
    is_usual = isinstance(usual, Package) and replace(code, image=usual.image) == usual
    package = {
        "executorImageUri": code.image,
        "packageUris": [f"${{{PACKAGE}}}" if template.code_flag and is_usual else packages[code]],
        "pythonModule": LAUNCHER,
        "args": Launched(code.module, arguments, claim).written(),
        **codec.given(env=env),
    }
    return {"pythonPackageSpec": package}
