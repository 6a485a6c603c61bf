"""The CustomJobSpec: the common part of a custom job, a tuning job's trial and a training pipeline."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from slipway.authoring.template.case import Case
from slipway.authoring.template.job_template import JobTemplate
from slipway.authoring.template.worker_pool import ANY_RESERVATION, Image, Package, WorkerPool, places
from slipway.base import codec
from slipway.base.errors import ConfigError
from slipway.base.formatting import nearest
from slipway.model.capacity import CAPACITY_TYPES, DAY, RESERVATION
from slipway.model.catalog.placeholders import EXPERIMENT_RUN, OUTPUT, PACKAGE, REQUEST
from slipway.model.cluster import ClusterSpec, Reservation
from slipway.model.kinds import JobKind
from slipway.model.labels import Launched
from slipway.model.rules.reservations import NAME_KEY

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

    def account(self, template: JobTemplate) -> str:
        """Return the account that a template's jobs run as. Raises ConfigError for an undeclared trainer."""
        if template.service_account or template.trainer is None:
            return template.service_account or self.trainer
        if template.trainer in self.trainers:
            return self.trainers[template.trainer]
        near = nearest(template.trainer, self.trainers)
        known = f"one of {', '.join(self.trainers)}, or declare it" if self.trainers else "declare it"
        raise ConfigError(
            f"template {template.name} runs as trainer {template.trainer}, which stack {self.stack} does not have",
            why="its jobs would have no account",
            fix=f"did you mean trainer={near!r}?" if near else f"{known} under slipway:trainers",
        )


def job_spec(
    template: JobTemplate,
    kind: JobKind,
    capacity_type: str,
    case: Case,
    context: CompileContext,
    packages: Mapping[Package, str],
    on: ClusterSpec | None,
) -> dict[str, Any]:
    """Return the spec without its persistent resource. `packages` are gs:// URIs; `on` is the job's cluster."""
    workers = case.worker_pools(template)
    pools: list[dict[str, Any]] = [{} for _ in range(places(workers)[-1] + 1)]
    for place, worker in zip(places(workers), workers, strict=True):
        pools[place] = _worker_pool(template, worker, kind, capacity_type, context, packages)
    spec: dict[str, Any] = {
        "workerPoolSpecs": pools,
        "scheduling": _scheduling(template, capacity_type),
        "serviceAccount": context.account(template),
        "baseOutputDirectory": {"outputUriPrefix": f"${{{OUTPUT}}}"},
    }
    network = template.network or (on.network if on else None)
    if network:
        spec["network"] = network
    if on is not None and on.reserved_ip_ranges:
        spec["reservedIpRanges"] = list(on.reserved_ip_ranges)
    if on is not None and on.psc is not None:
        spec["pscInterfaceConfig"] = on.psc.request()
    if template.enable_web_access:
        spec["enableWebAccess"] = True
    if template.enable_dashboard_access:
        spec["enableDashboardAccess"] = True
    region = (on.region if on else "") or context.region
    home = f"projects/{context.project}/locations/{region}"
    if template.tensorboard:
        short = "/" not in template.tensorboard
        spec["tensorboard"] = f"{home}/tensorboards/{template.tensorboard}" if short else template.tensorboard
    if template.experiment:
        experiment = f"{home}/metadataStores/default/contexts/{template.experiment}"
        spec |= {"experiment": experiment, "experimentRun": f"{experiment}-${{{EXPERIMENT_RUN}}}"}
    return spec


def _scheduling(template: JobTemplate, capacity_type: str) -> dict[str, Any]:
    asked, row = template.scheduling, CAPACITY_TYPES[capacity_type]
    scheduling: dict[str, Any] = {"timeout": f"{template.timeout_s}s"}
    if asked.restart_job_on_worker_restart:
        scheduling["restartJobOnWorkerRestart"] = True
    if row.strategy:
        scheduling["strategy"] = row.strategy
    if asked.disable_retries:
        scheduling["disableRetries"] = True
    if row.waits_by_itself:
        # Always written out: for an omitted wait, clients and pages differ about the default; and 0 is a value,
        # forever.
        wait = asked.max_wait_s if asked.max_wait_s is not None else template.waits.get(capacity_type, DAY)
        scheduling["maxWaitDuration"] = f"{wait}s"
    return scheduling


def _worker_pool(
    template: JobTemplate,
    worker: WorkerPool,
    kind: JobKind,
    capacity_type: str,
    context: CompileContext,
    packages: Mapping[Package, str],
) -> dict[str, Any]:
    pool: dict[str, Any] = {**worker.spec.request(), "replicaCount": str(worker.replicas)}
    if topology := worker.shape.tpu_topology:
        pool["machineSpec"]["tpuTopology"] = topology
    if capacity_type == RESERVATION and worker.reservation:
        pool["machineSpec"]["reservationAffinity"] = _affinity(worker.reservation, context)
    if template.nfs_mounts:
        pool["nfsMounts"] = list(map(codec.write, template.nfs_mounts))
    arguments = kind.arguments(worker.args, template.study)
    return pool | _code(template, worker, arguments, context, packages)


def _affinity(name: str, context: CompileContext) -> dict[str, Any]:
    if name == ANY_RESERVATION:
        return {"reservationAffinityType": "ANY_RESERVATION"}
    known = context.reservations.get(name)
    return {
        "reservationAffinityType": "SPECIFIC_RESERVATION",
        "key": NAME_KEY,
        "values": [known.path if known else name],
    }


def _code(
    template: JobTemplate,
    worker: WorkerPool,
    arguments: list[str],
    context: CompileContext,
    packages: Mapping[Package, str],
) -> dict[str, Any]:
    code = worker.code or template.code
    secrets = {f"{name}__SECRET": _secret(secret, context.project) for name, secret in template.secrets.items()}
    variables = {**template.env, **worker.env, **secrets}
    env = [{"name": name, "value": value} for name, value in variables.items()]
    if isinstance(code, Image):
        container: dict[str, Any] = {"imageUri": code.uri}
        if code.command:
            container["command"] = list(code.command)
        if arguments:
            container["args"] = arguments
        if env:
            container["env"] = env
        return {"containerSpec": container}
    claim = f"gs://{context.work_bucket}/claims/${{{REQUEST}}}"
    takes_other_code = template.code_flag and code.holds_the_same(template.code)
    package: dict[str, Any] = {
        "executorImageUri": code.image,
        "packageUris": [f"${{{PACKAGE}}}" if takes_other_code else packages[code]],
        "pythonModule": LAUNCHER,
        "args": Launched(code.module, arguments, ["--claim", claim]).written(),
    }
    if env:
        package["env"] = env
    return {"pythonPackageSpec": package}


def _secret(secret: str, project: str) -> str:
    full = secret if secret.startswith("projects/") else f"projects/{project}/secrets/{secret}"
    return full if "/versions/" in full else f"{full}/versions/latest"
