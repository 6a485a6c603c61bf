"""The severity of a line by its own text, as the service takes all that a program writes to stderr for errors: progress
bars, and the lines of loggers. Pure."""

from __future__ import annotations

import re

from slipway.google.logging import LogEntry

_HEAD = 300
"""The characters of a line that are looked at."""
SEVERITIES = ("DEFAULT", "DEBUG", "INFO", "NOTICE", "WARNING", "ERROR", "CRITICAL", "ALERT", "EMERGENCY")
"""The service's, from the least to the worst."""
_OTHERS = {"WARN": "WARNING", "FATAL": "CRITICAL", "TRACE": "DEBUG"}
_LETTERS = {"I": "INFO", "W": "WARNING", "E": "ERROR", "F": "CRITICAL"}
_LEVELS = "(DEBUG|INFO|NOTICE|WARN(?:ING)?|ERROR|CRITICAL|FATAL|TRACE)"
_LEVEL = (
    re.compile(
        rf"[^A-SU-Ya-z]{{0,60}}(?:\[?rank\s?\d+\]?:?)?[^A-Za-z]{{0,20}}{_LEVELS}\b"
    ),  # Behind a time and a rank.
    re.compile(rf".{{0,100}}? - {_LEVELS} ?[-:]"),  # Behind a logger's name.
    re.compile(rf"\S{{1,80}} \[\d+\] NCCL {_LEVELS} "),
)
_LETTER = re.compile(r"(?:\[rank\d+\]:)?\[?([IWEF])\d{4} \d\d:\d\d:\d\d|\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+: ([IWEF]) ")
"""A line of glog or absl, `I1127 12:00:00.123456 7 file.cc:1] …`, or of TensorFlow."""
_WARNING = re.compile(r"^\S*:\d+: \w*Warning: |^\s+warnings\.warn\(")
_BAR = re.compile(
    r"\d{1,3}%\s*\|.*\|.*\]\s*$|"  # tqdm
    r"\d+(?:\.\d+)?\s?(?:it|s|[a-z]?B)/(?:s|it)\b.*\]\s*$|"
    r"\d+/\d+ [\[━─=>. ]{4,}|"  # Keras
    r"[━╸╺]{5,}"  # rich, pip
)
_REASON = re.compile(
    r"^Traceback \(most recent call last\)|^(?:[\w.]+(?:Error|Exception)|error|fatal)\b:?|\b(?:CRITICAL|FATAL)\b", re.M
)


def severity(entry: LogEntry) -> str:
    """Return the severity: of what the service calls an error the text's own, where that has one."""
    if entry.severity != "ERROR":
        return entry.severity
    text = entry.text[:_HEAD]
    if is_bar(entry):
        return "INFO"
    if letter := _LETTER.match(text):
        return _LETTERS[letter[1] or letter[2]]
    if level := next(filter(None, (pattern.match(text) for pattern in _LEVEL)), None):
        return _OTHERS.get(level[1], level[1])
    return "WARNING" if _WARNING.search(text) else "ERROR"


def is_bar(entry: LogEntry) -> bool:
    """Tell whether a line is a state of a progress bar, or several of them."""
    return _BAR.search(entry.text.rstrip("\r\n")[-_HEAD:]) is not None


def is_at_least(entry: LogEntry, least: str) -> bool:
    """Tell whether a line is at least as severe; any is for an empty text."""
    return not least or _rank(severity(entry)) >= _rank(least)


def _rank(name: str) -> int:
    return SEVERITIES.index(name) if name in SEVERITIES else 0


def tells_reason(text: str) -> bool:
    """Tell whether a text is of an error that ends a program, however long ago it was written."""
    return _REASON.search(text) is not None
