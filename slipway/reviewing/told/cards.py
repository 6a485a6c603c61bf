"""Cards of a review: all that happens to one thing, and the line that stands open for it. Pure.

Here alone parts are put in order, joined, and left out where there is no room.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate

from slipway.base.formatting import join
from slipway.model.findings.finding import Grade, Row, Section, Shown
from slipway.reviewing.change.change import grouped
from slipway.reviewing.consequence import IT, Consequence, named
from slipway.reviewing.review import Review
from slipway.reviewing.rules.words import named as several

MOST_OPEN = 7
LONGEST, ROOM, FULL = 38, 78, 84
"""The words of an open line, of all of them, and of all with their keys. Of a refused deployment the refusal has all
its words, and what would come beside it about half."""
SIGNS = {Grade.BLOCKING: "⛔", Grade.WARNING: "⚠", Grade.NOTE: "•"}
ON_MAIN = "not caused by this change"
_ROWS = list(Row)
_WORD = re.compile(r"\w+")
_PLURAL = (f"Jobs of {IT}", f"Submissions of {IT}")
_NAMES = ("Google", "Spot")
_OF_ITSELF = (IT, _PLURAL[0])
"""Beginnings of phrases that a card's title says already."""


@dataclass(frozen=True)
class Card:
    """A thing that is hit, with all that happens to it, the heaviest part first."""

    parts: tuple[Consequence, ...]
    #: The stacks in which it happens alike; empty for a single stack, or for all.
    stacks: tuple[str, ...] = ()
    on_main: bool = False
    #: The words that its line has room for.
    room: int = LONGEST
    #: The other templates of which it tells all the same.
    others: tuple[str, ...] = ()
    #: The cards of stacks that its line has as one, and whose other words differ.
    apart: tuple[Card, ...] = ()

    @property
    def lead(self) -> Consequence:
        return self.parts[0]

    @cached_property
    def grade(self) -> Grade:
        return max(part.grade for part in self.parts)

    @property
    def opens(self) -> bool:
        return not self.on_main and (self.grade > Grade.NOTE or any(part.of.shown is Shown.OPEN for part in self.parts))

    @property
    def title(self) -> str:
        """The thing, or the section for things of which a comment has one card."""
        what, name = self.lead.thing
        if self.others:
            return f"{what}s {join((name, *self.others))}"
        return f"{what} {name}" if what in ("cluster", "template") else self.lead.place

    @property
    def phrase(self) -> str:
        """The words that the line has room for, with `{it}` for the thing's name."""
        return self.line[0]

    @cached_property
    def line(self) -> tuple[str, Sequence[Consequence]]:
        """The parts as bad as the first one, then what that comes to, then others, as there is room; and those of which
        it tells more than the lead's phrase, or else the lead."""
        lead, also, told = self.lead, "", list[Consequence]()
        for part in (part for part in self.parts if part.phrase != lead.phrase and part.grade > Grade.NOTE):
            same = part.called == lead.called
            again = ("it" if part.who == IT else "they") if same and part.who == lead.who in _OF_ITSELF else part.who
            # Other cases of a template that are hit alike are named together.
            cases = dict.fromkeys(each.who for each in self.parts if same and each.does == part.does == lead.does)
            who = [one if one.startswith(_NAMES) else f"{one[:1].lower()}{one[1:]}" for one in [*cases][1:] or [again]]
            # Of a cluster's pool the line may have what becomes of the cluster.
            known = f"{'' if cases else lead.phrase}{lead.end}{also}"
            more = f"{several(who)} {part.does}".strip()
            more = more if same else named(more, f"`{part.called}`")
            before = lead.phrase if part.grade is lead.grade else self._begun(also)
            if part.does not in known and _words(f"{before}{also} {more}") <= self.room:
                also = f"{also}; {more}"
                told.append(part)
        begun = self._begun(also)
        return f"{begun}{also}", told if told and begun == lead.phrase else [lead, *told]

    def _begun(self, also: str) -> str:
        """Return the first part with as many of its facts, the heaviest first, as have room before the others."""
        facts = f"{self.lead.phrase}{self.lead.end}".split("; ")
        cuts = ("; ".join(facts[:most]) for most in range(len(facts), 0, -1))
        whole = (cut for cut in cuts if cut.count("(") == cut.count(")"))
        return next((cut for cut in whole if _words(f"{cut}{also}") <= self.room), self.lead.phrase)

    @property
    def words(self) -> tuple[object, ...]:
        """The words of its parts, without the places in a stack's file."""
        return tuple(
            (each.key, each.grade, each.sentence, each.instead, each.edits, each.details) for each in self.parts
        )

    @property
    def more(self) -> bool:
        lead = self.lead
        return len(self.parts) > 1 or bool(lead.edits or lead.details or lead.instead or lead.end not in self.phrase)

    def rows(self) -> Iterator[tuple[str, tuple[str, ...], str]]:
        """Yield rows: a label, values before and after with the people and things concerned, and what follows. A remedy
        stands right below what it mends; one of several, below the last."""
        above = ""
        for row, middle, follows in dict.fromkeys(self.told()):
            yield ("" if row.value == above else row.value), middle, follows
            above = row.value

    def told(self, names: str = "") -> Iterator[tuple[Row, tuple[str, ...], str]]:
        """Yield rows, with `names` for the thing's own where they are given."""
        parts = sorted(self.parts, key=lambda part: _ROWS.index(part.of.row))
        names = names or (several(f"`{name}`" for name in (self.lead.called, *self.others)) if self.others else "")
        last = {named(part.instead, names or f"`{part.called}`"): part for part in parts}
        for part in parts:
            own = part.thing[0] in ("cluster", "template") and part.who in _OF_ITSELF
            follows = f"{part.does}{part.end}" if own else f"{part.phrase}{part.end}"
            # A phrase may have its edit.
            edits = tuple(told for edit in part.edits if (told := str(edit)) not in follows)
            why = edits if part.of.row is Row.FATE else ()
            yield part.of.row, (*edits[len(why) :], *part.details), named(follows, names or f"`{part.called}`")
            if why:
                yield Row.WHY, why, ""
            yield from ((Row.ADVICE, (), remedy) for remedy, of in last.items() if remedy and of is part)


def keys_of(parts: Sequence[Consequence]) -> str:
    """Return the keys that caused parts."""
    keys = (each.field for each in parts if each.subject.what != "template" or set(":/") & set(each.field))
    return ", ".join(dict.fromkeys(filter(None, keys)))


@dataclass(frozen=True)
class Line:
    """The open line of cards whose things are hit alike."""

    cards: tuple[Card, ...]

    @property
    def card(self) -> Card:
        return self.cards[0]

    @property
    def names(self) -> str:
        return several(dict.fromkeys(f"`{card.lead.called}`" for card in self.cards))

    @property
    def sign(self) -> str:
        return SIGNS[self.card.grade]

    def _says(self, phrase: str) -> str:
        stacks = join(f"`{stack}`" for stack in self.card.stacks)
        return f"{stacks and f'{stacks}: '}{named(phrase, self.names)}"

    @property
    def told(self) -> str:
        return f"{self._says(self.card.phrase)}{f' ({ON_MAIN})' if self.card.on_main else ''}"

    @property
    def clause(self) -> str:
        """Its first phrase, which a title has."""
        return named(self.card.lead.phrase, self.names)

    @property
    def below_title(self) -> str:
        """The rest of it, below a title that has its stacks and its clause; what follows, or else the edit, where the
        line had room for neither."""
        lead = self.card.lead
        rest = self._says(self.card.phrase).removeprefix(self._says(lead.phrase)).lstrip(":; ")
        return rest or named(lead.so.split("; ")[0], self.names) or "".join(map(str, lead.edits[:1]))

    @property
    def field(self) -> str:
        """The keys that caused it, where their file is known as well."""
        return keys_of((self.card.lead, *self.card.line[1]))


@dataclass(frozen=True)
class Lines:
    """The lines that stand open, and those for information."""

    opened: tuple[Line, ...]
    folded: tuple[Line, ...]

    @cached_property
    def cards(self) -> tuple[Card, ...]:
        """The cards, the worst first: one for each cluster and template, and one for each other section."""
        cards = (each for line in (*self.opened, *self.folded) for card in line.cards for each in card.apart or [card])
        by_place = grouped(cards, lambda card: (card.title, card.stacks, card.on_main)).values()
        whole = (replace(alike[0], parts=tuple(part for card in alike for part in card.parts)) for alike in by_place)
        return tuple(
            replace(first, others=tuple(card.lead.called for card in others))
            for first, *others in grouped(whole, Lines._told).values()
        )

    @staticmethod
    def _told(card: Card) -> tuple[object, ...]:
        """Return the key of cards that are one: of templates, those that tell all the same."""
        alike = card.more and card.lead.thing[0] == "template"
        return card.grade, card.stacks, card.on_main, tuple(card.told(IT)) if alike else card.title


def arranged(reviews: Sequence[Review]) -> Lines:
    """Return the lines of reviews, the worst first. A note, or what is on main already, is open where it is alone, or
    beside money alone."""
    every = sorted(_alike(_of_stacks(reviews)), key=lambda line: (line.card.on_main, *_weight(line.card.lead)))
    grave = [line for line in every if line.card.opens]
    mine = [line for line in every if not line.card.on_main]
    first, others = (
        [line for line in lines if not all(part.in_table for part in line.card.parts)] for lines in (grave, mine)
    )
    refused = any(review.refused for review in reviews)
    opened = (first or [*grave, *others] or mine or every)[: 4 if refused else MOST_OPEN]
    room = min(LONGEST, ROOM // max(len(opened), 1, 7 * refused))

    def placed(card: Card) -> Card:
        return replace(card, room=LONGEST if card.lead.refuses or card.lead.of.failed else room)

    lines = [Line(tuple(map(placed, line.cards))) for line in opened]
    lengths = accumulate(_words(f"{line.told} {line.field}") for line in lines)
    most = max(sum(length <= FULL for length in lengths), 1)
    return Lines(tuple(lines[:most]), tuple(line for line in every if line not in opened[:most]))


def _weight(part: Consequence) -> tuple[object, ...]:
    """Return the key that sorts the heaviest first."""
    return -part.grade, part.of.rank, _ROWS.index(part.of.row), list(Section).index(part.section), -part.cost


def _cards(review: Review) -> Iterator[Card]:
    things = grouped(review.consequences, lambda part: (part.thing, part.key in review.on_main))
    return (Card(tuple(sorted(parts, key=_weight)), on_main=on_main) for (_, on_main), parts in things.items())


def _of_stacks(reviews: Sequence[Review]) -> Iterator[Card]:
    pairs = [(review.stack, card) for review in reviews for card in _cards(review)]
    alike = grouped(pairs, lambda pair: (*pair[1].lead.key, pair[1].grade, pair[1].on_main, pair[1].phrase))
    for some in alike.values():
        stacks = tuple(stack for stack, _ in some)
        words = grouped(some, lambda pair: pair[1].words).values() if len(some) > 1 else ()
        apart = (replace(each[0][1], stacks=tuple(stack for stack, _ in each)) for each in words)
        every = len(some) == len(reviews)
        yield replace(some[0][1], stacks=() if every else stacks, apart=tuple(apart) if len(words) > 1 else ())


def _alike(cards: Iterable[Card]) -> Iterator[Line]:
    def alike(card: Card) -> tuple[object, ...]:
        lead = card.lead
        # A verb of one is not said of two.
        name = () if lead.who.startswith(_PLURAL) else lead.thing
        return lead.kind, lead.subject.what, card.grade, card.on_main, card.stacks, card.phrase, name

    return (Line(tuple(some)) for some in grouped(cards, alike).values())


def _words(text: str) -> int:
    return len(_WORD.findall(text))
