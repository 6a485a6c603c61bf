"""Answers to one question about one side of a change, and the generic difference of two sides. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

from slipway.model.findings.finding import Subject

Value = str | int | float | bool | None


class State(StrEnum):
    """The kind of an answer."""

    YES = "accepted"
    NO = "rejected"
    #: The value is known only at deployment, or could not be read. Never reported as removed.
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Answer:
    """The product's answer to one question about one side of a change."""

    #: The type of question, such as `submission`.
    question: str
    #: Identifies the question. Answers of both sides with equal keys are compared.
    key: tuple[str, ...]
    #: The resource that a reviewer reads it under.
    subject: Subject
    state: State = State.YES
    #: The message of the part of the product that answered: why a submission is rejected, a warning.
    text: str = ""
    #: Numbers, dates and names that the answer includes, compared one by one.
    values: Mapping[str, Value] = field(default_factory=dict)


@dataclass(frozen=True)
class Difference:
    """Equal changes of the answers to several questions about one subject."""

    question: str
    subject: Subject
    #: The keys of all questions whose answers change in this way, in order.
    keys: tuple[tuple[str, ...], ...]
    #: The first such answer on each side; None if the question exists on one side only.
    before: Answer | None
    after: Answer | None
    #: Names of the values that differ; empty if the state or the text alone differs.
    changed: tuple[str, ...] = ()

    @property
    def is_new(self) -> bool:
        return self.before is None

    @property
    def is_removed(self) -> bool:
        return self.after is None

    @property
    def becomes_rejected(self) -> bool:
        """Return whether an accepted question is rejected now."""
        was_accepted = self.before is not None and self.before.state is State.YES
        return was_accepted and self.after is not None and self.after.state is State.NO


def differences(before: Iterable[Answer], after: Iterable[Answer]) -> tuple[Difference, ...]:
    """Compare the answers of two sides by question and key.

    An unknown answer on either side is no difference. Equal changes of one subject are one difference with all keys.
    """
    old = {(answer.question, answer.key): answer for answer in before}
    new = {(answer.question, answer.key): answer for answer in after}
    grouped: dict[object, Difference] = {}
    for place in dict.fromkeys((*old, *new)):
        found = _difference(place[1], old.get(place), new.get(place))
        if found is None:
            continue
        change = _change(found)
        if change in grouped:
            known = grouped[change]
            grouped[change] = replace(known, keys=(*known.keys, *found.keys))
        else:
            grouped[change] = found
    return tuple(grouped.values())


def _difference(key: tuple[str, ...], before: Answer | None, after: Answer | None) -> Difference | None:
    either = after or before
    if either is None:
        return None
    for side in (before, after):
        if side is not None and side.state is State.UNKNOWN:
            return None
    if before is None or after is None:
        return Difference(either.question, either.subject, (key,), before, after)
    changed = _changed_values(before, after)
    if not changed and before.state is after.state and before.text == after.text:
        return None
    return Difference(either.question, either.subject, (key,), before, after, changed)


def _changed_values(before: Answer, after: Answer) -> tuple[str, ...]:
    names = dict.fromkeys((*after.values, *before.values))
    return tuple(name for name in names if before.values.get(name) != after.values.get(name))


def _change(found: Difference) -> object:
    """Return what must be equal for two differences to be one."""
    sides: list[object] = []
    for side in (found.before, found.after):
        if side is None:
            sides.append(None)
        else:
            sides.append(
                (side.state, side.text, tuple(sorted((name, str(side.values.get(name))) for name in found.changed)))
            )
    return (found.question, found.subject, found.changed, *sides)
