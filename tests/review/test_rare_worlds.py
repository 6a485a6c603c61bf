"""Rows of worlds that no case of the corpus has: told there, and not in such a world without its cause. # N5"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

import pytest

from slipway.deploying.deployment.workspace_plan import SUBMITTER_ROLES
from slipway.deploying.engine.preview import UNKNOWN
from slipway.model.catalog.clusters import DormantCluster
from slipway.model.facts import QuotaLine
from slipway.reviewing.change.change import Change
from slipway.reviewing.consequence import Consequence
from slipway.reviewing.rules.clusters.engine import deletions
from slipway.reviewing.rules.clusters.fates import retiring
from slipway.reviewing.rules.clusters.settings import settings
from slipway.reviewing.rules.quota import quota as of_quota
from slipway.reviewing.rules.resources.exposure import exposure
from slipway.reviewing.rules.resources.people import people
from slipway.reviewing.rules.templates.templates import templates
from tests.review.rows import rows_of
from tests.slipway.reviewing.builders import (
    CATALOG_BUCKET,
    H100,
    PROJECT,
    TEAM,
    UNREAD,
    change,
    cluster,
    facts,
    kept,
    limits,
    living,
    offer,
    pool,
    quota,
    step,
    template,
)

ADA = "user:ada@acme.example"
GPUS = "custom_model_training_nvidia_h100_gpus"
OLD = cluster("h100", pool("workers", H100, 1, 4), id="h100-3e29a36")
NEW = cluster("h100", pool("workers", H100, 1, 6), id="h100-4b2277a")
THIRD = cluster("h100", pool("workers", H100, 1, 8), id="h100-5c3388b")
BESIDE = [living(OLD), living(NEW)]


def package_of(bucket: str) -> Change:
    lora = template("lora", offer())
    moved = replace(lora, package=f"gs://{bucket}/packages/lora/89abcde.tar.gz")
    return change(facts(lora), facts(moved))


def limit_read(read: bool) -> Change:
    line = QuotaLine(GPUS, "ok" if read else "unknown", 0, {"h100/workers": 32}, 32, 32 if read else None)
    known = limits({GPUS: 32}) if read else UNREAD
    return change(facts(OLD), facts(OLD, quota=quota(line)), clusters=[living(OLD)], limits=known)


def shared(stacks: tuple[str, ...]) -> Change:
    """Ada's roles go, which she had for other stacks' sake."""
    own = [
        step(
            "delete",
            "gcp:projects/iAMMember:IAMMember",
            role,
            parent="slipway:index:Workspace",
            old={"member": ADA, "role": role, "project": PROJECT},
        )
        for role in SUBMITTER_ROLES.values()
    ]
    return change(replace(facts(members=[TEAM]), shared={ADA: stacks} if stacks else {}), facts(), steps=own)


def dormant(*lacks: str) -> Change:
    rests = DormantCluster(**vars(OLD))
    return change(facts(dormant={"h100": rests}), facts(dormant={"h100": replace(rests, lacks=lacks)}))


def policy_of(data: object) -> Change:
    on = {"project": PROJECT, "policyData": data}
    return change(facts(), facts(), steps=[step("create", "gcp:projects/iAMPolicy:IAMPolicy", "all", new=on)])


WORLDS: Mapping[str, tuple[Callable[[Change], Iterable[Consequence]], Change, Change]] = {
    "code-foreign": (templates, package_of("elsewhere"), package_of(CATALOG_BUCKET)),
    "quota-unknown": (of_quota, limit_read(False), limit_read(True)),
    "access-lapsed": (people, shared(("prod",)), shared(())),
    "season-waits": (settings, dormant(GPUS), dormant()),
    "policy-unreadable": (exposure, policy_of(UNKNOWN), policy_of('{"bindings": []}')),
    "taken-over": (
        retiring,
        change(facts(OLD), facts(OLD, kept(NEW)), clusters=BESIDE),
        change(facts(OLD, kept(NEW)), facts(OLD, kept(NEW)), clusters=BESIDE),
    ),
    "cleared-failed": (
        retiring,
        change(facts(OLD), facts(THIRD), clusters=[living(OLD), living(NEW, state="ERROR")]),
        change(facts(OLD), facts(THIRD), clusters=BESIDE),
    ),
    "retired-idle": (
        deletions,
        change(facts(NEW, kept(OLD)), facts(NEW), clusters=BESIDE),
        change(facts(NEW, kept(OLD)), facts(NEW, kept(OLD)), clusters=BESIDE),
    ),
}
"""By row: its rule, the world where it is told, and one where it is not."""


@pytest.mark.parametrize("row", WORLDS)
def test_a_row_is_told_in_its_world_alone(row: str) -> None:
    rule, world, other = WORLDS[row]
    assert [row in rows_of(rule(each)) for each in (world, other)] == [True, False]
