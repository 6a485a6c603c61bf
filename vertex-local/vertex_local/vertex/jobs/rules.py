"""Rules for a custom job, and its defaults (vertex-rules 3)."""

import re
from collections.abc import Iterator, Mapping, Sequence
from ipaddress import ip_address
from typing import Any

from ...nodes import mounts, no_buckets
from ...supply import machines, tpus
from ...supply.shape import defaulted_disk
from ...training_settings import TrainingSettings
from ...wire import ApiError, unimplemented
from ..field_errors import (
    Mistake,
    directory_mistakes,
    disk_mistakes,
    display_name_mistakes,
    image_mistakes,
    key_mistakes,
    label_mistakes,
    machine_disk_mistakes,
)
from ..network import network_mistakes
from . import strategies

MAX_ENV = 100
MAX_PACKAGES = 100
MAX_ARGS_CHARACTERS = 100_000
MAX_WORKER_POOLS = 4
_RESTART = "restartJobOnWorkerRestart"
_APOSTROPHE = re.compile(r"(?<!\\)'")
_C_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_MOUNT_POINT = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]*(/[A-Za-z0-9_][A-Za-z0-9._-]*)*")
_PREBUILT = re.compile(r"((us|europe|asia)-docker\.pkg\.dev/vertex-ai/|gcr\.io/cloud-aiplatform/)\S+")


def mistakes(body: Mapping[str, Any], region: str) -> list[Mistake]:
    """Return all errors in a create's canonical body, whatever it is to run on."""
    problems = display_name_mistakes("display_name", body.get("displayName", ""), required=True)
    problems += label_mistakes("labels", body.get("labels", {}))
    spec = body.get("jobSpec", {})
    pools = spec.get("workerPoolSpecs", [])
    root = "job_spec.worker_pool_specs"
    if not pools or not pools[0]:
        problems.append(Mistake(root, "At least one worker pool spec is required, the first of them for the chief."))
    if len(pools) > MAX_WORKER_POOLS:
        problems.append(Mistake(root, f"At most {MAX_WORKER_POOLS} worker pool specs are supported."))
    for at, pool in enumerate(pools):
        if pool:
            problems += _worker_pool(f"{root}[{at}]", at, pool, region)
    problems += _tpus_alone(root, pools)
    if "baseOutputDirectory" in spec:
        path = "job_spec.base_output_directory.output_uri_prefix"
        problems += directory_mistakes(path, spec["baseOutputDirectory"].get("outputUriPrefix", ""))
    if (spec.get("tensorboard") or spec.get("experiment")) and not spec.get("serviceAccount"):
        problems.append(
            Mistake("job_spec.service_account", "A service account is required with tensorboard or experiment.")
        )
    problems += [*network_mistakes("job_spec", spec, region), *key_mistakes("", body, region)]
    return [*problems, *_scheduling(spec), *strategies.mistakes(spec)]


def reported_mistakes(spec: Mapping[str, Any], settings: TrainingSettings) -> Iterator[Mistake]:
    """Yield the errors that no document of the service has: a boot disk that does not fit the machine, and values of
    environment variables. What the service says of these is known from reports of 2022 and 2024, in these words."""
    pools = spec.get("workerPoolSpecs", [])
    yield from machine_disk_mistakes("job_spec.worker_pool_specs", pools, settings)
    for at, pool in enumerate(pools):
        for key, field in (("containerSpec", "container_spec"), ("pythonPackageSpec", "python_package_spec")):
            for index, variable in enumerate(pool.get(key, {}).get("env", [])):
                path = f"job_spec.worker_pool_specs[{at}].{field}.env[{index}].value"
                value = variable.get("value", "")
                if not value and settings.env_blank == "reject":
                    yield Mistake(path, "Required field is not set.")
                if _APOSTROPHE.search(value) and settings.env_apostrophe == "reject":
                    yield Mistake(path, "Env vars cannot contain any unescaped apostrophe character '")


def not_here(body: Mapping[str, Any]) -> ApiError | None:
    """Return the 501 of a job that the service would take and this cloud can't run, or None."""
    spec = body.get("jobSpec", {})
    for at, pool in enumerate(spec.get("workerPoolSpecs", [])):
        machine = pool.get("machineSpec", {})
        if tpus.is_tpu(machine):
            return unimplemented(
                f"worker pool {at}: the local cloud has no TPUs, so it can't run {machine['machineType']}. This is a "
                "limit of the local cloud, not a mistake in the request."
            )
        if pool.get("lustreMounts"):
            return unimplemented(f"worker pool {at}: lustreMounts can't be mounted by the local cloud.")
        if pool.get("nfsMounts") and not mounts.possible():
            return unimplemented(f"worker pool {at}: nfsMounts need Linux with user namespaces in the local cloud.")
        named = next(_named_buckets(pool), None)
        if named and not mounts.possible(buckets=True):
            return unimplemented(
                f"worker pool {at}: {named} names a path below /gcs/, and {no_buckets.WHY}. This is a limit of the "
                "local cloud, not a mistake in the request; code that reads gs:// itself runs here."
            )
    return None


def _named_buckets(pool: Mapping[str, Any]) -> Iterator[str]:
    """Yield what names a bucket by its path: arguments, and variables, whose values are not to be repeated."""
    for task in (pool.get("containerSpec", {}), pool.get("pythonPackageSpec", {})):
        for word in (*task.get("command", ()), *task.get("args", ())):
            if "/gcs/" in word:
                yield f'"{word[:200]}"'
        for variable in task.get("env", ()):
            if "/gcs/" in variable.get("value", ""):
                yield f"the variable {variable.get('name')}"


def timeout_s(spec: Mapping[str, Any], default: float) -> float:
    """Return the job's time-out in seconds."""
    text = spec.get("scheduling", {}).get("timeout", "")
    return float(text.removesuffix("s")) if text else default


def defaulted(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the body as it will be answered: as it was sent, with each worker pool's disk filled in, and without the
    restarts that `disableRetries` overrides to false (a false flag is left out of answers)."""
    spec = body["jobSpec"]
    pools = [
        {**pool, "diskSpec": defaulted_disk(pool["machineSpec"], pool.get("diskSpec", {}))} if pool else {}
        for pool in spec["workerPoolSpecs"]
    ]
    kept = {key: body[key] for key in ("displayName", "labels", "encryptionSpec") if key in body}
    spec = {**spec, "workerPoolSpecs": pools}
    if spec.get("scheduling", {}).get("disableRetries"):
        spec["scheduling"] = {key: value for key, value in spec["scheduling"].items() if key != _RESTART}
    return {**kept, "jobSpec": spec}


def _worker_pool(path: str, at: int, pool: Mapping[str, Any], region: str) -> Iterator[Mistake]:
    machine = pool.get("machineSpec", {})
    for field, message in _machine(machine, region):
        yield Mistake(f"{path}.machine_spec.{field}", message)
    yield from disk_mistakes(f"{path}.disk_spec", pool.get("diskSpec", {}))
    count = int(pool.get("replicaCount", 0))
    if count < 1:
        yield Mistake(f"{path}.replica_count", "Replica count must be at least 1.")
    if at == 0 and count > 1:
        yield Mistake(f"{path}.replica_count", "Replica count of the first worker pool must be 1.")
    yield from _nfs(path, pool.get("nfsMounts", []))
    task = [key for key in ("containerSpec", "pythonPackageSpec") if key in pool]
    if len(task) != 1:
        yield Mistake(path, "Exactly one of container_spec and python_package_spec must be set.")
    elif task == ["containerSpec"]:
        where, spec = f"{path}.container_spec", pool["containerSpec"]
        yield from (*image_mistakes(f"{where}.image_uri", spec.get("imageUri", "")), *_arguments(where, spec))
    else:
        yield from _package(f"{path}.python_package_spec", pool["pythonPackageSpec"])


def _machine(machine: Mapping[str, Any], region: str) -> list[tuple[str, str]]:
    """Return the errors in a machine spec, as (field of machine_spec, message)."""
    if tpus.is_tpu(machine):
        return tpus.mistakes(machine, region)
    name = machine.get("machineType", "")
    if machine.get("tpuTopology"):
        return [("tpu_topology", f'Machine type "{name}" takes no TPU topology.')]
    return machines.table().spec_mistakes(machine, region)


def _tpus_alone(root: str, pools: Sequence[Mapping[str, Any]]) -> Iterator[Mistake]:
    """Yield an error unless a TPU job has one worker pool, with one replica (vertex-rules 3.2)."""
    places = [at for at, pool in enumerate(pools) if tpus.is_tpu(pool.get("machineSpec", {}))]
    if places and len(pools) > 1:
        yield Mistake(root, f"A TPU job has exactly one worker pool; this one has {len(pools)}.")
    for at in places:
        if int(pools[at].get("replicaCount", 0)) > 1:
            yield Mistake(f"{root}[{at}].replica_count", "Replica count of a TPU worker pool must be 1.")


def _nfs(path: str, mounts: Sequence[Mapping[str, Any]]) -> Iterator[Mistake]:
    points = [mount.get("mountPoint", "") for mount in mounts]
    for at, mount in enumerate(mounts):
        where = f"{path}.nfs_mounts[{at}]"
        if not _is_address(mount.get("server", "")):
            yield Mistake(f"{where}.server", f'"{mount.get("server", "")}" must be the IP address of the NFS server.')
        if not mount.get("path", "").startswith("/"):
            yield Mistake(f"{where}.path", f'"{mount.get("path", "")}" must start with "/".')
        if not _MOUNT_POINT.fullmatch(points[at]):
            yield Mistake(f"{where}.mount_point", f'"{points[at]}" must be the name of a folder under /mnt/nfs/.')
        elif points.index(points[at]) < at:
            yield Mistake(f"{where}.mount_point", f'"{points[at]}" is mounted more than once.')


def _is_address(text: str) -> bool:
    try:
        return bool(ip_address(text))
    except ValueError:
        return False


def _package(path: str, spec: Mapping[str, Any]) -> Iterator[Mistake]:
    image = spec.get("executorImageUri", "")
    if not _PREBUILT.fullmatch(image):
        text = f'Executor image "{image}" must be one of the pre-built container images of Vertex AI.'
        yield Mistake(f"{path}.executor_image_uri", text)
    packages = spec.get("packageUris", [])
    if not packages:
        yield Mistake(f"{path}.package_uris", "At least one package URI is required.")
    if len(packages) > MAX_PACKAGES:
        yield Mistake(f"{path}.package_uris", f"At most {MAX_PACKAGES} package URIs are supported.")
    for at, uri in enumerate(packages):
        if not re.fullmatch(r"gs://[^/]+/.+", uri):
            yield Mistake(f"{path}.package_uris[{at}]", f'"{uri}" must be a Cloud Storage URI of a package.')
    if not spec.get("pythonModule"):
        yield Mistake(f"{path}.python_module", "Python module is required.")
    yield from _arguments(path, spec)


def _arguments(path: str, spec: Mapping[str, Any]) -> Iterator[Mistake]:
    if sum(map(len, spec.get("args", []))) > MAX_ARGS_CHARACTERS:
        yield Mistake(f"{path}.args", f"All arguments together may have {MAX_ARGS_CHARACTERS} characters.")
    variables = spec.get("env", [])
    if len(variables) > MAX_ENV:
        yield Mistake(f"{path}.env", f"At most {MAX_ENV} environment variables are supported.")
    for at, variable in enumerate(variables):
        name = variable.get("name", "")
        if not _C_IDENTIFIER.fullmatch(name):
            yield Mistake(f"{path}.env[{at}].name", f'"{name}" must be a valid C identifier.')


def _scheduling(spec: Mapping[str, Any]) -> Iterator[Mistake]:
    scheduling = spec.get("scheduling", {})
    if scheduling.get("timeout") and timeout_s(spec, 0) <= 0:
        yield Mistake("job_spec.scheduling.timeout", "Timeout must be positive.")
