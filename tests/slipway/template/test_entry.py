"""A template's entry of the catalog: every kind, way and case, with what it draws and costs. # N3 W6 W7 Z1 Z8 N11"""

import json
from dataclasses import replace
from typing import Any

from slipway.quota import WayDraw, WayVerdict
from slipway.reservation import Reservation
from slipway.template import (
    Disk,
    Image,
    JobTemplate,
    Metric,
    ModelUpload,
    Parameter,
    Search,
    Study,
    Variant,
    WorkerPool,
)
from slipway.template.entry import draws, template_entry
from slipway.template.proof import prove

from .conftest import SETTING, cluster, template

HERE = replace(
    SETTING, project="acme-dev", reservations={"h100": Reservation("projects/p/zones/us-central1-a/reservations/r")}
)
H100 = WorkerPool("chief", "a3-highgpu-8g", Disk("pd-ssd", 2000), reservation="h100")
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
        "model": ModelUpload("lora", "serve"),
        "ways": ("pool", "spot"),
        "waits": {"pool": 1800},
    }
    return template(**{**parts, **changes})


def entry(asked: JobTemplate, **changes: Any) -> dict[str, Any]:
    setting = replace(HERE, **changes)
    offers = prove(asked, (cluster(),), region=setting.region, reservations=setting.reservations)
    verdicts = {draw.way: WayVerdict(not draw.refusal, draw.refusal) for draw in draws(asked, offers)}
    found = template_entry(asked, offers, verdicts, setting, dict.fromkeys(asked.packages, "packages/p.tar.gz"))
    assert json.loads(json.dumps(found)) == found
    return found


def standing(found: dict[str, Any], kind: str, **values: Any) -> list[str]:
    """The ways that a reader offers for these values: no order of variants to keep."""
    return [
        way["way"]
        for way in found["ways"]
        if way["kind"] == kind and all(values[name] in allowed for name, allowed in way["when"].items())
    ]


def test_for_given_values_the_ways_of_one_variant_stand() -> None:  # Z1 N3
    found = entry(lora())
    assert found["kinds"] == ["custom-job", "hyperparameter-tuning-job", "training-pipeline"]
    for kind in found["kinds"]:
        assert standing(found, kind, model="27b") == ["flex-start", "on-demand", "reservation"]
        assert standing(found, kind, model="tiny") == ["pool", "spot"]


def test_each_kind_has_the_body_that_it_is_posted_as() -> None:
    keys = {way["kind"]: set(way["request"]) - {"displayName", "labels"} for way in entry(lora())["ways"]}
    assert keys["custom-job"] == {"jobSpec"}
    assert keys["hyperparameter-tuning-job"] == {"studySpec", "maxTrialCount", "parallelTrialCount", "trialJobSpec"}
    assert keys["training-pipeline"] == {"trainingTaskDefinition", "trainingTaskInputs", "modelToUpload"}


def test_waits_study_and_notes_are_published() -> None:
    found = entry(lora())
    assert found["waits"] == {"pool": 1800}
    assert [way["wait"] for way in found["ways"] if way["way"] == "pool"] == [1800] * 3
    assert found["study"] == {
        "maxTrials": "${trials}",
        "parallelTrials": 3,
        "algorithm": "bayesian",
        "metrics": [{"id": "accuracy", "goal": "maximize"}],
        "parameters": ["rate"],
    }
    notes = {way["way"]: way["note"] for way in found["ways"]}
    assert "the on-demand price" in notes["flex-start"]
    assert notes["pool"] == ""


def test_prices_by_way() -> None:  # Z8 W7
    prices = {(way["kind"], way["way"]): way["pricePerHour"] for way in entry(lora())["ways"]}
    assert prices["custom-job", "flex-start"] == "52.0306"  # 51.4950 and 2,000 GB of disk
    assert prices["custom-job", "on-demand"] == "101.5429"
    assert prices["hyperparameter-tuning-job", "on-demand"] == "304.6288"  # three trials at once
    assert prices["custom-job", "reservation"] is None
    assert prices["custom-job", "spot"] == "0.2178"  # the small one: an n1-standard-8


def test_what_each_way_draws() -> None:  # W6
    asked = lora()
    found = {draw.way: draw for draw in draws(asked, prove(asked, (cluster(),), region="us-central1"))}
    assert found["pool (model=tiny)"] == WayDraw("lora", "pool (model=tiny)")
    assert found["flex-start (model=27b)"].preemptible
    assert [group.replicas for group in found["flex-start (model=27b)"].replicas] == [1]
    assert [group.replicas for group in found["on-demand (model=27b) as hyperparameter-tuning-job"].replicas] == [3]
    assert not found["on-demand (model=27b)"].preemptible
    assert "declares no reservation 'h100'" in found["reservation (model=27b)"].refusal
    known = draws(asked, prove(asked, (cluster(),), reservations=HERE.reservations))
    assert next(draw for draw in known if draw.way == "reservation (model=27b)").doubtful


def test_a_way_that_the_stack_rules_out_is_published_with_its_reason() -> None:  # Z6
    found = entry(lora(), reservations={})
    reserved = [way for way in found["ways"] if way["way"] == "reservation"]
    assert len(reserved) == 3
    assert not any(way["available"] for way in reserved)
    assert "declares no reservation 'h100'" in reserved[0]["why"]
    assert reserved[0]["request"]["jobSpec"]["workerPoolSpecs"]


def test_roles_pools_and_replicas_have_a_value_for_each_place_of_the_request() -> None:
    pools = (WorkerPool("chief", "n1-standard-8"), WorkerPool("judge", "n1-standard-8", position="evaluators"))
    found = entry(lora(worker_pools=pools, variants=(), parameters=lora().parameters[1:], ways=("pool",)))
    way = found["ways"][0]
    assert len(way["request"]["jobSpec"]["workerPoolSpecs"]) == 4
    assert way["roles"] == found["roles"] == ["chief", "", "", "judge"]
    assert way["pools"] == ["workers", "", "", "workers"]
    assert way["replicas"] == [1, 0, 0, 1]
    assert found["positions"] == ["chief", "workers", "parameter-servers", "evaluators"]


def test_other_code_needs_the_template_and_the_stack() -> None:  # N11
    assert entry(template(code_flag=True, ways=("spot",)), code_allowed=True)["codeFlag"] is True
    stack = entry(template(code_flag=True, ways=("spot",)))
    assert (stack["codeFlag"], "slipway:workspace: {code: true}" in stack["codeWhy"]) == (False, True)
    neither = entry(template(ways=("spot",)), code_allowed=True)
    assert (neither["codeFlag"], "code_flag=True" in neither["codeWhy"]) == (False, True)


def test_an_image_has_no_package() -> None:
    uri = f"us-docker.pkg.dev/p/r/i@sha256:{'0' * 64}"
    found = entry(template(code=Image(uri), ways=("spot",)))
    assert (found["package"], found["image"]) == ("", uri)
    assert (entry(template(ways=("spot",)))["package"], entry(template(ways=("spot",)))["image"]) == (
        "gs://acme-dev-catalog/packages/p.tar.gz",
        "",
    )
