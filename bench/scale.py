"""The preview of a stack of 200 pools and 1,000 templates, against one of a tenth of each."""

from __future__ import annotations

import shutil
from pathlib import Path

import yaml

from bench import measure
from bench.ground import CHECKOUT, STACK, Cloud, Ground, Tell, pulumi
from bench.result import Result

POOLS, TEMPLATES, TENTH = 200, 1000, 10
_MACHINES = ("n1-standard-4", "n1-standard-8", "n1-standard-16", "n1-highmem-8")
_LINKED, _COPIED = ("components", "slipway"), ("__main__.py", "Pulumi.yaml")
_TEMPLATE = '''\
"""{name}: one machine of cluster {cluster}."""

from slipway.template import Disk, JobTemplate, Package, Parameter, WorkerPool

TEMPLATE = JobTemplate(
    name="{name}",
    summary="one of many",
    code=Package(
        folder="jobs/dask_digits",
        module="dask_digits.task",
        image="us-docker.pkg.dev/vertex-ai/training/sklearn-cpu.1-6:latest",
    ),
    worker_pools=(
        WorkerPool(role="main", machine="n1-standard-8", disk=Disk("pd-ssd", {size}), args=("--seed=${{seed}}",)),
    ),
    parameters=(Parameter("seed", int, default={number}, min=0, max=2**31 - 1, help="the same seed, the same search"),),
    capacity_types=("pool", "spot"),
    timeout_s=3600,
)
'''


def preview(ground: Ground, runs: int, tell: Tell) -> list[Result]:
    """Return the seconds of the large stack's preview, a tenth of them, against those of the small one. Nothing is
    deployed."""
    cloud = ground.cloud("scale", {"calls_per_minute": "0"})
    cloud.start()
    small = _stack(ground.folder / "scale-small", POOLS // TENTH, TEMPLATES // TENTH)
    large = _stack(ground.folder / "scale-large", POOLS, TEMPLATES)
    _seconds(cloud, small)
    theirs = min(_seconds(cloud, small) for _ in range(min(runs, 2)))
    tell(f"{POOLS // TENTH} pools, {TEMPLATES // TENTH} templates: {theirs:.1f} s")
    ours = _seconds(cloud, large)
    tell(f"{POOLS} pools, {TEMPLATES} templates: {ours:.1f} s")
    return [Result("stack-scale", ours / TENTH, theirs, 1.0)]


def _stack(folder: Path, pools: int, templates: int) -> Path:
    """Return a checkout whose stack has so many of each: four pools a cluster, templates by turns on the clusters."""
    folder.mkdir()
    for name in _LINKED:
        (folder / name).symlink_to(CHECKOUT / name)
    for name in _COPIED:  # the program looks for its templates beside itself
        shutil.copy(CHECKOUT / name, folder)
    shutil.copytree(CHECKOUT / "jobs" / "dask_digits", folder / "jobs" / "dask_digits")
    # Disks differ from cluster to cluster, so that each template fits the pools of one.
    disks = {f"c{number:03}": {"type": "pd-ssd", "sizeGb": 100 + number} for number in range(pools // len(_MACHINES))}
    clusters = {
        cluster: {
            "pools": {
                machine: {"machine": machine, "disk": disk, "replicas": {"min": 1, "max": 4}} for machine in _MACHINES
            }
        }
        for cluster, disk in disks.items()
    }
    (folder / "templates").mkdir()
    names = [f"t{number:04}" for number in range(templates)]
    for number, name in enumerate(names):
        cluster = list(disks)[number % len(disks)]
        text = _TEMPLATE.format(name=name, number=number, cluster=cluster, size=disks[cluster]["sizeGb"])
        (folder / "templates" / f"{name}.py").write_text(text)
    config = {
        "gcp:project": "local-project",
        "gcp:region": "us-central1",
        "gcp:addPulumiAttributionLabel": "false",
        "slipway:persistentResources": clusters,
        "slipway:quota": {"mode": "warn"},
        "slipway:templates": names,
    }
    (folder / "stacks").mkdir()
    (folder / "stacks" / f"Pulumi.{STACK}.yaml").write_text(yaml.safe_dump({"config": config}))
    return folder


def _seconds(cloud: Cloud, folder: Path) -> float:
    pulumi(cloud, folder, "stack", "select", STACK, "--create")
    return measure.run(
        ["pulumi", "preview", "--stack", STACK, "--non-interactive"], cloud.role("deployer"), folder
    ).seconds
