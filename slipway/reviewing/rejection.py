"""The finding about a deployment that is rejected: the error and its fix. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from slipway.base.errors import Fault
from slipway.base.formatting import short
from slipway.deploying.engine.failures import failure
from slipway.deploying.engine.preview import Preview
from slipway.model.findings.finding import Finding, Subject
from slipway.model.findings.kinds import KINDS

_LONGEST = 600
_SUBJECT = Subject("deployment")


def preview_rejection(preview: Preview | None) -> Iterator[Finding]:
    """Yield the error of a preview that failed."""
    if preview is None or not preview.errors:
        return
    first, *others = map(failure, preview.errors)
    what, *below = first.splitlines()
    fault, lines_read = Fault.read(what, below)
    rest = list(below[lines_read:])
    for text in others:
        rest += text.splitlines()
    yield rejection(fault, rest)


def rejection(fault: Fault, details: Iterable[str] = ()) -> Finding:
    """Return the finding about an error that rejects the whole deployment."""
    reasons = [line.strip() for line in fault.why.splitlines() if line.strip()]
    sentence = f"is rejected: {short(fault.what, _LONGEST)}"
    if len(reasons) == 1:
        sentence = f"{sentence} ({short(reasons[0], _LONGEST)})"
        reasons = []
    fixes = dict.fromkeys(line.strip() for line in fault.fix.splitlines())
    found = KINDS["deployment-rejected"].of(_SUBJECT, sentence, short("; ".join(fixes), _LONGEST))
    lines = (*reasons, *(line.strip() for line in details))
    return replace(found, details=tuple(short(line, _LONGEST) for line in lines if line))
