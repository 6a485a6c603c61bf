"""Deciding stops, in words, when what lives can't be told, and waits for clusters that are being made. # N1 # D2"""

from datetime import UTC, datetime

import pytest

from slipway.catalog.document import PublishedCatalog
from slipway.cloud.connection import Connection
from slipway.cloud.credentials import identity
from slipway.cloud.quotas import QuotaInfo, ReadQuota
from slipway.cluster import ClusterSpec, CurrentCluster
from slipway.deployment.actions import of_current
from slipway.deployment.live_plan import read_and_plan, settle
from slipway.deployment.live_reader import LiveScope, quota_info
from slipway.deployment.plan import Plan
from slipway.deployment.workspace_plan import trainer_email
from slipway.errors import ConfigError, ResourceError, SlipwayError, Timeout
from slipway.live import Live, Unknown
from slipway.stack.stack import Stack, WorkspaceSettings
from slipway.state import State, StateResource

STACK = Stack("dev", "acme-dev", "us-central1", WorkspaceSettings((), "acme-catalog", "acme-work", "trainer"))
NOW = datetime(2026, 11, 20, tzinfo=UTC)
NOBODY = {
    f"GOOGLE_{name}_CUSTOM_ENDPOINT": "http://127.0.0.1:1/v1/"
    for name in ("VERTEX_AI", "STORAGE", "IAM", "CLOUD_QUOTAS")
}


def silent(_: str) -> None:
    pass


def test_skip_reads_nothing_in_preview() -> None:
    live, plan = read_and_plan(STACK, {"SLIPWAY_LIVE": "skip"}, True, NOW, silent, silent)
    assert live.skipped
    assert "were not read" in plan.notes[0]


def test_skip_is_refused_outside_of_preview() -> None:
    with pytest.raises(ConfigError, match="SLIPWAY_LIVE=skip is only for previews"):
        read_and_plan(STACK, {"SLIPWAY_LIVE": "skip"}, False, NOW, silent, silent)


@pytest.mark.parametrize("preview", [True, False])
def test_a_misspelt_word_is_not_taken_for_none(preview: bool) -> None:
    with pytest.raises(ConfigError, match="invalid SLIPWAY_LIVE=skipp"):
        read_and_plan(STACK, {"SLIPWAY_LIVE": "skipp"}, preview, NOW, silent, silent)


@pytest.mark.parametrize("preview", [True, False])
def test_a_cloud_that_does_not_answer_stops_it_with_every_reason(preview: bool) -> None:
    with pytest.raises(ResourceError) as error:
        read_and_plan(STACK, {**NOBODY, "GOOGLE_OAUTH_ACCESS_TOKEN": "token"}, preview, NOW, silent, silent)
    assert "nothing was changed" in error.value.what
    reasons = error.value.why.splitlines()
    assert len(reasons) == 4
    assert "persistentResources.list" in reasons[0]
    assert "as the identity of GOOGLE_OAUTH_ACCESS_TOKEN" in reasons[0]
    assert "token" not in error.value.why.replace("ACCESS_TOKEN", "")
    assert "SLIPWAY_PURPOSE=destroy pulumi destroy --run-program" in error.value.fix


@pytest.mark.parametrize("preview", [True, False])
def test_an_identity_without_the_role_is_told_which_api_and_which_role(
    monkeypatch: pytest.MonkeyPatch, preview: bool
) -> None:  # N1 P5
    denied = Unknown(
        "Permission 'aiplatform.persistentResources.list' denied",
        "aiplatform.googleapis.com persistentResources.list",
        "roles/aiplatform.viewer",
        "ada",
    )
    live = Live(clusters=denied, jobs=(), limits={}, catalog=None)
    monkeypatch.setattr("slipway.deployment.live_plan.read", lambda *_, **__: (live, []))
    with pytest.raises(ResourceError) as error:
        read_and_plan(STACK, {**NOBODY, "GOOGLE_OAUTH_ACCESS_TOKEN": "t"}, preview, NOW, silent, silent)
    assert "persistentResources.list as ada: Permission" in error.value.why
    assert error.value.why.endswith("it needs roles/aiplatform.viewer")


@pytest.mark.parametrize(("preview", "reader"), [(False, quota_info), (True, QuotaInfo.read)])
def test_limits_are_read_of_what_is_drawn_alone_and_for_a_deployment_by_the_official_message(
    monkeypatch: pytest.MonkeyPatch, preview: bool, reader: ReadQuota
) -> None:
    """D9. A preview does not import that; tests/slipway/deployment/test_quota_limits.py holds both to each other."""
    asked: list[LiveScope] = []

    def read(_: Connection, wanted: LiveScope, **__: object) -> tuple[Live, list[str]]:
        asked.append(wanted)
        return Live(clusters=(), jobs=(), limits={}, catalog=None), []

    monkeypatch.setattr("slipway.deployment.live_plan.read", read)
    drawn = frozenset({"custom_model_training_cpus"})
    read_and_plan(STACK, {**NOBODY, "GOOGLE_OAUTH_ACCESS_TOKEN": "token"}, preview, NOW, silent, silent, metrics=drawn)
    assert {(wanted.metrics, wanted.read_quota) for wanted in asked} == {(drawn, reader)}


@pytest.mark.parametrize(
    ("catalog", "beside", "fails"),
    [
        (None, None, False),
        (PublishedCatalog(stack="dev"), None, False),
        (PublishedCatalog(), None, False),
        (PublishedCatalog(stack="prod"), None, True),
        (PublishedCatalog(stack="dev"), PublishedCatalog(stack="prod"), True),
        (PublishedCatalog(stack="dev"), PublishedCatalog(stack="dev"), False),
        (PublishedCatalog(stack="dev"), Unknown("denied", "storage", "a role"), True),
    ],
)
def test_another_stacks_catalog_is_not_overwritten(
    monkeypatch: pytest.MonkeyPatch,
    catalog: PublishedCatalog | None,
    beside: PublishedCatalog | Unknown | None,
    fails: bool,
) -> None:
    """Its submitters would be sent to this stack's clusters, and its packages go with this stack."""
    live = Live(clusters=(), jobs=(), limits={}, catalog=catalog, beside=beside)
    monkeypatch.setattr("slipway.deployment.live_plan.read", lambda *_, **__: (live, []))
    environ = {**NOBODY, "GOOGLE_OAUTH_ACCESS_TOKEN": "token"}
    if not fails:
        read_and_plan(STACK, environ, True, NOW, silent, silent)
        return
    with pytest.raises(ResourceError) as error:
        read_and_plan(STACK, environ, True, NOW, silent, silent)
    expected = "denied" if isinstance(beside, Unknown) else "gs://acme-catalog has the catalog of stack prod"
    assert expected in error.value.why


@pytest.mark.parametrize("beside", [None, PublishedCatalog(stack="prod")])
@pytest.mark.parametrize("bucket", ["prod-catalog", STACK.workspace.catalog_bucket])
def test_the_catalog_of_a_stack_that_was_renamed_is_not_to_be_deleted(
    monkeypatch: pytest.MonkeyPatch, beside: PublishedCatalog | None, bucket: str
) -> None:  # B1
    """It is the stack's own, and tells which clusters are protected."""
    live = Live(clusters=(), jobs=(), limits={}, catalog=PublishedCatalog(stack="prod"), beside=beside)
    monkeypatch.setattr("slipway.deployment.live_plan.read", lambda *_, **__: (live, []))
    environ = {**NOBODY, "GOOGLE_OAUTH_ACCESS_TOKEN": "token"}
    known = State(catalog_bucket=bucket)
    if beside and bucket == "prod-catalog":
        with pytest.raises(ResourceError, match=r"delete gs://acme-catalog/catalog\.json"):
            read_and_plan(STACK, environ, True, NOW, silent, silent, known=known)
        return
    with pytest.raises(ConfigError, match="stack dev was called prod and can't be renamed"):
        read_and_plan(STACK, environ, True, NOW, silent, silent, known=known)


@pytest.mark.parametrize(
    ("called", "ours", "fails"),
    [
        ("Slipway trainer (prod)", False, True),
        ("Slipway trainer (prod)", True, False),
        ("Slipway trainer (dev)", False, False),
        ("made by hand", False, False),
    ],
)
def test_another_stacks_trainer_is_not_adopted(
    monkeypatch: pytest.MonkeyPatch, called: str, ours: bool, fails: bool
) -> None:
    """A destruction of the one stack would take from the other's jobs the account that they run as."""
    address = trainer_email(STACK.workspace.trainer, STACK.project)
    live = Live(clusters=(), jobs=(), limits={}, catalog=None, service_accounts={address: called})
    monkeypatch.setattr("slipway.deployment.live_plan.read", lambda *_, **__: (live, []))
    environ = {**NOBODY, "GOOGLE_OAUTH_ACCESS_TOKEN": "token"}
    known = State(accounts=(StateResource("trainer", address, STACK.project),) if ours else ())
    if not fails:
        read_and_plan(STACK, environ, True, NOW, silent, silent, known=known)
        return
    with pytest.raises(ResourceError) as error:
        read_and_plan(STACK, environ, True, NOW, silent, silent, known=known)
    assert address in error.value.why and "trainer of stack prod" in error.value.why


def test_a_stack_whose_state_can_not_be_told_is_not_deployed() -> None:
    """Under a wrong logical name a bucket would be adopted, and deleted under its right one."""
    known = Unknown("no such function", "the engine", "a newer Pulumi")
    environ = {**NOBODY, "GOOGLE_OAUTH_ACCESS_TOKEN": "token"}
    with pytest.raises(ResourceError) as error:
        read_and_plan(STACK, environ, True, NOW, silent, silent, known=known)
    assert "engine: no such function" in error.value.why
    live, _ = read_and_plan(STACK, {"SLIPWAY_LIVE": "skip"}, True, NOW, silent, silent, known=known)
    assert live.skipped


def test_an_endpoint_that_is_none_is_an_error_of_configuration() -> None:
    environ = {"GOOGLE_VERTEX_AI_CUSTOM_ENDPOINT": "localhost", "GOOGLE_OAUTH_ACCESS_TOKEN": "token"}
    with pytest.raises(SlipwayError) as error:
        read_and_plan(STACK, environ, True, NOW, silent, silent)
    assert error.value.exit_code == 2


def test_who_asks_is_named_as_far_as_it_is_known() -> None:
    assert identity({"GOOGLE_IMPERSONATE_SERVICE_ACCOUNT": "preview@acme.iam.gserviceaccount.com"}).startswith(
        "preview@"
    )
    assert identity({}) == "the application default credentials"


def test_the_trainers_address_of_a_project_in_a_domain() -> None:
    assert trainer_email("trainer", "acme-dev") == "trainer@acme-dev.iam.gserviceaccount.com"
    assert trainer_email("trainer", "example.com:team") == "trainer@team.example.com.iam.gserviceaccount.com"


LIVE = Live(clusters=(), jobs=(), limits={}, catalog=None)
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
        return settle(self.read, self.decide, self.said.append, wait=wait, sleep=self.slept.append)[1]


def test_nothing_to_wait_for() -> None:
    story = Story(Plan())
    assert story.run(wait=True) == Plan()
    assert (story.reads, story.slept, story.said) == (1, [], [])


def test_it_reads_and_plans_again_until_the_cluster_is_made() -> None:
    ready = Plan(notes=("ready",))
    story = Story(WAITING, WAITING, ready)
    assert story.run(wait=True) == ready
    assert (story.reads, story.slept) == (3, [10, 10])
    assert len(story.said) == 1 and "waiting for cpu-1a2b3c4" in story.said[0]


def test_preview_shows_the_plan_as_it_is() -> None:
    story = Story(WAITING)
    assert story.run(wait=False) is WAITING
    assert story.slept == []


def test_it_does_not_wait_for_ever() -> None:
    with pytest.raises(Timeout, match="cpu-1a2b3c4 is still being made"):
        Story(WAITING).run(wait=True)
