"""The parameters of the templates that ship are recorded by their jobs, of every kind."""

import json
from pathlib import Path
from typing import Any

import pytest

from slipway.catalog.document import read
from slipway.catalog.model import Catalog, Offer, Parameter, Scalar, Template
from slipway.cloud.jobs import VertexJob
from slipway.cluster import ClusterSpec, PoolSpec
from slipway.codec import write
from slipway.deployment.publication import draws, template_entry
from slipway.kinds import KINDS
from slipway.machines.spec import MachineSpec
from slipway.quota.report import OfferVerdict
from slipway.submission.ending import recover
from slipway.submission.request import fill
from slipway.template.jobspec import CompileContext
from slipway.template.load import available, load
from slipway.template.proof import StackResources, prove

FOLDER = Path(__file__).resolve().parents[3] / "templates"
MACHINES = {"head": "n1-standard-4", "workers": "n1-standard-8"}
CPU = ClusterSpec("cpu", tuple(PoolSpec(one, MachineSpec(MACHINES[one]), 1, 4, True, 1) for one in MACHINES))
CONTEXT = CompileContext("dev", "us-central1", "3f9c2e1", "c-dev", "w-dev", "t@p.iam", {"cpu": "cpu-1"}, project="acme")


def catalog_of(name: str) -> Catalog:
    """As preview would publish it, with quota for all."""
    (template,) = load((name,), FOLDER)
    offers = prove(template, StackResources((CPU,), region="us-central1"))
    verdicts = {draw.label: OfferVerdict(True) for draw in draws(template, offers)}
    packages = dict.fromkeys(template.packages, "packages/code.tar.gz")
    pools: dict[str, Any] = {
        pool.name: {
            "machine": pool.machine.type,
            "accelerator": None,
            "acceleratorCount": 0,
            "disk": {"type": pool.machine.disk.type, "sizeGb": pool.machine.disk.size_gb},
            "min": pool.min,
            "max": pool.max,
            "autoscaled": pool.autoscaled,
            "pricePerHour": None,
        }
        for pool in CPU.pools
    }
    document = {
        "schema": 2,
        "stack": "dev",
        "project": "acme",
        "region": "us-central1",
        "commit": "",
        "dirty": False,
        "storage": {"catalog": "c-dev", "work": "w-dev"},
        "trainer": "t@p.iam",
        "clusters": {"cpu": {"id": "cpu-1", "pools": pools}},
        "retiring": [],
        "templates": {name: write(template_entry(template, offers, verdicts, CONTEXT, packages))},
    }
    return read(json.dumps(document), "test")


def unusual(parameter: Parameter, offer: Offer) -> Scalar:
    """A value that the offer stands for, another than the default where there is one."""
    if parameter.name in offer.when:
        return offer.when[parameter.name][-1]
    if parameter.choices:
        return parameter.choices[-1]
    if parameter.type == "bool":
        return not parameter.default
    if parameter.type == "str":
        return parameter.default or "a text"
    most = parameter.max if parameter.max is not None else 7
    return int(most) if parameter.type == "int" else most


def stands(template: Template, offer: Offer, values: Any) -> Offer:
    return next(
        one
        for one in template.offers
        if (one.capacity_type, one.kind) == (offer.capacity_type, offer.kind)
        and all(values[name] in all_ for name, all_ in one.when.items())
    )


@pytest.mark.parametrize("name", available(FOLDER))
def test_what_is_typed_again_makes_the_same_request(name: str) -> None:
    catalog = catalog_of(name)
    template = catalog.templates[name]
    for offer in template.offers:
        values = {one.name: unusual(one, offer) for one in template.parameters}
        body = fill(catalog, template, offer, values, request_id="r1", user="ada")
        # The service gives whole numbers back as texts.
        job = VertexJob.read(json.loads(json.dumps(body), parse_int=str), KINDS[offer.kind])
        found = recover(catalog, job)
        assert found and not found.unknown, (name, offer.capacity_type, offer.when)
        again = stands(template, offer, found.values)
        assert fill(catalog, template, again, found.values, request_id="r1", user="ada") == body
