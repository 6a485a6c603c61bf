"""The last defence of running jobs: its words and its choice. That the engine calls it: journeys. # N1 # B3"""

import re
from collections.abc import Callable, Coroutine
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pulumi
import pytest
from syrupy.assertion import SnapshotAssertion

from components import destruction
from components import guard as module
from components.composition import composition
from components.guard import check, ends_stack, hold, tell_of_deletion
from components.hooks import is_same
from components.workspace import Workspace, WorkspaceArgs
from slipway.authoring.stack.stack import from_config
from slipway.base.errors import ConfigError, SlipwayError
from slipway.deploying.deployment.deletion_guard import GuardSubject, StackGuard
from slipway.deploying.deployment.destruction import must_be_decided
from slipway.deploying.deployment.shared_grants import must_be_unneeded
from slipway.deploying.deployment.workspace_plan import SharedGrant
from slipway.google.jobs import VertexJob
from slipway.google.live import InUse, Unknown
from slipway.model.origin import Program
from slipway.model.state import State, StateGrant, read

from .conftest import Decided, awaited, composed, declared, failed
from .test_own_program import knowing

CLUSTER = "projects/acme-dev/locations/us-central1/persistentResources/cpu-1a2b3c4"
CPU = GuardSubject(cluster=CLUSTER)
PLACE = {"gcp:project": "acme-dev", "gcp:region": "us-central1", "gcp:addPulumiAttributionLabel": "false"}


def job(name: str) -> VertexJob:
    return VertexJob(name, name, "JOB_STATE_QUEUED", {}, persistent_resource_id="cpu-1a2b3c4")


def answers(value: InUse | Unknown) -> Callable[[GuardSubject], InUse | Unknown]:
    return lambda _: value


ACCOUNT = "trainer@acme-dev.iam.gserviceaccount.com"
STACK = GuardSubject()
ON_ITS_OWN = replace(job("elastic"), persistent_resource_id="")
ODD = replace(job("projects/1/customJobs/42"), display_name="my job", persistent_resource_id="")
OURS = frozenset({"cpu-1a2b3c4"})
ELSEWHERE = InUse((replace(job("tune"), persistent_resource_id="team-a"),), clusters=OURS)  # N13
REFUSED: dict[str, tuple[GuardSubject, InUse | Unknown]] = {
    "a cluster with a job": (CPU, InUse((job("tune"),))),
    "a stack with jobs": (STACK, InUse((job("tune"), job("digits")))),
    "jobs of each sort": (STACK, InUse((ON_ITS_OWN, job("tune"), ODD), clusters=OURS)),
    "very many jobs": (CPU, InUse(tuple(job(f"run-{n}") for n in range(1, 31)))),
    "a job on a cluster of somebody else's": (STACK, ELSEWHERE),
    "the same on a cluster of the stack": (STACK, replace(ELSEWHERE, clusters=frozenset({"team-a"}))),
    "a job that no list shows yet": (CPU, InUse((), ("cpu-1a2b3c4",))),
    "the same, of a stack": (STACK, InUse((), ("cpu-1a2b3c4",))),
    "jobs that can't be read": (CPU, Unknown("denied", "customJobs.list", "roles/aiplatform.viewer")),
    "an account": (GuardSubject(account=ACCOUNT), InUse((job("tune"),))),
    "a bucket": (GuardSubject(bucket="acme-catalog"), InUse((job("tune"),))),
    "a grant": (GuardSubject(account=ACCOUNT, bucket="acme-catalog"), InUse((job("tune"),))),
}


def refusal_of(subject: GuardSubject, use: InUse | Unknown) -> str:
    with pytest.raises(SlipwayError) as refusal:
        check(subject, answers(use))
    return str(refusal.value)


def test_what_jobs_need_stays_and_the_refusal_says_why_and_how_to_end_them(snapshot: SnapshotAssertion) -> None:
    """Machines in use are a job too, and not knowing is no permission."""
    page = "\n\n".join(f"# {name}\n{refusal_of(*asked)}" for name, asked in REFUSED.items())
    assert page == snapshot


@pytest.mark.parametrize(
    ("type_", "known", "subject"),
    [
        ("gcp:vertex/aiPersistentResource:AiPersistentResource", {"name": "cpu-1a2b3c4"}, CPU),
        ("gcp:storage/bucket:Bucket", {"name": "acme-catalog"}, GuardSubject(bucket="acme-catalog")),
        ("gcp:serviceaccount/account:Account", {"email": ACCOUNT}, GuardSubject(account=ACCOUNT)),
        (
            "gcp:projects/iAMMember:IAMMember",
            {"member": f"serviceAccount:{ACCOUNT}", "project": "acme-dev"},
            GuardSubject(account=ACCOUNT),
        ),
        (
            "gcp:storage/bucketIAMMember:BucketIAMMember",
            {"member": f"serviceAccount:{ACCOUNT}", "bucket": "b/acme-work"},
            GuardSubject(account=ACCOUNT, bucket="acme-work"),
        ),
        ("gcp:storage/bucketObject:BucketObject", {"bucket": "acme-catalog", "name": "catalog.json"}, STACK),
    ],
)
def test_it_tells_what_would_be_taken_from_jobs(type_: str, known: dict[str, str], subject: GuardSubject) -> None:
    assert module.subject_of(type_, CLUSTER, known) == subject


class Waiting:
    """A cluster that must wait, a service that finds a job after some questions, and what was said and slept."""

    def __init__(self, wait: float, busy_after: int | None = None) -> None:
        self.wait, self.busy_after = wait, busy_after
        self.asked, self.slept = 0, 0.0
        self.said: list[str] = []

    def use_of(self, _: GuardSubject) -> InUse:
        self.asked += 1
        return InUse((job("tune"),)) if self.busy_after is not None and self.asked > self.busy_after else InUse()

    def left(self, cluster: str) -> float:
        assert cluster == "cpu-1a2b3c4"
        return max(0.0, self.wait - self.slept)

    def pause(self, seconds: float) -> None:
        self.slept += seconds

    def hold(self, subject: GuardSubject = CPU) -> None:
        hold(subject, self.use_of, self.left, self.said.append, self.pause)


def test_a_cluster_waits_until_it_was_not_offered_for_a_while_and_all_is_asked_again() -> None:
    waiting = Waiting(118.2)
    waiting.hold()
    assert waiting.slept == pytest.approx(118.2)
    assert waiting.asked == 13, "once before, and after every look"
    (said,) = waiting.said
    assert "cpu-1a2b3c4" in said and "in 2 min" in said and "SLIPWAY_GRACE" in said


@pytest.mark.parametrize(("busy_after", "slept"), [(0, 0), (2, 20)])
def test_a_job_that_is_there_or_shows_up_meanwhile_ends_the_wait_and_saves_the_cluster(
    busy_after: int, slept: int
) -> None:
    waiting = Waiting(120, busy_after=busy_after)
    with pytest.raises(SlipwayError, match="1 job has not ended"):
        waiting.hold()
    assert waiting.slept == slept


class Unready(Waiting):
    """A cluster that the cloud does not delete for so many questions, and what it is then."""

    def __init__(self, state: str, questions: int, wait: float = 0.0) -> None:
        super().__init__(wait)
        self.state, self.questions = state, questions

    def use_of(self, _: GuardSubject) -> InUse:
        self.asked += 1
        return InUse(unready={"cpu-1a2b3c4": self.state} if self.asked <= self.questions else {})


def test_a_cluster_that_is_being_deleted_already_is_waited_for() -> None:  # N1
    """A run that was killed asked for its end. It is gone afterwards: nothing can be sent to it any more."""
    waiting = Unready("STOPPING", 5, wait=120)
    waiting.hold()
    assert (waiting.asked, waiting.slept) == (6, 50)
    assert set(waiting.said) == {waiting.said[0]} and "is being deleted already" in waiting.said[0]


def test_a_cluster_that_is_being_rebooted_is_waited_for_and_then_held_as_any_other() -> None:  # N1
    waiting = Unready("REBOOTING", 2, wait=30)
    waiting.hold()
    assert waiting.slept == 30, "the time in which it was not offered goes on"
    assert "is being rebooted" in waiting.said[0]


def test_a_deletion_that_hangs_is_left_to_the_cloud_to_explain() -> None:
    waiting = Unready("STOPPING", 10_000)
    waiting.hold()
    assert waiting.slept == 2 * 3600


def test_the_catalog_of_a_stack_does_not_wait() -> None:
    """It goes first in a destruction, and from then on nobody is sent anywhere."""
    waiting = Waiting(120)
    waiting.hold(STACK)
    assert (waiting.asked, waiting.slept) == (1, 0)


class Deleting(Waiting):
    """A cluster in these states, a minute after the other; the last one lasts."""

    def __init__(self, *states: str | Unknown) -> None:
        super().__init__(0)
        self.states = list(states)

    def state_of(self, cluster: str) -> str | Unknown:
        assert cluster == CLUSTER
        return self.states.pop(0) if len(self.states) > 1 else self.states[0]

    def told(self) -> list[str]:
        tell_of_deletion(CPU, self.state_of, self.said.append, self.pause)
        return self.said


def test_a_deletion_that_the_provider_repeats_is_told_each_minute_until_it_begins() -> None:
    unread = Unknown("busy", "persistentResources.get", "")
    first, second = Deleting("RUNNING", unread, "STOPPING").told()
    assert first.startswith("the deletion of cluster cpu-1a2b3c4 has not begun after 1 min (it is still running)")
    assert "after 2 min (its state can't be read: busy)" in second and "503" in second
    assert Deleting("STOPPING").told() == Deleting("").told() == []
    assert len(Deleting("RUNNING").told()) < 120, "it has an end"


SUBMITS = StateGrant("submit-user:ada@acme.example", "roles/aiplatform.user", "user:ada@acme.example")


@pytest.mark.parametrize(
    ("stays", "said"),
    [
        (SharedGrant(SUBMITS, ("prod",)), "stack prod needs it by now\n  fix: the same command again: it leaves"),
        (
            SharedGrant(SUBMITS, (), ("gs://b: denied",)),
            "nobody can tell whether another stack needs it\n  why: gs://b",
        ),
    ],
)
def test_a_grant_that_another_stack_needs_by_now_is_not_taken(stays: SharedGrant, said: str) -> None:
    with pytest.raises(SlipwayError) as refusal:
        must_be_unneeded(SUBMITS, stays)
    assert f"roles/aiplatform.user of user:ada@acme.example is not taken: {said}" in str(refusal.value)
    must_be_unneeded(SUBMITS, None)


def test_every_grant_is_asked_for_before_it_goes() -> None:
    """A submitter's too; and by this name, which living stacks have."""

    def program() -> None:
        Workspace("workspace")

    grants = [resource for resource in composed(program, Decided()) if "member" in resource.inputs]
    assert len(grants) > 8 and all(list(grant.request.hooks.before_delete) == [module.NAME] for grant in grants)


@pytest.mark.parametrize(
    ("type_", "known", "asked"),
    [
        ("gcp:storage/bucketObject:BucketObject", {"bucket": "kept"}, True),
        ("gcp:storage/bucketObject:BucketObject", {"bucket": "old"}, False),
        ("gcp:storage/bucket:Bucket", {"name": "kept"}, True),
        ("gcp:serviceaccount/account:Account", {"email": "kept"}, True),
        ("gcp:vertex/aiPersistentResource:AiPersistentResource", {}, False),
    ],
)
def test_whoever_takes_the_catalog_or_the_account_takes_the_stack_down(
    type_: str, known: dict[str, str], asked: bool
) -> None:
    """A deployment deletes one only where another has taken its place. The catalog may be gone already, by hand."""
    assert ends_stack(type_, known, lambda bucket: bucket == "old") is asked


def test_of_two_workspaces_each_keeps_a_bucket_that_the_other_lacks(monkeypatch: pytest.MonkeyPatch) -> None:
    """A destruction takes a catalog whose bucket one of them keeps. # N1 # N33"""
    known = {"SLIPWAY_GRACE": "0"}
    stacks = [StackGuard(known, f"dev-{name}", ("acme-dev", "us-central1")) for name in ("tide", "ostsee")]
    for stack in stacks:
        stack.grace.began_with(None, f"acme-{stack.stack}-catalog")
    ended: list[str] = []
    monkeypatch.setattr(module, "must_leave_none", lambda stack: ended.append(stack.stack))
    monkeypatch.setattr(module, "must_keep_roles", lambda stack: None)
    monkeypatch.setattr(StackGuard, "use", lambda stack, subject: InUse((job("tune"),)))
    hooks: list[Callable[[pulumi.ResourceHookArgs], Coroutine[None, None, None]]] = []

    def hook(name: str, callback: Callable[[pulumi.ResourceHookArgs], Coroutine[None, None, None]]) -> str:
        hooks.append(callback)
        return name

    monkeypatch.setattr(pulumi, "ResourceHook", hook)
    monkeypatch.setattr(pulumi, "ResourceHookBinding", lambda **_: None)
    module.guard(lambda: stacks, State())
    (before_delete,) = hooks
    type_, bucket = "gcp:storage/bucketObject:BucketObject", {"bucket": "acme-dev-tide-catalog"}
    urn = f"urn:pulumi:dev::lab::slipway:index:Catalog${type_}::tide-catalog"
    args = pulumi.ResourceHookArgs(urn=urn, id="catalog", name="tide-catalog", type=type_, old_outputs=bucket)
    with pytest.raises(SlipwayError, match="the stack is not deleted: 1 job has not ended"):
        awaited(before_delete(args))
    assert ended == ["dev-tide", "dev-ostsee"]


CLUSTER_TYPE = "gcp:vertex/aiPersistentResource:AiPersistentResource"
IN_PROJECT = {"role": SUBMITS.role, "member": SUBMITS.member, "project": "acme-dev"}


def taking(
    monkeypatch: pytest.MonkeyPatch, known: State, granted: bool | None, outputs: dict[str, str] | None = None
) -> str:
    """Delete a submitter's role that another stack needs; return the error, empty for none."""
    stack = StackGuard({}, "dev", ("acme-dev", "us-central1"), known)
    monkeypatch.setattr(module, "must_leave_none", lambda stack: None)
    monkeypatch.setattr(StackGuard, "need", lambda stack, grants: (SharedGrant(SUBMITS, ("prod",)),))
    monkeypatch.setattr(StackGuard, "release", lambda stack, grant: SharedGrant(grant, ("prod",)))
    guard = module.Guard(lambda: [stack], known, lambda _: "", lambda _: granted)
    type_ = "gcp:projects/iAMMember:IAMMember"
    urn = f"urn:pulumi:dev::lab::slipway:index:Workspace${type_}::{SUBMITS.name}"
    args = pulumi.ResourceHookArgs(urn=urn, id="x", name=SUBMITS.name, type=type_, old_outputs=outputs or IN_PROJECT)
    try:
        awaited(guard.before_delete(args))
    except SlipwayError as error:
        return str(error)
    return ""


def test_a_role_that_pulumi_replaces_is_granted_again_so_nothing_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    """`pulumi state taint`, `up --replace`: the engine answers its registration after the deletion."""
    known = State(grants=(SUBMITS,), catalog_bucket="acme-catalog")
    assert taking(monkeypatch, known, granted=False) == ""
    for granted in (None, True):
        assert "is not taken: stack prod needs it by now" in taking(monkeypatch, known, granted)
    assert "leave out --target; make destroy STACK=dev" in taking(monkeypatch, known, granted=True)
    assert "the same command again" in taking(monkeypatch, known, granted=None)


def test_a_destruction_without_a_catalog_begins_with_a_role_that_is_declared(monkeypatch: pytest.MonkeyPatch) -> None:
    """A first deployment was killed, and SLIPWAY_PURPOSE is missing: nothing may go. # N1"""
    known = State(grants=(SUBMITS,))
    said = taking(monkeypatch, known, granted=True)
    assert "the stack is not taken down: the roles of user:ada@acme.example would go" in said
    assert "make destroy STACK=dev" in said
    assert "is not taken: stack prod" in taking(monkeypatch, known, granted=None), "an edit drops a submitter"


def test_a_destruction_without_a_catalog_may_begin_with_a_declared_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    """The engine deletes it beside the roles."""
    stack = StackGuard({"SLIPWAY_GRACE": "0"}, "dev", ("acme-dev", "us-central1"), State(grants=(SUBMITS,)))
    stack.declared_clusters = lambda: {"cpu-1a2b3c4": "offers it"}
    monkeypatch.setattr(module, "must_leave_none", lambda stack: None)
    monkeypatch.setattr(StackGuard, "need", lambda stack, grants: (SharedGrant(SUBMITS, ("prod",)),))
    guard = module.Guard(lambda: [stack], stack.state, lambda _: OLD, lambda _: None)
    args = pulumi.ResourceHookArgs(urn=OLD, id=CLUSTER, name="cpu-1a2b3c4", type=CLUSTER_TYPE, old_outputs={})
    with pytest.raises(SlipwayError, match="the stack is not taken down: the roles of user:ada@"):
        awaited(guard.before_delete(args))
    stack.has_workspace = False
    assert not stack.ends_with_cluster("cpu-1a2b3c4"), "clusters alone have no catalog and no roles"


def test_a_grant_is_declared_by_its_name_and_for_the_same_member() -> None:
    assert is_same(SUBMITS, replace(SUBMITS, member="user:Ada@acme.example"))
    for other in (replace(SUBMITS, name="x"), replace(SUBMITS, member="user:eve@acme.example")):
        assert not is_same(SUBMITS, other)


PROGRAM = Program("dev", "ml")
OLD, NEW = (f"urn:pulumi:dev::lab::acme:{team}$slipway:index:PersistentResource::cpu-1a2b3c4" for team in ("A", "B"))
IN_STATE = State(catalog_bucket="acme-dev-ml-catalog")


@pytest.mark.parametrize(
    ("known", "registered_as", "ended", "said"),
    [
        (
            IN_STATE,
            NEW,
            False,
            rf"this deployment offers it.*no longer declares {OLD[:20]}.*pulumi state delete '{OLD[:20]}",
        ),
        (State(), NEW, False, "this deployment offers it.*under two names"),
        (IN_STATE, OLD, False, "this deployment offers it.*--replace.*pulumi up --stack dev without"),
        (IN_STATE, "", False, "this deployment offers it"),
        (IN_STATE, NEW, True, ""),
        (State(), OLD, False, ""),
        (State(), "", False, ""),
    ],
    ids=[
        "two entries",
        "two entries, without a catalog",
        "replaced or tainted",
        "deleted before it is replaced",
        "a destruction, after the catalog",
        "a destruction without a catalog",
        "the same, before it is registered",
    ],
)
def test_a_cluster_that_the_deployment_declares_is_not_deleted(
    known: State, registered_as: str, ended: bool, said: str
) -> None:
    """Whatever the state has: `pulumi state repair`, or two components of one name, had left two entries. # N1"""
    guard = StackGuard({}, "dev-ml", ("acme-dev", "us-central1"), known)
    guard.declared = replace(from_config(PLACE, stack="dev-ml"), program=PROGRAM)
    guard.ended = ended
    guard.must_be_undeclared(CLUSTER, OLD, registered_as)  # before anything is planned
    guard.declared_clusters = lambda: {"cpu-1a2b3c4": "offers it"}
    guard.must_be_undeclared(CLUSTER.replace("1a2b3c4", "5d6e7f8"), OLD, registered_as)
    if not said:
        guard.must_be_undeclared(CLUSTER, OLD, registered_as)
        return
    with pytest.raises(SlipwayError, match=f"(?s)cluster cpu-1a2b3c4 is not deleted: {said}"):
        guard.must_be_undeclared(CLUSTER, OLD, registered_as)


def test_a_stack_that_is_taken_down_keeps_no_cluster() -> None:
    guard = StackGuard({}, "dev-ml", ("acme-dev", "us-central1"), IN_STATE)
    guard.taken_down, guard.declared_clusters = True, lambda: {"cpu-1a2b3c4": "offers it"}
    guard.must_be_undeclared(CLUSTER, OLD, NEW)


def test_a_destruction_of_a_program_names_what_to_type_there() -> None:
    guard = StackGuard({}, "dev-ml", ("acme-dev", "us-central1"))
    assert (guard.origin.up, guard.origin.command("destroy")) == ("make up STACK=dev-ml", "make destroy STACK=dev-ml")
    guard.declared = replace(from_config(PLACE, stack="dev-ml"), program=Program("dev", "ml"))
    assert guard.origin.up == "pulumi up --stack dev"
    assert guard.origin.command("destroy") == "SLIPWAY_PURPOSE=destroy pulumi destroy --run-program --stack dev"


def test_before_a_program_has_decided_nothing_takes_its_catalog(monkeypatch: pytest.MonkeyPatch) -> None:
    """The engine replaces a bucket of the program's own, and first what depends on it. # D1 # N1"""

    def program() -> None:
        Workspace("ml", WorkspaceArgs(project="acme-dev", region="us-central1"))
        (guard,) = composition()._guards()
        with pytest.raises(SlipwayError, match="the catalog is not deleted") as refused:
            must_be_decided(guard)
        assert "pulumi preview --stack dev" in str(refused.value)

    declared(program)


@pytest.mark.parametrize("key", ["effectiveLabels", "labels"])
@pytest.mark.parametrize("is_secret", [True, False])
def test_the_stack_of_a_cluster_is_read_from_its_labels(key: str, is_secret: bool) -> None:
    """The provider keeps the effective labels secret."""
    labels = {"slipway-stack": "prod-ml"}

    def program() -> None:
        known = {key: pulumi.Output.secret(labels) if is_secret else labels}

        async def read() -> None:
            assert await module.stack_of(known) == "prod-ml"
            assert await module.stack_of({}) == ""

        reading: Any = read()
        pulumi.Output.from_input(reading)

    declared(program)


def test_a_cluster_of_another_stack_is_not_deleted() -> None:
    urn = "urn:pulumi:dev::slipway::slipway:index:Generation$gcp:x:X::cpu-1a2b3c4"
    stacks = [StackGuard({}, name, ("acme", "us-central1")) for name in ("dev-ml", "dev-eu")]
    for owner in ("", "dev-ml", "dev-eu"):
        module.must_be_own(owner, stacks, urn)
    with pytest.raises(ConfigError, match="cluster cpu-1a2b3c4 belongs to stack prod-ml") as rejection:
        module.must_be_own("prod-ml", stacks, urn)
    assert "pulumi state delete" in str(rejection.value) and f"'{urn}'" in str(rejection.value)


ENTRIES = "urn:pulumi:dev::slipway::slipway:index:Workspace$"
MOVED = f"{ENTRIES}gcp:serviceaccount/account:Account::other-trainer"
RENAMED = f"{ENTRIES}gcp:projects/iAMMember:IAMMember::zz"
STRAYS: dict[str, tuple[str, dict[str, str], str]] = {
    "of another stack": (
        MOVED,
        {"email": ACCOUNT, "displayName": "Slipway trainer (vision--dev--other)"},
        rf"(?s)account {ACCOUNT} belongs to stack dev of Pulumi project vision, workspace other.*'{re.escape(MOVED)}'",
    ),
    "renamed": (
        RENAMED,
        {"role": "roles/aiplatform.user", "member": "group:ml@acme.example"},
        r"(?s)state has roles/aiplatform.user of group:ml@acme.example under the name zz.*state delete .*::zz'",
    ),
}


@pytest.mark.parametrize("preview", [True, False])
@pytest.mark.parametrize("purpose", ["", "destroy"])
@pytest.mark.parametrize(("urn", "outputs", "said"), STRAYS.values(), ids=STRAYS)
def test_an_entry_that_pulumi_would_delete_for_nothing_is_refused_before_anything_changes(
    urn: str, outputs: dict[str, str], said: str, purpose: str, preview: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLIPWAY_PURPOSE", purpose)
    known = read({urn: {"type": urn.rpartition("$")[2].rpartition("::")[0], "outputs": outputs}})
    with knowing(known):
        program = partial(Workspace, "ml", WorkspaceArgs(project="acme-dev", region="us-central1"))
        asked, error = failed(program, preview=preview)
    assert re.search(said, error) and not asked, (error, asked)


def test_entries_of_several_kinds_are_refused_together() -> None:
    """A moved account and an imported bucket took two rounds."""
    bucket, (moved, outputs, _) = "gcp:storage/bucket:Bucket", STRAYS["of another stack"]
    imported = f"urn:pulumi:dev::slipway::{bucket}::data"
    catalog = {"type": bucket, "outputs": {"name": "acme-slipway--dev--ml-catalog"}}
    entries = {
        moved: {"type": "gcp:serviceaccount/account:Account", "outputs": outputs},
        f"{ENTRIES}{bucket}::ml-catalog": catalog,
        imported: {**catalog},
    }
    with knowing(read(entries)):
        _, error = failed(partial(Workspace, "ml", WorkspaceArgs(project="acme-dev", region="us-central1")))
    lines = [line.strip().removeprefix("fix: ") for line in error.splitlines()]
    for urn in (moved, imported):
        assert f"pulumi state delete --stack dev --target-dependents '{urn}' --force" in lines, error


@pytest.mark.parametrize(("urn", "outputs", "said"), STRAYS.values(), ids=STRAYS)
def test_so_it_is_where_a_stack_file_is_taken_down(
    urn: str, outputs: dict[str, str], said: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    workspace = {f"{ENTRIES[:-1]}::ml": {"type": "slipway:index:Workspace", "outputs": {"place": {"name": "ml"}}}}
    known = read({**workspace, urn: {"type": urn.rpartition("$")[2].rpartition("::")[0], "outputs": outputs}})
    monkeypatch.setattr(destruction, "left", lambda *_: (known, False))

    def program() -> None:
        with pytest.raises(ConfigError, match=said):
            destruction.take_down(tmp_path, None)

    assert declared(program) == []
