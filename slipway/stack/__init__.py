"""The stack file: what one environment declares, typed and checked as a whole."""

from slipway.stack.document import Document, Finding, StackErrors, load
from slipway.stack.entries import schema, schema_text
from slipway.stack.members import check_warnings, open_to
from slipway.stack.stack import QuotaSettings, Stack, WorkspaceSettings, from_config, parse, stack_of

__all__ = [
    "Document",
    "Finding",
    "QuotaSettings",
    "Stack",
    "StackErrors",
    "WorkspaceSettings",
    "check_warnings",
    "from_config",
    "load",
    "open_to",
    "parse",
    "schema",
    "schema_text",
    "stack_of",
]
