"""Every kind, capacity type and case is proven in preview: what can't be taken here says why. # Z1 Z6 N3 P3 W5"""

from dataclasses import replace
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from slipway.cluster import Reservation
from slipway.errors import ConfigError
from slipway.machines.spec import Disk
from slipway.template import ANY_RESERVATION, JobTemplate, Metric, Parameter, Search, Study, Variant, WorkerPool
from slipway.template.proof import Placement, StackResources, prove

from .conftest import cluster, pool, template

PATH = "projects/acme/zones/us-central1-a/reservations/h100"
H100 = WorkerPool("chief", "a3-highgpu-8g", reservation="h100")
SMALL = WorkerPool("chief", "n1-standard-8", args=("${model}",))
STUDY = Study((Metric("a"),), (Search("rate", "double", 0.1, 1.0),), max_trials=8, parallel_trials=2)


def lora(**changes: Any) -> JobTemplate:
    parts: dict[str, Any] = {
        "name": "lora",
        "worker_pools": (SMALL,),
        "parameters": (Parameter("model", str, default="tiny", choices=("tiny", "27b")),),
        "variants": (Variant({"model": "27b"}, (H100,), ("pool", "flex-start", "reservation")),),
        "capacity_types": ("pool", "spot"),
    }
    return template(**{**parts, **changes})


def labels(offers: tuple[Placement, ...]) -> list[str]:
    return [offer.label for offer in offers]


def test_each_case_has_its_offers_in_its_order() -> None:  # Z1 N3
    big = cluster(pool("h100", "a3-highgpu-8g", accelerator="NVIDIA_H100_80GB", accelerator_count=8), name="big")
    offers = prove(
        lora(), StackResources((cluster(), big), region="us-central1", reservations={"h100": Reservation(PATH)})
    )
    assert labels(offers) == [
        "pool (model=27b)",
        "flex-start (model=27b)",
        "reservation (model=27b)",
        "pool (model=tiny)",
        "spot (model=tiny)",
    ]
    assert [offer.cluster.name for offer in offers if offer.cluster] == ["big", "cpu"]
    assert not any(offer.refusal for offer in offers)


def test_a_case_that_fits_no_pool_leaves_that_capacity_type_and_keeps_the_others(
    snapshot: SnapshotAssertion,
) -> None:  # Z1
    """The same template serves a stack with H100 machines and one without."""
    largest, *others = prove(
        lora(), StackResources((cluster(),), region="us-central1", reservations={"h100": Reservation(PATH)})
    )
    assert largest.cluster is None
    assert largest.refusal == snapshot
    assert not any(offer.refusal for offer in others)


def test_a_template_that_fits_no_pool_in_any_case_is_an_error() -> None:
    with pytest.raises(ConfigError) as error:
        prove(lora(), StackResources((cluster(pool(disk=Disk("pd-ssd", 500))),)))
    assert "nearest pool cpu/workers" in error.value.why


@pytest.mark.parametrize(
    ("reservations", "words"),
    [
        ({}, "the stack declares no reservation 'h100' under slipway:reservations"),
        ({"h100": Reservation(PATH, "a3-highgpu-4g")}, "holds a3-highgpu-4g, the job needs a3-highgpu-8g"),
        ({"h100": Reservation(PATH.replace("central1", "east4"))}, "is in us-east4-a, the job in us-central1"),
    ],
)
def test_a_reservation_that_does_not_serve_leaves_that_capacity_type(
    reservations: dict[str, Reservation], words: str
) -> None:  # Z6
    asked = lora(
        capacity_types=("spot",), variants=(Variant({"model": "27b"}, (H100,), ("flex-start", "reservation")),)
    )
    flex, reserved, _ = prove(asked, StackResources((), region="us-central1", reservations=reservations))
    assert words in reserved.refusal
    assert flex.refusal == ""


@pytest.mark.parametrize(
    ("reservations", "words"),
    [
        ({}, "the stack declares no reservation of a3-highgpu-8g"),
        ({"h100": Reservation(PATH, "a3-highgpu-4g")}, "the stack declares no reservation of a3-highgpu-8g"),
        ({"h100": Reservation(PATH, "a3-highgpu-8g")}, ""),
        ({"h100": Reservation(PATH)}, ""),
    ],
)
def test_any_reservation_is_no_choice_where_the_stack_has_none(
    reservations: dict[str, Reservation], words: str
) -> None:  # Z6
    """`script` took it where all other types lacked quota; the service would have looked for machines on demand."""
    anywhere = lora(
        worker_pools=(replace(H100, args=("${model}",), reservation=ANY_RESERVATION),),
        capacity_types=("reservation",),
        variants=(),
    )
    (reserved,) = prove(anywhere, StackResources((), region="us-central1", reservations=reservations))
    assert words in reserved.refusal if words else not reserved.refusal


def test_a_region_without_the_accelerator_leaves_the_offers_that_need_it() -> None:
    offers = prove(
        lora(), StackResources((cluster(),), region="europe-west1", reservations={"h100": Reservation(PATH)})
    )
    assert "europe-west1 has no NVIDIA_H100_80GB" in offers[1].refusal
    assert offers[-1].refusal == ""


def test_a_tuning_job_needs_a_pool_for_all_trials_that_run_at_once() -> None:  # P3 W5
    asked = template(kinds=("custom-job", "hyperparameter-tuning-job"), study=STUDY, capacity_types=("pool",))
    narrow = cluster(pool("head", "n1-standard-4", max=2), pool(max=3))
    custom, tuning = prove(asked, StackResources((narrow,)))
    assert (custom.cluster, custom.label) == (narrow, "pool")
    assert tuning.label == "pool as hyperparameter-tuning-job"
    assert "needs replicas 4" in tuning.refusal and "cpu/workers has max 3" in tuning.refusal
    wide = cluster(pool("head", "n1-standard-4", max=2), pool(max=4))
    assert prove(asked, StackResources((wide,)))[1].pools == (wide.pool("head"), wide.pool("workers"))


def test_a_network_of_the_templates_own_must_be_the_clusters() -> None:  # P2
    network = "projects/1/global/networks/training"
    asked = template(network=network, capacity_types=("pool",))
    with pytest.raises(ConfigError) as error:
        prove(asked, StackResources((cluster(),)))
    assert f"network {network}, " in error.value.why and "pool cpu/head has none" in error.value.why
    assert prove(asked, StackResources((cluster(network=network),)))[0].cluster
    assert prove(replace(asked, network=None), StackResources((cluster(network=network),)))[0].cluster


def test_values_that_do_not_go_together_are_refused_by_every_offer_with_the_templates_reason() -> None:  # Z1 N3
    unfit = Variant({"model": "27b"}, refusal="27b is too large for it")
    pool, spot, *others = prove(lora(variants=(unfit,)), StackResources((cluster(),), region="us-central1"))
    assert [(offer.label, offer.refusal) for offer in (pool, spot)] == [
        ("pool (model=27b)", unfit.refusal),
        ("spot (model=27b)", unfit.refusal),
    ]
    assert labels(tuple(others)) == ["pool (model=tiny)", "spot (model=tiny)"]
    assert not any(offer.refusal for offer in others)
