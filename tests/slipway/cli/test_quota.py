"""What `slipway quota` makes of a catalog and of what lives: pure, without a cloud. # N6 N1"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal

from slipway.catalog.clusters import Cluster, Pool
from slipway.catalog.model import Catalog
from slipway.cli.quota import document, requests
from slipway.cloud.clusters import PersistentResource
from slipway.cloud.quotas import QuotaPreference
from slipway.labels import STACK_LABEL
from slipway.live import Increase, Live
from slipway.machines.spec import Disk, MachineSpec
from slipway.prices import Price
from slipway.quota.request import Requested
from slipway.quota.seasons import judge
from tests.slipway.quota.region import DENIED, H100, cluster, h100, region

NOW = datetime(2026, 11, 21, 9, 0, tzinfo=UTC)
MACHINE = MachineSpec("a3-highgpu-8g", "NVIDIA_H100_80GB", 8, Disk("pd-ssd", 500))
POOL = Pool("workers", MACHINE, 1, 4, True, Price(Decimal(101)))
CLUSTERS = {"h100": Cluster("h100", "h100-1a2b3c4", {"workers": POOL})}
CATALOG = Catalog("dev", "acme", "us-central1", "3f9c2e1", False, "w", "t", CLUSTERS, ("h100-0000000",), {})


def ours(one: PersistentResource) -> PersistentResource:
    return replace(one, labels={**one.labels, STACK_LABEL: "dev"})


def living(gpus: int = 32) -> Live:
    new, old = ours(cluster("h100-1a2b3c4", h100())), ours(cluster("h100-0000000", h100()))
    return region(new, old, cluster("lab", h100(), replicas=2), increase=Increase.POSSIBLE, nvidia_h100_gpus=gpus)


def test_old_generations_are_not_others() -> None:
    (line, *_) = judge(CATALOG, living(), NOW, ()).lines
    assert (line.metric, line.now, line.retiring, line.others) == (H100, 8, 8, 16)


def test_more_is_asked_for_as_much_as_is_used_by_others_beside_the_ceiling() -> None:
    """A limit of 32 is what the pool needs alone; with 16 used by others it takes 48."""
    (command,) = requests(CATALOG, judge(CATALOG, living(32), NOW, ()).lines)
    assert "--preferred-value=48" in command and "CustomModelTrainingH100GPUs" in command
    assert requests(CATALOG, judge(CATALOG, living(48), NOW, ()).lines) == []


def test_nobody_is_told_to_ask_for_what_was_asked_for() -> None:  # Z2
    """The API has one request for each quota and region: to make another is refused."""
    asked = QuotaPreference(
        "x", "CustomModelTrainingH100GPUsPerProjectPerRegion", "us-central1", 48, 32, detail="scarce"
    )
    live = replace(living(32), preferences={asked.quota_id: asked})
    report = judge(CATALOG, live, NOW, ())
    assert requests(CATALOG, report.lines) == []
    (line, *_) = document(CATALOG, live, report)["lines"]
    assert line["request"] == Requested("partly", 48, 32, "scarce")


def test_use_that_was_not_read_is_not_called_checked() -> None:
    live = living()
    assert document(CATALOG, live, judge(CATALOG, live, NOW, ()))["checked"]
    for unread in (replace(live, jobs=DENIED), replace(live, clusters=DENIED), replace(live, limits=DENIED)):
        found = document(CATALOG, unread, judge(CATALOG, unread, NOW, ()))
        assert (found["checked"], found["why"]) == (False, "403 denied")
        assert {line["verdict"] for line in found["lines"] if line["limit"] != -1} == {"cannot tell"}
