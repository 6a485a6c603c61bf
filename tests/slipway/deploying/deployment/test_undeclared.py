"""Entries that `pulumi import` adds by any name, and entries of resources that a program no longer declares."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from slipway.base.errors import ConfigError, PolicyError, ResourceError, SlipwayError
from slipway.deploying.deployment.strays import OwnNames
from slipway.deploying.deployment.undeclared import (
    Owners,
    own_second_entries,
    refuse_needed,
    refuse_second_entries,
    undeclared_entries,
)
from slipway.google.catalog.document import PublishedCatalog
from slipway.google.clusters import PersistentResource
from slipway.google.jobs import VertexJob
from slipway.google.live import InUse, Unknown
from slipway.model.cluster import Reservation
from slipway.model.identity import Identity
from slipway.model.origin import Program
from slipway.model.state import ACCOUNT, BUCKET, CLUSTER, OBJECT, RESERVATION, State, read
from tests.builders.catalogs import catalog as any_catalog

OWN = OwnNames(prefixes=["reg-"], catalogs=["reg-"], labels=["reg-infra--dev", "reg-infra--dev--reg"])
VISION = Identity("vision", "dev", "ml")
CATALOG_BUCKET, WORK_BUCKET = VISION.buckets("acme")
GROUP = "group:vision@acme.example"
HELD = "projects/acme/zones/us-central1-a/reservations/held"
WHOLE = replace(
    any_catalog(),
    stack="dev",
    project="acme",
    pulumi_project="vision",
    program=Program("dev", "ml"),
    work_bucket="lake",
    trainer="fit@acme.iam.gserviceaccount.com",
    reservations={"held": Reservation(HELD)},
    submitters={"fit@acme.iam.gserviceaccount.com": (GROUP,)},
)
PUBLISHED = PublishedCatalog(
    clusters={"a100": "a100-lent"},
    needs=frozenset({"lake", "fit@acme.iam.gserviceaccount.com"}),
    identity=VISION,
    whole=WHOLE,
)
READABLE = Owners({"acme": {CATALOG_BUCKET: PUBLISHED}})
PROJECT_GRANT, BUCKET_GRANT = "gcp:projects/iAMMember:IAMMember", "gcp:storage/bucketIAMMember:BucketIAMMember"
OLD_CLAIMS = [{"condition": {"matchesPrefixes": ["claims/"]}}]

NEEDED: dict[str, tuple[str, Mapping[str, Any]]] = {
    "empty work bucket": (BUCKET, {"name": "lake"}),
    "bucket of the catalog": (BUCKET, {"name": CATALOG_BUCKET}),
    "work bucket without a catalog": (BUCKET, {"name": WORK_BUCKET, "lifecycleRules": OLD_CLAIMS}),
    "account": (ACCOUNT, {"email": "fit@acme.iam.gserviceaccount.com", "displayName": "Fit"}),
    "package": (OBJECT, {"bucket": CATALOG_BUCKET, "name": "packages/nap.whl"}),
    "adopted cluster": (CLUSTER, {"name": "a100-lent", "labels": {}, "location": "us-central1"}),
    "reservation": (RESERVATION, {"id": HELD, "name": "held", "zone": "us-central1-a"}),
    "role on the project": (PROJECT_GRANT, {"role": "roles/logging.viewer", "member": GROUP}),
    "role on the catalog": (
        BUCKET_GRANT,
        {"role": "roles/storage.objectViewer", "member": GROUP, "bucket": f"b/{CATALOG_BUCKET}"},
    ),
}
UNNEEDED: dict[str, tuple[str, Mapping[str, Any]]] = {
    "bucket": (BUCKET, {"name": "acme-data"}),
    "account": (ACCOUNT, {"email": "web@acme.iam.gserviceaccount.com", "displayName": "Web"}),
    "object": (OBJECT, {"bucket": "acme-data", "name": "catalog.json"}),
    "reservation": (RESERVATION, {"id": f"{HELD}-2", "name": "held-2"}),
    "role": (PROJECT_GRANT, {"role": "roles/logging.viewer", "member": "group:web@acme.example"}),
    "other role": (PROJECT_GRANT, {"role": "roles/owner", "member": GROUP}),
}


def imported(type_: str, outputs: Mapping[str, Any]) -> State:
    body = {"type": type_, "outputs": {"project": "acme", **outputs}}
    return read({f"urn:pulumi:dev::reg-infra::{type_}::theirs": body})


def check(known: State, owners: Owners, own: OwnNames = OWN) -> None:
    refuse_needed(undeclared_entries(known, own), owners, own.labels, "acme", Program("dev", "reg"))


def rejected(known: State, owners: Owners, error: type[SlipwayError] = ConfigError) -> str:
    with pytest.raises(error) as rejection:
        check(known, owners)
    assert "pulumi state delete --stack dev --target-dependents 'urn:pulumi:dev::reg-infra::" in str(rejection.value)
    assert "::theirs' --force" in str(rejection.value)
    return str(rejection.value)


@pytest.mark.parametrize(("type_", "outputs"), NEEDED.values(), ids=NEEDED)
def test_what_another_deployment_needs_is_not_deleted(type_: str, outputs: Mapping[str, Any]) -> None:
    known = imported(type_, outputs)
    said = rejected(known, READABLE)
    assert "belongs to stack dev of Pulumi project vision, workspace ml, so nothing was changed" in said
    assert "the state of reg-infra/dev has it, as after `pulumi import` or `pulumi state move`" in said
    check(known, READABLE, replace(OWN, declared=[(type_, "theirs")]))
    check(known, READABLE, replace(OWN, declared=None))


@pytest.mark.parametrize(("type_", "outputs"), UNNEEDED.values(), ids=UNNEEDED)
def test_what_no_deployment_needs_is_deleted_as_usual(type_: str, outputs: Mapping[str, Any]) -> None:
    check(imported(type_, outputs), READABLE)


@pytest.mark.parametrize("type_", [BUCKET, ACCOUNT, RESERVATION])
def test_nothing_is_deleted_while_the_catalogs_cannot_be_read(type_: str) -> None:
    unread = Unknown("denied", "storage.googleapis.com buckets.list acme", "roles/storage.admin")
    said = rejected(imported(type_, {"name": "x", "email": "x@y", "id": "x"}), Owners({"acme": unread}), ResourceError)
    assert "can't tell whether another deployment needs" in said and "denied" in said


CLUSTER_ENTRY = imported(CLUSTER, {"name": "cpu-541bf10", "labels": {}, "location": "us-central1"})
(URN,) = (entry.urn for entry in CLUSTER_ENTRY.entries)


def cluster(**labels: str) -> PersistentResource:
    return PersistentResource(
        "projects/acme/locations/us-central1/persistentResources/cpu-541bf10", "RUNNING", labels, ()
    )


def test_a_cluster_tells_its_owner_by_its_live_labels() -> None:
    living = cluster(**{"slipway-stack": "vision--dev--ml"})
    said = rejected(CLUSTER_ENTRY, Owners({"acme": {}}, {URN: living}))
    assert "cluster cpu-541bf10 belongs to stack dev of Pulumi project vision, workspace ml" in said
    own = cluster(**{"slipway-stack": "reg-infra--dev--reg"})
    assert "is in the state a second time" in rejected(CLUSTER_ENTRY, Owners({"acme": {}}, {URN: own}))


def test_a_cluster_of_no_deployment_is_deleted_only_without_jobs() -> None:
    job = VertexJob("projects/acme/locations/us-central1/customJobs/1", "fit", "JOB_STATE_RUNNING", {})
    busy = Owners({"acme": {}}, {URN: cluster()}, {URN: InUse((job,))})
    said = rejected(CLUSTER_ENTRY, busy, PolicyError)
    assert "cluster cpu-541bf10" in said and "1 job has not ended" in said and "slipway jobs cancel" in said
    unread = Unknown("denied", "aiplatform.googleapis.com customJobs.list", "roles/aiplatform.viewer")
    rejected(CLUSTER_ENTRY, replace(busy, uses={URN: unread}), ResourceError)
    rejected(CLUSTER_ENTRY, Owners({"acme": {}}, {URN: unread}), ResourceError)
    check(CLUSTER_ENTRY, replace(busy, uses={URN: InUse()}))
    check(CLUSTER_ENTRY, Owners({"acme": {}}, {URN: None}))


def test_an_imported_entry_of_what_the_stack_has_already_is_rejected() -> None:
    head = "urn:pulumi:dev::reg-infra::slipway:index:Workspace$"
    grant = {"role": "roles/logging.viewer", "member": GROUP, "project": "acme"}
    for type_, logical, outputs in (
        (BUCKET, "reg-work", {"name": "reg-work-bucket"}),
        (PROJECT_GRANT, f"reg-logs-{GROUP}", grant),
    ):
        both = read(
            {
                f"{head}{type_}::{logical}": {"type": type_, "outputs": outputs},
                f"urn:pulumi:dev::reg-infra::{type_}::mine": {"type": type_, "outputs": outputs},
            }
        )
        with pytest.raises(ConfigError, match="is in the state a second time") as rejection:
            refuse_second_entries(undeclared_entries(both, OWN), both, Program("dev", "reg"))
        assert "::mine' --force" in str(rejection.value)


def test_entries_of_two_owners_are_refused_in_one_error() -> None:
    ours = replace(PUBLISHED, identity=Identity("speech", "dev", "ml"), whole=None, needs=frozenset({"acme-data"}))
    head, body = "urn:pulumi:dev::reg-infra::", {"type": BUCKET, "outputs": {"project": "acme"}}
    entries = {
        f"{head}{BUCKET}::theirs": {**body, "outputs": {"name": "lake"}},
        f"{head}{BUCKET}::data": {**body, "outputs": {"name": "acme-data"}},
    }
    owners = Owners({"acme": {CATALOG_BUCKET: PUBLISHED, "speech": ours}})
    said = rejected(read(entries), owners)
    assert all(text in said for text in ("gs://lake belongs", "gs://acme-data belongs", "::data' --force"))


@pytest.mark.parametrize("type_", [BUCKET, ACCOUNT])
def test_a_second_entry_of_a_resource_of_the_program_is_rejected(type_: str) -> None:
    """Pulumi would delete what the program declares, as after a rename without an alias and `pulumi import`."""
    body = {"type": type_, "outputs": {"name": "lake", "email": "fit@acme.iam.gserviceaccount.com"}}
    ends = ("::results", "::former")
    known = read({f"urn:pulumi:dev::reg-infra::{type_}{end}": body for end in ends})
    own = replace(OWN, declared=[(type_, "results")])
    with pytest.raises(ConfigError, match="is in the state a second time") as rejection:
        refuse_second_entries(undeclared_entries(known, own), known, Program("dev", "reg"))
    forget, instead = (
        f"pulumi state delete --stack dev 'urn:pulumi:dev::reg-infra::{type_}{end}' --force" for end in ends[::-1]
    )
    assert f"{forget}\nif Pulumi says that other resources depend on it" in rejection.value.fix
    assert rejection.value.fix.endswith(f"\n{instead}"), "the other one may have been imported"
    both = replace(OWN, declared=[(type_, "results"), (type_, "former")])
    refuse_second_entries(undeclared_entries(known, both), known, Program("dev", "reg"))
    none = replace(OWN, declared=[])
    refuse_second_entries(undeclared_entries(known, none), known, Program("dev", "reg"))


@pytest.mark.parametrize("type_", [BUCKET, ACCOUNT])
@pytest.mark.parametrize(
    ("former", "parent"), [("former", ""), ("results", "acme:ml:Ground"), ("former", "acme:ml:Ground")]
)
def test_so_is_one_by_a_former_name_or_parent_that_an_alias_tells(type_: str, former: str, parent: str) -> None:
    """Pulumi takes the present name, and deletes the resource by the other one."""
    body = {"type": type_, "outputs": {"name": "lake", "email": "fit@acme.iam.gserviceaccount.com"}}
    types = f"{parent}${type_}" if parent else type_
    old, new = f"urn:pulumi:dev::reg-infra::{types}::{former}", f"urn:pulumi:dev::reg-infra::{type_}::results"
    known = read({old: body, new: body})
    own = replace(OWN, declared=[(type_, "results"), (type_, "former")], present=[(type_, "results", "")])
    assert undeclared_entries(known, own) == ()
    with pytest.raises(ConfigError, match="is in the state a second time") as rejection:
        refuse_second_entries(own_second_entries(known, own), known, Program("dev", "reg"))
    assert rejection.value.fix.index(f"'{old}' --force") < rejection.value.fix.index(f"'{new}' --force")
    both = replace(own, present=[(type_, "results", ""), (type_, former, parent)])
    assert own_second_entries(known, both) == []
    assert own_second_entries(read({old: body}), own) == []
