"""A review as a JSON document and back: what one job of a workflow hands to the next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any

from slipway.errors import ConfigError
from slipway.findings.finding import Finding, Grade, Section, Subject
from slipway.prices import Price
from slipway.review.money import Amount, Money
from slipway.review.review import Review

SCHEMA = 1
KIND, KINDS = "review", "reviews"
_GRADES = {grade.review_word: grade for grade in Grade}


def write(review: Review) -> dict[str, Any]:
    """Keys and their order are part of the interface; amounts are USD an hour."""
    money = review.money
    return {
        "schema": SCHEMA,
        "kind": KIND,
        "stack": review.stack,
        "worst": review.worst.review_word if review.worst else None,
        "incomplete": list(review.incomplete),
        "money": money and {"idle": _amount(money.idle), "most": _amount(money.most), "overlap": _price(money.overlap)},
        "quota": review.quota,
        "policy": review.policy,
        "consequences": [_consequence(one) for one in review.consequences],
        "standing": list(review.standing),
        "plan": list(review.plan),
        "notes": list(review.notes),
        "onMain": sorted([kind, subject] for kind, subject in review.on_main),
    }


def write_all(reviews: Sequence[Review]) -> dict[str, Any]:
    """One is written as such, several in a list."""
    documents = [write(one) for one in reviews]
    return documents[0] if len(documents) == 1 else {"schema": SCHEMA, "kind": KINDS, "reviews": documents}


def read_all(bodies: object, source: str) -> tuple[Review, ...]:
    """Those of a list. Raises ConfigError as `read` does."""
    if not isinstance(bodies, list):
        raise ConfigError(f"{source} is not a whole document", why="it has no list of reviews", fix="make it again")
    return tuple(read(one, source) for one in bodies)


def read(body: object, source: str) -> Review:
    """Raises ConfigError for what is not such a document; `source` names it."""
    told = body if isinstance(body, Mapping) else {}
    if told.get("kind") != KIND or told.get("schema") != SCHEMA:
        raise ConfigError(
            f"{source} is not a review that this version reads",
            why=f"kind {told.get('kind')!r}, schema {told.get('schema')!r}; it should be {KIND!r} and {SCHEMA}",
            fix="make it with slipway review --output json",
        )
    try:
        return _read(told)
    except (KeyError, TypeError, ValueError, AttributeError, InvalidOperation) as problem:
        raise ConfigError(
            f"{source} is not a whole review", why=f"{type(problem).__name__}: {problem}", fix="make it again"
        ) from problem


def _read(body: Mapping[str, Any]) -> Review:
    money = body["money"]
    return Review(
        stack=str(body["stack"]),
        consequences=tuple(_consequence_of(one) for one in body["consequences"]),
        incomplete=tuple(map(str, body["incomplete"])),
        money=money and Money(_amount_of(money["idle"]), _amount_of(money["most"]), _price_of(money["overlap"])),
        quota=str(body["quota"]),
        policy=str(body["policy"]),
        standing=tuple(map(str, body["standing"])),
        plan=tuple(map(str, body["plan"])),
        notes=tuple(map(str, body["notes"])),
        on_main=frozenset((str(kind), str(subject)) for kind, subject in body["onMain"]),
    )


def _consequence(one: Finding) -> dict[str, Any]:
    return {
        "section": one.section.value,
        "kind": one.kind,
        "subject": one.subject,
        "grade": one.grade.review_word,
        "sentence": one.sentence,
        "clause": one.clause,
        "details": list(one.details),
        "field": one.field,
        "costPerHour": one.cost,
    }


def _consequence_of(body: Mapping[str, Any]) -> Finding:
    return Finding(
        section=Section(body["section"]),
        kind=str(body["kind"]),
        subject=Subject.read(str(body["subject"])),
        grade=_GRADES[str(body["grade"])],
        sentence=str(body["sentence"]),
        clause=str(body.get("clause", "")),
        details=tuple(map(str, body["details"])),
        field=str(body["field"]),
        cost=float(body["costPerHour"]),
    )


def _amount(amount: Amount) -> dict[str, Any]:
    return {"before": _price(amount.before), "after": _price(amount.after)}


def _amount_of(body: Mapping[str, Any]) -> Amount:
    return Amount(_price_of(body["before"]), _price_of(body["after"]))


def _price(price: Price) -> dict[str, Any]:
    return {"perHour": None if price.unknown else str(price.known), "complete": price.complete}


def _price_of(body: Mapping[str, Any]) -> Price:
    amount = Decimal(body["perHour"] or 0)
    if not amount.is_finite():
        raise ValueError(f"{amount} is no amount")
    return Price(amount, bool(body["complete"]))
