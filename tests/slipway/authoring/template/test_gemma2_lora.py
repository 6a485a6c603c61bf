"""gemma2-lora on a stack of CPUs and H100: model and accelerator choose machine and offer in any case. # Z1 Z3"""

import re
from collections.abc import Mapping
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from slipway.authoring.template.jobspec import CompileContext
from slipway.authoring.template.load import load
from slipway.authoring.template.proof import StackResources, prove
from slipway.base.codec import write
from slipway.model.kinds import KINDS
from tests.builders.templates import published_template
from tests.slipway.authoring.stack.files import read, with_config

ROOT = Path(__file__).resolve().parents[4]
MODELS = ("2b", "2b-it", "9b", "9b-it", "27b", "27b-it", "tiny")
ACCELERATORS = ("auto", "L4", "A100", "A100_80GB", "H100")
MACHINES = {
    "g2-standard-12": ("NVIDIA_L4", 1),
    "a2-highgpu-1g": ("NVIDIA_TESLA_A100", 1),
    "a2-ultragpu-1g": ("NVIDIA_A100_80GB", 1),
    "a3-highgpu-8g": ("NVIDIA_H100_80GB", 8),
    "n1-standard-8": (None, None),
}
CLUSTERS = """
slipway:persistentResources:
  cpu:
    pools:
      head: { machine: n1-standard-4, disk: { type: pd-ssd, sizeGb: 100 }, replicas: 1 }
      workers: { machine: n1-standard-8, disk: { type: pd-ssd, sizeGb: 100 }, replicas: { min: 2, max: 16 } }
  h100:
    pools:
      workers: { machine: a3-highgpu-8g, disk: { type: pd-ssd, sizeGb: 500 }, replicas: { min: 1, max: 4 } }
"""
TOO_SMALL = (("9b", "L4"), ("27b", "L4"), ("27b", "A100"))


@pytest.fixture(scope="module")
def entry() -> dict[str, Any]:
    """The template's part of the catalog that the stack publishes: every offer compiled and checked."""
    stack = read(with_config(CLUSTERS))
    template = load("gemma2-lora", ROOT / "templates")
    offers = prove(template, StackResources(stack.clusters, region=stack.region, reservations=stack.reservations))
    context = CompileContext(
        stack="prod",
        region=stack.region,
        commit="3f9c2e1",
        catalog_bucket="catalog",
        work_bucket="work",
        trainer="trainer@acme-ml-prod.iam.gserviceaccount.com",
        clusters={cluster.name: f"{cluster.name}-1a2b3c4" for cluster in stack.clusters},
        project=stack.project,
    )
    written = write(published_template(template, offers, context))
    assert written["kinds"] == ["custom-job", "training-pipeline"]
    return written


def standing(entry: Mapping[str, Any], model: str, accelerator: str, precision: str = "16bit") -> list[dict[str, Any]]:
    chosen = {"model": model, "accelerator": accelerator, "precision": precision}
    jobs = [offer for offer in entry["offers"] if offer["kind"] == "custom-job"]
    return [offer for offer in jobs if all(chosen[name] in allowed for name, allowed in offer["when"].items())]


def body(offer: Mapping[str, Any]) -> dict[str, Any]:
    spec: dict[str, Any] = KINDS[offer["kind"]].spec_of(offer["request"])
    return spec


def machine(offer: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = body(offer)["workerPoolSpecs"][0]["machineSpec"]
    return found


@pytest.mark.parametrize(("model", "accelerator"), list(product(MODELS, ACCELERATORS)))
def test_gemma2_lora_gives_every_choice_a_machine_whose_gpus_hold_the_model_or_says_why_not(
    entry: Mapping[str, Any], model: str, accelerator: str
) -> None:
    offers = standing(entry, model, accelerator)
    assert offers
    if (model.removesuffix("-it"), accelerator) in TOO_SMALL or (model == "tiny" and accelerator != "auto"):
        assert not any(offer["available"] for offer in offers)
        assert all(
            re.search(r"GB of weights.*: take A100|for CPUs: take accelerator=auto", offer["why"]) for offer in offers
        )
        return
    assert all(offer["available"] for offer in offers)
    for offer in offers:
        spec = machine(offer)
        kind, count = MACHINES[spec["machineType"]]
        assert (spec.get("acceleratorType"), spec.get("acceleratorCount")) == (kind, count)
        assert accelerator == "auto" or (kind is not None and accelerator in kind)


@pytest.mark.parametrize("precision", ["8bit", "4bit"])
def test_gemma2_lora_in_fewer_bits_fits_smaller_gpus(entry: Mapping[str, Any], precision: str) -> None:
    for model, accelerator, type_ in (("9b", "L4", "g2-standard-12"), ("27b-it", "A100", "a2-highgpu-1g")):
        offers = standing(entry, model, accelerator, precision)
        assert {machine(offer)["machineType"] for offer in offers if offer["available"]} == {type_}
    assert not any(offer["available"] for offer in standing(entry, "27b", "L4", precision))


@pytest.mark.parametrize(
    ("model", "type_"),
    [("2b", "g2-standard-12"), ("9b", "a2-highgpu-1g"), ("27b", "a3-highgpu-8g"), ("tiny", "n1-standard-8")],
)
def test_gemma2_lora_takes_the_machine_that_suits_the_model(entry: Mapping[str, Any], model: str, type_: str) -> None:
    assert {machine(offer)["machineType"] for offer in standing(entry, model, "auto")} == {type_}


def test_gemma2_lora_of_27b_waits_by_flex_start_for_eight_h100_on_one_machine(entry: Mapping[str, Any]) -> None:
    flex, pool, spot = standing(entry, "27b", "auto")
    assert (flex["capacityType"], pool["capacityType"], spot["capacityType"]) == ("flex-start", "pool", "spot")
    (worker,) = body(flex)["workerPoolSpecs"]
    assert (machine(flex)["machineType"], worker["replicaCount"]) == ("a3-highgpu-8g", "1")
    assert body(flex)["scheduling"] == {"timeout": "86400s", "strategy": "FLEX_START", "maxWaitDuration": "86400s"}
    assert "persistentResourceId" not in body(flex)
    assert (pool["cluster"], body(pool)["persistentResourceId"]) == ("h100", "h100-1a2b3c4")


def test_gemma2_lora_tries_on_the_cpu_pool_before_it_pays_for_gpus(entry: Mapping[str, Any]) -> None:
    pool, spot = standing(entry, "tiny", "auto")
    assert (pool["capacityType"], pool["cluster"], pool["pools"]) == ("pool", "cpu", ["workers"])
    assert spot["capacityType"] == "spot"


def test_gemma2_lora_as_a_pipeline_is_the_same_job_and_uploads_the_whole_model(entry: Mapping[str, Any]) -> None:  # W5
    """Its code is told as what it runs, as nothing else of its environment differs."""
    by_kind: dict[str, list[Any]] = {"custom-job": [], "training-pipeline": []}
    for offer in entry["offers"]:
        (worker,) = body(offer)["workerPoolSpecs"]
        secret = {"name": "HF_TOKEN__SECRET", "value": "projects/acme-ml-prod/secrets/hf-token/versions/latest"}
        assert worker["pythonPackageSpec"]["env"] == [secret], "it names its token and never has it"
        arguments = worker["pythonPackageSpec"]["args"]
        arguments.remove(f"--kind={offer['kind']}")
        by_kind[offer["kind"]].append((offer["capacityType"], offer["when"], body(offer)))
        assert ("modelToUpload" in offer["request"]) is (offer["kind"] == "training-pipeline")
    assert by_kind["custom-job"] == by_kind["training-pipeline"] != []
    model = next(offer["request"]["modelToUpload"] for offer in entry["offers"] if "modelToUpload" in offer["request"])
    assert "artifactUri" not in model, "it is in AIP_MODEL_DIR"
    server = model["containerSpec"]
    assert "--model=$(AIP_STORAGE_URI)" in server["args"] and server["ports"] == [{"containerPort": 8080}]
