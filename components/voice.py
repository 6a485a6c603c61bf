"""Messages to the person who runs Pulumi."""

from __future__ import annotations

from dataclasses import dataclass

import pulumi


@dataclass(frozen=True)
class Voice:
    """Messages about one workspace."""

    #: The name of the workspace; empty if the program has one workspace only.
    workspace: str = ""

    def info(self, message: str) -> None:
        pulumi.log.info(self._named(message))

    def warn(self, message: str) -> None:
        pulumi.log.warn(self._named(message))

    def _named(self, message: str) -> str:
        return f"workspace {self.workspace}: {message}" if self.workspace else message
