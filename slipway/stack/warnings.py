"""What a stack file may say, and a reviewer should have seen."""

from __future__ import annotations

from slipway.stack.document import Document
from slipway.stack.findings import Finding
from slipway.stack.members import EXAMPLE, crowd, misfit
from slipway.stack.part import Part

_MAY = "may submit, spend money and read all results"


def check_warnings(document: Document) -> tuple[Finding, ...]:
    """In the order of the lines. Of what is wrong altogether, the findings speak."""
    root = Part(document)
    for member in root["config"]["slipway:workspace"]["submitters"].entries():
        name = member.of(str) or ""
        who = "" if misfit(name) else crowd(name)
        if who:
            member.wrong(f"{who} {_MAY}", f"keep it if that is meant; else a group: {EXAMPLE}")
    return tuple(root.findings)


def open_to(submitters: tuple[str, ...]) -> tuple[str, ...]:
    """The same, as preview and `up` say it."""
    return tuple(f"{who} {_MAY}: submitter {name}" for name in submitters if (who := crowd(name)))
