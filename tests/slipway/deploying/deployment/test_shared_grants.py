"""Grants that stacks share, and the last defence of running jobs."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from slipway.authoring.stack.config import TrainerEntry
from slipway.authoring.stack.stack import Stack
from slipway.deploying.deployment.deletion_guard import StackGuard, use_of_cluster, use_of_stack
from slipway.deploying.deployment.shared_grants import (
    asked_of,
    dropped,
    shared,
    stacks_of,
    stacks_with_catalogs,
    warn_of_domains,
)
from slipway.deploying.deployment.workspace_plan import (
    ACT_AS,
    CREATES,
    READS,
    SUBMITTER_ROLES,
    WRITES,
    WRITES_METRICS,
    SharedGrant,
)
from slipway.google.catalog.document import PublishedCatalog
from slipway.google.catalog.document import read as read_catalog
from slipway.google.clusters import PersistentResource
from slipway.google.connection import Connection
from slipway.google.live import InUse, Live, Neighbours, Unknown
from slipway.google.live_reader import Reader
from slipway.google.permissions import Bound
from slipway.google.snapshot import neighbours
from slipway.model.identity import Identity
from slipway.model.labels import STACK_LABEL
from slipway.model.state import State, StateGrant, StateResource
from tests.builders.stacks import workspace_entry
from tests.slipway.google.live_service import CLUSTER, PATHS, POOL, SPEC, WANTED, Service

TEAM, BOB = "group:ml@acme.example", "user:bob@acme.example"
OWN, THEIRS = (f"{name}@acme.iam.gserviceaccount.com" for name in ("slipway-dev-trainer", "ml-training"))
PROD: Mapping[str, Any] = {
    "schema": 2,
    "stack": "prod",
    "project": "acme",
    "region": "us-central1",
    "commit": "3f9c2e1",
    "storage": {"catalog": "acme-prod-catalog", "work": "acme-results"},
    "trainer": "slipway-prod-trainer@acme.iam.gserviceaccount.com",
    "trainers": {"ml": THEIRS},
    "clusters": {},
    "retiring": [],
    "templates": {},
    "submitters": {"slipway-prod-trainer@acme.iam.gserviceaccount.com": [TEAM], THEIRS: [BOB]},
}
GRANTS = tuple(
    StateGrant(f"{role} {member} {on}", role, member, on)
    for role, member, on in (
        *((role, TEAM, "") for role in SUBMITTER_ROLES.values()),
        (SUBMITTER_ROLES["submit"], "user:EVE@acme.example", ""),
        (ACT_AS, TEAM, THEIRS),
        (ACT_AS, BOB, THEIRS),
        (READS, BOB, "gs://acme-results"),
        (CREATES, BOB, "gs://acme-results"),
        (READS, BOB, "gs://acme-dev-catalog"),
        (WRITES, f"serviceAccount:{THEIRS}", "gs://acme-results"),
        (WRITES, f"serviceAccount:{OWN}", "gs://acme-results"),
        (WRITES_METRICS, f"serviceAccount:{THEIRS}", ""),
        (WRITES_METRICS, f"serviceAccount:{OWN}", ""),
    )
)
KNOWN = State(
    buckets=(
        StateResource("catalog", "acme-dev-catalog", "acme"),
        StateResource("work.acme-results", "acme-results", ""),
    ),
    accounts=(StateResource("trainer", OWN, "acme"), StateResource("trainer.ml-training", THEIRS, "acme")),
    grants=GRANTS,
    called={OWN: "Slipway trainer (dev)", THEIRS: "everybody's"},
)


def published(**changes: Any) -> PublishedCatalog:
    body = {key: value for key, value in {**PROD, **changes}.items() if value is not None}
    return PublishedCatalog(
        identity=Identity("", body["stack"]), whole=read_catalog(str(body).replace("'", '"'), "gs://c/catalog.json")
    )


def stay(neighbours: Neighbours, *, seen: tuple[str, ...] = (), of: tuple[StateGrant, ...] = ()) -> dict[str, Any]:
    some = shared(of or dropped(KNOWN), neighbours, KNOWN, stack="dev", project="acme", seen=seen)
    return {grant.grant.name: grant.stacks or grant.unread for grant in some}


def test_what_another_stacks_catalog_names_stays_and_nothing_else() -> None:
    kept = stay({"acme-prod-catalog": published(), "acme-dev-catalog": published(stack="dev")})
    assert kept == {
        **{f"{role} {TEAM} ": ("prod",) for role in SUBMITTER_ROLES.values()},
        f"{ACT_AS} {BOB} {THEIRS}": ("prod",),
        f"{READS} {BOB} gs://acme-results": ("prod",),
        f"{CREATES} {BOB} gs://acme-results": ("prod",),
        f"{WRITES} serviceAccount:{THEIRS} gs://acme-results": ("prod",),
        f"{WRITES_METRICS} serviceAccount:{THEIRS} ": ("prod",),
    }


def test_of_what_the_stack_made_itself_nothing_is_another_stacks() -> None:
    """Neither its catalog's bucket, nor its account with all that this may do."""
    assert {grant.name for grant in GRANTS} - {grant.name for grant in dropped(KNOWN)} == {
        f"{READS} {BOB} gs://acme-dev-catalog",
        f"{WRITES} serviceAccount:{OWN} gs://acme-results",
        f"{WRITES_METRICS} serviceAccount:{OWN} ",
    }


def test_what_the_state_has_lost_sight_of_may_be_anybodys() -> None:
    """A destruction that failed took the bucket out of it, and left the grants."""
    known = replace(KNOWN, buckets=(), accounts=())
    assert dropped(known) == known.grants


@pytest.mark.parametrize("logical", ["work", "work.acme-results", "work@acme-results"])
def test_a_work_bucket_may_be_another_stacks_whoever_made_it(logical: str) -> None:
    known = replace(KNOWN, buckets=(KNOWN.buckets[0], StateResource(logical, "acme-results", "acme")))
    kept = shared(dropped(known), {"c": published()}, known, stack="dev", project="acme")
    assert {f"{READS} {BOB} gs://acme-results", f"{CREATES} {BOB} gs://acme-results"} <= {
        stays.grant.name for stays in kept
    }


def test_the_stacks_own_catalog_and_that_of_another_project_say_nothing_and_iam_knows_small_letters() -> None:
    assert stay({"acme-dev-catalog": PublishedCatalog(damage="not JSON")}) == {}
    assert stay({"acme-prod-catalog": published(project="acme-prod")}) == {}
    eve = published(submitters={THEIRS: ["user:eve@acme.example"]})
    assert stay({"acme-prod-catalog": eve}, of=GRANTS[4:5]) == {GRANTS[4].name: ("prod",)}
    cluster = PersistentResource("cpu", "RUNNING", {STACK_LABEL: "prod"}, ())
    assert stacks_of((cluster, replace(cluster, labels={}))) == {"prod"}
    assert stacks_of((replace(cluster, state="STOPPING"),)) == set()


UNTOLD: dict[str, tuple[Neighbours, tuple[str, ...], str]] = {
    "no bucket can be listed": (Unknown("denied", "buckets.list", "roles/storage.bucketViewer"), (), "bucketViewer"),
    "a catalog can't be read": ({"c": Unknown("denied", "api", "a role")}, (), "api: denied; it needs a role"),
    "a catalog is damaged": ({"c": PublishedCatalog(damage="gs://c/…: not JSON")}, (), "gs://c/…: not JSON"),
    "a newer version's": ({"c": PublishedCatalog(identity=Identity("", "prod"))}, (), "another version published it"),
    "a stack without a catalog": ({"c": published()}, ("dev", "prod", "test"), "stack test has clusters here"),
}


@pytest.mark.parametrize(("found", "seen", "why"), UNTOLD.values(), ids=UNTOLD)
def test_where_it_can_not_be_told_all_stays_and_the_reason_is_kept(
    found: Neighbours, seen: tuple[str, ...], why: str
) -> None:
    eve = GRANTS[4].name
    kept = stay(found, seen=seen)
    assert {grant.name for grant in dropped(KNOWN)} == {*kept}
    assert why in kept[eve][0]


def test_a_stack_whose_catalog_went_a_moment_ago_needs_nothing_any_more() -> None:
    """Its clusters go after its catalog. One that never had a catalog is being made, or has lost it."""
    drops, seen = dropped(KNOWN), ("prod", "test")
    named = {"acme-prod-catalog": published()}
    assert stacks_with_catalogs(named) == {"prod"} and stacks_with_catalogs(Unknown("denied", "api", "a role")) == set()
    some = shared(drops, {}, KNOWN, stack="dev", project="acme", seen=seen, leaving=stacks_with_catalogs(named))
    (why,) = {grant.unread for grant in some}
    assert len(some) == len(drops) and "stack test has clusters here" in " ".join(why)
    assert {grant.unpublished for grant in some} == {("test",)}
    assert shared(drops, {}, KNOWN, stack="dev", project="acme", seen=seen, leaving=seen) == ()
    unread = {"c": Unknown("denied", "api", "a role")}
    assert not any(grant.unpublished for grant in shared(drops, unread, KNOWN, stack="dev", project="acme", seen=seen))


UNPUBLISHED = SharedGrant(GRANTS[0], unread=("stack test has clusters here",), unpublished=("test",))


class Waiting(StackGuard):
    """A guard of a stack that is taken down while another one has clusters and no catalog, for so many seconds."""

    def __init__(self, seconds: float) -> None:
        super().__init__({}, "dev", ("acme", "us-central1"), KNOWN)
        self.passed, self.seconds, self.said = 0.0, seconds, list[str]()

    def release(self, grant: StateGrant) -> SharedGrant | None:
        return UNPUBLISHED if self.passed < self.seconds else None

    def pause(self, seconds: float) -> None:
        self.passed += seconds

    def decided(self) -> SharedGrant | None:
        return self.release_in_time(GRANTS[0], self.said.append, self.pause, lambda: self.passed)


def test_a_stack_that_is_taken_down_by_a_second_run_is_waited_for() -> None:
    """After a first run that failed its catalog is gone, and its clusters live until it is their turn."""
    guard = Waiting(60)
    assert guard.decided() is None and 60 <= guard.passed < 70
    (said,) = guard.said
    assert said.startswith("stack test has clusters here: waiting up to 3 min")


def test_a_stack_that_has_no_catalog_for_good_is_waited_for_once() -> None:
    guard = Waiting(3600)
    assert guard.decided() == guard.decided() == UNPUBLISHED
    assert 180 <= guard.passed < 190 and len(guard.said) == 1


@pytest.mark.parametrize(("role", "passing"), [("the API to answer", True), ("roles/storage.bucketViewer", False)])
def test_what_passes_by_itself_is_worth_the_same_command_again(role: str, passing: bool) -> None:
    unread = Unknown("busy", "storage.googleapis.com", role)
    for found in (unread, {"c": unread}):
        (stays, *_) = shared(dropped(KNOWN), found, KNOWN, stack="dev", project="acme")
        assert stays.passing is passing


def test_what_the_stack_asks_for_is_not_dropped() -> None:
    """Neither by the workspace's trainer nor by another one; metrics only where a template writes some."""
    workspace = workspace_entry((TEAM,), "acme-dev-catalog", "acme-results", "slipway-dev-trainer")
    stack = Stack(
        "dev", "acme", "us-central1", workspace, trainers={"ml": TrainerEntry(account="ml-training", submitters=(BOB,))}
    )
    left = {(grant.role, grant.member) for grant in dropped(KNOWN, asked_of(stack, ["ml"]))}
    assert left == {(SUBMITTER_ROLES["submit"], "user:EVE@acme.example"), (ACT_AS, TEAM)}
    assert (WRITES_METRICS, f"serviceAccount:{THEIRS}") in {
        (grant.role, grant.member) for grant in dropped(KNOWN, asked_of(stack, []))
    }


def test_catalogs_are_read_in_buckets_that_slipway_made_alone(connection: Connection, service: Service) -> None:
    """Whoever may write to another one could name themselves: results are anybody's to write."""

    def bucket(name: str, prefix: str) -> dict[str, Any]:
        return {"name": name, "lifecycle": {"rule": [{"condition": {"matchesPrefix": [prefix]}}]}}

    ours = [bucket(f"{name}-catalog", "packages/") for name in ("prod", "test", "gone")]
    others = [bucket("acme-work", "claims/"), {"name": "somebodys"}]
    service.answers["/storage/b"] = (200, {"items": [*ours, *others]})
    for name in ("prod-catalog", "acme-work", "somebodys"):
        service.answers[f"/storage/b/{name}/o/catalog.json"] = (200, dict(PROD))
    service.answers["/storage/b/test-catalog/o/catalog.json"] = (403, {"error": {"message": "access denied"}})
    service.answers["/storage/b/gone-catalog/o/catalog.json"] = (404, {})
    known = neighbours(Reader(connection, WANTED))
    assert not isinstance(known, Unknown)
    assert {name: getattr(value, "owner", "") for name, value in known.items()} == {
        "prod-catalog": "prod",
        "test-catalog": "",
    }
    assert service.asked["/storage/b"]["project"] == ["acme"]
    service.answers["/storage/b"] = (403, {"error": {"message": "access denied"}})
    unlisted = neighbours(Reader(connection, WANTED))
    assert isinstance(unlisted, Unknown) and unlisted.role == "roles/storage.bucketViewer"


def running(**specs: Any) -> dict[str, Any]:
    return {
        "customJobs": [
            {"name": f"j/{name}", "displayName": name, "state": "JOB_STATE_RUNNING", "jobSpec": spec}
            for name, spec in specs.items()
        ]
    }


def names(use: InUse | Unknown) -> list[str]:
    assert isinstance(use, InUse)
    return [job.display_name for job in use.jobs]


def test_the_guard_asks_the_cluster_itself_and_sees_its_jobs(connection: Connection, service: Service) -> None:
    """Its list may lag as those of jobs do. Machines of a job that is listed are that job's."""
    assert use_of_cluster(connection, CLUSTER) == InUse()
    service.answers[f"/vertex/{CLUSTER}"] = (200, {"name": CLUSTER, "state": "RUNNING", "resourcePools": [POOL]})
    assert use_of_cluster(connection, CLUSTER) == InUse((), ("cpu-1a2b3c4",))
    service["jobs"] = running(mine=SPEC, other={**SPEC, "persistentResourceId": "other"}, beside={})
    use = use_of_cluster(connection, CLUSTER)
    assert names(use) == ["mine"] and use == InUse(use.jobs)  # type: ignore[union-attr]


@pytest.mark.parametrize(("state", "unready"), [("STOPPING", True), ("REBOOTING", True), ("UPDATING", False)])
def test_the_guard_tells_what_the_cloud_does_not_delete_now(
    connection: Connection, service: Service, state: str, unready: bool
) -> None:
    service.answers[f"/vertex/{CLUSTER}"] = (200, {"name": CLUSTER, "state": state})
    assert use_of_cluster(connection, CLUSTER) == InUse(unready={"cpu-1a2b3c4": state} if unready else {})


def test_the_guard_asks_every_cluster_of_a_stack_and_sees_their_jobs(connection: Connection, service: Service) -> None:
    stacks = {"cpu-1a2b3c4": "dev", "gpu-1a2b3c4": "dev", "other": "prod"}
    listed = [
        {"name": f"{PATHS['clusters']}/{id_}", "labels": {"slipway-stack": stack}} for id_, stack in stacks.items()
    ]
    service["clusters"] = {"persistentResources": listed}
    for entry in listed:
        service.answers[str(entry["name"])] = (200, {**entry, "state": "RUNNING", "resourcePools": [POOL]})
    assert use_of_stack(connection, "acme", "us-central1", "dev") == InUse((), ("cpu-1a2b3c4", "gpu-1a2b3c4"))
    on = {id_[:3]: {"persistentResourceId": id_} for id_ in stacks}
    service["jobs"] = running(**on)
    assert names(use_of_stack(connection, "acme", "us-central1", "dev")) == ["cpu", "gpu"]


def test_the_guard_sees_the_jobs_that_need_something(connection: Connection, service: Service) -> None:
    """Also those that run beside the stack's clusters."""

    def spec(account: str, bucket: str) -> dict[str, Any]:
        return {"serviceAccount": account, "baseOutputDirectory": {"outputUriPrefix": f"gs://{bucket}/1"}}

    service["jobs"] = running(
        a=spec("t@acme.iam", "acme-work"), b=spec("t@acme.iam", "other"), c=spec("u@acme.iam", "other")
    )

    def needing(*needed: str, some: tuple[str, ...] = ()) -> list[str]:
        return names(use_of_stack(connection, "acme", "us-central1", "dev", some, needed=needed))

    assert needing("t@acme.iam") == ["a", "b"]
    assert needing("t@acme.iam", "acme-work") == ["a"], "what an account may do on a bucket"
    assert needing("acme-catalog") == []
    assert needing(some=("acme-work", "u@acme.iam")) == ["a", "c"]


@pytest.mark.parametrize("what", ["cluster", "clusters", "jobs", "tuning", "pipelines"])
def test_the_guard_can_not_tell_when_it_can_not_read(connection: Connection, service: Service, what: str) -> None:
    denied = (403, {"error": {"code": 403, "message": "access denied"}})
    if what == "cluster":
        service.answers[f"/vertex/{CLUSTER}"] = denied
        use = use_of_cluster(connection, CLUSTER)
    else:
        service[what] = denied
        use = use_of_stack(connection, "acme", "us-central1", "dev")
    assert isinstance(use, Unknown)


CUSTOMERS = ("C0company0",)
OWNER = frozenset({Bound("roles/owner", "user:owner@acme.example")})


def lives(permitted: tuple[str, ...] | Unknown, policy: frozenset[Bound] | Unknown = OWNER) -> Live:
    return Live((), (), {}, None, policy=policy, permitted=permitted)


def test_a_preview_tells_whom_the_organisation_may_not_permit() -> None:  # N6
    ada, robot = "user:ada@other.example", "serviceAccount:robot@elsewhere.iam.gserviceaccount.com"
    new = [(role, member.lower(), "") for role in SUBMITTER_ROLES.values() for member in (TEAM, ada, robot)]
    (told,) = warn_of_domains(new, lives(CUSTOMERS), lambda members: [f"{'+'.join(members)}:4"])
    assert told.what == "the organisation may not permit user:ada@other.example (ada@other.example:4)"
    assert "C0company0 alone (constraints/iam.allowedPolicyMemberDomains)" in told.why and "other.example" in told.why
    assert told.fix.startswith("gcloud organizations list")


@pytest.mark.parametrize(
    "live",
    [
        lives(()),
        lives(Unknown("no", "orgpolicy.googleapis.com", "")),
        lives(CUSTOMERS, Unknown("no", "cloudresourcemanager.googleapis.com", "")),
        lives(CUSTOMERS, OWNER | {Bound("roles/viewer", "group:All@Other.Example")}),
    ],
    ids=["all permitted", "policy unread", "members unread", "of a domain that is here"],
)
def test_nobody_is_suspected_without_a_reason(live: Live) -> None:
    assert [*warn_of_domains([("roles/viewer", "user:ada@other.example", "")], live, lambda _: ())] == []
