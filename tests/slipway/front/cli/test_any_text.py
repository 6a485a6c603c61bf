"""Any text in a file, a variable or an answer: a command ends as it should, in words that can be written. # D1"""

import copy
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import urllib3
import yaml
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from slipway.google.transport import Response, Transport
from tests.checkouts.shell import Done, slipway

from .stack import Stack

CASE = Path(__file__).parents[2] / "reviewing" / "recorded" / "edit.jsonl"
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


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], bool]]:
    """Yield the path of each text, and whether it is a key."""
    if isinstance(value, str):
        yield path, False
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, held in pairs:
        if isinstance(key, str):
            yield (*path, key), True
        yield from places(held, (*path, key))


def replaced(value: Any, place: int, text: str) -> Any:
    """Return a document with another text in one of its places."""
    found = list(places(value))
    path, is_key = found[place % len(found)]
    changed = holder = {"": copy.deepcopy(value)}
    for key in ("", *path)[:-1]:
        holder = holder[key]
    last = ("", *path)[-1]
    if is_key:
        holder[text] = holder.pop(last)
    else:
        holder[last] = text
    return changed[""]


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


GRID = {"runs": {"code": ["print(1)", "print(2)"]}}
SEES = (
    *(("jobs", "list"), ("jobs", "list", "--sweep", "s"), ("pools",), ("quota",), ("templates",), ("usage",)),
    *(("templates", "show", "hello"), ("submit", "hello", "--dry-run"), ("schedule",), ("doctor",)),
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(place=st.integers(0, 500), text=TEXTS, suffix=st.sampled_from(["json", "yaml", "csv"]))
@example(place=0, text=HALF, suffix="json")
@example(place=2, text=HALF, suffix="yaml")
def test_any_text_in_a_sweep(standing: Stack, place: int, text: str, suffix: str) -> None:
    file = standing.folder / f"grid.{suffix}"
    file.write_text(
        json.dumps(replaced(GRID, place, text))
        if suffix != "csv"
        else f'code\n"{text.encode(errors="replace").decode()}"\n'
    )
    ended_in_words(standing.run("submit", "hello", "--sweep", file.name, "--dry-run"), file.read_text())


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
def test_any_text_in_an_answer(stack: Stack, place: int, text: str, words: tuple[str, ...]) -> None:
    send = Transport.request

    def changed(*arguments: Any, **more: Any) -> Response:
        answer = send(*arguments, **more)
        if "application/json" not in answer.headers.get("Content-Type", "") or not list(
            places(json.loads(answer.data))
        ):
            return answer
        body = json.dumps(replaced(json.loads(answer.data), place, text)).encode()
        return urllib3.HTTPResponse(body, answer.headers, answer.status)

    if not stack.jobs():
        stack.run("submit", "hello")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Transport, "request", changed)
        ended_in_words(stack.run(*words), words)
