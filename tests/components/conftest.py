"""Components under Pulumi's mocks, with all their requests to the engine, options included."""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, cast
from unittest.mock import patch

import pulumi
import pytest
from pulumi.runtime import mocks, settings
from pulumi.runtime.proto import resource_pb2
from pulumi.runtime.rpc import deserialize_properties

from components.composition import Composition
from components.member import Member
from components.resolution import Given
from slipway.deploying.deployment.deletion_guard import StackGuard
from slipway.deploying.deployment.restoration import Restoration
from slipway.deploying.deployment.workspace_plan import WorkspacePlan
from slipway.google.live import Live
from slipway.model.identity import Identity
from slipway.model.state import State
from tests.builders.stacks import workspace_entry

PROJECT, REGION = "acme-dev", "us-central1"
SETTINGS = workspace_entry(("group:ml@acme.example",), "acme-catalog", "acme-work", "slipway-dev-trainer")
FACTS = {"package": "gs://acme-catalog/packages/nap.tar.gz", "pools": {"workers": {"min": 1}}, "id": "cpu-1a2b3c4"}
"""The facts of a component, in the form of slipway.deploying.deployment.facts."""
NOTHING = Live(clusters=(), jobs=(), limits={}, catalog=None)


@pytest.fixture(autouse=True)
def nothing_configured() -> None:
    """Forget the configuration that another test has set, as it is the process's."""
    pulumi.runtime.set_all_config({})


@dataclass(frozen=True)
class Asked:
    """One registration: type token, name, inputs, and the request itself for the options."""

    type: str
    name: str
    inputs: dict[str, Any]
    request: resource_pb2.RegisterResourceRequest

    @property
    def parent(self) -> str:
        return self.request.parent.rsplit("::", 1)[-1]

    @property
    def depends_on(self) -> set[str]:
        return {urn.rsplit("::", 1)[-1] for urn in self.request.dependencies}


class _Mocks(mocks.Mocks):
    #: Types of which no id is known, as in a preview that would create them.
    unknown: tuple[str, ...] = ()

    def new_resource(self, args: mocks.MockResourceArgs) -> tuple[str | None, dict[Any, Any]]:
        computed: dict[str, Any] = {}
        if args.typ == "gcp:serviceaccount/account:Account":
            email = f"{args.inputs['accountId']}@{PROJECT}.iam.gserviceaccount.com"
            computed = {
                "email": email,
                "member": f"serviceAccount:{email}",
                "name": f"projects/{PROJECT}/serviceAccounts/{email}",
            }
        if args.typ == "pulumi:pulumi:StackReference":
            computed = {"outputs": {"teams": ["vision", "speech"]}}
        if args.typ.startswith("gcp:iam/workloadIdentityPool"):
            computed = {"name": f"projects/4711/locations/global/workloadIdentityPools/{args.name}"}
        id_ = None if args.typ.startswith(self.unknown or ("none:",)) else f"{args.name}-id"
        return id_, {**args.inputs, **computed}

    def call(self, args: mocks.MockCallArgs) -> tuple[dict[Any, Any], list[tuple[str, str]] | None]:
        if args.token == "gcp:storage/getProjectServiceAccount:getProjectServiceAccount":  # bootstrap's
            agent = "serviceAccount:service-4711@gs-project-accounts.iam.gserviceaccount.com"
            return {"member": agent}, []
        raise AssertionError(f"components never talk, but one called {args.token}")


class _Monitor(mocks.MockMonitor):
    def __init__(self, unknown: tuple[str, ...] = ()) -> None:
        super().__init__(_Mocks())
        self.mocks.unknown = unknown  # type: ignore[attr-defined]  # its own class of mocks
        self.asked: list[Asked] = []

    def RegisterResource(self, request: Any) -> Any:  # noqa: N802 - a gRPC method's name
        if request.type != "pulumi:pulumi:Stack":
            inputs = dict(deserialize_properties(request.object))
            self.asked.append(Asked(request.type, request.name, inputs, request))
        return super().RegisterResource(request)  # type: ignore[no-untyped-call]


def awaited(work: Coroutine[Any, Any, Any]) -> Any:
    """Return the result of a coroutine, on a loop of its own: Pulumi's mocks keep the usual one."""
    loop = asyncio.new_event_loop()
    try:
        return loop.run_until_complete(work)
    finally:
        loop.close()


def declared(program: Callable[[], Any], *, preview: bool = False, unknown: tuple[str, ...] = ()) -> list[Asked]:
    """Return all that `program` registers on stack dev. Raises its errors; every output it made is awaited. `unknown`:
    beginnings of types of which no id is known."""
    monitor = _Monitor(unknown)
    mocks.set_mocks(monitor.mocks, project="slipway", stack="dev", preview=preview, monitor=monitor)

    @mocks.test  # type: ignore[untyped-decorator]
    def run() -> None:
        program()

    run()
    return monitor.asked


def failed(program: Callable[[], Any], *, preview: bool = False) -> tuple[list[Asked], str]:
    """Return all that `program` registers on stack dev before it fails, and its error."""
    monitor = _Monitor()
    mocks.set_mocks(monitor.mocks, project="slipway", stack="dev", preview=preview, monitor=monitor)

    @mocks.test  # type: ignore[untyped-decorator]
    def run() -> None:
        program()

    with pytest.raises(pulumi.RunError) as error:
        run()
    return monitor.asked, str(error.value)


def executed(program: Callable[[], Any]) -> list[Asked]:
    """Return what `program` registers as its language host runs it, with an end of its own."""
    monitor = _Monitor()
    mocks.set_mocks(monitor.mocks, project="slipway", stack="dev", monitor=monitor)
    former: Any = pulumi.runtime.get_root_resource()
    settings.set_root_resource(cast(Any, None))
    settings.SETTINGS.rpc_manager.clear()
    settings.SETTINGS.outputs.clear()
    try:
        asyncio.get_event_loop().run_until_complete(pulumi.runtime.run_in_stack(program))
    finally:
        settings.set_root_resource(former)
        settings.SETTINGS.rpc_manager.clear()
    return monitor.asked


def only(asked: list[Asked], type: str) -> Asked:
    matching = [item for item in asked if item.type == type]
    assert len(matching) == 1, [(item.type, item.name) for item in asked]
    return matching[0]


def every(asked: list[Asked], type: str) -> dict[str, Asked]:
    matching = [item for item in asked if item.type == type]
    assert len({item.name for item in matching}) == len(matching), "the engine refuses a second resource of a name"
    return {item.name: item for item in matching}


@dataclass
class Decided:
    """A group whose decision a test gives, in place of the pure plan's."""

    settings: Any = None
    #: The catalog's, which the component publishes.
    catalog: Any = None
    templates: Mapping[str, Mapping[Any, Any]] = field(default_factory=dict)
    requests: Any = ()
    quota: Any = None
    live: Live = NOTHING
    plan: WorkspacePlan = field(default_factory=WorkspacePlan)
    #: The engine's.
    state: State = field(default_factory=State)
    trainers: Mapping[str, Any] = field(default_factory=dict)
    writers: frozenset[str] = frozenset()
    work_elsewhere: Mapping[str, str] = field(default_factory=dict)

    name, project, region = "dev", PROJECT, REGION
    identity = Identity("slipway", "dev")
    own: Mapping[str, pulumi.Resource] = field(default_factory=dict)
    components: list[Member] = field(default_factory=list)
    given: Mapping[Member, Given] = field(default_factory=lambda: defaultdict(lambda: Given({})))
    hooks: Any = None
    guard: StackGuard = field(default_factory=lambda: StackGuard({}, "dev", (PROJECT, REGION)))

    @property
    def deployment(self) -> Any:
        facts = SimpleNamespace(
            checks={},
            workspace=FACTS,
            published=FACTS,
            quota_check=FACTS,
            templates=dict.fromkeys(self.templates, FACTS),
        )
        stack = SimpleNamespace(
            workspace=self.settings or SETTINGS,
            trainers=self.trainers,
            work_elsewhere=self.work_elsewhere,
            quota=self.quota,
            project=PROJECT,
        )
        return SimpleNamespace(
            stack=stack,
            live=self.live,
            plan=SimpleNamespace(workspace=self.plan, current=(), retiring=()),
            writers=self.writers,
            facts=facts,
            packages=self.templates,
            catalog=self.catalog,
            report=SimpleNamespace(requests=self.requests),
            restoration=Restoration(),
        )

    @property
    def workspace(self) -> Any:
        return next((component for component in self.components if component.kind == "workspace"), None)

    def child(self, component: Member, name: str) -> str:
        return name

    async def as_made(self) -> Any:
        return self.deployment

    async def creating(self) -> None:
        return None

    async def rest(self) -> tuple[pulumi.Resource, ...]:
        return ()


def unique(asked: list[Asked]) -> None:
    """The engine refuses a second resource of a name, below whichever component of a type."""
    named = Counter((each.request.parent.rpartition("::")[0], each.type, each.name) for each in asked)
    assert not [name for name, count in named.items() if count > 1]


def composed(program: Callable[[], Any], decided: Decided) -> list[Asked]:
    """Return all that a program of components registers where this is decided about them."""

    async def group(composition: Composition, _: Member) -> Decided:
        decided.components, decided.hooks = composition.components, composition.hooks
        return decided

    with patch.object(Composition, "group", group), patch.object(Composition, "_end", _nothing):
        return declared(program)


async def _nothing(_: Composition) -> None:
    return None
