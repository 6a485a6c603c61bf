"""Secret Outputs among components' arguments: each is rejected by name without its value, or stays secret."""

import asyncio
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import pulumi
import pytest
from pulumi.runtime.rpc import is_rpc_secret

import components as slipway
from components import args as arguments
from components.args import COMPONENTS
from components.resolution import KEPT
from components.schema import value_of
from components.secret_arguments import PUBLISHED
from components.stack import StackParts
from tests.components.conftest import PROJECT, REGION, declared, every
from tests.components.test_args import places

CANARY = "canary-7f3e9a"
KINDS: Mapping[Any, Any] = {
    slipway.WorkspaceArgs: slipway.Workspace,
    slipway.PersistentResourceArgs: slipway.PersistentResource,
    slipway.JobTemplateArgs: slipway.JobTemplate,
    slipway.QuotaCheckArgs: slipway.QuotaCheck,
    slipway.CatalogArgs: slipway.Catalog,
}
PARTS: list[Any] = [each for each in vars(arguments).values() if is_dataclass(each)]
"""The classes of arguments that are parts of other arguments."""


def annotated(kind: Any) -> str:
    return " ".join(str(field.type) for field in fields(kind))


@pytest.mark.parametrize("args", KINDS, ids=lambda kind: kind.__name__)
def test_each_argument_is_rejected_with_a_reason_or_stays_secret(args: Any) -> None:
    kind = KINDS[args].kind
    names = {each.name for each in fields(args)}
    decided = [*PUBLISHED[kind], *(KEPT if kind == "quota" else ())]
    left = () if kind == "template" else ("template",)
    of_components = {each for each in COMPONENTS if each in names and each not in decided} - set(left)
    assert sorted([*decided, *of_components]) == sorted(names), "decide in components/secret_arguments.py"
    assert all(PUBLISHED[kind].values())


def test_each_class_of_arguments_is_decided_on() -> None:
    every_class = {each for each in vars(slipway).values() if is_dataclass(each)}
    assert every_class == {*KINDS, *PARTS}
    known = " ".join(map(annotated, [*KINDS, *PARTS]))
    assert not [each for each in PARTS if each.__name__ not in known], "a part of no argument"


def secret(value: Any) -> pulumi.Output[Any]:
    return pulumi.Output.secret(value)


def with_secret(value: Any, path: tuple[Any, ...]) -> Any:
    """Return arguments with a secret at a path, and Outputs at all others: what is plain is checked at once."""
    if not path:
        return secret(value)
    first, *rest = path
    if is_dataclass(value) and not isinstance(value, type):
        names = [each.name for each in fields(value)]
        return type(value)(**{name: beside(getattr(value, name), name == first, tuple(rest)) for name in names})
    if isinstance(value, dict):
        return {key: beside(each, key == first, tuple(rest)) for key, each in value.items()}
    return [beside(each, place == first, tuple(rest)) for place, each in enumerate(value)]


def beside(value: Any, leads: bool, path: tuple[Any, ...]) -> Any:
    if leads:
        return with_secret(value, path)
    return None if value is None else pulumi.Output.from_input("x")


def part(kind: Any) -> Any:
    """Return arguments of a class with a value in every field."""
    samples = {each: part(each) for each in PARTS if each.__name__ in annotated(kind)}
    return kind(**{each.name: sample(each, samples) for each in fields(kind) if each.name not in COMPONENTS})


def sample(declared_: Any, samples: Mapping[Any, Any]) -> Any:
    written = str(declared_.type)
    # A subclass's name may contain another one's.
    inner: Any = next((value for each, value in samples.items() if f"[{each.__name__} " in written), CANARY)
    inner = next((value for each, value in samples.items() if f"| {each.__name__} |" in written), inner)
    if "Mapping[str, Mapping" in written:
        return {"one": {"two": CANARY}}
    if "Sequence" in written:
        return [inner]
    if "Mapping[str, " in written and "Input[Mapping" in written:
        return {"one": inner}
    return inner


WORKSPACE, QUOTA = part(slipway.WorkspaceArgs), part(slipway.QuotaCheckArgs)
WHOLE: Mapping[Any, Any] = {
    slipway.Workspace: WORKSPACE,
    slipway.PersistentResource: part(slipway.PersistentResourceArgs),
}
CASES = [(kind, place) for kind, value in WHOLE.items() for place in places(value)]


def test_the_samples_have_every_field_of_every_class() -> None:
    seen = {type(each) for value in WHOLE.values() for each in within(value)}
    assert seen >= set(PARTS)


def within(value: Any) -> Iterator[Any]:
    if is_dataclass(value):
        yield value
        for each in fields(value):
            yield from within(getattr(value, each.name))
    elif isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from within(each)


def rejected(program: Callable[[], object], *, preview: bool = False) -> str:
    with pytest.raises(pulumi.RunError) as error:
        declared(program, preview=preview)
    said = str(error.value)
    assert CANARY not in said
    return said


@pytest.mark.parametrize(
    ("kind", "place"), CASES, ids=lambda each: getattr(each, "__name__", "") or ".".join(map(str, each))
)
def test_a_secret_at_any_place_is_rejected_by_name(kind: Any, place: tuple[Any, ...]) -> None:
    said = rejected(lambda: kind("one", with_secret(WHOLE[kind], place)))
    assert f"{kind.__name__} one: {place[0]}" in said and f"`{place[0]}` can't be secret" in said
    assert "why:" in said and "pulumi.Output.unsecret" in said


def cluster(**changed: Any) -> Any:
    place = {"project": PROJECT, "region": REGION}
    given: Any = {"pools": {"a": slipway.PoolArgs(machine="n1-standard-4", replicas=1)}, **place, **changed}
    return slipway.PersistentResource("cpu", slipway.PersistentResourceArgs(**given))


def not_known() -> pulumi.Output[Any]:
    def future(value: object) -> Any:
        made = asyncio.get_event_loop().create_future()
        made.set_result(value)
        return made

    return pulumi.Output(future(set()), future(None), future(False), future(True))


@pytest.mark.parametrize(
    "value",
    [
        lambda: pulumi.Output.from_input({"team": secret(CANARY)}),
        lambda: pulumi.Output.all(secret(CANARY), "b").apply(lambda both: {"team": both[0]}),
        lambda: secret({"team": CANARY}),
        lambda: pulumi.Output.from_input("x").apply(lambda _: {"team": secret(CANARY)}),
        lambda: {"team": secret(secret(CANARY))},
        lambda: {"team": pulumi.Output.concat("team-", secret(CANARY))},
        lambda: {"team": not_known()},
        lambda: {"team": awaited(secret(CANARY))},
    ],
)
@pytest.mark.parametrize("preview", [True, False])
def test_a_value_that_is_made_from_a_secret_is_secret(value: Callable[[], Any], preview: bool) -> None:
    said = rejected(lambda: cluster(labels=value()), preview=preview)
    assert "PersistentResource cpu: labels" in said


async def awaited(value: Any) -> Any:
    return value


@pytest.mark.parametrize("value", [lambda: pulumi.Output.unsecret(secret("ml")), lambda: awaited("ml")])
def test_a_value_that_is_made_plain_is_taken(value: Callable[[], Any]) -> None:
    asked = declared(lambda: cluster(labels={"team": value()}))
    (made,) = every(asked, "gcp:vertex/aiPersistentResource:AiPersistentResource").values()
    assert made.inputs["labels"]["team"] == "ml"


def test_a_secret_policy_is_rejected() -> None:
    def program() -> None:
        ground = slipway.Workspace("ml", slipway.WorkspaceArgs(project=PROJECT, region=REGION))
        slipway.Catalog("ml", slipway.CatalogArgs(workspace=ground, policy={"mandatory": {"x": secret(CANARY)}}))

    assert "Catalog ml: policy.mandatory.x" in rejected(program)


@pytest.mark.parametrize("name", ["mode", "strict"])
def test_a_secret_setting_of_the_quota_check_is_rejected(name: str) -> None:
    args: Any = {name: secret(CANARY)}
    assert f"QuotaCheck quota: {name}" in rejected(lambda: slipway.QuotaCheck("quota", slipway.QuotaCheckArgs(**args)))


def test_a_secret_of_a_provider_or_an_own_bucket_is_rejected_as_the_argument_that_it_is() -> None:
    def provider() -> None:
        gcp = pulumi_gcp()
        made = gcp.Provider("own", project=secret(CANARY), region=REGION)
        opts = pulumi.ResourceOptions(provider=made)
        pools: Any = {"a": slipway.PoolArgs(machine="n1-standard-4", replicas=1)}
        slipway.PersistentResource("cpu", slipway.PersistentResourceArgs(pools=pools), opts)

    def bucket() -> None:
        own = pulumi_gcp().storage.Bucket("own", name=secret(CANARY), location="US")
        slipway.Workspace("ml", slipway.WorkspaceArgs(work_bucket=own, project=PROJECT, region=REGION))

    def account() -> None:
        own = pulumi_gcp().serviceaccount.Account("own", account_id=secret(CANARY))
        slipway.Workspace("ml", slipway.WorkspaceArgs(trainer=own.email, project=PROJECT, region=REGION))

    assert "PersistentResource cpu: project" in rejected(provider)
    assert "Workspace ml: work_bucket" in rejected(bucket)
    assert "Workspace ml: trainer" in rejected(account)


def pulumi_gcp() -> Any:
    import pulumi_gcp

    return pulumi_gcp


@pytest.mark.parametrize("key", ["project", "region", "impersonateServiceAccount"])
def test_a_secret_of_the_configuration_that_names_contain_is_rejected(
    monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    monkeypatch.setenv("GOOGLE_IMPERSONATE_SERVICE_ACCOUNT", "")  # The program sets it, and the test's end unsets it.
    config = {"gcp:project": PROJECT, "gcp:region": REGION, f"gcp:{key}": CANARY}
    pulumi.runtime.set_all_config(config, [f"gcp:{key}"])
    try:
        pools: Any = {"a": slipway.PoolArgs(machine="n1-standard-4", replicas=1)}
        said = rejected(lambda: slipway.PersistentResource("cpu", slipway.PersistentResourceArgs(pools=pools)))
    finally:
        pulumi.runtime.set_all_config({}, [])
    assert f"gcp:{key} is a secret" in said and "--plaintext" in said


PREFERENCE = "gcp:cloudquota/sQuotaPreference:SQuotaPreference"


@pytest.mark.parametrize("preview", [True, False])
def test_contact_and_justification_stay_secret(preview: bool) -> None:
    from components.testing import living

    def program() -> None:
        cpu = cluster()
        slipway.QuotaCheck(
            "quota",
            slipway.QuotaCheckArgs(
                clusters=[cpu],
                mode="request",
                contact_email=secret(f"{CANARY}@acme.example"),
                justification=secret(CANARY),
            ),
        )

    with living(quota={"custom_model_training_cpus": 1}):
        asked = declared(program, preview=preview)
    (request,) = every(asked, PREFERENCE).values()
    assert all(is_rpc_secret(request.inputs[key]) for key in ("contactEmail", "justification"))
    assert list(request.request.additionalSecretOutputs) == ["contactEmail", "justification"]
    request.inputs.clear()
    assert CANARY not in str([each.inputs for each in asked])


@pytest.mark.parametrize("name", [each.name for each in fields(StackParts)])
def test_a_whole_part_of_another_language_s_stack_is_rejected_by_name(name: str) -> None:
    from components.host import Host
    from tests.components.test_host import CLUSTERS, PLACE, answer

    inputs: dict[str, Any] = {"workspace": PLACE, "clusters": CLUSTERS}
    with pytest.raises(Exception, match=name) as error:
        declared(lambda: answer(Host("1.2.3"), {**inputs, name: secret({CANARY: {}})}))
    assert CANARY not in str(error.value) and "Output" in str(error.value)


def test_a_secret_of_the_wire_is_a_secret_argument() -> None:
    from components.host import Host
    from tests.components.test_host import PLACE, answer

    clusters = {"cpu": {"pools": {"a": {"machine": "n1-standard-4", "replicas": 1.0}}, **PLACE}}
    one = {"cpu": {**clusters["cpu"], "labels": secret({CANARY.upper(): CANARY})}}
    with pytest.raises(Exception, match="labels is a secret") as error:
        declared(lambda: answer(Host("1.2.3"), {"clusters": one}))
    assert CANARY not in str(error.value)
    assert value_of(StackParts, {"clusters": clusters}).clusters
