"""`slipway quota`: what it makes of a catalog and of what lives, and on a real local cloud. # N6 N1"""

from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal

import pytest

from slipway.front.cli.quota import document, requests
from slipway.google.clusters import PersistentResource
from slipway.google.live import Increase, Live
from slipway.google.quota.seasons import judge
from slipway.google.quotas import QuotaPreference
from slipway.model.catalog.clusters import Cluster, Pool
from slipway.model.catalog.model import Catalog
from slipway.model.labels import STACK_LABEL
from slipway.model.machines.spec import Disk, MachineSpec
from slipway.model.prices import Price
from tests.slipway.google.quota.region import DENIED, cluster, h100, region

from .stack import Stack

pytestmark = pytest.mark.smoke

NOW = datetime(2026, 11, 21, 9, 0, tzinfo=UTC)
MACHINE = MachineSpec("a3-highgpu-8g", "NVIDIA_H100_80GB", 8, Disk("pd-ssd", 500))
POOL = Pool("workers", MACHINE, 1, 4, True, Price(Decimal(101)))
CLUSTERS = {"h100": Cluster("h100", (POOL,), id="h100-1a2b3c4")}
CATALOG = Catalog("dev", "acme", "us-central1", "3f9c2e1", False, "w", "t", CLUSTERS, ("h100-0000000",), {})


def ours(living: PersistentResource) -> PersistentResource:
    return replace(living, labels={**living.labels, STACK_LABEL: "dev"})


def living(gpus: int = 32) -> Live:
    new, old = ours(cluster("h100-1a2b3c4", h100())), ours(cluster("h100-0000000", h100()))
    return region(new, old, cluster("lab", h100(), replicas=2), increase=Increase.POSSIBLE, nvidia_h100_gpus=gpus)


def test_more_is_asked_for_as_much_as_is_used_by_others_beside_the_ceiling() -> None:
    """A limit of 32 is what the pool needs alone; with 16 used by others it takes 48."""
    (command,) = requests(CATALOG, judge(CATALOG, living(32), NOW, ()).lines)
    assert "--preferred-value=48" in command and "CustomModelTrainingH100GPUs" in command
    assert requests(CATALOG, judge(CATALOG, living(48), NOW, ()).lines) == []
    # The API has one request for each quota and region: to make another is refused.
    asked = QuotaPreference("x", "CustomModelTrainingH100GPUsPerProjectPerRegion", "us-central1", 48, 32)
    asked_before = replace(living(32), preferences={asked.quota_id: asked})
    assert requests(CATALOG, judge(CATALOG, asked_before, NOW, ()).lines) == []


def test_use_that_was_not_read_is_not_called_checked() -> None:
    live = living()
    assert document(CATALOG, live, judge(CATALOG, live, NOW, ()))["checked"]
    for unread in (replace(live, jobs=DENIED), replace(live, clusters=DENIED), replace(live, limits=DENIED)):
        judged = document(CATALOG, unread, judge(CATALOG, unread, NOW, ()))
        assert (judged["checked"], judged["why"]) == (False, "403 denied")
        assert {line["verdict"] for line in judged["lines"] if line["limit"] != -1} == {"cannot tell"}


def test_quota_is_a_table_of_metrics(standing: Stack) -> None:  # D2, N6
    done = standing.well("quota")
    assert "N1/E2 vCPUs" in done.out and "pool cpu/workers, 1–3 machines" in done.out and "2,200" in done.out
    short = "! quota custom_model_training_preemptible_cpus in us-central1, limit 1, is too little for "
    assert f"{short}spot of crew (needs 8)" in done.err and "hello (needs 4)" in done.err
    lines = standing.run("quota", "--output", "json").json["lines"]
    cpus = next(line for line in lines if line["metric"] == "custom_model_training_cpus")
    assert cpus["limit"] == 2200 and cpus["ceiling"] == 12 and cpus["verdict"] == "ok"
    assert "slipway quota --request --contact EMAIL" in done.err


def test_more_quota_is_asked_for_by_hand(stack: Stack) -> None:  # Z2
    """The stack's own submitters may look; who may ask has another role. Nobody else here draws this metric, as what
    was granted can't be taken back."""
    metric = "custom_model_training_nvidia_p4_gpus"
    ask = ("quota", "--request", f"{metric}=16", "--contact", "ml@acme.example")
    refused = stack.run(*ask)
    assert refused.code == 3 and "roles/cloudquotas.admin" in refused.err
    nobody = stack.run("quota", "--request")
    assert nobody.code == 2 and "name whom Google asks about" in nobody.err
    odd = stack.run("quota", SLIPWAY_CONTACT="\udcff")
    assert odd.code == 2 and "it is not valid UTF-8" in odd.err
    (sent,) = stack.run(*ask, "--dry-run").json["requests"]
    assert (sent["metric"], sent["body"]["quotaConfig"]) == (metric, {"preferredValue": "16"})
    stack.grant("roles/cloudquotas.admin")
    try:
        with stack.settings(quota_reconcile_seconds=3600):
            done = stack.well(*ask, "--justification", "training")
            assert metric in done.out and "asked for 16: pending" in done.out
            again = stack.run(*ask)
            assert again.code == 4 and "was asked for already" in again.err
        with stack.settings(quota_grant_ceiling=8):
            done = stack.run("quota", "--request", "nvidia_p4_gpus=20", "--contact", "a@b.example", "-o", "json")
        (made,) = done.json["requests"]
        request = {"state": "partly", "asked": 20, "granted": 8, "why": "The request was partially approved: 8 of 20."}
        assert made == {"metric": metric, "region": "us-central1", "limit": 6, "request": request}
    finally:
        stack.grant("roles/cloudquotas.admin", False)
    lower = stack.run("quota", "--request", "nvidia_p4_gpus=4", "--contact", "ml@acme.example")
    assert lower.code == 2 and "is no increase" in lower.err


def test_without_its_role_quota_is_not_checked(stack: Stack) -> None:  # P5
    with stack.without("roles/cloudquotas.viewer"):
        done = stack.run("quota")
        document = stack.run("quota", "--output", "json").json
    assert done.code == 0 and "quota not checked: " in done.err and "roles/cloudquotas.viewer" in done.err
    assert document["checked"] is False and document["lines"][0]["limit"] is None
