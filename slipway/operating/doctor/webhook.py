"""A webhook that is told what the doctor finds, when that differs from the last time: chat rooms take such messages.

The last findings are kept in a file of the user's own. Whoever looks may only read the stack, so its buckets can't have
them. Nothing ever shows the address, which may hold a secret.
"""

from __future__ import annotations

import html
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from urllib3.exceptions import HTTPError

from slipway.authoring.packages.slipway_notify import private
from slipway.base.errors import ConfigError, ResourceError, SlipwayError
from slipway.base.files import make_folder, own_folder, write_atomically
from slipway.base.formatting import counted
from slipway.google.transport import Transport
from slipway.model.findings.finding import Finding, Grade, shape_of

_LINES = 20
_TIMEOUT = (10.0, 30.0)


@dataclass(frozen=True)
class Webhook:
    """A webhook of a stack."""

    url: str
    #: The file with the shape of the last findings that were posted.
    kept: Path
    transport: Transport

    @classmethod
    def of(cls, url: str, name: str, environ: Mapping[str, str]) -> Webhook:
        """Return the webhook. Raises ConfigError for no address, or for one that would show its secret on the way."""
        if not private(url):
            raise ConfigError(
                "the webhook is no https:// address",
                why="--webhook or SLIPWAY_WEBHOOK has it; it is not shown, as it may hold a secret",
                fix="export SLIPWAY_WEBHOOK=https://…, as the chat room gives it",
            )
        folder = own_folder(environ, "XDG_STATE_HOME", ".local/state")
        if folder is None:
            why, fix = "this user has no home folder", "export XDG_STATE_HOME=/a/folder/of/yours"
            raise SlipwayError("there is no place to keep what the webhook was told", why=why, fix=fix)
        return cls(url=url, kept=folder / "doctor" / name, transport=Transport(environ))

    def tell(self, stack: str, findings: Sequence[Finding]) -> bool:
        """Post the findings but notes, where they differ from the last; return whether they did. Raises
        ResourceError."""
        shape = shape_of(findings)
        last = self.kept.read_text("utf-8") if self.kept.exists() else shape_of(())
        if shape == last:
            return False
        text = message(stack, [finding for finding in findings if finding.grade is not Grade.NOTE])
        body, headers = json.dumps({"text": text}).encode(), {"Content-Type": "application/json"}
        try:
            status = self.transport.request("POST", self.url, data=body, headers=headers, timeout=_TIMEOUT).status
            why = "" if status < 300 else f"it answers with HTTP {status}"
        except HTTPError as problem:  # Its own words have the address.
            why = f"it can't be reached ({type(getattr(problem, 'reason', None) or problem).__name__})"
        if why:
            fix = "see that the chat room still has it; the next slipway doctor tries again"
            raise ResourceError("the webhook could not be told", why=why, fix=fix)
        make_folder(self.kept.parent)
        write_atomically(self.kept, shape)
        return True


def message(stack: str, findings: Sequence[Finding]) -> str:
    """Return the findings as text. Names in it are anybody's, so nothing of it may be a mention. Pure."""
    if not findings:
        return f"stack {stack}: slipway doctor finds nothing any more"
    lines = [f"stack {stack}: slipway doctor finds {counted(len(findings), 'thing')}"]
    for finding in findings[:_LINES]:
        lines.append(f"{finding.grade.doctor_word}: {finding.sentence}")
        if finding.fix:
            lines.append(f"    fix: {finding.fix}")
    more = len(findings) - _LINES
    if more > 0:
        lines.append(f"and {more} more")
    return html.escape("\n".join(lines), quote=False)
