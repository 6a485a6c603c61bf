"""Templates of a catalog: `hello` of one machine and `crew` of several, each on the pool and by Spot."""

from typing import Any

REGION = "us-central1"
SHAPE = {"machineSpec": {"machineType": "n1-standard-4"}, "diskSpec": {"bootDiskType": "pd-ssd", "bootDiskSizeGb": 100}}
QUOTAS = {
    "custom_model_training_cpus": "CustomModelTrainingCPUsPerProjectPerRegion",
    "custom_model_training_pd_ssd": "CustomModelTrainingPdSsdPerProjectPerRegion",
}
POOL = {
    "machine": "n1-standard-4",
    "accelerator": None,
    "acceleratorCount": 0,
    "disk": {"type": "pd-ssd", "sizeGb": 100},
    "min": 1,
    "max": 3,
    "autoscaled": True,
    "pricePerHour": "0.2453",
}
PARAMETERS: tuple[dict[str, Any], ...] = (
    {"name": "code", "type": "str", "default": "print('hello')", "choices": [], "help": "Python to run"},
    {"name": "workers", "type": "int", "default": 1, "min": 1, "max": 50, "choices": [], "help": "machines"},
)
SCHEDULING = {
    "spot": {"strategy": "SPOT"},
    "on-demand": {"strategy": "STANDARD"},
    "reservation": {"strategy": "STANDARD"},
    "flex-start": {"strategy": "FLEX_START", "maxWaitDuration": "86400s", "timeout": "3600s"},
}
L4 = {"machineType": "g2-standard-4", "acceleratorType": "NVIDIA_L4", "acceleratorCount": 1}
NO_L4 = {"at": 0, "region": REGION, "machine": "g2-standard-4", "strategy": "any", "machines": 0}
"""A supply of a scenario."""


def templates(stack: str, cluster: str, trainer: str) -> dict[str, Any]:
    """Return both templates as a deployment publishes them."""

    def request(template: str, type_: str, roles: int) -> dict[str, Any]:
        task = {"imageUri": "python:3.11", "command": ["python", "-uc"], "args": ["${code}"]}
        on_pool = {"persistentResourceId": cluster}
        return {
            "displayName": "${slipway.job}",
            "labels": {
                "slipway-template": template,
                "slipway-request": "${slipway.request}",
                "slipway-stack": stack,
                "slipway-commit": "3f9c2e1",
                "slipway-capacity-type": type_,
            },
            "jobSpec": {
                "workerPoolSpecs": [
                    {**SHAPE, "replicaCount": count, "containerSpec": {**task}} for count in (1, "${workers}")[:roles]
                ],
                "serviceAccount": trainer,
                "baseOutputDirectory": {"outputUriPrefix": "${slipway.output}"},
                **(on_pool if type_ == "pool" else {"scheduling": SCHEDULING[type_]}),
            },
        }

    def template(name: str, *roles: str) -> dict[str, Any]:
        count = len(roles)
        on_pool = {"cluster": "cpu", "pools": ["workers"] * count, "replicas": [1, "${workers}"][:count]}
        pool, spot = (
            {"capacityType": type_, "available": True, "why": "", "request": request(name, type_, count)}
            for type_ in ("pool", "spot")
        )
        return {
            "summary": "Runs a line of Python",
            "kind": "custom-job",
            "roles": list(roles),
            "package": "",
            "parameters": [dict(parameter) for parameter in PARAMETERS[:count]],
            "offers": [{**pool, **on_pool, "pricePerHour": "0.4906"}, {**spot, "pricePerHour": None}],
        }

    return {"hello": template("hello", "main"), "crew": template("crew", "scheduler", "workers")}
