"""What killed runs left, read and told. # N10"""

import json
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from components.creation import NAME, OBJECT
from slipway.google.live import Unknown
from slipway.model.catalog.clusters import DormantCluster
from slipway.model.findings.finding import Grade
from slipway.model.origin import Program
from slipway.model.state import State
from slipway.operating.doctor.backend_reading import look
from slipway.operating.doctor.picture import Backend, Submission
from tests.slipway.operating.doctor.picture import CPU, found, lives, package, published, state
from tests.slipway.reviewing.builders import NOW, STACK, catalog, template


def test_a_backend_that_can_not_be_read_names_api_identity_and_role_and_hides_nothing() -> None:
    denied = Unknown(
        "denied", "storage.googleapis.com gs://acme-state", "roles/storage.objectViewer", "ci@acme", "gs://acme-state"
    )
    findings = found(backend=Backend("gs://acme-state", denied), published=None)
    finding = findings["unread"]
    assert finding.sentence == "the state can't be read: storage.googleapis.com gs://acme-state as ci@acme: denied"
    assert finding.fix == "ask for roles/storage.objectViewer on gs://acme-state" and "catalog-missing" in findings


def test_a_stack_that_the_backend_lacks_and_a_resource_in_doubt() -> None:
    assert found(backend=Backend("file:///elsewhere", None))["state-missing"].grade is Grade.BLOCKING
    assert set(found(backend=Backend("file:///new", None), published=None)) == {"catalog-missing"}
    pending = found(backend=Backend("file:///s", state(CPU.id), pending=("work",)))["operation-pending"]
    assert "at work on work" in pending.sentence
    named = found(backend=Backend("file:///s", state(CPU.id), pending=(NAME,)))["operation-pending"].sentence
    assert OBJECT in named and NAME not in named, "as in the bucket, and not as the engine alone knows it"


REFUSED = "where it was refused, first do as its error says (slipway explain reads it)"
DESTROY = f"to take the stack down: make destroy STACK={STACK}"
KEEP = f"to keep it: make up STACK={STACK}, which makes what its file asks for"


def test_a_killed_run_that_was_deleting_is_not_told_to_make_it_anew(snapshot: SnapshotAssertion) -> None:  # N1, N4
    """After `kill -9` of a destroy both findings led with commands that bring clusters back, and their price."""
    killed = Backend("file:///s", state(CPU.id), pending=(CPU.id, "work"), deletes=True)
    finding = found(backend=killed)["operation-pending"]
    assert finding.sentence == snapshot
    assert (finding.fix, finding.means) == snapshot
    stopping = found(lives(state="STOPPING"), backend=killed, published=None, jobs=(), recent=())
    for kind in ("operation-pending", "catalog-missing"):
        assert stopping[kind].fix == "type again what was killed, unless it is still at work"
        assert stopping[kind].means == f"{DESTROY}; {KEEP}"


def test_where_no_catalog_is_published_the_way_down_is_named_beside_the_way_up(
    snapshot: SnapshotAssertion,
) -> None:  # N1
    """A destroy that was killed again, as it waited, has cleared what was pending, and left clusters."""
    refused = found(lives(state="STOPPING"), backend=Backend("gs://s", state(CPU.id)), published=None, jobs=())
    assert refused["catalog-missing"].sentence == snapshot
    assert refused["catalog-missing"].fix == "type again what was killed, unless it is still at work"
    made = found(backend=Backend("gs://s", state(CPU.id)), published=None)["catalog-missing"]
    assert (made.fix, made.means) == (f"make up STACK={STACK}", f"it publishes one; {REFUSED}; {DESTROY}")
    new = found(backend=Backend("gs://s", state()), published=None)
    assert new["catalog-missing"].means == "it publishes one", "there is nothing to take down"


ENDED = Backend("gs://s", state())
SENT = "no job can be sent to it"


@pytest.mark.parametrize(
    ("hours", "backend", "told"),
    [
        (4, None, f"{SENT} for 4 h"),
        (2, None, ""),
        (2, ENDED, f"{SENT} for 2 h"),
        (2, replace(ENDED, pending=("work",)), ""),
    ],
)
def test_a_cluster_that_a_deployment_ended_before_it_replaced_is_told_once_none_may_be_at_work(
    hours: int, backend: Backend | None, told: str
) -> None:
    rests = DormantCluster(**vars(CPU) | {"why": "in-place", "since": NOW - timedelta(hours=hours)})
    seen = found(backend=backend, published=published(catalog(dormant={"cpu": rests})), jobs=())
    finding = seen.get("deployment-unfinished")
    assert (finding.sentence if finding else "") == (told and f"a deployment ended before cpu was made: {told}")


def test_submissions_that_nobody_waits_for() -> None:
    submission = Submission("hello-1", "hello", NOW - timedelta(hours=2))
    said = found(submissions=(submission,))["submission-abandoned"]
    assert said.sentence == "submission hello-1 of hello was interrupted 2 h ago as it was sent"
    assert said.fix == "slipway submit hello --request-id hello-1"
    assert found(submissions=(replace(submission, when=NOW),)) == {}, "it may be at work"


def test_packages_that_nothing_uses() -> None:
    used = template()
    packages = (
        package(used.package, 10, NOW - timedelta(days=200)),
        package("gs://b/packages/old.tar.gz", 2_000_000, NOW - timedelta(days=100)),
        package("gs://b/packages/new.tar.gz", 10, NOW - timedelta(days=10)),
    )
    finding = found(packages=packages, published=published(catalog(CPU, used)))["package-left"]
    assert (
        finding.sentence.endswith("1 package, 2.0 MB") and finding.fix == "gcloud storage rm gs://b/packages/old.tar.gz"
    )


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    (tmp_path / "Pulumi.yaml").write_text("name: slipway\n")
    return tmp_path


PENDING = {"resource": {"urn": "urn:pulumi:prod::slipway::gcp:storage/bucket:Bucket::work"}, "type": "creating"}
DELETING = {**PENDING, "type": "deleting"}
CLUSTER = "gcp:vertex/aiPersistentResource:AiPersistentResource"
RESOURCE = {
    "urn": f"urn:pulumi:x::slipway::slipway:index:Generation${CLUSTER}::cpu-1",
    "type": CLUSTER,
    "outputs": {"name": "cpu-7532df3"},
}


def looked(checkout: Path, program: str, **environ: str) -> Backend | str:
    """What the doctor reads where `pulumi` is this program."""
    engine = checkout / "bin" / "pulumi"
    engine.parent.mkdir(exist_ok=True)
    engine.write_text(f"#!/bin/sh\n{program}\n")
    engine.chmod(0o755)
    return look(
        checkout, {"PULUMI_BACKEND_URL": "s3://acme-state?region=x", "PATH": str(engine.parent), **environ}, STACK
    )


@pytest.mark.parametrize(
    ("pending", "deletes"), [([DELETING], True), ([PENDING, DELETING], False), ([PENDING], False), ([], False)]
)
def test_the_engine_tells_the_state_and_what_a_run_is_at(checkout: Path, pending: list[object], deletes: bool) -> None:
    """A run that does anything but delete is no destroy."""
    document = {"deployment": {"resources": [RESOURCE], "pending_operations": pending}}
    seen = looked(
        checkout, f"test \"$*\" = 'stack export --stack {STACK} --non-interactive' && echo '{json.dumps(document)}'"
    )
    assert isinstance(seen, Backend) and isinstance(seen.state, State) and seen.address == "s3://acme-state"
    assert [cluster.name for cluster in seen.state.clusters] == ["cpu-7532df3"]
    assert (seen.pending, seen.deletes) == (("work",) * len(pending), deletes)


def test_where_nothing_was_asked_it_says_why(checkout: Path) -> None:
    assert "is not on PATH" in str(looked(checkout, "", PATH=""))
    login = "error: PULUMI_ACCESS_TOKEN must be set for login during non-interactive CLI sessions"
    assert looked(checkout, "echo \"error: no stack named 'prod' found\" >&2; exit 255") == Backend(
        "s3://acme-state", None
    )
    assert "no backend is chosen" in str(looked(checkout, f"echo '{login}' >&2; exit 255"))


@pytest.mark.parametrize(
    ("program", "why"),
    [
        ("echo 'error: no credentials for s3' >&2; exit 255", "pulumi: no credentials for s3"),
        ("exit 3", "pulumi: exit code 3"),
        ("echo '{'", "pulumi: Expecting property name"),
        ("echo '{}'", "pulumi: 'deployment'"),
        ('echo \'{"deployment": {"resources": [{}]}}\'', "another form"),
        ('echo \'{"deployment": {"pending_operations": [{"resource": 5}]}}\'', "another form"),
    ],
)
def test_where_the_engine_can_not_read_a_backend_its_words_are_told(checkout: Path, program: str, why: str) -> None:
    seen = looked(checkout, program)
    assert isinstance(seen, Backend) and isinstance(seen.state, Unknown)
    assert why in seen.state.why


def test_whoever_deploys_a_program_is_told_the_engines_commands() -> None:  # N33
    """Doctor named make targets and a stack file that such a folder has not."""
    of_program = published(replace(catalog(CPU), program=Program("dev", "ml")))
    engine = Backend("file:///s", state(CPU.id), pending=("work",))
    findings = found(lives(state="ERROR"), published=of_program, document=None, jobs=(), recent=(), backend=engine)
    assert findings["operation-pending"].fix == "pulumi refresh --clear-pending-creates --stack dev"
    assert findings["cluster-failed"].fix == "pulumi up --stack dev"
    said = " ".join(f"{each.sentence} {each.fix} {each.means}" for each in findings.values())
    assert "make " not in said and "slipway:" not in said and "stacks/" not in said
