"""The provider on Pulumi's wire: the gRPC service `pulumirpc.ResourceProvider`."""

import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NoReturn, TypeVar

import grpc
from google.protobuf import any_pb2, empty_pb2
from google.rpc import status_pb2

from . import VERSION, settings
from .declared import AsDeclared, declared_state
from .engine_log import EngineLog
from .kind import Found
from .pace import Pace
from .package import package
from .protos import messages, plugin, services
from .provider import Provider, RefusedError, UpdateError, kinds, type_and_name
from .settings import SettingsError
from .transport import CloudError
from .values import Decoded, decode, encode, is_later
from .written import written

_T = TypeVar("_T")
_KNOWN = frozenset(kinds())


class Service(services.ResourceProviderServicer):  # type: ignore[misc]
    """The translation of each request and its answer; every decision is `Provider`'s."""

    def __init__(self, pace: Pace, environment: Mapping[str, str] = os.environ, log: EngineLog | None = None) -> None:
        self._pace = pace
        self._log = log
        self._environment = environment
        self._provider: Provider | None = None
        self._declared = AsDeclared(log)

    # The names below are those of the protocol.

    def Handshake(self, request: Any, context: Any) -> Any:  # noqa: N802
        return messages.ProviderHandshakeResponse(accept_secrets=True)

    def GetPluginInfo(self, request: Any, context: Any) -> Any:  # noqa: N802
        return plugin.PluginInfo(version=VERSION)

    def GetSchema(self, request: Any, context: Any) -> Any:  # noqa: N802
        return messages.GetSchemaResponse(schema=package())

    def CheckConfig(self, request: Any, context: Any) -> Any:  # noqa: N802
        problems = settings.check(_known(decode(request.news)))
        failures = [messages.CheckFailure(property=problem.key, reason=str(problem)) for problem in problems]
        return messages.CheckResponse(inputs=request.news, failures=failures)

    def DiffConfig(self, request: Any, context: Any) -> Any:  # noqa: N802
        old, new = decode(request.old_inputs).values, decode(request.news).values
        differing = sorted(name for name in {*old, *new} if old.get(name) != new.get(name))
        kinds = messages.DiffResponse
        return kinds(changes=kinds.DIFF_SOME if differing else kinds.DIFF_NONE, diffs=differing)

    def Configure(self, request: Any, context: Any) -> Any:  # noqa: N802
        try:
            self._provider = Provider(settings.load(_known(decode(request.args)), self._environment), self._pace)
        except SettingsError as problem:
            context.abort(grpc.StatusCode.INVALID_ARGUMENT, str(problem))
        return messages.ConfigureResponse(acceptSecrets=True, supportsPreview=True)

    def Check(self, request: Any, context: Any) -> Any:  # noqa: N802
        if not _knows(request.urn):
            return self._declared.check(request)
        news = decode(request.news)
        token, name = type_and_name(request.urn)
        logical, old = request.name or name, decode(request.olds).values
        provider = self._configured(context)
        checked = _answered(context, "", lambda: provider.check(token, news.values, old, logical, request.randomSeed))
        failures = [
            messages.CheckFailure(property=failure.property, reason=failure.reason) for failure in checked.failures
        ]
        secrets = news.secrets | provider.kind(token).schema.secrets
        return messages.CheckResponse(inputs=encode(checked.inputs, secrets), failures=failures)

    def Diff(self, request: Any, context: Any) -> Any:  # noqa: N802
        if not _knows(request.urn):
            return self._declared.diff(request)
        provider, token = self._configured(context), type_and_name(request.urn)[0]
        old, inputs = decode(request.olds).values, decode(request.news).values
        difference = _answered(context, f"diffing {request.urn}", lambda: provider.difference(token, old, inputs))
        detail = {}
        for change in difference.changes:
            kind = f"{change.kind}_replace" if change.replace else change.kind
            detail[change.path] = messages.PropertyDiff(kind=kind.upper())
        return messages.DiffResponse(
            changes=messages.DiffResponse.DIFF_SOME if detail else messages.DiffResponse.DIFF_NONE,
            diffs=difference.properties,
            replaces=difference.replaces,
            detailedDiff=detail,
            hasDetailedDiff=True,
            deleteBeforeReplace=difference.delete_first,
        )

    def Create(self, request: Any, context: Any) -> Any:  # noqa: N802
        if not _knows(request.urn):
            return self._declared.create(request, self._configured(context).settings.project)
        provider, token = self._configured(context), type_and_name(request.urn)[0]
        inputs = decode(request.properties)
        doing = f"creating {request.urn}"
        if request.preview:
            planned = _answered(context, doing, lambda: provider.plan(token, None, inputs.values))
            return messages.CreateResponse(properties=self._state(token, planned, inputs.secrets))
        made = self._changed(context, "", request.urn, lambda: provider.create(token, inputs.values, request.timeout))
        state = self._written(token, made, {}, create_timeout=request.timeout)
        return messages.CreateResponse(id=made.id, properties=self._state(token, state, inputs.secrets))

    def Read(self, request: Any, context: Any) -> Any:  # noqa: N802
        if not _knows(request.urn):
            return messages.ReadResponse(id=request.id, properties=request.properties, inputs=request.inputs)
        provider, token = self._configured(context), type_and_name(request.urn)[0]
        state, inputs = decode(request.properties), decode(request.inputs)
        read = _answered(
            context, f"refreshing {request.urn}", lambda: provider.read(token, request.id, state.values, inputs.values)
        )
        if read is None:
            return messages.ReadResponse()
        secrets = state.secrets | inputs.secrets
        return messages.ReadResponse(
            id=read.found.id,
            properties=self._state(token, read.found.state, secrets),
            inputs=self._state(token, read.inputs, secrets),
        )

    def Update(self, request: Any, context: Any) -> Any:  # noqa: N802
        if not _knows(request.urn):
            return messages.UpdateResponse(properties=declared_state(request.urn, request.news))
        provider, token = self._configured(context), type_and_name(request.urn)[0]
        old, inputs = decode(request.olds).values, decode(request.news)
        doing = f"updating {request.urn}"
        if request.preview:
            planned = _answered(context, doing, lambda: provider.plan(token, old, inputs.values))
            return messages.UpdateResponse(properties=self._state(token, planned, inputs.secrets))

        def state(made: Found) -> Any:
            return self._state(token, self._written(token, made, old), inputs.secrets)

        try:
            made = self._logged(
                request.urn, lambda: provider.update(token, request.id, old, inputs.values, request.timeout)
            )
        except UpdateError as problem:
            _abort_half_done(context, f"{doing}: {_official(problem)}", request.id, state(problem.found))
        except CloudError as problem:
            _abort(context, grpc.StatusCode.UNKNOWN, _official(problem))
        return messages.UpdateResponse(properties=state(made))

    def Delete(self, request: Any, context: Any) -> Any:  # noqa: N802
        if not _knows(request.urn):
            return empty_pb2.Empty()
        provider, token = self._configured(context), type_and_name(request.urn)[0]
        state = decode(request.properties).values
        self._changed(
            context,
            f"deleting {request.urn}",
            request.urn,
            lambda: provider.delete(token, request.id, state, request.timeout),
        )
        return empty_pb2.Empty()

    def Invoke(self, request: Any, context: Any) -> Any:  # noqa: N802
        context.abort(grpc.StatusCode.UNIMPLEMENTED, str(RefusedError(request.tok)))

    def Cancel(self, request: Any, context: Any) -> Any:  # noqa: N802
        # Like the official one it goes on with what is under way; a second Ctrl-C ends the engine, and this process.
        return empty_pb2.Empty()

    def _changed(self, context: Any, doing: str, urn: str, change: Callable[[], _T]) -> _T:
        return _answered(context, doing, lambda: self._logged(urn, change))

    def _logged(self, urn: str, change: Callable[[], _T]) -> _T:
        """Log an error beside raising it: the engine shows both."""
        try:
            return change()
        except CloudError as problem:
            if self._log is not None:
                self._log.error(urn, str(problem))
            raise

    def _configured(self, context: Any) -> Provider:
        if self._provider is None:
            _abort(context, grpc.StatusCode.FAILED_PRECONDITION, "the gcp provider has not been configured")
        return self._provider

    def _written(self, token: str, read: Found, before: Mapping[str, Any], create_timeout: float = 0) -> Any:
        assert self._provider is not None
        schema = self._provider.kind(token).schema
        return written(schema, read.id, read.state, before, create_timeout=create_timeout)

    def _state(self, token: str, values: Mapping[str, Any], secrets: Iterable[str]) -> Any:
        schema = self._provider.kind(token).schema if self._provider else None
        hidden = {*secrets, *(schema.secrets if schema else ())}
        return encode(values, hidden)


def _answered(context: Any, doing: str, ask: Callable[[], _T]) -> _T:
    try:
        return ask()
    except CloudError as problem:
        _abort(context, grpc.StatusCode.UNKNOWN, f"{doing}: {_official(problem)}" if doing else _official(problem))


def _official(problem: Exception) -> str:
    """Return the form in which the official plugin hands on an error of its Terraform provider."""
    return f"1 error occurred:\n\t* {problem}\n\n"


def _abort_half_done(context: Any, reason: str, id: str, state: Any) -> NoReturn:
    """Abort with a state: the engine takes it for the resource's, and the reason for something left to be done."""
    detail = any_pb2.Any()
    detail.Pack(messages.ErrorResourceInitFailed(id=id, properties=state, reasons=[reason]))
    status = status_pb2.Status(code=grpc.StatusCode.UNKNOWN.value[0], message=reason, details=[detail])
    context.set_trailing_metadata((("grpc-status-details-bin", status.SerializeToString()),))
    _abort(context, grpc.StatusCode.UNKNOWN, reason)


def _abort(context: Any, code: Any, what: str) -> NoReturn:
    context.abort(code, what)
    raise AssertionError("a gRPC context that is aborted does not come back")


def _known(config: Decoded) -> dict[str, Any]:
    return {name: value for name, value in config.values.items() if not is_later(value)}


def _knows(urn: str) -> bool:
    return type_and_name(urn)[0] in _KNOWN
