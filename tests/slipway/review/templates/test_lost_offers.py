"""Who is told to have asked for an offer that is gone. # N3"""

from __future__ import annotations

from dataclasses import replace

from syrupy.assertion import SnapshotAssertion

from slipway.catalog.clusters import Cluster
from slipway.catalog.model import Template
from slipway.cloud.jobs import VertexJob
from slipway.findings.finding import Finding
from slipway.review.templates.templates import templates
from tests.slipway.review.builders import change, cluster, facts, job, offer, pool
from tests.slipway.review.templates.lora import LORA, POOL, SPOT


def test_who_asked_for_an_offer_that_is_gone_is_counted_by_its_cluster(snapshot: SnapshotAssertion) -> None:
    """Of any generation, queued ones too, which have not run."""
    here, spare = cluster("cpu", pool()), cluster("spare", pool())
    before = replace(LORA, offers=(POOL, offer(cluster="spare"), SPOT))
    jobs = (job("a", user="ada", on=replace(here, id="cpu-0badbad-2"), state="SUCCEEDED"), job("b", on=here))
    without = lost(replace(before, offers=(POOL, SPOT)), before, jobs, here, spare)
    assert without.details == snapshot
    without = lost(replace(before, offers=(offer(cluster="spare"), SPOT)), before, jobs, here, spare)
    assert without.details == snapshot
    queued = job("c", on=spare, user="ci", state="QUEUED")
    without = lost(replace(before, offers=(POOL, SPOT)), before, (queued,), here, spare)
    assert without.details == snapshot


def test_an_adopted_cluster_is_known_by_the_id_that_it_has(snapshot: SnapshotAssertion) -> None:
    adopted = replace(cluster("cpu", pool()), id="their-machines")
    one = lost(replace(LORA, offers=(SPOT,)), LORA, (job(on=adopted, user="ada"),), adopted)
    assert one.details == snapshot


def lost(new: Template, old: Template, recent: tuple[VertexJob, ...], *clusters: Cluster) -> Finding:
    there = change(facts(*clusters, old), facts(*clusters, new), recent=recent)
    return next(one for one in templates(there) if one.kind == "offer-gone")
