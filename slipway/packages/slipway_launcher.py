"""Starts a job's code exactly once per submission, however often the submission was sent.

Every replica runs this module first. It creates the object `--claim` with `ifGenerationMatch=0` and the job's id as
content: whoever creates it owns the submission. Finding its own id there means another replica or an earlier attempt of
the same job was first: go on. Finding another job's id means that this job is a copy, and finding `moved` that the
submission was given up here and runs elsewhere: say so and exit 0.

The trials of a tuning job are jobs of their own. Whichever is first marks the submission's claim with `trials`, so
that it can't be given up any more, and each has a claim of its own beneath it.

A secret comes as a reference, `NAME__SECRET=projects/…/secrets/…/versions/…`. Its value is read with the replica's
own identity and stands in `NAME` of the job's code alone.

It runs inside prebuilt training images, hence: standard library only, and nothing newer than Python 3.8.
"""

from __future__ import annotations

import argparse
import base64
import functools
import http.client
import json
import os
import random
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from typing import Callable, Mapping  # noqa: UP035 (collections.abc.Callable is not subscriptable in Python 3.8)

METADATA_TOKEN = "/computeMetadata/v1/instance/service-accounts/default/token"
TRIES = 8
TIMEOUT_S = 20
PASSING = {408, 429, 500, 502, 503, 504}
SECRET = "__SECRET"
MOVED, TRIALS = "moved", "trials"
CANNOT_TELL = 70  # EX_SOFTWARE of sysexits: told apart from a user's code and from a signal


class ClaimError(Exception):
    """The claim could be neither created nor read, so running might run the submission twice."""


class SecretError(Exception):
    """A secret could not be read."""


def token(environ: Mapping[str, str]) -> str:
    """The access token of the replica's service account, from the metadata server."""
    host = environ.get("GCE_METADATA_HOST", "metadata.google.internal")
    request = urllib.request.Request("http://" + host + METADATA_TOKEN, headers={"Metadata-Flavor": "Google"})
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with direct.open(request, timeout=TIMEOUT_S) as answer:
        return str(json.load(answer)["access_token"])


def storage_base(environ: Mapping[str, str]) -> str:
    """The base URL of Cloud Storage, without a slash at its end."""
    host = environ.get("STORAGE_EMULATOR_HOST", "https://storage.googleapis.com").rstrip("/")
    return host if "://" in host else "http://" + host


def call(method: str, url: str, bearer: str, body: bytes | None = None) -> tuple[int, str]:
    """`(status, body)` of one request; raises OSError when there was no answer."""
    headers = {"Authorization": "Bearer " + bearer, "Content-Type": "text/plain"}
    request = urllib.request.Request(url, data=body, headers=headers, method=method)
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT_S) as answer:
            return answer.status, answer.read().decode("utf-8", "replace")
    except urllib.error.HTTPError as refusal:
        with refusal:
            return refusal.code, refusal.read().decode("utf-8", "replace")


def holder(claim: str, job: str, environ: Mapping[str, str]) -> str:
    """The id of the job that holds `claim` (`gs://bucket/name`), after one try to take it for `job`."""
    bucket, _, name = claim[len("gs://") :].partition("/")
    bucket, name = urllib.parse.quote(bucket, safe=""), urllib.parse.quote(name, safe="")
    base, bearer = storage_base(environ), token(environ)
    create = f"{base}/upload/storage/v1/b/{bucket}/o?uploadType=media&ifGenerationMatch=0&name={name}"
    status, body = call("POST", create, bearer, job.encode())
    if status == 200:
        return job
    if status == 412:
        status, body = call("GET", f"{base}/storage/v1/b/{bucket}/o/{name}?alt=media", bearer)
        if status == 200:
            return body.strip()
    answer = "HTTP {}: {}".format(status, " ".join(body.split())[:300])
    if status in PASSING or status == 404:  # 404 after 412: the claim went away in between
        raise OSError(answer)
    raise ClaimError(answer)


def patiently(ask: Callable[[], str], sleep: Callable[[float], None]) -> str:
    """What `ask` gives, tried again while the trouble may pass; raises OSError when it does not."""
    last: Exception = OSError("not tried")
    for attempt in range(TRIES):
        try:
            return ask()
        except (OSError, http.client.HTTPException, ValueError, KeyError) as error:
            last = error  # no answer, half an answer, an answer without a token
        if attempt < TRIES - 1:
            sleep(min(2**attempt, 20) * (0.5 + random.random() / 2))
    raise OSError(f"no good answer in {TRIES} tries; the last: {last}")


def settle(claim: str, job: str, environ: Mapping[str, str], sleep: Callable[[float], None] = time.sleep) -> str:
    """The holder of `claim`, tried again while the trouble may pass; raises ClaimError."""
    try:
        return patiently(lambda: holder(claim, job, environ), sleep)
    except OSError as error:
        raise ClaimError(str(error)) from error


def secret(name: str, environ: Mapping[str, str]) -> str:
    """The text of a secret's version, after one try to read it."""
    base = environ.get("GOOGLE_SECRET_MANAGER_CUSTOM_ENDPOINT", "https://secretmanager.googleapis.com/v1/")
    status, body = call("GET", f"{base.rstrip('/')}/{urllib.parse.quote(name)}:access", token(environ))
    if status == 200:
        value = base64.b64decode(json.loads(body)["payload"]["data"])
        try:
            return value.decode()
        except UnicodeDecodeError:
            raise SecretError("its value is not text, which an environment variable must be") from None
    answer = "HTTP {}: {}".format(status, " ".join(body.split())[:300])
    if status in PASSING:
        raise OSError(answer)
    raise SecretError(answer)


def secrets(environ: Mapping[str, str], sleep: Callable[[float], None] = time.sleep) -> dict[str, str]:
    """The value of each secret that `environ` refers to, by its variable; raises SecretError, never with a value."""
    found = {}
    for variable, reference in environ.items():
        if variable.endswith(SECRET) and variable != SECRET:
            try:
                found[variable[: -len(SECRET)]] = patiently(functools.partial(secret, reference, environ), sleep)
            except (OSError, SecretError) as error:
                raise SecretError(f"{reference}: {error}") from error
    return found


def arguments(argv: list[str]) -> tuple[str, str, list[str]]:
    """`(claim, module, the module's own arguments)`; exits 2 with usage when they make no sense."""
    parser = argparse.ArgumentParser(prog="slipway_launcher", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--claim", required=True, help="gs:// object that marks the submission as taken")
    parser.add_argument("--module", required=True, help="the module to run, as with python -m")
    parser.add_argument("rest", nargs=argparse.REMAINDER, help="-- and the module's own arguments")
    known = parser.parse_args(argv)
    bucket, _, name = known.claim.partition("gs://")[2].partition("/")
    if not bucket or not name:
        parser.error(f"--claim: {known.claim!r} is not of the form gs://bucket/object")
    return known.claim, known.module, known.rest[1:] if known.rest[:1] == ["--"] else known.rest


def refuse(what: str, why: str, fix: str) -> int:
    """Says on stderr why the job does not start."""
    print(f"error: {what}\n  why: {why}\n  fix: {fix}", file=sys.stderr, flush=True)
    return CANNOT_TELL


def main(argv: list[str], environ: Mapping[str, str]) -> int:
    """0 for a copy, CANNOT_TELL when unsure; otherwise this process becomes the module and does not return."""
    claim, module, rest = arguments(argv)
    job = environ.get("CLOUD_ML_JOB_ID", "")
    if not job:
        return refuse(
            "CLOUD_ML_JOB_ID is not set",
            "the claim holds the job's id, which Vertex AI puts there",
            f"outside of Vertex AI run the module itself: python -m {module}",
        )
    trial = environ.get("CLOUD_ML_TRIAL_ID", "")
    try:
        owner = job
        if trial:
            mark = settle(claim, TRIALS, environ)
            owner = job if mark == TRIALS else mark
        if owner == job:
            owner = settle(f"{claim}/{trial}" if trial else claim, job, environ)
    except ClaimError as error:
        return refuse(
            "can't tell whether this submission runs already, so the job does not start",
            f"{claim}: {error}",
            "give the job's service account roles/storage.objectUser on that bucket, then submit again",
        )
    if owner == job:
        try:
            known = {**environ, **secrets(environ)}
        except SecretError as error:
            return refuse(
                "a secret of this job can't be read, so the job does not start",
                str(error),
                "give the job's service account roles/secretmanager.secretAccessor on that secret, then submit again",
            )
        os.execve(sys.executable, [sys.executable, "-m", module, *rest], known)
    why = (
        "given up for another capacity type" if owner == MOVED else f"a copy of job {owner}, which runs this submission"
    )
    print(f"slipway: {why}: nothing to do here", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], os.environ))
