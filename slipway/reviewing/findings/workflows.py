"""Effects of an edited value of a workflow, a program's YAML file, or of a whole program file, worst first. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain

from slipway.reviewing.change.leaves import LeafEdit
from slipway.reviewing.change.secret_values import shown

_LOCK = "an interrupted `pulumi up` leaves its lock behind"
_CHECK = r"(--gate\b|--forge +ask|--github +ask|slipway +check|pipefail|protect *= *True|--require-hashes)"
_ROLE = r"(roles/(?:owner|editor|[\w.]*[aA]dmin)\b|\ballUsers\b|\ballAuthenticatedUsers\b)"
_RISKY = (
    r"(--yes\b|--skip-\S+|--force\b|--target\b|--exclude\b|--insist\b|pulumi +(?:destroy|cancel|state|import|refresh)"
    r"|\|\| *true|\bcurl [^|\n]*\| *(?:ba)?sh|set \+e|\bsubprocess\b|\bos\.system\b|retain_on_delete|ignore_changes)"
)


_TRANSFORM = r"\b(register_\w*transform\w*|transform(?:ation)?s?(?==))"
_CHANGING = r"\b(datetime\.(?:now|today|utcnow)|date\.today|time\.time|random\.\w+)\b"
_FORK = "people without write access can run it with this repository's secrets"
_GROUP = r"(?:concurrency(?:\.group)?|resource_group): (.+)"
_ENVIRONMENT = r"\.environment(?:\.name)?: (.+)"
_ALWAYS = r"(?:(?:continue-on-error|allow_failure): (?!false)|\b(?:if|when): .*always)(.*)"
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
            gone, come = (after, before) if self.is_lost else (before, after)
            for text in sorted(come - gone):
                yield self.describe(edit, text)

    def _found(self, edit: LeafEdit, value: str) -> set[str]:
        text = f"{'.'.join(edit.path)}: {value}" if value else ""
        return {match[match.lastindex or 0] for match in re.finditer(self.pattern, text)}


def _gains(pattern: str, describe: Describe) -> Rule:
    return Rule(pattern, describe, is_lost=False)


def _loses(pattern: str, describe: Describe) -> Rule:
    return Rule(pattern, describe, is_lost=True)


RULES = (
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
    _gains(_ALWAYS, lambda edit, text: f"{edit.place} continues after a failure: `{edit.key}` is {shown(edit.after)}"),
    _gains(r"\b(timeout(?:-minutes)?: .+)", lambda edit, text: f"{edit.place} has another time limit: {edit}; {_LOCK}"),
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


def worst_effect(edits: Iterable[LeafEdit]) -> str:
    """Return the worst effect as a sentence; empty if no edit has a known one."""
    listed = list(edits)
    return next(chain.from_iterable(rule.effects(listed) for rule in RULES), "")
