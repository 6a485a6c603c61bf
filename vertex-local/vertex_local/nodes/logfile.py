"""A replica's log: one JSON object a line, written as lines come, read on from where a reader stopped."""

import json
import re
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

from ..clock import timestamp

LINE_BYTES = 256 * 1024
FILE_BYTES = 256 * 1024**2
_END = re.compile(rb"\r*\n|\r(?=[^\r\n])")
_SEVERITIES = ("DEFAULT", "DEBUG", "INFO", "NOTICE", "WARNING", "ERROR", "CRITICAL", "ALERT", "EMERGENCY")


@dataclass(frozen=True)
class Line:
    """A line."""

    time: str
    severity: str
    #: The line, where it is plain.
    text: str
    #: Of a JSON line with a message.
    fields: dict[str, Any] | None = None
    #: It is not user code's.
    service: bool = False


def lines(stream: IO[bytes]) -> Iterator[bytes]:
    """Yield lines as they are written, without their ends; a progress bar's states come with the next line."""
    rest = b""
    while part := stream.read1(LINE_BYTES):  # type: ignore[attr-defined]
        rest += part
        begin = 0
        for end in _END.finditer(rest):
            if end.start() > begin or end[0] != b"\r":
                yield rest[begin : end.start()]
            begin = end.end()
        rest = rest[begin:]
        while len(rest) > LINE_BYTES:
            yield rest[:LINE_BYTES]
            rest = rest[LINE_BYTES:]
    if rest := rest.rstrip(b"\r"):
        yield rest


class LogFile:
    """A log to append to, from any number of threads. Beyond FILE_BYTES it keeps one last line that says so."""

    def __init__(self, path: Path) -> None:
        self._lock = threading.Lock()
        self._file = path.open("ab", buffering=0)
        self._size = self._file.tell()

    def user(self, text: str, severity: str) -> None:
        """Add a line of user code; a JSON object with `message` is taken apart as the service does."""
        fields = _structured(text)
        if fields is not None:
            given = str(fields.pop("severity", severity)).upper()
            severity = given if given in _SEVERITIES else severity
        self._write(Line(_now(), severity, text if fields is None else "", fields))

    def service(self, text: str, severity: str = "INFO") -> None:
        """Add a line of the service about this replica."""
        self._write(Line(_now(), severity, text, service=True))

    def _write(self, line: Line) -> None:
        with self._lock:
            if self._size > FILE_BYTES:
                return
            self._size += self._put(line)
            if self._size > FILE_BYTES:
                self._put(
                    Line(_now(), "WARNING", f"Log is full ({FILE_BYTES} bytes); the rest is dropped.", service=True)
                )

    def _put(self, line: Line) -> int:
        record = {"t": line.time, "s": line.severity, "m": line.text, "f": line.fields, "v": line.service}
        return self._file.write(json.dumps(record).encode() + b"\n") or 0


def read(path: Path, offset: int, most_bytes: int) -> tuple[list[Line], int]:
    """Return the whole lines after a byte offset, some `most_bytes` of them, and the offset after them."""
    try:
        with path.open("rb") as file:
            file.seek(offset)
            content = file.read(most_bytes)
            if not content.endswith(b"\n"):
                content += file.readline()
    except FileNotFoundError:
        return [], offset
    whole = content[: content.rfind(b"\n") + 1]
    return list(_lines(whole)), offset + len(whole)


def _lines(content: bytes) -> Iterator[Line]:
    for record in map(json.loads, content.splitlines()):
        yield Line(record["t"], record["s"], record["m"], record["f"], record["v"])


def _structured(text: str) -> dict[str, Any] | None:
    """Return the fields of a line in strict JSON with a `message`; None for any other."""
    if not text.startswith("{"):
        return None
    try:
        fields = json.loads(text, parse_constant=_no_constant)
        json.dumps(fields, ensure_ascii=False).encode()  # fails for half of a character, as in "\\ud800"
    except (ValueError, RecursionError):
        return None
    return fields if isinstance(fields, dict) and "message" in fields else None


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _now() -> str:
    return timestamp(datetime.now(UTC))
