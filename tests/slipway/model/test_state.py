"""What the engine answers when it is asked for a stack's resources, read. # N1"""

from typing import Any

import pytest

from slipway.base.errors import ConfigError
from slipway.model.origin import Origin, Program
from slipway.model.state import State, StateGrant, StatePreference, StateResource, read
from slipway.model.state_refusals import refuse_doubles, refuse_move, refuse_rename

HEAD = "urn:pulumi:prod::slipway::"
CLUSTER = "gcp:vertex/aiPersistentResource:AiPersistentResource"


def resource(types: str, logical: str, /, **outputs: Any) -> dict[str, Any]:
    """`types`: a component of ours, `$` and the type of its resource."""
    whole = types if types.startswith("pulumi:") else f"slipway:index:{types}"
    return {f"{HEAD}{whole}::{logical}": {"type": whole.rpartition("$")[2], "outputs": outputs}}


STACK = {
    **resource("pulumi:pulumi:Stack", "slipway-prod", clusters={"cpu": "cpu-1a2b3c4"}),
    **resource("Generation", "cpu-1a2b3c4", id="cpu-1a2b3c4"),
    **resource(f"Generation${CLUSTER}", "cpu-1a2b3c4", name="cpu-1a2b3c4", project="acme", location="us-central1"),
    **resource("Workspace$gcp:storage/bucket:Bucket", "work", name="acme-work", project="acme", location="US-CENTRAL1"),
    **resource(
        "Workspace$gcp:serviceaccount/account:Account",
        "trainer",
        email="trainer@acme.iam.gserviceaccount.com",
        displayName="Slipway trainer (prod)",
        project="acme",
    ),
    **resource(
        "JobTemplate$gcp:storage/bucketObject:BucketObject",
        "nap-0123456789ab",
        bucket="acme-catalog",
        name="packages/nap-0123456789ab.tar.gz",
    ),
    **resource("Catalog", "catalog", object="catalog.json", restored={"acme-catalog": 2.0}),
    **resource(
        "Catalog$gcp:storage/bucketObject:BucketObject",
        "catalog",
        bucket="acme-catalog",
        name="catalog.json",
        md5hash="aaaa==",
    ),
    **resource(
        "Workspace$gcp:storage/bucketObject:BucketObject",
        "creation",
        bucket="acme-catalog",
        name="clusters/asked-for.json",
    ),
    **resource("Workspace$gcp:projects/iAMMember:IAMMember", "submit-group::of@acme.example"),
    **resource(
        "Workspace$gcp:projects/iAMMember:IAMMember",
        "trainer-viewer",
        role="roles/viewer",
        member="serviceAccount:trainer@acme.iam.gserviceaccount.com",
    ),
}


def test_a_work_bucket_elsewhere_does_not_tell_where_the_stack_is() -> None:  # N2
    bucket = "Workspace$gcp:storage/bucket:Bucket"
    places = {"work": "US-CENTRAL1", "work@acme-work-us-east4": "US-EAST4"}
    stack: dict[str, Any] = {}
    for name, location in places.items():
        stack |= resource(bucket, name, name=f"acme-{name[:4]}", project="acme", location=location)
    known = read(stack)
    assert [(place.project, place.region) for place in known.buckets] == [("acme", "us-central1"), ("acme", "")]
    refuse_move(known, stack="prod", project="acme", region="us-central1")
    with pytest.raises(ConfigError, match="can't move to us-east4"):
        refuse_move(known, stack="prod", project="acme", region="us-east4", others=["us-east4"])


def test_a_stack_is_read_by_roles_and_places() -> None:
    assert read(STACK) == State(
        clusters=(StateResource("cpu-1a2b3c4", "cpu-1a2b3c4", "acme", "us-central1"),),
        buckets=(StateResource("work", "acme-work", "acme", "us-central1"),),
        accounts=(StateResource("trainer", "trainer@acme.iam.gserviceaccount.com", "acme"),),
        catalog_bucket="acme-catalog",
        creations=frozenset({"creation"}),
        grants=(StateGrant("trainer-viewer", "roles/viewer", "serviceAccount:trainer@acme.iam.gserviceaccount.com"),),
        submitters=("group::of@acme.example",),
        called={"trainer@acme.iam.gserviceaccount.com": "Slipway trainer (prod)"},
        catalogs=("acme-catalog",),
        digests={"acme-catalog": "aaaa=="},
        restored={"acme-catalog": 2},
        packages=frozenset({"gs://acme-catalog/packages/nap-0123456789ab.tar.gz"}),
        urns={
            ("slipway:index:Catalog", "catalog"): f"{HEAD}slipway:index:Catalog::catalog",
            ("slipway:index:Generation", "cpu-1a2b3c4"): (f"{HEAD}slipway:index:Generation::cpu-1a2b3c4"),
        },
    )


def test_of_two_components_that_are_alike_below_different_ones_none_is_known_by_its_name() -> None:  # N34
    below = [f"{HEAD}{parents}slipway:index:Workspace::ml" for parents in ("", "acme:ml:Lab$")]
    types = {urn: {"type": "slipway:index:Workspace", "outputs": {}} for urn in below}
    assert read({below[1]: types[below[1]]}).urns == {("slipway:index:Workspace", "ml"): below[1]}
    assert read(types).urns == {}


def test_of_two_workspaces_whose_names_begin_alike_each_has_its_own() -> None:
    bucket, stack = "Workspace$gcp:storage/bucket:Bucket", dict[str, Any]()
    for name in ("tide-work", "tide-eu-work", "work"):
        stack |= resource(bucket, name, name=f"acme-{name}", project="acme", location="US-CENTRAL1")
    known, prefixes = read(stack), ["", "tide-", "tide-eu-"]
    for prefix in prefixes:
        part = known.part(prefix, [each for each in prefixes if each not in ("", prefix)], [], [])
        assert [bucket.name for bucket in part.buckets] == [f"acme-{prefix}work"]


def test_the_object_of_one_workspace_is_not_that_of_another() -> None:
    """Of two workspaces, the preview after a recovery from a killed `up` created an object of the other one."""
    known = read(resource("Workspace$gcp:storage/bucketObject:BucketObject", "web-two-creation", name="creation"))
    assert not known.part("web-", ["web-two-"], [], []).creation
    assert known.part("web-two-", ["web-"], [], []).creation and known.part("renamed-", [], [], []).creation


def test_of_two_workspaces_in_one_place_each_has_the_clusters_that_its_label_names() -> None:
    stack = dict[str, Any]()
    for name in ("web", "web-two"):
        place = {"name": f"{name}-1a2b3c4", "project": "acme", "location": "us-central1"}
        stack |= resource("Generation", f"{name}-1a2b3c4", id=f"{name}-1a2b3c4", stack=f"p-{name}")
        stack |= resource(f"Generation${CLUSTER}", f"{name}-1a2b3c4", **place)
    part = read(stack).part("web-", ["web-two-"], [], ["p-web-two"])
    assert [cluster.name for cluster in part.clusters] == ["web-1a2b3c4"]


def test_a_cluster_whose_generation_has_no_outputs_yet_belongs_to_the_workspace_in_its_label() -> None:
    """An `up` was killed just then: the next one said that the other workspace was renamed, and changed nothing."""
    place = {"name": "web-cpu-1a2b3c4", "project": "acme", "location": "us-central1"}
    stack = resource("Generation", "web-cpu-1a2b3c4")
    for key in ("labels", "effectiveLabels"):
        labelled = resource(f"Generation${CLUSTER}", "web-cpu-1a2b3c4", **place, **{key: {"slipway-stack": "p-web"}})
        known = read(stack | labelled)
        assert known.part("web-two-", ["web-"], [], ["p-web"]).clusters == ()
        assert [cluster.stack for cluster in known.part("web-", ["web-two-"], [], ["p-web-two"]).clusters] == ["p-web"]


def test_a_grant_tells_what_it_is_on() -> None:  # P5
    trainer, of = "trainer@acme.iam.gserviceaccount.com", {"role": "roles/a", "member": "user:ada@acme.example"}
    stack = resource("Workspace$gcp:projects/iAMMember:IAMMember", "p", project="acme", **of)
    for name, bucket in (("b", "b/acme-work"), ("c", "acme-work")):
        kind = "gcp:storage/bucketIAMMember:BucketIAMMember"
        stack |= resource(f"Workspace${kind}", name, bucket=bucket, **of)
    account = f"projects/acme/serviceAccounts/{trainer}"
    kind = "gcp:serviceaccount/iAMMember:IAMMember"
    stack |= resource(f"Workspace${kind}", "s", serviceAccountId=account, **of)
    places = {"p": "", "b": "gs://acme-work", "c": "gs://acme-work", "s": trainer}
    assert {grant.name: grant.on for grant in read(stack).grants} == places


def test_a_bucket_and_an_account_of_the_program_that_a_workspace_uses_are_known_by_their_urns() -> None:  # D2
    def own(type_: str, logical: str, **outputs: str) -> dict[str, Any]:
        return {f"{HEAD}{type_}::{logical}": {"type": type_, "outputs": outputs}}

    bucket, account = "gcp:storage/bucket:Bucket", "gcp:serviceaccount/account:Account"
    runner, ci = "runner@acme.iam.gserviceaccount.com", "ci@acme.iam.gserviceaccount.com"
    stack = own(bucket, "results", name="acme-results") | own(bucket, "spare", name="acme-spare")
    stack |= own(account, "runner", email=runner) | own(account, "ci", email=ci)
    grants = {
        "ml-trainer-writes-work": ("acme-results", runner),
        "ml-trainer-reads-catalog": ("acme-ml-catalog", runner),
        "ml-reads-work-ci": ("acme-results", ci),  # a submitter's, which no job runs as
    }
    for name, (on, member) in grants.items():
        outputs = {"bucket": on, "role": "roles/a", "member": f"serviceAccount:{member}"}
        stack |= resource("Workspace$gcp:storage/bucketIAMMember:BucketIAMMember", name, **outputs)
    expected = {f"{HEAD}{bucket}::results": "acme-results", f"{HEAD}{account}::runner": runner}
    assert read(stack).lent == expected


def test_buckets_and_accounts_in_components_of_the_program_are_entries_outside_of_slipways() -> None:
    stack: dict[str, Any] = {}
    for parents in ("", "acme:ml:Ground$", "acme:ml:Ground$acme:ml:Inner$", "slipway:index:Workspace$"):
        urn = f"urn:pulumi:dev::slipway::{parents}gcp:storage/bucket:Bucket::results"
        stack[urn] = {"type": "gcp:storage/bucket:Bucket", "outputs": {"name": "acme-results"}}
    known = read(stack)
    assert [entry.parent for entry in known.outside] == ["", "acme:ml:Inner", "acme:ml:Ground"]
    assert {entry.parent for entry in known.entries} == {"", "slipway:index:Workspace"}


def test_requests_for_quota_are_read_with_what_they_ask_for() -> None:
    body = {
        "name": "projects/1/locations/global/quotaPreferences/h100",
        "quotaId": "H100",
        "dimensions": {"region": "us-central1"},
        "quotaConfig": {"preferredValue": "16", "grantedValue": "8"},
    }
    types = "QuotaCheck$gcp:cloudquota/sQuotaPreference:SQuotaPreference"
    assert read(resource(types, "gpus", **body)).preferences == (StatePreference("h100", "H100", "us-central1", 16),)
    assert read(resource(types, "gpus")).preferences == (StatePreference("", "", "", 0),)


def test_what_was_never_made_is_not_there() -> None:
    assert read({}) == State()
    assert read(resource("Generation", "cpu-1a2b3c4")).clusters == ()


def test_a_cluster_is_known_in_its_place_alone() -> None:
    known = read(STACK)
    assert known.has("acme", "us-central1", "cpu-1a2b3c4")
    assert not known.has("acme", "europe-west4", "cpu-1a2b3c4")
    assert not known.has("acme", "us-central1", "cpu-1a2b3c4-2")


def test_what_is_protected_is_told_by_its_name() -> None:  # B3
    generation = "Generation"
    stack = resource(generation, "a-1a2b3c4", id="a-1a2b3c4", protected="a") | resource(generation, "b-1", id="b-1")
    assert read(stack).protected == {"a-1a2b3c4": "a"}


def test_regions_where_clusters_were_asked_for_are_told_before_there_is_one() -> None:  # N2
    asked = resource("OtherRegions", "other-regions", regions=["europe-west4", "us-east4"])
    assert read({**STACK, **asked}).other_regions == {"europe-west4", "us-east4"}


TWO_CLUSTERS = {
    **STACK,
    **resource("Generation", "cpu-7654321", id="cpu-7654321"),
    **resource(f"Generation${CLUSTER}", "cpu-7654321", name="cpu-7654321", project="acme", location="us-central1"),
}


@pytest.mark.parametrize(
    ("labels", "published"),
    [({"cpu-1a2b3c4": "prod-ml", "cpu-7654321": "dev-ml"}, ""), ({"cpu-7654321": "dev-ml"}, "prod-ml")],
    ids=["beside a cluster of its own", "beside a catalog of its own"],
)
def test_a_cluster_whose_state_was_moved_here_is_removed_from_the_state(labels: dict[str, str], published: str) -> None:
    with pytest.raises(ConfigError, match="cluster cpu-7654321 belongs to stack dev-ml") as rejection:
        refuse_rename(read(TWO_CLUSTERS), labels, "prod-ml", Program("prod", "ml"), published)
    urn = f"{HEAD}slipway:index:Generation::cpu-7654321"
    assert f"pulumi state delete --stack prod --target-dependents '{urn}'" in str(rejection.value)


def test_a_renamed_stack_is_told_both_ways_on_as_commands_that_stand_alone() -> None:
    labels = dict.fromkeys(("cpu-1a2b3c4", "cpu-7654321"), "p--dev")
    with pytest.raises(ConfigError, match="was called dev of Pulumi project p and can't be renamed") as rejection:
        refuse_rename(read(TWO_CLUSTERS), labels, "p--prod", Origin("prod"))
    first, *others = rejection.value.fix.splitlines()
    assert first == "pulumi stack rename dev --stack prod"
    assert [line for line in others if line.startswith("pulumi ")] == [
        f"pulumi state delete --stack prod --target-dependents '{HEAD}slipway:index:{component}' --force"
        for component in ("Catalog::catalog", "Generation::cpu-1a2b3c4", "Generation::cpu-7654321")
    ]


@pytest.mark.parametrize("owner", ["p--dev", "dev-ml"])
def test_clusters_alone_were_moved_and_no_stack_was_renamed(owner: str) -> None:
    moved = {urn: body for urn, body in TWO_CLUSTERS.items() if "Generation" in urn or "pulumi:pulumi:Stack" in urn}
    labels = dict.fromkeys(("cpu-1a2b3c4", "cpu-7654321"), owner)
    with pytest.raises(ConfigError, match="clusters cpu-1a2b3c4 and cpu-7654321 belong to stack dev") as rejection:
        refuse_rename(read(moved), labels, "p--moved", Origin("moved"))
    commands = [line for line in rejection.value.fix.splitlines() if line.startswith("pulumi ")]
    assert len(commands) == 2 and "URN" not in " ".join(commands) and "stack rename" not in rejection.value.fix


def test_a_cluster_that_was_imported_as_well_is_not_deleted_as_undeclared() -> None:
    urn = f"{HEAD}{CLUSTER}::mine"
    entry = {urn: {"type": CLUSTER, "outputs": {"name": "cpu-1a2b3c4"}}}
    known = read({**STACK, **entry})
    assert [cluster.name for cluster in known.clusters] == ["cpu-1a2b3c4"]
    with pytest.raises(ConfigError, match="cpu-1a2b3c4 is in the state a second time") as rejection:
        refuse_doubles(known, ["cpu-1a2b3c4"], Program("prod", "ml"))
    assert f"pulumi state delete --stack prod --target-dependents '{urn}' --force" in str(rejection.value)
    refuse_doubles(known, ["cpu-7654321"], Program("prod", "ml"))
    refuse_doubles(read(STACK), ["cpu-1a2b3c4"], Program("prod", "ml"))
