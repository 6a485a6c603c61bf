"""Buckets and accounts of the program that exist already: under another name in the state, or of others. # N33 # N1"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pulumi
import pulumi_gcp as gcp
import pytest

from components.namesakes import watch
from components.world import CURRENT
from slipway.google.catalog.document import PublishedCatalog
from slipway.model.facts import WORKSPACE
from slipway.model.identity import Identity
from slipway.model.state import ACCOUNT, BUCKET, State, StateEntry
from tests.components.conftest import PROJECT, declared
from tests.components.test_own_program import CATALOG, knowing

BUCKET_NAME = "acme-results"
EMAIL = f"own-runner@{PROJECT}.iam.gserviceaccount.com"
NAMES = {BUCKET: BUCKET_NAME, ACCOUNT: EMAIL}


def own(type_: str, name: str, opts: pulumi.ResourceOptions | None = None) -> Callable[[], None]:
    """Return a program with a resource of its own."""

    def program() -> None:
        watch()  # as by the import
        if type_ == BUCKET:
            gcp.storage.Bucket(name, name=BUCKET_NAME, location="US-CENTRAL1", opts=opts)
        else:
            gcp.serviceaccount.Account(name, account_id="own-runner", project=PROJECT, opts=opts)

    return program


def entry(type_: str, logical: str, parent: str = "") -> StateEntry:
    types = f"{parent}${type_}" if parent else type_
    urn = f"urn:pulumi:dev::slipway::{types}::{logical}"
    return StateEntry(urn, type_, parent, logical, NAMES[type_], project=PROJECT)


def deployed(*entries: StateEntry, **known: Any) -> State:
    names = frozenset((each.type, each.logical) for each in entries)
    return State(catalogs=(CATALOG,), entries=entries, names=names, **known)


@pytest.fixture(autouse=True)
def both_exist() -> Iterator[None]:
    world = CURRENT.get()
    live = replace(world.live, buckets=frozenset({BUCKET_NAME}), service_accounts={EMAIL: ""})
    token = CURRENT.set(replace(world, live=live))
    yield
    CURRENT.reset(token)


@pytest.mark.parametrize("preview", [True, False])
@pytest.mark.parametrize("imported", [True, False])
@pytest.mark.parametrize("type_", [BUCKET, ACCOUNT])
def test_a_resource_that_the_state_has_under_another_name_is_renamed_and_not_imported(
    type_: str, imported: bool, preview: bool
) -> None:
    """Pulumi would import the new entry, and delete the resource by the old one."""
    opts = pulumi.ResourceOptions(import_=NAMES[type_] if imported else None)
    former = entry(type_, "former")
    with knowing(deployed(former)), pytest.raises(pulumi.RunError, match="in the state under the name former") as error:
        declared(own(type_, "results", opts), preview=preview)
    said = str(error.value)
    assert f"pulumi state rename --stack dev '{former.urn}' results" in said, said
    assert "aliases=[pulumi.Alias(name='former')]" in said and "pulumi import" not in said, said
    renamed = pulumi.ResourceOptions(aliases=[pulumi.Alias(name="former")])
    with knowing(deployed(former)):
        declared(own(type_, "results", renamed), preview=preview)


def test_so_is_one_that_a_workspace_uses_in_a_component_of_the_program() -> None:
    urn = f"urn:pulumi:dev::slipway::acme:ml:Ground${BUCKET}::former"
    with (
        knowing(deployed(lent={urn: BUCKET_NAME})),
        pytest.raises(pulumi.RunError, match="in the state under the name former") as error,
    ):
        declared(own(BUCKET, "results"))
    assert f"'{urn}' results" in str(error.value), "the component stays its parent"


@pytest.mark.parametrize("type_", [BUCKET, ACCOUNT])
def test_what_a_workspace_declares_is_not_declared_again(type_: str) -> None:
    with (
        knowing(deployed(entry(type_, "ml-work", WORKSPACE))),
        pytest.raises(pulumi.RunError, match="in the state under the name ml-work") as error,
    ):
        declared(own(type_, "results"))
    assert "remove results from the program, or choose another name" in str(error.value)
    assert "state rename" not in str(error.value) and "pulumi import" not in str(error.value)


# -- what other deployments use --


class publishing:  # noqa: N801 - a context, as `testing.living` is
    """Let these catalogs be published, by their buckets."""

    def __init__(self, **catalogs: PublishedCatalog) -> None:
        self.catalogs = catalogs

    def __enter__(self) -> None:
        world = CURRENT.get()
        self.token = CURRENT.set(replace(world, live=replace(world.live, neighbours=self.catalogs)))

    def __exit__(self, *_: object) -> None:
        CURRENT.reset(self.token)


def of(project: str, stack: str) -> PublishedCatalog:
    return PublishedCatalog(needs=frozenset(NAMES.values()), identity=Identity(project, stack, "ml"))


USE = {
    BUCKET: "work_bucket='acme-results'",
    ACCOUNT: "trainer='own-runner'",
}


@pytest.mark.parametrize("preview", [True, False])
@pytest.mark.parametrize("type_", [BUCKET, ACCOUNT])
def test_a_new_stack_whose_names_another_deployment_uses_is_rejected_first(type_: str, preview: bool) -> None:
    """Pulumi would create the rest, and fail for these (409)."""
    with (
        knowing(State()),
        publishing(theirs=of("slipway", "prod")),
        pytest.raises(pulumi.RunError, match="is used by stack prod of Pulumi project slipway, workspace ml") as error,
    ):
        declared(own(type_, "results"), preview=preview)
    assert "another name for each stack, such as one with `pulumi.get_stack()` in it" in str(error.value)
    with (
        knowing(State()),
        publishing(theirs=of("speech", "dev")),
        pytest.raises(pulumi.RunError, match="is used by stack dev of Pulumi project speech, workspace ml") as error,
    ):
        declared(own(type_, "results"), preview=preview)
    assert USE[type_] in str(error.value) and "pulumi import" not in str(error.value)


@pytest.mark.parametrize("type_", [BUCKET, ACCOUNT])
def test_so_is_a_new_stack_whose_names_are_in_use_otherwise(type_: str) -> None:
    with knowing(State()), pytest.raises(pulumi.RunError, match="exists, and the state of") as error:
        declared(own(type_, "results"), preview=True)
    assert "choose another name" in str(error.value)
    # A lost state has messages of its own.
    with knowing(State()), publishing(mine=of("slipway", "dev"), theirs=of("speech", "dev")):
        declared(own(type_, "results"), preview=True)


@pytest.mark.parametrize("type_", [BUCKET, ACCOUNT])
def test_what_another_deployment_uses_is_not_imported(type_: str) -> None:
    opts = pulumi.ResourceOptions(import_=NAMES[type_])
    with (
        knowing(deployed()),
        publishing(theirs=of("speech", "dev")),
        pytest.raises(pulumi.RunError, match="is used by stack dev of Pulumi project speech, workspace ml"),
    ):
        declared(own(type_, "results", opts))
    other = replace(entry(type_, "results"), name="acme-other")
    with (
        knowing(deployed(other)),
        publishing(theirs=of("speech", "dev")),
        pytest.raises(pulumi.RunError, match="is used by stack dev of Pulumi project speech, workspace ml"),
    ):
        declared(own(type_, "results"))
    for catalogs in ({}, {"mine": of("slipway", "dev"), "theirs": of("speech", "dev")}):
        with knowing(deployed()), publishing(**catalogs):
            declared(own(type_, "results", opts))


@pytest.mark.parametrize("type_", [BUCKET, ACCOUNT])
def test_what_the_program_made_stays_its_own_whoever_uses_it(type_: str) -> None:
    with knowing(deployed(entry(type_, "results"))), publishing(theirs=of("speech", "dev")):
        declared(own(type_, "results"))
    both = publishing(mine=of("slipway", "dev"), theirs=of("speech", "dev"))
    with knowing(deployed()), both, pytest.raises(pulumi.RunError, match="pulumi import"):
        declared(own(type_, "results"))
