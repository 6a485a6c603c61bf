"""A machine family with a new accelerator is one row."""

import json
from pathlib import Path

from .conftest import Edit, told

B300 = {
    "model": "B300",
    "quota": "nvidia_b300_gpus",
    "quotaId": "B300GPUs",
    "label": "B300 GPUs",
    "documented": False,
    "flexStart": True,
    "regions": ["us-central1"],
    "machines": {
        "a5-highgpu-8g": {
            "vcpus": 224,
            "memoryGb": 3968,
            "family": "a5",
            "disks": ["hyperdisk-balanced"],
            "defaultDisk": "hyperdisk-balanced",
            "acceleratorCount": 8,
        }
    },
}


def test_a_machine_family_with_a_new_accelerator_is_one_row(tmp_path: Path, edited: Edit) -> None:
    def with_b300(text: str) -> str:
        table = json.loads(text)
        table["accelerators"]["NVIDIA_B300"] = B300
        return json.dumps(table)

    edited("slipway/machines/table.json", with_b300)
    found = told(
        tmp_path,
        """
import json
from slipway.machines.price_tables import tables
from slipway.machines.spec import MachineGroup, MachineSpec
from slipway.machines.table import machine, regions_with
from slipway.prices import hourly
from slipway.quota.metrics import label, needs_of, quota_id
from slipway.rules.table import TABLE, check
from slipway.stack.structure import schema

of = machine("a5-highgpu-8g")
spec = MachineSpec(of.type, of.accelerator, of.accelerator_count)
body = {"jobSpec": {"workerPoolSpecs": [spec.request() | {"replicaCount": "1"}],
                    "scheduling": {"strategy": "FLEX_START", "maxWaitDuration": "60s"}}}
csv = ["machine,region,on_demand,spot,local_ssd_gb", "a5-highgpu-8g,us-central1,80,40,"]
made = tables(csv, ["disk,region,month"], "a list, 2026-11-20")
defined = schema()["$defs"]
print(json.dumps({
    "accelerator": [of.accelerator, of.accelerator_count, regions_with(of.accelerator)],
    "draws": [[need.metric, need.amount, need.documented, label(need.metric), quota_id(need.metric)]
              for need in needs_of([MachineGroup(spec, 2)])],
    "preemptible": [need.metric for need in needs_of([MachineGroup(spec, 2)], preemptible=True)],
    "flex-start": [str(one) for one in check("custom-job", "flex-start", body, region="us-central1")
                   if one.rule.id.startswith("flex")],
    "rule": next(rule.text for rule in TABLE if rule.id == "flex-accelerator"),
    "elsewhere": [str(one) for one in check("custom-job", "flex-start", body, region="europe-west4")
                  if one.rule.id == "gpu-region"],
    "unknown price": hourly(spec, "us-central1").unknown,
    "book": "a5-highgpu-8g,80" in made["on-demand.csv"],
    "machine": "a5-highgpu-8g" in defined["PoolEntry"]["properties"]["machine"]["enum"],
    "type": "NVIDIA_B300" in defined["AcceleratorEntry"]["properties"]["type"]["enum"],
}))
""",
    )
    prefix = "custom_model_training_"
    assert found["accelerator"] == ["NVIDIA_B300", 8, ["us-central1"]]
    assert found["draws"][0] == [
        f"{prefix}nvidia_b300_gpus",
        16,
        False,
        "B300 GPUs",
        "CustomModelTrainingB300GPUsPerProjectPerRegion",
    ]
    assert found["draws"][1][:4] == [f"{prefix}a5_cpus", 448, False, "A5 vCPUs"]
    assert found["preemptible"][:2] == [f"{prefix}preemptible_nvidia_b300_gpus", f"{prefix}preemptible_cpus"]
    assert found["flex-start"] == [] and found["rule"].endswith("H200, B200 or B300.")
    assert found["elsewhere"] != [] and "regions that have it: us-central1" in found["elsewhere"][0]
    assert found["unknown price"], "nothing is guessed before the book is made anew"
    assert found["book"] and found["machine"] and found["type"]
