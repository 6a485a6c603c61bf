"""Whatever ends the making of clusters, the catalog says which deployment it was, which is tried again. # N2"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from slipway.catalog import document
from slipway.cloud.quotas import QuotaInfo, QuotaPreference
from slipway.creation import parallel_creation
from slipway.creation.in_place import Published
from slipway.creation.parallel_creation import PATIENCE, creator
from slipway.deployment.grace_period import GracePeriod
from slipway.deployment.plan import Plan
from slipway.errors import SlipwayError
from slipway.live import Unknown, Use
from tests.slipway.deployment.test_replacement import ALIVE, NEW, OLD
from tests.slipway.deployment.world import PROJECT, REGION, STACK, catalog_with, live, planned, spec

from .test_in_place import AT, JOB, NOW, PUBLISHED, RUNS, Bucket
from .vertex import OPERATION, Script, Step, refused

GPUS, QUOTA = "custom_model_training_nvidia_h100_gpus", "CustomModelTrainingH100GPUsPerProjectPerRegion"
REPLACED = planned((NEW,), live(ALIVE, catalog=catalog_with(OLD)))
AHEAD = planned((spec("gpu"),), live(ALIVE, catalog=catalog_with(retiring=(ALIVE.id,))))
ADDED = planned((OLD, spec("gpu")), live(ALIVE, catalog=catalog_with(OLD)))
DENIED = Unknown("denied", "aiplatform.googleapis.com", "roles/aiplatform.viewer")


@dataclass
class Cloud:
    """What `connect` gives: a service, a bucket, and quota of 8 where 16 were asked for and are pending."""

    service: Script
    storage: Bucket
    refuses: Exception | None = None

    def vertex(self, *_: str) -> Script:
        return self.service

    def quotas(self, _: str) -> Cloud:
        return self

    def infos(self, _: Any) -> list[QuotaInfo]:
        if self.refuses:
            raise self.refuses
        return [QuotaInfo(f"aiplatform.googleapis.com/{GPUS}", (((REGION,), 8),), id=QUOTA)]

    def preferences(self, _: str) -> list[QuotaPreference]:
        return [QuotaPreference("ours", QUOTA, REGION, 16, reconciling=True)]


def play(
    monkeypatch: pytest.MonkeyPatch,
    plan: Plan,
    *,
    post: Step = OPERATION,
    use: Use | Unknown | None = None,
    awaited: dict[str, int] | None = None,
    limits: Exception | None = None,
) -> tuple[SlipwayError | None, Cloud]:
    cloud = Cloud(Script([post], [RUNS]), Bucket(PUBLISHED), limits)
    monkeypatch.setattr(parallel_creation, "connect", lambda _: cloud)
    said = [""][:0]
    create = creator(
        plan,
        {PATIENCE: "0.01s"},
        (STACK, PROJECT, REGION),
        lambda _: use or Use(),
        said.append,
        said.append,
        awaited or {},
        Published(AT, GracePeriod(0), NOW, "3f9c2e1"),
    )
    try:
        create([item.id for item in plan.current if not item.import_])
    except SlipwayError as error:
        return error, cloud
    return None, cloud


def begun(cloud: Cloud) -> str | None:
    return document.read(cloud.storage.content or b"", "x").under_way


@pytest.mark.parametrize("limits", [None, refused(503, "try again later")])
def test_quota_that_is_not_there_yet_leaves_its_commit(
    monkeypatch: pytest.MonkeyPatch, limits: Exception | None
) -> None:
    """Google may take days, in which the scheduled deployment has to go on: else nothing retires meanwhile. # Z2"""
    error, cloud = play(monkeypatch, ADDED, awaited={GPUS: 16}, limits=limits)
    assert error is not None and begun(cloud) == "3f9c2e1"
    assert limits or "quota does not suffice yet, so gpu-" in error.what
    assert cloud.service.sent == [], "nothing is made"


@pytest.mark.parametrize("use", [Use((JOB,)), DENIED])
@pytest.mark.parametrize("plan", [REPLACED, AHEAD])
def test_so_does_what_may_not_go_first(monkeypatch: pytest.MonkeyPatch, plan: Plan, use: Use | Unknown) -> None:
    error, cloud = play(monkeypatch, plan, use=use)
    assert error is not None and f"cluster {ALIVE.id} is not deleted" in error.what
    assert begun(cloud) == "3f9c2e1" and cloud.storage.offered == {"cpu"}, "and is offered as before"


def test_so_does_a_cluster_that_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    error, cloud = play(monkeypatch, ADDED, post=refused(403, "denied"))
    assert error is not None and begun(cloud) == "3f9c2e1"


def test_one_that_comes_to_its_end_leaves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    error, cloud = play(monkeypatch, ADDED)
    assert error is None and begun(cloud) is None
