#!/usr/bin/env python3
"""A CrossGuard policy pack: `pulumi preview --policy-pack policy/__main__.py` holds a stack to its own rules.

It has no rules itself: those of `slipway/authoring/policy` are applied to the facts that the components of the stack
publish. It speaks the engine's protocol with what Pulumi's SDK brings. The package `pulumi-policy`, made for that,
allows only protobuf 5.29, and has a rule's level fixed in the pack, where here the stack file says it.
"""

import json
import os
import signal
import sys
import time
from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

import grpc
from google.protobuf.json_format import MessageToJson
from pulumi.runtime.proto import analyzer_pb2 as messages
from pulumi.runtime.proto import analyzer_pb2_grpc as services
from pulumi.runtime.proto import plugin_pb2 as plugin

# The engine starts this file from the folder of the program under preview, which may be another checkout.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from slipway.authoring.policy.rules import BY_KEY, RULES, violations
from slipway.base.codec import MalformedError
from slipway.model.facts import Fact, Facts, read
from slipway.model.findings.finding import Finding, Grade

NAME = "slipway"
_LEVELS = {Grade.BLOCKING: messages.MANDATORY, Grade.WARNING: messages.ADVISORY}
_OURS = "slipway:index:"
_NOBODYS = ("pulumi:pulumi:Stack", "pulumi:providers:")
_LARGEST_MESSAGE = 400 * 1024 * 1024


class PolicyPack(services.AnalyzerServicer):
    """Keeps what each component publishes, and judges it once the engine has seen the whole stack.

    The engine starts one for a preview, and another for the update after it.
    """

    def __init__(self) -> None:
        self._published: dict[str, tuple[str, str, Fact]] = {}
        self._declares = False

    # The names below are those of the protocol.

    def GetPluginInfo(self, request: Any, context: Any) -> Any:  # noqa: N802
        return plugin.PluginInfo()

    def GetAnalyzerInfo(self, request: Any, context: Any) -> Any:  # noqa: N802
        """Every rule as advisory, since the level of each is the stack's, and a violation says it."""
        rules = (
            messages.PolicyInfo(
                name=rule.key,
                description=rule.text,
                enforcementLevel=messages.ADVISORY,
                policy_type=messages.POLICY_TYPE_STACK,
            )
            for rule in RULES
        )
        return messages.AnalyzerInfo(name=NAME, policies=rules)

    def Analyze(self, request: Any, context: Any) -> Any:  # noqa: N802
        """Judges nothing yet. Only here are inputs told: the whole stack comes with its resources' outputs, and with
        those that are to be deleted."""
        self._declares = self._declares or not request.type.startswith(_NOBODYS)
        if request.type.startswith(_OURS):
            self._published[request.urn] = request.type, request.name, _plain(request.properties)
        return messages.AnalyzeResponse()

    def AnalyzeStack(self, request: Any, context: Any) -> Any:  # noqa: N802
        """A stack whose facts can't be read is not one that keeps its rules: the preview or update fails."""
        if not self._declares:
            return messages.AnalyzeResponse(not_applicable=_not_judged(()))
        facts = self._facts(context)
        asked = {key for rules in facts.policy.values() for key in rules}
        diagnostics = [_diagnostic(one) for one in violations(facts)]
        return messages.AnalyzeResponse(diagnostics=diagnostics, not_applicable=_not_judged(asked))

    def _facts(self, context: Any) -> Facts:
        try:
            facts = read(self._published.values())
        except MalformedError as error:
            _abort(context, f"can't read what the stack's components publish: {error}")
        if facts is None:
            _abort(context, "the stack has no components that publish its catalog and workspace")
        return facts


def _plain(properties: Any) -> Any:
    """JSON's types, in an order that is always the same. The wire knows no whole numbers."""
    return json.loads(MessageToJson(properties, sort_keys=True), parse_float=lambda text: _whole(float(text)))


def _whole(number: float) -> float:
    return int(number) if number.is_integer() else number


def _diagnostic(found: Finding) -> Any:
    rule = BY_KEY.get(found.subject.name)
    return messages.AnalyzeDiagnostic(
        policyName=found.subject.name,
        policyPackName=NAME,
        description=rule.text if rule else "",
        message=found.sentence,
        enforcementLevel=_LEVELS[found.grade],
    )


def _not_judged(asked: Collection[str]) -> list[Any]:
    why = "slipway:policy does not ask for it"
    return [messages.PolicyNotApplicable(policy_name=rule.key, reason=why) for rule in RULES if rule.key not in asked]


def _abort(context: Any, why: str) -> NoReturn:
    context.abort(grpc.StatusCode.FAILED_PRECONDITION, f"{why}, so its policy can't be checked")
    raise AssertionError("a gRPC context that is aborted does not come back")


def main() -> None:
    """Prints the port, and serves until the engine ends it, or is gone."""
    engine = os.getppid()
    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, _leave)
    server = grpc.server(ThreadPoolExecutor(4), options=[("grpc.max_receive_message_length", _LARGEST_MESSAGE)])
    services.add_AnalyzerServicer_to_server(PolicyPack(), server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    print(port, flush=True)
    while os.getppid() == engine:
        time.sleep(1)
    os._exit(0)


def _leave(_signal: int, _frame: FrameType | None) -> None:
    # The server's own way out waits for its threads, and the engine for this process.
    os._exit(0)


if __name__ == "__main__":
    main()
