"""The review of a change: all questions and findings, with the team's own severities. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TypeVar

from slipway.answers import cost, policy, quota
from slipway.answers.comparison import Comparison
from slipway.answers.masking import mask
from slipway.answers.questions import ask, by_our_fault
from slipway.answers.settings import Setting, settings
from slipway.base.formatting import first_lines, short
from slipway.deploying.engine import events
from slipway.deploying.engine.preview import Preview
from slipway.deploying.generations.action import Why
from slipway.model.catalog.withdrawal import UNCOMMITTED
from slipway.model.facts import CATALOG
from slipway.model.findings.finding import Finding
from slipway.model.findings.grades import BY_WORD, GRADES
from slipway.model.findings.kinds import KINDS
from slipway.model.labels import UNKNOWN_COMMIT, Revision
from slipway.model.origin import Origin
from slipway.reviewing.change.change import Change
from slipway.reviewing.change.stack_file import settings_without_facts
from slipway.reviewing.findings.files import file_findings
from slipway.reviewing.rejection import preview_rejection
from slipway.reviewing.review import Review, refuses, weight

T = TypeVar("T")
_LONGEST_LINE = 300
_MOST_WARNINGS = 10
_MOST_ADDRESSES = 1000
_PREFIX = "slipway:"
_KEY = re.compile(rf"`({_PREFIX}[^`]+)`")
_CONTINUES = "a deployment of this commit was interrupted, and the next one continues it"


def review(change: Change) -> Review:
    """Return the review of a change.

    A part that raises is reported as incomplete and keeps the gate closed; the other parts are still reported.
    """
    comparison = change.comparison
    preview = comparison.preview or Preview()
    asked = ask(comparison)
    failed = list(asked.failed)
    by_files: tuple[Finding, ...] = _attempt(
        failed, "files", lambda: tuple(file_findings(comparison, change.files)), ()
    )
    found = [*asked.findings, *by_files, *preview_rejection(comparison.preview)]
    graded = _graded(comparison, _joined(_explained(found)))
    findings = sorted((_spelled(finding, comparison.new.origin) for finding in graded), key=weight)
    begun = comparison.interrupted
    standing: tuple[str, ...] = _attempt(failed, "policy", lambda: tuple(policy.standing(comparison)), ())
    if begun is not None:
        standing = (_CONTINUES, *standing)
    incomplete = [preview.why] if preview.why else []
    costs = _attempt(failed, "cost", lambda: cost.costs(comparison), None)
    quota_line = _attempt(failed, "quota", lambda: quota.quota_text(comparison), "")
    policy_line = _attempt(failed, "policy", lambda: policy.policy_text(comparison), "")
    rows: tuple[Setting, ...] = _attempt(failed, "settings", lambda: _settings(change), ())
    # The program's warnings may have any content and length.
    quoted = first_lines((short(warning, _LONGEST_LINE) for warning in preview.warnings), _MOST_WARNINGS)
    whole = Review(
        stack=comparison.stack,
        findings=tuple(findings),
        settings=rows,
        differences=asked.differences,
        incomplete=(*incomplete, *change.unread, *failed),
        costs=costs,
        quota=quota_line,
        policy=policy_line,
        standing=standing,
        plan=tuple(plan_lines(preview)),
        notes=change.notes,
        quoted=tuple(quoted),
        addresses=tuple(sorted(change.files.addresses))[:_MOST_ADDRESSES],
        undeployed=preview.refused,
        begun=begun,
        added=added_clusters(comparison),
        stray=_stray(comparison),
        commit=comparison.new.commit,
        deployed=_deployed_commits(comparison),
    )
    return mask(whole, comparison)


def _settings(change: Change) -> tuple[Setting, ...]:
    """Return all changed settings: those of the facts, then those that the stack file alone has."""
    rows = settings(change.comparison)
    known = {row.key for row in rows}
    others = settings_without_facts(change.comparison.stack, change.files)
    return (*rows, *[row for row in others if row.key not in known])


def _attempt(failed: list[str], name: str, compute: Callable[[], T], otherwise: T) -> T:
    """Return a part of the review, or another value with a sentence in `failed` if computing it raises."""
    try:
        return compute()
    except Exception as problem:
        failed.append(by_our_fault(f"{name} could not be compared", problem))
        return otherwise


def _explained(found: Iterable[Finding]) -> list[Finding]:
    """Drop the bare rejection of the deployment if another finding says why."""
    findings = list(found)
    explained = any(refuses(finding) and not KINDS[finding.kind].failed for finding in findings)
    if not explained:
        return findings
    return [finding for finding in findings if not KINDS[finding.kind].failed]


def _joined(findings: Iterable[Finding]) -> list[Finding]:
    """Join findings of one kind and subject: the worst sentence, and all details."""
    joined: dict[tuple[str, str], Finding] = {}
    for finding in findings:
        known = joined.get(finding.key)
        if known is None:
            joined[finding.key] = finding
            continue
        worst, other = (finding, known) if finding.grade > known.grade else (known, finding)
        details = tuple(dict.fromkeys((*worst.details, other.sentence, *other.details)))
        joined[finding.key] = replace(worst, details=details, cost=worst.cost + other.cost)
    return list(joined.values())


def _graded(comparison: Comparison, findings: Iterable[Finding]) -> list[Finding]:
    policies = [facts.policy.get(GRADES, {}) for facts in (comparison.before, comparison.after)]
    return [regraded(finding, policies) for finding in findings]


def regraded(finding: Finding, policies: Iterable[Mapping[str, str]]) -> Finding:
    """Return a finding with the team's severity in place of the default.

    The deployed policy or the declared one counts, whichever is stricter, so that a change can't relax its own review.
    A severity that differs from the default of its kind remains.
    """
    usual = KINDS[finding.kind].usual
    if finding.grade is not usual:
        return finding
    severities = [BY_WORD.get(str(grades.get(finding.kind)), usual) for grades in policies]
    return replace(finding, grade=max(severities))


def _spelled(finding: Finding, origin: Origin) -> Finding:
    """Return a finding with the keys of a stack file as its author has them: arguments of components in a program."""

    def spelled(text: str) -> str:
        return _KEY.sub(lambda key: f"`{origin.key(key[1])}`", text)

    field = finding.field.rstrip(".")  # The whole entry has no key.
    if field.startswith(_PREFIX):
        field = origin.key(field)
    return replace(finding, field=field, sentence=spelled(finding.sentence), fix=spelled(finding.fix))


def added_clusters(comparison: Comparison) -> frozenset[str]:
    """Return the names of clusters that this change adds, without those that the deployed dates create."""
    dated = set()
    for action in comparison.actions:
        if action.current and action.why in (Why.SEASON, Why.AWAITED):
            dated.add(action.cluster)
    return frozenset(comparison.new.clusters) - {*comparison.old.clusters, *dated}


def plan_lines(preview: Preview) -> Iterator[str]:
    """Yield Pulumi's steps, such as `create gcp:storage/bucket:Bucket work`, without components."""
    steps = sorted((step.op, step.type, step.name) for step in preview.steps if not step.component)
    for step in steps:
        yield short(" ".join(step), _LONGEST_LINE)


def _stray(comparison: Comparison) -> str:
    """Return why the commit is neither the deployed one nor one that is being deployed; empty if it is."""
    published = comparison.published
    if published is None:
        return ""
    if published.under_way == UNCOMMITTED:
        return "A deployment of uncommitted changes was interrupted"
    new = comparison.new
    if new.dirty or new.commit == UNKNOWN_COMMIT:
        return f"This is {new.revision}, which is not in the repository"
    deployed = published.revision
    if published.under_way:
        deployed = Revision(published.under_way, dirty=False)
    if new.revision == deployed:
        return ""
    return f"This is {new.revision}, but {deployed} is deployed"


def _deployed_commits(comparison: Comparison) -> tuple[str, ...]:
    """Return the commits that are deployed or being deployed, of every catalog in Pulumi's state."""
    commits: list[str] = []
    if comparison.preview:
        for type_, _, inputs in events.deployed(comparison.preview):
            if type_ == CATALOG:
                commits.append(str(inputs.get("commit") or ""))
    if comparison.published:
        commits += [comparison.published.commit, comparison.published.under_way or ""]
    return tuple(commit for commit in dict.fromkeys(commits) if commit not in ("", UNKNOWN_COMMIT, UNCOMMITTED))


def mark_known(yours: Review, main: Review) -> Review:
    """Mark the findings that the base branch already has, unless this change makes them worse or different.

    Args:
        yours: The review of the change.
        main: The review of the base branch alone.
    """
    known = {finding.key: finding for finding in main.findings}
    unchanged: set[tuple[str, str]] = set()
    changed: set[tuple[str, str]] = set()
    for finding in yours.findings:
        same = _is_known(finding, known.get(finding.key))
        (unchanged if same else changed).add(finding.key)
    quoted = tuple(line for line in yours.quoted if line not in main.quoted)
    return replace(yours, on_main=frozenset(unchanged - changed), quoted=quoted)


def _is_known(finding: Finding, known: Finding | None) -> bool:
    if known is None or finding.grade > known.grade:
        return False
    return (finding.sentence, finding.details) == (known.sentence, known.details)
