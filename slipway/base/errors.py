"""Errors for people: what happened, why, and what to do now.

Exit codes are the ones Pulumi publishes (2 configuration or flags, 3 authentication, 4 resource, 5 policy, 8 cancelled,
9 timeout), 75 for a request that was sent and whose answer is not known, and 130 for Ctrl-C, as shells have it.
"""

from __future__ import annotations

import copyreg
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

Arguments = Mapping[str, str | bool | int | tuple[str, ...] | Mapping[str, str]]
"""Arguments of `slipway.submit`, or of a sweep, by name, that replace the given ones; parameters are below `params`.
With `template` or `like` they are a whole call. A tuple is a list of names."""
_LONGEST_LINE = 2000
HARMFUL = "\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff"
"""Characters that act on a terminal, reorder the text or are half of one, except newline and tab."""
_HARMFUL = re.compile(f"[{HARMFUL}]")
COLOUR = re.compile(r"\x1b\[[0-9;]*m")
"""The sequences that colour a terminal's text."""
Fix = str | tuple[str | Arguments, ...]
_PART = re.compile(r"  (why|fix): (.*)")
_GOES_ON = " " * 7
"""The indent of a part's lines after its first."""


class Fault(NamedTuple):
    """A fault in a few words, its reason, and what to do about it now."""

    what: str
    why: str = ""
    fix: str = ""

    def __str__(self) -> str:
        parts = (("why", self.why), ("fix", self.fix))
        sections = (f"  {name}: {text}".replace("\n", f"\n{_GOES_ON}") for name, text in parts if text)
        return "\n".join((self.what, *sections))

    @classmethod
    def read(cls, what: str, below: Iterable[str]) -> tuple[Fault, int]:
        """Read the first line of a `SlipwayError` as text and the lines below it; return how many of these are its own.
        Only a foreign error has neither a reason nor a fix."""
        parts: dict[str, list[str]] = {}
        section, count = list[str](), 0
        for line in below:
            if part := _PART.fullmatch(line):
                section = parts.setdefault(part[1], [])
                section.append(part[2])
            elif parts and line.startswith(_GOES_ON):
                section.append(line.removeprefix(_GOES_ON))
            else:
                break
            count += 1
        return cls(what.strip(), *("\n".join(parts.get(name, ())).strip() for name in ("why", "fix"))), count


class SlipwayError(Exception):
    """A failure that is shown as three lines, never as a traceback."""

    exit_code: ClassVar[int] = 1
    #: The `slipway.Job` whose `wait` has raised it.
    job: Any = None

    def __init__(self, what: str, *, fix: Fix, why: str = "") -> None:
        """Make an error. None is without a `fix`: what to do now. Arguments in it are spelled as in a call of Python,
        until another caller spells them anew."""
        super().__init__(what)
        self.what = what
        self.why = why
        self._parts = () if isinstance(fix, str) else fix
        self.fix = fix if isinstance(fix, str) else ""
        self.spell(_of_a_call)

    def spell(self, spelled: Callable[[Arguments], str]) -> None:
        """Spell the arguments in `fix` in the caller's form: as flags of a command."""
        if self._parts:
            self.fix = "".join(part if isinstance(part, str) else spelled(part) for part in self._parts)

    def __str__(self) -> str:
        return visible(str(Fault(_bounded(self.what), _bounded(self.why), self.fix)))

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle it by its fields. A pool of processes waits for ever for an error that it can't make again."""
        fields = {name: value for name, value in vars(self).items() if name != "job"}  # It has open connections.
        return copyreg.__newobj__, (type(self), self.what), fields  # type: ignore[attr-defined]

    def render(self) -> str:
        """Return the error as the terminal shows it, without colour."""
        return f"error: {self}"


def together(fixes: Iterable[Fix]) -> Fix:
    """Return several fixes as one, each once and in a line of its own."""
    parts: list[tuple[str | Arguments, ...]] = []
    for fix in fixes:
        part = (fix,) if isinstance(fix, str) else fix
        if part not in parts:
            parts.append(part)
    return tuple(word for part in parts for word in ("\n", *part))[1:]


def _of_a_call(arguments: Arguments) -> str:
    params = arguments.get("params")
    given = {**arguments, **(params if isinstance(params, Mapping) else {})}
    given.pop("params", None)
    template = given.pop("template", None)
    words = [] if template is None else [repr(template)]
    for name, value in given.items():
        written = _in_python(value)
        words.append(f"{name}={written}" if name.isidentifier() else f"**{{{name!r}: {written}}}")
    text = ", ".join(words)
    return f"slipway.submit({text})" if template is not None or "like" in given else text


def _in_python(value: object) -> str:
    """Return a value as Python writes it, several names as a list, and one as itself."""
    if not isinstance(value, tuple):
        return repr(value)
    return repr(value[0]) if len(value) == 1 else repr(list(value))


class ConfigError(SlipwayError):
    """A mistake in a stack file, a flag or an argument."""

    exit_code = 2


class AuthError(SlipwayError):
    """Missing credentials, or an identity without a role."""

    exit_code = 3


class ResourceError(SlipwayError):
    """A cloud resource that is missing, broken, or ended badly (a failed job as well)."""

    exit_code = 4


class PolicyError(SlipwayError):
    """A refusal by a rule: quota, or a policy."""

    exit_code = 5


class Cancelled(SlipwayError):  # noqa: N818 - named as the outcome it reports
    """The cancellation of a job or a command, by anybody."""

    exit_code = 8


class WaitTimeout(SlipwayError):  # noqa: N818 - named as the outcome it reports
    """The end of a wait: Slipway stopped waiting, and the job or cluster goes on."""

    exit_code = 9


class JobTimeout(ResourceError):  # noqa: N818 - named as the outcome it reports
    """The end of a job that reached its time limit."""

    exit_code = 9


class Interrupted(SlipwayError):  # noqa: N818 - named as the outcome it reports
    """The press of Ctrl-C, with the steps that continue, or were done by then."""

    exit_code = 130


class Terminated(Interrupted):
    """The same for SIGTERM."""

    exit_code = 143


class AnswerUnknown(SlipwayError):  # noqa: N818 - named as the outcome it reports
    """A request that was sent, and whose acceptance is not known."""

    exit_code = 75

    def __init__(self, what: str, *, why: str = "", fix: Fix = "to see: slipway jobs list", risk: str = "") -> None:
        """Make an error. `risk` tells the possible result of submitting again."""
        super().__init__(what, why=why, fix=fix)
        self._risk = risk

    def to_go_on(self, how: str) -> None:
        """Tell how to submit again, in the caller's form: a call of Python, or a command."""
        self.fix = f"to see:    slipway jobs list\nto go on:  {how}   ({self._risk})"


def first_of(problems: Sequence[SlipwayError]) -> SlipwayError:
    """Return the first failure other than a cancellation; its reason names the others."""
    first = next((problem for problem in problems if not isinstance(problem, Cancelled)), problems[0])
    also = "; ".join(problem.what for problem in problems if problem is not first)
    if also:
        first.why = "\n".join(filter(None, (first.why, f"also: {also}")))
    return first


def visible(text: str, harmful: re.Pattern[str] = _HARMFUL) -> str:
    """Return text as it may be shown to a person: characters that would act on a terminal as their code points."""
    return harmful.sub(lambda match: match[0].encode("unicode_escape").decode(), text)


def _bounded(text: str) -> str:
    """Cut overlong lines, whatever value they repeat. A fix is not cut: it is there to be copied."""
    return "\n".join(line if len(line) <= _LONGEST_LINE else f"{line[:_LONGEST_LINE]}…" for line in text.split("\n"))
