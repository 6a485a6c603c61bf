"""Effects of an edited value of a CI workflow or of Pulumi.yaml, worst first. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from slipway.reviewing.change.leaves import LeafEdit
from slipway.reviewing.change.secret_values import shown

_BY_FORKS = frozenset({"pull_request_target", "issue_comment", "workflow_run"})
_ROLE = re.compile(r"roles/(?:owner|editor|[\w.]*[aA]dmin)\b|\ballUsers\b|\ballAuthenticatedUsers\b")
_SECRET = re.compile(r"\bsecrets\.(\w+)|\bsecrets: *(inherit)")
_RISKY = re.compile(
    r"--yes\b|--skip-preview\b|--skip\S*|--force\b|--target\b|--exclude\b|--insist\b|pulumi +(?:destroy|cancel|state|import|refresh)"
    r"|\|\| *true|curl [^|\n]*\| *(?:ba)?sh|set \+e|subprocess|os\.system|retain_on_delete|ignore_changes|protect *= *False"
)
_CHECK = re.compile(r"--gate\b|--forge +ask|--github +ask|slipway +check|pipefail|protect *= *True|--no-insist")
_IDENTITY = frozenset({"id-token", "id_tokens"})
_NUMBER = re.compile(r"\d+")


def fork_trigger(edit: LeafEdit) -> str:
    words = _BY_FORKS & {edit.path[1] if len(edit.path) > 1 else "", *edit.comes}
    if edit.path[0] != "on" or edit.before or not words:
        return ""
    return f"starts on `{min(words)}`: anyone who opens a pull request can run it with this repository's secrets"


def removed_check(edit: LeafEdit) -> str:
    gone = [check for check in _CHECK.findall(edit.before) if check not in edit.after]
    return f"{edit.place} no longer has `{gone[0]}`" if gone else ""


def cancellation(edit: LeafEdit) -> str:
    if edit.key in ("cancel-in-progress", "interruptible") and edit.after not in ("", "false"):
        return f"a newer run cancels {edit.place} while it runs; a cancelled `pulumi up` keeps its lock"
    if "concurrency" not in edit.path and edit.key != "resource_group":
        return ""
    if edit.key == "queue" and not edit.after:
        return f"a waiting run of {edit.place} is cancelled by the next one"
    if edit.key == "cancel-in-progress":
        return ""
    return f"{edit.place} runs at the same time as other runs: its concurrency group changes"


def environment(edit: LeafEdit) -> str:
    if "environment" not in edit.path or "env" in edit.path or not edit.before:
        return ""
    after = f"in environment {shown(edit.after)}" if edit.after else "without an environment"
    return f"{edit.place} runs {after}: the reviewers of {shown(edit.before)} are no longer asked"


def permission(edit: LeafEdit) -> str:
    roles = sorted({*_ROLE.findall(edit.after)} - {*_ROLE.findall(edit.before)})
    if roles:
        return f"{edit.place} now names `{roles[0]}`"
    is_identity = not _IDENTITY.isdisjoint(edit.path)
    if is_identity and edit.after in ("", "none", "read"):
        return f"{edit.place} gets no identity token, so it can't sign in to Google Cloud"
    if "permissions" in edit.path or is_identity:
        return f"{edit.place} has permission `{edit.key}`: {shown(edit.before)} → {shown(edit.after)}"
    return ""


def ignored_failure(edit: LeafEdit) -> str:
    is_ignored = edit.key in ("continue-on-error", "allow_failure") and edit.after not in ("", "false")
    if is_ignored or (edit.key in ("if", "when") and "always" in edit.comes | {edit.after.partition("(")[0]}):
        return f"{edit.place} continues after a failure: `{edit.key}` is {shown(edit.after)}"
    return ""


def timeout(edit: LeafEdit) -> str:
    if edit.key not in ("timeout-minutes", "timeout"):
        return ""
    unit = " minutes" if edit.key == "timeout-minutes" else ""
    numbers = [int(number) for side in (edit.before, edit.after) for number in _NUMBER.findall(side)[:1]]
    is_shorter = len(numbers) == 2 and numbers[1] < numbers[0]
    consequence = "; a stopped `pulumi up` keeps its lock" if is_shorter else ""
    return f"{edit.place} is stopped after {edit.after or 'default'}{unit}, was {edit.before or 'default'}{consequence}"


def trigger(edit: LeafEdit) -> str:
    if edit.path[0] != "on":
        return ""
    if edit.key == "cron":
        return f"the schedule is {shown(edit.after)}, was {shown(edit.before)}"
    name = ".".join(edit.path[1:]) or "on"
    if not edit.after:
        return f"no longer starts on `{name}` {shown(edit.before)}"
    return f"starts on `{name}` {shown(edit.after)}, was {shown(edit.before)}"


def secret(edit: LeafEdit) -> str:
    names = {name or word for name, word in _SECRET.findall(edit.after)} - {
        name or word for name, word in _SECRET.findall(edit.before)
    }
    return f"{edit.place} reads secret `{min(names)}`" if names else ""


def command(edit: LeafEdit) -> str:
    risky = sorted({*_RISKY.findall(edit.after)} - {*_RISKY.findall(edit.before)})
    if risky:
        return f"{edit.place} now contains `{risky[0]}`"
    if edit.key in ("run", "uses", "script") and not edit.after:
        return f"{edit.place} is removed"
    return f"{edit.place} runs another command" if edit.key in ("run", "script", "before_script") else ""


def condition(edit: LeafEdit) -> str:
    if edit.key not in ("if", "when", "rules", "only", "except", "needs"):
        return ""
    return f"{edit.place} depends on another `{edit.key}`: {shown(edit.before)} → {shown(edit.after)}"


def runner(edit: LeafEdit) -> str:
    if edit.key not in ("runs-on", "tags", "image"):
        return ""
    return f"{edit.place} runs on {shown(edit.after)}, was {shown(edit.before)}"


def code_owner(edit: LeafEdit) -> str:
    if edit.path[0] != "CODEOWNERS":
        return ""
    after = shown(edit.after) if edit.after else "the owner of a wider pattern"
    return f"`{edit.key}` is owned by {after}, was {shown(edit.before)}"


EFFECTS: tuple[Callable[[LeafEdit], str], ...] = (
    fork_trigger,
    removed_check,
    permission,
    cancellation,
    environment,
    ignored_failure,
    timeout,
    trigger,
    secret,
    condition,
    command,
    runner,
    code_owner,
)


def worst_effect(edits: Iterable[LeafEdit]) -> str:
    """Return the worst effect as a sentence; empty if no edit has a known one."""
    listed = list(edits)
    for describe in EFFECTS:
        for edit in listed:
            effect = describe(edit)
            if effect:
                return effect
    return ""
