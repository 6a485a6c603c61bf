"""Several workspaces in one program: whose each component is, and a workspace that is taken out. # N33 # N34"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pulumi
import pytest

import components as slipway
from components import testing
from components.taken_out import TakenOut
from components.world import CURRENT, NOTHING, World
from slipway.base.errors import ConfigError
from slipway.google.jobs import VertexJob
from slipway.google.live import Live, Unknown
from slipway.model.facts import WORKSPACE
from slipway.model.identity import Identity
from slipway.model.state import State, StateGrant, StateResource, WorkspacePlace
from tests.components.conftest import PROJECT, REGION, declared, every, failed, unique
from tests.components.test_own_program import GENERATION, POOLS, cluster, knowing, refused, workspace


def two() -> tuple[slipway.Workspace, slipway.Workspace]:
    return workspace("us"), workspace("eu", region="europe-west4")


def test_two_checks_ask_for_the_same_metric_in_two_places() -> None:
    def program() -> None:
        for ground in two():
            made = cluster(f"research-{ground.name}", workspace=ground)
            asks = slipway.QuotaCheckArgs(clusters=[made], mode="request", contact_email="ml@acme.example")
            slipway.QuotaCheck(f"quota-{ground.name}", asks)

    with testing.living(quota={"custom_model_training_cpus": 2}):
        asked = declared(program)
    unique(asked)
    requests = [each for each in asked if each.type.endswith("SQuotaPreference")]
    assert {each.inputs["dimensions"]["region"] for each in requests} == {REGION, "europe-west4"}


def living_in_eu() -> Any:
    args = slipway.PersistentResourceArgs(pools=POOLS)
    return testing.cluster("research-eu", args, workspace="eu", region="europe-west4")


def test_a_living_cluster_of_a_test_belongs_to_the_workspace_that_it_names() -> None:
    old: list[Any] = []

    def program() -> None:
        for ground in two():
            cluster(f"research-{ground.name}", workspace=ground)

    def edited() -> None:
        us, eu = two()
        cluster("research-us", workspace=us)
        cluster("research-eu", workspace=eu, labels={"cost": "r7"})

    old.append(living_in_eu())
    with testing.living(*old, jobs=[testing.Job("train", cluster=old[0].id)]):
        assert len(every(declared(program), GENERATION)) == 2
        names = every(declared(edited), GENERATION)
    assert len(names) == 3 and old[0].id in names


def both(**eu: Any) -> State:
    """Return a state with both workspaces; `eu`: what it has of that one."""
    places = {name: WorkspacePlace(name, PROJECT, region) for name, region in (("us", REGION), ("eu", "europe-west4"))}
    return State(urns={(WORKSPACE, name): f"urn:{name}" for name in places}, workspaces=places, **eu)


@pytest.mark.parametrize("preview", [True, False])
def test_a_workspace_that_a_program_lacks_goes_unless_a_job_needs_it(
    caplog: pytest.LogCaptureFixture, preview: bool
) -> None:
    there = StateResource("research-eu-1a2b3c4", "research-eu-1a2b3c4", PROJECT, "europe-west4", stack="dev-eu")
    job = VertexJob("train", "train", "JOB_STATE_RUNNING", {}, persistent_resource_id=there.name)
    known = both(clusters=(there,), grants=(StateGrant("eu-submit-user:a@b.c", "roles/aiplatform.user", "user:a@b.c"),))
    with knowing(known):
        caplog.set_level("INFO")
        asked = declared(lambda: workspace("us"), preview=preview)
        lost = "Workspace eu (europe-west4) is no longer in the program: it is deleted"
        assert f"{lost}, and cluster research-eu-1a2b3c4 with it" in caplog.text
        assert "eu" not in {each.name for each in asked} and not every(asked, GENERATION)
    with knowing(known, jobs=(job,)):
        words = (
            "(?s)Workspace eu can't be taken out, so nothing was changed: 1 job has not ended.*put Workspace eu back"
        )
        refused(lambda: workspace("us"), words, preview=preview)


def test_so_it_is_of_a_workspace_that_was_renamed_before() -> None:
    there = StateResource("research-1a2b3c4", "research-1a2b3c4", PROJECT, "europe-west4", stack="dev-eu")
    job = VertexJob("train", "train", "JOB_STATE_RUNNING", {}, persistent_resource_id=there.name)
    known = both(clusters=(there,))
    renamed = {"us": known.workspaces["us"], "emea": known.workspaces["eu"]}
    with knowing(replace(known, workspaces=renamed), jobs=(job,)):
        refused(lambda: workspace("us"), "Workspace emea can't be taken out")


def test_a_component_whose_workspace_can_t_be_told_is_refused_with_the_argument_to_write() -> None:
    def program() -> None:
        two()
        cluster()

    refused(program, r"workspace of PersistentResource research can't be told(.|\n)*us and eu(.|\n)*`workspace=…`")


def test_a_component_of_two_workspaces_is_refused() -> None:
    def program() -> None:
        ours = [cluster(f"research-{ground.name}", workspace=ground) for ground in two()]
        slipway.QuotaCheck("quota", slipway.QuotaCheckArgs(clusters=ours))

    refused(program, "belongs to us and eu")


def test_a_cluster_elsewhere_than_its_workspace_is_refused() -> None:
    def program() -> None:
        cluster(workspace=workspace(), region="europe-west4")

    refused(
        program,
        r"(?s)PersistentResource research is in europe-west4 of acme-dev, and workspace ml in us-central1 of acme-dev"
        r".*fix: `region='us-central1'` among its arguments, or `workspace=…` with a Workspace of its own there",
    )


def test_a_workspace_whose_state_was_moved_here_is_not_taken_down() -> None:
    """`pulumi state move` moves no bucket and no account: their own stack still needs them."""
    account = "trainer@acme.iam.gserviceaccount.com"
    known = State(
        workspaces={"ml": WorkspacePlace("ml", "acme", "us-central1")},
        accounts=(StateResource("trainer", account, "acme"),),
        called={account: "Slipway trainer (trial-ml)"},
    )
    run: Any = SimpleNamespace(name="other", world=None, identity=lambda workspace: Identity("", "other", workspace))
    moved = TakenOut(run, known, "ml")
    moved.know(known)
    with pytest.raises(ConfigError, match="Workspace ml belongs to stack trial-ml") as rejection:
        moved.refuse()
    assert "pulumi state delete --stack other" in str(rejection.value)


class Partly(World):
    """A world of which one region can't be read."""

    def seen(self, region: str, metrics: Iterable[str]) -> Live:
        live = super().seen(region, metrics)
        if region == REGION:
            return live
        return replace(live, clusters=Unknown("503 UNAVAILABLE", f"persistentResources in {region}", "later"))


@pytest.fixture
def eu_is_down() -> Iterator[None]:
    token = CURRENT.set(Partly(NOTHING.live, both()))
    yield
    CURRENT.reset(token)


def of_both() -> None:
    for ground in two():
        made = cluster(f"research-{ground.name}", workspace=ground)
        quota = slipway.QuotaCheck(f"quota-{ground.name}", slipway.QuotaCheckArgs(clusters=[made]))
        slipway.Catalog(ground.name, slipway.CatalogArgs(workspace=ground, quota=quota))


OBJECT = "gcp:storage/bucketObject:BucketObject"


@pytest.mark.parametrize("preview", [True, False])
@pytest.mark.usefixtures("eu_is_down")
class TestRegionDown:
    """The other workspaces are deployed. Then the program fails, so that Pulumi deletes nothing undeclared."""

    def test_the_workspace_that_can_t_be_read_is_left_as_it_is(self, preview: bool) -> None:
        asked, error = failed(of_both, preview=preview)
        assert "workspace eu (europe-west4): what to deploy can't be decided" in error
        assert "503 UNAVAILABLE" in error
        names = {each.name for each in asked}
        assert not any("eu" in name for name in names), names
        assert len(every(asked, GENERATION)) == 1
        assert "us-catalog" in every(asked, OBJECT), "published last of all"

    def test_a_resource_of_the_program_itself_that_needs_the_other_one_is_not_waited_for(self, preview: bool) -> None:
        def program() -> None:
            us, eu = two()
            cluster("research-us", workspace=us)
            pulumi.ComponentResource("own:it:Needs", "both", {}, pulumi.ResourceOptions(depends_on=[us, eu]))
            pulumi.ComponentResource("own:it:Needs", "one", {}, pulumi.ResourceOptions(depends_on=[us]))

        asked, _ = failed(program, preview=preview)
        assert "one" in {each.name for each in asked} and "both" not in {each.name for each in asked}

    def test_a_workspace_that_depends_on_it_is_left_too(self, preview: bool) -> None:
        def program() -> None:
            eu = workspace("eu", region="europe-west4")
            args = slipway.WorkspaceArgs(project=PROJECT, region=REGION)
            slipway.Workspace("us", args, pulumi.ResourceOptions(depends_on=[eu]))

        asked, error = failed(program, preview=preview)
        assert asked == []
        assert "2 workspaces can't be deployed" in error
        assert "workspace us (us-central1): it depends on Workspace eu" in error

    def test_a_mistake_is_the_whole_program_s(self, preview: bool) -> None:
        def program() -> None:
            for ground in two():
                cluster(f"research-{ground.name}", workspace=ground, region="asia-east1")

        asked, _ = failed(program, preview=preview)
        assert asked == []


def test_what_is_rejected_in_a_preview_of_several_is_told_of_each() -> None:
    def program() -> None:
        for ground in two():
            made = cluster(f"research-{ground.name}", workspace=ground)
            asks = slipway.QuotaCheckArgs(clusters=[made], mode="enforce")
            slipway.QuotaCheck(f"quota-{ground.name}", asks)

    with testing.living(quota={"custom_model_training_cpus": 2}):
        _, error = failed(program, preview=True)
    assert "2 workspaces can't be deployed" in error
    assert "workspace us (us-central1): " in error and "workspace eu (europe-west4): " in error
