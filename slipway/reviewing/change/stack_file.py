"""Settings of a stack file that no catalog has, as they are edited. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from slipway.answers.settings import Setting
from slipway.model.findings.finding import Subject
from slipway.reviewing.change.files import Files
from slipway.reviewing.change.leaves import leaves
from slipway.reviewing.change.secret_values import bare

_WITHOUT_FACTS = re.compile(
    r"^config\.(slipway:quota\.(?:justification|contactEmail)|slipway:machines\..+?)(?:\.machine)?$"
)
"""The keys whose values are in no facts: only what follows from them may be there."""
_MERGED = "<<"
_LONGEST = 200


def settings_without_facts(stack: str, files: Files) -> Iterator[Setting]:
    """Yield the edited settings of a stack's file that the facts of a deployment do not have."""
    for ending in ("yaml", "yml"):
        sides = files.texts.get(f"stacks/Pulumi.{stack}.{ending}")
        if sides is None:
            continue
        before = _values(sides.before)
        after = _values(sides.after)
        for key in dict.fromkeys((*before, *after)):
            was = before.get(key, "")
            now = after.get(key, "")
            if was != now:
                old = bare(was, key, _LONGEST, now)
                yield Setting(Subject("stack", stack), key, old, bare(now, key, _LONGEST, was))


def _values(text: str) -> dict[str, str]:
    """Return the values by key. A merged mapping (`<<`) gives the same keys as one that is written out."""
    found: dict[str, str] = {}
    for place, value in leaves(text).items():
        name = ".".join(filter(_MERGED.__ne__, place))
        for key in _WITHOUT_FACTS.findall(name):
            found[key] = value
    return found
