"""No cluster holds up another, or all else that is deployed; what is missing is said. # N1 # N2 # B6"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from slipway.base.errors import PolicyError, ResourceError, SlipwayError
from slipway.deploying.creation import creation_context, parallel_creation
from slipway.deploying.creation.parallel_creation import PATIENCE, create_all, creation_policy, make_clusters
from slipway.deploying.deployment.deletion_guard import StackGuard
from slipway.deploying.deployment.plan import Plan
from slipway.google.live import InUse, Unknown
from slipway.google.quotas import QuotaInfo, QuotaPreference
from slipway.model.cluster import ClusterSpec, PoolSpec
from slipway.model.machines.spec import MachineSpec
from tests.slipway.deploying.deployment.test_replacement import ALIVE, NEW, OLD
from tests.slipway.deploying.deployment.world import PROJECT, REGION, STACK, catalog_with, id_of, live, planned, spec

from .test_in_place import JOB, RUNS, Bucket, catalogs
from .vertex import OPERATION, Script, Step, refused

GPUS, QUOTA = "custom_model_training_nvidia_h100_gpus", "CustomModelTrainingH100GPUsPerProjectPerRegion"
REPLACED = planned((NEW,), live(ALIVE, catalog=catalog_with(OLD)))
AHEAD = planned((spec("gpu"),), live(ALIVE, catalog=catalog_with(retiring=(ALIVE.id,))))
ADDED = planned((OLD, spec("gpu")), live(ALIVE, catalog=catalog_with(OLD)))
H100 = ClusterSpec("h100", (PoolSpec("all", MachineSpec("a3-highgpu-8g", "NVIDIA_H100_80GB", 8), 1, 1, False, 1),))
BOTH = planned((OLD, spec("gpu"), H100), live(ALIVE, catalog=catalog_with(OLD)))
DENIED = Unknown("denied", "aiplatform.googleapis.com", "roles/aiplatform.viewer")


BEFORE = catalog_with(OLD, spec("old")).whole
INTERIM = catalog_with(OLD, spec("edited")).whole


@dataclass
class Cloud:
    """What `connect` gives: a service, a bucket, and quota of 8 where 16 were asked for and are pending."""

    service: Script
    storage: Bucket

    def vertex(self, *_: str) -> Script:
        return self.service

    def quotas(self, _: str) -> Cloud:
        return self

    def infos(self, metrics: Any) -> list[QuotaInfo]:
        return [QuotaInfo(f"aiplatform.googleapis.com/{GPUS}", (((REGION,), 8),), id=QUOTA)] if GPUS in metrics else []

    def preferences(self, _: str) -> list[QuotaPreference]:
        return [QuotaPreference("ours", QUOTA, REGION, 16, reconciling=True)]


@dataclass
class Played:
    error: SlipwayError | None
    cloud: Cloud
    said: list[str]


def play(
    monkeypatch: pytest.MonkeyPatch,
    plan: Plan,
    *,
    post: Step = OPERATION,
    use: InUse | Unknown | None = None,
    awaited: dict[str, int] | None = None,
) -> Played:
    cloud, said = Cloud(Script([post], [RUNS]), Bucket(None)), [""][:0]
    for module in (parallel_creation, creation_context):
        monkeypatch.setattr(module, "connect", lambda _: cloud)
    guard = StackGuard({"SLIPWAY_GRACE": "0"}, STACK, (PROJECT, REGION))
    monkeypatch.setattr(guard, "use", lambda _: use or InUse())
    try:
        make_clusters(
            plan,
            {},
            creation_policy({PATIENCE: "0.01s"}),
            guard,
            say=said.append,
            warn=said.append,
            awaited=awaited or {},
            catalogs=catalogs(before=BEFORE, interim=INTERIM),
        )
    except SlipwayError as error:
        return Played(error, cloud, said)
    return Played(None, cloud, said)


def test_quota_that_is_not_there_yet_holds_up_none_but_the_cluster_that_draws_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Google may take days, in which all else goes on: else nothing retires meanwhile. # Z2"""
    played = play(monkeypatch, BOTH, awaited={GPUS: 16})
    assert isinstance(played.error, PolicyError) and f"so {id_of(H100)} is not made" in played.error.what
    assert played.cloud.service.sent == [f"POST {id_of(spec('gpu'))}"]
    assert f"cluster {id_of(spec('gpu'))} runs" in played.said
    assert any(f"{id_of(spec('gpu'))} runs and is offered" in line for line in played.said)
    assert played.cloud.storage.offered == {"cpu", "edited"}


def test_quota_that_no_cluster_draws_is_needed_by_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """With `strict`: that of templates' offers."""
    played = play(monkeypatch, ADDED, awaited={GPUS: 16})
    assert isinstance(played.error, PolicyError) and played.cloud.service.sent == []


@pytest.mark.parametrize("use", [InUse((JOB,)), DENIED])
@pytest.mark.parametrize("plan", [REPLACED, AHEAD])
def test_what_may_not_go_first_holds_up_what_comes_in_its_place(
    monkeypatch: pytest.MonkeyPatch, plan: Plan, use: InUse | Unknown
) -> None:
    played = play(monkeypatch, plan, use=use)
    assert played.error is not None and f"cluster {ALIVE.id} is not deleted" in played.error.what
    assert played.cloud.service.sent == [] and played.cloud.storage.offered == {"cpu", "edited"}


def test_one_that_comes_to_its_end_leaves_the_rest_to_the_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    played = play(monkeypatch, ADDED)
    assert played.error is None and played.cloud.storage.offered == {"cpu", "edited"}


def made(*bad: str, seasons: tuple[str, ...] = ()) -> tuple[dict[str, str], list[dict[str, str]], list[str]]:
    """Of three: what runs, what was told of that on the way, and warnings."""
    told, warned = [{"": ""}][:0], [""][:0]

    def make(id_: str) -> str:
        if id_ == "b" and "c" in bad:
            raise PolicyError("b waits for quota", why="pending", fix="wait")
        if id_ in bad:
            raise refused(403, f"denied {id_}")
        return id_

    found = create_all("abc", make, lambda some: told.append({**some}), warned.append, seasons)
    return dict(found), told, warned


def test_when_one_of_several_fails_the_others_are_made_and_offered_and_what_they_cost_is_said() -> None:
    with pytest.raises(SlipwayError) as caught:
        made("a")
    assert "denied a" in caught.value.why
    with pytest.raises(ResourceError) as several:
        made("a", "c")
    assert "3 clusters were not made" in several.value.what and "b waits for quota: pending" in several.value.why
    assert "deploy again" in several.value.fix


def test_each_is_offered_as_soon_as_it_runs_but_for_the_last_which_the_engine_publishes() -> None:
    found, told, warned = made()
    assert found == {"a": "a", "b": "b", "c": "c"} and warned == []
    assert 1 <= len(told) <= 2 and all(0 < len(line) < 3 for line in told)


def test_what_a_season_brings_may_be_missing_which_is_said() -> None:
    """Nobody is there to mend it: all else is deployed, and later deployments look again."""
    found, told, warned = made("a", seasons=("a", "b"))
    assert found == {"b": "b", "c": "c"} and told[-1] == found
    (said,) = warned
    assert "its season has begun" in said
    assert "why: denied a" in said and "  fix: " in said
