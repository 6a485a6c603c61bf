"""Components under Pulumi's mocks, with all their requests to the engine, options included."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pulumi.runtime import mocks
from pulumi.runtime.proto import resource_pb2
from pulumi.runtime.rpc import deserialize_properties

from slipway.google.live import Live
from tests.builders.stacks import workspace_entry

PROJECT, REGION = "acme-dev", "us-central1"
SETTINGS = workspace_entry(("group:ml@acme.example",), "acme-catalog", "acme-work", "slipway-dev-trainer")
FACTS = {"package": "gs://acme-catalog/packages/nap.tar.gz", "pools": {"workers": {"min": 1}}, "id": "cpu-1a2b3c4"}
"""The facts of a component, in the form of slipway.deploying.deployment.facts."""
NOTHING = Live(clusters=(), jobs=(), limits={}, catalog=None)


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
    def new_resource(self, args: mocks.MockResourceArgs) -> tuple[str | None, dict[Any, Any]]:
        computed: dict[str, Any] = {}
        if args.typ == "gcp:serviceaccount/account:Account":
            email = f"{args.inputs['accountId']}@{PROJECT}.iam.gserviceaccount.com"
            computed = {
                "email": email,
                "member": f"serviceAccount:{email}",
                "name": f"projects/{PROJECT}/serviceAccounts/{email}",
            }
        if args.typ.startswith("gcp:iam/workloadIdentityPool"):
            computed = {"name": f"projects/4711/locations/global/workloadIdentityPools/{args.name}"}
        return f"{args.name}-id", {**args.inputs, **computed}

    def call(self, args: mocks.MockCallArgs) -> tuple[dict[Any, Any], list[tuple[str, str]] | None]:
        raise AssertionError(f"components never talk, but one called {args.token}")


class _Monitor(mocks.MockMonitor):
    def __init__(self) -> None:
        super().__init__(_Mocks())
        self.asked: list[Asked] = []

    def RegisterResource(self, request: Any) -> Any:  # noqa: N802 - a gRPC method's name
        if request.type != "pulumi:pulumi:Stack":
            inputs = dict(deserialize_properties(request.object))
            self.asked.append(Asked(request.type, request.name, inputs, request))
        return super().RegisterResource(request)  # type: ignore[no-untyped-call]


def declared(program: Callable[[], Any]) -> list[Asked]:
    """Return all that `program` registers on stack dev. Raises its errors; every output it made is awaited."""
    monitor = _Monitor()
    mocks.set_mocks(monitor.mocks, project="slipway", stack="dev", preview=False, monitor=monitor)

    @mocks.test  # type: ignore[untyped-decorator]
    def run() -> None:
        program()

    run()
    return monitor.asked


def only(asked: list[Asked], type: str) -> Asked:
    matching = [item for item in asked if item.type == type]
    assert len(matching) == 1, [(item.type, item.name) for item in asked]
    return matching[0]


def every(asked: list[Asked], type: str) -> dict[str, Asked]:
    matching = [item for item in asked if item.type == type]
    assert len({item.name for item in matching}) == len(matching), "the engine refuses a second resource of a name"
    return {item.name: item for item in matching}
