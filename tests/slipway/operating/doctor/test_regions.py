"""A cluster that came from another region than its stack's is looked for there, and mended there. # N10 N2"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from syrupy.assertion import SnapshotAssertion

from slipway.authoring.stack.yaml_file import from_text
from slipway.google.clusters import PersistentResource
from slipway.google.live import Live
from slipway.google.quota.seasons import judge
from slipway.google.storage import Location
from slipway.model.catalog.clusters import Cluster
from slipway.model.findings.finding import Finding
from slipway.model.state import State, StateResource
from slipway.operating.doctor.drift import of_clusters
from slipway.operating.doctor.picture import Backend
from slipway.operating.doctor.place import Place
from tests.slipway.operating.doctor.picture import FILE, found, lives, published, state
from tests.slipway.reviewing.builders import CPU, H100, NOW, PROJECT, REGION, catalog, cluster, job, limits, pool

AWAY = "us-east4"
FAR = replace(cluster("cpu", pool("workers", CPU), id="cpu-00000a1"), region=AWAY, alternative=1)
BUSY = job("train-1", on=FAR, machine=CPU)
SEEN = {"published": published(catalog(FAR, other_regions=(AWAY,))), "jobs": (BUSY,), "recent": (BUSY,)}
"""What the stack has published, and its job."""


def placed(one: PersistentResource, region: str = AWAY) -> PersistentResource:
    return replace(one, name=f"projects/1/locations/{region}/persistentResources/{one.id}")


THERE = placed(lives(FAR, used=1))


def test_one_that_is_well_there_is_no_finding_and_no_drift() -> None:
    assert found(THERE, **SEEN) == {}
    knows = State(clusters=(StateResource(FAR.id, FAR.id, PROJECT, AWAY),))
    assert found(THERE, **SEEN, backend=Backend("gs://state", knows)) == {}
    assert list(of_clusters(catalog(FAR), (THERE,))) == []
    (gone,) = of_clusters(catalog(FAR), (placed(lives(FAR), REGION),))
    assert gone.sentence == "somebody deleted it", "another region's is not it"


def test_what_is_wrong_with_it_names_its_region_and_its_price(snapshot: SnapshotAssertion) -> None:
    failed = replace(THERE, state="ERROR", error="no machines")
    assert f"cluster {FAR.id} in us-east4" in found(failed, **SEEN)["cluster-failed"].sentence
    lost = found(THERE, **SEEN, backend=Backend("gs://state", state(FAR.id)))["cluster-in-no-state"]
    assert lost.sentence == snapshot
    idle = {**SEEN, "jobs": (), "recent": (replace(BUSY, end_time=NOW - timedelta(hours=48)),)}
    assert "$25.04 since its last job" in found(placed(lives(FAR)), **idle)["pool-idle"].sentence


def test_nobody_s_cluster_there_is_deleted_there_and_can_not_be_adopted() -> None:
    stray = placed(replace(lives(FAR), name="scratch", labels={}))
    one = found(THERE, stray, **SEEN)["cluster-in-no-stack"]
    assert one.sentence == "cluster scratch in us-east4 is in no stack: $0.52/h"
    assert one.fix == "gcloud ai persistent-resources delete scratch --project=acme-prod --region=us-east4"
    assert "adopt" not in one.means


def test_quota_there_is_asked_for_there_by_hand() -> None:  # N6
    def told(of: Cluster, **used: int) -> Finding:
        there = placed(lives(of, used=1))
        unlimited = {"custom_model_training_pd_ssd": -1, "custom_model_training_a3_cpus": -1}
        listed = limits({**{f"custom_model_training_{metric}": limit for metric, limit in used.items()}, **unlimited})
        live = Live((there,), (), limits({}), None, limits_elsewhere={AWAY: listed})
        return found(there, **SEEN, quota=judge(catalog(of), live, NOW))["quota-nearly-used"]

    one = told(FAR, cpus=8)
    assert one.subject == "quota custom_model_training_cpus in us-east4"
    assert one.sentence == "on-demand N1/E2 vCPUs in us-east4: 8 of 8 in use, 0 left"
    assert one.fix.startswith("ask for 32 of custom_model_training_cpus")
    one = told(replace(FAR, pools=(pool("workers", H100),)), nvidia_h100_gpus=8)
    assert one.fix.startswith("gcloud beta quotas preferences create")
    assert one.fix.endswith("--dimensions=region=us-east4 --preferred-value=32")


def test_a_stack_file_tells_where_its_clusters_may_come_to_be() -> None:
    text = (
        "config:\n  slipway:persistentResources:\n    cpu:\n      alternatives:\n"
        "        - region: us-east4\n        - pools: {}\n        - region: us-central1\n        - region: 7\n"
        "        - region: evil.example/\n        - us-west1\n"
    )
    at = Place("prod", PROJECT, REGION, Location("b", "c"), Path(), from_text(text, FILE))
    assert at.declared_regions == ("us-east4",)
    assert replace(at, document=None).declared_regions == ()
