"""The host of a stack's component for programs in other languages, on Pulumi's wire.

Such a program constructs each component by a call of its own, and waits for the answer before it refers to it. But ids,
roles and quota follow from all components together. So the package has one component, `Stack`, with all the others.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Awaitable
from typing import Any, cast

import pulumi
import pulumi_gcp  # noqa: F401  # The providers and resources that a program hands over are known once it is imported.
from google.rpc import status_pb2
from pulumi.errors import InputPropertiesError

from slipway.base.errors import SlipwayError
from slipway.base.installation import version

from .composition import program_ended
from .entries import ArgumentError
from .schema import outputs_of, schema, value_of
from .stack import Stack, StackParts

# Pulumi's server has a copy of this message, and Google's libraries can't be imported beside it.
sys.modules["pulumi.runtime.proto.status_pb2"] = status_pb2

from pulumi.provider import ConstructResult, Provider  # noqa: E402
from pulumi.provider.server import main as serve  # noqa: E402


def main() -> None:
    """Serve one run of the engine, whose address is the command's argument."""
    serve(Host(version().replace(".dev", "-dev.")), sys.argv[1:])


class Host(Provider):
    """Constructs the program's stack."""

    def __init__(self, version: str) -> None:
        super().__init__(version, json.dumps(schema(version, Stack, StackParts)))
        self._name = ""

    def construct(
        self, name: str, resource_type: str, inputs: pulumi.Inputs, options: pulumi.ResourceOptions | None = None
    ) -> ConstructResult:
        """Construct it. Raises InputPropertiesError, whose text the engine shows."""
        try:
            self._must_be_only(name)
            _refuse_whole_outputs(name, inputs)
            stack = Stack(name, value_of(StackParts, inputs), options)
        except Exception as error:
            program_ended(error)
            raise _shown(error) from error
        program_ended()
        ended: Any = pulumi.Output.from_input(cast(Any, _told(stack.ended())))
        # No answer before the end: the engine would not hear of an error.
        state = {key: ended.apply(lambda _, key=key: getattr(stack, key)) for key in outputs_of(Stack)}
        return ConstructResult(stack.urn, state)

    def _must_be_only(self, name: str) -> None:
        if self._name:
            raise ArgumentError(
                f"Stack {name} is the program's second one, beside {self._name}",
                why="what one of them keeps and deletes depends on the other, and each is constructed by itself",
                fix="one Stack in a program: a Pulumi project for each, or a program in Python",
            )
        self._name = name


def _refuse_whole_outputs(name: str, inputs: pulumi.Inputs) -> None:
    """Raise ArgumentError for Outputs in place of whole components' arguments, secret ones as well."""
    for key, value in inputs.items():
        if isinstance(value, pulumi.Output) and key != "policy":
            raise ArgumentError(
                f"Stack {name}: {key} is an Output as a whole",
                why="the names and keys below it must be known before any Output is",
                fix="pass an Output or a secret for single values below it only",
            )


async def _told(ended: Awaitable[None]) -> None:
    try:
        await ended
    except Exception as error:
        raise _shown(error) from error


def _shown(error: Exception) -> Exception:
    """Return a mistake of the program's as an error whose text alone the engine shows."""
    return InputPropertiesError(str(error), []) if isinstance(error, SlipwayError | pulumi.RunError) else error
