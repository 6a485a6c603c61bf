"""The stack file: what one environment declares, typed and checked as a whole."""

from slipway.stack.document import Document, load
from slipway.stack.findings import Finding, StackErrors
from slipway.stack.members import check_warnings, open_to
from slipway.stack.model import QuotaSettings, Stack, WorkspaceSettings
from slipway.stack.parse import from_config, parse, stack_of
from slipway.stack.schema import schema, schema_text

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
