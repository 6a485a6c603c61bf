"""Notices: things that somebody should be told of, from the documents of other commands. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated, Any

from slipway.base import codec
from slipway.base.codec import As, At, Form
from slipway.base.errors import ConfigError
from slipway.base.formatting import join, quoted
from slipway.model.findings.finding import Finding, Subject, shape
from slipway.model.findings.kinds import AWAITS, DOCUMENT
from slipway.model.findings.kinds import KINDS as FINDINGS
from slipway.model.findings.kinds import of_document as read_findings
from slipway.model.season import MACHINES, moment_in_words

RETIRING, SEASON, STOCK_OUT, DRIFT, DOCTOR = "retiring-overdue", "season-ends", "stock-out", "drift", "doctor"
STOPPED = "deployment-stopped"
KINDS = (STOCK_OUT, STOPPED, AWAITS, DOCTOR, RETIRING, DRIFT, SEASON)
"""The kinds, the most urgent first."""

SOON = timedelta(days=7)
_OVERDUE, _OF_STACK = "cluster-retires-long", "stack"
_NOT_TOLD = {_OVERDUE, AWAITS, "unread-part", "deployment-unfinished", "cluster-slow", "catalog-older"}
"""Findings that another notice covers, or that come and go with each deployment; and failures for want of a reader's
permission."""
_WAYS = "more time (createWithin), or other machines or another region (alternatives), in stacks/Pulumi.{stack}.yaml"
_MENDS_DRIFT = {
    "stays": "take it back by hand, or declare it; a deployment leaves it as it is",
    "refuses": "declare it in the stack file; no deployment does anything until then",
}
_JOB = re.compile(r"up \((?P<stack>[a-z0-9-]+)\) / up")
_FAILED = frozenset({"failure", "timed_out"})
_ANNOUNCED = "Announced"
_PUT_BACK = "pulumi up puts it back; declare it where it is to stay"


def line(sentence: str, fix: str = "", means: str = "") -> Finding:
    return FINDINGS["notice"].of(Subject("notice"), sentence, fix, means)


def _line(told: Mapping[str, Any]) -> Finding:
    """Return the line of a finding's document, or a notice's."""
    return line(str(told["sentence"]), told["mend"] or "", told["means"] or "")


_LINES = As(
    lambda lines: tuple(map(_line, lines)),
    lambda lines: [one.document("sentence", "mend", "means") for one in lines],
    "a list of lines",
)


@dataclass(frozen=True)
class Notice:
    """A notice. `kind` is one of `KINDS`; `subject` tells it from others of its kind in the stack; `shape` stays the
    same until the matter changes."""

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
    """Notices, and the kinds and stacks that they cover completely, as (kind, stack). Others were not checked and may
    be unchanged."""

    notices: tuple[Notice, ...] = ()
    looked: Annotated[frozenset[tuple[str, str]], At("lookedAt"), _PAIRS] = frozenset()

    def __add__(self, other: Notices) -> Notices:
        """Return both, with the first of two notices on one subject."""
        known = {one.key for one in self.notices}
        new = tuple(one for one in other.notices if one.key not in known)
        return Notices(self.notices + new, self.looked | other.looked)


def of_document(body: Any, source: str) -> Notices:
    """Read the output of `slipway doctor`, `schedule`, `drift` or `notices` with `--output json`, or the findings that
    a deployment wrote. Raises ConfigError."""
    kind = body.get("kind") if isinstance(body, dict) else None
    if not isinstance(kind, str) or kind not in _DOCUMENTS:
        raise ConfigError(
            f"{source} has nothing to tell of",
            why=f"it is of the kind {quoted(kind)}, not doctor, schedule, drift or notices",
            fix="slipway doctor --output json > FILE",
        )
    try:
        return _DOCUMENTS[kind](body)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        why = f"a {kind} document{' lacks' if isinstance(error, KeyError) else ':'} {error}"
        raise ConfigError(f"{source} can't be read", why=why, fix="write it with this version again") from error


def of_run(jobs: Iterable[Mapping[str, Any]], told: Notices, by_hand: str) -> Notices:
    """Tell which stacks' scheduled deployments stopped, from a run's jobs as GitHub lists them, and that those that
    went well are over. `told`: what is told already; machines that are not to be had have a notice of their own.
    `by_hand`: how main is deployed by hand. Raises KeyError, TypeError or AttributeError."""
    short = {one.stack for one in told.notices if one.kind == STOCK_OUT}
    notices: list[Notice] = []
    looked: set[tuple[str, str]] = set()
    for job in jobs:
        found = _JOB.fullmatch(job["name"])
        if found is None or job["conclusion"] not in {"success", *_FAILED}:
            continue  # A cancelled or skipped job tells nothing, nor does one that never had its turn: `up (dev)`.
        stack = found["stack"]
        looked.add((STOPPED, stack))
        if job["conclusion"] in _FAILED and stack not in short:
            steps = tuple(str(one["name"]) for one in job.get("steps") or () if one["conclusion"] in _FAILED)
            sentence = f"the scheduled deployment of {stack} stopped{f' at {join(steps)}' if steps else ''}"
            mend = "mend what its run names (docs/runbook.md); the next one, within the hour, goes on from there"
            if _ANNOUNCED in steps:
                sentence = f"the scheduled deployment of {stack} would have done more than what was announced"
                mend = f"deploy main by hand: {by_hand}"
            lines = (line(sentence, mend), line(f"the run: {job.get('html_url') or ''}"))
            notices.append(_notice((STOPPED, stack, "schedule"), [steps], "the scheduled deployment stopped", *lines))
    return Notices(tuple(notices), frozenset(looked))


def _of_findings(body: Mapping[str, Any]) -> Notices:
    """Return notices of a deployment: the clusters without machines."""
    stack = str(body["stack"])
    found = tuple(
        _notice(
            (STOCK_OUT, stack, one.subject.name),
            [(one.facts["id"], one.facts["how"])],
            f"cluster {one.subject.name} can't be made",
            line(one.sentence, _WAYS.format(stack=stack)),
        )
        for one in read_findings(body)
        if one.kind == STOCK_OUT
    )
    return Notices(found, frozenset((kind, stack) for kind in body["lookedAt"] if kind in KINDS))


def _of_doctor(body: Mapping[str, Any]) -> Notices:
    stack, found = str(body["stack"]), [one for one in body["findings"] if one["grade"] != "note"]
    if any(one["id"] == "unread" for one in found):
        return Notices()  # An unreadable subject may exist all the same.
    told = [
        _notice(
            (RETIRING, stack, str(one["subject"])),
            [(str(one["subject"]), one["mend"] or "")],
            f"{one['subject']} should have retired by now",
            _line(one),
        )
        for one in found
        if one["id"] == _OVERDUE
    ]
    if rest := [one for one in found if one["id"] not in _NOT_TOLD]:
        parts = ((one["id"], one["subject"]) for one in rest)
        told.append(_notice((DOCTOR, stack, _OF_STACK), parts, "slipway doctor found something", *map(_line, rest)))
    return Notices(tuple(told), frozenset({(RETIRING, stack), (DOCTOR, stack)}))


def _of_schedule(body: Mapping[str, Any]) -> Notices:
    stack, now = str(body["stack"]), datetime.fromisoformat(body["time"])
    waiting = (_waits(one, stack) for one in body["dormant"] if one["lacks"])
    coming = (_due(one, stack, now) for one in body["due"])
    return Notices((*waiting, *filter(None, coming)), frozenset({(AWAITS, stack), (SEASON, stack)}))


def _waits(one: Mapping[str, Any], stack: str) -> Notice:
    """Return the notice of a waiting season: its scheduled deployment succeeds, and nothing else tells of it."""
    name, lacks = str(one["cluster"]), sorted(map(str, one["lacks"]))
    what, mend = "quota", "end what draws it, or ask for more: slipway quota"
    if lacks == [MACHINES]:
        what, mend = MACHINES, _WAYS.format(stack=stack)
    title = f"cluster {name} waits for {what}, though its season has begun"
    return _notice((AWAITS, stack, name), ((metric,) for metric in lacks), title, line(str(one["words"]), mend))


def _due(one: Mapping[str, Any], stack: str, now: datetime) -> Notice | None:
    """Return the notice of a season: one that begins without quota, from the deployment of its entry on, as Google's
    answer may take days or be no; or one that ends soon."""
    name, at = str(one["cluster"]), datetime.fromisoformat(one["time"]) if one["time"] else now
    when = moment_in_words(at)
    if one["what"] == "season-begins" and one.get("ready") is False:
        parts = ((when, lack["metric"], (lack["request"] or {}).get("state", "")) for lack in one["lacks"])
        sentence = f"the season of cluster `{name}` begins {when}: {one['why']}"
        title = f"cluster {name} is not ready for its season"
        return _notice((AWAITS, stack, name), parts, title, line(sentence, "slipway quota"))
    if one["what"] == "season-ends" and at - now <= SOON:
        sentence = f"the season of cluster `{name}` ends {when}: jobs that run then end on it, new ones go elsewhere"
        mend = f"a later `until` of {name} in stacks/Pulumi.{stack}.yaml, if it is to stay"
        return _notice((SEASON, stack, name), [(when,)], f"season of cluster {name} ends {when}", line(sentence, mend))
    return None


def _of_drift(body: Mapping[str, Any]) -> Notices:
    stack = str(body["stack"])
    lines = tuple(
        line(f"{one['on']}: {one['sentence']}", one.get("mend") or _MENDS_DRIFT.get(one["nextDeployment"], _PUT_BACK))
        for one in body["drift"]
    )
    title = f"{stack}: somebody changed by hand what is deployed"
    found = (Notice(DRIFT, stack, _OF_STACK, str(body["shape"]), title, lines),) if lines else ()
    return Notices(found, frozenset() if body["unread"] and not lines else frozenset({(DRIFT, stack)}))


_DOCUMENTS: Mapping[str, Callable[[Mapping[str, Any]], Notices]] = {
    "doctor": _of_doctor,
    "schedule": _of_schedule,
    "drift": _of_drift,
    "notices": lambda body: codec.read(Notices, body),
    DOCUMENT: _of_findings,
}


def _notice(key: tuple[str, str, str], parts: Iterable[tuple[str, ...]], title: str, *lines: Finding) -> Notice:
    """Return a notice. `key` is as in a notice, `parts` make its shape."""
    return Notice(*key, shape(parts), f"{key[1]}: {title}", lines)
