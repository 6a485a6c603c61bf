"""Arguments of components: those of a stack file, each with a docstring, and refused where they stand. # N34 # D1"""

import ast
import asyncio
import inspect
import pydoc
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

import pulumi
import pytest
from hypothesis import given
from hypothesis import strategies as st

import components as slipway
from components.args import (
    COMPONENTS,
    AgentsArgs,
    BudgetArgs,
    ReservationArgs,
    TeamArgs,
    TrainerArgs,
    key_of,
    read,
    write,
)
from components.entries import config_of
from components.resolution import resolved
from components.schema import docs_of
from slipway.authoring.stack import config, entries
from slipway.authoring.stack.stack import parse
from slipway.authoring.stack.yaml_file import Document
from slipway.model.identity import Identity
from slipway.model.origin import Program
from tests.components.conftest import PROJECT, REGION, awaited, declared, every

CLUSTER, POOL, REPLICAS = slipway.PersistentResourceArgs, slipway.PoolArgs, slipway.ReplicasArgs
ENTRIES: Mapping[Any, Any] = {
    CLUSTER: entries.ClusterEntry,
    slipway.QuotaCheckArgs: entries.QuotaEntry,
    slipway.WorkspaceArgs: config.WorkspaceEntry,
    POOL: entries.PoolEntry,
    REPLICAS: entries.ReplicaRange,
    slipway.MachineArgs: entries.MachineEntry,
    slipway.DiskArgs: entries.DiskEntry,
    slipway.AcceleratorArgs: entries.AcceleratorEntry,
    slipway.AlternativeArgs: entries.AlternativeEntry,
    slipway.PscInterfaceArgs: entries.PscInterfaceEntry,
    slipway.DnsPeeringArgs: entries.DnsPeeringEntry,
    TrainerArgs: config.TrainerEntry,
    TeamArgs: config.TeamEntry,
    ReservationArgs: entries.ReservationEntry,
    BudgetArgs: config.BudgetEntry,
    AgentsArgs: config.AgentsEntry,
}
FOLDED = {"encryption": "encryption.kmsKey", "serviceAccount": "serviceAccount.custom"}
"""Entries of one key, which is an argument of the component itself."""


def written(args: Any) -> list[Any]:
    """The fields that are part of an entry."""
    top = args in (CLUSTER, slipway.QuotaCheckArgs, slipway.WorkspaceArgs)
    return [each for each in fields(args) if ":" not in key_of(each) and not (top and each.name in COMPONENTS)]


@pytest.mark.parametrize("args", ENTRIES, ids=lambda kind: kind.__name__)
def test_each_key_of_a_stack_file_is_an_argument_and_each_argument_a_key(args: Any) -> None:
    keys = [field.alias or name for name, field in ENTRIES[args].model_fields.items()]
    assert sorted(map(key_of, written(args))) == sorted(FOLDED.get(key, key) for key in keys)


@pytest.mark.parametrize("args", ENTRIES, ids=lambda kind: kind.__name__)
def test_what_is_told_of_a_key_names_its_argument(args: Any) -> None:
    roots = {CLUSTER: "slipway:persistentResources.research", slipway.QuotaCheckArgs: "slipway:quota"}
    root = roots.get(args, "slipway:workspace")
    told = [Program("dev", "ml").key(f"{root}.{key_of(field)}").partition(": ")[2] for field in written(args)]
    assert told == [field.name for field in written(args)]


@given(st.data())
def test_each_argument_reaches_its_place_and_comes_back(data: st.DataObject) -> None:
    kind = data.draw(st.sampled_from([CLUSTER, slipway.QuotaCheckArgs, slipway.WorkspaceArgs]))
    values = {each.name: data.draw(st.text(min_size=1)) for each in fields(kind) if each.name not in COMPONENTS}
    kept = data.draw(st.sets(st.sampled_from([*values]))) | ({"pools"} & {*values})
    given = {name: value for name, value in values.items() if name in kept}
    config: dict[str, Any] = {}
    write(config, kind, given, ("slipway:entry", "mine"))
    assert read(kind, config, "slipway:entry", "mine") == kind(**given)


@pytest.mark.parametrize(
    "args", [*ENTRIES, slipway.CatalogArgs, slipway.JobTemplateArgs], ids=lambda kind: kind.__name__
)
def test_each_argument_has_a_sentence(args: Any) -> None:
    (parsed,) = ast.parse(inspect.getsource(args)).body
    assert isinstance(parsed, ast.ClassDef)
    for line, after in zip(parsed.body, [*parsed.body[1:], ast.Pass()], strict=True):
        if isinstance(line, ast.AnnAssign):
            assert isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant), ast.unparse(line)
            said = str(after.value.value)
            assert said[0].isupper() and said.endswith("."), said


@pytest.mark.parametrize("args", [*ENTRIES, slipway.CatalogArgs, slipway.JobTemplateArgs])
def test_help_shows_the_sentence_on_each_argument(args: Any) -> None:
    shown = " ".join(pydoc.plain(pydoc.render_doc(args)).replace("\n |", " ").split())
    for each in fields(args):
        assert f" {each.name}: {docs_of(args)[each.name]}" in shown


def test_help_goes_without_sources(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(_: object) -> str:
        raise OSError

    docs_of.cache_clear()
    monkeypatch.setattr(inspect, "getsource", missing)
    assert slipway.DiskArgs.__doc__ == "Boot disk of each machine."


def pool(**changed: Any) -> dict[str, Any]:
    return {"workers": POOL(**{"machine": "n1-standard-8", "replicas": REPLICAS(min=1, max=4), **changed})}


def cluster(name: str = "research", **changed: Any) -> Callable[[], object]:
    return lambda: slipway.PersistentResource(name, CLUSTER(**{"pools": pool(), **changed}))


def workspace(**changed: Any) -> Callable[[], object]:
    return lambda: slipway.Workspace("ml", slipway.WorkspaceArgs(**{"project": PROJECT, "region": REGION, **changed}))


@pytest.mark.parametrize(
    ("program", "said"),
    [
        (
            cluster(pools=pool(replicas=REPLICAS(min=5, max=4))),
            "research: pools.workers.replicas.max: max 4 is not more",
        ),
        (cluster(pools=pool(disk=slipway.DiskArgs(size_gb=1))), "research: pools.workers.disk.size_gb: "),
        (cluster(pools=pool(disk={"sizeGb": 1})), "research: pools.workers.disk.sizeGb: "),
        (cluster(pools={"w": {"machin": "n1-standard-8", "replicas": 1}}), "research: pools.w.machin: unknown key"),
        (cluster(pools={}), "research: pools: has no pool"),
        (cluster(pools=None), "research: pools: is missing"),
        (cluster("Research!"), "Research!: 'Research!' can't be a cluster's name"),
        (cluster(region="us-middle1"), "research: region: 'us-middle1' is not a region"),
        (cluster(id="A_B"), "research: id: 'A_B' can't be a cluster's id"),
        (cluster(kms_key="mine"), "research: kms_key: is not a key"),
        (cluster(network="a b"), "research: network: is not a network"),
        (cluster(begins="soon"), "research: begins: "),
        (cluster(labels={"Team": "ml"}), "research: labels.Team: can't be a label's name"),
        (
            cluster(pools=pool(disk={"size_gb": 100})),
            r"(?s)research: pools.workers.disk.size_gb: unknown key.*fix: write it `sizeGb`",
        ),
        (
            cluster(pools={"w": {"machine": "n1-standard-8", "replicas": 1, "kms_key": "k"}}),
            r"(?s)research: pools.w.kms_key: unknown key(?!.*slipway:)",
        ),
        (lambda: slipway.Workspace("My_Lab"), "Workspace My_Lab: 'dev-My_Lab' can't be in a label"),
        (workspace(work_bucket="UPPER"), "Workspace ml: work_bucket: 'UPPER' can't be a bucket's name"),
        (workspace(submitters=["ada"]), r"Workspace ml: submitters\[0\]: is not an IAM member"),
        (workspace(teams={"vision": TeamArgs(budget=-1)}), "Workspace ml: teams.vision.budget: can't be -1"),
        (workspace(shares={"research": {"vision": 0}}), "Workspace ml: shares.research.vision: a share can't be 0"),
        (workspace(project="-"), "Workspace ml: project: "),
        (lambda: slipway.QuotaCheck("quota", slipway.QuotaCheckArgs(mode="ask")), "QuotaCheck quota: mode: can't be"),
        (
            lambda: slipway.QuotaCheck("quota", slipway.QuotaCheckArgs(mode="request")),
            "quota: mode: .* needs a contact",
        ),
    ],
)
def test_what_is_wrong_is_refused_where_it_is_constructed(program: Callable[[], object], said: str) -> None:
    after = []
    with pytest.raises(pulumi.RunError, match=said):
        declared(lambda: after.append(program()))
    assert not after, "the constructor itself raises"


@pytest.mark.parametrize(
    ("program", "said"),
    [
        (
            lambda: cluster(pools=pool(replicas=REPLICAS(min=known(5), max=known(2))))(),
            "pools.workers.replicas.max: max 2",
        ),
        (lambda: cluster(pools=pool(replicas=REPLICAS(min=1, max=known("many"))))(), "pools.workers.replicas.max: "),
        (lambda: cluster(pools=known(pool(replicas=0)))(), "pools.workers.replicas: "),
        (lambda: cluster(region=known("mars-1"))(), "region: 'mars-1' is not a region"),
        (
            lambda: (workspace()(), cluster(region=known("mars-1"))()),
            "region: 'mars-1' is not a region",
        ),
    ],
)
def test_an_output_that_is_wrong_is_refused_by_component_and_argument(program: Callable[[], object], said: str) -> None:
    with pytest.raises(pulumi.RunError, match=f"PersistentResource research: {said}"):
        declared(program)


def test_what_is_wrong_between_components_is_told_of_the_one_that_has_it() -> None:
    def program() -> None:
        workspace(teams={"vision": TeamArgs(submitters=["group:v@acme.example"], clusters=["serach"])})()
        cluster()()

    with pytest.raises(pulumi.RunError, match=r"Workspace ml: teams.vision.clusters\[0\]: ") as refused:
        declared(program)
    assert "slipway:" not in str(refused.value)


@pytest.mark.parametrize(
    "args",
    [
        {"teams": {"vision": {"machines": {"gpu": "n1-standard-4"}}}},
        {"teams": {"vision": {"budget": 5}}, "budget": {"teams": {"vision": 5}}},
        {"teams": {"vision": {}}, "budget": {"teams": {"speech": 5}}},
        {"trainers": {"evals": {"account": Identity("slipway", "dev", "ml").account("trainer")}}},
    ],
)
def test_no_mistake_of_a_program_is_told_by_a_key_of_a_stack_file(args: dict[str, Any]) -> None:
    with pytest.raises(pulumi.RunError, match="Workspace ml: ") as refused:
        declared(workspace(**args))
    assert "slipway:" not in str(refused.value) and "stacks/" not in str(refused.value)


@pytest.mark.parametrize("given", [{}, {"project": PROJECT}, {"region": REGION}])
def test_a_place_that_is_not_set_is_asked_for(given: dict[str, str]) -> None:
    (lacking,) = {"project", "region"} - given.keys() if given else {"project"}
    with pytest.raises(pulumi.RunError) as refused:
        declared(cluster(**given))
    said = str(refused.value)
    assert f"PersistentResource research: {lacking} is not set" in said
    assert f"pulumi config set gcp:{lacking}" in said and f"`{lacking}=" in said and "stack configuration" not in said


def untyped(value: Any) -> Any:
    return value


def known(value: Any) -> pulumi.Output[Any]:
    return pulumi.Output.from_input(value)


@pytest.mark.parametrize(
    ("program", "said"),
    [
        (
            lambda: slipway.PersistentResource("cpu", untyped({"pools": {}})),
            r"cpu: its arguments are of type dict",
        ),
        (
            lambda: slipway.Workspace("ml", untyped(CLUSTER(pools=pool()))),
            "ml: its arguments are of type PersistentResourceArgs",
        ),
        (
            lambda: slipway.JobTemplate("nap", slipway.JobTemplateArgs(clusters=[untyped("cpu")])),
            "nap: clusters: 'cpu' is no component",
        ),
        (
            lambda: slipway.Catalog("ml", slipway.CatalogArgs(workspace=untyped("ml"))),
            "workspace: .ml. is no component",
        ),
        (
            lambda: slipway.QuotaCheck("quota", slipway.QuotaCheckArgs(clusters=untyped("cpu"))),
            "quota: clusters: 'cpu' is no component",
        ),
        (cluster(workspace=known("ml")), "research: workspace: an Output is no component"),
        (
            lambda: slipway.Catalog("ml", slipway.CatalogArgs(workspace=untyped(None))),
            "Catalog ml: workspace is missing",
        ),
        (
            lambda: slipway.QuotaCheck("quota", slipway.QuotaCheckArgs(clusters=[untyped(workspace()())])),
            "QuotaCheck quota: clusters: ml is a Workspace",
        ),
        (
            lambda: slipway.JobTemplate("nap", untyped({"template": "nap.py"})),
            "JobTemplate nap: its arguments are of type dict",
        ),
        (
            lambda: slipway.JobTemplate("nap", slipway.JobTemplateArgs(template=untyped(known("nap.py")))),
            "JobTemplate nap: template: an Output can't be",
        ),
    ],
)
def test_arguments_of_another_class_are_refused_in_words(program: Any, said: str) -> None:
    with pytest.raises(pulumi.RunError, match=said):
        declared(program)


def test_arguments_may_be_keywords_as_of_pulumis_own_resources() -> None:
    def program() -> None:
        place: dict[str, Any] = {"project": PROJECT, "region": REGION}
        ground = slipway.Workspace("ml", submitters=["group:ml@acme.example"], **place)
        pool = POOL(machine="n1-standard-4", replicas=1, disk=slipway.DiskArgs(type=slipway.DiskType.PD_SSD))
        cpu = slipway.PersistentResource("cpu", pools={"all": pool}, replacement=slipway.Replacement.ROLLOVER)
        slipway.PersistentResource("gpu", CLUSTER(pools={"all": pool}), pulumi.ResourceOptions(protect=True))
        quota = slipway.QuotaCheck("quota", pulumi.ResourceOptions(depends_on=[cpu]), clusters=[cpu], mode="warn")
        slipway.Catalog("ml", workspace=ground, quota=quota, opts=pulumi.ResourceOptions(protect=True))

    asked = every(declared(program), "gcp:vertex/aiPersistentResource:AiPersistentResource")
    disks = [each.inputs["resourcePools"][0]["diskSpec"]["bootDiskType"] for each in asked.values()]
    assert disks == ["pd-ssd", "pd-ssd"]


@pytest.mark.parametrize(
    ("program", "said"),
    [
        (
            lambda: slipway.Workspace("ml", submiters=[]),
            r"Workspace ml: submiters is not a valid argument\n.*`submitters`",
        ),
        (lambda: slipway.PersistentResource("cpu"), r"PersistentResource cpu: pools is missing\n.*`pools=`"),
        (lambda: slipway.Catalog("ml", templates=[]), r"Catalog ml: workspace is missing"),
        (
            lambda: slipway.Workspace("ml", slipway.WorkspaceArgs(), code=True),
            r"Workspace ml has WorkspaceArgs and the keyword code\n(.|\n)*all as keywords",
        ),
    ],
)
def test_wrong_keywords_are_rejected_with_the_arguments_that_exist(program: Any, said: str) -> None:
    with pytest.raises(pulumi.RunError, match=said):
        declared(program)


def test_alternatives_without_a_workspace_are_refused_before_anything_is_made() -> None:
    with pytest.raises(pulumi.RunError, match="research: alternatives need a Workspace"):
        declared(cluster(project=PROJECT, region=REGION, alternatives=[slipway.AlternativeArgs(region="us-east1")]))


def test_what_depends_on_the_rest_of_the_program_is_not_refused_at_once() -> None:
    def program() -> None:
        workspace(
            teams={"vision": TeamArgs(submitters=["group:v@acme.example"], clusters=["research"])},
            shares={"research": {"vision": 1}},
        )()
        cluster()()

    declared(program)


FULL = CLUSTER(
    pools=pool(
        accelerator=slipway.AcceleratorArgs(type="NVIDIA_TESLA_T4", count=1),
        disk=slipway.DiskArgs(type="pd-ssd", size_gb=200),
        replicas=REPLICAS(min=1, max=4, initial=2),
    ),
    display_name="Training",
    network="projects/123456789012/global/networks/training",
    reserved_ip_ranges=["vertex"],
    kms_key=f"projects/p/locations/{REGION}/keyRings/r/cryptoKeys/k",
    psc_interface=slipway.PscInterfaceArgs(
        network_attachment="training",
        dns_peering_configs=[
            slipway.DnsPeeringArgs(domain="corp.example.", target_project="acme-network", target_network="shared")
        ],
    ),
    custom_service_account=True,
    labels={"team": "ml"},
    replacement="rollover",
    generation=2,
    retire_within="7d",
    create_within="30m",
    alternatives=[slipway.AlternativeArgs(pools=pool(replicas=3))],
    begins="2027-01-10",
    ends="2027-03-01",
    idle_limit="3d",
)


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The place of each value among arguments that may be an Output: all but the outermost."""
    if path and value is not None:
        yield path
    if is_dataclass(value):
        for each in fields(value):
            yield from places(getattr(value, each.name), (*path, each.name))
    elif isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield from places(value[key], (*path, key))


def with_output(value: Any, path: tuple[Any, ...], output: Callable[[Any], pulumi.Output[Any]]) -> Any:
    if not path:
        return output(value)
    first, *rest = path
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **{first: with_output(getattr(value, first), tuple(rest), output)})
    items = value.copy()
    items[first] = with_output(value[first], tuple(rest), output)
    return items


def unknown(_: Any) -> pulumi.Output[Any]:
    def future(value: object) -> Any:
        made = asyncio.get_event_loop().create_future()
        made.set_result(value)
        return made

    return pulumi.Output(future(set()), future(None), future(False))


class Cluster:
    kind, name, args, protected = "cluster", "research", FULL, False


PLACES = [*places(FULL)]


@pytest.mark.parametrize("place", PLACES, ids=lambda place: ".".join(map(str, place)))
def test_any_argument_may_be_an_output(place: tuple[Any, ...]) -> None:
    async def args() -> Any:
        return await resolved(with_output(FULL, place, known))

    assert awaited(args()).values == awaited(resolved(FULL)).values


@pytest.mark.parametrize("place", PLACES, ids=lambda place: ".".join(map(str, place)))
def test_a_preview_goes_on_without_what_only_up_knows(place: tuple[Any, ...]) -> None:
    async def args() -> Any:
        return await resolved(with_output(FULL, place, unknown))

    found, cluster = awaited(args()), Cluster()
    assert len(found.unknown) == 1
    written: Any = {cluster: found}
    parse(Document("", {"config": config_of(written, (PROJECT, REGION))}), stack="dev")
