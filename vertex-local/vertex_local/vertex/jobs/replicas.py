"""The specifications of a placed job's replicas, and the folders they run in."""

import contextlib
import hashlib
import os
from collections.abc import Collection
from datetime import UTC, datetime, timedelta
from pathlib import Path

from ... import images
from ...access.permissions import JOB
from ...endpoints import cloud_variables
from ...identities import Project
from ...nodes import environment, mounts
from ...nodes.environment import Place
from ...nodes.mounts import Mount
from ...nodes.spec import EXIT, Identity, ReplicaSpec
from ...world import World
from .records import Job, Replica, Run

METRICS = "output.metrics"


def job_folder(world: World, run: Run) -> Path:
    return world.state_folder / "jobs" / run.id


def folder(world: World, run: Run, replica: Replica) -> Path:
    """Return the folder of a replica of the current attempt. One that was restarted has a folder of its own."""
    return job_folder(world, run) / str(run.attempt) / folder_name(replica)


def folder_name(replica: Replica) -> str:
    """Return a replica's name, with a number for each time it was restarted in place."""
    return f"{replica.name}.{replica.restarts}" if replica.restarts else replica.name


def due(world: World, replica: Replica, now: datetime) -> bool:
    """Return whether a replica is to run by now: its machine is made, and a lost one's time is over."""
    if replica.made and now < datetime.fromisoformat(replica.made):
        return False
    away = timedelta(seconds=world.settings.delay(world.settings.worker_restart_seconds))
    return replica.lost is None or now >= datetime.fromisoformat(replica.lost) + away


def metrics_folder(world: World, job_id: str) -> Path:
    """Return the folder of a trial's metrics, a folder for each replica, with METRICS. It outlives the job."""
    return world.state_folder / "jobs" / job_id / "hypertune"


def specification(world: World, job: Job, run: Run, replica: Replica, token: str) -> ReplicaSpec:
    """Return the specification for a replica's runner. `token` is the job's own."""
    spec = job.body["jobSpec"]
    pool = spec["workerPoolSpecs"][replica.index]
    package, container = pool.get("pythonPackageSpec"), pool.get("containerSpec")
    task = package or container
    image = package["executorImageUri"] if package else container["imageUri"]
    packages = tuple(package["packageUris"]) if package else ()
    places = {item: Place(item.index, item.number, item.host, item.port, item.open_port) for item in run.replicas}
    variables = environment.variables(
        list(places.values()),
        places[replica],
        project=world.project.number,
        job_id=run.id,
        region=run.region,
        spec=spec,
        trial=run.trial,
    )
    if run.trial:
        variables["CLOUD_ML_HP_METRIC_FILE"] = str(metrics_folder(world, run.id) / replica.name / METRICS)
    key = hashlib.sha256("\n".join((image, *packages)).encode()).hexdigest()[:10]
    return ReplicaSpec(
        name=replica.name,
        url=world.url,
        host=replica.host,
        identity=_identity(world.project, run, replica, pool["machineSpec"]["machineType"], token),
        image=image,
        image_folder=str(_image_cache(world, run)),
        environment_folder=str(job_folder(world, run) / str(run.attempt) / "environments" / key),
        packages=packages,
        module=package["pythonModule"] if package else "",
        command=() if package else tuple(container.get("command", ())),
        args=tuple(task.get("args", ())),
        # The job's token as well as the endpoints, so that each client of ours finds the cloud from inside a job.
        variables=cloud_variables(world.url, token, world.project.id) | variables,
        user_variables={item["name"]: item.get("value", "") for item in task.get("env", ())},
        threads=world.settings.replica_threads or max(1, (os.cpu_count() or 1) // len(run.replicas)),
        grace_s=world.settings.kill_grace_seconds,
        accelerators=int(pool["machineSpec"].get("acceleratorCount", 0)),
        own_view=mounts.possible(),
        mounts=tuple(
            Mount(str(mounts.source(world.state_folder, mount["server"], mount["path"])), mount["mountPoint"])
            for mount in pool.get("nfsMounts", ())
        ),
        buckets=mounts.possible(buckets=True),
        keeps_packages=bool(run.cluster and run.trial),
        shares_images=world.settings.image_builds == "once",
        least_free_bytes=world.settings.least_free_bytes,
    )


def clean(world: World, run: Run) -> None:
    """Remove the files on a job's machines' disks; logs and exit files stay."""
    clean_folder(world, job_folder(world, run))


def clean_folder(world: World, root: Path) -> None:
    """Remove the same files in a job's folder."""
    world.trash.take([root / "images", *root.glob("*/environments"), *root.glob("*/*/work")])
    for path in root.glob("*/*/spec.json"):
        path.unlink(missing_ok=True)


def forget_folders(world: World, alive: Collection[str], now: datetime) -> None:
    """Remove the folders, with the logs, of jobs that ended `job_folder_seconds` ago; metrics stay."""
    for root in (world.state_folder / "jobs").glob("*"):
        if root.name not in alive:
            with contextlib.suppress(FileNotFoundError):
                world.trash.take(_forgotten(world, root, now))


def _forgotten(world: World, root: Path, now: datetime) -> list[Path]:
    """Return what is to go of the folder of a job that has ended."""
    kept = metrics_folder(world, root.name)
    parts = [part for part in root.iterdir() if part != kept]
    ends = [path.stat().st_mtime for path in (*parts, *root.glob(f"*/*/{EXIT}"))]
    over = world.clock.here(datetime.fromtimestamp(max(ends, default=0.0), UTC))
    if not parts or (now - over).total_seconds() <= world.settings.job_folder_seconds:
        return []
    return parts if kept.exists() else [root]


def purpose(run: Run) -> str:
    """Return the purpose of the job's tokens."""
    return JOB + run.name


def _identity(project: Project, run: Run, replica: Replica, machine_type: str, token: str) -> Identity:
    number = int(hashlib.sha256(f"{run.name}/{run.attempt}/{replica.name}".encode()).hexdigest()[:15], 16)
    return Identity(
        email=run.email,
        project_id=project.id,
        project_number=project.number,
        region=run.region,
        instance_id=str(number),
        machine_type=machine_type,
        token=token,
    )


def _image_cache(world: World, run: Run) -> Path:
    if run.cluster:
        return images.cluster_cache(world.state_folder, run.cluster)
    return job_folder(world, run) / "images"
