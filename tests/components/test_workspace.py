"""Two buckets, a trainer, and exactly the roles that the verbs need. # P5 # D5"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from components.guard import NAME, guard
from components.workspace import Workspace
from components.workspace_resources import leave_grants, stand_in
from slipway.authoring.stack.config import TrainerEntry, WorkspaceEntry
from slipway.authoring.stack.entries import EncryptionEntry
from slipway.deploying.deployment.workspace_plan import RetiringWorkspaceResource, SharedGrant, WorkspacePlan
from slipway.deploying.generations.action import Why
from slipway.google.live import Unknown
from slipway.model.state import State, StateGrant

from .conftest import FACTS, NOTHING, PROJECT, SETTINGS, Asked, Decided, composed, declared, every, only

BUCKET, MEMBER = "gcp:storage/bucket:Bucket", "gcp:storage/bucketIAMMember:BucketIAMMember"
ACCOUNT, ON_ACCOUNT = "gcp:serviceaccount/account:Account", "gcp:serviceaccount/iAMMember:IAMMember"
PROJECT_ROLE = "gcp:projects/iAMMember:IAMMember"
TRAINER = "serviceAccount:slipway-dev-trainer@acme-dev.iam.gserviceaccount.com"
TEAM = "group:ml@acme.example"


def workspace(
    settings: WorkspaceEntry = SETTINGS, then: Callable[[Workspace], object] = lambda _: None, **more: Any
) -> list[Asked]:
    """All that it declares, where nothing is there yet."""

    def program() -> None:
        made = Workspace("workspace")
        made.work_bucket.apply(lambda _: then(made))

    return composed(program, Decided(settings=settings, **more))


def test_the_catalog_is_private_and_versioned_and_goes_with_the_stack_and_history_after_a_year() -> None:  # N19, N20
    catalog = every(workspace(), BUCKET)["catalog"]
    rules = [rule["condition"] for rule in catalog.inputs["lifecycleRules"]]
    assert {key: value for key, value in catalog.inputs.items() if key not in ("lifecycleRules", "project")} == {
        "name": "acme-catalog",
        "location": "US-CENTRAL1",
        "uniformBucketLevelAccess": True,
        "publicAccessPrevention": "enforced",
        "versioning": {"enabled": True},
        "forceDestroy": True,
    }
    assert rules == [
        {"age": 730, "matchesPrefixes": ["packages/"]},
        {"numNewerVersions": 50, "withState": "ARCHIVED"},
        {"age": 400, "matchesPrefixes": ["history/"]},
        {"age": 7, "matchesPrefixes": ["board/"]},
        {"daysSinceNoncurrentTime": 1, "matchesPrefixes": ["history/", "board/"], "withState": "ARCHIVED"},
    ]
    assert not catalog.request.retainOnDelete and catalog.request.importId == ""


def test_peoples_results_outlive_the_stack() -> None:
    work = every(workspace(), BUCKET)["work"]
    assert work.request.retainOnDelete
    assert work.inputs["forceDestroy"] is False
    conditions = [rule["condition"] for rule in work.inputs["lifecycleRules"]]
    assert conditions == [{"age": 30, "matchesPrefixes": [prefix]} for prefix in ("claims/", "sessions/")], (
        "no results age away"
    )


def test_its_buckets_are_encrypted_with_the_key_that_it_is_given() -> None:  # P5
    assert [bucket.inputs.get("encryption") for bucket in every(workspace(), BUCKET).values()] == [None, None]
    key = "projects/acme-dev/locations/us-central1/keyRings/r/cryptoKeys/k"
    settings = SETTINGS.model_copy(update={"encryption": EncryptionEntry(kms_key=key)})
    keyed = every(workspace(settings, work_elsewhere={"europe-west4": "acme-work-europe-west4"}), BUCKET)
    assert keyed["catalog"].inputs["encryption"] == keyed["work"].inputs["encryption"] == {"defaultKmsKeyName": key}
    adopted = WorkspacePlan(adopted=frozenset({"acme-work"}))
    assert "encryption" not in every(workspace(settings, plan=adopted), BUCKET)["work"].inputs


def test_the_roles_are_exactly_these() -> None:  # P5
    asked = workspace()
    on_buckets = {(m.inputs["bucket"], m.inputs["member"], m.inputs["role"]) for m in every(asked, MEMBER).values()}
    assert on_buckets == {
        ("acme-catalog", TRAINER, "roles/storage.objectViewer"),
        ("acme-work", TRAINER, "roles/storage.objectUser"),
        ("acme-catalog", TEAM, "roles/storage.objectViewer"),
        ("acme-work", TEAM, "roles/storage.objectViewer"),
        ("acme-work", TEAM, "roles/storage.objectCreator"),
    }
    on_project = every(asked, PROJECT_ROLE).values()
    assert {(m.inputs["project"], m.inputs["member"], m.inputs["role"]) for m in on_project} == {
        (PROJECT, TEAM, "roles/aiplatform.user"),
        (PROJECT, TEAM, "roles/cloudquotas.viewer"),
        (PROJECT, TEAM, "roles/monitoring.viewer"),
        (PROJECT, TEAM, "roles/logging.viewer"),
    }
    act_as = only(asked, ON_ACCOUNT).inputs
    assert act_as["role"] == "roles/iam.serviceAccountUser"
    assert act_as["member"] == TEAM
    assert act_as["serviceAccountId"].endswith("/serviceAccounts/slipway-dev-trainer@acme-dev.iam.gserviceaccount.com")


def test_jobs_in_another_region_have_a_bucket_there() -> None:  # N2 P5
    """Vertex AI takes no job whose output is elsewhere. Claims and code stay at home, so submitters only read there."""
    names = {**WorkspacePlan().logical, "work europe-west4": "work@acme-work-europe-west4"}
    asked = workspace(work_elsewhere={"europe-west4": "acme-work-europe-west4"}, plan=WorkspacePlan(names))
    bucket = every(asked, BUCKET)["work@acme-work-europe-west4"]
    assert (bucket.inputs["name"], bucket.inputs["location"]) == ("acme-work-europe-west4", "EUROPE-WEST4")
    assert bucket.request.retainOnDelete and bucket.inputs["forceDestroy"] is False
    assert every(asked, BUCKET)["work"].inputs["name"] == "acme-work"
    there = [
        resource.inputs
        for resource in every(asked, MEMBER).values()
        if resource.inputs["bucket"] == "acme-work-europe-west4"
    ]
    assert {(grant["member"], grant["role"]) for grant in there} == {
        (TRAINER, "roles/storage.objectUser"),
        (TEAM, "roles/storage.objectViewer"),
    }


def test_a_trainer_that_writes_to_vertex_ai_may_do_so_and_no_more() -> None:  # P5 W8
    granted = only(workspace(SETTINGS.model_copy(update={"submitters": ()}), writers=frozenset({""})), PROJECT_ROLE)
    assert granted.name == "trainer-aiplatform.user"
    assert (granted.inputs["member"], granted.inputs["role"]) == (TRAINER, "roles/aiplatform.user")


BOB = "user:bob@acme.example"
SHARED = (
    StateGrant(f"submit-{BOB}", "roles/aiplatform.user", BOB),
    StateGrant(f"reads-work-{BOB}", "roles/storage.objectViewer", BOB, "gs://acme-work"),
    StateGrant(f"act-as-x-{BOB}", "roles/iam.serviceAccountUser", BOB, "ml@acme-dev.iam.gserviceaccount.com"),
)


def test_what_another_stack_needs_stays_declared_as_it_is_and_once() -> None:  # P5
    asked_for = StateGrant(f"submit-{TEAM}", "roles/aiplatform.user", TEAM)
    staying = tuple(SharedGrant(grant, ("prod",)) for grant in (*SHARED, asked_for))
    asked = workspace(then=lambda made: made.keep(staying))
    (before, after) = ({(entry.type, entry.name): entry for entry in some} for some in (workspace(), asked))
    assert len(asked) == len(after) and after.keys() - before.keys() == {
        (PROJECT_ROLE, f"submit-{BOB}"),
        (MEMBER, f"reads-work-{BOB}"),
        (ON_ACCOUNT, f"act-as-x-{BOB}"),
    }
    on_bucket, on_account = after[MEMBER, f"reads-work-{BOB}"], after[ON_ACCOUNT, f"act-as-x-{BOB}"]
    assert (on_bucket.inputs["bucket"], on_bucket.parent) == ("acme-work", "workspace")
    assert on_account.inputs["serviceAccountId"].endswith("/serviceAccounts/ml@acme-dev.iam.gserviceaccount.com")
    assert not any(resource.request.retainOnDelete for resource in after.values() if BOB in resource.name), "for now"


def test_a_destruction_leaves_what_another_stack_needs() -> None:  # P5
    asked = declared(
        lambda: leave_grants(SHARED, PROJECT, guard(list, State()), stand_in("workspace", {"facts": FACTS}))
    )
    component, *rest = asked
    assert (component.name, component.inputs) == ("workspace", FACTS), "its inputs stay"
    assert {entry.name for entry in rest} == {grant.name for grant in SHARED}
    assert all(resource.request.retainOnDelete and resource.parent == "workspace" for resource in rest)
    assert all(list(resource.request.hooks.before_delete) == [NAME] for resource in rest), (
        "which takes what nobody needs"
    )


def test_what_exists_is_adopted() -> None:
    email = "slipway-dev-trainer@acme-dev.iam.gserviceaccount.com"
    asked = workspace(live=replace(NOTHING, buckets=frozenset({"acme-work"}), service_accounts={email: ""}))
    buckets = every(asked, BUCKET)
    assert buckets["work"].request.importId == "acme-work"
    assert buckets["catalog"].request.importId == ""
    account = only(asked, ACCOUNT)
    assert account.request.importId == f"projects/{PROJECT}/serviceAccounts/{email}"
    assert set(account.request.ignoreChanges) == {"displayName", "description"}


def test_what_somebody_else_made_outlives_the_stack_unchanged() -> None:  # N13
    """Nobody's data and nobody's account are deleted because a stack used them for a time."""
    email = "slipway-dev-trainer@acme-dev.iam.gserviceaccount.com"
    names = frozenset({"acme-catalog"})
    plan = WorkspacePlan(logical={"catalog": "catalog.acme-catalog"}, adopted=names)
    for called, stays in (("made by hand", True), ("Slipway trainer (dev)", False)):
        asked = workspace(live=replace(NOTHING, buckets=names, service_accounts={email: called}), plan=plan)
        catalog = every(asked, BUCKET)["catalog.acme-catalog"]
        assert (catalog.request.importId, list(catalog.request.ignoreChanges)) == ("acme-catalog", ["*"])
        assert catalog.request.retainOnDelete
        assert not {"lifecycleRules", "versioning", "forceDestroy"} & {*catalog.inputs}
        assert only(asked, ACCOUNT).request.retainOnDelete is stays


OLD = "old@acme-dev.iam.gserviceaccount.com"
RETIRING = WorkspacePlan(
    retiring=(
        RetiringWorkspaceResource("work", "work@acme-far", "acme-far", why=Why.IN_USE),
        RetiringWorkspaceResource(
            "trainer", "trainer.old", OLD, grants={"trainer.old-aiplatform.user": "roles/aiplatform.user"}
        ),
    ),
)


def test_what_retires_stays_as_it_is_under_its_name_with_what_it_may_do() -> None:  # N1
    asked = workspace(plan=RETIRING)
    buckets, accounts = every(asked, BUCKET), every(asked, ACCOUNT)
    assert set(buckets) == {"catalog", "work", "work@acme-far"} and set(accounts) == {"trainer", "trainer.old"}
    for old in (buckets["work@acme-far"], accounts["trainer.old"]):
        assert list(old.request.ignoreChanges) == ["*"]
        assert old.request.importId == ""
    assert buckets["work@acme-far"].request.retainOnDelete
    assert accounts["trainer.old"].inputs["accountId"] == "old"

    grants = {name: (item.inputs["bucket"], item.inputs["member"]) for name, item in every(asked, MEMBER).items()}
    for name, bucket, member in (
        ("trainer.old-reads-catalog", "acme-catalog", f"serviceAccount:{OLD}"),
        ("trainer.old-writes-work", "acme-work", f"serviceAccount:{OLD}"),
        ("trainer-writes-work@acme-far", "acme-far", TRAINER),
        (f"reads-work@acme-far-{TEAM}", "acme-far", TEAM),
    ):
        assert grants[name] == (bucket, member)
    assert f"creates-work@acme-far-{TEAM}" not in grants, "nobody is sent there"
    on_project = every(asked, PROJECT_ROLE)
    assert on_project["trainer.old-aiplatform.user"].inputs["member"] == f"serviceAccount:{OLD}"
    act_as = only(asked, ON_ACCOUNT)
    assert act_as.name == f"act-as-trainer-{TEAM}"


def test_it_can_not_be_declared_without_knowing_what_exists() -> None:
    with pytest.raises(ValueError, match="what exists must be known"):
        workspace(live=replace(NOTHING, buckets=Unknown("denied", "storage", "role")))


def test_another_trainer_keeps_its_logical_name_and_the_roles_that_its_jobs_use() -> None:  # N1
    """One that was the workspace's own before, say."""
    names = {**WorkspacePlan().logical, "trainer": "trainer-new", "trainer evals": "trainer"}
    kept = {"trainer evals": {"trainer-aiplatform.user": "roles/aiplatform.user"}}
    evals, eva = "serviceAccount:slipway-dev-evals@acme-dev.iam.gserviceaccount.com", "user:eva@acme.example"
    trainers = {"evals": TrainerEntry(account="slipway-dev-evals", submitters=(eva,))}
    asked = workspace(trainers=trainers, plan=WorkspacePlan(names, grants=kept))
    accounts = every(asked, ACCOUNT)
    assert accounts["trainer"].inputs["accountId"] == "slipway-dev-evals"
    assert every(asked, PROJECT_ROLE)["trainer-aiplatform.user"].inputs["member"] == evals
    assert f"act-as-trainer-{eva}" in every(asked, ON_ACCOUNT)
