"""Drift is a person's edit, field by field; an adopted cluster's owner may edit it. # N10 N13"""

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from syrupy.assertion import SnapshotAssertion

from slipway.authoring.stack.yaml_file import from_text
from slipway.deploying.engine.drift import NextDeployment, drift
from slipway.deploying.engine.preview import EngineStep, Preview, Resource
from slipway.deploying.generations.adoption import differences
from slipway.google.permissions import Bound
from slipway.model.catalog.withdrawal import withdrawn
from slipway.model.cluster import Adoption, DnsPeering, PscInterface
from slipway.model.findings.finding import Finding, Subject
from slipway.model.labels import HASH_LABEL
from slipway.operating.doctor.drift import by_hand, of_clusters, of_engine, of_labels, of_policies, shape_of, together
from slipway.operating.doctor.examination import examine
from slipway.operating.doctor.picture import Picture, Policy
from tests.builders.clusters import having
from tests.slipway.operating.doctor.picture import BUSY, CPU, FILE, lives, picture, published
from tests.slipway.reviewing.builders import STACK, TRAINER, asked_for, catalog, cluster
from tests.slipway.reviewing.recordings import preview

TEAM = "group:ml-engineers@company.example"
EVE = "user:eve@acme.example"
WORK = "bucket local-project-local-work"


def said(findings: Iterable[Finding]) -> dict[tuple[str, str], str]:
    return {(finding.subject, finding.field): finding.sentence for finding in findings}


def test_what_the_refresh_found_is_told_field_by_field(snapshot: SnapshotAssertion) -> None:
    """A stream that the engine wrote, after rules, versioning and two grants of a bucket were changed by hand."""
    listed = tuple(of_engine(preview("by_hand")))
    assert said(listed) == snapshot
    assert {finding.facts["then"] for finding in listed} == {NextDeployment.PUT_BACK}


def refreshed(type_: str, name: str, old: Resource, new: Resource | None, parent: str = "") -> Preview:
    urn = f"urn:pulumi:{STACK}::slipway::{type_}::{name}"
    return Preview(standing={urn: EngineStep("refresh", urn, type_, name, parent, old, new)}, stack=STACK)


def test_a_field_that_the_program_leaves_to_the_cloud_is_seen_too() -> None:
    before = Resource({"name": "acme-work"}, {"name": "acme-work"})
    after = Resource({"name": "acme-work"}, {"name": "acme-work", "retentionPolicy": {"retentionPeriod": 86400}})
    (finding,) = of_engine(refreshed("gcp:storage/bucket:Bucket", "work", before, after))
    assert (finding.subject, finding.field, finding.facts["then"]) == (
        "bucket acme-work",
        "retentionPolicy",
        NextDeployment.STAYS,
    )
    rules = [{"action": {"type": "Delete"}, "condition": {"age": age}} for age in (3, 9)]
    before, after = (Resource({"lifecycleRules": order}) for order in (rules, rules[::-1]))
    assert not [*of_engine(refreshed("gcp:storage/bucket:Bucket", "work", before, after))], "their order means nothing"


def test_an_account_that_was_disabled_and_things_that_were_deleted(snapshot: SnapshotAssertion) -> None:
    account = "gcp:serviceaccount/account:Account"
    old = Resource({"accountId": "trainer", "disabled": False}, {"email": TRAINER})
    (finding,) = of_engine(refreshed(account, "trainer", old, replace(old, inputs={**old.inputs, "disabled": True})))
    assert (finding.subject, finding.sentence) == (f"account {TRAINER}", "disabled false → true")
    (gone,) = of_engine(refreshed(account, "trainer", old, None))
    assert (gone.sentence, gone.facts["then"]) == ("somebody deleted it", NextDeployment.STAYS)
    package = refreshed(
        "gcp:storage/bucketObject:BucketObject",
        "p",
        Resource({"name": "packages/p"}),
        None,
        "slipway:index:JobTemplate",
    )
    assert said(of_engine(package)) == snapshot


def test_a_catalog_that_somebody_overwrote(snapshot: SnapshotAssertion) -> None:
    old = Resource({"name": "catalog.json", "bucket": "acme-catalog"}, {"md5hash": "a"})
    seen = refreshed(
        "gcp:storage/bucketObject:BucketObject",
        "catalog",
        old,
        replace(old, outputs={"md5hash": "b"}),
        "slipway:index:Catalog",
    )
    assert said(of_engine(seen)) == snapshot
    gone = refreshed("gcp:storage/bucketObject:BucketObject", "catalog", old, None, "slipway:index:Catalog")
    assert said(of_engine(gone)) == {("catalog gs://acme-catalog/catalog.json", ""): "somebody deleted it"}


def test_what_a_deployment_did_that_did_not_come_to_its_end_is_nobody_s_hand() -> None:  # N1, N10
    """It took `old` and `ended` away before it made others, which it could not, and wrote the catalog."""
    told = [
        "catalog gs://acme-catalog/catalog.json",
        "cluster old",
        "cluster ended",
        "cluster h100",
        "bucket acme-work",
    ]
    found = [
        drift(Subject.read(on), "content" * on.startswith("catalog"), "somebody did that", NextDeployment.STAYS)
        for on in told
    ]
    rests = withdrawn(catalog(cluster("ended", id="ended")), ["ended"], datetime(2026, 11, 21, tzinfo=UTC))
    unfinished = replace(rests, retiring=("old",), under_way="3f9c2e1")
    assert [finding.subject for finding in by_hand(found, unfinished)] == ["cluster h100", "bucket acme-work"]
    done = replace(unfinished, dormant={}, under_way=None)
    assert list(by_hand(found, done)) == found


def test_a_cluster_that_comes_under_another_id_is_made_anew_and_not_left_as_it_is() -> None:
    """An alternative that somebody deleted: the engine's next step is of another resource, and says nothing of it."""
    gone = Resource({"name": CPU.id})
    engine = tuple(of_engine(refreshed("gcp:vertex/aiPersistentResource:AiPersistentResource", CPU.id, gone, None)))
    live = tuple(of_clusters(catalog(CPU), ()))
    assert [finding.facts["then"] for finding in engine] == [NextDeployment.STAYS]
    assert [(finding.subject, finding.facts["then"]) for finding in together(engine, live)] == [
        (f"cluster {CPU.id}", NextDeployment.MADE_ANEW)
    ]
    assert together(engine, ()) == engine, "a retiring one stays away"


def test_a_grant_beside_the_stack_s_own_is_drift_and_what_google_grants_is_none(snapshot: SnapshotAssertion) -> None:
    grants = preview("by_hand")
    bound = frozenset(
        {
            Bound("roles/storage.objectCreator", TEAM),
            Bound("roles/storage.objectAdmin", "user:eve@acme.example"),
            Bound("roles/storage.legacyBucketOwner", "projectOwner:local-project"),
        }
    )
    assert said(of_policies(grants, [Policy(Subject.read(WORK), bound)])) == snapshot
    (foreign,) = of_policies(grants, [Policy(Subject.read(WORK), bound)])
    assert foreign.facts["then"] is NextDeployment.STAYS and foreign.fix == snapshot
    trainer = f"serviceAccount:{TRAINER}"
    project = frozenset({Bound("roles/editor", trainer), Bound("roles/owner", "user:boss@acme.example")})
    assert [
        policy.field for policy in of_policies(grants, [Policy(Subject("project", "p"), project, frozenset({trainer}))])
    ] == [f"roles/editor {trainer}"]


def test_a_deleted_account_is_told_as_one_and_one_that_was_made_again_is_not_taken_for_it() -> None:
    """IAM keeps a deleted member's roles apart, `deleted:…?uid=…`, so nobody made under its name later has them."""
    trainer = f"serviceAccount:{TRAINER}"
    bound = frozenset({Bound("roles/aiplatform.user", f"deleted:{trainer}?uid=123")})
    (told,) = of_policies(preview("by_hand"), [Policy(Subject("project", "p"), bound, frozenset({trainer}))])
    assert told.sentence.startswith(f"{trainer} was deleted, and roles/aiplatform.user is still noted for it")
    assert told.fix.endswith(f"--member='deleted:{trainer}?uid=123' --role=roles/aiplatform.user")


def test_a_foreign_grant_has_the_command_that_takes_it_away() -> None:
    bound = frozenset({Bound("roles/iam.serviceAccountUser", f"deleted:{EVE}?uid=1", "in May")})
    (policy,) = of_policies(preview("by_hand"), [Policy(Subject("account", TRAINER), bound)])
    command = f"gcloud iam service-accounts remove-iam-policy-binding {TRAINER} --member='deleted:{EVE}?uid=1'"
    assert policy.fix == f"{command} --role=roles/iam.serviceAccountUser --all"
    some = frozenset({Bound("roles/a", "allUsers"), Bound("roles/b", "@gcp-sa-x", "in May")})
    (policy,) = of_policies(preview("by_hand"), [Policy(Subject("bucket", "b"), some)])
    assert policy.fix.endswith("gs://b --member=allUsers --role=roles/a --condition=None")


def test_a_label_that_was_added_to_a_bucket_is_seen_though_the_provider_hides_it_from_its_inputs() -> None:
    """All of a bucket's labels are secret to the engine's events."""
    has = Resource({"name": "acme-work", "labels": {"team": "ml"}})
    seen = refreshed("gcp:storage/bucket:Bucket", "work", has, has)
    provider = refreshed("pulumi:providers:gcp", "default", Resource({"defaultLabels": '{"owner": "ada"}'}), None)
    seen = replace(seen, standing={**seen.standing, **provider.standing})
    labels = {"team": "ml", "cost": "7", "goog-x": "y", "owner": "ada"}
    (finding,) = of_labels(seen, {"acme-work": labels, "another": labels})
    assert (finding.subject, finding.field, finding.sentence) == (
        "bucket acme-work",
        "labels.cost",
        "label cost '7' was added",
    )
    assert finding.fix == "gcloud storage buckets update gs://acme-work --remove-labels=cost"


def test_labels_and_grants_of_an_adopted_bucket_are_its_owner_s() -> None:  # N10, N13
    has = Resource({"name": "theirs"})
    seen = refreshed("gcp:storage/bucket:Bucket", "work.theirs", has, has)
    assert not list(of_labels(seen, {"theirs": {"team": "a"}}))
    reads = frozenset({Bound("roles/storage.objectViewer", EVE)})
    assert not list(of_policies(seen, [Policy(Subject("bucket", "theirs"), reads)]))
    assert list(of_policies(seen, [Policy(Subject("bucket", "another"), reads)]))


@pytest.mark.parametrize("replicas", [1, 2, 4])
def test_the_autoscaler_s_work_within_bounds_is_no_drift(replicas: int) -> None:
    assert not list(of_clusters(catalog(CPU), (lives(replicas=replicas),)))


def test_what_a_person_did_to_a_cluster_is_told_field_by_field(snapshot: SnapshotAssertion) -> None:
    live = lives(replicas=5)
    (workers,) = live.pools
    live = replace(
        live,
        labels={**{k: v for k, v in live.labels.items() if k != HASH_LABEL}, "team": "x", "goog-managed": "y"},
        pools=(replace(workers, max=8), replace(workers, id="extra")),
    )
    on = f"cluster {CPU.id}"
    assert said(of_clusters(catalog(CPU), (live,))) == snapshot
    beyond = (replace(lives(), pools=(replace(workers, replicas=9),)),)
    assert said(of_clusters(catalog(CPU), beyond)) == snapshot
    growing = tuple(replace(finding, state="UPDATING") for finding in beyond)
    assert not list(of_clusters(catalog(CPU), growing))
    assert said(of_clusters(catalog(CPU), ())) == {(on, ""): "somebody deleted it"}


def test_what_the_engine_sees_of_a_cluster_is_told_as_what_lives_is() -> None:
    """With nothing but the events, and once where both are read."""
    type_ = "gcp:vertex/aiPersistentResource:AiPersistentResource"
    old = Resource(asked_for(CPU))
    new = Resource({**asked_for(CPU, network="projects/1/global/networks/n"), "labels": {}})
    engine = tuple(of_engine(refreshed(type_, CPU.id, old, new)))
    live = tuple(of_clusters(catalog(CPU), (having(lives(), network="projects/1/global/networks/n"),)))
    assert engine == live == together(engine, live)
    assert [difference.field for difference in live] == ["network"] and live[0].facts["then"] is NextDeployment.STAYS
    assert not list(of_engine(refreshed(type_, CPU.id, old, Resource(asked_for(CPU)))))
    (odd,) = of_engine(refreshed(type_, CPU.id, old, Resource(asked_for(CPU, resourcePools="x"))))
    assert odd.field == "resourcePools"


def test_the_shape_follows_what_was_changed() -> None:
    listed = tuple(of_engine(preview("by_hand")))
    assert shape_of(listed) == shape_of(reversed(listed)) != shape_of(listed[1:])
    assert shape_of(listed) != shape_of(listed, ["clusters: denied"])


THEIRS = replace(cluster("theirs", id="team-a"), adopted=Adoption("team-a"), labels={})
LIVES = having(replace(lives(THEIRS, days=90), labels={"team": "a"}), custom_service_account=True)
PEERED = (DnsPeering("a.", "p", "n"),)
WITH_IT = from_text("config:\n  slipway:persistentResources:\n    cpu: {}\n    theirs:\n      id: team-a\n", FILE)


def seen(*clusters: object, **fields: object) -> Picture:
    there = replace(published(catalog(CPU, THEIRS)), adopted=frozenset({"team-a"}))
    return picture(lives(used=1), *clusters, published=there, document=WITH_IT, jobs=(BUSY,), **fields)  # type: ignore[arg-type]


def test_an_adopted_cluster_is_well_however_old_idle_and_unlabelled_it_is() -> None:
    assert examine(seen(LIVES)) == ()


def test_one_that_is_gone_or_failed_is_mended_in_the_stack_file() -> None:
    (gone,) = examine(seen())
    assert gone.kind == "cluster-gone" and gone.fix == f"{FILE}:5" and "as theirs" in gone.sentence
    (failed,) = examine(seen(replace(LIVES, state="ERROR", error="no machines")))
    assert failed.kind == "cluster-failed" and failed.fix == f"{FILE}:5" and "no machines" in failed.sentence


def test_what_another_stack_of_the_checkout_adopts_is_not_for_deletion() -> None:
    assert [finding.kind for finding in examine(picture(lives(used=1), LIVES))] == ["cluster-in-no-stack"]
    assert examine(picture(lives(used=1), LIVES, adopted_by_stacks=frozenset({"team-a"}))) == ()


def test_its_owners_changes_are_told_and_the_stack_file_has_to_follow() -> None:
    deployed = catalog(THEIRS)
    assert list(of_clusters(deployed, (replace(LIVES, display_name="theirs, renamed"),))) == []
    pools = (replace(LIVES.pools[0], max=9),)
    (drift,) = of_clusters(deployed, (replace(LIVES, pools=pools),))
    assert drift.field == "pools.workers.replicas.max" and drift.facts["then"] is NextDeployment.REFUSES
    few = (replace(LIVES.pools[0], replicas=0),)
    assert list(of_clusters(deployed, (replace(LIVES, pools=few),))) == [], "no deployment looks at that"
    (gone,) = of_clusters(deployed, ())
    assert gone.facts["then"] is NextDeployment.REFUSES


def test_whatever_stops_the_next_deployment_is_drift() -> None:  # N13
    lives = having(LIVES, custom_service_account=False, psc=PscInterface(dns_peerings=PEERED))
    drifts = list(of_clusters(catalog(THEIRS), (lives,)))
    for told, refused in zip(drifts, differences(THEIRS, lives), strict=True):
        assert told.field in refused and told.facts["then"] is NextDeployment.REFUSES
    assert [drift.sentence.partition(", ")[0] for drift in drifts] == [
        "pscInterface.dnsPeeringConfigs is a. p n",
        "serviceAccount.custom is false",
    ]


def test_what_the_owner_of_an_adopted_bucket_does_is_no_drift_unless_it_is_gone() -> None:
    type_, before = "gcp:storage/bucket:Bucket", Resource({"name": "acme"}, {"name": "acme"})
    after = Resource({"name": "acme", "versioning": {"enabled": True}}, {"name": "acme"})
    for name, now, told in (("work.acme", after, 0), ("work.acme", None, 1), ("work", after, 1)):
        step = EngineStep("refresh", f"urn:{name}", type_, name, "", before, now)
        assert len(list(of_engine(Preview(standing={step.urn: step})))) == told
