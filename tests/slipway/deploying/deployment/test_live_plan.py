"""The facts that a plan is made of."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from slipway.authoring.stack.stack import Stack
from slipway.base.errors import ConfigError, ResourceError, SlipwayError, WaitTimeout
from slipway.deploying.deployment.actions import of_current
from slipway.deploying.deployment.live_plan import await_provisioned, read_and_plan
from slipway.deploying.deployment.plan import Plan
from slipway.deploying.deployment.workspace_plan import SUBMITTER_ROLES, trainer_email
from slipway.google.catalog.document import PublishedCatalog
from slipway.google.connection import Connection
from slipway.google.credentials import identity
from slipway.google.live import Live, Unknown
from slipway.google.live_reader import LiveScope, quota_info
from slipway.google.permissions import Bound
from slipway.google.quotas import QuotaInfo, ReadQuota
from slipway.google.snapshot import read
from slipway.model.catalog.model import Catalog
from slipway.model.cluster import Alternative, ClusterSpec, CurrentCluster
from slipway.model.identity import Identity
from slipway.model.state import State, StateGrant, StateResource
from tests.builders.stacks import workspace_entry
from tests.slipway.google.live_service import WANTED, Service

from . import world

STACK = Stack("dev", "acme-dev", "us-central1", workspace_entry((), "acme-catalog", "acme-work", "trainer"))
NOW = datetime(2026, 11, 20, tzinfo=UTC)
NOBODY = {
    f"GOOGLE_{name}_CUSTOM_ENDPOINT": "http://127.0.0.1:1/v1/"
    for name in ("VERTEX_AI", "STORAGE", "IAM", "CLOUD_QUOTAS")
}


ENVIRON = {**NOBODY, "GOOGLE_OAUTH_ACCESS_TOKEN": "token"}
LIVE, NOTHING = Live(clusters=(), jobs=(), limits={}, catalog=None), State()


def read_plan(
    stack: Stack = STACK, *, preview: bool = True, known: State | Unknown = NOTHING, **environ: str
) -> tuple[Live, Plan]:
    return read_and_plan(stack, {**ENVIRON, **environ}, preview, NOW, print, print, known=known)


class Seen:
    """Reads that give `live`. `asked` are the scopes."""

    def __init__(self) -> None:
        self.live, self.asked = LIVE, list[LiveScope]()

    def read(self, _: Connection, wanted: LiveScope, **__: object) -> tuple[Live, list[str]]:
        self.asked.append(wanted)
        return self.live, []


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> Seen:
    found = Seen()
    monkeypatch.setattr("slipway.deploying.deployment.live_plan.read", found.read)
    return found


def test_skip_reads_nothing_in_preview_and_is_refused_outside_of_it() -> None:
    live, plan = read_plan(SLIPWAY_LIVE="skip")
    assert live.skipped and "were not read" in plan.notes[0]
    with pytest.raises(ConfigError, match="SLIPWAY_LIVE=skip is only for previews"):
        read_plan(preview=False, SLIPWAY_LIVE="skip")


def test_a_misspelt_word_is_not_taken_for_none() -> None:
    with pytest.raises(ConfigError, match="invalid SLIPWAY_LIVE=skipp"):
        read_plan(SLIPWAY_LIVE="skipp")


def test_a_cloud_that_does_not_answer_stops_it_with_every_reason() -> None:
    with pytest.raises(ResourceError) as error:
        read_plan()
    assert "nothing was changed" in error.value.what
    reasons = error.value.why.splitlines()
    assert len(reasons) == 4
    assert "persistentResources.list as the identity of GOOGLE_OAUTH_ACCESS_TOKEN" in reasons[0]
    assert "token" not in error.value.why.replace("ACCESS_TOKEN", "")
    assert "make destroy" in error.value.fix


@pytest.mark.parametrize(("preview", "reader"), [(False, quota_info), (True, QuotaInfo.read)])
def test_limits_are_read_of_what_is_drawn_alone_and_for_a_deployment_by_the_official_message(
    seen: Seen, preview: bool, reader: ReadQuota
) -> None:
    """D9. A preview does not import that; test_live_quotas.py holds both to each other."""
    drawn = frozenset({"custom_model_training_cpus"})
    read_and_plan(STACK, ENVIRON, preview, NOW, print, print, metrics=drawn)
    assert {(wanted.metrics, wanted.read_quota) for wanted in seen.asked} == {(drawn, reader)}


@pytest.mark.parametrize(
    ("catalog", "fails"),
    [
        (None, False),
        (PublishedCatalog(identity=Identity("", "dev")), False),
        (PublishedCatalog(), False),
        (PublishedCatalog(identity=Identity("", "prod")), True),
    ],
)
def test_another_stacks_catalog_is_not_overwritten(seen: Seen, catalog: PublishedCatalog | None, fails: bool) -> None:
    """Its submitters would be sent to this stack's clusters, and its packages go with this stack."""
    seen.live = replace(LIVE, catalog=catalog)
    if not fails:
        read_plan()
        return
    with pytest.raises(ConfigError) as error:
        read_plan()
    assert "gs://acme-catalog has the catalog of stack prod" in error.value.what
    assert "delete gs://acme-catalog/catalog.json" in error.value.fix


@pytest.mark.parametrize(
    ("bucket", "key"),
    [("acme-catalog", "catalogBucket"), ("acme-work", "workBucket"), ("acme-work-europe-west4", "workBucket")],
)
def test_the_name_of_another_projects_bucket_is_said_to_be_taken(seen: Seen, bucket: str, key: str) -> None:
    """No role of this project helps, and its catalog is another's as well."""
    denied = Unknown("denied", "storage.googleapis.com", "roles/storage.bucketViewer", on=f"gs://{bucket}")
    seen.live = replace(LIVE, buckets=replace(denied, foreign=True), catalog=denied)
    with pytest.raises(ConfigError) as error:
        read_plan()
    assert error.value.what == f"gs://{bucket} is another project's bucket, so nothing was changed"
    assert error.value.why == (
        "names of buckets are one for all of Google Cloud "
        "(two stacks share a default name if the names of their projects and stacks join to the same text)"
    )
    assert error.value.fix == f"name another bucket: stacks/Pulumi.dev.yaml, slipway:workspace.{key}"
    seen.live = replace(LIVE, buckets=denied)
    with pytest.raises(ResourceError, match=r"it needs roles/storage\.bucketViewer"):
        read_plan()


PEOPLE = tuple(f"user:ada{n}@acme.example" for n in range(50))
OWNERS = frozenset(Bound("roles/owner", f"user:owner{n}@acme.example") for n in range(1301))
ALREADY = frozenset(Bound("roles/aiplatform.user", member.replace("ada", "Ada")) for member in PEOPLE[:1])


def test_a_project_whose_policy_has_no_room_for_the_submitters_is_refused_before_anything_is_made(seen: Seen) -> None:
    """Google takes 1,500 principals, each as often as it has a role, whoever granted it."""
    stack = replace(STACK, workspace=workspace_entry(PEOPLE, "acme-catalog", "acme-work", "trainer"))
    seen.live = replace(LIVE, policy=OWNERS)
    with pytest.raises(ConfigError) as error:
        read_plan(stack)
    assert error.value.what == "the policy of project acme-dev would name 1,501 principals, and Google takes 1,500"
    assert "it names 1,301" in error.value.why and "adds 200, for 50 submitters" in error.value.why
    assert "take a group" in error.value.fix
    for room in (frozenset([*OWNERS][1:]), frozenset([*OWNERS][1:]) | ALREADY, Unknown("denied", "iam", "roles/x")):
        seen.live = replace(LIVE, policy=room)
        read_plan(stack)
    assert all(wanted.policy for wanted in seen.asked), "a policy that gets new members is read"


def test_a_project_whose_policy_has_no_room_for_another_group_is_refused(seen: Seen) -> None:
    """Google takes 250 groups and domains; a group counts once, whatever its roles."""
    twice = [Bound(role, f"group:g{n}@acme.example") for n in range(250) for role in ("roles/browser", "roles/viewer")]
    stack = replace(
        STACK, workspace=workspace_entry(("group:ml@acme.example",), "acme-catalog", "acme-work", "trainer")
    )
    seen.live = replace(LIVE, policy=frozenset(twice))
    with pytest.raises(ConfigError) as error:
        read_plan(stack)
    assert error.value.what.endswith("would name 251 groups and domains, and Google takes 250")
    seen.live = replace(LIVE, policy=frozenset(twice[2:]))
    read_plan(stack)


def test_a_policy_is_read_only_where_the_stack_grants_something_new(seen: Seen) -> None:  # D9
    stack = replace(STACK, workspace=workspace_entry(PEOPLE[:1], "acme-catalog", "acme-work", "trainer"))
    granted = tuple(StateGrant(f"{purpose}-x", role, PEOPLE[0]) for purpose, role in SUBMITTER_ROLES.items())
    read_plan(stack, known=State(grants=granted))
    read_plan()
    assert [wanted.policy for wanted in seen.asked] == [False, False]


@pytest.mark.parametrize("bucket", ["prod-catalog", STACK.workspace.catalog_bucket])
def test_the_catalog_of_a_stack_that_was_renamed_is_not_to_be_deleted(seen: Seen, bucket: str) -> None:  # B1
    """It is the stack's own, and tells which clusters are protected."""
    seen.live = replace(LIVE, catalog=PublishedCatalog(identity=Identity("", "prod")))
    known = State(catalog_bucket=bucket)
    with pytest.raises(ConfigError, match="stack dev was called prod and can't be renamed"):
        read_plan(known=known)


@pytest.mark.parametrize(
    ("called", "ours", "fails"),
    [
        ("Slipway trainer (prod)", False, True),
        ("Slipway trainer (prod)", True, False),
        ("Slipway trainer (dev)", False, False),
        ("made by hand", False, False),
    ],
)
def test_another_stacks_trainer_is_not_adopted(seen: Seen, called: str, ours: bool, fails: bool) -> None:
    """A destruction of the one stack would take from the other's jobs the account that they run as."""
    address = trainer_email(STACK.workspace.trainer, STACK.project)
    seen.live = replace(LIVE, service_accounts={address: called})
    known = State(accounts=(StateResource("trainer", address, STACK.project),) if ours else ())
    if not fails:
        read_plan(known=known)
        return
    with pytest.raises(ConfigError) as error:
        read_plan(known=known)
    assert f"account {address} is the trainer of stack prod" in error.value.what
    assert "name another account: stacks/Pulumi.dev.yaml, slipway:workspace.trainer" in error.value.fix
    assert "destroy" not in error.value.fix


def test_a_stack_whose_state_can_not_be_told_is_not_deployed() -> None:
    """Under a wrong logical name a bucket would be adopted, and deleted under its right one."""
    known = Unknown("no such function", "the engine", "a newer Pulumi")
    with pytest.raises(ResourceError) as error:
        read_plan(known=known)
    assert "engine: no such function" in error.value.why
    live, _ = read_plan(known=known, SLIPWAY_LIVE="skip")
    assert live.skipped


def test_an_endpoint_that_is_none_is_an_error_of_configuration() -> None:
    with pytest.raises(SlipwayError) as error:
        read_plan(GOOGLE_VERTEX_AI_CUSTOM_ENDPOINT="localhost")
    assert error.value.exit_code == 2


def test_who_asks_is_named_and_an_account_has_the_address_of_its_project() -> None:
    asker = "preview@acme.iam.gserviceaccount.com"
    assert identity({"GOOGLE_IMPERSONATE_SERVICE_ACCOUNT": asker}).startswith(asker)
    assert identity({}) == "the application default credentials"
    assert trainer_email("trainer", "example.com:team") == "trainer@team.example.com.iam.gserviceaccount.com"


MAKING = CurrentCluster(ClusterSpec("cpu", ()), "cpu-1a2b3c4", "1a2b3c4", import_=True, state="PROVISIONING")
WAITING = Plan((of_current(MAKING),))


class Story:
    """Each plan in its turn; the last one stays."""

    def __init__(self, *plans: Plan) -> None:
        self.plans, self.slept, self.said, self.reads = list(plans), [0.0][:0], [""][:0], 0

    def read(self) -> Live:
        self.reads += 1
        return LIVE

    def decide(self, _: Live) -> Plan:
        return self.plans.pop(0) if len(self.plans) > 1 else self.plans[0]

    def run(self, *, wait: bool) -> Plan:
        return await_provisioned(self.read, self.decide, self.said.append, wait=wait, sleep=self.slept.append)[1]


def test_it_reads_and_plans_again_until_the_cluster_is_made() -> None:
    ready = Plan(notes=("ready",))
    story = Story(WAITING, WAITING, ready)
    assert story.run(wait=True) == ready
    assert (story.reads, story.slept) == (3, [10, 10]) and Story(Plan()).run(wait=True) == Plan()
    assert len(story.said) == 1 and "waiting for cpu-1a2b3c4" in story.said[0]


def test_preview_shows_the_plan_as_it_is_and_nobody_waits_for_ever() -> None:
    story = Story(WAITING)
    assert story.run(wait=False) is WAITING and story.slept == []
    with pytest.raises(WaitTimeout, match="cpu-1a2b3c4 is still being made"):
        Story(WAITING).run(wait=True)


def test_other_regions_are_read_beside_the_own_one(connection: Connection, service: Service) -> None:  # N2
    """And a list that fails in one of them is no empty one."""
    for what, region, id_ in (
        ("clusters", "us-central1", "cpu-1a2b3c4"),
        ("far clusters", "europe-west4", "cpu-9f8e7d6"),
    ):
        service[what] = {"persistentResources": [{"name": f"projects/1/locations/{region}/persistentResources/{id_}"}]}
    wanted = replace(WANTED, elsewhere=("europe-west4",))
    seen, _ = read(connection, wanted, off_is_empty=False)
    alone = seen.at("europe-west4", home=False).clusters
    assert not isinstance(seen.clusters, Unknown) and not isinstance(alone, Unknown)
    assert [cluster.id for cluster in seen.clusters] == ["cpu-1a2b3c4", "cpu-9f8e7d6"] and alone == seen.clusters[1:]
    assert set(seen.limits_elsewhere) == {"europe-west4"}
    service["far clusters"] = (403, {"error": {"code": 403, "message": "no", "status": "PERMISSION_DENIED"}})
    unread = read(connection, wanted, off_is_empty=False)[0].clusters
    assert isinstance(unread, Unknown) and unread.api.endswith("persistentResources.list in europe-west4")


@pytest.mark.parametrize(
    ("where", "said"),
    [
        ({"acme-work": "us-central1", "acme-work-us-east4": "us-east4"}, ""),
        ({"acme-work": "europe-west4"}, "gs://acme-work is in europe-west4, and jobs in us-central1 can't write"),
        ({"acme-work": "us"}, "gs://acme-work is in us, and jobs in us-central1 can't write"),
        (
            {"acme-work-us-east4": "us-west1"},
            "gs://acme-work-us-east4 is in us-west1, and jobs in us-east4 can't write",
        ),
    ],
)
def test_a_work_bucket_is_where_its_jobs_are(seen: Seen, where: dict[str, str], said: str) -> None:  # N2 N13
    """An adopted one may be anywhere, and the service refuses a job whose output is in another region."""
    seen.live = replace(LIVE, buckets=frozenset(where), locations=where)
    spec = world.spec()
    stack = replace(STACK, clusters=(replace(spec, alternatives=(Alternative(spec.pools, "us-east4"),)),))
    if said:
        with pytest.raises(ConfigError) as error:
            read_plan(stack)
        assert said in error.value.what and "slipway:workspace.workBucket" in error.value.why
    else:
        read_plan(stack)
    assert seen.asked[0].buckets == ("acme-catalog", "acme-work", "acme-work-us-east4")


@pytest.mark.parametrize(
    ("file", "known", "published", "regions"),
    [
        ("europe-west4", State(), "", [("europe-west4",)]),
        ("", State(clusters=(StateResource("cpu-1", "cpu-1", "acme-dev", "us-east4"),)), "", [("us-east4",)]),
        ("", State(), "us-east4", [(), ("us-east4",)]),
        ("europe-west4", State(), "europe-west4", [("europe-west4",)]),
    ],
)
def test_clusters_are_looked_for_wherever_file_state_or_catalog_know_of_one(
    seen: Seen, file: str, known: State, published: str, regions: list[tuple[str, ...]]
) -> None:  # N2
    """A state that was lost, and an entry that is gone, leave the catalog to tell."""
    whole = Catalog("dev", "acme-dev", "us-central1", "", False, "acme-work", "", {}, (), {})
    whole = replace(whole, other_regions=(published,) if published else None)
    seen.live = replace(LIVE, catalog=PublishedCatalog(identity=Identity("", "dev"), whole=whole))
    spec = world.spec()
    spec = replace(spec, alternatives=(Alternative(spec.pools, file),)) if file else spec
    read_plan(replace(STACK, clusters=(spec,)), known=known)
    assert [request.elsewhere for request in seen.asked] == regions
