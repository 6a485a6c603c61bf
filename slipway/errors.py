"""Errors that are a person's business: what happened, why, and what to do now.

Exit codes are the ones Pulumi publishes (2 configuration or flags, 3 authentication, 4 resource, 5 policy, 8 cancelled,
9 timeout), 75 for a request that was sent and whose answer is not known, and 130 for Ctrl-C, as shells have it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

Arguments = Mapping[str, str | bool | Mapping[str, str]]
"""Arguments of `slipway.submit`, or of a sweep, by name: to be given in place of what was given."""
_LONGEST_LINE = 2000
HARMFUL = "\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069"
"""Characters that do something to a terminal, or turn the order of what is read, but for newline and tab."""
_HARMFUL = re.compile(f"[{HARMFUL}]")
COLOUR = re.compile(r"\x1b\[[0-9;]*m")
"""What colours a terminal's text."""
Fix = str | tuple[str | Arguments, ...]
_PART = re.compile(r"  (why|fix): (.*)")
_GOES_ON = " " * 7
"""The beginning of a part's lines after its first."""


class Fault(NamedTuple):
    """A fault in a few words, why, and what to do about it now."""

    what: str
    why: str = ""
    fix: str = ""

    def __str__(self) -> str:
        parts = (("why", self.why), ("fix", self.fix))
        told = (f"  {name}: {text}".replace("\n", f"\n{_GOES_ON}") for name, text in parts if text)
        return "\n".join((self.what, *told))

    @classmethod
    def read(cls, what: str, below: Iterable[str]) -> tuple[Fault, int]:
        """From the first line of a `SlipwayError` as text and the lines below it; return how many of these are its
        own. Only an error of somebody else's has neither a reason nor a fix."""
        parts: dict[str, list[str]] = {}
        said, count = list[str](), 0
        for line in below:
            if part := _PART.fullmatch(line):
                said = parts.setdefault(part[1], [])
                said.append(part[2])
            elif parts and line.startswith(_GOES_ON):
                said.append(line.removeprefix(_GOES_ON))
            else:
                break
            count += 1
        return cls(what.strip(), *("\n".join(parts.get(name, ())).strip() for name in ("why", "fix"))), count


class SlipwayError(Exception):
    """A failure to be shown as three lines, never as a traceback."""

    exit_code: ClassVar[int] = 1

    def __init__(self, what: str, *, why: str = "", fix: Fix = "", found: tuple[Any, ...] = ()) -> None:
        """Arguments in `fix` are spelled as in a call of Python, until whoever was not called so spells them anew.
        `found`: findings that say it as data, for other commands."""
        super().__init__(what)
        self.found = found
        self.what = what
        self.why = why
        self._parts = () if isinstance(fix, str) else fix
        self.fix = fix if isinstance(fix, str) else ""
        self.spell(lambda arguments: ", ".join(f"{name}={value!r}" for name, value in arguments.items()))

    def spell(self, spelled: Callable[[Arguments], str]) -> None:
        """Spell the arguments in `fix` as whoever was called gives them: by flags of a command."""
        if self._parts:
            self.fix = "".join(part if isinstance(part, str) else spelled(part) for part in self._parts)

    def __str__(self) -> str:
        return visible(str(Fault(_bounded(self.what), _bounded(self.why), self.fix)))

    def render(self) -> str:
        """The error as the terminal shows it, without colour."""
        return f"error: {self}"


class ConfigError(SlipwayError):
    """A stack file, a flag or an argument is wrong."""

    exit_code = 2


class AuthError(SlipwayError):
    """Credentials are missing, or their identity lacks a role."""

    exit_code = 3


class ResourceError(SlipwayError):
    """Something in the cloud is missing, broken, or ended badly (a failed job as well)."""

    exit_code = 4


class PolicyError(SlipwayError):
    """Refused by a rule: quota, or a policy."""

    exit_code = 5


class Cancelled(SlipwayError):  # noqa: N818 - named as the outcome it reports
    """A job or a command was cancelled, by whomever."""

    exit_code = 8


class Timeout(SlipwayError):  # noqa: N818 - named as the outcome it reports
    """Something took longer than it was allowed to."""

    exit_code = 9


class Interrupted(SlipwayError):  # noqa: N818 - named as the outcome it reports
    """Ctrl-C was pressed. Says what goes on, or was done by then."""

    exit_code = 130


class AnswerUnknown(SlipwayError):  # noqa: N818 - named as the outcome it reports
    """A request was sent, and nobody knows whether it was accepted."""

    exit_code = 75

    def __init__(self, what: str, *, why: str = "", fix: Fix = "", risk: str = "") -> None:
        """`risk` says what may come of submitting again."""
        super().__init__(what, why=why, fix=fix)
        self._risk = risk

    def to_go_on(self, how: str) -> None:
        """Tell how to submit again, in the words of whoever did: a call of Python, or a command."""
        self.fix = f"to see:    slipway jobs list\nto go on:  {how}   ({self._risk})"


def first_of(problems: Sequence[SlipwayError]) -> SlipwayError:
    """The first that is no cancellation; its reason names the others."""
    first = next((one for one in problems if not isinstance(one, Cancelled)), problems[0])
    also = "; ".join(one.what for one in problems if one is not first)
    first.why = "\n".join(filter(None, (first.why, also and f"also: {also}")))
    return first


def visible(text: str, harmful: re.Pattern[str] = _HARMFUL) -> str:
    """Text from anywhere as it may be shown to a person: what would act on a terminal as its number."""
    return harmful.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def _bounded(text: str) -> str:
    """Cut lines without end, whatever value they repeat. A fix is not cut: it is there to be copied."""
    return "\n".join(line if len(line) <= _LONGEST_LINE else f"{line[:_LONGEST_LINE]}…" for line in text.split("\n"))
