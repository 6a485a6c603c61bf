"""What somebody else made and the stack offers is no orphan, and nothing of it is put back. # N10 N13"""

from dataclasses import replace

from slipway.authoring.stack.yaml_file import from_text
from slipway.deploying.engine.drift import NextDeployment
from slipway.deploying.engine.preview import EngineStep, Preview, Resource
from slipway.deploying.generations.adoption import differences
from slipway.model.cluster import Adoption, DnsPeering, PscInterface
from slipway.operating.doctor.drift import of_clusters, of_engine
from slipway.operating.doctor.examination import examine
from slipway.operating.doctor.picture import Picture
from tests.builders.clusters import having
from tests.slipway.operating.doctor.picture import BUSY, CPU, FILE, lives, picture, published
from tests.slipway.reviewing.builders import catalog, cluster

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
    assert [one.kind for one in examine(picture(lives(used=1), LIVES))] == ["cluster-in-no-stack"]
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
    for drift, refused in zip(drifts, differences(THEIRS, lives), strict=True):
        assert drift.field in refused and drift.facts["then"] is NextDeployment.REFUSES
    assert [one.sentence.partition(", ")[0] for one in drifts] == [
        "pscInterface.dnsPeeringConfigs is a. p n",
        "serviceAccount.custom is false",
    ]


def test_what_the_owner_of_an_adopted_bucket_does_is_no_drift_unless_it_is_gone() -> None:
    type_, before = "gcp:storage/bucket:Bucket", Resource({"name": "acme"}, {"name": "acme"})
    after = Resource({"name": "acme", "versioning": {"enabled": True}}, {"name": "acme"})
    for name, now, told in (("work.acme", after, 0), ("work.acme", None, 1), ("work", after, 1)):
        step = EngineStep("refresh", f"urn:{name}", type_, name, "", before, now)
        assert len(list(of_engine(Preview(standing={step.urn: step})))) == told
