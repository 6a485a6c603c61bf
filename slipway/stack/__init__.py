"""The stack file: what one environment declares, typed and checked as a whole."""

from slipway.stack.findings import Finding, StackErrors
from slipway.stack.model import QuotaSettings, Stack, WorkspaceSettings

__all__ = ["Finding", "QuotaSettings", "Stack", "StackErrors", "WorkspaceSettings"]
