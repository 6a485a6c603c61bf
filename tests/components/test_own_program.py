"""Programs of one's own under mocks: what is theirs, what is told, programs that end early. # D1 # N33 # N34"""

import asyncio
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pulumi
import pulumi_gcp as gcp
import pytest
from pulumi_gcp.provider import Provider

import components as slipway
from components import lent as module
from components import live_reading, testing
from components.namesakes import watch
from components.world import CURRENT
from slipway.base.errors import PolicyError
from slipway.deploying.deployment.workspace_plan import trainer_display_name
from slipway.google.catalog.document import PublishedCatalog
from slipway.google.jobs import VertexJob
from slipway.google.live import Unknown
from slipway.google.live_reader import Reader
from slipway.model.identity import Identity
from slipway.model.labels import STACK_LABEL
from slipway.model.state import ACCOUNT, State, StateEntry, StateGrant, StateResource
from tests.components.conftest import PROJECT, REGION, Asked, awaited, declared, every, executed, failed
from tests.docs.test_components import lay_out

BUCKET, GENERATION = "gcp:storage/bucket:Bucket", "gcp:vertex/aiPersistentResource:AiPersistentResource"
CATALOG, WORK = Identity("slipway", "dev", "ml").buckets(PROJECT)
POOLS = {"workers": slipway.PoolArgs(machine="n1-standard-4", replicas=1)}


def cluster(name: str = "research", **args: Any) -> slipway.PersistentResource:
    return slipway.PersistentResource(name, slipway.PersistentResourceArgs(**{"pools": POOLS, **args}))


def workspace(name: str = "ml", **args: Any) -> slipway.Workspace:
    return slipway.Workspace(name, slipway.WorkspaceArgs(**{"project": PROJECT, "region": REGION, **args}))


def buckets(asked: list[Asked]) -> dict[str, str]:
    """By name, the parent."""
    return {each.inputs["name"]: each.parent for each in every(asked, BUCKET).values()}


def refused(program: Callable[[], object], match: str, *, preview: bool = False) -> None:
    with pytest.raises(pulumi.RunError, match=match):
        declared(program, preview=preview)


# -- what is theirs --


def own_bucket() -> gcp.storage.Bucket:
    return gcp.storage.Bucket("results", name="acme-results", location="US-CENTRAL1")


def own_account() -> gcp.serviceaccount.Account:
    return gcp.serviceaccount.Account("runner", account_id="own-runner", project=PROJECT)


@pytest.mark.parametrize("given", [lambda own: own, lambda own: own.name], ids=["the resource", "its name"])
def test_a_bucket_of_the_program_is_declared_by_the_program_alone(given: Callable[[Any], Any]) -> None:
    asked = declared(lambda: workspace(work_bucket=given(own_bucket())))
    assert buckets(asked) == {"acme-results": "slipway-dev", CATALOG: "ml"}
    grants = every(asked, "gcp:storage/bucketIAMMember:BucketIAMMember")
    assert {each.inputs["bucket"] for each in grants.values()} >= {"acme-results"}


@pytest.mark.parametrize("given", [lambda own: own, lambda own: own.email], ids=["the resource", "its address"])
def test_an_account_of_the_program_is_declared_by_the_program_alone(given: Callable[[Any], Any]) -> None:
    asked = declared(lambda: workspace(trainer=given(own_account())))
    (account,) = every(asked, "gcp:serviceaccount/account:Account").values()
    assert account.parent == "slipway-dev"
    roles = every(asked, "gcp:storage/bucketIAMMember:BucketIAMMember").values()
    assert {each.inputs["member"] for each in roles} == {f"serviceAccount:own-runner@{PROJECT}.iam.gserviceaccount.com"}


def test_an_output_of_another_name_is_only_a_name() -> None:
    asked = declared(lambda: workspace(work_bucket=own_bucket().name.apply(lambda name: f"{name}-of-jobs")))
    assert buckets(asked)["acme-results-of-jobs"] == "ml"


@pytest.mark.parametrize(
    ("given", "others", "line"),
    [
        (
            {"work_bucket": "acme-results"},
            {"acme-results": "results"},
            "work_bucket=<the variable of resource results>",
        ),
        ({"catalog_bucket": "acme-cat"}, {"acme-cat": "cat"}, "catalog_bucket=<the variable of resource cat>"),
        (
            {"trainer": "own-runner"},
            {f"own-runner@{PROJECT}.iam.gserviceaccount.com": "runner"},
            "trainer=<the variable of resource runner>",
        ),
    ],
)
@pytest.mark.parametrize("preview", [True, False])
def test_a_resource_of_the_program_by_its_name_alone_is_refused_with_the_line_to_write(
    given: dict[str, str], others: dict[str, str], line: str, preview: bool
) -> None:
    with knowing(State(others=others)):
        refused(lambda: workspace(**given), line, preview=preview)


@pytest.mark.parametrize(
    ("declare", "given", "line"),
    [
        (own_bucket, {"work_bucket": "acme-results"}, "work_bucket=<the variable of resource results>"),
        (own_account, {"trainer": "own-runner"}, "trainer=<the variable of resource runner>"),
    ],
)
@pytest.mark.parametrize("preview", [True, False])
def test_so_it_is_before_the_engine_knows_of_it(
    declare: Callable[[], object], given: dict[str, str], line: str, preview: bool
) -> None:
    """The first `up` declared the bucket twice, and one of both was refused with 409."""

    def program() -> None:
        watch()  # as by the import
        declare()
        workspace(**given)

    refused(program, line, preview=preview)


OF_A_COMPONENT = "research-1a2b3c4"


@pytest.mark.parametrize(
    "given",
    [
        {"name": OF_A_COMPONENT},
        {"import_": f"projects/{PROJECT}/locations/{REGION}/persistentResources/{OF_A_COMPONENT}"},
        {"import_": f"{REGION}/{OF_A_COMPONENT}"},
    ],
    ids=["name", "import", "short import"],
)
@pytest.mark.parametrize("preview", [True, False])
def test_a_cluster_of_a_component_is_not_declared_again_as_a_resource(given: dict[str, str], preview: bool) -> None:
    """Pulumi deleted the cluster with its jobs to replace the resource, before anything was decided."""

    known = State(clusters=(StateResource(OF_A_COMPONENT, OF_A_COMPONENT, PROJECT, REGION),))
    with knowing(known):
        asked, error = failed(lambda: with_own_cluster(**given), preview=preview)
        assert GENERATION not in [each.type for each in asked]
        assert f"resource mine is cluster {OF_A_COMPONENT}, which a PersistentResource declares" in error
        assert "fix: remove resource mine from the program" in error
        assert every(declared(lambda: with_own_cluster(name="own-cluster")), GENERATION).keys() == {"mine"}


def with_own_cluster(**given: Any) -> None:
    watch()
    options = pulumi.ResourceOptions(import_=given.pop("import_", None))
    machine = gcp.vertex.AiPersistentResourceResourcePoolMachineSpecArgs(machine_type="n1-standard-4")
    pool = gcp.vertex.AiPersistentResourceResourcePoolArgs(machine_spec=machine)
    gcp.vertex.AiPersistentResource(
        "mine", opts=options, project=PROJECT, location=REGION, resource_pools=[pool], **given
    )
    workspace()


@pytest.mark.parametrize("owner", ["speech--dev--ml", ""])
def test_a_cluster_of_another_deployment_is_not_declared_as_a_resource(owner: str) -> None:
    """Pulumi replaced it, with its jobs, and the deployment succeeded."""
    declared(lambda: None)
    args = slipway.PersistentResourceArgs(pools=POOLS, project=PROJECT, region=REGION)
    lives = replace(testing.cluster("research", args), labels={STACK_LABEL: owner} if owner else {})
    world = CURRENT.get()
    token = CURRENT.set(replace(world, live=replace(world.live, clusters=(lives,))))
    try:
        if owner:
            asked, error = failed(lambda: with_own_cluster(name=lives.id))
            assert GENERATION not in [each.type for each in asked]
            assert f"resource mine is cluster {lives.id} of stack dev of Pulumi project speech" in error
        else:
            assert GENERATION in [each.type for each in declared(lambda: with_own_cluster(name=lives.id))]
    finally:
        CURRENT.reset(token)


def test_what_another_program_of_the_same_mocks_declares_is_no_namesake() -> None:
    def other() -> None:
        watch()
        own_bucket()
        workspace()

    run: Any = pulumi.runtime.test
    declared(lambda: None)
    run(other)()
    run(lambda: workspace("other", work_bucket="acme-results"))()


class knowing:  # noqa: N801 - a context, as `testing.living` is
    """Let the engine know this state, and these jobs not have ended."""

    def __init__(self, state: State, jobs: tuple[VertexJob, ...] = ()) -> None:
        self.state, self.jobs = state, jobs

    def __enter__(self) -> None:
        world = CURRENT.get()
        self.token = CURRENT.set(replace(world, state=self.state, live=replace(world.live, jobs=self.jobs)))

    def __exit__(self, *_: object) -> None:
        CURRENT.reset(self.token)


LENT = {"urn:pulumi:dev::slipway::gcp:storage/bucket:Bucket::results": "acme-results"}


@pytest.mark.parametrize(("lent", "is_kept"), [(LENT, True), ({}, False)], ids=["deployed", "new"])
def test_a_bucket_that_a_workspace_uses_has_the_hook_that_rejects_a_replacement(
    lent: dict[str, str], is_kept: bool
) -> None:
    def program() -> None:
        watch()  # as by the import
        options = pulumi.ResourceOptions(delete_before_replace=True)
        bucket = gcp.storage.Bucket("results", name="acme-results", location="US-CENTRAL1", opts=options)
        gcp.storage.Bucket("spare", location="US-CENTRAL1")
        workspace(work_bucket=bucket)

    with knowing(State(lent=lent)):
        asked = every(declared(program), BUCKET)
    own, spare = asked["results"].request, asked["spare"].request
    assert list(own.hooks.before_create) == ([module.NAME] if is_kept else [])
    assert own.deleteBeforeReplace is not is_kept, "the hook must come before the deletion"
    assert not spare.hooks.before_create


@pytest.mark.parametrize(
    ("urn", "found", "is_rejected"),
    [
        (*LENT, {"acme-results": {}}, True),
        (*LENT, Unknown("denied", "", ""), True),
        (*LENT, {}, False),
        ("urn:pulumi:dev::slipway::team:Own$gcp:storage/bucket:Bucket::results", {"acme-results": {}}, False),
    ],
    ids=["it exists", "it can't be read", "it was deleted by hand", "another one of that name"],
)
def test_the_hook_rejects_a_second_bucket_while_the_first_one_exists(
    monkeypatch: pytest.MonkeyPatch, urn: str, found: Any, is_rejected: bool
) -> None:
    hooks: list[Any] = []
    monkeypatch.setattr(pulumi, "ResourceHook", lambda name, callback, options: hooks.append(callback))
    monkeypatch.setattr(live_reading, "connect", lambda environ: SimpleNamespace(vertex=lambda *place: None))
    monkeypatch.setattr(Reader, "bucket", lambda reader, name: found)
    module._rejecting(State(lent=LENT))
    args = pulumi.ResourceHookArgs(urn=urn, id="", name="results", type=BUCKET, new_inputs={})
    if not is_rejected:
        awaited(hooks[0](args))
        return
    with pytest.raises(PolicyError, match="bucket gs://acme-results can't be replaced by Pulumi") as error:
        awaited(hooks[0](args))
    assert f"'{urn}'\nafter an edit of its name or its place: undo the edit" in error.value.fix


@pytest.mark.parametrize("preview", [True, False])
@pytest.mark.parametrize("own", [own_bucket, own_account])
def test_what_exists_and_left_the_state_is_imported_first(own: Callable[[], Any], preview: bool) -> None:
    """As after `pulumi state delete`. Pulumi would fail (409) after other changes."""
    account = f"own-runner@{PROJECT}.iam.gserviceaccount.com"
    type_, name, id_ = {
        own_bucket: (BUCKET, "results", "acme-results"),
        own_account: ("gcp:serviceaccount/account:Account", "runner", f"projects/{PROJECT}/serviceAccounts/{account}"),
    }[own]

    def program() -> None:
        watch()  # as by the import
        own()

    def deployed(*names: tuple[str, str]) -> knowing:
        return knowing(State(catalogs=(CATALOG,), names=frozenset(names)))

    world = CURRENT.get()
    live = replace(world.live, buckets=frozenset({"acme-results"}), service_accounts={account: ""})
    token = CURRENT.set(replace(world, live=live))
    try:
        with deployed(), pytest.raises(pulumi.RunError, match="exists, and the state of") as error:
            declared(program, preview=preview)
        with deployed((type_, name)):
            declared(program, preview=preview)
        with knowing(State()), pytest.raises(pulumi.RunError, match="exists, and the state of"):
            declared(program, preview=preview)
    finally:
        CURRENT.reset(token)
    with deployed():
        declared(program, preview=preview)
    line = f"pulumi import --stack dev {type_} {name} {id_} --generate-code=false"
    assert line in [each.strip() for each in str(error.value).splitlines()]


def test_a_part_of_a_lost_state_is_imported_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """`pulumi state delete --target-dependents` takes the catalog as well."""

    def program() -> None:
        watch()
        own_bucket()

    world = CURRENT.get()
    rest = State(names=frozenset({("gcp:compute/network:Network", "vpc")}))
    token = CURRENT.set(replace(world, live=replace(world.live, buckets=frozenset({"acme-results"})), state=rest))
    try:
        with pytest.raises(pulumi.RunError, match="exists, and the state of"):
            declared(program, preview=True)
        monkeypatch.setenv("SLIPWAY_RECOVER", "slipway/dev")
        declared(program, preview=True)
    finally:
        CURRENT.reset(token)


OTHERS = {
    BUCKET: ("acme-training--dev-work", "results"),
    ACCOUNT: (f"theirs@{PROJECT}.iam.gserviceaccount.com", "runner"),
}


@pytest.mark.parametrize("imported", ["entry", "option", ""])
@pytest.mark.parametrize("type_", [BUCKET, ACCOUNT])
def test_what_another_deployment_made_is_rejected_with_its_owner(type_: str, imported: str) -> None:
    called = trainer_display_name("acme-training--dev")
    name, logical = OTHERS[type_]
    opts = pulumi.ResourceOptions(import_=name if imported == "option" else None)

    def program() -> None:
        watch()
        if type_ == BUCKET:
            gcp.storage.Bucket(logical, name=name, location="US", opts=opts)
        else:
            gcp.serviceaccount.Account(logical, account_id="theirs", project=PROJECT, opts=opts)

    catalog = PublishedCatalog(needs=frozenset({name}), identity=Identity("acme-training", "dev"))
    urn = f"urn:pulumi:dev::slipway::{type_}::{logical}"
    entry = StateEntry(urn, type_, "", logical, name, marked=called, project=PROJECT)
    state = State(catalogs=(CATALOG,), entries=(entry,) if imported == "entry" else ())
    world = CURRENT.get()
    live = replace(
        world.live,
        buckets=frozenset({name}),
        service_accounts={name: called},
        neighbours={"acme-training--dev-catalog": catalog},
    )
    token = CURRENT.set(replace(world, live=live, state=state))
    try:
        with pytest.raises(pulumi.RunError, match="belongs to stack dev of Pulumi project acme-training") as error:
            declared(program, preview=True)
    finally:
        CURRENT.reset(token)
    assert "pulumi import" not in str(error.value)
    assert ("pulumi state delete" in str(error.value)) is (imported == "entry")


# -- what is told --


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    said: list[str] = []
    for level in ("info", "warn"):
        monkeypatch.setattr(pulumi.log, level, lambda words, *_: said.append(words))
    return said


@pytest.mark.parametrize("preview", [True, False])
def test_findings_name_component_and_argument_and_no_stack_file(told: list[str], preview: bool) -> None:
    def program() -> None:
        ground = workspace("tide")
        slipway.PersistentResource("deep", slipway.PersistentResourceArgs(pools=POOLS))
        slipway.Catalog("tide", slipway.CatalogArgs(workspace=ground))

    declared(program, preview=preview)
    said = "\n".join(told)
    assert "cluster deep: create: " in said and "[PersistentResource deep]" in said
    assert "[slipway:" not in said and "dev-tide" not in said
    assert "`up` of workspace tide" in said, "a destruction without its purpose says the same"


def test_errors_name_component_and_argument_and_no_stack_file() -> None:
    with pytest.raises(pulumi.RunError, match="PersistentResource research: id: ") as error:
        declared(lambda: (workspace(), cluster(id="somebodys"))[0])
    assert "slipway:" not in str(error.value) and "stacks/" not in str(error.value)


@pytest.mark.parametrize(
    ("args", "said"),
    [
        ({"alternatives": [{"pools": {"workers": {"machine": "n1-standard-4", "replicas": 0}}}]}, "replicas"),
        ({"begins": "2027-01-10", "ends": "2026-01-10"}, "ends: "),
    ],
)
def test_mistakes_between_arguments_name_them(args: dict[str, Any], said: str) -> None:
    with pytest.raises(pulumi.RunError, match=f"PersistentResource research: .*{said}") as error:
        declared(lambda: (workspace(), cluster(**args))[0])
    assert "slipway:" not in str(error.value) and "stacks/" not in str(error.value)


def test_a_move_is_refused_in_the_programs_words() -> None:
    there = StateResource("tide-work", f"{PROJECT}-dev-tide-work", PROJECT, "europe-west4")
    with knowing(State(buckets=(there,))), pytest.raises(pulumi.RunError) as error:
        declared(lambda: workspace("tide"))
    said = str(error.value)
    assert "Workspace tide lives in europe-west4 and can't move to us-central1" in said
    assert "`region='europe-west4'` among its arguments" in said
    assert "stacks/" not in said and "make " not in said and "stack dev-tide" not in said


@pytest.mark.parametrize("preview", [False, True])
def test_another_bucket_or_account_of_the_program_is_refused_before_anything(preview: bool) -> None:
    trainer = f"serviceAccount:former@{PROJECT}.iam.gserviceaccount.com"
    reads = StateGrant("ml-trainer-reads-catalog", "roles/storage.objectViewer", trainer, f"gs://{CATALOG}")
    writes = StateGrant("ml-trainer-writes-work", "roles/storage.objectUser", trainer, "gs://former-results")
    with knowing(State(grants=(reads, writes))):
        refused(
            lambda: workspace(work_bucket=own_bucket(), trainer="former"),
            r"(?s)gs://former-results can't become bucket gs://acme-results.*put the name former-results of the",
            preview=preview,
        )
        refused(
            lambda: workspace(work_bucket="former-results", trainer=own_account()),
            r"(?s)account former@\S+ can't become account own-runner@.*put the name former of the program's resource",
            preview=preview,
        )


# -- values that can't come --


def of_a_cluster() -> None:
    workspace()
    cluster("second", network=cluster("first").cluster_id)


def of_a_label_behind_another_output() -> None:
    ground = workspace()
    address = slipway.Catalog("ml", slipway.CatalogArgs(workspace=ground)).address
    said: pulumi.Output[str] = own_bucket().name.apply(lambda _: address)
    cluster("second", labels={"catalog": said})


def of_an_own_resource_between() -> None:
    workspace()
    network = gcp.compute.Network("between", description=cluster("first").cluster_id)
    cluster("second", network=gcp.compute.Subnetwork("below", network=network.id, region=REGION).network)


def of_an_own_resource_after_a_component() -> None:
    workspace()
    made = gcp.compute.Network("after", opts=pulumi.ResourceOptions(depends_on=[cluster("first")]))
    cluster("second", network=made.id)


def of_an_own_resource_below_a_component() -> None:
    workspace()
    made = gcp.compute.Network("below", opts=pulumi.ResourceOptions(parent=cluster("first")))
    cluster("second", network=made.id)


def of_what_a_cluster_depends_on() -> None:
    workspace()
    made = gcp.compute.Network("between", description=cluster("first").cluster_id)
    args = slipway.PersistentResourceArgs(pools=POOLS)
    slipway.PersistentResource("second", args, pulumi.ResourceOptions(depends_on=[made]))


@pytest.mark.parametrize(
    ("program", "said"),
    [
        (of_an_own_resource_between, "PersistentResource second: network waits for PersistentResource first"),
        (of_an_own_resource_after_a_component, "PersistentResource second: network waits for PersistentResource first"),
        (of_an_own_resource_below_a_component, "PersistentResource second: network waits for PersistentResource first"),
        (of_what_a_cluster_depends_on, "PersistentResource second: depends_on waits for PersistentResource first"),
        (of_a_cluster, "PersistentResource second: network waits for PersistentResource first"),
        (of_a_label_behind_another_output, "PersistentResource second: labels.catalog waits for Catalog ml"),
    ],
)
@pytest.mark.parametrize("preview", [True, False])
def test_a_value_that_waits_for_a_component_is_refused(program: Callable[[], None], said: str, preview: bool) -> None:
    refused(program, f"{said}(.|\n)*together(.|\n)*needs nothing of", preview=preview)


def below_a_cluster() -> None:
    workspace()
    args = slipway.PersistentResourceArgs(pools=POOLS)
    slipway.PersistentResource("second", args, pulumi.ResourceOptions(parent=cluster("first")))


def after_a_cluster_without_a_workspace() -> None:
    first = cluster("first", project=PROJECT, region=REGION)
    made = gcp.compute.Network("between", description=first.cluster_id)
    args = slipway.PersistentResourceArgs(pools=POOLS, project=PROJECT, region=REGION)
    slipway.PersistentResource("second", args, pulumi.ResourceOptions(depends_on=[made]))


@pytest.mark.parametrize("program", [below_a_cluster, after_a_cluster_without_a_workspace])
def test_an_order_of_clusters_that_can_be_kept_is_kept(program: Callable[[], None]) -> None:
    assert len(every(declared(program), GENERATION)) == 2


# -- programs that end early --


def test_a_program_that_fails_midway_decides_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    decided: list[object] = []
    monkeypatch.setattr("components.group.Group.decide", decided.append)

    def program() -> None:
        workspace()
        cluster()
        raise ValueError("the program's own")

    with pytest.raises(pulumi.RunError, match="ValueError: the program's own"):
        executed(program)
    assert not decided


@pytest.mark.parametrize("code", [None, 0])
def test_a_program_that_ends_itself_with_success_decides_nothing(
    monkeypatch: pytest.MonkeyPatch, code: int | None
) -> None:
    """As `sys.exit(main())` does. With exit code 0 and nothing declared, Pulumi would delete all that exists."""
    decided: list[object] = []
    monkeypatch.setattr("components.group.Group.decide", decided.append)

    def program() -> None:
        workspace()
        cluster()
        sys.exit(code)

    with pytest.raises(pulumi.RunError) as error:
        executed(program)
    assert "the program ended itself by `sys.exit`, so nothing was changed" in str(error.value)
    assert "why: " in str(error.value) and "fix: " in str(error.value)
    assert not decided


def test_a_program_that_goes_on_asynchronously_is_decided_about_at_its_end() -> None:
    async def later() -> dict[str, Any]:
        await asyncio.sleep(0)
        first = cluster(workspace=ground[0])
        await asyncio.sleep(0)
        cluster("speech", workspace=ground[0])
        return {"id": first.cluster_id}

    ground: list[slipway.Workspace] = []

    def program() -> None:
        ground.append(workspace())
        pulumi.run(later)

    assert {each.name.partition("-")[0] for each in every(executed(program), GENERATION).values()} == {
        "research",
        "speech",
    }


def test_a_component_that_comes_late_is_refused_with_what_to_do() -> None:
    def program() -> None:
        ground = workspace()
        ground.trainer.apply(lambda _: cluster())

    with pytest.raises(Exception, match=r"comes too late(.|\n)*give it the output as an argument(.|\n)*pulumi\.run"):
        declared(program)


def test_a_cluster_for_each_item_of_another_stacks_output_is_read_first() -> None:
    """As the fix of the error above says."""

    async def main() -> None:
        ground = workspace()
        reference = pulumi.StackReference("acme/network/prod")
        teams: Any = (await reference.get_output_details("teams")).value
        for team in teams:
            cluster(team, workspace=ground)

    made = every(executed(lambda: pulumi.run(main)), GENERATION)
    assert {name.rpartition("-")[0] for name in made} == {"vision", "speech"}


def test_an_output_in_place_of_clusters_is_refused_with_what_to_write() -> None:
    def program() -> None:
        reference = pulumi.StackReference("acme/network/prod")
        slipway.JobTemplate("count-words", clusters=reference.get_output("clusters"))

    refused(program, r"JobTemplate count-words: clusters: an Output is no component(.|\n)*id can be an Output")


def new_project() -> gcp.organizations.Project:
    return gcp.organizations.Project("lab", project_id="acme-lab", name="lab", org_id="1")


def in_a_new_project() -> None:
    watch()
    lab = new_project()
    service = gcp.projects.Service("vertex", project=lab.project_id, service="aiplatform.googleapis.com")
    workspace(project=lab.project_id)
    cluster()
    gcp.projects.Service("late", service="run.googleapis.com", opts=pulumi.ResourceOptions(depends_on=[service]))


def test_what_is_read_waits_for_the_project_and_the_apis_of_the_same_program() -> None:
    asked = declared(in_a_new_project)
    order = [each.name for each in asked]
    assert max(map(order.index, ("lab", "vertex", "late"))) < order.index("ml") < order.index("research")
    (made,) = (each for each in asked if each.name == "ml" and each.type.endswith(":Workspace"))
    assert made.depends_on >= {"lab", "vertex", "late"}, "so that a destruction deletes them last"
    assert {each.inputs["project"] for each in every(asked, BUCKET).values()} == {"acme-lab"}


def test_a_preview_reads_nothing_of_a_project_that_up_creates(caplog: pytest.LogCaptureFixture) -> None:
    asked = declared(in_a_new_project, preview=True)
    assert "project acme-lab does not exist yet: this preview reads nothing of it" in caplog.text
    assert {each.inputs["project"] for each in every(asked, BUCKET).values()} == {"acme-lab"}


def test_an_api_that_waits_for_a_component_is_not_waited_for() -> None:
    def program() -> None:
        watch()
        ground = workspace()
        after = pulumi.ResourceOptions(depends_on=[ground])
        gcp.projects.Service("late", service="run.googleapis.com", opts=after)

    order = [each.name for each in declared(program)]
    assert order.index("ml") < order.index("late")


def test_a_project_of_a_random_id_needs_two_programs() -> None:
    def program() -> None:
        watch()
        lab = gcp.organizations.Project("lab", name="lab", org_id="1")
        workspace(project=lab.project_id)

    refused(program, "Workspace ml: project is not known yet(.|\n)*two programs", preview=True)


# -- previews --


def test_a_preview_says_what_is_known_when_something_exists(caplog: pytest.LogCaptureFixture) -> None:
    def program() -> None:
        workspace()
        own = own_bucket()
        cluster(network=own.url.apply(lambda _: "projects/123456789012/global/networks/training"))

    asked = declared(program, preview=True)
    assert "research: network is known when results exists" in caplog.text
    (made,) = every(asked, GENERATION).values()
    assert "network" not in made.inputs


def network() -> dict[str, Any]:
    return {"network": gcp.compute.Network("vpc", name="training", project=PROJECT).id}


def linked() -> dict[str, Any]:
    return {"network": gcp.compute.Network("vpc", name="training").self_link}


def of_a_provider() -> dict[str, Any]:
    provider = Provider("net", project="acme-net")
    options = pulumi.ResourceOptions(provider=provider)
    return {"network": gcp.compute.Network("vpc", name="training", opts=options).id}


def key() -> dict[str, Any]:
    ring = gcp.kms.KeyRing("ring", name="ml", location=REGION)
    return {"kms_key": gcp.kms.CryptoKey("key", name="disks", key_ring=ring.id).id}


def attachment() -> dict[str, Any]:
    made = gcp.compute.NetworkAttachment(
        "psc", name="psc", region=REGION, connection_preference="ACCEPT_MANUAL", subnetworks=["training"]
    )
    return {"psc_interface": slipway.PscInterfaceArgs(network_attachment=made.id)}


@pytest.mark.parametrize(
    ("given", "value"),
    [
        (network, "projects/123456789012/global/networks/training"),
        (linked, "projects/123456789012/global/networks/training"),
        (of_a_provider, "projects/123456789012/global/networks/training"),
        (key, f"projects/{PROJECT}/locations/{REGION}/keyRings/ml/cryptoKeys/disks"),
        (attachment, f"projects/{PROJECT}/regions/{REGION}/networkAttachments/psc"),
    ],
)
def test_a_preview_shows_the_cluster_that_up_creates_with_a_resource_of_the_same_program(
    given: Callable[[], dict[str, Any]], value: str, caplog: pytest.LogCaptureFixture
) -> None:
    pulumi.runtime.set_all_config({"gcp:project": PROJECT, "gcp:region": REGION})

    def program() -> None:
        watch()
        workspace()
        cluster(**given())

    (shown,) = every(declared(program, preview=True, unknown=("gcp:compute", "gcp:kms")), GENERATION).values()
    assert value in str(shown.inputs), shown.inputs
    assert "this preview goes without" not in caplog.text


def test_a_preview_of_a_network_without_a_name_says_how_to_see_the_cluster(caplog: pytest.LogCaptureFixture) -> None:
    def program() -> None:
        watch()
        workspace()
        cluster(network=gcp.compute.Network("vpc").id)

    declared(program, preview=True, unknown=("gcp:compute", "gcp:kms"))
    assert "research: network is known when vpc exists" in caplog.text and "give vpc a `name`" in caplog.text


def test_a_preview_of_an_unnamed_bucket_of_the_program_declares_no_other() -> None:
    asked = declared(lambda: workspace(work_bucket=gcp.storage.Bucket("results", location="US")), preview=True)
    assert [each.name for each in every(asked, BUCKET).values() if each.parent == "ml"] == ["ml-catalog"]


# -- what lives --


def test_quota_that_is_too_small_is_refused_in_a_preview_too() -> None:
    def program() -> None:
        workspace()
        slipway.QuotaCheck("quota", slipway.QuotaCheckArgs(clusters=[cluster()]))

    with testing.living(quota={"custom_model_training_cpus": 2}):
        refused(program, "custom_model_training_cpus")
        refused(program, "custom_model_training_cpus", preview=True)
    declared(program)


# -- what is offered --


def test_a_template_that_no_catalog_lists_is_offered_to_nobody(
    caplog: pytest.LogCaptureFixture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    lay_out(tmp_path)
    caplog.set_level("INFO")

    def program(publishes: bool) -> None:
        ground, made = workspace(), cluster()
        count = slipway.JobTemplate("count-words", slipway.JobTemplateArgs(clusters=[made]))
        if publishes:
            slipway.Catalog("ml", slipway.CatalogArgs(workspace=ground, templates=[count]))

    declared(lambda: program(False), preview=True)
    assert "template count-words" not in caplog.text
    declared(lambda: program(True), preview=True)
    assert "template count-words" in caplog.text


# -- without a workspace --


def test_a_quota_check_is_of_its_clusters_region() -> None:
    """Also where that is not the stack's. Otherwise it would check none of them."""
    metric = "custom_model_training_cpus"

    def program() -> None:
        there = cluster(project=PROJECT, region="europe-west4")
        slipway.QuotaCheck("quota", slipway.QuotaCheckArgs(clusters=[there]))

    with testing.living(quota={metric: 1}):
        refused(program, metric)


def test_a_quota_check_of_several_regions_is_refused() -> None:
    def program() -> None:
        places = {"us": REGION, "eu": "europe-west4"}
        clusters = [cluster(name, project=PROJECT, region=region) for name, region in places.items()]
        slipway.QuotaCheck("quota", slipway.QuotaCheckArgs(clusters=clusters))

    refused(program, "QuotaCheck quota is of clusters in several regions")
