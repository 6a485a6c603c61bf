"""Effects of an edited value of a workflow, a program's YAML file, or of a whole program file, worst first. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from itertools import chain

from slipway.base.formatting import exact_span
from slipway.model.catalog.clusters import Cluster
from slipway.model.cluster import CREATE_WITHIN_S
from slipway.reviewing.change.files import Sides
from slipway.reviewing.change.leaves import LeafEdit, leaves
from slipway.reviewing.change.secret_values import shown

_LOCK = "an interrupted `pulumi up` leaves its lock behind"
_CHECK = (
    r"(--gate\b|--forge +ask|--github +ask|slipway +check|pipefail|protect *= *True|--require-hashes"
    r"|git checkout [^\n;&|]+)"
)
_ROLE = r"(roles/(?:owner|editor|[\w.]*[aA]dmin)\b|\ballUsers\b|\ballAuthenticatedUsers\b)"
_RISKY = (
    r"(--yes\b|--skip-\S+|--force\b|--target\b|--exclude\b|--insist\b|pulumi +(?:destroy|cancel|state|import|refresh)"
    r"|\bcurl [^|\n]*\| *(?:ba)?sh|\bsubprocess\b|\bos\.system\b|retain_on_delete|ignore_changes)"
)


_TRANSFORM = r"\b(register_\w*transform\w*|transform(?:ation)?s?(?==))"
_CHANGING = r"\b(datetime\.(?:now|today|utcnow)|date\.today|time\.time|random\.\w+)\b"
_FORK = "people without write access can run it with this repository's secrets"
_GROUP = r"(?:concurrency(?:\.group)?|resource_group): (.+)"
_ENVIRONMENT = r"\.environment(?:\.name)?: (.+)"
_ALWAYS = r"(?:(?:continue-on-error|allow_failure): (?!false)|\b(?:if|when): .*always)(.*)"
_PIPED = (
    r"(?:\.run|\.sh): (?![\s\S]*(?:pipefail|PIPESTATUS))[\s\S]*?"
    r"(--gate\b|\bpulumi +up\b)(?:[^\n|;&]|>&|(?<=\\)\n)*\|(?!\|)"
)
_BASH = re.compile(r"^\s*(?:- +)?shell: *['\"]?bash['\"]?\s*$", re.MULTILINE)
"""A shell that stops at the failure of a pipe by itself."""
_DEPLOYS = re.compile(r"\bpulumi +up\b|\buses: .*\bpulumi/actions\b")
_POWER = re.compile(r": *write\b|write-all|\bsecrets\b|pull_request_target|workflow_run|\bpulumi\b|\breview|--gate\b")
_MINOR_KEYS = ("cron", "name", "retention-days")
_SPAN = re.compile(r"(\d+) *(h|m|d|$)")
_MOST_MINUTES = 60 * 24 * 365
_MINUTES = {"d": 1440, "h": 60, "m": 1, "": 1}
Describe = Callable[[LeafEdit, str], str]


@dataclass(frozen=True)
class Rule:
    """An effect of text that an edited value, as `jobs.up.timeout-minutes: 10`, gains or loses."""

    pattern: str
    #: Describes the effect, given the edit and the text.
    describe: Describe
    is_lost: bool

    def effects(self, edits: Iterable[LeafEdit]) -> Iterator[str]:
        for edit in edits:
            before = self._found(edit, edit.before)
            after = self._found(edit, edit.after)
            first, second = (after, before) if self.is_lost else (before, after)
            for text in sorted(second - first):
                yield self.describe(edit, text)

    def _found(self, edit: LeafEdit, value: str) -> set[str]:
        text = f"{'.'.join(edit.path)}: {value}" if value else ""
        return {match[match.lastindex or 0] for match in re.finditer(self.pattern, text)}


def _gains(pattern: str, describe: Describe) -> Rule:
    return Rule(pattern, describe, is_lost=False)


def _loses(pattern: str, describe: Describe) -> Rule:
    return Rule(pattern, describe, is_lost=True)


_WORST = (
    _gains(
        r"^on\b.*\b(pull_request_target|issue_comment|workflow_run)\b",
        lambda edit, text: f"starts on `{text}`: {_FORK}",
    ),
    _loses(_CHECK, lambda edit, text: f"{edit.place} no longer has `{text}`"),
    _gains(_ROLE, lambda edit, text: f"{edit.place} now names `{text}`"),
    _gains(r"\b(\w*IAM(?:Binding|Policy))\b", lambda edit, text: f"`{text}` takes its role from all other members"),
    _gains(_TRANSFORM, lambda edit, text: f"`{text}` can change what any resource is deployed with"),
    _gains(_CHANGING, lambda edit, text: f"reads `{text}`: another run may deploy something else than this review"),
    _gains(
        r"(?:cancel-in-progress|interruptible): (?!false)(.+)",
        lambda edit, text: f"a newer run cancels {edit.place}; {_LOCK}",
    ),
    _loses(_GROUP, lambda edit, text: f"{edit.place} no longer waits for runs of the group {shown(text)}"),
    _loses(
        r"concurrency\.queue: (.+)", lambda edit, text: f"a waiting run of {edit.place} is cancelled by the next one"
    ),
    _loses(_ENVIRONMENT, lambda edit, text: f"{edit.place} no longer asks the reviewers of environment {shown(text)}"),
    _loses(
        r"(id-token: write)",
        lambda edit, text: f"{edit.place} gets no identity token: it can't sign in to Google Cloud",
    ),
    _gains(
        r"permissions(?:\.|: )([\w-]+: write|write-all)", lambda edit, text: f"{edit.place} has the permission `{text}`"
    ),
    _loses(
        r"permissions(?:\.|: )([\w-]+: \w+|\w+-all)", lambda edit, text: f"{edit.place} loses the permission `{text}`"
    ),
    _gains(r"(\|\| *true|set \+e)", lambda edit, text: f"{edit.place} continues after a failure: {shown(text)}"),
    _gains(_ALWAYS, lambda edit, text: f"{edit.place} continues after a failure: `{edit.key}` is {shown(edit.after)}"),
)
_OTHERS = (
    _gains(r"\b(timeout(?:-minutes)?: .+)", lambda edit, text: f"{edit.place} has another time limit: {edit}"),
    _gains(r"^on\b.*?cron: (.+)", lambda edit, text: f"the schedule is {shown(text)}, was {shown(edit.before)}"),
    _loses(r"^(on\b.*)", lambda edit, text: f"no longer starts as before: {edit}"),
    _gains(r"^(on\b.*)", lambda edit, text: f"also starts on {edit}"),
    _gains(r"\bsecrets\.(\w+)|\bsecrets: (inherit)", lambda edit, text: f"{edit.place} reads secret `{text}`"),
    _gains(_RISKY, lambda edit, text: f"{edit.place} now contains {shown(text)}"),
    _loses(r"\.(run|script): ", lambda edit, text: f"{edit.place} is removed"),
    _gains(
        r"\b(?:runs-on|tags): (.+)", lambda edit, text: f"{edit.place} runs on {shown(text)}, was {shown(edit.before)}"
    ),
)


def _unnoticed(edit: LeafEdit, text: str) -> str:
    result = "unapproved changes deploy" if text == "--gate" else "a failed deployment looks complete"
    return f"without `pipefail` {edit.place} can't fail by `{text}`: {result}"


_OF_PIPES = _gains(_PIPED, _unnoticed)


def effects(edits: Iterable[LeafEdit], sides: Sides, clusters: Mapping[str, Cluster]) -> Iterator[str]:
    """Yield the known effects as sentences, the worst first.

    Args:
        edits: The edited values of a file.
        sides: The whole file.
        clusters: The clusters that are deployed, by name.
    """
    listed = list(edits)
    of_pipes = () if _BASH.search(sides.after) else (_OF_PIPES,)
    worst = _effects((*of_pipes, *_WORST), listed)
    others = _effects(_OTHERS, listed)
    return chain(_cut_short(listed, sides, clusters), worst, others)


def is_minor(edits: Iterable[LeafEdit], sides: Sides) -> bool:
    """Return whether only times, names and longer time limits differ, or the workflow can only read on both sides."""
    if _can_only_read(sides.before) and _can_only_read(sides.after):
        return True
    return all(_is_minor(edit) for edit in edits)


def _is_minor(edit: LeafEdit) -> bool:
    if edit.key.startswith("timeout"):
        return timedelta(0) < _limit(edit.before) < _limit(edit.after)
    return edit.key in _MINOR_KEYS


def _can_only_read(workflow: str) -> bool:
    """Return whether a workflow of GitHub declares permissions, none to write, and neither reviews nor deploys."""
    if _POWER.search(workflow):
        return False
    return any(path[0] == "permissions" for path in leaves(workflow))


def _effects(rules: Iterable[Rule], edits: list[LeafEdit]) -> Iterator[str]:
    return chain.from_iterable(rule.effects(edits) for rule in rules)


def _cut_short(edits: Iterable[LeafEdit], sides: Sides, clusters: Mapping[str, Cluster]) -> Iterator[str]:
    """Yield new time limits of a deployment that are shorter than the longest wait for a cluster."""
    waits = {name: each.create_within or timedelta(seconds=CREATE_WITHIN_S) for name, each in clusters.items()}
    slowest = max(waits, key=lambda name: waits[name], default="")
    for edit in edits:
        if not edit.key.startswith("timeout") or not slowest:
            continue
        limit = _limit(edit.after)
        is_shorter = timedelta(0) < limit < waits[slowest]
        if is_shorter and _deploys(edit.path[:-1], sides.after):
            wait = exact_span(waits[slowest].total_seconds())
            yield f"{edit.place} is killed after {exact_span(limit.total_seconds())}, while `{slowest}` may wait {wait}"


def _limit(text: str) -> timedelta:
    """Return the time limit that GitHub reads in minutes and GitLab as `1h 30m`; 0 if it is neither."""
    minutes = [int(amount) * _MINUTES[unit] for amount, unit in _SPAN.findall(text)]
    return timedelta(minutes=min(sum(minutes), _MOST_MINUTES))


def _deploys(place: tuple[str, ...], text: str) -> bool:
    """Return whether a job or step deploys."""
    own = (f"{path[-1]}: {value}" for path, value in leaves(text).items() if path[: len(place)] == place)
    return any(map(_DEPLOYS.search, own))
