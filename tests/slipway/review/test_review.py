"""A review as a whole: nothing changed, nothing said; and over what the program itself publishes. # N5"""

from collections.abc import Iterable

from slipway.catalog.document import PublishedCatalog
from slipway.cloud.clusters import PersistentResource, ResourcePool
from slipway.cluster import ClusterSpec, CurrentCluster, PoolSpec
from slipway.deployment.deployment import facts as published
from slipway.deployment.plan import Plan, plan
from slipway.deployment.publication import catalog_of, compile_context
from slipway.facts import Facts
from slipway.findings.finding import Grade
from slipway.fingerprint import fingerprint_of
from slipway.labels import Revision
from slipway.live import Live
from slipway.quota.report import QuotaReport
from slipway.review.review import review
from slipway.stack.stack import Stack, WorkspaceSettings
from tests.slipway.review.builders import H100 as MACHINE
from tests.slipway.review.builders import NOW, PROJECT, REGION, STACK, change, cluster, facts, job, living, template


def test_nothing_changed_nothing_said() -> None:
    same = facts(cluster(), template())
    assert review(change(same, same, clusters=[living(cluster(), used=1)], jobs=[job(on=cluster())])).consequences == ()


def test_nothing_deployed_and_nothing_declared() -> None:
    assert review(change(None, None)).consequences == ()


def declared(high: int) -> ClusterSpec:
    return ClusterSpec("h100", (PoolSpec("workers", MACHINE, 1, high, autoscaled=True, replicas=1),))


def told(decided: Plan, *specs: ClusterSpec) -> Facts:
    workspace = WorkspaceSettings(("group:ml@acme.example",), "acme-catalog", "acme-work", "trainer")
    stack, revision = Stack(STACK, PROJECT, REGION, workspace, clusters=specs), Revision("3f9c2e1", dirty=False)
    context = compile_context(stack, revision, decided)
    return published(stack, decided, catalog_of(context, stack, decided, {}), QuotaReport())


def planned(spec: ClusterSpec, live: Live) -> Plan:
    return plan((spec,), live, stack=STACK, project=PROJECT, region=REGION, now=NOW)


def alive(spec: ClusterSpec) -> PersistentResource:
    digest = fingerprint_of(STACK, PROJECT, REGION, spec)
    current = CurrentCluster(spec, f"{spec.name}-{digest}", digest, import_=True)
    pools = (ResourcePool("workers", MACHINE, replicas=1, used=1, min=1, max=4),)
    return PersistentResource(current.id, "RUNNING", current.labels(STACK), pools, NOW)


def kinds(before: Facts, after: Facts, live: Live) -> dict[str, Grade]:
    clusters, jobs = live.clusters, live.jobs
    assert isinstance(clusters, Iterable)
    assert isinstance(jobs, Iterable)
    return {one.kind: one.grade for one in review(change(before, after, clusters=clusters, jobs=jobs)).consequences}


def test_an_edit_as_the_program_plans_and_publishes_it() -> None:  # N1
    old, new = declared(4), declared(6)
    there = alive(old)
    running = job(persistent_resource_id=there.id)
    live = Live((there,), (running,), {}, PublishedCatalog(clusters={"h100": there.id}))
    before = told(planned(old, live), old)
    assert kinds(before, told(planned(old, live), old), live) == {}
    assert kinds(before, told(planned(new, live), new), live) == {
        "cluster-new-generation": Grade.WARNING,
        "jobs-finish-on-old": Grade.NOTE,
        "capacity-raised": Grade.NOTE,
        "capacity-found-anew": Grade.WARNING,
        "generations-overlap": Grade.WARNING,
        "image-cache-empty": Grade.NOTE,
        "most-cost": Grade.NOTE,
    }
