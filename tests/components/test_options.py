"""Pulumi's options on each component, and on the children that it declares. # N33 # N34"""

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any

import pulumi
import pulumi_gcp as gcp
import pytest
from pulumi_gcp.provider import Provider

import components as slipway
from components import testing
from components.namesakes import watch
from components.options import OPTIONS, Effect
from components.stack import Stack, StackParts
from components.world import CURRENT
from slipway.model.state import GENERATION
from tests.components.conftest import PROJECT, REGION, Asked, declared, every
from tests.docs.test_components import lay_out
from tests.local.conftest import ROOT

POOLS = {"workers": slipway.PoolArgs(machine="n1-standard-4", replicas=1)}
SUBMITTERS = ["group:ml@acme.example"]
BUCKET, CLUSTER = "gcp:storage/bucket:Bucket", "gcp:vertex/aiPersistentResource:AiPersistentResource"
KINDS = ("Workspace", "PersistentResource", "QuotaCheck", "JobTemplate", "Catalog")
Options = Mapping[str, pulumi.ResourceOptions]


@pytest.fixture(autouse=True)
def folder(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    lay_out(tmp_path)
    pulumi.runtime.set_all_config({"gcp:project": PROJECT, "gcp:region": REGION})


def program(options: Options) -> dict[str, pulumi.Resource]:
    """Declare one component of each kind, with these options."""
    ground = slipway.Workspace("ml", slipway.WorkspaceArgs(submitters=SUBMITTERS), options.get("Workspace"))
    research = slipway.PersistentResource(
        "research", slipway.PersistentResourceArgs(pools=POOLS), options.get("PersistentResource")
    )
    count = slipway.JobTemplate("count-words", slipway.JobTemplateArgs(clusters=[research]), options.get("JobTemplate"))
    asks = slipway.QuotaCheckArgs(
        clusters=[research], templates=[count], mode="request", contact_email="ml@acme.example"
    )
    quota = slipway.QuotaCheck("quota", asks, options.get("QuotaCheck"))
    published = slipway.CatalogArgs(workspace=ground, templates=[count], quota=quota)
    catalog = slipway.Catalog("ml", published, options.get("Catalog"))
    return dict(zip(KINDS, (ground, research, quota, count, catalog), strict=True))


def made(build: Callable[[], Any]) -> list[Asked]:
    with testing.living(quota={"custom_model_training_cpus": 2}):
        return declared(build)


def below(asked: list[Asked], kind: str) -> dict[str, Asked]:
    """The resources of the cloud below a component, by name."""
    inside = [each for each in asked if each.type.startswith("gcp:") and re.search(rf":{kind}\b", each.request.parent)]
    if kind == "PersistentResource":
        inside = [each for each in asked if each.type.endswith(":AiPersistentResource")]
    assert inside, [each.request.parent for each in asked]
    return {f"{each.type.rpartition(':')[2]} {each.name}": each for each in inside}


def with_each(options: pulumi.ResourceOptions) -> Options:
    return dict.fromkeys(KINDS, options)


@pytest.mark.parametrize("kind", KINDS)
def test_a_parent_is_the_parent_of_each_component(kind: str) -> None:
    def build() -> None:
        team = pulumi.ComponentResource("team:index:Team", "vision")
        program({kind: pulumi.ResourceOptions(parent=team)})

    moved = [each.type.rpartition(":")[2] for each in made(build) if each.parent == "vision"]
    assert moved == [kind]


def through_parent(provider: Provider) -> pulumi.ResourceOptions:
    team = pulumi.ComponentResource("team:index:Team", "vision", {}, pulumi.ResourceOptions(providers=[provider]))
    return pulumi.ResourceOptions(parent=team)


@pytest.mark.parametrize(
    "options",
    [
        lambda provider: pulumi.ResourceOptions(provider=provider),
        lambda provider: pulumi.ResourceOptions(providers=[provider]),
        lambda provider: pulumi.ResourceOptions(providers={"gcp": provider}),
        through_parent,
    ],
    ids=["provider", "providers", "a map of them", "a parent's"],
)
def test_a_provider_makes_all_children_in_its_own_place(options: Callable[[Provider], Any]) -> None:
    def build() -> None:
        program(with_each(options(Provider("theirs", project="acme-ml", region="europe-west4"))))

    asked = made(build)
    for kind in KINDS:
        for each in below(asked, kind).values():
            assert "providers:gcp::theirs" in each.request.provider, each.name
    for each in below(asked, "Workspace").values():
        assert each.inputs.get("project", "acme-ml") == "acme-ml"
    (cluster,) = below(asked, "PersistentResource").values()
    assert (cluster.inputs["project"], cluster.inputs["location"]) == ("acme-ml", "europe-west4")


def test_protection_holds_for_what_can_be_lost_and_stops_nothing_that_has_to_come_and_go() -> None:
    asked = made(lambda: program(with_each(pulumi.ResourceOptions(protect=True))))
    kept = {name for kind in KINDS for name, each in below(asked, kind).items() if each.request.protect}
    lost = {name.partition(" ")[0] for kind in KINDS for name in below(asked, kind)} - {
        name.partition(" ")[0] for name in kept
    }
    assert {name.partition(" ")[0] for name in kept} == {"Bucket", "Account", "BucketObject", "AiPersistentResource"}
    assert lost == {"IAMMember", "BucketIAMMember", "SQuotaPreference"}
    (package,) = below(asked, "JobTemplate")
    assert package not in kept


def test_a_retiring_generation_of_a_protected_cluster_may_go_after_its_last_job() -> None:
    declared(lambda: None)  # names the stack
    old = testing.cluster("research", slipway.PersistentResourceArgs(pools=POOLS), workspace="ml")

    def build() -> None:
        ground = slipway.Workspace("ml", slipway.WorkspaceArgs(submitters=SUBMITTERS))
        pools = {"workers": slipway.PoolArgs(machine="n1-standard-8", replicas=1)}
        args = slipway.PersistentResourceArgs(pools=pools, workspace=ground)
        slipway.PersistentResource("research", args)

    with testing.living(old, jobs=[testing.Job("train", cluster=old.id)]):
        asked = below(declared(build), "PersistentResource")
    flags = {name: each.request.protect for name, each in asked.items()}
    assert flags.pop(f"AiPersistentResource {old.id}") is False and len(flags) == 1


@pytest.mark.parametrize("by", ["option", "parent", "argument"])
def test_an_edit_of_a_protected_cluster_is_refused_with_what_to_type_in_the_program(by: str) -> None:
    declared(lambda: None)  # names the stack
    old = testing.cluster("research", slipway.PersistentResourceArgs(pools=POOLS), workspace="ml")

    def build() -> None:
        slipway.Workspace("ml", slipway.WorkspaceArgs())
        pools = {"workers": slipway.PoolArgs(machine="n1-standard-8", replicas=1)}
        args = slipway.PersistentResourceArgs(pools=pools, replacement="protect" if by == "argument" else None)
        opts = pulumi.ResourceOptions(protect=True if by == "option" else None)
        if by == "parent":
            opts.parent = pulumi.ComponentResource("team:Team", "vision", {}, pulumi.ResourceOptions(protect=True))
        slipway.PersistentResource("research", args, opts=opts)

    with testing.living(old), pytest.raises(pulumi.RunError, match="cluster research is protected") as refusal:
        declared(build)
    said = str(refusal.value)
    assert "PersistentResource research" in said and "no `protect=True`" in said
    assert "stacks/Pulumi" not in said and "replacement: " not in said


def test_changes_to_ignore_reach_buckets_and_accounts() -> None:
    options = {
        kind: pulumi.ResourceOptions(ignore_changes=["labels"]) for kind in KINDS if kind != "PersistentResource"
    }
    asked = made(lambda: program(options))
    ignoring = {
        name.partition(" ")[0]
        for kind in options
        for name, each in below(asked, kind).items()
        if "labels" in each.request.ignoreChanges
    }
    assert ignoring == {"Bucket", "Account"}, "what is published follows the program"


OF_EVERY_KIND: Mapping[str, Callable[[], Any]] = {
    "deleted_with": lambda: gcp.storage.Bucket("theirs", location="US"),
    "replacement_trigger": lambda: "2",
    "replace_with": lambda: [gcp.storage.Bucket("theirs", location="US")],
    "id": lambda: "cpu",
    "urn": lambda: "urn:pulumi:dev::slipway::slipway:index:PersistentResource::research",
    "state_migrations": lambda: [lambda args: None],
}
OF_A_CLUSTER: Mapping[str, Callable[[], Any]] = {
    "ignore_changes": lambda: ["pools"],
    "retain_on_delete": lambda: True,
}


@pytest.mark.parametrize(
    ("kind", "option"),
    [*product(KINDS, OF_EVERY_KIND), *product(["PersistentResource"], OF_A_CLUSTER)],
)
def test_an_option_that_would_break_a_components_promise_is_rejected(kind: str, option: str) -> None:
    value = {**OF_EVERY_KIND, **OF_A_CLUSTER}[option]

    def build() -> None:
        program({kind: pulumi.ResourceOptions(**{option: value()})})

    with pytest.raises(pulumi.RunError, match=f"{kind} .*: {option} is no option of a {kind}") as rejection:
        made(build)
    assert OPTIONS[option].fix in str(rejection.value)


@pytest.mark.parametrize("kind", [*KINDS, "Stack"])
def test_deleted_with_of_a_parent_is_rejected(kind: str) -> None:
    """Pulumi passes the option to every child, and a child can't take it off."""

    def build() -> None:
        theirs = gcp.storage.Bucket("theirs", location="US")
        lab = pulumi.ComponentResource("team:Lab", "lab", {}, pulumi.ResourceOptions(deleted_with=theirs))
        team = pulumi.ComponentResource("team:Team", "vision", {}, pulumi.ResourceOptions(parent=lab))
        below = pulumi.ResourceOptions(parent=team)
        if kind == "Stack":
            Stack("ml", StackParts(), below)
        else:
            program({kind: below})

    with pytest.raises(pulumi.RunError, match="parent lab has deleted_with") as rejection:
        made(build)
    assert "leave deleted_with of lab out" in str(rejection.value)


def test_a_stack_rejects_the_same_options() -> None:
    with pytest.raises(pulumi.RunError, match="Stack ml: replacement_trigger is no option of a Stack"):
        made(lambda: Stack("ml", StackParts(), pulumi.ResourceOptions(replacement_trigger="2")))


def test_every_option_of_pulumi_has_a_known_effect() -> None:
    """A new option of a later Pulumi fails here: decide whether a component honors, ignores or rejects it."""
    constructor = set(inspect.signature(pulumi.ResourceOptions.__init__).parameters) - {"self"}
    attributes = set(vars(pulumi.ResourceOptions()))
    assert constructor | attributes == OPTIONS.keys()
    assert all(option.why for option in OPTIONS.values())
    assert all(option.fix for option in OPTIONS.values() if option.effect is Effect.REJECTED)
    page = (ROOT / "docs" / "your-program.md").read_text()
    unnamed = [name for name in OPTIONS if f"`{name}" not in page]
    assert unnamed == []


IGNORED: Mapping[str, Any] = {
    "import_": "cpu",
    "delete_before_replace": True,
    "replace_on_changes": ["*"],
    "custom_timeouts": pulumi.CustomTimeouts(create="1m", delete="1m"),
    "additional_secret_outputs": ["clusterId"],
    "version": "9.30.0",
    "plugin_download_url": "https://plugins.acme.example",
    "env_var_mappings": {"MY_VAR": "PROVIDER_VAR"},
}


def test_the_table_of_ignored_options_is_complete() -> None:
    assert IGNORED.keys() == {name for name, option in OPTIONS.items() if option.effect is Effect.IGNORED}


@pytest.mark.parametrize("option", IGNORED)
def test_an_ignored_option_changes_no_resource_of_any_component(option: str) -> None:
    usual, with_option = (
        made(partial(program, options))
        for options in ({}, with_each(pulumi.ResourceOptions(**{option: IGNORED[option]})))
    )

    def requests(asked: list[Asked]) -> dict[str, Any]:
        resources = {name: each.request for kind in KINDS for name, each in below(asked, kind).items()}
        for request in resources.values():
            for field in ("stackTrace", "sourcePosition", "dependencies", "propertyDependencies", "transforms"):
                request.ClearField(field)
            request.object.fields.pop("content", None)  # It has the time.
        return resources

    assert requests(with_option) == requests(usual)


def test_hide_diffs_and_hooks_hold_for_the_component_itself() -> None:
    def build() -> None:
        hook = pulumi.ResourceHook("theirs", lambda args: None)
        binding = pulumi.ResourceHookBinding(before_create=[hook])
        program(with_each(pulumi.ResourceOptions(hide_diffs=["pools"], hooks=binding)))

    asked = made(build)
    components = [each for each in asked if each.type.rpartition(":")[2] in KINDS and each.type.startswith("slipway:")]
    own = [each for each in components if each.request.hooks.before_create]
    assert {each.type.rpartition(":")[2] for each in own} == set(KINDS)
    assert all(list(each.request.hideDiffs) == ["pools"] for each in own)
    for kind in KINDS:
        for each in below(asked, kind).values():
            assert "theirs" not in each.request.hooks.before_create and not each.request.hideDiffs, each.name


def test_what_a_parent_retains_leaves_no_generation_of_a_cluster_behind() -> None:
    def build() -> None:
        lab = pulumi.ComponentResource("team:Lab", "lab", {}, pulumi.ResourceOptions(retain_on_delete=True))
        program({"PersistentResource": pulumi.ResourceOptions(parent=lab)})

    (cluster,) = below(made(build), "PersistentResource").values()
    assert cluster.request.HasField("retainOnDelete") and not cluster.request.retainOnDelete


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "shape", [lambda own: [own], lambda own: pulumi.Output.from_input([own])], ids=["list", "output"]
)
def test_each_component_waits_for_what_it_depends_on(kind: str, shape: Callable[[Any], Any]) -> None:
    def build() -> None:
        own = gcp.storage.Bucket("theirs", location="US")
        program({kind: pulumi.ResourceOptions(depends_on=shape(own))})

    asked = made(build)
    (component,) = [
        each
        for each in asked
        if each.type.endswith(f":{kind}")
        and each.type.startswith("slipway:")
        and each.name in ("ml", "research", "quota", "count-words")
    ]
    assert component.depends_on == {"theirs"}


@pytest.mark.parametrize("kind", KINDS)
def test_who_depends_on_a_component_waits_for_all_that_it_declares(kind: str) -> None:
    def build() -> None:
        component = program({})[kind]
        gcp.storage.Bucket("theirs", location="US", opts=pulumi.ResourceOptions(depends_on=[component]))

    asked = made(build)
    order = [(each.type.rpartition(":")[2], each.name) for each in asked]
    theirs = order.index(("Bucket", "theirs"))
    for each in below(asked, kind).values():
        assert order.index((each.type.rpartition(":")[2], each.name)) < theirs, each.name
    assert asked[theirs].depends_on


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("on", KINDS)
def test_dependencies_among_components_of_a_workspace_hold_nothing_up(kind: str, on: str) -> None:
    """Their order is that of one deployment, whatever a program says of it."""
    if kind == on:
        return

    def build() -> None:
        options = pulumi.ResourceOptions()
        components = program({kind: options})
        options.depends_on = [components[on]]

    assert len(made(build)) == len(made(lambda: program({})))


@pytest.mark.parametrize(
    "alias",
    [pulumi.Alias(name="ml"), "urn:pulumi:dev::slipway::slipway:index:Workspace::ml"],
    ids=["name", "urn"],
)
def test_a_renamed_component_keeps_what_its_former_name_made(alias: Any) -> None:
    def renamed() -> None:
        slipway.Workspace("ground", slipway.WorkspaceArgs(), pulumi.ResourceOptions(aliases=[alias]))
        options = pulumi.ResourceOptions(aliases=[pulumi.Alias(name="research")])
        slipway.PersistentResource("vision", slipway.PersistentResourceArgs(pools=POOLS), options)

    def before() -> None:
        slipway.Workspace("ml", slipway.WorkspaceArgs())
        slipway.PersistentResource("research", slipway.PersistentResourceArgs(pools=POOLS))

    def resources(build: Callable[[], None]) -> list[tuple[str, Any]]:
        return [(each.name, each.inputs) for each in declared(build) if each.type in (BUCKET, CLUSTER)]

    assert sorted(map(str, resources(renamed))) == sorted(map(str, resources(before)))


def labelled(args: pulumi.ResourceTransformationArgs) -> pulumi.ResourceTransformationResult:
    """Add a label to all that can have some, as Pulumi's guide shows it."""
    props: Any = args.props
    if "labels" in props:
        props = {**props, "labels": {**(props["labels"] or {}), "cost-center": "42"}}
    return pulumi.ResourceTransformationResult(props, args.opts)


def labelled_in_place(args: pulumi.ResourceTransformationArgs) -> None:
    props: Any = args.props
    if props.get("labels"):
        props["labels"]["cost-center"] = "42"


@pytest.mark.parametrize("transformation", [labelled, labelled_in_place])
@pytest.mark.parametrize("preview", [True, False])
def test_labels_of_a_cluster_by_a_transformation_are_rejected(transformation: Any, preview: bool) -> None:
    def build() -> None:
        slipway.Workspace("ml", slipway.WorkspaceArgs())
        args = slipway.PersistentResourceArgs(pools=POOLS, labels={"team": "ml"})
        slipway.PersistentResource("research", args, pulumi.ResourceOptions(transformations=[transformation]))

    with pytest.raises(pulumi.RunError, match="PersistentResource research: a transform changes labels") as error:
        declared(build, preview=preview)
    assert "set labels among the arguments of PersistentResource research" in str(error.value)


def test_labels_of_a_bucket_by_a_transformation_are_set() -> None:
    def build() -> None:
        slipway.Workspace("ml", slipway.WorkspaceArgs(), pulumi.ResourceOptions(transformations=[labelled]))

    buckets = every(declared(build), BUCKET).values()
    assert [bucket.inputs["labels"] for bucket in buckets] == [{"cost-center": "42"}] * 2


class Team(pulumi.ComponentResource):
    """A component of the program's own, whose children begin with its name, as Pulumi's guide shows it."""

    def __init__(self, name: str, *, by: str = "", former: str = "", below: pulumi.Resource | None = None) -> None:
        aliases = [pulumi.Alias(name=former)] if former else []
        super().__init__("acme:index:Team", name, {}, pulumi.ResourceOptions(parent=below, aliases=aliases))
        options = pulumi.ResourceOptions(parent=self)
        slipway.Workspace(by or name, slipway.WorkspaceArgs(), options)
        slipway.PersistentResource(f"{by or name}-cpu", slipway.PersistentResourceArgs(pools=POOLS), options)


class Company(pulumi.ComponentResource):
    def __init__(self, name: str, former: str = "") -> None:
        aliases = [pulumi.Alias(name=former)] if former else []
        super().__init__("acme:index:Company", name, {}, pulumi.ResourceOptions(aliases=aliases))
        Team(f"{name}-ml", below=self)


@pytest.mark.parametrize(
    ("before", "renamed"),
    [
        (lambda: Team("vision"), lambda: Team("sight", former="vision")),
        (lambda: Team("vision", by="lab"), lambda: Team("sight", by="lab", former="vision")),
        (lambda: Company("acme"), lambda: Company("umbrella", former="acme")),
    ],
    ids=["children with the parent's name", "children with other names", "of a grandparent"],
)
def test_a_component_inherits_the_aliases_of_its_parents(
    before: Callable[[], object], renamed: Callable[[], object]
) -> None:
    def resources(build: Callable[[], object]) -> list[str]:
        watch()
        return sorted(f"{each.name} {each.inputs}" for each in declared(build) if each.type in (BUCKET, CLUSTER))

    assert resources(renamed) == resources(before)


def test_messages_name_a_renamed_component_as_the_program_does(caplog: pytest.LogCaptureFixture) -> None:
    alias = pulumi.ResourceOptions(aliases=[pulumi.Alias(name="ml")])
    research = pulumi.ResourceOptions(aliases=[pulumi.Alias(name="research")])
    wrong = slipway.PersistentResourceArgs(pools=POOLS, id="somebodys")
    fine = slipway.PersistentResourceArgs(pools=POOLS)

    def program(args: slipway.PersistentResourceArgs) -> None:
        slipway.Workspace("ground", slipway.WorkspaceArgs(), alias)
        slipway.PersistentResource("vision", args, research)

    with pytest.raises(pulumi.RunError, match="PersistentResource vision: id"):
        declared(lambda: program(wrong))
    caplog.set_level("INFO")
    declared(lambda: program(fine))
    assert "[PersistentResource vision]" in caplog.text and "`up` of workspace ground" in caplog.text


def test_a_workspace_without_its_former_name_is_told_the_alias_to_write() -> None:
    declared(lambda: None)  # names the stack
    old = testing.cluster("research", slipway.PersistentResourceArgs(pools=POOLS), workspace="ml")

    def renamed() -> None:
        slipway.Workspace("ground", slipway.WorkspaceArgs())
        slipway.PersistentResource("research", slipway.PersistentResourceArgs(pools=POOLS))

    with (
        testing.living(old),
        pytest.raises(pulumi.RunError, match="workspace ground was called ml and can't be renamed") as refusal,
    ):
        declared(renamed)
    said = str(refusal.value)
    assert 'aliases=[pulumi.Alias(name="ml")]' in said and "Workspace ground" in said and "stacks/" not in said


def test_a_cluster_under_another_name_is_told_the_alias_to_write(monkeypatch: pytest.MonkeyPatch) -> None:
    declared(lambda: None)  # names the stack
    old = testing.cluster("research", slipway.PersistentResourceArgs(pools=POOLS), workspace="ml")
    said: list[str] = []
    monkeypatch.setattr(pulumi.log, "info", lambda words, *_: said.append(words))

    def program(name: str, machine: str = "") -> Callable[[], None]:
        pools = {"workers": slipway.PoolArgs(machine=machine, replicas=1)} if machine else POOLS

        def build() -> None:
            slipway.Workspace("ml", slipway.WorkspaceArgs())
            slipway.PersistentResource(name, slipway.PersistentResourceArgs(pools=pools))

        return build

    with testing.living(old):
        declared(program("vision"))
        assert 'aliases=[pulumi.Alias(name="research")]' in "\n".join(said)
        said.clear()
        declared(program("research"))
        declared(program("vision", machine="n1-standard-8"))
        assert "Alias" not in "\n".join(said)


def test_who_depends_on_a_component_that_is_refused_does_not_wait_for_ever() -> None:
    def build() -> None:
        component = program({})["PersistentResource"]
        for name in "abcdef":
            gcp.storage.Bucket(name, location="US", opts=pulumi.ResourceOptions(depends_on=[component]))
        slipway.JobTemplate("none-such")

    with pytest.raises(pulumi.RunError, match="none-such"):
        made(build)


def test_a_provider_tells_the_place_and_children_are_made_by_it() -> None:
    def program() -> None:
        provider = Provider("ml", project="acme-ml", region="europe-west4")
        cluster_of(provider)

    (made,) = every(declared(program), CLUSTER).values()
    assert (made.inputs["project"], made.inputs["location"]) == ("acme-ml", "europe-west4")
    assert "pulumi:providers:gcp::ml" in made.request.provider


def test_a_provider_without_a_region_leaves_it_to_the_stack() -> None:
    pulumi.runtime.set_all_config({"gcp:region": "us-central1"})
    (made,) = every(declared(lambda: cluster_of(Provider("ml", project="acme-ml"))), CLUSTER).values()
    assert (made.inputs["project"], made.inputs["location"]) == ("acme-ml", "us-central1")


def test_the_workspace_that_a_cluster_names_tells_its_place_whatever_the_provider_says() -> None:
    def program() -> None:
        ground = slipway.Workspace("eu", slipway.WorkspaceArgs(project="acme-ml", region="europe-west4"))
        provider = Provider("ml", project="acme-ml", region="us-central1")
        args = slipway.PersistentResourceArgs(pools=POOLS, workspace=ground)
        slipway.PersistentResource("research", args, pulumi.ResourceOptions(provider=provider))

    (made,) = every(declared(program), CLUSTER).values()
    assert (made.inputs["project"], made.inputs["location"]) == ("acme-ml", "europe-west4")


@pytest.mark.parametrize(
    "signs_in",
    [{"impersonate_service_account": "up@acme.iam"}, {"billing_project": "acme-pays"}, {"credentials": "{}"}],
)
def test_a_provider_that_signs_in_by_itself_is_refused(signs_in: dict[str, Any]) -> None:
    """Otherwise the components would read, and their hooks delete, by another identity's view."""
    with pytest.raises(pulumi.RunError, match=f"its provider has {next(iter(signs_in))}"):
        declared(lambda: cluster_of(Provider("ml", project="acme-ml", **signs_in)))


def cluster_of(provider: pulumi.ProviderResource) -> slipway.PersistentResource:
    args = slipway.PersistentResourceArgs(pools=POOLS)
    return slipway.PersistentResource("research", args, pulumi.ResourceOptions(provider=provider))


def test_the_engine_may_not_replace_what_it_knows_and_what_exists() -> None:
    """Such a resource needs no import, with which the engine would reject it with advice that nobody can follow."""
    declared(lambda: None)  # names the stack
    old = testing.cluster("research", slipway.PersistentResourceArgs(pools=POOLS), workspace="ml")

    def build() -> None:
        slipway.Workspace("ml", slipway.WorkspaceArgs())
        slipway.PersistentResource("research", slipway.PersistentResourceArgs(pools=POOLS))
        slipway.PersistentResource("speech", slipway.PersistentResourceArgs(pools=POOLS))

    urn = f"urn:pulumi:dev::slipway::slipway:index:PersistentResource${GENERATION}::{old.id}"
    with testing.living(old):
        state = replace(CURRENT.get().state, urns={(GENERATION, old.id): urn})
        token = CURRENT.set(replace(CURRENT.get(), state=state))
        asked = {each.name: each.request for each in declared(build) if each.type == CLUSTER}
        CURRENT.reset(token)
    known = asked.pop(old.id)
    assert list(known.hooks.before_create) == ["slipway-keep-v1"] and not known.importId
    assert known.deleteBeforeReplaceDefined and not known.deleteBeforeReplace
    (new,) = asked.values()
    assert not new.hooks.before_create and not new.importId
