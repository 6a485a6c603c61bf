"""Samples of the machines that were up: an object for each day in the catalog's bucket, to which hourly runs add."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Annotated, Any

from slipway.base import codec
from slipway.base.errors import ResourceError
from slipway.google.clusters import PersistentResource
from slipway.google.failures import NotFound
from slipway.google.storage import Location, Storage, StoredObject
from slipway.model.catalog.model import HISTORY
from slipway.model.season import moment, moment_text
from slipway.operating.history.model import PoolKey, PoolSample, Sample

SCHEMA = 1
APART = timedelta(minutes=5)
"""The least time between two samples: an earlier run adds nothing."""
_FOLDER = f"{HISTORY}samples/"
_ATTEMPTS = 8


_Time = Annotated[datetime, codec.As(lambda text: moment(str(text)), moment_text, "a time with its zone")]


@dataclass(frozen=True)
class _Sample:
    """Pools by `<cluster's id>/<pool's id>`; neither id has a slash."""

    at: _Time
    pools: Mapping[str, PoolSample]


@dataclass(frozen=True)
class _Day:
    samples: tuple[_Sample, ...]


def sample_of(clusters: Iterable[PersistentResource], at: datetime) -> Sample:
    """Return the machines of these clusters' pools."""
    # A failed cluster, or one not yet created, holds nothing and is not billed: its pools have the intended number.
    return Sample(
        at,
        {
            PoolKey(cluster.id, pool.id): PoolSample(pool.replicas, pool.used) if cluster.billed else PoolSample(0, 0)
            for cluster in clusters
            for pool in cluster.pools
        },
    )


def day_objects(storage: Storage, bucket: str, since: datetime, until: datetime) -> list[StoredObject]:
    """Return the objects of these days. Raises CloudError."""
    first, last = _object(bucket, since.date()).name, _object(bucket, until.date()).name
    return [stored for stored in storage.objects(Location(bucket, _FOLDER)) if first <= stored.at.name <= last]


def read_day(storage: Storage, stored: StoredObject) -> tuple[Sample, ...]:
    """Read one object. Raises CloudError, and ValueError for foreign contents."""
    samples = read_samples(storage.read(stored.at, generation=stored.generation))
    if other := next((sample for sample in samples if _object(stored.at.bucket, sample.at.date()) != stored.at), None):
        raise ValueError(f"it has a sample of {moment_text(other.at)}")
    return samples


def read_samples(content: bytes) -> tuple[Sample, ...]:
    """Return the samples of one object, in the order of their times. Raises ValueError for foreign contents."""
    try:
        body = codec.from_json(content)
    except RecursionError as problem:
        raise ValueError(str(problem)) from problem
    if not isinstance(body, dict) or body.get("schema") != SCHEMA:
        raise ValueError("it has no samples of this version")
    day = codec.read(_Day, body)
    samples = (
        Sample(sample.at, {PoolKey(*name.partition("/")[::2]): pool for name, pool in sample.pools.items()})
        for sample in day.samples
    )
    return tuple(sorted(samples, key=lambda sample: sample.at))


def write_samples(samples: Iterable[Sample]) -> bytes:
    day = _Day(
        tuple(
            _Sample(sample.at, {f"{key.cluster_id}/{key.pool}": pool for key, pool in sample.pools.items()})
            for sample in samples
        )
    )
    body: dict[str, Any] = {"schema": SCHEMA, **codec.write(day)}
    return json.dumps(body, separators=(",", ":")).encode()


def add_sample(storage: Storage, bucket: str, sample: Sample) -> bool:
    """Add a sample to its day's object; False where the last one is too young.

    Raises CloudError; ResourceError where others write all the time, or where it has foreign contents, which stay.
    """
    place = _object(bucket, sample.at.date())
    for _ in range(_ATTEMPTS):
        stored = next((listed for listed in storage.objects(place) if listed.at == place), None)
        try:
            before = read_day(storage, stored) if stored else ()
        except NotFound:  # Another process has written since.
            continue
        except ValueError as problem:
            fix = "delete it, unless a newer version of Slipway wrote it"
            raise ResourceError(f"{place} can't be added to", why=str(problem), fix=fix) from problem
        if before and abs(sample.at - before[-1].at) < APART:
            return False
        content = write_samples((*before, sample))
        media = "application/json"
        if storage.replace(stored, content, media) if stored else storage.create(place, content, media):
            return True
    raise ResourceError(f"{place} could not be written", why="others wrote it meanwhile, each time", fix="try again")


def _object(bucket: str, day: date) -> Location:
    return Location(bucket, f"{_FOLDER}{day:%Y-%m-%d}.json")
