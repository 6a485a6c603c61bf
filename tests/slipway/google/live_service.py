"""A service with a test's answers, over real HTTP, and the connection to it."""

import contextlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from slipway.google.connection import Connection, connect
from slipway.google.live import Live
from slipway.google.live_reader import LiveScope
from slipway.google.session import HttpPolicy
from slipway.google.snapshot import read
from tests import loopback

POOL = {
    "id": "workers",
    "machineSpec": {"machineType": "n1-standard-8"},
    "diskSpec": {"bootDiskType": "pd-ssd", "bootDiskSizeGb": 100},
    "replicaCount": "2",
    "usedReplicaCount": "1",
    "autoscalingSpec": {"minReplicaCount": "1", "maxReplicaCount": "4"},
}
SPEC = {
    "persistentResourceId": "cpu-1a2b3c4",
    "workerPoolSpecs": [{"machineSpec": {"machineType": "n1-standard-8"}, "replicaCount": "2"}],
}
CLUSTER = "projects/acme/locations/us-central1/persistentResources/cpu-1a2b3c4"
METRICS = frozenset(f"custom_model_training_{drawn}" for drawn in ("cpus", "a3_cpus", "c2_cpus", "nvidia_h100_gpus"))
WANTED = LiveScope(
    "acme",
    "us-central1",
    "acme-catalog",
    ("acme-catalog", "acme-work"),
    ("trainer@acme.iam.gserviceaccount.com",),
    metrics=METRICS,
)
PATHS = {
    "clusters": "/vertex/projects/acme/locations/us-central1/persistentResources",
    "jobs": "/vertex/projects/acme/locations/us-central1/customJobs",
    "far clusters": "/vertex/projects/acme/locations/europe-west4/persistentResources",
    "tuning": "/vertex/projects/acme/locations/us-central1/hyperparameterTuningJobs",
    "pipelines": "/vertex/projects/acme/locations/us-central1/trainingPipelines",
    "quotas": "/quotas/projects/acme/locations/global/services/aiplatform.googleapis.com/quotaInfos",
    "preferences": "/quotas/projects/acme/locations/global/quotaPreferences",
    "catalog": "/storage/b/acme-catalog/o/catalog.json",
    "catalog bucket": "/storage/b/acme-catalog",
    "work bucket": "/storage/b/acme-work",
    "buckets": "/storage/b",
    "account": "/iam/projects/acme/serviceAccounts/trainer@acme.iam.gserviceaccount.com",
}


@dataclass
class Service:
    """A service with answers by path: a status and a body. A path without one is an empty list, or is not found."""

    answers: dict[str, tuple[int, Any]] = field(default_factory=dict)
    asked: dict[str, dict[str, list[str]]] = field(default_factory=dict)
    filters: list[tuple[str, str]] = field(default_factory=list)
    """All requests: the path, and the filter, empty where there is none."""
    date: str = ""
    cut: set[str] = field(default_factory=set)
    """The paths whose answers end half way, as when a connection drops."""

    def __setitem__(self, what: str, answer: Any) -> None:
        self.answers[PATHS[what]] = answer if isinstance(answer, tuple) else (200, answer)

    def answer(self, path: str) -> tuple[int, Any]:
        found = {PATHS[what]: (404, {"error": {"message": "not there"}}) for what in PATHS if what.endswith(" bucket")}
        missing = {**found, PATHS["account"]: (404, {}), PATHS["catalog"]: (404, {})}
        one_cluster = path.startswith(f"{PATHS['clusters']}/")
        return self.answers.get(path) or missing.get(path) or ((404, {}) if one_cluster else (200, {}))


@pytest.fixture
def service() -> Service:
    return Service()


class Handler(loopback.Handler):
    """Answers in JSON. `date` is the service's own time."""

    date = ""

    def give(self, status: int, body: Any, *, cut: bool = False) -> None:
        content = json.dumps(body).encode()
        self.send_response_only(status)
        if self.date:
            self.send_header("Date", self.date)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content[: len(content) // 2] if cut else content)


@contextlib.contextmanager
def served(handler: type[Handler], **paths: str) -> Iterator[dict[str, str]]:
    """Serve, and yield the environment that leads there; `paths` by the endpoints' names."""
    with loopback.served(handler) as url:
        endpoints = {f"GOOGLE_{name}_CUSTOM_ENDPOINT": f"{url}/{path}" for name, path in paths.items()}
        yield {"GOOGLE_OAUTH_ACCESS_TOKEN": "token", **endpoints}


@pytest.fixture
def environ(service: Service) -> Iterator[dict[str, str]]:
    """Serve the answers, and yield the environment that leads there."""

    class Answers(Handler):
        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            service.asked[parts.path] = parse_qs(parts.query)
            (asked,) = service.asked[parts.path].get("filter", [""])
            service.filters.append((parts.path, asked))
            self.date = service.date
            self.give(*service.answer(parts.path), cut=any(parts.path == PATHS[what] for what in service.cut))

    paths = {"VERTEX_AI": "vertex/", "CLOUD_QUOTAS": "quotas/", "STORAGE": "storage/", "IAM_BETA": "iam/"}
    with served(Answers, **paths) as environ:
        yield environ


@pytest.fixture
def connection(environ: dict[str, str]) -> Connection:
    return connect(environ, HttpPolicy(attempts=1))


def live(connection: Connection, *, off_is_empty: bool = False) -> Live:
    found, _ = read(connection, WANTED, identity="ada", off_is_empty=off_is_empty)
    return found


def quota(metric: str, locations: list[str], value: str | None, **eligibility: Any) -> dict[str, Any]:
    details = {} if value is None else {"value": value}
    return {
        "metric": f"aiplatform.googleapis.com/{metric}",
        "dimensionsInfos": [{"details": details, "applicableLocations": locations}],
        "quotaIncreaseEligibility": eligibility,
    }


def preference(region: str = "us-central1", **changes: Any) -> dict[str, Any]:
    return {
        "name": "projects/1/locations/global/quotaPreferences/h100",
        "service": "aiplatform.googleapis.com",
        "quotaId": "H100",
        "dimensions": {"region": region},
        "quotaConfig": {"preferredValue": "16", "grantedValue": "0", "stateDetail": "denied"},
        "etag": "e1",
        **changes,
    }
