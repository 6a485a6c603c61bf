"""Small parts of a change with sensible defaults, so that a test names only its subject: tests.builders and more."""

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

from slipway.answers.comparison import Comparison, World
from slipway.deploying.deployment.workspace_plan import SUBMITTER_ROLES
from slipway.deploying.engine.preview import EngineStep, Preview, Resource
from slipway.google.clusters import PersistentResource
from slipway.google.jobs import VertexJob
from slipway.google.live import Increase, Live, QuotaLimit, Unknown
from slipway.google.permissions import Bound
from slipway.google.quotas import QuotaPreference
from slipway.model.catalog.clusters import Cluster
from slipway.model.catalog.template import Template
from slipway.model.facts import CATALOG, CLUSTER, TEMPLATE, WORKSPACE, Facts, Kept, QuotaFacts, QuotaLine
from slipway.model.findings.finding import Finding
from slipway.model.prices import Price
from slipway.reviewing.change.change import Change
from slipway.reviewing.change.files import NO_FILES, Files
from tests.builders.catalogs import catalog, offer, request, template, worker_pool
from tests.builders.clusters import asked_for, cluster, living
from tests.builders.jobs import job
from tests.builders.place import CATALOG_BUCKET, NOW, PROJECT, REGION, STACK, TEAM, TRAINER, WORK_BUCKET
from tests.builders.pools import CPU, H100, pool
from tests.builders.steps import step

__all__ = ["CATALOG_BUCKET", "CPU", "H100", "NOW", "PROJECT", "REGION", "STACK", "TEAM", "TRAINER", "UNREAD"]
__all__ += [
    "WORK_BUCKET",
    "asked_for",
    "by_kind",
    "catalog",
    "change",
    "cluster",
    "facts",
    "job",
    "kept",
    "limits",
    "living",
]
__all__ += ["offer", "pool", "priced", "published", "quota", "request", "step", "template", "worker_pool"]

UNREAD = Unknown("denied", "aiplatform.googleapis.com", "roles/aiplatform.viewer")


def quota(*lines: QuotaLine, mode: str = "enforce", strict: bool = False) -> QuotaFacts:
    return QuotaFacts(REGION, mode, strict, {line.key: line for line in lines})


def facts(
    *parts: Cluster | Template | Kept,
    members: Iterable[str] = (TEAM,),
    code: bool = False,
    quota: QuotaFacts | None = None,
    grades: Mapping[str, str] | None = None,
    **fields: Any,
) -> Facts:
    """Return facts; `fields` are the catalog's."""
    kept = {part.id: part for part in parts if isinstance(part, Kept)}
    fields.setdefault("retiring", tuple(entry.id for entry in kept.values() if entry.kind == "cluster"))
    return Facts(
        catalog=catalog(*(part for part in parts if not isinstance(part, Kept)), **fields),
        submitters={member: dict(SUBMITTER_ROLES) for member in members},
        code=code,
        quota=quota or QuotaFacts(REGION, "enforce", strict=False),
        kept=kept,
        policy={"grades": grades} if grades else {},
    )


def kept(what: Cluster | str, *jobs: VertexJob, why: str = "", role: str = "", overdue: bool = False) -> Kept:
    """Return a cluster, or by its name a bucket (an account, where that is an address), that is no longer declared."""
    reason = why or ("jobs" if jobs else "unpublished")
    named = {job.name: job.display_name for job in jobs}
    if isinstance(what, Cluster):
        return Kept(what.id, "cluster", what.name, reason, named, overdue)
    kind = "account" if "@" in what else "bucket"
    return Kept(what, kind, role or ("trainer" if kind == "account" else "work"), reason, named, overdue)


def limits(by_metric: Mapping[str, int], increase: Increase = Increase.POSSIBLE) -> Mapping[str, QuotaLimit]:
    return {metric: QuotaLimit(metric, REGION, limit, increase) for metric, limit in by_metric.items()}


def change(
    before: Facts | None,
    after: Facts | None,
    *,
    clusters: Iterable[PersistentResource] | Unknown = (),
    jobs: Iterable[VertexJob] | Unknown = (),
    limits: Mapping[str, QuotaLimit] | Unknown | None = None,
    steps: Iterable[EngineStep] | None = None,
    preferences: Mapping[str, QuotaPreference] | Unknown | None = None,
    recent: tuple[VertexJob, ...] | Unknown = (),
    preview: Preview | None = None,
    policies: Mapping[str, frozenset[Bound] | Unknown] | None = None,
    files: Files = NO_FILES,
    unread: tuple[str, ...] = (),
    notes: tuple[str, ...] = (),
) -> Change:
    """Return a change. `steps` are the engine's; None without the engine."""
    live = Live(
        clusters=clusters if isinstance(clusters, Unknown) else tuple(clusters),
        jobs=jobs if isinstance(jobs, Unknown) else tuple(jobs),
        limits={} if limits is None else limits,
        catalog=None,
        preferences={} if preferences is None else preferences,
        recent=recent,
    )
    if steps is not None:
        preview = Preview(tuple(steps))
    world = World(live, NOW, policies or {})
    comparison = Comparison.between(STACK, before, after, world, preview=preview, known=not unread)
    return Change(comparison, files, unread, notes)


def published(old: Facts, new: Facts) -> Preview:
    """Return the preview of a program's components, with what they published before and publish after."""

    def sides(of: Facts) -> dict[tuple[str, str], Resource]:
        clusters = {(CLUSTER, id_): cluster for id_, cluster in of.clusters.items()}
        templates = {(TEMPLATE, name): template for name, template in of.templates.items()}
        told = {(CATALOG, "catalog"): of.published, (WORKSPACE, "workspace"): of.workspace, **clusters, **templates}
        return {key: Resource(value) for key, value in told.items()}

    was, becomes = sides(old), sides(new)
    return Preview(
        tuple(
            EngineStep("update", f"urn:{key}", *key, old=was.get(key), new=becomes.get(key), component=True)
            for key in was | becomes
        )
    )


def by_kind(consequences: Iterable[Finding]) -> dict[str, Finding]:
    """Return consequences by kind. Of each kind and subject there has to be one."""
    listed = list(consequences)
    assert len({consequence.key for consequence in listed}) == len(listed), "the same is said twice"
    return {consequence.kind: consequence for consequence in listed}


def priced(known: str, *, complete: bool = True) -> Price:
    return Price(Decimal(known), complete)
