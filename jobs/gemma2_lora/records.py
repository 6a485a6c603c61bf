"""The records to learn from: conversations, or plain texts. Those that can't be used are named."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from .trouble import TroubleError

MESSAGES = "messages"
PAIRS = (("prompt", "completion"), ("input_text", "output_text"))
"""Fields that are a question and its answer; the second pair is that of Vertex AI's own tuning data."""
_ROLES = {"user": "user", "assistant": "assistant", "model": "assistant"}
_TOLD = 10


@dataclass(frozen=True)
class Record:
    """`where`: "line 7". `turns`: (role, content), the user's and the assistant's in turn; empty for a `text`."""

    where: str
    turns: tuple[tuple[str, str], ...] = ()
    text: str = ""


def records(values: Iterable[tuple[str, Any]], address: str, column: str) -> list[Record]:
    """`values`: where each was, and the record or the error that reading it gave. Raises TroubleError that names those
    which can't be used, and for none at all."""
    found: list[Record] = []
    bad: list[str] = []
    for where, value in values:
        try:
            if isinstance(value, ValueError):
                raise value
            found.append(_record(where, value, column))
        except ValueError as error:
            bad.append(f"{where} {error}")
    if bad:
        more = [f"and {len(bad) - _TOLD} more"] if len(bad) > _TOLD else []
        raise TroubleError(
            f"{len(bad)} of {len(bad) + len(found)} records of {address} can't be used",
            "\n       ".join([*bad[:_TOLD], *more]),
            "correct them: docs/gemma2-lora.md shows what a record may be",
        )
    if not found:
        raise TroubleError(f"{address} holds no records", "it is empty", "name other data with -p data")
    return found


def lines(content: bytes) -> Iterator[tuple[str, Any]]:
    """JSON Lines: `line 1` with its value. Empty lines are passed over."""
    for number, line in enumerate(content.split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except UnicodeDecodeError:
            value = ValueError("is not UTF-8")
        except json.JSONDecodeError as error:
            value = ValueError(f"is not JSON: {error.msg} (column {error.colno})")
        yield f"line {number}", value


def _record(where: str, value: Any, column: str) -> Record:
    if not isinstance(value, Mapping):
        raise ValueError("is no JSON object")
    field = MESSAGES if value.get(MESSAGES) is not None else column  # Parquet has every field in each record.
    content = value.get(field)
    if isinstance(content, list):
        return Record(where, tuple(_turns(content)))
    if isinstance(content, str) and field == column:
        if not content.strip():
            raise ValueError(f"has an empty {field!r}")
        content.encode()
        return Record(where, text=content)
    if content is not None:
        raise ValueError(f"has a {field!r} that is {'no list' if field == MESSAGES else 'neither text nor a list'}")
    for asked, answered in PAIRS:
        if value.get(asked) is not None and answered in value:
            pair = ({"role": "user", "content": value[asked]}, {"role": "assistant", "content": value[answered]})
            return Record(where, tuple(_turns(pair)))
    has = ", ".join(sorted(map(repr, value))) or "nothing"
    raise ValueError(f"has neither {MESSAGES!r}, a question with its answer, nor {column!r} (-p column): it has {has}")


def _turns(messages: Iterable[Any]) -> Iterator[tuple[str, str]]:
    role = ""
    for number, message in enumerate(messages, 1):
        if not isinstance(message, Mapping):
            raise ValueError(f"has a message {number} that is no JSON object")
        said, content = str(message.get("role", "")), message.get("content")
        if said == "system":
            raise ValueError(
                f"has a message {number} of the system, which Gemma 2 does not know: put it into the user's first"
            )
        if said not in _ROLES:
            raise ValueError(f"has a message {number} of role {said!r}: user or assistant is meant")
        if not isinstance(content, str) or not content.strip():
            raise ValueError(f"has a message {number} without content")
        content.encode()  # Half a character, which JSON may hold, is a ValueError.
        if _ROLES[said] != ("assistant" if role == "user" else "user"):
            raise ValueError(f"has a message {number} out of turn: user and assistant alternate, the user begins")
        role = _ROLES[said]
        yield role, content
    if role != "assistant":
        raise ValueError("ends without the assistant's answer")
