"""Buckets and accounts of the program that exist already: under another name in the state, or of others. # N33 # N1"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pulumi
import pulumi_gcp as gcp
import pytest

from components.namesakes import retained, watch
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
    return State(**{"catalogs": (CATALOG,), "entries": entries, "names": names, **known})


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


def below(component: str, type_: str, name: str, opts: pulumi.ResourceOptions | None = None) -> Callable[[], None]:
    """Return a program with a resource in a component of its own."""

    def program() -> None:
        watch()
        parent = pulumi.ComponentResource("acme:ml:Ground", component, opts=opts)
        own(type_, name, pulumi.ResourceOptions(parent=parent))()

    return program


@pytest.mark.parametrize("type_", [BUCKET, ACCOUNT])
def test_so_is_one_in_a_component_of_the_program(type_: str) -> None:
    former = entry(type_, "former", "acme:ml:Ground")
    with (
        knowing(deployed(nested=(former,))),
        pytest.raises(pulumi.RunError, match="in the state under the name former") as error,
    ):
        declared(below("ground", type_, "results"))
    assert f"'{former.urn}' results" in str(error.value), "the component stays its parent"


@pytest.mark.parametrize("known", ["former", "other"])
def test_a_renamed_component_tells_the_former_names_of_its_children(known: str) -> None:
    """Pulumi gives children the aliases of their parents, where their names begin alike."""
    renamed = pulumi.ResourceOptions(aliases=[pulumi.Alias(name="former")])
    with knowing(deployed(nested=(entry(BUCKET, f"{known}-results", "acme:ml:Ground"),))):
        if known == "former":
            declared(below("ground", BUCKET, "ground-results", renamed))
            return
        with pytest.raises(pulumi.RunError, match="in the state under the name other-results"):
            declared(below("ground", BUCKET, "ground-results", renamed))


@pytest.mark.parametrize("type_", [BUCKET, ACCOUNT])
def test_a_former_parent_is_told_by_an_alias_as_no_command_changes_it(type_: str) -> None:
    """The preview said `delete`, and nothing rejected it; `pulumi import` made it come true."""
    outside, inside = entry(type_, "results"), entry(type_, "results", "acme:ml:Ground")
    with knowing(deployed(outside)), pytest.raises(pulumi.RunError, match="outside of any component") as error:
        declared(below("ground", type_, "results"))
    assert f"aliases=['{outside.urn}']" in str(error.value) and "state rename" not in str(error.value)
    with knowing(deployed(nested=(inside,), names=frozenset({(type_, "results")}))):
        with pytest.raises(pulumi.RunError, match="below a component of type acme:ml:Ground") as error:
            declared(own(type_, "results"))
        assert f"aliases=['{inside.urn}']" in str(error.value)
        declared(own(type_, "results", pulumi.ResourceOptions(aliases=[inside.urn])))


def test_an_alias_of_another_name_tells_nothing() -> None:
    wrong = pulumi.ResourceOptions(aliases=[pulumi.Alias(name="other")])
    with knowing(deployed(entry(BUCKET, "former"))), pytest.raises(pulumi.RunError, match="under the name former"):
        declared(own(BUCKET, "results", wrong))


def test_what_the_program_only_reads_has_another_name() -> None:
    def program() -> None:
        watch()
        gcp.storage.Bucket.get("look", BUCKET_NAME)
        own(BUCKET, "results", pulumi.ResourceOptions(import_=BUCKET_NAME))()

    with knowing(deployed(entry(BUCKET, "look"))):
        declared(program)


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


def test_a_destruction_leaves_what_is_retained_and_what_is_only_read() -> None:
    found: set[tuple[str, str]] = set()

    def program() -> None:
        watch()
        keeps = pulumi.ResourceOptions(retain_on_delete=True)
        parent = pulumi.ComponentResource("acme:ml:Ground", "ground", opts=keeps)
        own(BUCKET, "kept", pulumi.ResourceOptions(parent=parent))()
        own(BUCKET, "goes", pulumi.ResourceOptions(parent=parent, retain_on_delete=False))()
        own(ACCOUNT, "runner")()
        gcp.storage.Bucket.get("look", BUCKET_NAME)
        found.update(retained())

    names = frozenset({(BUCKET, "kept"), (BUCKET, "goes"), (ACCOUNT, "runner")})
    with knowing(deployed(names=names)):
        declared(program)
    assert {name for _, name in found} == {"ground", "kept", "look"}
