"""A template's entry of the catalog: every kind, offer and case, with what it draws and costs. # N3 W6 W7 Z1 Z8 N11"""

import json
from dataclasses import replace
from typing import Any

import pytest

from slipway.authoring.template.proof import StackResources, prove
from slipway.base.codec import read, write
from slipway.deploying.deployment.publication import draws, template_entry
from slipway.google.quota.report import OfferDraw, OfferVerdict
from slipway.model.catalog import template as offered
from slipway.model.cluster import Reservation
from slipway.template import (
    Disk,
    Image,
    JobTemplate,
    Metric,
    ModelUpload,
    Parameter,
    Search,
    Shape,
    Study,
    Variant,
    WorkerPool,
)
from tests.builders.templates import job_template as template
from tests.slipway.authoring.template.conftest import CONTEXT, cluster

HERE = replace(
    CONTEXT, project="acme-dev", reservations={"h100": Reservation("projects/p/zones/us-central1-a/reservations/r")}
)
H100 = WorkerPool("chief", "a3-highgpu-8g", Disk("pd-ssd", 2000), reservation="h100")
URI = f"us-docker.pkg.dev/p/r/i@sha256:{'0' * 64}"
STUDY = Study((Metric("accuracy"),), (Search("rate", "double", 0.1, 1.0),), max_trials="${trials}", parallel_trials=3)


def lora(**changes: Any) -> JobTemplate:
    parts: dict[str, Any] = {
        "name": "lora",
        "worker_pools": (WorkerPool("chief", "n1-standard-8", args=("${model}",)),),
        "parameters": (
            Parameter("model", str, default="tiny", choices=("tiny", "27b")),
            Parameter("trials", int, default=8, min=1, max=20),
        ),
        "variants": (Variant({"model": "27b"}, (H100,), ("flex-start", "on-demand", "reservation")),),
        "kinds": ("custom-job", "hyperparameter-tuning-job", "training-pipeline"),
        "study": STUDY,
        "model": ModelUpload("lora", "gcr.io/acme/serve"),
        "capacity_types": ("pool", "spot"),
        "waits": {"pool": 1800},
    }
    return template(**{**parts, **changes})


def entry(asked: JobTemplate, **changes: Any) -> dict[str, Any]:
    context = replace(HERE, **changes)
    offers = prove(asked, StackResources((cluster(),), region=context.region, reservations=context.reservations))
    verdicts = {draw.label: OfferVerdict(not draw.refusal, draw.refusal) for draw in draws(asked, offers)}
    written = write(
        template_entry(asked, offers, verdicts, context, dict.fromkeys(asked.uploaded, "packages/p.tar.gz"))
    )
    assert json.loads(json.dumps(written)) == written
    return written


def standing(entry: dict[str, Any], kind: str, **values: Any) -> list[str]:
    """The offers that a reader offers for these values: no order of variants to keep."""
    return [
        offer["capacityType"]
        for offer in entry["offers"]
        if offer["kind"] == kind and all(values[name] in allowed for name, allowed in offer["when"].items())
    ]


def test_for_given_values_the_offers_of_one_variant_stand() -> None:  # Z1 N3
    published = entry(lora())
    assert published["kinds"] == ["custom-job", "hyperparameter-tuning-job", "training-pipeline"]
    for kind in published["kinds"]:
        assert standing(published, kind, model="27b") == ["flex-start", "on-demand", "reservation"]
        assert standing(published, kind, model="tiny") == ["pool", "spot"]


def test_waits_study_and_notes_are_published() -> None:
    published = entry(lora())
    assert [offer["wait"] for offer in published["offers"] if offer["capacityType"] == "pool"] == [1800] * 3
    assert published["study"] == {
        "maxTrials": "${trials}",
        "parallelTrials": 3,
        "algorithm": "bayesian",
        "metrics": [{"id": "accuracy", "goal": "maximize"}],
        "parameters": ["rate"],
    }
    notes = {offer["capacityType"]: offer["note"] for offer in published["offers"]}
    assert "below the on-demand one" in notes["flex-start"]
    assert notes["pool"] == ""


def test_prices_by_capacity_type() -> None:  # Z8 W7
    prices = {(offer["kind"], offer["capacityType"]): offer["pricePerHour"] for offer in entry(lora())["offers"]}
    assert prices["custom-job", "flex-start"] == "52.0306"  # 51.4950 and 2,000 GB of disk
    assert prices["custom-job", "on-demand"] == "101.5429"
    assert prices["hyperparameter-tuning-job", "on-demand"] == "304.6288"  # three trials at once
    assert prices["custom-job", "reservation"] is None
    assert prices["custom-job", "spot"] == "0.2178"  # the small one: an n1-standard-8


def test_what_each_offer_draws() -> None:  # W6
    asked = lora()
    published = {
        draw.label: draw for draw in draws(asked, prove(asked, StackResources((cluster(),), region="us-central1")))
    }
    assert published["pool (model=tiny)"] == OfferDraw("lora", "pool", "pool (model=tiny)")
    assert published["flex-start (model=27b)"].preemptible
    assert [group.count for group in published["flex-start (model=27b)"].machines] == [1]
    assert [group.count for group in published["on-demand (model=27b) as hyperparameter-tuning-job"].machines] == [3]
    assert not published["on-demand (model=27b)"].preemptible
    assert "declares no reservation 'h100'" in published["reservation (model=27b)"].refusal
    known = draws(asked, prove(asked, StackResources((cluster(),), reservations=HERE.reservations)))
    assert next(draw for draw in known if draw.label == "reservation (model=27b)").doubtful


def test_an_offer_that_the_stack_rules_out_is_published_with_its_reason() -> None:  # Z6
    published = entry(lora(), reservations={})
    reserved = [offer for offer in published["offers"] if offer["capacityType"] == "reservation"]
    assert len(reserved) == 3
    assert not any(offer["available"] for offer in reserved)
    assert "declares no reservation 'h100'" in reserved[0]["why"]
    assert reserved[0]["request"]["jobSpec"]["workerPoolSpecs"]


def test_roles_and_pools_have_a_value_for_each_place_of_the_request() -> None:
    pools = (WorkerPool("chief", "n1-standard-8"), WorkerPool("judge", "n1-standard-8", position="evaluators"))
    published = entry(lora(worker_pools=pools, variants=(), parameters=lora().parameters[1:], capacity_types=("pool",)))
    offer = published["offers"][0]
    assert len(offer["request"]["jobSpec"]["workerPoolSpecs"]) == 4
    assert offer["roles"] == published["roles"] == ["chief", "", "", "judge"]
    assert offer["pools"] == ["workers", "", "", "workers"]


def test_other_code_needs_the_template_and_the_stack() -> None:  # N11
    assert entry(template(code_flag=True, capacity_types=("spot",)), code_allowed=True)["codeFlag"] is True
    stack = entry(template(code_flag=True, capacity_types=("spot",)))
    of_stack, of_template = (
        "slipway:workspace: {code: true} is not in stacks/Pulumi.dev.yaml",
        "code_flag=True is not in templates/dask_digits.py",
    )
    assert (stack["codeFlag"], stack["codeWhy"]) == (False, of_stack)
    allowed = entry(template(capacity_types=("spot",)), code_allowed=True)
    assert (allowed["codeFlag"], allowed["codeWhy"]) == (False, of_template)
    assert entry(template(capacity_types=("spot",)))["codeWhy"] == f"{of_template}, and {of_stack}"


def test_a_template_with_inputs_takes_other_code_of_versions_whose_launcher_copies_them() -> None:  # N11, N31
    """An earlier version packs a launcher that copies nothing: to that the template takes none, and says why."""
    asked = template(code_flag=True, capacity_types=("spot",), inputs={"data": "gs://acme-data/digits"})
    published = entry(asked, code_allowed=True)
    assert (published["codeFlag"], published["codeWithInputs"]) == (False, True)
    assert "update slipway" in published["codeWhy"]
    assert read(offered.Template, published, "digits").takes_code
    stack = entry(asked)
    assert "codeWithInputs" not in stack and "slipway:workspace: {code: true}" in stack["codeWhy"]


@pytest.mark.parametrize("code", [Image(URI), Image(URI, ("train",), launcher=False)])
def test_where_no_edit_lets_a_folder_take_the_place_of_the_code_none_is_named(code: Image) -> None:  # N27
    """`--code` was refused with code_flag=True as the remedy, which `slipway check` refuses then."""
    assert entry(template(code=code, capacity_types=("spot",)))["codeWhy"] == ""


def test_an_image_has_no_package() -> None:
    published = entry(template(code=Image(URI), capacity_types=("spot",)))
    assert (published["package"], published["image"]) == ("", URI)
    packed = entry(template(capacity_types=("spot",)))
    assert (packed["package"], packed["image"]) == ("gs://acme-dev-catalog/packages/p.tar.gz", "")


def test_each_shape_is_an_offer_with_its_own_machines_price_and_quota() -> None:  # N3 N23
    a100 = WorkerPool("chief", "a2-ultragpu-2g", Disk("pd-ssd", 500), args=("${model}", "${trials}"))
    asked = template(
        worker_pools=(replace(a100, machine="a3-highgpu-1g"),),
        parameters=lora().parameters,
        shapes=(Shape((a100,)), Shape((replace(a100, machine="g2-standard-48"),), ("spot",))),
        capacity_types=("flex-start",),
    )
    offers = entry(asked)["offers"]
    assert [(offer["shape"], offer["capacityType"]) for offer in offers] == [
        ("a3-highgpu-1g", "flex-start"),
        ("a2-ultragpu-2g", "flex-start"),
        ("g2-standard-48", "spot"),
    ]
    machines = [offer["request"]["jobSpec"]["workerPoolSpecs"][0]["machineSpec"] for offer in offers]
    assert [machine["acceleratorCount"] for machine in machines] == [1, 2, 4]
    assert len({offer["pricePerHour"] for offer in offers}) == 3
    draws_of = draws(asked, prove(asked, StackResources((), region="us-central1")))
    assert [draw.label for draw in draws_of][1:] == ["flex-start on a2-ultragpu-2g", "spot on g2-standard-48"]
    assert [group.machine.accelerator_count for draw in draws_of for group in draw.machines] == [1, 2, 4]
