"""A notice: one thing that somebody should be told of, as the documents of other commands tell it. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from slipway.errors import ConfigError
from slipway.findings.finding import shape
from slipway.formatting import join, quoted
from slipway.notices.own_error import own_errors
from slipway.season import MACHINES, moment_in_words

RETIRING, SEASON, STOCK_OUT, DRIFT, DOCTOR = "retiring-overdue", "season-ends", "stock-out", "drift", "doctor"
STOPPED, AWAITS = "deployment-stopped", "season-awaits-quota"
KINDS: Mapping[str, str] = {
    STOCK_OUT: "`pulumi up` gave up making a cluster: there are no machines, or there is no quota",
    STOPPED: "the scheduled deployment stopped for another reason than machines",
    AWAITS: "a season has begun and there is too little quota for its cluster, or there are no machines",
    DOCTOR: "`slipway doctor` finds something else that is broken or warns",
    RETIRING: "an old generation is there after `retireWithin`, or after a day",
    DRIFT: "somebody changed by hand what a stack deployed",
    SEASON: "a season ends within a week",
}
"""Each kind with when it is told, the most urgent first."""

SOON = timedelta(days=7)
_OVERDUE, _OF_STACK = "cluster-retires-long", "stack"
_NOT_TOLD = {_OVERDUE, "unread-part", "deployment-unfinished", "cluster-slow", "catalog-older"}
"""Findings that another notice tells, or that come and go with each deployment; and what a mere reader may not see."""
_NOT_MADE = re.compile(
    r"cluster (?P<id>(?P<name>[a-z0-9-]+?)-[0-9a-f]{7}(?:-\d+)?) could not be made(?!.*its season has begun)"
    r"(?P<how>: it (?:ended in ERROR|is refused)[^()\n]*|, nor [^()\n]+)"
)
"""What was not made for want of an answer is no want of machines; what a season brings has a notice of its own."""
_WAYS = "more time (createWithin), or other machines or another region (alternatives), in stacks/Pulumi.{stack}.yaml"
_ENDED = re.compile(r"^ *Duration: ", re.MULTILINE)
_ERROR = re.compile(r"^ *error: ", re.MULTILINE)


@dataclass(frozen=True)
class Line:
    """A sentence for people, what mends it, and what that does or on which condition it is right; both may be empty."""

    sentence: str
    mend: str = ""
    means: str = ""


@dataclass(frozen=True)
class Notice:
    """`kind` is one of `KINDS`; `subject` tells it from others of its kind in the stack; `shape` stays the same until
    it becomes something else."""

    kind: str
    stack: str
    subject: str
    shape: str
    title: str
    lines: tuple[Line, ...]

    @property
    def key(self) -> tuple[str, str, str]:
        return self.kind, self.stack, self.subject


@dataclass(frozen=True)
class Notices:
    """What there is to tell, and of which kinds and stacks that is all: `looked` at as (kind, stack). What was not
    looked at may be as it was."""

    notices: tuple[Notice, ...] = ()
    looked: frozenset[tuple[str, str]] = frozenset()

    def __add__(self, other: Notices) -> Notices:
        """The first of two that speak of the same thing is told."""
        known = {one.key for one in self.notices}
        new = tuple(one for one in other.notices if one.key not in known)
        return Notices(self.notices + new, self.looked | other.looked)


def of_document(body: Any, source: str) -> Notices:
    """Of what `slipway doctor`, `schedule`, `drift` or `notices` prints with `--output json`. Raises ConfigError."""
    kind = body.get("kind") if isinstance(body, dict) else None
    try:
        if kind == "doctor":
            return _of_doctor(body)
        if kind == "schedule":
            return _of_schedule(body)
        if kind == "drift":
            return _of_drift(body)
        if kind == "notices":
            return read(body)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ConfigError(
            f"{source} can't be read", why=f"a {kind} document lacks {error}", fix="write it with this version again"
        ) from error
    raise ConfigError(
        f"{source} has nothing to tell of",
        why=f"it is of the kind {quoted(kind)}, not doctor, schedule, drift or notices",
        fix="slipway doctor --output json > FILE",
    )


def of_deployment(text: str, stack: str) -> Notices:
    """Of what `pulumi up` of a stack printed. One that ended otherwise tells nothing of machines, nor does one that was
    killed."""
    found = {one["name"]: one for one in _NOT_MADE.finditer(text)}
    if not found:
        ended = _ENDED.search(text) and not _ERROR.search(text)
        return Notices(looked=frozenset({(STOCK_OUT, stack)}) if ended else frozenset())
    return Notices(
        tuple(_stock_out(one, text, stack) for _, one in sorted(found.items())), frozenset({(STOCK_OUT, stack)})
    )


def _stock_out(found: re.Match[str], text: str, stack: str) -> Notice:
    name, how = found["name"], found["how"].strip(" ,:")
    begins = f"cluster {found['id']} could not be made"
    why = next((one.why for one in own_errors(text) if begins in one.what), "")
    sentence = f"cluster `{found['id']}` could not be made{_how(how, why)}"
    mend = _WAYS.format(stack=stack)
    again = (
        "the scheduled deployment tries the same commit again, every hour, unless that does what asks for an approval"
    )
    lines = (Line(sentence, mend), Line(again))
    return Notice(STOCK_OUT, stack, name, shape([(found["id"], how)]), f"{stack}: cluster {name} can't be made", lines)


def _how(how: str, why: str) -> str:
    """With alternatives `why` has a line for each option, which says how it ended."""
    if how.startswith("nor "):
        reasons = "; ".join(line.rstrip(".") for line in why.splitlines())
        return f", {how}{f': {reasons}' if reasons else ''}"
    return f": {how}{f' ({why})' if why else ''}"


def _of_doctor(body: Mapping[str, Any]) -> Notices:
    stack, found = str(body["stack"]), [one for one in body["findings"] if one["grade"] != "note"]
    if any(one["id"] == "unread" for one in found):
        return Notices()  # What is not seen may be there all the same.
    overdue = tuple(
        Notice(
            RETIRING,
            stack,
            str(one["subject"]),
            shape([(str(one["subject"]), one["mend"] or "")]),
            f"{stack}: {one['subject']} should have retired by now",
            (_line(one),),
        )
        for one in found
        if one["id"] == _OVERDUE
    )
    rest = [one for one in found if one["id"] not in _NOT_TOLD]
    told = shape((one["id"], one["subject"]) for one in rest)
    title = f"{stack}: slipway doctor found something"
    whole = (Notice(DOCTOR, stack, _OF_STACK, told, title, tuple(map(_line, rest))),) if rest else ()
    return Notices(overdue + whole, frozenset({(RETIRING, stack), (DOCTOR, stack)}))


def _line(told: Mapping[str, Any]) -> Line:
    """Of a finding, or of a notice, in which an earlier version wrote no `means`."""
    return Line(str(told["sentence"]), told["mend"] or "", told.get("means") or "")


def _of_schedule(body: Mapping[str, Any]) -> Notices:
    stack, now = str(body["stack"]), datetime.fromisoformat(body["time"])
    found = (*_awaiting(body["dormant"], stack), *_seasons(body["due"], stack, now))
    return Notices(found, frozenset({(AWAITS, stack), (SEASON, stack)}))


def _awaiting(dormant: Iterable[Mapping[str, Any]], stack: str) -> Iterator[Notice]:
    """The scheduled deployment succeeds while a season waits: nothing else tells of it."""
    for one in dormant:
        if one["lacks"]:
            name, lacks = str(one["cluster"]), sorted(map(str, one["lacks"]))
            what, mend = "quota", "end what draws it, or ask for more: slipway quota"
            if lacks == [MACHINES]:
                what, mend = "machines", _WAYS.format(stack=stack)
            title = f"{stack}: cluster {name} waits for {what}, though its season has begun"
            again = "all else is deployed, and the scheduled deployment looks again every hour"
            lines = (Line(str(one["words"]), mend), Line(again))
            yield Notice(AWAITS, stack, name, shape((metric,) for metric in lacks), title, lines)


def _seasons(due: Iterable[Mapping[str, Any]], stack: str, now: datetime) -> Iterator[Notice]:
    for one in due:
        if one["what"] == "season-ends" and (at := datetime.fromisoformat(one["time"])) - now <= SOON:
            name, when = str(one["cluster"]), moment_in_words(at)
            sentence = f"the season of cluster `{name}` ends {when}: from then on its templates use their other ways"
            mend = f"a later `until` of {name} in stacks/Pulumi.{stack}.yaml, if it is to stay"
            lines = (
                Line(sentence, mend),
                Line("a job that runs by then ends on it, and the cluster goes when it is idle"),
            )
            yield Notice(SEASON, stack, name, shape([(when,)]), f"{stack}: season of cluster {name} ends {when}", lines)


def _of_drift(body: Mapping[str, Any]) -> Notices:
    stack, drift = str(body["stack"]), body["drift"]
    lines = tuple(
        Line(f"{one['on']}: {one['sentence']}", one.get("mend") or _then(one["nextDeployment"])) for one in drift
    )
    title = f"{stack}: somebody changed by hand what is deployed"
    found = (Notice(DRIFT, stack, _OF_STACK, str(body["shape"]), title, lines),) if lines else ()
    return Notices(found, frozenset() if body["unread"] and not lines else frozenset({(DRIFT, stack)}))


def _then(word: str) -> str:
    others = {
        "stays": "take it back by hand, or declare it; a deployment leaves it as it is",
        "refuses": "declare it in the stack file; no deployment does anything until then",
    }
    return others.get(word, "pulumi up puts it back; declare it where it is to stay")


def document(told: Notices) -> dict[str, Any]:
    """What `--output json` prints, and `read` reads."""
    return {
        "notices": [
            {
                "kind": one.kind,
                "stack": one.stack,
                "subject": one.subject,
                "shape": one.shape,
                "title": one.title,
                "lines": [
                    {"sentence": line.sentence, "mend": line.mend or None, "means": line.means or None}
                    for line in one.lines
                ],
            }
            for one in told.notices
        ],
        "lookedAt": [{"kind": kind, "stack": stack} for kind, stack in sorted(told.looked)],
    }


def read(body: Mapping[str, Any]) -> Notices:
    """Raises ValueError, KeyError or TypeError."""
    if strange := {str(one["kind"]) for one in body["notices"]} - set(KINDS):
        raise ValueError(f"a kind that is known, which {join(sorted(strange))} is not")
    return Notices(
        tuple(
            Notice(
                kind=str(one["kind"]),
                stack=str(one["stack"]),
                subject=str(one["subject"]),
                shape=str(one["shape"]),
                title=str(one["title"]),
                lines=tuple(map(_line, one["lines"])),
            )
            for one in body["notices"]
        ),
        frozenset((str(one["kind"]), str(one["stack"])) for one in body["lookedAt"]),
    )
