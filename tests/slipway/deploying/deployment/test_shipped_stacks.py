"""The stack files that ship: one program takes each of them, and each keeps the rules that it sets itself. # D6 # N5

Those that a team has renamed, dropped or made its own are looked at no more.
"""

from dataclasses import replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from slipway.authoring.stack.stack import Stack, parse
from slipway.authoring.stack.yaml_file import load
from slipway.deploying.deployment.deployment import Deployment, build_packages, plan_deployment, prove_stack
from slipway.deploying.deployment.live_plan import read_and_plan
from slipway.google.catalog.document import PublishedCatalog
from slipway.google.live import QuotaLimit, Unknown
from slipway.model.labels import Revision
from tests import shipped
from tests.slipway.authoring.stack.files import read, with_pool

ROOT = Path(__file__).resolve().parents[4]
NOW = datetime(2026, 11, 1, tzinfo=UTC)
STACKS = shipped.stacks()


@cache
def deployment(name: str) -> Deployment:
    """A preview of the stack where nothing is deployed yet."""
    return deployment_of(parse(load(ROOT / "stacks" / f"Pulumi.{name}.yaml")))


def deployment_of(stack: Stack, **lives: Any) -> Deployment:
    """The same, or with what lives else."""
    proven = prove_stack(stack, ROOT / "templates")
    skip = {"SLIPWAY_LIVE": "skip"}
    live, plan = read_and_plan(stack, skip, True, NOW, lambda said: None, lambda said: None, metrics=proven.metrics)
    (proven, packages), there = build_packages(proven, ROOT), replace(live, **lives)
    return plan_deployment(proven, packages, Revision("3f9c2e1", dirty=False), there, plan, preview=True, now=NOW)


@pytest.mark.parametrize("name", STACKS)
def test_a_stack_that_ships_keeps_its_own_rules(name: str) -> None:
    assert deployment(name).violations == ()


def test_the_ids_of_the_quota_that_jobs_draw_are_published_and_stay_when_they_can_not_be_read() -> None:  # P5
    """Else a submission knows no id of the quota for disks, and for CPUs on demand."""
    metrics = ("custom_model_training_cpus", "custom_model_training_pd_ssd")
    listed = {
        metric: QuotaLimit(metric, "us-central1", -1, quota_id=f"Id-of-{metric.replace('_', '-')}")
        for metric in metrics
    }
    stack = read(with_pool("machine: n1-standard-4\nreplicas: 1"))
    first = deployment_of(stack, limits=listed).catalog
    assert first.quotas == {metric: limit.quota_id for metric, limit in listed.items()}
    denied = Unknown("denied", "cloudquotas.googleapis.com quotaInfos.list", "roles/cloudquotas.viewer")
    assert deployment_of(stack, limits=denied, catalog=PublishedCatalog(whole=first)).catalog.quotas == first.quotas
    assert deployment_of(stack, limits=denied).catalog.quotas is None
