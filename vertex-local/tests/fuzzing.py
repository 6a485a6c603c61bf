"""Requests that nobody would send: odd values where the APIs' own documents have a field or a parameter, good bodies
with a piece exchanged, and bodies that are not JSON. One number makes one request, so that a run can be repeated."""

import copy
import json
import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode

from tests.vertex.pipeline_jobs.pipelines import pipeline_job
from vertex_local import discovery, identities
from vertex_local.testing.bodies import cluster_body, job_body
from vertex_local.wire import Route

ODD: Sequence[Any] = (
    *("", " ", "0", "-1", "9" * 30, "1e400", "NaN", "true", "*", "a" * 300, "ü", "日本", "\u0000", "\ud800", "٣", "²"),
    *("..", "a/b", "a:b", "gs://", "gs://b/o", "%", "x@y", "[", '"', "-5s", "5s", "1e300s", "\n", "projects/x", "::"),
    *("2026-11-20T10:00:00Z", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "2026-11-20"),
    *(0, 1, -1, 7, 2**31, 2**63, 10**30, 0.5, -0.0, 1e308, True, False, None),
    *([], {}, [None], {"a": None}, [[]], {"": ""}),
)
TEXTS = tuple(item for item in ODD if isinstance(item, str) and item != "\ud800")
FILTERS = (
    *("severity>=ERROR", 'a="b"', "a:*", 'labels.a="ü"', "NOT (", "timestamp<2026-11-20", 'state="x" OR 1>2', "-a=b"),
    *('metric.type="ml.googleapis.com/training/cpu/utilization"', "create_time>1", 'x=~"("', "display_name:x*", "a<1"),
    *(
        'timestamp>"0001-01-01T00:00:00+14:00"',
        'create_time<"9999-12-31T23:59:59-14:00"',
        "state:ENABLED",
        '"',
        "a.b=c",
    ),
)
MEDIA = (
    *("application/json", "multipart/related; boundary=b", "multipart/mixed; boundary=b", "multipart/related"),
    *("text/plain", "multipart/related; boundary='b'", "application/octet-stream"),
)
HEADERS = (
    *("range", "content-range", "x-goog-hash", "accept-encoding", "x-upload-content-type", "if-match", "content-type"),
    *("x-goog-fieldmask", "x-http-method-override"),
)
HEADER_VALUES = (
    *("bytes=0-0", "bytes=-1", "bytes=5-", "bytes=9-1", f"bytes={'9' * 30}-", "bytes=a-b", "bytes */*", "bytes 0-1/2"),
    *("crc32c=AAAA", "md5=", "gzip", "", "a/b", f"bytes 0-{'9' * 30}/*", "bytes 7-1/3", "*"),
    *("GET", "name,*/*", "application/x-www-form-urlencoded"),
)
KNOWN: Mapping[str, Sequence[str]] = {
    "projects": (identities.PROJECT_ID, identities.PROJECT_NUMBER),
    "locations": (identities.REGION,),
    "persistentResources": ("cpu",),
    "serviceAccounts": (identities.DEPLOYER, "fuzzed@local-project.iam.gserviceaccount.com"),
    "services": ("aiplatform.googleapis.com", "storage.googleapis.com"),
    "b": ("fuzzed",),
    "o": ("one", "two"),
    "secrets": ("fuzzed",),
    "versions": ("1", "latest"),
    "metadataStores": ("default",),
}
WORKER = job_body()["jobSpec"]
PARAMETER = {"parameterId": "lr", "doubleValueSpec": {"minValue": 0.1, "maxValue": 1}}
TUNING = {
    "displayName": "t",
    "studySpec": {"metrics": [{"metricId": "a", "goal": "MAXIMIZE"}], "parameters": [PARAMETER]},
    "maxTrialCount": 2,
    "parallelTrialCount": 1,
    "trialJobSpec": WORKER,
}
DEFINITION = "gs://google-cloud-aiplatform/schema/trainingjob/definition/custom_task_1.0.0.yaml"
GOOD: Mapping[str, Any] = {
    "CustomJob": job_body(),
    "PersistentResource": cluster_body(),
    "HyperparameterTuningJob": TUNING,
    "TrainingPipeline": {"displayName": "p", "trainingTaskDefinition": DEFINITION, "trainingTaskInputs": WORKER},
    "PipelineJob": pipeline_job(bucket="fuzzed"),
    "UploadModelRequest": {
        "model": {
            "displayName": "m",
            "versionAliases": ["b-2", "a-1"],
            "containerSpec": {"imageUri": "gcr.io/acme/serving:1"},
        },
        "modelId": "fuzzed",
    },
    "WriteLogEntriesRequest": {
        "logName": "projects/local-project/logs/l",
        "resource": {"type": "ml_job", "labels": {"job_id": "1"}},
        "entries": [{"textPayload": "x", "severity": "INFO", "timestamp": "2026-11-20T10:00:00Z"}],
    },
    "ListLogEntriesRequest": {"resourceNames": ["projects/local-project"], "filter": "severity>=ERROR", "pageSize": 3},
    "SetIamPolicyRequest": {"policy": {"bindings": [{"role": "roles/owner", "members": [identities.ROLES["owner"]]}]}},
    "TestIamPermissionsRequest": {"permissions": ["storage.objects.get"]},
    "Secret": {"replication": {"automatic": {}}, "labels": {"a": "b"}},
    "AddSecretVersionRequest": {"payload": {"data": "eA=="}},
    "Bucket": {"name": "fuzzed", "location": "us-central1", "labels": {"a": "b"}, "lifecycle": {"rule": []}},
    "Object": {"name": "one", "metadata": {"a": "b"}, "contentType": "text/plain"},
    "ComposeRequest": {"sourceObjects": [{"name": "one", "generation": "1"}], "destination": {"contentType": "a/b"}},
    "CreateServiceAccountRequest": {"accountId": "fuzzed", "serviceAccount": {"displayName": "x"}},
    "QuotaPreference": {
        "service": "aiplatform.googleapis.com",
        "quotaId": "CustomModelTrainingT4GPUsPerProjectPerRegion",
        "dimensions": {"region": "us-central1"},
        "quotaConfig": {"preferredValue": "8"},
        "contactEmail": "a@b.c",
    },
    "/vertex-local/faults": {"faults": [{"kind": "unavailable", "match": "x", "times": 1, "every": 1, "seconds": 0}]},
    "/vertex-local/settings": {
        "stockout_tries": 3,
        "quota": {"custom_model_training_cpus": 5},
        "groups": {"group:a": ["b"]},
    },
    "/vertex-local/scenario": {
        "supply": [{"at": 0, "region": "us-central1", "machine": "a3-highgpu-8g", "strategy": "spot", "machines": 0}],
        "spot": {"notice": False, "random": {"rate_per_hour": 1.0, "seed": 7}, "preempt": [{"job": "x", "after": 1}]},
        "reservations": {"projects/p/zones/us-central1-a/reservations/r": {"machine": "a3-highgpu-8g", "count": 1}},
    },
    "/vertex-local/clock": {"advance": 5},
    "/vertex-local/kill": {"job": "x", "replica": "workerpool0-0"},
}


@dataclass(frozen=True)
class Sent:
    """One request; `path` is percent-encoded and has its query."""

    method: str
    path: str
    body: bytes = b""
    headers: tuple[tuple[str, str], ...] = ()


class Fuzzer:
    """A maker of requests to some routes. `known` are ids that exist, by the word before them in paths."""

    def __init__(self, routes: Sequence[Route], known: Mapping[str, Sequence[str]]) -> None:
        self._routes, self._known = routes, {**KNOWN, **known}

    def plain(self, route: Route) -> Sent:
        """Return the request of a route with existing names, and without a body."""
        return Sent(route.method, self._path(route.template, random.Random(0), odd=0))

    def request(self, number: int) -> Sent:
        chance = random.Random(number)
        route = chance.choice(self._routes)
        if route.method == "DELETE":  # half as often: a missing resource can't break anything
            route = chance.choice(self._routes)
        template, _, needs = route.template.partition("?")
        path = self._path(template, chance, odd=0.08)
        method = discovery.method_of(route.method, path)
        query = "&".join(filter(None, (needs and f"{needs}={chance.choice(('', 'x'))}", self._query(chance, method))))
        body, headers = b"", []
        if route.method in ("POST", "PUT", "PATCH"):
            body = self._body(chance, route.template, method)
            headers.append(("content-type", chance.choice(MEDIA)))
        if chance.random() < 0.2:
            headers.append((chance.choice(HEADERS), chance.choice(HEADER_VALUES)))
        return Sent(route.method, f"{path}?{query}" if query else path, body, tuple(headers))

    def _path(self, template: str, chance: random.Random, odd: float) -> str:
        def filled(match: re.Match[str]) -> str:
            name, kind = match.groups()
            if kind and kind not in ("any", "path"):
                return chance.choice(str(kind).split("|"))
            word = template[: match.start()].rstrip("/").rpartition("/")[2]
            if chance.random() < odd:
                return quote(str(chance.choice(TEXTS)), safe="")
            return quote(chance.choice(self._known.get(word, (name,))), safe="")

        return re.sub(r"\{(\w+)(?::([^}]+))?\}", filled, template)

    def _query(self, chance: random.Random, method: discovery.Method | None) -> str:
        names = (
            sorted(method.parameters) if method else ["filter", "pageSize", "pageToken", "updateMask", "allowMissing"]
        )
        if chance.random() < 0.5:
            names = [*names, "alt", "fields", "$.xgafv", "nonsense"]
        pairs = []
        for name in chance.sample(names, min(len(names), chance.choice((0, 0, 1, 2, 3)))):
            value = chance.choice(TEXTS)
            if name == "filter":
                value = chance.choice(FILTERS)
            elif name.lower().endswith("mask"):
                value = chance.choice(("labels", "displayName,labels", "display_name", "*", value))
            elif name.endswith("Id"):
                value = chance.choice(("fuzzed", "cpu", value))
            elif name == "uploadType":
                value = chance.choice(("media", "multipart", "resumable", value))
            elif name == "orderBy":
                value = chance.choice(("create_time", "createTime desc", "display_name", "x desc", value))
            elif name == "fields":
                value = chance.choice(("name", "items(name),nextPageToken", "*(a/b,*)", "*/*/name", "a(", value))
            elif name == "name":
                value = chance.choice(("one", value))
            pairs.append((name, value))
        return urlencode(pairs)

    def _body(self, chance: random.Random, template: str, method: discovery.Method | None) -> bytes:
        kind = chance.random()
        if kind < 0.05:
            return chance.choice(
                (b"", b"{", b"\xff", b"[1", b'"\xed\xa0\x80"', b"NaN", b'{"a":NaN}', b"[" * 5000, b"null", b"1")
            )
        schema = method.schema if method else "QuotaPreference" if "quotaPreferences" in template else ""
        good = GOOD.get(template, GOOD.get(schema))
        if template.startswith(("/upload", "/resumable")):
            good = GOOD["Object"]
        if kind < 0.1 or (good is None and not schema):
            return json.dumps(self._any(chance)).encode()
        if good is not None and kind < 0.75:
            body = copy.deepcopy(good)
            for _ in range(chance.choice((0, 1, 1, 2, 3))):
                body = self._exchanged(chance, body)
        else:
            assert method or good is not None
            body = self._of_schema(chance, method.api, schema, 0) if method else good
        text = json.dumps(body).encode()
        if "upload" in template and chance.random() < 0.5:
            return b"--b\r\n\r\n" + text + b"\r\n--b\r\nContent-Type: a/b\r\n\r\ndata\r\n--b--"
        if template.startswith("/batch"):
            inner = self.request(chance.getrandbits(32))
            head = f"--b\r\nContent-ID: <1>\r\n\r\n{inner.method} {inner.path} HTTP/1.1\r\n\r\n".encode()
            return head + inner.body + b"\r\n--b--"
        return text

    def _exchanged(self, chance: random.Random, value: Any) -> Any:
        """Return a value with one piece of it exchanged for an odd one, or a strange one beside it."""
        if isinstance(value, dict) and value and chance.random() < 0.92:
            key = chance.choice(sorted(value))
            if chance.random() < 0.05:
                return {name: item for name, item in value.items() if name != key}
            if chance.random() < 0.05:
                return {**value, str(chance.choice(ODD)): chance.choice(ODD)}
            return {**value, key: self._exchanged(chance, value[key])}
        if isinstance(value, list) and value and chance.random() < 0.92:
            at = chance.randrange(len(value))
            if chance.random() < 0.05:
                return [*value, value[at]]
            return [*value[:at], self._exchanged(chance, value[at]), *value[at + 1 :]]
        return chance.choice(ODD)

    def _of_schema(self, chance: random.Random, api: str, name: str, depth: int) -> Any:
        schema = discovery.document(api)["schemas"][name]
        properties = schema.get("properties", {})
        names = chance.sample(sorted(properties), min(len(properties), chance.randint(0, 4)))
        return {key: self._of_type(chance, api, properties[key], depth + 1) for key in names}

    def _of_type(self, chance: random.Random, api: str, schema: Mapping[str, Any], depth: int) -> Any:
        if depth > 6 or chance.random() < 0.1:
            return chance.choice(ODD)
        if "$ref" in schema:
            return self._of_schema(chance, api, schema["$ref"], depth)
        kind = schema.get("type", "any")
        if kind == "array":
            return [self._of_type(chance, api, schema["items"], depth + 1) for _ in range(chance.randint(0, 2))]
        if kind == "object":
            inner = schema.get("additionalProperties", {"type": "any"})
            found = {
                chance.choice(TEXTS): self._of_type(chance, api, inner, depth + 1) for _ in range(chance.randint(0, 2))
            }
            properties = schema.get("properties", {})
            names = chance.sample(sorted(properties), min(len(properties), 2))
            return found | {key: self._of_type(chance, api, properties[key], depth + 1) for key in names}
        if "enum" in schema and chance.random() < 0.8:
            return chance.choice(schema["enum"])
        if kind == "boolean":
            return chance.random() < 0.5
        if kind in ("integer", "number") or "int" in schema.get("format", ""):
            return chance.choice((0, 1, 2, 100, -1, 0.5, 2**31, 2**63 - 1, "5"))
        return chance.choice(TEXTS) if kind == "string" else chance.choice(ODD)

    def _any(self, chance: random.Random) -> Any:
        return chance.choice((chance.choice(ODD), [chance.choice(ODD)], {str(chance.choice(ODD)): chance.choice(ODD)}))
