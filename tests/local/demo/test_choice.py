"""Which template the demo submits: the usual one, else the smallest that this machine can run. # N4"""

from __future__ import annotations

from typing import Any

import pytest

from local.demo.choice import USUAL, Choice, choose
from slipway.base.errors import ResourceError
from slipway.model.catalog.model import Catalog, Offer, Parameter, Template
from slipway.model.prices import Price

SKLEARN = "us-docker.pkg.dev/vertex-ai/training/sklearn-cpu.1-6:latest"


def offer(machine: str = "n1-standard-4", image: str = SKLEARN, **changes: Any) -> Offer:
    pool = {
        "machineSpec": {"machineType": machine},
        "replicaCount": changes.pop("replicas", 1),
        "pythonPackageSpec": {"executorImageUri": image},
    }
    fields: dict[str, Any] = {
        "capacity_type": "pool",
        "available": True,
        "why": "",
        "cluster": "cpu",
        "pools": ("head",),
        "price_per_hour": Price(),
        "request": {"jobSpec": {"workerPoolSpecs": [pool, {}]}},
    }
    return Offer(**{**fields, **changes})


def template(name: str, *offers: Offer, parameters: tuple[Parameter, ...] = ()) -> Template:
    return Template(name, "", "custom-job", ("head",), parameters, offers)


def catalog(*templates: Template) -> Catalog:
    return Catalog(
        stack="dev",
        project="acme-ml-dev",
        region="us-central1",
        commit="",
        dirty=False,
        work_bucket="acme-ml-dev-dev-work",
        trainer="",
        clusters={},
        retiring=(),
        templates={one.name: one for one in templates},
    )


def test_the_smallest_goes_first_and_the_usual_one_before_it() -> None:
    large, small = template("large", offer("n1-standard-32")), template("small", offer("n1-standard-8"))
    usual = template(USUAL, offer("n1-standard-16"))
    assert choose(catalog(large, small)) == Choice("small")
    assert choose(catalog(large, small, usual)) == Choice(USUAL)


def test_machines_are_counted_at_the_usual_parameters() -> None:
    workers = Parameter("workers", "int", 9)
    wide = template("wide", offer("n1-standard-4", replicas="${workers}"), parameters=(workers,))
    assert choose(catalog(wide, template("tall", offer("n1-standard-32")))) == Choice("tall")


def test_a_case_that_fits_is_asked_for_by_its_parameters() -> None:
    model = Parameter("model", "str", "2b", choices=("2b", "tiny"))
    one = template(
        "tune", offer("g2-standard-12", when={"model": ("2b",)}), offer(when={"model": ("tiny",)}), parameters=(model,)
    )
    assert choose(catalog(one)) == Choice("tune", ("model=tiny",))


def test_where_none_fits_each_says_why() -> None:
    needed = template("needed", offer(), parameters=(Parameter("data", "str"),))
    with pytest.raises(ResourceError, match="no template of stack dev can run on this laptop") as refused:
        choose(
            catalog(
                template("gpus", offer("a3-highgpu-8g")),
                template("theirs", offer(image="acme.example/own:1")),
                template("late", offer(available=False, why="no quota")),
                template("elsewhere", offer(capacity_type="spot")),
                needed,
            )
        )
    assert refused.value.why == (
        "gpus: its a3-highgpu-8g have accelerators; theirs: there is no recipe for its image acme.example/own:1; "
        "late: no quota; elsewhere: has no pool here; needed: needs data"
    )
    with pytest.raises(ResourceError) as empty:
        choose(catalog())
    assert empty.value.why == "it has no template"
