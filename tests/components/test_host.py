"""A stack of a program in another language: constructed by one call, once in a program. # D1"""

from collections.abc import Callable
from typing import Any

import pulumi
import pytest
from pulumi.errors import InputPropertiesError
from pulumi.runtime.settings import get_monitor, set_root_resource

from components.host import Host
from components.options import STACK as TYPE
from slipway.base.errors import ConfigError
from tests.components.conftest import PROJECT, REGION, Asked, declared, every

GENERATION = "gcp:vertex/aiPersistentResource:AiPersistentResource"
PLACE = {"project": PROJECT, "region": REGION}
CLUSTERS = {"research": {"pools": {"all": {"machine": "n1-standard-4", "replicas": 1.0}}, **PLACE}}


def constructed(inputs: dict[str, Any], **opts: Any) -> list[Asked]:
    return declared(lambda: answer(Host("1.2.3"), inputs, **opts))


def answer(host: Host, inputs: dict[str, Any], **opts: Any) -> None:
    """Construct in a process that runs no program, and so has no stack. What the engine is answered is awaited."""
    set_root_resource(None)  # type: ignore[arg-type]
    host.construct("ml", TYPE, inputs, pulumi.ResourceOptions(**opts))


def test_a_stack_has_its_components_below_it() -> None:
    asked = constructed({"workspace": PLACE, "clusters": CLUSTERS})
    assert [each.name for each in every(asked, TYPE).values()] == ["ml"]
    below = {each.type.rpartition(":")[2]: each.name for each in asked if each.parent == "ml"}
    assert (
        below.items()
        >= {"Workspace": "ml", "QuotaCheck": "ml", "Catalog": "ml", "PersistentResource": "research"}.items()
    )


def test_clusters_alone_have_no_workspace() -> None:
    asked = constructed({"clusters": CLUSTERS})
    assert len(every(asked, GENERATION)) == 1
    assert not every(asked, "gcp:storage/bucket:Bucket")


@pytest.mark.parametrize("given", [{"templates": {"nap": {}}}, {"policy": {"rules": []}}])
def test_what_only_a_catalog_has_is_refused_without_a_workspace(given: dict[str, Any]) -> None:
    with pytest.raises(InputPropertiesError, match="templates and policy need a workspace"):
        constructed({"clusters": CLUSTERS, **given})


def test_a_second_stack_is_refused() -> None:
    host = Host("1.2.3")

    def program() -> None:
        answer(host, {"clusters": CLUSTERS})
        with pytest.raises(InputPropertiesError, match="second one, beside ml"):
            answer(host, {"clusters": {}})

    declared(program)


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"diskk": {}}, "clusters.research.pools.all.diskk: unknown key"),
        ({"replicas": {"min": 9.0, "max": 2.0}}, "max 2 is not more than min 9"),
    ],
)
def test_a_mistake_is_shown_and_nothing_of_the_stack_is_decided(changed: dict[str, Any], told: str) -> None:
    pool = {"machine": "n1-standard-4", "replicas": 1.0, **changed}
    clusters = {"research": {"pools": {"all": pool}, **PLACE}}
    refused(lambda: answer(Host("1.2.3"), {"workspace": PLACE, "clusters": clusters}), told)


def refused(program: Callable[[], None], told: str) -> None:
    # What was constructed before fails with the mistake itself.
    with pytest.raises((InputPropertiesError, ConfigError), match=told):
        declared(program)
    monitor: Any = get_monitor()
    assert {each.type for each in monitor.asked} <= {TYPE}
