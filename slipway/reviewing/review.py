"""A review: all effects of a change, worst first. As JSON it passes from one job of a workflow to the next."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Annotated, Any, TypeVar

from slipway.authoring.stack.secrets import without_secrets
from slipway.base import codec
from slipway.base.codec import NOT_WRITTEN, As
from slipway.base.errors import ConfigError
from slipway.base.formatting import first_lines, join, short
from slipway.deploying.engine import events
from slipway.deploying.engine.preview import Preview
from slipway.model.catalog.withdrawal import UNCOMMITTED, replacing
from slipway.model.facts import CATALOG
from slipway.model.findings.finding import Grade, Section, Subject
from slipway.model.findings.grades import BY_WORD, GRADES
from slipway.model.labels import UNKNOWN_COMMIT, Revision
from slipway.reviewing.change.change import Change, Side, added, by_our_fault
from slipway.reviewing.change.edits import Edit
from slipway.reviewing.change.usual import misfits
from slipway.reviewing.consequence import Consequence, spelt
from slipway.reviewing.rules.budget import budgets
from slipway.reviewing.rules.clusters.engine import deletions, unsaid_clusters
from slipway.reviewing.rules.clusters.fates import adoption, clusters, retiring, still_retiring
from slipway.reviewing.rules.clusters.jobs import unfinished
from slipway.reviewing.rules.clusters.machines import standing_alternatives
from slipway.reviewing.rules.clusters.settings import settings
from slipway.reviewing.rules.money import Money, costs, money
from slipway.reviewing.rules.policy import policy, policy_in_words, standing_violations
from slipway.reviewing.rules.program import deploying, program, used_later
from slipway.reviewing.rules.quota import quota, quota_in_words
from slipway.reviewing.rules.resources.data import buckets, data
from slipway.reviewing.rules.resources.exposure import exposure
from slipway.reviewing.rules.resources.people import people
from slipway.reviewing.rules.resources.resources import resources
from slipway.reviewing.rules.resources.sessions import sessions
from slipway.reviewing.rules.resources.trainers import trainers
from slipway.reviewing.rules.teams import teams
from slipway.reviewing.rules.templates.templates import templates
from slipway.reviewing.rules.workspaces import workspaces

T = TypeVar("T")
_LONGEST_STEP, _MOST_QUOTED, _MOST_ADDRESSES = 300, 10, 1000
_PHRASES = ("who", "does", "so", "instead", "field")
_LINES = ("incomplete", "standing", "plan", "quoted", "notes")

COMPARISONS: tuple[Callable[[Change], Iterable[Consequence]], ...] = (
    clusters,
    adoption,
    retiring,
    settings,
    deletions,
    unsaid_clusters,
    unfinished,
    costs,
    budgets,
    templates,
    people,
    sessions,
    trainers,
    teams,
    exposure,
    buckets,
    data,
    resources,
    quota,
    policy,
    program,
    workspaces,
    used_later,
    deploying,
)
"""The comparisons, each of one side of the change."""

_PAIRS = As(
    lambda pairs: frozenset((str(kind), str(subject)) for kind, subject in pairs),
    lambda keys: sorted(map(list, keys)),
    "a list of kinds with their subjects",
)


@dataclass(frozen=True)
class Review:
    """All that follows from a change of one stack."""

    stack: str
    #: By section, the worst first.
    consequences: tuple[Consequence, ...] = ()
    #: Parts that could not be compared, a sentence each.
    incomplete: tuple[str, ...] = ()
    money: Money | None = None
    #: The standing of the stack's quota once it is deployed, in a few words; of its policy likewise.
    quota: str = ""
    policy: str = ""
    #: Existing faults, a sentence each.
    standing: tuple[str, ...] = ()
    #: The engine's steps, a line each.
    plan: tuple[str, ...] = ()
    #: Remarks on how the review was made.
    notes: tuple[str, ...] = ()
    #: Warnings of the program under review, in its own words, which decide nothing.
    quoted: tuple[str, ...] = ()
    #: People's addresses in the change's own diff.
    addresses: tuple[str, ...] = ()
    #: The deployment is refused, which the first of the incomplete parts tells.
    undeployed: bool = False
    #: Keys of consequences that main has, and that are not deployed yet.
    on_main: Annotated[frozenset[tuple[str, str]], _PAIRS] = frozenset()
    #: Set when an earlier `up` of this commit was cut short: the clusters that it was replacing in place.
    begun: Annotated[frozenset[str] | None, NOT_WRITTEN] = None
    #: Names of clusters that are not deployed yet.
    added: Annotated[frozenset[str], NOT_WRITTEN] = frozenset()
    #: Why its commit is neither the deployed one nor one under way; empty where it is.
    stray: Annotated[str, NOT_WRITTEN] = ""
    #: The commit to deploy, and those that are deployed or under way, as far as they are known.
    commit: Annotated[str, NOT_WRITTEN] = field(default="", compare=False)
    deployed: Annotated[tuple[str, ...], NOT_WRITTEN] = field(default=(), compare=False)

    @property
    def yours(self) -> tuple[Consequence, ...]:
        return tuple(part for part in self.consequences if part.key not in self.on_main)

    @property
    def refused(self) -> bool:
        """Tell whether nothing of it comes, as the deployment is refused."""
        return self.undeployed or any(part.refuses for part in self.yours)

    @property
    def gaps(self) -> tuple[tuple[str, str], ...]:
        """Return the parts that are not known, each after its heading."""
        first = "Nothing is deployed" if self.undeployed else "Incomplete"
        return tuple((first if place == 0 else "Incomplete", part) for place, part in enumerate(self.incomplete))

    @property
    def silent(self) -> bool:
        return not (self.consequences or self.incomplete or self.quoted)

    def rewritten(self, rewrite: Callable[[str], str]) -> Review:
        """Return it with each of its texts rewritten; the keys that main has stay."""

        def told(part: Consequence) -> Consequence:
            phrases: dict[str, Any] = {key: rewrite(getattr(part, key)) for key in _PHRASES}
            subject = Subject(*map(rewrite, (part.subject.what, part.subject.name, part.subject.part)))
            edits = tuple(Edit(*map(rewrite, (edit.key, edit.before, edit.after))) for edit in part.edits)
            return replace(part, subject=subject, edits=edits, details=tuple(map(rewrite, part.details)), **phrases)

        lines: dict[str, Any] = {name: tuple(map(rewrite, getattr(self, name))) for name in _LINES}
        return replace(self, consequences=tuple(map(told, self.consequences)), **lines)


def review(change: Change) -> Review:
    """Return the review. A rule that raises is a fault of Slipway's: it is told as one, with all that others find, and
    opens no gate."""
    unable: list[str] = []

    def told(look: Callable[[Change], Iterable[T]], name: str = "") -> tuple[T, ...]:
        try:
            return tuple(look(change))
        except Exception as problem:
            name = name or look.__name__.replace("_", " ")
            unable.append(by_our_fault(f"{name} could not be compared", problem))
            return ()

    every = (part for compare in COMPARISONS for part in told(compare))
    policies = tuple(facts.policy.get(GRADES, {}) for facts in (change.before, change.after))
    parts = {part.key: regraded(_placed(part, change), policies) for part in every}
    # That the deployment is refused needs no line where another consequence tells why.
    why = any(part.refuses for part in parts.values()) and not any(map(misfits, change.new.templates.values()))
    scarce = any(part.refuses and part.section is Section.QUOTA for part in parts.values())
    order = list(Section)
    consequences = sorted(
        (
            replace(part, instead="") if scarce and part.of.needs_room else part
            for part in parts.values()
            if not (why and part.of.failed)
        ),
        key=lambda part: (order.index(part.section), -part.grade, -part.cost),
    )
    preview, published, new = change.preview or Preview(), change.published, change.new
    begun = replacing(published) if published and published.under_way == new.commit and not new.dirty else None
    amounts = told(lambda change: [money(change)], "amounts") if Side.AFTER not in change.unknown else ()
    # The program's warnings may say anything: they are cut, and few.
    quoted = first_lines((short(warning, _LONGEST_STEP) for warning in preview.warnings), _MOST_QUOTED)
    stands = told(lambda change: [quota_in_words(change)], "quota")
    standing = [line for look in (standing_violations, still_retiring, standing_alternatives) for line in told(look)]
    cut_short = ("a deployment of this commit did not come to its end, and the next one goes on with it",)
    whole = Review(
        stack=change.stack,
        consequences=tuple(spelt(part, new.origin) for part in consequences),
        incomplete=(*filter(None, (preview.why,)), *change.unread, *unable),
        undeployed=preview.refused,
        money=next(iter(amounts), None),
        quota=next(iter(stands), ""),
        policy=next(iter(told(lambda change: [policy_in_words(change)], "policy")), ""),
        standing=(*(cut_short if begun is not None else ()), *standing),
        plan=tuple(planned(preview)),
        notes=change.notes,
        quoted=tuple(quoted),
        addresses=tuple(sorted(change.files.addresses))[:_MOST_ADDRESSES],
        begun=begun,
        added=added(change),
        stray=_stray(change),
        commit=new.commit,
        deployed=_deployed_commits(change),
    )
    # What somebody names a thing, and an error repeats, may be a secret too: no rule has to think of it.
    return whole.rewritten(cache(without_secrets))


def _placed(part: Consequence, change: Change) -> Consequence:
    """Return it without a key of the stack file where other files alone are edited, as a program's own."""
    touched = change.files.touched
    own = not touched or any(file.startswith(f"stacks/Pulumi.{change.stack}.") for file in touched)
    return part if own or not part.field.startswith("slipway:") else replace(part, field="")


def regraded(part: Consequence, policies: Iterable[Mapping[str, str]]) -> Consequence:
    """Put a team's grade in place of the default: that of the deployed stack file, or of the declared one where this is
    graver, so that no change makes itself harmless. A grade that is not the kind's default stays."""
    usual = part.of.usual
    team = max(BY_WORD.get(str(grades.get(part.kind)), usual) for grades in policies)
    return replace(part, grade=team) if part.grade is usual else part


def _stray(change: Change) -> str:
    published, new = change.published, change.new
    if published is None:
        return ""
    deployed = Revision(published.under_way, dirty=False) if published.under_way else published.revision
    if published.under_way == UNCOMMITTED:
        return "A deployment of what is in no commit was begun, and did not come to its end"
    if new.dirty or new.commit == UNKNOWN_COMMIT:
        return f"This is {new.revision}, which nobody else has"
    return "" if new.revision == deployed else f"This is {new.revision}, and {deployed} is deployed"


def _deployed_commits(change: Change) -> tuple[str, ...]:
    """Return the commits that are deployed or under way: those of the published catalog, and of every catalog in the
    engine's state, as a program may have several."""
    known = events.deployed(change.preview) if change.preview else ()
    commits = [str(inputs.get("commit") or "") for type_, _, inputs in known if type_ == CATALOG]
    if change.published:
        commits += [change.published.commit, change.published.under_way or ""]
    return tuple(commit for commit in dict.fromkeys(commits) if commit not in ("", UNKNOWN_COMMIT, UNCOMMITTED))


def beside(yours: Review, main: Review) -> Review:
    """Mark consequences that are on main already, unless this change makes them worse, or different. `main`: the review
    of the base branch alone."""
    there = {part.key: part for part in main.consequences}

    def stays(part: Consequence) -> bool:
        known = there.get(part.key)
        # Sentences are short, and details have unshortened names; a cluster made again tells of templates that differ.
        return bool(
            known
            and part.grade <= known.grade
            and (part.sentence, part.edits) == (known.sentence, known.edits)
            and (part.details == known.details or (part.of.becomes and part.grade < Grade.BLOCKING and not part.edits))
        )

    # Names that are hidden are equal: of such things none is on main unless all are.
    both = {part.key for part in yours.consequences} - {part.key for part in yours.consequences if not stays(part)}
    new = tuple(line for line in yours.quoted if line not in main.quoted)
    return replace(yours, on_main=frozenset(both), quoted=new)


def planned(preview: Preview) -> Iterator[str]:
    """Yield `create gcp:storage/bucket:Bucket work`; components are nothing in the cloud."""
    done = sorted((step.op, step.type, step.name) for step in preview.steps if not step.component)
    yield from (short(" ".join(words), _LONGEST_STEP) for words in done)


SCHEMA = 2
KIND, KINDS = "review", "reviews"
_BEFORE = ("schema", "kind", "stack", "worst", "incomplete", "money", "quota", "policy")
_KEYS = (*_BEFORE, "consequences", "standing", "plan", "notes", "onMain")
"""The keys in their order, a part of the interface. All are required: a cut review would hide consequences."""


def write(review: Review) -> dict[str, Any]:
    """Return the JSON. Amounts are USD an hour."""
    grades = [part.grade for part in review.consequences]
    worst = max(grades).review_word if grades else None
    return {**dict.fromkeys(_KEYS), "schema": SCHEMA, "kind": KIND, "worst": worst, **codec.document(review)}


def write_all(reviews: Sequence[Review]) -> dict[str, Any]:
    documents = [write(whole) for whole in reviews]
    return documents[0] if len(documents) == 1 else {"schema": SCHEMA, "kind": KINDS, "reviews": documents}


def read_all(bodies: object, source: str) -> tuple[Review, ...]:
    """Read the reviews of a list. Raises ConfigError as `read` does."""
    if not isinstance(bodies, list):
        raise ConfigError(f"{source} is not a whole document", why="it has no list of reviews", fix="make it again")
    return tuple(read(body, source) for body in bodies)


def read(body: object, source: str) -> Review:
    """Read a review. Raises ConfigError for an invalid document; `source` names it."""
    told = body if isinstance(body, Mapping) else {}
    if told.get("kind") != KIND or told.get("schema") != SCHEMA:
        raise ConfigError(
            f"{source} is not a review that this version reads",
            why=f"kind {told.get('kind')!r}, schema {told.get('schema')!r}; it should be {KIND!r} and {SCHEMA}",
            fix="make it with slipway review EVENTS --output json",
        )
    try:
        if missing := [key for key in _KEYS if key not in told]:
            raise codec.MalformedError("is missing", join(missing))
        return codec.read(Review, told)
    except codec.MalformedError as problem:
        raise ConfigError(f"{source} is not a whole review", why=str(problem), fix="make it again") from problem
