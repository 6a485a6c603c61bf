"""A small catalog as `pulumi up` publishes it."""

import copy
from typing import Any

import pytest

SHAPE = {"machineSpec": {"machineType": "n1-standard-8"}, "diskSpec": {"bootDiskType": "pd-ssd", "bootDiskSizeGb": 100}}
POOL = {
    "machine": "n1-standard-8",
    "accelerator": None,
    "acceleratorCount": 0,
    "disk": {"type": "pd-ssd", "sizeGb": 100},
    "min": 1,
    "max": 4,
    "autoscaled": True,
    "pricePerHour": "0.4370",
}
WAY = {
    "capacityType": "pool",
    "cluster": "cpu",
    "available": True,
    "why": "",
    "pools": ["workers"],
    "pricePerHour": "0.4370",
    "request": {"displayName": "${slipway.job}", "jobSpec": {"workerPoolSpecs": [{**SHAPE, "replicaCount": 1}]}},
}
CATALOG: dict[str, Any] = {
    "schema": 2,
    "stack": "local",
    "project": "local-project",
    "region": "us-central1",
    "commit": "3f9c2e1",
    "dirty": False,
    "storage": {"catalog": "c", "work": "w"},
    "trainer": "trainer@local-project.iam.gserviceaccount.com",
    "clusters": {"cpu": {"id": "cpu-1a2b3c4", "pools": {"workers": POOL}}},
    "retiring": ["cpu-0000000"],
    "templates": {
        "digits": {
            "summary": "Digits",
            "kind": "custom-job",
            "roles": ["main"],
            "package": "gs://c/packages/digits.tar.gz",
            "parameters": [{"name": "trees", "type": "int", "default": 200, "min": 1, "max": 5000, "choices": []}],
            "offers": [WAY],
        }
    },
}


@pytest.fixture
def body() -> dict[str, Any]:
    return copy.deepcopy(CATALOG)
