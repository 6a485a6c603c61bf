"""The least script that submits a job: google-auth and requests make a submission's three calls."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

_SCRIPT = """\
import json
import os

from google.auth.transport.requests import AuthorizedSession
from google.oauth2.credentials import Credentials

REQUEST = {request!r}

session = AuthorizedSession(Credentials(os.environ["GOOGLE_OAUTH_ACCESS_TOKEN"]))
vertex = os.environ["GOOGLE_VERTEX_AI_CUSTOM_ENDPOINT"].removesuffix("v1beta1/").removesuffix("/")
region = vertex + "/v1/projects/{project}/locations/{region}"


def call(method, url, **arguments):
    answer = session.request(method, url, timeout=60, **arguments)
    answer.raise_for_status()
    return answer.json()


call("GET", os.environ["GOOGLE_STORAGE_CUSTOM_ENDPOINT"].rstrip("/") + "/{catalog}?alt=media")
call("GET", region + "/customJobs", params={{"filter": 'state="JOB_STATE_RUNNING" OR state="JOB_STATE_QUEUED"'}})
print(call("POST", region + "/customJobs", json=json.loads(REQUEST))["name"])
"""


def script(request: Mapping[str, Any], catalog: str, project: str, region: str) -> str:
    """Return Python source that reads the `catalog` (gs://bucket/object), lists the unfinished jobs, and posts
    `request`.

    Nothing is checked, chosen, recorded or tried again: what remains is the time that no client can save.
    """
    bucket, name = catalog.removeprefix("gs://").split("/", 1)
    place = f"b/{bucket}/o/{quote(name, safe='')}"
    return _SCRIPT.format(request=json.dumps(request), catalog=place, project=project, region=region)
