"""Which template the demo submits: the usual one, else the smallest that this machine can run. # N4"""

from typing import Any

import pytest

from local.demo.choice import USUAL, Choice, choose
from slipway.base.errors import ResourceError
from slipway.model.catalog.template import Offer, Parameter
from slipway.model.machines.spec import MachineSpec
from tests.builders import catalogs
from tests.builders.catalogs import catalog, template

SKLEARN = "us-docker.pkg.dev/vertex-ai/training/sklearn-cpu.1-6:latest"


def offer(machine: str = "n1-standard-4", image: str = SKLEARN, replicas: int | str = 1, **fields: Any) -> Offer:
    asked = catalogs.request(catalogs.worker_pool(MachineSpec(machine), replicas, image=image))
    return catalogs.offer(fields.pop("by", "pool"), request=asked, **fields)


def test_the_usual_one_goes_first_then_the_smallest_by_its_machines_at_the_usual_parameters() -> None:
    workers = Parameter("workers", "int", 9)
    wide = template("wide", offer("n1-standard-4", replicas="${workers}"), parameters=(workers,))
    tall, usual = template("tall", offer("n1-standard-32")), template(USUAL, offer("n1-standard-64"))
    assert choose(catalog(wide, tall)) == Choice("tall")
    assert choose(catalog(wide, tall, usual)) == Choice(USUAL)


def test_a_case_that_fits_is_asked_for_by_its_parameters() -> None:
    model = Parameter("model", "str", "2b", choices=("2b", "tiny"))
    cases = offer("g2-standard-12", when={"model": ("2b",)}), offer(when={"model": ("tiny",)})
    assert choose(catalog(template("tune", *cases, parameters=(model,)))) == Choice("tune", ("model=tiny",))


def test_where_none_fits_each_says_why() -> None:
    with pytest.raises(ResourceError, match="no template of stack prod can run on this laptop") as refused:
        choose(
            catalog(
                template("gpus", offer("a3-highgpu-8g")),
                template("theirs", offer(image="acme.example/own:1")),
                template("late", offer(available=False, why="no quota")),
                template("elsewhere", offer(by="spot")),
                template("needed", offer(), parameters=(Parameter("data", "str"),)),
            )
        )
    assert refused.value.why == (
        "gpus: its a3-highgpu-8g have accelerators; theirs: there is no recipe for its image acme.example/own:1; "
        "late: no quota; elsewhere: has no pool here; needed: needs data"
    )
    with pytest.raises(ResourceError) as empty:
        choose(catalog())
    assert empty.value.why == "it has no template"
