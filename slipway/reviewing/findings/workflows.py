"""Effects of an edited value of a workflow, a program's YAML file, or of a whole program file, worst first. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import chain, filterfalse

from slipway.base.cron import longest_gap
from slipway.base.formatting import exact_span, few, join
from slipway.model.catalog.clusters import Cluster
from slipway.model.cluster import CREATE_WITHIN_S
from slipway.model.findings.finding import Grade
from slipway.reviewing.change.files import Sides
from slipway.reviewing.change.leaves import LeafEdit, leaves
from slipway.reviewing.change.secret_values import shown

_LOCK = "an interrupted `pulumi up` leaves its lock behind"
_CHECK = (
    r"(--gate\b|--forge +ask|--github +ask|slipway +check|protect *= *True|--require-hashes"
    r"|git checkout [^\n;&|]+)"
)
_ROLE = r"(roles/(?:owner|editor|[\w.]*[aA]dmin)\b|\ballUsers\b|\ballAuthenticatedUsers\b)"
_RISKY = (
    r"(--yes\b|--skip-\S+|--force\b|--target\b|--exclude\b|--insist\b|pulumi +(?:destroy|cancel|state|import|refresh)"
    r"|\bcurl [^|\n]*\| *(?:ba)?sh|\bsubprocess\b|\bos\.system\b|retain_on_delete|ignore_changes)"
)


_ANY_ROLE = re.compile(r"\broles/[\w.]+")
_TRANSFORM = r"\b(register_\w*transform\w*|transform(?:ation)?s?(?==))"
_CHANGING = r"\b(datetime\.(?:now|today|utcnow)|date\.today|time\.time|random\.\w+)\b"
_FORK = "it has this repository's secrets, and checks out the base branch, not the change"
_GROUP = r"(?:concurrency(?:\.group)?|resource_group): (.+)"
_ENVIRONMENT = r"\.environment(?:\.name)?: (.+)"
_ALWAYS = r"(?:(?:continue-on-error|allow_failure): (?!false)|\b(?:if|when): .*always)(.*)"
_PIPED = (
    r"(?:\.run|\.sh): (?![\s\S]*(?:pipefail|PIPESTATUS))[\s\S]*?"
    r"(--gate\b|\bpulumi +up\b)(?:[^\n|;&]|>&|(?<=\\)\n)*\|(?!\|)"
)
_BASH = re.compile(r"^\s*(?:- +)?shell: *['\"]?bash['\"]?\s*$", re.MULTILINE)
"""A shell that stops at the failure of a pipe by itself."""
_DEPLOYS = re.compile(r"\bpulumi +up\b|\bmake +up\b|\buses: .*(?:\bpulumi/actions\b|[.$]/\.github/workflows/)")
_POWER = re.compile(r": *write\b|write-all|\bsecrets\b|pull_request_target|workflow_run|--gate\b|slipway +review\b")
_MINOR_KEYS = ("cron", "name", "retention-days")
_STACK = re.compile(r"[\w-]+")
_JSON_LIST = re.compile(r"\[([^]]*)\]")
_MUCH_LATER = 2
_REVIEWS = re.compile(r"--gate\b|slipway +review\b")
_SPAN = re.compile(r"(\d+) *(h|m|d|$)")
_MOST_MINUTES = 60 * 24 * 365
_MINUTES = {"d": 1440, "h": 60, "m": 1, "": 1}
Describe = Callable[[LeafEdit, str], str]
Effect = tuple[LeafEdit, str]
"""An effect as a sentence, with the edit that has it."""


@dataclass(frozen=True)
class Rule:
    """An effect of text that an edited value, as `jobs.up.timeout-minutes: 10`, gains or loses."""

    pattern: str
    #: Describes the effect, given the edit and the text.
    describe: Describe
    is_lost: bool

    def effects(self, edits: Iterable[LeafEdit]) -> Iterator[Effect]:
        for edit in edits:
            before = self._found(edit, edit.before)
            after = self._found(edit, edit.after)
            first, second = (after, before) if self.is_lost else (before, after)
            for text in sorted(second - first):
                yield edit, self.describe(edit, text)

    def _found(self, edit: LeafEdit, value: str) -> set[str]:
        text = f"{'.'.join(edit.path)}: {value}" if value else ""
        return {match[match.lastindex or 0] for match in re.finditer(self.pattern, text)}


def _gains(pattern: str, describe: Describe) -> Rule:
    return Rule(pattern, describe, is_lost=False)


def _schedule(edit: LeafEdit, schedule: str) -> str:
    """Return the new schedule, in words if its runs are much further apart."""
    after = longest_gap(schedule)
    before = longest_gap(edit.before)
    if timedelta(0) < _MUCH_LATER * before <= after:
        gaps = f"{exact_span(after.total_seconds())} apart, were {exact_span(before.total_seconds())}"
        return f"scheduled runs are up to {gaps}: dates, idle limits and retries wait for them"
    return f"the schedule is {shown(schedule)}, was {shown(edit.before)}"


def _roles(edit: LeafEdit) -> str:
    """Return the roles that an edit adds."""
    added = sorted({*_ANY_ROLE.findall(edit.after)} - {*_ANY_ROLE.findall(edit.before)})
    return few(f"`{role}`" for role in added) or "its role"


def _loses(pattern: str, describe: Describe) -> Rule:
    return Rule(pattern, describe, is_lost=True)


_WORST = (
    _gains(
        r"^on\b.*\b(pull_request_target|issue_comment|workflow_run)\b",
        lambda edit, text: f"starts on `{text}`: {_FORK}",
    ),
    _loses(_CHECK, lambda edit, text: f"{edit.place} no longer has `{text}`"),
    _gains(_ROLE, lambda edit, text: f"{edit.place} now names `{text}`"),
    _gains(r"\b(\w*IAM(?:Binding|Policy))\b", lambda edit, text: f"`{text}` takes {_roles(edit)} from all others"),
    _gains(r"\b(SLIPWAY_PURPOSE)\b", lambda edit, text: f"sets `{text}`: with `destroy`, `up` deletes the stack"),
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
    _loses(_ENVIRONMENT, lambda edit, text: f"{edit.place} leaves environment {shown(text)} with its reviewers"),
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
    _gains(r"^on\b.*?cron: (.+)", _schedule),
    _loses(
        r"^on\b.*?cron: (.+)",
        lambda edit, text: "no longer runs by itself: dates, idle limits and retries wait for another deployment",
    ),
    _gains(r"^on\b.*paths-ignore: (.+)", lambda edit, text: f"no longer starts for changes of {shown(text)} alone"),
    _loses(r"^(on\b.*)", lambda edit, text: f"no longer starts as before: {edit}"),
    _gains(r"^(on\b.*)", lambda edit, text: f"also starts on {edit}"),
    _gains(r"\{\{[^}]*\bsecrets\.(\w+)|\bsecrets: (inherit)", lambda edit, text: f"{edit.place} reads secret `{text}`"),
    _gains(_RISKY, lambda edit, text: f"{edit.place} now contains {shown(text)}"),
    _loses(r"\.(run|script): ", lambda edit, text: f"{edit.place} is removed"),
    _gains(
        r"\b(?:runs-on|tags): (.+)", lambda edit, text: f"{edit.place} runs on {shown(text)}, was {shown(edit.before)}"
    ),
)


def _unnoticed(edit: LeafEdit, text: str) -> str:
    result = "unapproved changes deploy" if text == "--gate" else "a failed deployment looks complete"
    return f"without `pipefail` {edit.place} can't fail by `{text}`: {result}"


_OF_PIPES = (
    _gains(_PIPED, _unnoticed),
    _loses(r"(pipefail)", lambda edit, text: f"without `{text}` {edit.place} can't fail by a command before a pipe"),
)


def effects(edits: Iterable[LeafEdit], sides: Sides, clusters: Mapping[str, Cluster]) -> Sequence[str]:
    """Return the worst known effect of each edit as a sentence, the worst first.

    Args:
        edits: The edited values of a file.
        sides: The whole file.
        clusters: The clusters that are deployed, by name.
    """
    listed = list(filterfalse(_is_reordered_choice, edits))
    of_pipes = () if _BASH.search(sides.after) else _OF_PIPES
    worst = _effects((*of_pipes, *_WORST), listed)
    others = _effects(_OTHERS, listed)
    sentences: dict[str, str] = {}
    for edit, sentence in chain(_cut_short(listed, sides, clusters), worst, _of_stacks(listed), others):
        sentences.setdefault(edit.name, sentence)
    return tuple(dict.fromkeys(sentences.values()))


def _of_stacks(edits: Iterable[LeafEdit]) -> Iterator[Effect]:
    """Yield lists of stacks and of required jobs that lose a value or have another order."""
    for edit in edits:
        before = _listed(edit.before)
        after = _listed(edit.after)
        lost = [name for name in before if name not in after]
        is_list = edit.key.startswith("stack") and len(before) > 1
        if edit.key == "needs" and lost:
            yield edit, f"{edit.place} no longer waits for {join(f'`{name}`' for name in lost)}"
        elif is_list and lost:
            yield edit, f"{edit.place} no longer runs for {join(f'`{name}`' for name in lost)}"
        elif is_list and sorted(before) == sorted(after):
            yield edit, f"{edit.place} has another order of stacks: {', '.join(before)} → {', '.join(after)}"


def _listed(text: str) -> list[str]:
    """Return the names of a list, which may be JSON in a text."""
    in_brackets = _JSON_LIST.findall(text)
    return _STACK.findall((*in_brackets, text)[0])


def grade_of(edits: Iterable[LeafEdit], sides: Sides) -> Grade:
    """Return the severity of edits of a workflow: a note if it can only read, or for times if it deploys nothing."""
    if _can_only_read(sides.before) and _can_only_read(sides.after):
        return Grade.NOTE
    # Times decide when clusters of a season are created and deleted.
    is_minor = all(map(_is_minor, edits)) and not _DEPLOYS.search(sides.after)
    if not is_minor:
        return Grade.BLOCKING
    return Grade.WARNING if _REVIEWS.search(sides.after) else Grade.NOTE


def _is_minor(edit: LeafEdit) -> bool:
    if edit.key.startswith("timeout"):
        return timedelta(0) < _limit(edit.before) < _limit(edit.after)
    return edit.key in _MINOR_KEYS or _is_reordered_choice(edit)


def _is_reordered_choice(edit: LeafEdit) -> bool:
    is_same = sorted(edit.before.split(", ")) == sorted(edit.after.split(", "))
    return is_same and edit.key == "options"


def _can_only_read(workflow: str) -> bool:
    """Return whether a workflow of GitHub declares permissions, none to write, and neither reviews nor deploys."""
    if _POWER.search(workflow):
        return False
    return any(path[0] == "permissions" for path in leaves(workflow))


def _effects(rules: Iterable[Rule], edits: list[LeafEdit]) -> Iterator[Effect]:
    return chain.from_iterable(rule.effects(edits) for rule in rules)


def _cut_short(edits: Iterable[LeafEdit], sides: Sides, clusters: Mapping[str, Cluster]) -> Iterator[Effect]:
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
            killed = exact_span(limit.total_seconds())
            yield edit, f"{edit.place} is killed after {killed}, while `{slowest}` may wait {wait}"


def _limit(text: str) -> timedelta:
    """Return the time limit that GitHub reads in minutes and GitLab as `1h 30m`; 0 if it is neither."""
    minutes = [int(amount) * _MINUTES[unit] for amount, unit in _SPAN.findall(text)]
    return timedelta(minutes=min(sum(minutes), _MOST_MINUTES))


def _deploys(place: tuple[str, ...], text: str) -> bool:
    """Return whether a job or step deploys."""
    own = (f"{path[-1]}: {value}" for path, value in leaves(text).items() if path[: len(place)] == place)
    return any(map(_DEPLOYS.search, own))
