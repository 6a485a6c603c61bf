"""A rule of Vertex AI training that can be checked before anything is sent."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from slipway.rules.subject import Subject

Check = Callable[[Subject], Iterable[str]]


@dataclass(frozen=True)
class Rule:
    """`text` is the rule in one sentence, `source` where it comes from: a section of the rules reference.

    `check` gives one line for each breach, with the values and what to do. `of_place` rules depend on where the job
    runs: a template that breaks one can't run there, and is not a wrong template for that.
    """

    id: str
    text: str
    source: str
    check: Check
    of_place: bool = False


@dataclass(frozen=True)
class Breach:
    """A rule that a request breaks, and how."""

    rule: Rule
    text: str

    def __str__(self) -> str:
        return f"{self.text} [{self.rule.id}]"
