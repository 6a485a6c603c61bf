"""A review: all findings about a change, worst first. As JSON it passes from one job of a workflow to the next."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from itertools import chain, repeat
from typing import Annotated, Any, cast

from slipway.answers.answer import Difference
from slipway.answers.cost import Costs
from slipway.answers.settings import Setting
from slipway.base import codec
from slipway.base.codec import NOT_WRITTEN, As, At
from slipway.base.errors import ConfigError
from slipway.base.formatting import join, quoted
from slipway.model.findings.finding import Finding, Grade, Section, Subject
from slipway.model.findings.kinds import KINDS

_SECTIONS = list(Section)
_OF_JOBS = ("jobs-cancelled", "job-loses-resource")
_TEXTS = ("quota", "policy")
_LISTS = ("incomplete", "standing", "plan", "notes", "quoted", "addresses")
_REWRITTEN = ("findings", "settings", "differences", *_TEXTS, *_LISTS)


def _keys_of(pairs: Any) -> frozenset[tuple[str, str]]:
    return frozenset((str(kind), str(subject)) for kind, subject in pairs)


def _pairs_of(keys: frozenset[tuple[str, str]]) -> list[list[str]]:
    return sorted([kind, str(subject)] for kind, subject in keys)


_PAIRS = As(_keys_of, _pairs_of, "a list of finding types with their subjects")


@dataclass(frozen=True)
class Review:
    """The review of a change of one stack."""

    stack: str
    #: Worst first.
    findings: tuple[Finding, ...] = ()
    #: Every changed setting.
    settings: tuple[Setting, ...] = ()
    #: The answers of the product that differ.
    differences: Annotated[tuple[Difference, ...], At("answers")] = ()
    #: The parts that could not be compared, a sentence each.
    incomplete: tuple[str, ...] = ()
    #: None if the costs are unknown.
    costs: Costs | None = None
    #: The state of the stack's quota and policy once the change is deployed, in a few words.
    quota: str = ""
    policy: str = ""
    #: Existing problems, a sentence each.
    standing: tuple[str, ...] = ()
    #: Pulumi's steps, a line each.
    plan: tuple[str, ...] = ()
    #: Remarks on how the review was made.
    notes: tuple[str, ...] = ()
    #: Warnings that the program under review printed. They decide nothing.
    quoted: tuple[str, ...] = ()
    #: People's addresses on lines that the change edits.
    addresses: tuple[str, ...] = ()
    #: The deployment is rejected; the first incomplete part says so.
    undeployed: bool = False
    #: Keys of findings that the base branch has already, and that are not deployed yet.
    on_main: Annotated[frozenset[tuple[str, str]], _PAIRS] = frozenset()
    #: The clusters that an interrupted deployment of this commit was replacing in place; None without one.
    begun: Annotated[frozenset[str] | None, NOT_WRITTEN] = None
    #: Names of clusters that the change adds.
    added: Annotated[frozenset[str], NOT_WRITTEN] = frozenset()
    #: Why the commit is neither the deployed one nor one that is being deployed; empty if it is.
    stray: Annotated[str, NOT_WRITTEN] = ""
    #: The commit to deploy, and the commits that are deployed or being deployed, as far as they are known.
    commit: Annotated[str, NOT_WRITTEN] = field(default="", compare=False)
    deployed: Annotated[tuple[str, ...], NOT_WRITTEN] = field(default=(), compare=False)

    @property
    def yours(self) -> tuple[Finding, ...]:
        """The findings that the base branch does not have."""
        return tuple(finding for finding in self.findings if finding.key not in self.on_main)

    @property
    def refused(self) -> bool:
        """Return whether the deployment is rejected, so that nothing of the change takes effect."""
        return self.undeployed or any(refuses(finding) for finding in self.yours)

    @property
    def gaps(self) -> tuple[tuple[str, str], ...]:
        """The parts that are unknown, each with its heading."""
        first = "Nothing is deployed" if self.undeployed else "Incomplete"
        headings = chain([first], repeat("Incomplete"))
        return tuple(zip(headings, self.incomplete, strict=False))

    @property
    def silent(self) -> bool:
        """Return whether there is nothing to report."""
        return not any((self.findings, self.settings, self.incomplete, self.quoted))

    def rewritten(self, rewrite: Callable[[str], str]) -> Review:
        """Return the review with every text rewritten. The keys that the base branch has stay."""
        changed: dict[str, Any] = {name: _rewritten(getattr(self, name), rewrite) for name in _REWRITTEN}
        return replace(self, **changed)


def refuses(finding: Finding) -> bool:
    """Return whether the deployment is rejected because of a finding."""
    is_enforced = finding.facts.get("enforced", True)
    return KINDS[finding.kind].refuses and finding.grade is Grade.BLOCKING and is_enforced


def weight(finding: Finding) -> tuple[int, int, float]:
    """Return the key that sorts findings the worst first: why a deployment is rejected, jobs, then by section."""
    place = 2 + _SECTIONS.index(KINDS[finding.kind].section)
    if finding.kind in _OF_JOBS:
        place = 1
    if refuses(finding):
        place = 0
    return -finding.grade, place, -finding.cost


def _rewritten(value: Any, rewrite: Callable[[str], str]) -> Any:
    """Return a value with every text in it rewritten, in the same classes."""
    if isinstance(value, Subject):
        return Subject(rewrite(value.what), rewrite(value.name), rewrite(value.part))
    if type(value) is str:  # And no word of an enumeration.
        return rewrite(value)
    if isinstance(value, tuple | list):
        return tuple(_rewritten(item, rewrite) for item in value)
    if isinstance(value, Mapping):
        return {_rewritten(key, rewrite): _rewritten(item, rewrite) for key, item in value.items()}
    if is_dataclass(value):
        # The names of finding types and questions are no texts.
        names = {each.name for each in fields(value)} - {"kind", "question"}
        changed: Any = {name: _rewritten(getattr(value, name), rewrite) for name in names}
        return replace(cast(Any, value), **changed)
    return value


SCHEMA = 3
DOCUMENT = "review"
DOCUMENTS = "reviews"


def write(review: Review) -> dict[str, Any]:
    """Return the JSON of a review. Amounts are USD per hour."""
    worst = max((finding.grade for finding in review.findings), default=None)
    # Facts of findings may have values that JSON lacks.
    body = json.loads(json.dumps(codec.document(review), default=str))
    return {"schema": SCHEMA, "kind": DOCUMENT, "worst": worst and worst.review_word, **body}


def write_all(reviews: Sequence[Review]) -> dict[str, Any]:
    documents = [write(review) for review in reviews]
    if len(documents) == 1:
        return documents[0]
    return {"schema": SCHEMA, "kind": DOCUMENTS, "reviews": documents}


def read_all(bodies: object, source: str) -> tuple[Review, ...]:
    """Read the reviews of a list. Raises ConfigError as `read` does."""
    if not isinstance(bodies, list):
        raise ConfigError(f"{source} is not a whole document", why="it has no list of reviews", fix="make it again")
    return tuple(read(body, source) for body in bodies)


def read(body: object, source: str) -> Review:
    """Read a review; `source` names the document. Raises ConfigError if it is invalid."""
    document = body if isinstance(body, Mapping) else {}
    kind = document.get("kind")
    schema = document.get("schema")
    if kind != DOCUMENT or schema != SCHEMA:
        raise ConfigError(
            f"{source} is not a review that this version reads",
            why=f"kind {kind!r}, schema {schema!r}; it should be {DOCUMENT!r} and {SCHEMA}",
            fix="make it with slipway review EVENTS --output json",
        )
    try:
        # A review without one of the keys would hide findings.
        missing = [key for key in write(Review("")) if key not in document]
        if missing:
            raise codec.MalformedError("is missing", join(missing))
        # JSON as Python reads it may have numbers that nothing can be compared with.
        json.dumps(document, allow_nan=False)
        review = codec.read(Review, document)
    except ValueError as problem:
        raise ConfigError(f"{source} is not a whole review", why=str(problem), fix="make it again") from problem
    unknown = [finding.kind for finding in review.findings if finding.kind not in KINDS]
    if unknown:
        why = f"it has findings of types that this version does not know: {join(map(quoted, unknown))}"
        raise ConfigError(f"{source} is not a whole review", why=why, fix="make it again")
    return review
