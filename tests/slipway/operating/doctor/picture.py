"""A picture of a healthy stack with one cluster `cpu`, of which each test breaks a part."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from slipway.authoring.stack.yaml_file import from_text
from slipway.google.catalog.document import PublishedCatalog
from slipway.google.clusters import PersistentResource
from slipway.google.storage import Location, StoredObject
from slipway.model.catalog.model import Catalog
from slipway.model.findings.finding import Finding
from slipway.model.state import State, StateResource
from slipway.operating.doctor.examination import examine
from slipway.operating.doctor.picture import Picture
from tests.slipway.reviewing.builders import NOW, PROJECT, REGION, STACK, catalog, cluster, job, living

CPU = cluster()
FILE = f"stacks/Pulumi.{STACK}.yaml"
DOCUMENT = from_text(
    """config:
  gcp:project: acme-prod
  slipway:persistentResources:
    cpu:
      pools:
        workers: { machine: n1-standard-8 }
""",
    FILE,
)
BUSY = job("train-1", on=CPU, machine=CPU.pools[0].machine)


def published(whole: Catalog) -> PublishedCatalog:
    ids = {name: cluster.id for name, cluster in whole.clusters.items()}
    return PublishedCatalog(ids, whole.retiring, identity=whole.identity, whole=whole)


def lives(of: Any = CPU, days: float = 9, **fields: Any) -> PersistentResource:
    """Return a living cluster; `fields` are its own."""
    words = {key: fields.pop(key) for key in ("used", "replicas", "state") if key in fields}
    return replace(living(of, **words), create_time=NOW - timedelta(days=days), **fields)


def state(*ids: str) -> State:
    return State(clusters=tuple(StateResource(id_, id_, PROJECT, REGION) for id_ in ids))


def package(uri: str, size: int, updated: datetime) -> StoredObject:
    return StoredObject(Location.parse(uri), size, "1", "", updated)


def picture(*clusters: PersistentResource, **fields: Any) -> Picture:
    """Return the picture of these, or of one that runs a job. `fields` are the picture's own."""
    usual: dict[str, Any] = {
        "published": published(catalog(CPU)),
        "clusters": clusters or (lives(used=1),),
        "jobs": (BUSY,),
        "recent": (BUSY,),
        "document": DOCUMENT,
        "stacks": (STACK,),
    }
    place = {"stack": STACK, "project": PROJECT, "region": REGION, "address": Location("acme-catalog", "catalog.json")}
    return Picture(**{**place, "now": NOW, "recent_since": NOW - timedelta(days=30), **usual, **fields})


def found(*clusters: PersistentResource, **fields: Any) -> dict[str, Finding]:
    """Return the findings by their kinds; no test has two of one kind."""
    findings = examine(picture(*clusters, **fields))
    by_kind = {finding.kind: finding for finding in findings}
    assert len(by_kind) == len(findings), findings
    return by_kind
