"""The scripts that a person would write without Slipway: they submit one job, or many, with the Vertex SDK."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from textwrap import indent
from typing import Any

from bench.errors import BenchError

_SCRIPT = """\
import os

from google.cloud import aiplatform
from google.oauth2.credentials import Credentials

aiplatform.init(
    project={project!r},
    location={region!r},
    # The bench's own cloud; on the real one these three lines fall away.
    api_endpoint=os.environ["GOOGLE_VERTEX_AI_CUSTOM_ENDPOINT"].removesuffix("v1beta1/").removesuffix("/"),
    api_transport="rest",
    credentials=Credentials(os.environ["GOOGLE_OAUTH_ACCESS_TOKEN"]),
)
{body}"""
_ONE = """\
job = aiplatform.CustomJob(
    display_name={display_name!r},
    worker_pool_specs={worker_pool_specs!r},
    base_output_dir={output!r},
    staging_bucket={output!r},
    labels={labels!r},
)
job.submit({arguments})
"""
_LOOP = """\
import json
import time

began = time.monotonic()
for _ in range({count}):
{one}print(json.dumps({{"seconds": time.monotonic() - began}}))
"""
_THREADS = """\
from concurrent.futures import ThreadPoolExecutor


def submit(_):
{one}

with ThreadPoolExecutor({width}) as threads:
    list(threads.map(submit, range({count})))
"""
_JOB = {"displayName", "jobSpec", "labels"}
_SPEC = {"workerPoolSpecs", "baseOutputDirectory", "persistentResourceId", "serviceAccount", "scheduling"}


def script(request: Mapping[str, Any], project: str, region: str) -> str:
    """Return Python source that submits the same job as `request`, the JSON body of a custom job (`slipway submit
    --dry-run`).

    Raises BenchError when the request holds a field that the script would leave out: it would not be the same job.
    """
    return _SCRIPT.format(project=project, region=region, body=_one(request) + "print(job.resource_name)\n")


def loop(request: Mapping[str, Any], project: str, region: str, count: int) -> str:
    """Return the same, `count` times in a loop, printing its time without the imports. Raises BenchError."""
    body = _LOOP.format(count=count, one=indent(_one(request), "    "))
    return _SCRIPT.format(project=project, region=region, body=body)


def threads(request: Mapping[str, Any], project: str, region: str, count: int, width: int) -> str:
    """Return the same, `count` times by `width` threads. Raises BenchError."""
    body = _THREADS.format(count=count, width=width, one=indent(_one(request), "    "))
    return _SCRIPT.format(project=project, region=region, body=body)


def _one(request: Mapping[str, Any]) -> str:
    spec = request["jobSpec"]
    scheduling = spec.get("scheduling", {})
    if left_out := {*request} - _JOB | {*spec} - _SPEC | {*scheduling} - {"timeout"}:
        raise BenchError(f"the SDK script does not know the request's {', '.join(sorted(left_out))}")
    arguments = {
        "persistent_resource_id": spec.get("persistentResourceId"),
        "service_account": spec.get("serviceAccount"),
        "timeout": int(scheduling["timeout"].removesuffix("s")) if scheduling else None,
    }
    return _ONE.format(
        display_name=request["displayName"],
        worker_pool_specs=_snake(spec["workerPoolSpecs"]),
        output=spec["baseOutputDirectory"]["outputUriPrefix"],
        labels=dict(request.get("labels", {})),
        arguments=", ".join(f"{name}={value!r}" for name, value in arguments.items() if value is not None),
    )


def _snake(value: Any) -> Any:
    """Return a value as the SDK's own examples write it: keys in snake_case, numbers as numbers."""
    if isinstance(value, Mapping):
        return {re.sub(r"([A-Z])", r"_\1", key).lower(): _snake(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_snake(item) for item in value]
    return value
