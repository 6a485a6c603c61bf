"""Entries of Pulumi's state that `pulumi state move` brought, or that `pulumi state rename` renamed. # N1"""

from typing import Any

import pytest

from slipway.base.errors import ConfigError
from slipway.deploying.deployment.strays import OwnNames, refuse_strays
from slipway.model.origin import Program
from slipway.model.state import ACCOUNT, BUCKET, CLUSTER, OBJECT, read

HEAD = "urn:pulumi:dev::reg-infra::slipway:index:"
PROJECT_GRANT, BUCKET_GRANT, ACCOUNT_GRANT = (
    "gcp:projects/iAMMember:IAMMember",
    "gcp:storage/bucketIAMMember:BucketIAMMember",
    "gcp:serviceaccount/iAMMember:IAMMember",
)
GROUP = "group:ml@acme.example"
REG, OF_REG = "acme-reg-infra--dev--reg", "reg-infra--dev--reg"
VISION, OF_VISION = "acme-vision--dev--ml", "vision--dev--ml"
OWN = OwnNames(prefixes=["reg-"], catalogs=["reg-"], labels=["reg-infra--dev", OF_REG])
Entries = dict[str, dict[str, Any]]


def entry(types: str, logical: str, /, **outputs: Any) -> Entries:
    return {f"{HEAD}{types}::{logical}": {"type": types.rpartition("$")[2], "outputs": outputs}}


def account(logical: str, owner: str, id_: str = "") -> Entries:
    email = f"{id_ or owner}@acme.iam.gserviceaccount.com"
    return entry(f"Workspace${ACCOUNT}", logical, email=email, displayName=f"Slipway trainer ({owner})")


def bucket(logical: str, name: str) -> Entries:
    return entry(f"Workspace${BUCKET}", logical, name=name)


def object_(parent: str, logical: str, bucket: str) -> Entries:
    name = "catalog.json" if parent == "Catalog" else "clusters/asked-for.json"
    return entry(f"{parent}${OBJECT}", logical, bucket=bucket, name=name)


def on_project(logical: str, role: str = "roles/aiplatform.user", member: str = GROUP) -> Entries:
    return entry(f"Workspace${PROJECT_GRANT}", logical, role=role, member=member)


def on_bucket(logical: str, role: str, member: str, bucket: str) -> Entries:
    return entry(f"Workspace${BUCKET_GRANT}", logical, role=role, member=member, bucket=f"b/{bucket}")


def cluster(logical: str, id_: str, stack: str) -> Entries:
    return {
        **entry("Generation", id_, id=id_, stack=stack),
        **entry(f"Generation${CLUSTER}", logical, name=id_),
    }


def of(name: str, base: str, label: str) -> Entries:
    """What a workspace of this name declares, each of every kind."""
    trainer = f"serviceAccount:{label}@acme.iam.gserviceaccount.com"
    named = f"serviceAccount:vit-{label}@acme.iam.gserviceaccount.com"
    return {
        **account(f"{name}trainer", label),
        **account(f"{name}trainer.vit-{label}", label, f"vit-{label}"),
        **bucket(f"{name}catalog", f"{base}-catalog"),
        **bucket(f"{name}work.lent", "lent"),
        **bucket(f"{name}work@{base}-work-us-east4", f"{base}-work-us-east4"),
        **object_("Workspace", f"{name}creation", f"{base}-catalog"),
        **object_("Catalog", f"{name}catalog", f"{base}-catalog"),
        **on_project(f"{name}submit-{GROUP}"),
        **on_project(f"{name}logs-user:Ada@acme.example", "roles/logging.viewer", "user:ada@acme.example"),
        **on_project(
            f"{name}logs-user:bob@acme.example", "roles/logging.viewer", "deleted:user:bob@acme.example?uid=1"
        ),
        **on_project(f"{name}trainer-aiplatform.user", member=trainer),
        **on_bucket(f"{name}trainer-reads-catalog", "roles/storage.objectViewer", trainer, f"{base}-catalog"),
        **on_bucket(f"{name}trainer.vit-writes-work.lent", "roles/storage.objectUser", named, "lent"),
        **on_bucket(f"{name}reads-catalog-{GROUP}", "roles/storage.objectViewer", GROUP, f"{base}-catalog"),
        **on_bucket(f"{name}creates-work.lent-{GROUP}", "roles/storage.objectCreator", GROUP, "lent"),
        **entry(
            f"Workspace${ACCOUNT_GRANT}",
            f"{name}act-as-trainer-{GROUP}",
            role="roles/iam.serviceAccountUser",
            member=GROUP,
            serviceAccountId=f"projects/acme/serviceAccounts/{trainer}",
        ),
        **cluster(f"{label[:3]}-1a2b3c4", f"{label[:3]}-1a2b3c4", label),
    }


HERE = of("reg-", REG, OF_REG)
THERE = of("ml-", VISION, OF_VISION)
CLOUD = sorted(urn for urn in THERE if "$" in urn)


def refused(entries: Entries, own: OwnNames = OWN) -> str:
    with pytest.raises(ConfigError) as error:
        refuse_strays(read(entries), own, Program("dev", "reg"))
    return str(error.value)


def accepted(entries: Entries, own: OwnNames = OWN) -> None:
    refuse_strays(read(entries), own, Program("dev", "reg"))


def test_what_a_program_declares_is_its_own() -> None:
    accepted(HERE)
    accepted(of("", REG, OF_REG), OwnNames([""], [""], [OF_REG]))
    accepted({**HERE, **THERE}, OwnNames(["ml-", "reg-"], ["ml-", "reg-"], [OF_REG, OF_VISION]))


def test_a_catalog_whose_component_had_another_name_is_its_own() -> None:
    accepted({**HERE, **object_("Catalog", "old-catalog", f"{REG}-catalog")})


@pytest.mark.parametrize("urn", CLOUD, ids=[urn.rpartition("$")[2] for urn in CLOUD])
def test_an_entry_that_was_moved_here_is_refused_with_the_command_that_removes_it(urn: str) -> None:
    components = {each: body for each, body in THERE.items() if "index:Generation::" in each}
    said = refused({**HERE, **components, urn: THERE[urn]})
    tells = ACCOUNT in urn or CLUSTER in urn
    owner = "stack dev of Pulumi project vision, workspace ml" if tells else "another stack"
    assert f"belongs to {owner}, so nothing was changed" in said
    (whole,) = components if CLUSTER in urn else [urn]
    assert f"pulumi state delete --stack dev --target-dependents '{whole}'" in said


def loosened(entries: Entries) -> Entries:
    """The entries as `pulumi state move` leaves them, without their components."""
    ends = {urn: urn.rpartition("$")[2] for urn in entries if "$" in urn}
    return {f"urn:pulumi:dev::reg-infra::{end}": entries[urn] for urn, end in ends.items()}


@pytest.mark.parametrize("urn", CLOUD, ids=[urn.rpartition("$")[2] for urn in CLOUD])
def test_so_it_is_without_its_component(urn: str) -> None:
    body = THERE[urn]
    if CLUSTER in urn:
        body = {**body, "outputs": {**body["outputs"], "labels": {"slipway-stack": OF_VISION}}}
    moved = loosened({urn: body})
    if "work.lent" in urn and f"${BUCKET}::" in urn:  # Nothing tells it from a bucket of the program itself.
        accepted({**HERE, **moved})
        return
    said = refused({**HERE, **moved})
    assert (
        "belongs to " in said and f"pulumi state delete --stack dev --target-dependents '{next(iter(moved))}'" in said
    )
    declared = [(body["type"], urn.rpartition("::")[2])]
    accepted({**HERE, **moved}, OwnNames(OWN.prefixes, OWN.catalogs, OWN.labels, declared))


@pytest.mark.parametrize("urn", sorted(urn for urn in HERE if "$" in urn and CLUSTER not in urn))
def test_an_entry_that_was_moved_away_and_back_is_refused(urn: str) -> None:
    """Pulumi takes it for a resource of the program itself, which the program no longer declares."""
    moved = loosened({urn: HERE[urn]})
    if "work.lent" in urn and f"${BUCKET}::" in urn:
        return
    said = refused({**HERE, **moved})
    assert "Pulumi's state has" in said and "pulumi state rename --stack" not in said
    assert f"pulumi state delete --stack dev --target-dependents '{next(iter(moved))}'" in said


def test_a_resource_of_the_program_itself_is_its_own() -> None:
    own = {
        **bucket("team-work", "acme-team-work"),
        **entry(f"Workspace${ACCOUNT}", "trainer", email="trainer@acme.iam.gserviceaccount.com", displayName="Trainer"),
        **entry(f"Workspace${OBJECT}", "team-catalog", bucket="acme-team", name="data/catalog.csv"),
        **on_project("team-viewer"),
        **on_project("team-trainer-viewer", "roles/viewer"),
        **on_bucket("trainer-reads-data", "roles/storage.objectViewer", GROUP, "acme-data"),
        **cluster("team", "team-1", ""),
    }
    accepted({**HERE, **loosened(own)})


@pytest.mark.parametrize("key", ["labels", "effectiveLabels"])
def test_a_cluster_that_was_moved_without_its_component_tells_its_stack_by_its_label(key: str) -> None:
    """Of a cluster that Pulumi imported, as of each that a deployment created, only the effective labels have it."""
    labels: dict[str, Any] = {"labels": {}, key: {"slipway-stack": OF_VISION}}
    moved = entry(f"Generation${CLUSTER}", "a-1b2", name="a-1b2", **labels)
    for entries in (moved, loosened(moved)):
        said = refused({**HERE, **entries})
        assert "cluster a-1b2 belongs to stack dev of Pulumi project vision, workspace ml" in said


def test_entries_that_were_moved_together_have_one_owner() -> None:
    moved = {**account("ml-trainer", OF_VISION), **object_("Workspace", "ml-creation", f"{VISION}-catalog")}
    moved |= on_project(f"ml-logs-{GROUP}", "roles/logging.viewer")
    said = refused({**HERE, **moved})
    assert "belong to stack dev of Pulumi project vision, workspace ml" in said
    for part in (
        f"gs://{VISION}-catalog/clusters/asked-for.json",
        f"roles/logging.viewer of {GROUP}",
        "account vision--dev--ml@",
    ):
        assert part in said
    account_, object_urn, grant = moved
    # Each removal takes along what depends on the entry, so what depends on others is first.
    assert said.index(f"'{object_urn}'") < said.index(f"'{grant}'") < said.index(f"'{account_}'")


def test_a_program_without_a_workspace_has_nothing_of_one() -> None:
    own = OwnNames([], [], ["reg-infra--dev"])
    clusters = cluster("cpu-1a2b3c4", "cpu-1a2b3c4", "reg-infra--dev")
    accepted(clusters, own)
    assert "belongs to another stack" in refused({**clusters, **on_project(f"ml-submit-{GROUP}")}, own)


RENAMED: dict[str, tuple[Entries, str]] = {
    "submit": (on_project("zz"), f"'reg-submit-{GROUP}'"),
    "submit, with its beginning": (on_project("reg-submit-zz"), f"'reg-submit-{GROUP}'"),
    "grant on a bucket": (
        on_bucket("zz", "roles/storage.objectViewer", GROUP, f"{REG}-catalog"),
        f"'reg-reads-catalog-{GROUP}'",
    ),
    "grant of a trainer on a bucket": (
        on_bucket("zz", "roles/storage.objectUser", f"serviceAccount:{OF_REG}@acme.iam.gserviceaccount.com", "lent"),
        "'reg-trainer-writes-work.lent'",
    ),
    "catalog's bucket": (bucket("zz", f"{REG}-catalog"), "'reg-catalog'"),
    "lent bucket": (bucket("zz", "lent"), ""),
    "account": (account("zz", OF_REG, f"{OF_REG}--trainer"), "'reg-trainer'"),
    "account, by a name of another's": (account("zz-trainer", OF_REG, f"{OF_REG}--trainer"), "'reg-trainer'"),
    "catalog": (object_("Catalog", "zz", f"{REG}-catalog"), "'reg-catalog'"),
    "creation": (object_("Workspace", "zz", f"{REG}-catalog"), "'reg-creation'"),
    "cluster": (cluster("renamed", "research-e20e326", OF_REG), "research-e20e326"),
}


@pytest.mark.parametrize(("renamed", "former"), RENAMED.values(), ids=RENAMED)
def test_an_entry_that_was_renamed_is_refused_with_the_command_that_names_it_back(
    renamed: Entries, former: str
) -> None:
    """Pulumi would make what is declared, and delete it again by the other entry."""
    said = refused({**HERE, **renamed})
    (urn,) = (urn for urn in renamed if "$" in urn)
    assert "Pulumi's state has" in said and f"under the name {urn.rpartition('::')[2]}, so nothing was changed" in said
    assert "NAME" not in said
    assert (f"pulumi state rename --stack dev '{urn}' {former}\n" in said) is bool(former)
    assert f"pulumi state delete --stack dev --target-dependents '{urn}'" in said
    assert "SLIPWAY_PURPOSE" not in said and "untaint" not in said


def test_a_renamed_grant_gets_the_name_of_its_own_workspace() -> None:
    renamed = on_bucket("zz", "roles/storage.objectCreator", GROUP, f"{VISION}-catalog")
    own = OwnNames(["ml-", "reg-"], ["ml-", "reg-"], [OF_REG, OF_VISION])
    assert f" 'ml-creates-catalog-{GROUP}'\n" in refused({**HERE, **THERE, **renamed}, own)


def test_a_stack_that_was_renamed_itself_is_told_elsewhere() -> None:
    accepted(THERE, OwnNames(["ml-"], ["ml-"], ["vision--prod--ml"]))
