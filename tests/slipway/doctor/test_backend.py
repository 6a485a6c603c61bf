"""What killed runs left, read and told. # N10"""

from __future__ import annotations

import gzip
import json
import os
import socket
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from components.persistent_resource import NAME, OBJECT
from slipway.cloud.connection import connect
from slipway.cloud.storage import Storage
from slipway.doctor.backend_reading import look
from slipway.doctor.picture import Backend, Lock, Submission
from slipway.findings.finding import Grade
from slipway.live import Unknown
from slipway.state import State
from tests.slipway.doctor.picture import CPU, found, lives, package, published, state
from tests.slipway.review.builders import NOW, STACK, catalog, template

HELD = Lock("file:///state/lock", "ada", "laptop", NOW - timedelta(hours=5))


def with_lock(lock: Lock) -> Backend:
    return Backend("file:///state", state(CPU.id), locks=(lock,))


def test_a_lock_whose_holder_is_gone_is_broken_and_one_elsewhere_a_doubt(snapshot: SnapshotAssertion) -> None:
    one = found(backend=with_lock(replace(HELD, alive=False)))["lock-stale"]
    assert one.sentence == snapshot
    assert (one.grade, one.fix) == (Grade.BLOCKING, f"pulumi cancel {STACK} --yes")
    assert found(backend=with_lock(HELD))["lock-old"].grade is Grade.WARNING
    assert found(backend=with_lock(replace(HELD, since=NOW - timedelta(hours=1)))) == {}
    assert found(backend=with_lock(replace(HELD, since=NOW, alive=True))) == {}
    assert found(backend=with_lock(Lock("l", damaged=True)))["lock-stale"].grade is Grade.BLOCKING


def test_a_backend_that_can_not_be_read_names_api_identity_and_role_and_hides_nothing(
    snapshot: SnapshotAssertion,
) -> None:
    denied = Unknown(
        "denied", "storage.googleapis.com gs://acme-state", "roles/storage.objectViewer", "ci@acme", "gs://acme-state"
    )
    findings = found(backend=Backend("gs://acme-state", denied), published=None)
    one = findings["unread"]
    assert one.sentence == snapshot
    assert one.fix == "ask for roles/storage.objectViewer on gs://acme-state" and "catalog-missing" in findings


def test_a_stack_that_the_backend_lacks_and_a_resource_in_doubt() -> None:
    assert found(backend=Backend("file:///elsewhere", None))["state-missing"].grade is Grade.BLOCKING
    assert set(found(backend=Backend("file:///new", None), published=None)) == {"catalog-missing"}
    pending = found(backend=Backend("file:///s", state(CPU.id), pending=("work",)))["operation-pending"]
    assert "at work on work" in pending.sentence


def test_an_object_whose_name_only_the_engine_knows_is_called_as_in_the_bucket() -> None:  # N4
    """ "a killed run was at work on creation" was all that somebody read."""
    pending = found(backend=Backend("file:///s", state(CPU.id), pending=(NAME, "work")))["operation-pending"]
    assert OBJECT in pending.sentence and NAME not in pending.sentence


DESTROY = f"to take the stack down: SLIPWAY_PURPOSE=destroy pulumi destroy --run-program --stack {STACK}"
KEEP = f"to keep it: pulumi up --stack {STACK}, which makes what its file asks for"


def test_a_killed_run_that_was_deleting_is_not_told_to_make_it_anew(snapshot: SnapshotAssertion) -> None:  # N1, N4
    """After `kill -9` of a destroy both findings led with commands that bring clusters back, and their price."""
    killed = Backend("file:///s", state(CPU.id), pending=(CPU.id, "work"), deletes=True)
    one = found(backend=killed)["operation-pending"]
    assert one.sentence == snapshot
    assert (one.fix, one.means) == snapshot
    stopping = found(lives(state="STOPPING"), backend=killed, published=None, jobs=(), recent=())
    for kind in ("operation-pending", "catalog-missing"):
        assert stopping[kind].fix == snapshot
        assert stopping[kind].means == f"{DESTROY}; {KEEP}"
    held = replace(killed, locks=(replace(HELD, since=NOW),))
    going_on = found(lives(state="STOPPING"), backend=held, published=None, jobs=())["catalog-missing"]
    assert going_on.fix == snapshot


def test_where_no_catalog_is_published_the_way_down_is_named_beside_the_way_up(
    snapshot: SnapshotAssertion,
) -> None:  # N1
    """A destroy that was killed again, as it waited, has cleared what was pending, and left clusters."""
    refused = found(lives(state="STOPPING"), backend=Backend("gs://s", state(CPU.id)), published=None, jobs=())
    assert refused["catalog-missing"].sentence == snapshot
    assert refused["catalog-missing"].fix == snapshot
    made = found(backend=Backend("gs://s", state(CPU.id)), published=None)["catalog-missing"]
    assert (made.fix, made.means) == (f"pulumi up --stack {STACK}", f"it publishes one; {DESTROY}")
    new = found(backend=Backend("gs://s", state()), published=None)
    assert new["catalog-missing"].means == "it publishes one", "there is nothing to take down"


@pytest.mark.parametrize(("types", "deletes"), [(["deleting"], True), (["creating", "deleting"], False), ([], False)])
def test_a_run_that_did_anything_but_delete_was_no_destroy(checkout: Path, types: list[str], deletes: bool) -> None:
    stacks = checkout / "state" / ".pulumi" / "stacks" / "slipway"
    stacks.mkdir(parents=True)
    latest = {"pending_operations": [{"resource": {"urn": f"urn::a::b::{one}"}, "type": one} for one in types]}
    (stacks / f"{STACK}.json").write_text(json.dumps({"checkpoint": {"latest": latest}}))
    read = looked(checkout, f"file://{checkout}/state")
    assert isinstance(read, Backend) and (read.pending, read.deletes) == (tuple(types), deletes)


def test_submissions_that_nobody_waits_for(snapshot: SnapshotAssertion) -> None:
    one = Submission("hello-1", "hello", NOW - timedelta(hours=2))
    said = found(submissions=(one,))["submission-abandoned"]
    assert said.sentence == snapshot
    assert said.fix == "slipway submit hello --request-id hello-1"
    assert found(submissions=(replace(one, when=NOW),)) == {}, "it may be at work"


def test_packages_that_nothing_uses() -> None:
    used = template()
    packages = (
        package(used.package, 10, NOW - timedelta(days=200)),
        package("gs://b/packages/old.tar.gz", 2_000_000, NOW - timedelta(days=100)),
        package("gs://b/packages/new.tar.gz", 10, NOW - timedelta(days=10)),
    )
    one = found(packages=packages, published=published(catalog(CPU, used)))["package-left"]
    assert one.sentence.endswith("1 package, 2.0 MB") and one.fix == "gcloud storage rm gs://b/packages/old.tar.gz"


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    (tmp_path / "Pulumi.yaml").write_text("name: slipway\n")
    return tmp_path


def storage() -> Storage:
    return connect({"GOOGLE_OAUTH_ACCESS_TOKEN": "none"}).storage


def looked(checkout: Path, url: str) -> Backend | str:
    return look(checkout, {"PULUMI_BACKEND_URL": url}, storage(), STACK, "ada")


def test_a_folder_s_state_and_locks_are_read_without_the_engine(checkout: Path) -> None:
    pulumi = checkout / "state" / ".pulumi"
    locks = pulumi / "locks" / "organization" / "slipway" / STACK
    (pulumi / "stacks" / "slipway").mkdir(parents=True)
    locks.mkdir(parents=True)
    type_ = "gcp:vertex/aiPersistentResource:AiPersistentResource"
    cluster = {"urn": f"urn:pulumi:x::slipway::{type_}::cpu-1", "type": type_, "outputs": {"name": "cpu-7532df3"}}
    exported: dict[str, object] = {"resources": [cluster]}
    pending = [{"resource": {"urn": "urn:pulumi:prod::slipway::gcp:storage/bucket:Bucket::work"}, "type": "creating"}]
    exported |= {"pending_operations": pending}
    body = {"version": 3, "checkpoint": {"stack": "x", "latest": exported}}
    (pulumi / "stacks" / "slipway" / f"{STACK}.json").write_text(json.dumps(body))
    lock = {"username": "ada", "hostname": socket.gethostname(), "timestamp": "2026-11-21T08:00:00.123456789Z"}
    (locks / "a.json").write_text(json.dumps({**lock, "pid": 2**22 + 1}))
    (locks / "b.json").write_text(json.dumps({**lock, "pid": os.getpid()}))
    (locks / "c.json").write_text(json.dumps({**lock, "pid": 1, "hostname": "another"}))
    (locks / "d.json").touch()
    found = looked(checkout, f"file://{checkout}/state?metadata=skip")
    assert isinstance(found, Backend) and isinstance(found.state, State) and isinstance(found.locks, tuple)
    assert [one.name for one in found.state.clusters] == ["cpu-7532df3"]
    assert found.pending == ("work",)
    assert [(one.alive, one.damaged) for one in found.locks] == [
        (False, False),
        (True, False),
        (None, False),
        (None, True),
    ]


def test_backends_that_are_not_there_or_not_to_be_read(checkout: Path, snapshot: SnapshotAssertion) -> None:
    gone = looked(checkout, f"file://{checkout}/nowhere")
    assert isinstance(gone, Backend) and isinstance(gone.state, Unknown)
    (checkout / "empty").mkdir()
    empty = looked(checkout, f"file://{checkout}/empty")
    assert isinstance(empty, Backend) and empty.state is None and empty.locks == ()
    (checkout / "empty" / ".pulumi" / "stacks" / "slipway").mkdir(parents=True)
    (checkout / "empty" / ".pulumi" / "stacks" / "slipway" / f"{STACK}.json").write_text("{")
    cut = looked(checkout, f"file://{checkout}/empty")
    assert isinstance(cut, Backend) and isinstance(cut.state, Unknown)
    assert (
        look(checkout, {"PULUMI_BACKEND_URL": "https://api.pulumi.com", "PATH": ""}, storage(), STACK, "ada")
        == snapshot
    )
    home = {"PULUMI_HOME": str(checkout), "PATH": ""}
    assert "no backend is chosen" in str(look(checkout, home, storage(), STACK, "ada"))
    (checkout / "credentials.json").write_text(json.dumps({"current": "https://api.pulumi.com"}))
    assert "pulumi alone" in str(look(checkout, home, storage(), STACK, "ada"))
    (checkout / "Pulumi.yaml").write_text(f"name: slipway\nbackend: {{url: 'file://{checkout}/none'}}\n")
    assert isinstance(look(checkout, home, storage(), STACK, "ada"), Backend)


@pytest.mark.parametrize(
    ("program", "why"),
    [
        ("echo 'error: no credentials for s3' >&2; exit 255", "pulumi: no credentials for s3"),
        ("exit 3", "pulumi: exit code 3"),
        ("echo '{'", "pulumi: Expecting property name"),
        ("echo '{}'", "pulumi: 'deployment'"),
        ('echo \'{"deployment": {"resources": [{}]}}\'', "another form"),
    ],
)
def test_where_the_engine_can_not_read_a_backend_its_words_are_told(checkout: Path, program: str, why: str) -> None:
    engine = checkout / "bin" / "pulumi"
    engine.parent.mkdir()
    engine.write_text(f"#!/bin/sh\n{program}\n")
    engine.chmod(0o755)
    environ = {"PULUMI_BACKEND_URL": "s3://acme-state", "PATH": str(engine.parent)}
    seen = look(checkout, environ, storage(), STACK, "ada")
    assert isinstance(seen, Backend) and isinstance(seen.state, Unknown)
    assert why in seen.state.why


@pytest.mark.parametrize("url", ["gs://", "file://~nosuchuser/x", f"file:///{'x' * 300}"])
def test_an_address_that_nothing_can_have_is_a_backend_that_can_not_be_read(checkout: Path, url: str) -> None:
    """It ended the whole doctor."""
    one = looked(checkout, url)
    assert isinstance(one, Backend) and isinstance(one.state, Unknown)
    assert f"the state can't be read: {url}: " in found(backend=one)["unread"].sentence


def stacks(checkout: Path) -> Path:
    folder = checkout / "state" / ".pulumi" / "stacks" / "slipway"
    folder.mkdir(parents=True)
    return folder


@pytest.mark.parametrize("pending", [[{"resource": None}], [{"resource": 5}], 5, [{"resource": {"urn": None}}]])
def test_pending_operations_of_another_form_end_no_doctor(checkout: Path, pending: object) -> None:
    body = {"checkpoint": {"latest": {"resources": [], "pending_operations": pending}}}
    (stacks(checkout) / f"{STACK}.json").write_text(json.dumps(body))
    one = looked(checkout, f"file://{checkout}/state")
    assert isinstance(one, Backend) and isinstance(one.state, State | Unknown)


def test_a_lock_of_a_process_that_can_not_be_is_a_stale_one(checkout: Path) -> None:
    locks = checkout / "state" / ".pulumi" / "locks" / "organization" / "slipway" / STACK
    locks.mkdir(parents=True)
    (locks / "a.json").write_text(json.dumps({"hostname": socket.gethostname(), "pid": 2**70}))
    one = looked(checkout, f"file://{checkout}/state")
    assert isinstance(one, Backend) and isinstance(one.locks, tuple) and one.locks[0].alive is False


WHOLE = json.dumps({"version": 3, "checkpoint": {"stack": STACK, "latest": {"resources": []}}}).encode()


@pytest.mark.parametrize("left", [0, 5, 60])
def test_a_compressed_state_that_was_cut_off_ends_no_doctor(checkout: Path, left: int) -> None:
    """Its error passed for somebody's Ctrl-C, so nothing was said at all."""
    (stacks(checkout) / f"{STACK}.json.gz").write_bytes(gzip.compress(WHOLE)[:left])
    one = looked(checkout, f"file://{checkout}/state")
    assert isinstance(one, Backend) and isinstance(one.state, Unknown)
    assert "docs/runbook.md" in found(backend=one)["unread"].means and "cut off" in found(backend=one)["unread"].means
