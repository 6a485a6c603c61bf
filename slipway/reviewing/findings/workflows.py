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
    r"|\|\| *true|\bcurl [^|\n]*\| *(?:ba)?sh|set \+e|\bsubprocess\b|\bos\.system\b|\bretain_on_delete\b|\bignore_changes\b)"
)


@dataclass(frozen=True)
class Rule:
    """An effect of text that an edited value, as `jobs.up.timeout-minutes: 10`, gains or loses."""

    pattern: str
    #: Describes the effect, given the edit and the text.
    describe: Callable[[LeafEdit, str], str]
    is_lost: bool = False

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


RULES = (
    Rule(
        r"^on\b.*\b(pull_request_target|issue_comment|workflow_run)\b",
        lambda edit, text: f"starts on `{text}`: people without write access can run it with this repository's secrets",
    ),
    Rule(_CHECK, lambda edit, text: f"{edit.place} no longer has `{text}`", is_lost=True),
    Rule(_ROLE, lambda edit, text: f"{edit.place} now names `{text}`"),
    Rule(
        r"(?:cancel-in-progress|interruptible): (?!false)(.+)",
        lambda edit, text: f"a newer run cancels {edit.place} while it runs; {_LOCK}",
    ),
    Rule(
        r"(?:concurrency(?:\.group)?|resource_group): (.+)",
        lambda edit, text: f"{edit.place} no longer waits for runs of the group {shown(text)}",
        is_lost=True,
    ),
    Rule(
        r"concurrency\.queue: (.+)",
        lambda edit, text: f"a waiting run of {edit.place} is cancelled by the next one",
        is_lost=True,
    ),
    Rule(
        r"\.environment(?:\.name)?: (.+)",
        lambda edit, text: f"{edit.place} no longer asks the reviewers of environment {shown(text)}",
        is_lost=True,
    ),
    Rule(
        r"(id-token: write)",
        lambda edit, text: f"{edit.place} gets no identity token, so it can't sign in to Google Cloud",
        is_lost=True,
    ),
    Rule(
        r"permissions(?:\.|: )([\w-]+: write|write-all)",
        lambda edit, text: f"{edit.place} has the permission `{text}`",
    ),
    Rule(
        r"permissions(?:\.|: )([\w-]+: (?:write|read)|write-all|read-all)",
        lambda edit, text: f"{edit.place} no longer has the permission `{text}`",
        is_lost=True,
    ),
    Rule(
        r"(?:(?:continue-on-error|allow_failure): (?!false)|\b(?:if|when): .*always)(.*)",
        lambda edit, text: f"{edit.place} continues after a failure: `{edit.key}` is {shown(edit.after)}",
    ),
    Rule(
        r"\btimeout(?:-minutes)?: (.+)",
        lambda edit, text: f"{edit.place} is stopped after {_time(edit, text)}, was {_time(edit, edit.before)}; {_LOCK}",
    ),
    Rule(r"^on\b.*?cron: (.+)", lambda edit, text: f"the schedule is {shown(text)}, was {shown(edit.before)}"),
    Rule(r"^(on\b.*)", lambda edit, text: f"no longer starts as before: {edit}", is_lost=True),
    Rule(r"^(on\b.*)", lambda edit, text: f"also starts on {edit}"),
    Rule(r"\bsecrets\.(\w+)|\bsecrets: (inherit)", lambda edit, text: f"{edit.place} reads secret `{text}`"),
    Rule(_RISKY, lambda edit, text: f"{edit.place} now contains {shown(text)}"),
    Rule(r"\.(run|script): ", lambda edit, text: f"{edit.place} is removed", is_lost=True),
    Rule(r"\b(?:runs-on|tags): (.+)", lambda edit, text: f"{edit.place} runs on {shown(text)}, was {shown(edit.before)}"),
)


def worst_effect(edits: Iterable[LeafEdit]) -> str:
    """Return the worst effect as a sentence; empty if no edit has a known one."""
    listed = list(edits)
    return next(chain.from_iterable(rule.effects(listed) for rule in RULES), "")


def _time(edit: LeafEdit, value: str) -> str:
    unit = " minutes" if edit.key == "timeout-minutes" else ""
    return f"{value or 'the default'}{unit if value else ''}"
