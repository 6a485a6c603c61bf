"""A review as text: its headline, and all of it for a terminal. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from slipway.base.formatting import counted, few, first_lines
from slipway.model.findings.finding import Grade, Shown
from slipway.model.findings.grades import SUMS
from slipway.model.machines.price_tables import HOURS_OF_A_MONTH
from slipway.model.prices import NOTABLE
from slipway.reviewing.review import Review
from slipway.reviewing.told.cards import ON_MAIN, SIGNS, Card, Line, Lines, arranged

NOTHING = "nothing changes for jobs, money or access"
LONGEST = 120
"""The characters of a headline."""
_ALIKE = {Grade.WARNING: "warning", Grade.NOTE: "change"}
_DETAILS = 6
_LABEL = 20


def headline(reviews: Sequence[Review], lines: Lines | None = None, nothing: str = NOTHING) -> str:
    """Return `⛔ prod: Jobs of lora are ended after 1 h · +$1.7k a month`: who is hit and how, and dollars. No part is
    cut: those that do not fit into `LONGEST` are counted. `lines`: the reviews', where they are known already."""
    lines = lines or arranged(reviews)
    unknown = any(review.incomplete for review in reviews)
    if not lines.opened:
        return "⚠ not all could be compared" if unknown else f"✓ {nothing}"
    first = lines.opened[0].card
    sign = SIGNS[max(first.grade, Grade.WARNING)] if unknown else lines.opened[0].sign
    whose = "" if len(reviews) > 1 and not first.stacks else f"{few(first.stacks) or reviews[0].stack}: "
    start = f"{sign} {whose}{f'{ON_MAIN}: ' if first.on_main else ''}"
    money = "" if first.lead.of.shown is Shown.IN_TABLE else _money(reviews, first)
    every = (*lines.opened, *lines.folded)
    alike = [line for line in every if (line.card.grade, line.card.on_main) == (first.grade, first.on_main)]
    alike = [line for line in alike if line.card is first or not line.card.lead.in_table]
    return start + _clauses(alike, LONGEST - len(start.replace("`", "")) - len(money), money)


def _clauses(alike: Sequence[Line], room: int, money: str) -> str:
    """Return the first clause, the second where there is room for it, the number of the others, and `money` where no
    clause has it."""
    lead, grade = alike[0].card.lead, alike[0].card.grade
    if lead.refuses or lead.of.failed:
        return alike[0].clause
    # What happens to another stack is not said of this one.
    for most in (2, 1) if len({line.card.stacks for line in alike[:2]}) == 1 else (1,):
        clauses = [line.clause for line in alike[:most]]
        if others := alike[most:]:
            more, notes = len(others), [part for line in alike for card in line.cards for part in card.parts]
            if grade is Grade.NOTE:  # Of its notes a line has the first alone.
                more = sum(not part.in_table for part in notes) - sum(len(line.cards) for line in alike[:most])
            blocks = grade is Grade.BLOCKING
            clauses.append(f"{more:,} more to approve" if blocks else counted(more, f"more {_ALIKE[grade]}"))
        words = " · ".join(clauses)
        if len(words.replace("`", "")) <= room:
            break
    return words + money * all(line.card.lead.of.shown is not Shown.IN_TABLE for line in alike[:most])


def _money(reviews: Sequence[Review], first: Card) -> str:
    """Return ` · +$1.7k a month` with nothing running, else with every pool at its maximum, for all stacks of the first
    line; nothing of what is not known, or comes and goes with seasons."""
    theirs = [part for review in reviews if not first.stacks or review.stack in first.stacks for part in review.yours]
    for kind, when in zip(SUMS, ("", " at most"), strict=True):
        monthly = Decimal(sum(part.cost for part in theirs if part.kind == kind)) * HOURS_OF_A_MONTH
        if abs(monthly) >= NOTABLE:
            return f" · {brief(monthly)} a month{when}"
    return ""


def brief(amount: Decimal) -> str:
    """Return `+$1.7k`, `−$886k`, `+$45`."""
    sign, most = "−" if amount < 0 else "+", abs(amount)
    for unit, size in (("M", Decimal(10**6)), ("k", Decimal(10**3))):
        if most >= size:
            number = most / size
            return f"{sign}${number:.1f}{unit}" if number < 10 else f"{sign}${number:,.0f}{unit}"
    return f"{sign}${most:.0f}"


def addresses(reviews: Sequence[Review]) -> str:
    """Return a line for each consequence: its row, its kind, and its sentence."""
    parts = [
        (part.row, part.kind, part.sentence.replace("`", "")) for review in reviews for part in review.consequences
    ]
    row, kind = (max((len(part[column]) for part in parts), default=0) for column in (0, 1))
    return "\n".join(f"{part[0]:{row}}  {part[1]:{kind}}  {part[2]}" for part in parts)


def plain_text(review: Review, nothing: str = NOTHING, *, cards: bool = True) -> str:
    """Return lines without a final newline, names unchanged, for copying. `nothing`: words for no consequence."""
    lines = arranged((review,))
    text = [headline((review,), lines, nothing), *(f"{head.lower()}: {gap}" for head, gap in review.gaps)]
    graver = [line for line in lines.folded if line.card.opens]
    notes = [line for line in lines.folded if line not in graver]
    for some, title in ((lines.opened, ""), (graver, "more to look at"), (notes, "for information")):
        text += [title] if title and some else []
        for line in some:
            text.append(f"  {line.sign} {line.told}{f'  [{line.field}]' if line.field else ''}")
    for card in filter(lambda card: card.more, lines.cards if cards else ()):
        title = f"{card.title}{f', {ON_MAIN}' if card.on_main else ''}"
        first, *others = [
            f"  {label:{_LABEL}} {' · '.join(filter(None, (', '.join(first_lines(middle, _DETAILS)), follows)))}"
            for label, middle, follows in card.rows()
        ]
        # A first row that is called as the card stands as its heading.
        heading = [f"{title}  {first[2 + len(title) :]}"] if first.startswith(f"  {title} ") else [title, first]
        text += [*heading, *others]
    if review.standing:
        text += [ON_MAIN, *(f"  {line}" for line in review.standing)]
    if review.quoted:
        text += ["the program warns, in its own words", *(f"  {line}" for line in review.quoted)]
    return "\n".join(text).replace("`", "")
