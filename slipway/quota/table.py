"""The quota table, as preview and `slipway quota` print it."""

from __future__ import annotations

import re
from itertools import groupby

from slipway.quota.grounds import UNLIMITED
from slipway.quota.report import Line, QuotaReport

_RETIRING = "RETIRING"
_HEADS = ("NOW", _RETIRING, "CEILING", "LIMIT", "USED BY OTHERS")

_CASE = re.compile(r" \(\w+=[^()]*\)(?: as [a-z-]+)?")
_NAMES = re.compile(r"(?P<names>[^:]*?)(?P<rest>(?: and \d+ more)?(?: unavailable: .*)?)")


def table(report: QuotaReport) -> str:
    """Plain text without a final newline, one block per region; empty when nothing is drawn.

    `–` is nothing, `∞` unlimited, `?` not known. What retires has a column where anything does.
    """
    retires = any(line.retiring for line in report.lines)
    shown = [head for head in _HEADS if retires or head != _RETIRING]
    blocks = []
    for region, lines in groupby(sorted(report.lines, key=lambda line: line.region), key=lambda line: line.region):
        rows = [_row(line, shown) for line in lines]
        seen = ""
        for row in rows:
            row[0], seen = ("" if row[0] == seen else row[0]), row[0] or seen
        widths = [max(len(row[column]) for row in rows) for column in range(3)]
        numbers = [max(len(head), *(len(row[3 + i]) for row in rows)) for i, head in enumerate(shown)]
        left = sum(widths) + 4
        heads = "  ".join(head.rjust(width) for head, width in zip(shown, numbers, strict=True))
        out = [f"{region.ljust(left)}  {heads}  VERDICT"]
        for row in rows:
            start = "  ".join(text.ljust(width) for text, width in zip(row[:3], widths, strict=True))
            middle = "  ".join(text.rjust(width) for text, width in zip(row[3:-1], numbers, strict=True))
            out.append(f"{start.ljust(left)}  {middle}  {row[-1]}".rstrip())
        blocks.append("\n".join(out))
    return "\n\n".join(blocks)


def _row(line: Line, shown: list[str]) -> list[str]:
    limit = "?" if line.limit is None else "∞" if line.limit == UNLIMITED else f"{line.limit:,}"
    # Whether more can be had matters only where it is not enough.
    increase = f" · {line.increase}" if line.increase and line.verdict != "ok" else ""
    numbers = {
        "NOW": "–" if line.now is None else f"{line.now:,}",
        _RETIRING: _used(line.retiring, limit),
        "CEILING": f"{line.ceiling:,}",
        "LIMIT": limit,
        "USED BY OTHERS": _used(line.others, limit),
    }
    verdict = _without_cases(line.verdict) + increase
    return [line.namespace, line.label, _without_cases(line.who), *(numbers[head] for head in shown), verdict]


def _used(amount: int | None, limit: str) -> str:
    return "?" if amount is None else f"{amount:,}" if limit != "∞" else "–"


def _without_cases(text: str) -> str:
    """`lora spot` for `lora spot (model=2b), lora spot (model=9b)`: the document has them apart, a line no room."""
    found = _NAMES.fullmatch(_CASE.sub("", text))
    if found is None or not _CASE.search(text):
        return text
    return ", ".join(dict.fromkeys(found["names"].split(", "))) + found["rest"]
