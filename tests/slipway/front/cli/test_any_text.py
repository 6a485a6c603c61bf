"""Any text in a file, a variable or an answer: a command ends as it should, in words that can be written. # D1"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import urllib3
import yaml
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from slipway.google.transport import Response, Transport
from tests.builders.documents import places, with_value
from tests.checkouts.shell import Done, slipway

from .stack import Stack

CASE = Path(__file__).parents[2] / "deploying" / "engine" / "recorded" / "edit.jsonl"
HALF = "\ud800"
CHARACTERS = st.characters(categories=["Cs", "Cc", "Cf", "Zl", "Zp", "Nd", "Ll"]) | st.sampled_from("${}'\"\\<>&:=/.,@")
TEXTS = (
    st.just(HALF)
    | st.text(CHARACTERS, max_size=8)
    | st.text(CHARACTERS, min_size=1, max_size=3).map(lambda text: 300 * text)
)
STACK = """
config:
  gcp:project: acme-ml-dev
  gcp:region: us-central1
  slipway:persistentResources:
    cpu:
      encryption: { kmsKey: projects/P/locations/us-central1/keyRings/R/cryptoKeys/K }
      labels: { team: ml-platform }
      network: projects/123456789012/global/networks/training
      pools:
        head: { machine: n1-standard-4, replicas: 1, disk: { type: pd-ssd, sizeGb: 100 } }
      reservedIpRanges: [vertex]
      retireWithin: 7d
      seasons: [{ from: 2027-01-10, until: 2027-02-10 }]
  slipway:quota: { mode: enforce, contactEmail: a@acme.example }
  slipway:reservations: { h: { machine: a3-highgpu-8g, path: projects/p/zones/us-central1-a/reservations/r } }
  slipway:workspace: { catalogBucket: some-bucket-name, submitters: [group:ml@acme.example] }
  slipway:templates: [train]
"""
JOB = """
displayName: train
labels: { team: ml }
jobSpec:
  serviceAccount: t@p.iam.gserviceaccount.com
  workerPoolSpecs:
    - machineSpec: { machineType: n1-standard-4 }
      replicaCount: 1
      containerSpec: { imageUri: python:3.11, args: ["--trees=5"], env: [{ name: A, value: B }] }
"""


def replaced(document: Any, place: int, text: str) -> Any:
    """Return a document with another text in place of one of its texts, or of one of its keys."""
    texts = [at for at in places(document) if at and isinstance(read(document, at), str)]
    found = [*texts, *(at for at in places(document) if at and isinstance(at[-1], str))]
    at = found[place % len(found)]
    if place % len(found) < len(texts):
        return with_value(document, at, text)
    holder = read(document, at[:-1])
    return with_value(document, at[:-1], {text if key == at[-1] else key: value for key, value in holder.items()})


def read(document: Any, at: tuple[Any, ...]) -> Any:
    for key in at:
        document = document[key]
    return document


def ended_in_words(done: Done, words: object) -> None:
    assert done.code in range(6) and "fault of slipway" not in done.err, (words, done.err)
    assert (done.out + done.err).encode(), words


def lines_of(file: Path) -> list[Any]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


FILES: Mapping[str, tuple[tuple[str, ...], Any]] = {
    "Pulumi.any.yaml": (("check",), yaml.load(STACK, yaml.BaseLoader)),
    "job.yaml": (("templates", "import"), yaml.load(JOB, yaml.BaseLoader)),
    "edit.jsonl": (("review", "--no-live"), lines_of(CASE)),
    "drift.jsonl": (("drift", "--no-live"), lines_of(CASE)),
}


@pytest.mark.parametrize("name", FILES)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(place=st.integers(0, 500), text=TEXTS)
@example(place=0, text=HALF)
@example(place=1, text=HALF)
def test_any_text_in_a_file(tmp_path: Path, name: str, place: int, text: str) -> None:
    words, document = FILES[name]
    changed = replaced(document, place, text)
    lines = changed if name.endswith(".jsonl") else [changed]
    (tmp_path / name).write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    for more in ((), ("--output", "json")):
        if "import" not in words or not more:
            ended_in_words(slipway((*words, name, *more), {"PATH": "/usr/bin"}, tmp_path), words)


SEES = (
    *(("jobs", "list"), ("jobs", "list", "--sweep", "s"), ("pools",), ("quota",), ("templates",), ("usage",)),
    *(("templates", "show", "hello"), ("submit", "hello", "--dry-run"), ("schedule",), ("doctor",)),
    *(("jobs", "show", "hello"), ("jobs", "logs", "hello"), ("jobs", "open", "hello", "--what", "output")),
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(place=st.integers(0, 500), text=TEXTS, words=st.sampled_from(SEES))
def test_any_text_in_a_catalog(stack: Stack, place: int, text: str, words: tuple[str, ...]) -> None:
    stack.publish(json.dumps(replaced(stack.catalog, place, text)).encode())
    ended_in_words(stack.run(*words), words)


VARIABLES = (
    *("SLIPWAY_CATALOG", "SLIPWAY_USER", "SLIPWAY_TEAM", "SLIPWAY_LOOK_FOR", "SLIPWAY_TIMEOUT", "SLIPWAY_NO_CONTACT"),
    *("SLIPWAY_HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "HOME", "GITHUB_ACTOR", "GITHUB_ACTIONS", "GITLAB_CI"),
    *("GOOGLE_OAUTH_ACCESS_TOKEN", "GOOGLE_CLOUD_QUOTA_PROJECT", "GOOGLE_CLOUD_UNIVERSE_DOMAIN", "NO_COLOR"),
    *("PULUMI_BACKEND_URL", "PULUMI_HOME", "COLUMNS", "no_proxy"),
)
IN_VARIABLES = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0") | st.just("\udcff"), max_size=8
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(variable=st.sampled_from(VARIABLES), text=IN_VARIABLES, words=st.sampled_from(SEES))
@example(variable="SLIPWAY_TEAM", text="\udcff", words=("submit", "hello", "--dry-run"))
@example(variable="GOOGLE_OAUTH_ACCESS_TOKEN", text="\udcff", words=("pools",))
@example(variable="GOOGLE_CLOUD_QUOTA_PROJECT", text="\udcff", words=("pools",))
def test_any_text_in_a_variable(standing: Stack, variable: str, text: str, words: tuple[str, ...]) -> None:
    ended_in_words(standing.run(*words, **{variable: text}), (variable, words))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(place=st.integers(0, 500), text=TEXTS, words=st.sampled_from(SEES))
@example(place=0, text=HALF, words=("jobs", "show", "hello"))
@example(place=1, text=HALF, words=("jobs", "open", "hello", "--what", "output"))
def test_any_text_in_an_answer(stack: Stack, place: int, text: str, words: tuple[str, ...]) -> None:
    send = Transport.request

    def changed(*arguments: Any, **more: Any) -> Response:
        answer = send(*arguments, **more)
        if "application/json" not in answer.headers.get("Content-Type", "") or not json.loads(answer.data):
            return answer
        body = json.dumps(replaced(json.loads(answer.data), place, text)).encode()
        return urllib3.HTTPResponse(body, answer.headers, answer.status)

    if not stack.jobs():
        stack.run("submit", "hello")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Transport, "request", changed)
        ended_in_words(stack.run(*words), words)
