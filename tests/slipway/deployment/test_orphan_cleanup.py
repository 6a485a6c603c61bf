"""Clusters that a state lacks, and what a destruction that deletes them meets: slow ends, refusals, jobs. # N1 # N4"""

from __future__ import annotations

import http.server
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from slipway.catalog import document
from slipway.catalog.model import Catalog
from slipway.cloud.clusters import PersistentResource
from slipway.cluster import Alternative
from slipway.deployment import orphan_cleanup
from slipway.deployment.orphan_cleanup import OrphanCleanup, insists, orphans
from slipway.deployment.removal import GracePeriod
from slipway.errors import ConfigError, PolicyError, ResourceError, SlipwayError, Timeout
from slipway.labels import HASH_LABEL, NAME_LABEL, STACK_LABEL
from slipway.machines.spec import MachineSpec
from slipway.stack.stack import Stack, WorkspaceSettings
from slipway.state import State, StateResource
from tests.slipway.review import builders

from . import world
from .conftest import Handler, served

PROJECT, REGION = "acme", "us-central1"
OURS = {STACK_LABEL: "prod", NAME_LABEL: "cpu", HASH_LABEL: "1a2b3c4"}


def orphan(id_: str = "cpu-1a2b3c4", state: str = "RUNNING", region: str = REGION, **labels: str) -> PersistentResource:
    name = f"projects/{PROJECT}/locations/{region}/persistentResources/{id_}"
    return PersistentResource(name, state, {**OURS, **labels}, ())


def in_state(id_: str, region: str = REGION) -> State:
    return State(clusters=(StateResource(id_, id_, PROJECT, region),))


CASES = {
    "the state knows nothing": (orphan(), State(), True),
    "the state knows its predecessor": (orphan("cpu-1a2b3c4-2"), in_state("cpu-1a2b3c4"), True),
    "one that failed": (orphan(state="ERROR"), State(), True),
    "one that is being made": (orphan(state="PROVISIONING"), State(), True),
    "the engine deletes what the state has": (orphan(), in_state("cpu-1a2b3c4"), False),
    "the state has its namesake in another region": (orphan(), in_state("cpu-1a2b3c4", "europe-west4"), True),
    "another stack's": (orphan(**{STACK_LABEL: "dev"}), State(), False),
    "without our labels": (orphan(**{NAME_LABEL: ""}), State(), False),
    "with our labels and an id that they do not give": (orphan("somebody-elses"), State(), False),
}


@pytest.mark.parametrize(("cluster", "known", "is_one"), CASES.values(), ids=CASES)
def test_an_orphan_is_what_the_stack_made_and_its_state_lacks(
    cluster: PersistentResource, known: State, is_one: bool
) -> None:
    assert orphans([cluster], known, "prod") == ((cluster,) if is_one else ())


@pytest.mark.parametrize(("environ", "leaves"), [({}, False), ({"SLIPWAY_ORPHANS": "leave"}, True)])
def test_only_a_word_insists(environ: dict[str, str], leaves: bool) -> None:
    assert insists(environ) is leaves


def test_a_word_that_is_none_is_refused() -> None:
    with pytest.raises(ConfigError, match="invalid SLIPWAY_ORPHANS=yes"):
        insists({"SLIPWAY_ORPHANS": "yes"})


PARENT = "projects/acme/locations/us-central1"
ID = "cpu-1a2b3c4"
LABELS = {STACK_LABEL: "prod", NAME_LABEL: "cpu", HASH_LABEL: "1a2b3c4"}
GONE = ""
NOT_FOUND = (404, {"error": {"code": 404, "message": "gone", "status": "NOT_FOUND"}})


@dataclass
class Vertex:
    """One cluster that goes through `states` as it is looked at, the last again and again; `deletions` are answered in
    turn, and after each the cluster goes through `after`."""

    states: list[str]
    after: list[str] = field(default_factory=lambda: ["STOPPING", GONE])
    deletions: list[int] = field(default_factory=lambda: [200])
    jobs_after: int = 1_000_000
    """From how many looks on there is a job on it."""
    looks: int = 0
    asked: int = 0
    said: list[str] = field(default_factory=list)
    slept: float = 0.0
    environ: dict[str, str] = field(default_factory=dict)
    down: str = ""
    """The collection that can't be listed."""
    listed: bool = True
    file: Stack | None = None
    region: str = "us-central1"
    """Where the stack is; its cluster is in us-central1."""
    catalog: bytes = b""
    writable: bool = True
    offered: list[bool] = field(default_factory=list)
    """At each wait and each deletion, whether the catalog offers the cluster."""
    in_wait: Callable[[], None] = lambda: None

    def look(self) -> dict[str, Any] | None:
        self.looks += 1
        state = self.states.pop(0) if len(self.states) > 1 else self.states[0]
        return {"name": f"{PARENT}/persistentResources/{ID}", "state": state, "labels": LABELS} if state else None

    def answer(self, path: str) -> tuple[int, Any]:
        if self.down and path.endswith(f"/{self.down}"):
            return 403, {"error": {"code": 403, "message": "denied", "status": "PERMISSION_DENIED"}}
        if path.endswith("/catalog.json"):
            return (200, json.loads(self.catalog)) if self.catalog else NOT_FOUND
        if f"/locations/{self.region}/" in path and self.region not in PARENT:
            return NOT_FOUND if "/persistentResources/" in path else (200, {})
        if path.endswith("/persistentResources"):
            state = self.states[0]
            one = {"name": f"{PARENT}/persistentResources/{ID}", "state": state, "labels": LABELS}
            return 200, {"persistentResources": [one] if state and self.listed else []}
        if path.endswith(f"/persistentResources/{ID}"):
            found = self.look()
            return (200, found) if found else NOT_FOUND
        if "/persistentResources/" in path:
            return NOT_FOUND
        if path.endswith("/customJobs") and self.looks >= self.jobs_after:
            job = {
                "name": f"{PARENT}/customJobs/1",
                "displayName": "tune",
                "state": "JOB_STATE_QUEUED",
                "jobSpec": {"persistentResourceId": ID, "workerPoolSpecs": []},
            }
            return 200, {"customJobs": [job]}
        return 200, {}

    def write(self, content: bytes) -> tuple[int, Any]:
        if not self.writable:
            return 403, {"error": {"code": 403, "message": "denied", "status": "PERMISSION_DENIED"}}
        self.catalog = content
        return 200, {}

    def note(self) -> None:
        self.offered.append(document.published(self.catalog or b"{}", "x").offers(ID))

    def delete(self) -> tuple[int, Any]:
        self.note()
        status = self.deletions[min(self.asked, len(self.deletions) - 1)]
        self.asked += 1
        if status == 200:
            self.states = list(self.after)
            return 200, {"name": f"{PARENT}/operations/1"}
        return status, {"error": {"code": status, "message": "not now", "status": "FAILED_PRECONDITION"}}

    def run(self, *, preview: bool = False, within_s: float = 60.0, **environ: str) -> frozenset[str]:
        return self.cleanup(**environ).run(preview=preview, within_s=within_s)

    def cleanup(self, **environ: str) -> OrphanCleanup:
        def sleep(seconds: float) -> None:
            self.slept += seconds
            self.note()
            self.in_wait()

        return OrphanCleanup(
            {**self.environ, "SLIPWAY_GRACE": "0", **environ},
            State(),
            stack="prod",
            project="acme",
            region=self.region,
            file=self.file,
            say=self.said.append,
            warn=self.said.append,
            now=lambda: self.slept,
            sleep=sleep,
        )

    def fails(self, kind: type[SlipwayError], **how: Any) -> SlipwayError:
        with pytest.raises(kind) as caught:
            self.run(**how)
        return caught.value


@pytest.fixture
def vertex() -> Iterator[Vertex]:
    service = Vertex(["RUNNING"])

    class Answers(Handler, http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.give(*service.answer(self.path.partition("?")[0]))

        def do_POST(self) -> None:
            assert "name=catalog.json" in self.path
            self.give(*service.write(self.rfile.read(int(self.headers["Content-Length"]))))

        def do_DELETE(self) -> None:
            self.give(*service.delete())

    with served(Answers, VERTEX_AI="", STORAGE="", IAM="", CLOUD_QUOTAS="") as service.environ:
        yield service


def test_it_is_deleted_and_its_end_awaited(vertex: Vertex) -> None:
    assert vertex.run() == frozenset()
    assert (vertex.asked, vertex.said[-1]) == (1, f"cluster {ID} is deleted")


def test_a_preview_names_it_and_deletes_nothing(vertex: Vertex) -> None:
    vertex.run(preview=True)
    assert vertex.asked == 0
    (said,) = vertex.said
    assert f"{ID} (running)" in said and "SLIPWAY_ORPHANS=leave" in said


def test_one_that_no_list_shows_yet_is_found_as_whichever_alternative_it_was_made(
    vertex: Vertex, monkeypatch: pytest.MonkeyPatch
) -> None:  # N2
    """An up was killed when it had asked for an alternative, a moment ago."""
    spec = world.spec()
    spec = replace(spec, alternatives=(Alternative((replace(spec.pools[0], machine=MachineSpec("n1-highmem-8")),)),))
    vertex.file = Stack("prod", "acme", "us-central1", WorkspaceSettings((), "", "work", "trainer"), (spec,))
    vertex.listed = False
    hashes = {0: "0000000", 1: LABELS[HASH_LABEL]}
    monkeypatch.setattr(orphan_cleanup, "fingerprint_of", lambda *args: hashes[args[-1].alternative])
    vertex.run()
    assert vertex.asked == 1


def test_one_elsewhere_is_found_by_the_published_catalog_alone(vertex: Vertex) -> None:  # N1 # N2
    """The state was lost, and the alternative by which it was made is taken out of the stack file."""
    vertex.region = "us-east4"
    vertex.file = Stack("prod", "acme", "us-east4", WorkspaceSettings((), "acme-catalog", "work", "trainer"), ())
    assert (vertex.run(), vertex.asked) == (frozenset(), 0)
    there = Catalog("prod", "acme", "us-east4", "", False, "w", "t", {}, (), {}, other_regions=("us-central1",))
    vertex.catalog = document.write(there).encode()
    vertex.down = "us-central1/persistentResources"
    assert "persistentResources.list in us-central1" in vertex.fails(ResourceError).why
    vertex.down = ""
    vertex.run()
    assert vertex.asked == 1


def test_one_that_is_being_made_is_waited_for(vertex: Vertex) -> None:
    vertex.states = ["PROVISIONING"] * 5 + ["RUNNING"]
    vertex.run()
    assert vertex.asked == 1
    assert f"waiting for cluster {ID} (provisioning)" in vertex.said


@pytest.mark.parametrize("state", ["PROVISIONING", "REBOOTING", "STOPPING"])
def test_one_that_is_never_ready_ends_the_wait(vertex: Vertex, state: str) -> None:
    vertex.states = [state]
    error = vertex.fails(Timeout)
    assert f"cluster {ID} ({state.lower()})" in error.what
    assert vertex.asked == 0
    assert 60 <= vertex.slept < 80


def test_a_refusal_for_its_state_is_tried_again(vertex: Vertex) -> None:
    vertex.deletions = [400, 409, 200]
    vertex.run()
    assert vertex.asked == 3


def test_one_that_lives_on_is_named_after_some_tries(vertex: Vertex) -> None:
    vertex.after = ["STOPPING", "ERROR"]
    error = vertex.fails(ResourceError)
    assert f"{ID} (error) could not" in error.what
    assert vertex.asked == 5


def test_a_job_that_comes_while_it_is_waited_for_saves_it(vertex: Vertex) -> None:
    vertex.states, vertex.jobs_after = ["PROVISIONING"] * 5 + ["RUNNING"], 4
    error = vertex.fails(PolicyError)
    assert "1 job has not ended" in error.what
    assert vertex.asked == 0


def test_who_may_not_delete_it_learns_so(vertex: Vertex) -> None:
    vertex.deletions = [403]
    vertex.fails(SlipwayError)
    assert vertex.asked == 1


@pytest.mark.parametrize("collection", ["persistentResources", "customJobs", "trainingPipelines"])
def test_where_clusters_or_jobs_can_not_be_listed_nothing_is_deleted(vertex: Vertex, collection: str) -> None:
    vertex.down = collection
    error = vertex.fails(ResourceError)
    assert "can't tell" in error.what
    assert f"{collection}.list" in error.why and "SLIPWAY_ORPHANS=leave" in error.fix
    assert vertex.asked == 0


def test_who_insists_leaves_it_and_learns_how_to_end_its_bill(vertex: Vertex) -> None:
    assert vertex.run(SLIPWAY_ORPHANS="leave") == {ID}
    assert vertex.asked == 0
    assert f"persistent-resources delete {ID} --project=acme --region=us-central1" in vertex.said[-1]


def test_a_destruction_of_which_the_program_was_not_told_is_refused_with_the_ways_out(vertex: Vertex) -> None:
    with pytest.raises(PolicyError) as refused:
        vertex.cleanup().must_leave_none()
    assert f"{ID} (running)" in refused.value.what
    assert "SLIPWAY_PURPOSE=destroy" in refused.value.fix and "SLIPWAY_ORPHANS=leave" in refused.value.fix


@pytest.fixture
def published(vertex: Vertex, monkeypatch: pytest.MonkeyPatch) -> Catalog:
    """The catalog offers it, and the state was lost. Two minutes pass as they are slept."""
    monkeypatch.setattr(GracePeriod, "of", lambda _: GracePeriod(120.0, lambda: vertex.slept))
    vertex.file = Stack("prod", "acme", "us-central1", WorkspaceSettings((), "acme-catalog", "work", "trainer"), ())
    whole = builders.catalog(builders.cluster("cpu", id=ID), builders.template())
    vertex.catalog = document.write(whole).encode()
    return whole


def test_nobody_is_sent_to_one_while_its_last_jobs_are_waited_for(vertex: Vertex, published: Catalog) -> None:  # N1
    vertex.run()
    assert vertex.asked == 1 and not any(vertex.offered) and vertex.slept >= 120
    now = document.read(vertex.catalog, "x")
    assert (now.clusters, now.retiring) == ({}, (ID,))
    (offer,) = now.templates["lora"].offers
    assert (offer.available, offer.cluster) == (False, "")
    assert "stack prod is taken down" in offer.why
    assert vertex.offered and published.clusters["cpu"].id == ID


def test_a_killed_destruction_is_finished_by_the_same_command(vertex: Vertex, published: Catalog) -> None:  # N2
    def kill() -> None:
        raise KeyboardInterrupt

    vertex.in_wait = kill
    with pytest.raises(KeyboardInterrupt):
        vertex.run()
    assert not document.published(vertex.catalog, "x").offers(ID) and vertex.asked == 0
    vertex.in_wait = lambda: None
    vertex.run()
    assert vertex.asked == 1 and not any(vertex.offered)


def test_a_job_that_comes_meanwhile_saves_it_and_it_is_offered_again(vertex: Vertex, published: Catalog) -> None:  # N1
    def job_comes() -> None:
        vertex.jobs_after = 0

    vertex.in_wait = job_comes
    assert "1 job has not ended" in vertex.fails(PolicyError).what
    assert vertex.asked == 0 and vertex.offered == [False]
    assert document.read(vertex.catalog, "x") == document.read(document.write(published), "x")


def test_a_deletion_that_was_asked_for_is_not_offered_again(vertex: Vertex, published: Catalog) -> None:  # N1
    vertex.after = ["STOPPING"]
    vertex.fails(Timeout)
    assert not document.published(vertex.catalog, "x").offers(ID)


@pytest.mark.parametrize("obstacle", ["unwritable", "unreadable", "whose is unknown"])
def test_a_catalog_that_can_t_be_written_stops_nothing_and_is_told(
    vertex: Vertex, published: Catalog, obstacle: str
) -> None:  # N4
    vertex.writable = False
    if obstacle == "unreadable":
        vertex.catalog = b'{"schema": 999}'
    if obstacle == "whose is unknown":
        vertex.file = None
    vertex.run()
    assert vertex.asked == 1 and vertex.slept >= 120
    (told,) = [line for line in vertex.said if f"may offer {ID}" in line]
    assert ("acme-catalog/catalog.json" in told) == (obstacle != "whose is unknown")


def test_where_there_is_no_catalog_any_more_it_may_have_gone_a_moment_ago(vertex: Vertex, published: Catalog) -> None:
    vertex.catalog = b""  # N1
    vertex.run()
    assert vertex.asked == 1 and vertex.slept >= 120
    assert published.stack == "prod"
