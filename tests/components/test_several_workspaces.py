"""Several workspaces in one program: whose each component is, and a workspace that is taken out. # N33 # N34"""

from dataclasses import replace
from typing import Any

import pytest

import components as slipway
from components import testing
from slipway.model.facts import WORKSPACE
from slipway.model.state import State, StateGrant, StateResource
from tests.components.conftest import PROJECT, REGION, declared, every, unique
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


@pytest.mark.parametrize("has", ["cluster", "submitters"])
def test_a_workspace_in_use_that_a_program_lacks_is_refused_by_its_name(has: str) -> None:
    urns = {(WORKSPACE, name): f"urn:{name}" for name in ("us", "eu")}
    submits = StateGrant("eu-submit-group:ml@acme.example", "roles/aiplatform.user", "group:ml@acme.example")
    known = State(grants=(submits,) if has == "submitters" else (), urns=urns)
    said = "roles of group:ml@acme.example"
    if has == "cluster":
        there = StateResource("research-eu-1a2b3c4", "research-eu-1a2b3c4", PROJECT, "europe-west4", stack="dev-eu")
        known, said = replace(known, clusters=(there,)), "cluster research-eu-1a2b3c4"
    with knowing(known):
        refused(
            lambda: workspace("us"),
            f"(?s)Workspace eu is in the program no more.*it has {said}.*put Workspace eu and its Catalog back",
        )
    with knowing(State(urns=urns)):
        declared(lambda: workspace("us"))


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
