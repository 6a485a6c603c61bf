"""Tokens and permissions. (P5)"""

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from local.cloud.access import policies, roles
from local.cloud.clock import ManualClock
from local.cloud.identities import PREVIEWER, ROLES
from local.cloud.wire import ApiError
from local.cloud.world import World, open_world

START = datetime(2026, 11, 20, 10, 0, tzinfo=UTC)
ADA = ROLES["submitter"]
TRAINER = "trainer@slipway-local.iam.gserviceaccount.com"


@pytest.fixture
def world(tmp_path: Path) -> World:
    return open_world(tmp_path, clock=ManualClock(START))


def test_a_token_is_its_principals_until_it_ends_or_is_revoked(world: World) -> None:
    lasting = world.access.mint(f"serviceAccount:{TRAINER}", "job 1")
    short = world.access.mint(ADA, "an hour", START + timedelta(hours=1))
    assert world.access.identify(lasting) == f"serviceAccount:{TRAINER}" and world.access.identify(short) == ADA
    assert isinstance(world.clock, ManualClock)
    world.clock.advance(3600)
    assert world.access.identify(short) is None
    world.access.revoke_purpose("job 1")
    assert world.access.identify(lasting) is None and world.access.identify("") is None


def test_the_trainer_may_not_write_the_catalog(world: World) -> None:
    """Viewer on `catalog`, read and write on `work`: no job can rewrite what others run."""
    member = f"serviceAccount:{TRAINER}"
    catalog, work = policies.bucket_name("p-dev-catalog"), policies.bucket_name("p-dev-work")
    world.policies.seed(catalog, {"roles/storage.objectViewer": [member]})
    world.policies.seed(work, {"roles/storage.objectUser": [member]})
    granted = world.access.granted
    assert granted(member, "storage.objects.get", catalog) and not granted(member, "storage.objects.create", catalog)
    assert granted(member, "storage.objects.create", work) and granted(member, "storage.objects.delete", work)
    assert not granted(member, "storage.objects.get")


def test_a_group_gets_its_roles_from_the_policy_alone(world: World) -> None:
    assert not world.access.granted(ADA, "aiplatform.customJobs.create")
    group = {"roles/aiplatform.user": ["group:ml-engineers@slipway.example"]}
    world.policies.seed(policies.project_name("slipway-local"), group)
    assert world.access.granted(ADA, "aiplatform.customJobs.create")
    assert not world.access.granted(ADA, "aiplatform.persistentResources.create")
    assert not world.access.granted(f"serviceAccount:{PREVIEWER}", "aiplatform.customJobs.create")
    world.change_settings({"groups": {"group:ml-engineers@slipway.example": []}})
    assert not world.access.granted(ADA, "aiplatform.customJobs.create")


@pytest.mark.parametrize(
    ("role", "permission", "granted"),
    [
        ("roles/aiplatform.admin", "aiplatform.persistentResources.delete", True),
        ("roles/aiplatform.editor", "aiplatform.persistentResources.create", True),
        ("roles/aiplatform.user", "aiplatform.persistentResources.get", True),
        ("roles/aiplatform.user", "aiplatform.persistentResources.delete", False),
        ("roles/aiplatform.user", "aiplatform.customJobs.cancel", True),
        ("roles/aiplatform.viewer", "aiplatform.persistentResources.list", True),
        ("roles/aiplatform.viewer", "aiplatform.customJobs.create", False),
        ("roles/cloudquotas.viewer", "cloudquotas.quotas.get", True),
        ("roles/cloudquotas.viewer", "cloudquotas.quotas.update", False),
        ("roles/storage.objectCreator", "storage.objects.delete", False),
        ("roles/storage.bucketViewer", "storage.objects.list", False),
        ("roles/iam.serviceAccountUser", "iam.serviceAccounts.actAs", True),
        ("roles/iam.serviceAccountAdmin", "iam.serviceAccounts.actAs", False),
        ("roles/logging.viewer", "logging.logEntries.list", True),
        ("roles/logging.logWriter", "logging.logEntries.list", False),
    ],
)
def test_roles_hold_what_google_says(role: str, permission: str, granted: bool) -> None:
    assert roles.table()[role].grants(permission) is granted


def test_a_refusal_names_the_permission_and_the_resource(world: World) -> None:
    with pytest.raises(ApiError) as refused:
        world.access.require(ADA, "aiplatform.customJobs.create", "slipway-local")
    assert (refused.value.code, refused.value.status) == (403, "PERMISSION_DENIED")
    assert re.findall("'(.+?)'", refused.value.message) == [
        "aiplatform.customJobs.create",
        "//aiplatform.googleapis.com/projects/slipway-local",
    ]
    world.access.require(ROLES["owner"], "aiplatform.customJobs.create", "100000000001")
    with pytest.raises(ApiError):
        world.access.require(ROLES["owner"], "aiplatform.customJobs.create", "somebody-elses")


def test_acting_as_an_account_is_granted_on_it_or_on_the_project(world: World) -> None:
    world.access.require_act_as(ROLES["deployer"], TRAINER)
    with pytest.raises(ApiError, match="act as service_account"):
        world.access.require_act_as(ADA, TRAINER)
    world.policies.seed(policies.account_name("slipway-local", TRAINER), {"roles/iam.serviceAccountUser": [ADA]})
    world.access.require_act_as(ADA, TRAINER)
    with pytest.raises(ApiError):
        world.access.require_act_as(ADA, PREVIEWER)
