"""The JSON Schema of stack files, for editors."""

from __future__ import annotations

import json
from typing import Any

from slipway.stack.entries import ConfigEntry, StackFile

OWN_KEYS = tuple(str(field.alias) for field in ConfigEntry.model_fields.values())


def schema() -> dict[str, Any]:
    """Generated from the types, so that it can't say anything else than the check does."""
    found = StackFile.model_json_schema(by_alias=True)
    found["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    found["title"] = "Slipway stack"
    # Other tools' keys are free; a key of ours that is not known is a slip of the pen.
    found["$defs"]["ConfigEntry"]["propertyNames"] = {"anyOf": [{"enum": list(OWN_KEYS)}, {"pattern": "^(?!slipway:)"}]}
    return found


def schema_text() -> str:
    """As it is in stacks/schema.json."""
    return json.dumps(schema(), indent=2, ensure_ascii=False, sort_keys=True) + "\n"
