"""A command of one's own on several machines: the pools that take them, and the templates that don't. # N25"""

import pytest

from slipway.base.errors import ConfigError
from slipway.model.catalog.template import Offer
from slipway.model.labels import Launched
from slipway.model.machines.spec import MachineSpec
from slipway.model.rules.code import SCRIPT
from slipway.using.submission.replicas import on_replicas
from tests.builders.catalogs import catalog, offer, request, template, worker_pool
from tests.builders.clusters import cluster
from tests.builders.pools import CPU, HEAD, pool

TPU = MachineSpec("ct5lp-hightpu-1t")


def script(machine: MachineSpec = CPU, pools: int = 1) -> Offer:
    args = Launched(SCRIPT, ["--command=${command}"], ["--claim", "gs://work/claims/r"]).written()
    each = worker_pool(machine, package="${slipway.package}", args=args)
    return offer(request=request(*[each] * pools), roles=("script",))


@pytest.mark.parametrize(
    ("most", "count", "chosen"),
    [
        ({"big": 4}, 4, ("big", "big")),
        ({"big": 3, "small": 1}, 4, ("small", "big")),
        ({"big": 3, "small": 1}, 3, ("big", "big")),
        ({"small": 2, "big": 2}, 6, ("small", "small")),
    ],
)
def test_the_first_machine_and_the_others_have_equal_pools_with_room(
    most: dict[str, int], count: int, chosen: tuple[str, str]
) -> None:
    here = cluster("cpu", pool("head", HEAD, high=9), *(pool(name, high=high) for name, high in most.items()))
    one = script()
    own = one.__class__(**{**vars(one), "pools": (next(iter(most)),)})
    (several,) = on_replicas(catalog(here), template("script", own, code_flag=True), (own,), count)
    assert several.pools == chosen and several.roles == ("script", "workers")
    assert [each["replicaCount"] for each in several.spec["workerPoolSpecs"]] == ["1", str(count - 1)]
    assert several.price_per_hour == own.price_per_hour * count


@pytest.mark.parametrize(
    ("one", "code_flag", "why"),
    [
        (script(), False, "it runs no command of yours"),
        (offer(), True, "it runs no command of yours"),
        (script(pools=2), True, "several roles already"),
        (script(TPU), True, "Vertex AI runs a TPU job on one replica"),
    ],
)
def test_other_templates_have_machines_of_their_own(one: Offer, code_flag: bool, why: str) -> None:
    with pytest.raises(ConfigError, match="has its own number of machines") as error:
        on_replicas(catalog(), template("script", one, code_flag=code_flag), (one,), 2)
    assert why in error.value.why and error.value.fix.startswith("leave out replicas=2")
