"""A notice: one thing that somebody should be told of, as the documents of other commands tell it. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated, Any

from slipway import codec
from slipway.codec import As, At, Form
from slipway.errors import ConfigError
from slipway.findings.document import KIND
from slipway.findings.document import read as read_findings
from slipway.findings.finding import Finding, Subject, shape
from slipway.findings.kinds import KINDS as FINDINGS
from slipway.formatting import quoted
from slipway.season import MACHINES, moment_in_words

RETIRING, SEASON, STOCK_OUT, DRIFT, DOCTOR = "retiring-overdue", "season-ends", "stock-out", "drift", "doctor"
STOPPED, AWAITS = "deployment-stopped", "season-awaits-quota"
KINDS = (STOCK_OUT, STOPPED, AWAITS, DOCTOR, RETIRING, DRIFT, SEASON)
"""The most urgent first."""

SOON = timedelta(days=7)
_OVERDUE, _OF_STACK = "cluster-retires-long", "stack"
_NOT_TOLD = {_OVERDUE, AWAITS, "unread-part", "deployment-unfinished", "cluster-slow", "catalog-older"}
"""Findings that another notice tells, or that come and go with each deployment; and what a mere reader may not see."""
_WAYS = "more time (createWithin), or other machines or another region (alternatives), in stacks/Pulumi.{stack}.yaml"


def line(sentence: str, fix: str = "", means: str = "") -> Finding:
    return FINDINGS["notice"].of(Subject("notice"), sentence, fix, means)


def _line(told: Mapping[str, Any]) -> Finding:
    """Of a finding, or of a notice, in which an earlier version wrote no `means`."""
    return line(str(told["sentence"]), told.get("mend") or "", told.get("means") or "")


_LINES = As(
    lambda lines: tuple(map(_line, lines)),
    lambda lines: [{"sentence": one.sentence, "mend": one.fix or None, "means": one.means or None} for one in lines],
    "a list of lines",
)


@dataclass(frozen=True)
class Notice:
    """`kind` is one of `KINDS`; `subject` tells it from others of its kind in the stack; `shape` stays the same until
    it becomes something else."""

    kind: Annotated[str, Form(KINDS.__contains__, "a kind that is known")]
    stack: str
    subject: str
    shape: str
    title: str
    lines: Annotated[tuple[Finding, ...], _LINES]

    @property
    def key(self) -> tuple[str, str, str]:
        return self.kind, self.stack, self.subject


_PAIRS = As(
    lambda pairs: frozenset((str(one["kind"]), str(one["stack"])) for one in pairs),
    lambda pairs: [{"kind": kind, "stack": stack} for kind, stack in sorted(pairs)],
    "a list of kinds with their stacks",
)


@dataclass(frozen=True)
class Notices:
    """What there is to tell, and of which kinds and stacks that is all: `looked` at as (kind, stack). What was not
    looked at may be as it was."""

    notices: tuple[Notice, ...] = ()
    looked: Annotated[frozenset[tuple[str, str]], At("lookedAt"), _PAIRS] = frozenset()

    def __add__(self, other: Notices) -> Notices:
        """The first of two that speak of the same thing is told."""
        known = {one.key for one in self.notices}
        new = tuple(one for one in other.notices if one.key not in known)
        return Notices(self.notices + new, self.looked | other.looked)


def of_document(body: Any, source: str) -> Notices:
    """Of what `slipway doctor`, `schedule`, `drift` or `notices` prints with `--output json`, or of the findings that a
    deployment wrote. Raises ConfigError."""
    kind = body.get("kind") if isinstance(body, dict) else None
    try:
        if kind == "doctor":
            return _of_doctor(body)
        if kind == "schedule":
            return _of_schedule(body)
        if kind == "drift":
            return _of_drift(body)
        if kind == KIND:
            return _of_findings(body)
        if kind == "notices":
            return codec.read(Notices, body)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        why = f"a {kind} document{' lacks' if isinstance(error, KeyError) else ':'} {error}"
        raise ConfigError(f"{source} can't be read", why=why, fix="write it with this version again") from error
    raise ConfigError(
        f"{source} has nothing to tell of",
        why=f"it is of the kind {quoted(kind)}, not doctor, schedule, drift or notices",
        fix="slipway doctor --output json > FILE",
    )


def _of_findings(body: Mapping[str, Any]) -> Notices:
    """Of a deployment: what it had no machines for."""
    stack = str(body["stack"])
    found = tuple(_stock_out(one, stack) for one in read_findings(body) if one.kind == STOCK_OUT)
    return Notices(found, frozenset((kind, stack) for kind in body["lookedAt"] if kind in KINDS))


def _stock_out(one: Finding, stack: str) -> Notice:
    name, ways = one.subject.name, _WAYS.format(stack=stack)
    again = (
        "the scheduled deployment tries the same commit again, every hour, unless that does what asks for an approval"
    )
    told = shape([(one.facts["id"], one.facts["how"])])
    lines = (line(one.sentence, ways), line(again))
    return Notice(STOCK_OUT, stack, name, told, f"{stack}: cluster {name} can't be made", lines)


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


def _of_schedule(body: Mapping[str, Any]) -> Notices:
    stack, now = str(body["stack"]), datetime.fromisoformat(body["time"])
    found = (
        *_awaiting(body["dormant"], stack),
        *_not_ready(body["due"], stack),
        *_seasons(body["due"], stack, now),
    )
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
            lines = (line(str(one["words"]), mend), line(again))
            yield Notice(AWAITS, stack, name, shape((metric,) for metric in lacks), title, lines)


def _not_ready(due: Iterable[Mapping[str, Any]], stack: str) -> Iterator[Notice]:
    """Told from the deployment of its entry on: an answer of Google's may take days, or be no."""
    for one in due:
        if one["what"] == "season-begins" and one.get("ready") is False:
            name, when = str(one["cluster"]), moment_in_words(datetime.fromisoformat(one["time"]))
            sentence = f"the season of cluster `{name}` begins {when}: {one['why']}"
            title = f"{stack}: cluster {name} is not ready for its season"
            told = ((when, lack["metric"], (lack["request"] or {}).get("state", "")) for lack in one["lacks"])
            yield Notice(AWAITS, stack, name, shape(told), title, (line(sentence, "slipway quota"),))


def _seasons(due: Iterable[Mapping[str, Any]], stack: str, now: datetime) -> Iterator[Notice]:
    for one in due:
        if one["what"] == "season-ends" and (at := datetime.fromisoformat(one["time"])) - now <= SOON:
            name, when = str(one["cluster"]), moment_in_words(at)
            sentence = f"the season of cluster `{name}` ends {when}: from then on its templates use their other ways"
            mend = f"a later `until` of {name} in stacks/Pulumi.{stack}.yaml, if it is to stay"
            lines = (
                line(sentence, mend),
                line("a job that runs by then ends on it, and the cluster goes when it is idle"),
            )
            yield Notice(SEASON, stack, name, shape([(when,)]), f"{stack}: season of cluster {name} ends {when}", lines)


def _of_drift(body: Mapping[str, Any]) -> Notices:
    stack, drift = str(body["stack"]), body["drift"]
    lines = tuple(
        line(f"{one['on']}: {one['sentence']}", one.get("mend") or _then(one["nextDeployment"])) for one in drift
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
