"""The catalog: what a stack publishes for everybody who submits. One JSON document, of the schema that
`slipway.catalog.model.SCHEMA` says.

Readers ignore keys they do not know, so adding a key keeps the schema; renaming or removing one raises it.

A template's entry (`slipway.catalog.template_entry`):
- `kind` is what it is submitted as unless `--as` says another of `kinds`: custom-job, hyperparameter-tuning-job,
  training-pipeline. `package` is a gs:// URI, empty for an `image`. `codeFlag`: it may be submitted with --code here,
  else `codeWhy` says who forbids it.
- `parameters`: without `default` one is required.
- `study`, null without one: `maxTrials`, `parallelTrials` (numbers, or `${name}`), `algorithm`, `metrics`,
  `parameters`.
- `offers`, in order of preference: `capacityType`, `kind`, and `when`: by parameter, the values with which it applies;
  for any values, the entries of a kind that apply are those of one variant. `cluster` and `pools` for the capacity type
  pool; `available` and `why`, with `lacksQuota` where that was lack of quota when the stack was deployed; `wait`;
  `note`, where an older page says something else; `pricePerHour` of all machines at the usual replicas, null where
  nothing of it is known, and `priceComplete`, false where a part has no known price; `request`, the body to post for
  that kind. `roles` and `pools` have one value for each of the request's workerPoolSpecs, empty where a
  worker pool is skipped.

Placeholders in requests: `${parameter}`, and `${slipway.job}`, `${slipway.request}`, `${slipway.output}`,
`${slipway.package}` (only with `codeFlag` templates), `${slipway.sweep}`, `${slipway.experimentRun}`. One that is the
whole text may stand for a number (replicaCount, maxTrialCount, parallelTrialCount).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from slipway.catalog.model import SCHEMA
from slipway.cluster import CurrentCluster, PoolSpec
from slipway.money import price_text
from slipway.prices import hourly
from slipway.revision import Revision
from slipway.stack import Stack
from slipway.template.jobspec import CompileContext

NAME = "catalog.json"


def document(
    context: CompileContext,
    stack: Stack,
    clusters: Iterable[CurrentCluster],
    retiring: Iterable[str],
    revision: Revision,
    templates: Mapping[str, Mapping[str, Any]],
) -> dict[str, Any]:
    """The whole catalog. `retiring` are ids of clusters, `templates` the entries by name."""
    return {
        "schema": SCHEMA,
        "stack": stack.name,
        "project": stack.project,
        "region": stack.region,
        "commit": revision.commit,
        "dirty": revision.dirty,
        "storage": {"catalog": context.catalog_bucket, "work": context.work_bucket},
        "trainer": context.trainer,
        "clusters": {current.spec.name: _cluster(current, stack.region) for current in clusters},
        "retiring": list(retiring),
        "templates": dict(templates),
    }


def _cluster(current: CurrentCluster, region: str) -> dict[str, Any]:
    return {"id": current.id, "pools": {pool.name: _pool(pool, region) for pool in current.spec.pools}}


def _pool(pool: PoolSpec, region: str) -> dict[str, Any]:
    price = hourly(pool.machine_type, region, pool.disk, accelerator=pool.accelerator_type)
    return {
        "machine": pool.machine_type,
        "accelerator": pool.accelerator_type,
        "acceleratorCount": pool.accelerator_count,
        "disk": {"type": pool.disk.type, "sizeGb": pool.disk.size_gb},
        "min": pool.min,
        "max": pool.max,
        "autoscaled": pool.autoscaled,
        "pricePerHour": price_text(price),
        "priceComplete": price.complete,
    }
