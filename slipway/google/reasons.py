"""Google's reasons for a refusal, and the way out of each: reasons.json has a row for each, of which the first counts.

The same reason comes in several forms: as details of an answer (`ErrorInfo`, violations), in a provider's error as the
text of these, and in services without details as a sentence. So each is looked for in all that was said, but a reason
and a constraint only where Google writes them: names of jobs, buckets and files may have the same words.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from slipway.base.formatting import few

# A folder may be called so too.
_BEFORE = r"(?:\b(?:organizations|folders|projects)/[\w:.-]+/|(?<![\w/.-]))"
_CONSTRAINTS = rf"{_BEFORE}(?:c|customC)onstraints/"
_NAMED = {
    "constraint": rf"{_BEFORE}((?:c|customC)onstraints/[\w.]*\w)",
    "uid": r'vpcServiceControlsUniqueIdentifier: ?([\w-]+)|"uid": ?"([\w-]+)"',
    "service": r'"service": ?"([\w.-]+)"|apis/api/([\w.-]+)/',
    "member": (
        r'User ([^\s"]+) is not in permitted|configvalue=([^\s"&]+)'
        r"|([^\s@]+@[^\s@]+) (?:of type \W\w+\W )?does not exist"
        r"|([\w-]+@gcp-sa-[\w.-]+\w)"
    ),
    "location": (
        r"location set to ([\w-]+)|'(?:locations/)?([\w-]+)' violates constraint|Location ([\w-]+) violates"
        r'|"location": ?"([\w-]+)"'
    ),
    "bucket": r"""Object '([\w.-]+)/|Bucket '([\w.-]+)'|[Bb]ucket "(?:b/)?([\w.-]+)\"""",
    "object": r"Object '([^']+)'",
    "project": (
        r"(?:use|access to) project ([\w:.-]*\w)|on resource project (.+?)\.(?:\W|$)"
        r'|"consumer": ?"projects/([\w:.-]+)"'
    ),
}
_HERE = r"orgpolicy:projects/([\w:.-]*\w)|on resource '(?://[\w.]+/)?projects/([a-z][\w:.-]*\w)"
_OF_STORAGE = re.compile(r"[Ss]torage [Bb]ucket|\bblob \(key |\bstorage/v1/b/")
"""The provider's and the backend's words for Cloud Storage, whose answers name no service."""
_UNTOLD = {"service": "this API", "project": "the project", "method": "*"}
_HALF = 4_000
_SENTENCE = re.compile(r'"description": ?"((?:[^"\\]|\\.)*)"')


@dataclass(frozen=True)
class Reason:
    """A known reason of a refusal."""

    what: str
    #: Has `{where}` where lines of a stack file belong.
    fix: str
    #: The keys of a stack file, and the values in it, that the fix is about.
    keys: tuple[str, ...] = ()
    #: The project does not use the API at all.
    off: bool = False
    #: Another writer was faster: the same change can be made again.
    raced: bool = False

    def way_out(self, places: Iterable[str] = ()) -> str:
        """Return the fix with places in a stack file, each FILE:LINE."""
        where = few(places, most=6)
        return self.fix.replace("{where}", f" ({where})" if where else "")


@cache
def _rows() -> tuple[tuple[re.Pattern[str], Mapping[str, Any]], ...]:
    rows = json.loads(Path(__file__).with_name("reasons.json").read_text("utf-8"))
    return tuple((re.compile("|".join(_patterns(row))), row) for row in rows)


def _patterns(row: Mapping[str, Any]) -> Iterator[str]:
    if reasons := row.get("reasons"):
        yield rf"\b(?:reason|type)\W{{1,5}}(?:{'|'.join(reasons)})\b"
    if constraints := row.get("constraints"):
        any_of = "|".join(rf"{re.escape(name)}(?![\w/-]|\.\w)" for name in constraints if name != "*")
        yield f"{_CONSTRAINTS}(?:{any_of})"
    if pattern := row.get("pattern"):
        yield pattern


def reason_of(said: str, permission: str = "", member: str = "", project: str = "") -> Reason | None:
    """Return the reason in what was said, details included; None for an unknown one.

    `permission`, the call's own, the `member` of a grant and the `project` of a resource stand in for what nothing
    names.
    """
    said = shortened(said)
    row = next((row for pattern, row in _rows() if pattern.search(said)), None)
    if row is None:
        return None
    named = {name: _first(pattern, said) for name, pattern in _NAMED.items()}
    named["member"] = unquote(named["member"]) or member.partition(":")[2]
    called = {"service": f"{permission.partition('.')[0]}.googleapis.com", "method": f"* (here: {permission})"}
    if not named["service"] and _OF_STORAGE.search(said):
        named["service"] = "storage.googleapis.com"
    # Another service is named where the call's token could not be had.
    of_call = permission and named["service"] in ("", called["service"])
    values = {
        **_UNTOLD,
        "constraint": f"constraints/{row.get('constraints', [''])[0]}",
        **(called if of_call else {}),
        **row,
        **{name: text for name, text in named.items() if text},
    }
    values["policy"] = values.get("constraint", "").rpartition("/")[2]
    keys = (*row.get("keys", ()), *([named["member"]] if "member" in row and named["member"] else ()))
    fix = row["fix"].format(**values, where="{where}")
    if here := project or _first(_HERE, said):
        fix = re.sub(r"\bPROJECT\b", lambda _: here, fix)
    return Reason(row["what"].format(**values), fix, keys, "off" in row, "raced" in row)


def shortened(said: str) -> str:
    """Return a text of thousands of characters without its middle: patterns take minutes for one that is long."""
    return said if len(said) <= 2 * _HALF else f"{said[:_HALF]} … {said[-_HALF:]}"


def _first(pattern: str, said: str) -> str:
    match = re.search(pattern, said)
    return next(filter(None, match.groups()), "") if match else ""


def with_details(message: str, details: Iterable[Mapping[str, Any]]) -> str:
    """Return an answer's message and its details as one text."""
    return " ".join((message, *(json.dumps(detail, ensure_ascii=False) for detail in details)))


def sentences(message: str, details: str) -> str:
    """Return a message with the descriptions in its details that it does not say itself."""
    told = (text for text in _SENTENCE.findall(details) if text not in message and " " in text)
    return " ".join((message.strip(), *dict.fromkeys(told)))
