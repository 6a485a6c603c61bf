"""The corpus against findings of an earlier version: `python -m tests.review.compare OLD.json MISSES.md`.

OLD.json has for each case by its sentence `findings`: a list of `kind`, `subject`, `grade` and `sentence`. A blocking
one is found again if the case has a blocking finding about the same resource.
"""

import json
import re
import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from slipway.model.findings.finding import Finding, Grade
from slipway.reviewing.review import Review
from tests.review.corpus import CASES, score
from tests.review.play import play

_RESOURCES = "cluster pool template member trainer bucket resource account reservation network key secret package quota"
_OF_STACK = ("workspace", "stack", "prod", "agents", "policy", "budget", "allowance", "urgent", "usual", "sessions")
_OF_DEPLOYMENT = ("preview", "deployment", "program", "guard")


@dataclass(frozen=True)
class Miss:
    """A blocking finding of the earlier version that is not found again."""

    says: str
    kind: str
    resource: str
    sentence: str
    reason: str
    #: What is found now, a line each.
    found: tuple[str, ...]


def resource(subject: str) -> str:
    """Return the name of a subject's resource, without its part: `lora` of `template lora parameter rank`."""
    words = subject.split(" ")
    if words[0] in _OF_STACK:
        return "stack"
    if words[0] in _OF_DEPLOYMENT:
        return "deployment"
    name = words[1] if words[0] in _RESOURCES.split() and len(words) > 1 else words[0]
    if words[0] in ("cluster", "pool"):
        return re.sub(r"-[0-9a-f]{7}$", "", name.partition("/")[0])
    name = words[2] if words[0] == "resource" and len(words) > 2 else name
    return name.rpartition("/")[2].removeprefix("custom_model_training_")


def is_about(finding: Finding, name: str) -> bool:
    """Return whether a finding is about a resource. One about access is of what is accessed, and names the members."""
    if resource(finding.subject) == name or name in finding.subject:
        return True
    _, is_member, address = name.partition(":")
    return bool(is_member) and address in f"{finding.sentence} {finding.details}"


def misses(says: str, old: Iterable[Mapping[str, Any]], review: Review) -> list[Miss]:
    """Return the resources of blocking findings that are not blocking any more, one miss for each."""
    lines = tuple(f"{part.grade.name} {part.kind} `{part.subject}`: {part.sentence}" for part in review.findings)
    found = {}
    for finding in old:
        name = resource(finding["subject"])
        if finding["grade"] != "BLOCKING" or _is_blocking(review, name):
            continue
        reason = _reason(review, name)
        found[name] = Miss(says, finding["kind"], name, finding["sentence"], reason, lines)
    return list(found.values())


def _is_blocking(review: Review, name: str) -> bool:
    return any(part.grade is Grade.BLOCKING and is_about(part, name) for part in review.findings)


def _reason(review: Review, name: str) -> str:
    same = [part for part in review.findings if is_about(part, name)]
    if same:
        worst = max(same, key=lambda part: part.grade)
        return f"less severe: {worst.grade.name} {worst.kind}"
    mentions = [part for part in review.findings if name in f"{part.sentence} {part.details}"]
    if mentions:
        return f"under another resource: {mentions[0].kind} {mentions[0].subject}"
    if any(part.grade is Grade.BLOCKING for part in review.findings):
        return "another finding is blocking"
    if review.incomplete:
        return "incomplete"
    return "no finding" if not review.findings else "other findings only"


def main(old_file: Path, out: Path) -> None:
    old = json.loads(old_file.read_text("utf-8"))
    found: list[Miss] = []
    blocking = 0
    #: Cases that had a blocking finding, and whether they still have one.
    gates: dict[str, bool] = {}
    wrong: list[str] = []
    for says, case in CASES.items():
        try:
            review = play(case)
        except Exception as problem:
            wrong.append(f"- {says}: raises {type(problem).__name__}: {problem}")
            continue
        result = score(case, review)
        if not result.perfect:
            wrong.append(f"- {says}: {result}")
        before = old.get(says, {}).get("findings", [])
        resources = {resource(part["subject"]) for part in before if part["grade"] == "BLOCKING"}
        blocking += len(resources)
        if resources:
            gates[says] = any(part.grade is Grade.BLOCKING for part in review.findings)
        found += misses(says, before, review)
    out.write_text("\n".join(_page(found, blocking, gates, wrong)), encoding="utf-8")
    sys.stdout.write(f"{blocking - len(found)} of {blocking} blocking resources are found again\n")
    sys.stdout.write(f"{sum(gates.values())} of {len(gates)} closed gates are closed again\n")
    sys.stdout.write(f"{len(CASES) - len(wrong)} of {len(CASES)} cases are as expected\n")


def _page(found: list[Miss], blocking: int, gates: Mapping[str, bool], wrong: list[str]) -> Iterable[str]:
    yield f"# {blocking - len(found)} of {blocking} blocking resources are found again\n"
    reasons = Counter(miss.reason.partition(":")[0] for miss in found)
    yield from (f"- {reason}: {count}" for reason, count in reasons.most_common())
    kinds = Counter(miss.kind for miss in found)
    for kind, count in kinds.most_common():
        yield f"\n## {kind} ({count})\n"
        for miss in found:
            if miss.kind == kind:
                yield f"- **{miss.says}** `{miss.resource}`: {miss.reason}\n  - before: {miss.sentence}"
                yield from (f"  - now: {line}" for line in miss.found)
    opened = [says for says, is_closed in gates.items() if not is_closed]
    yield f"\n# {len(opened)} of {len(gates)} closed gates are open now\n"
    yield from (f"- {says}" for says in opened)
    yield f"\n# {len(wrong)} cases are not as expected\n"
    yield from wrong


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
