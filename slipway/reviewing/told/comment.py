"""The comment of a change: Markdown within GitHub's limit, one screen before it folds. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import quote

from slipway.base.formatting import counted, few, first_lines, short
from slipway.model.findings.finding import Grade, Section
from slipway.model.findings.markdown import block, code, folded, text
from slipway.model.prices import MORE
from slipway.reviewing.review import Review
from slipway.reviewing.rules.money import Amount
from slipway.reviewing.told.cards import ON_MAIN, SIGNS, Card, Line, Lines, arranged, keys_of
from slipway.reviewing.told.headline import NOTHING, headline

_MARKED = "<!-- slipway-review"
MARKER = f"{_MARKED} -->"
"""The mark by which a workflow finds its own comment, where the project is the whole repository."""
LIMIT = 65_000
"""The most characters: GitHub takes 65,536."""
_LONGEST = 900
_LONGEST_NAME = 200
_MOST_TITLES, _MOST_ITEMS = 6, 15
_HEADS = ("stack", "concerned", "clusters, $ a month", "quota", "policy")
_SINCE = (
    "this comes once it is merged and deployed, for jobs that are submitted then; no job that runs is changed or "
    "ended, unless a line says otherwise"
)


@dataclass(frozen=True)
class Place:
    """The place of a comment."""

    #: The git tree of the merge result.
    tree: str = ""
    #: The commit whose code reviews it.
    base: str = ""
    #: The forge's word for the merged change.
    change: str = "pull request"
    #: The project's; empty where it is the whole repository.
    folder: str = ""


def mark(folder: str) -> str:
    """Return the mark of a comment: each of several projects in a repository has its own."""
    return f"{_MARKED} of {quote(folder, safe='/ ')} -->" if folder else MARKER


def comment(reviews: Sequence[Review], place: Place | None = None) -> str:
    """Return the comment, ending with a newline. Where it is too long it omits plans, then details, and says so."""
    place = place or Place()
    end = _footer(reviews, place)
    if all(review.silent for review in reviews):
        stacks = few(text(review.stack) for review in reviews)
        return f"{mark(place.folder)}\n### ✓ {NOTHING} in {stacks}\n{end}"
    lines = arranged(reviews)
    head, *rows = (f"| {' | '.join(cells)} |" for cells in (_HEADS, *map(_row, reviews)))
    table = "\n".join((head, f"|{'---|' * len(_HEADS)}", *rows))
    # The table of a single stack without news.
    (_, _, money, *_), *others = map(_row, reviews)
    same = money != "?" and "→" not in money
    calm = same and _worse(reviews[0]).isdisjoint((Section.QUOTA, Section.POLICY))
    folds = calm and not others and bool(_cards(lines))
    opened = _opened(reviews, lines, "" if folds else table)
    for below in _forms(reviews, lines, table if folds else ""):
        body = "\n\n".join(filter(None, (*opened, *below)))
        whole = f"{mark(place.folder)}\n{body}\n{end}"
        if len(whole) <= LIMIT:
            return whole
    first = text(short(headline(reviews, lines), _LONGEST))
    return f"{mark(place.folder)}\n### {first}\n\nToo much for a comment: `slipway review` prints it.\n"


def _opened(reviews: Sequence[Review], lines: Lines, table: str) -> list[str]:
    unread: dict[tuple[str, str], list[str]] = {}
    for review in reviews:
        for gap in review.gaps:
            unread.setdefault(gap, []).append(review.stack)
    refused = any(review.refused for review in reviews)
    title = headline(reviews, lines)
    # Of a title of two things each line names the one that it goes on from.
    two = any(line.clause in title and line.card.stacks == lines.opened[0].card.stacks for line in lines.opened[1:2])
    items = [
        _below_title(line, two) if at <= two else _item(line.told, line.sign, line.field)
        for at, line in enumerate(lines.opened)
    ]
    parts = [f"### {text(short(title, _LONGEST))}", table, "\n".join(f"- {item}" for item in items if item)]
    gaps = [f"> **{head}:** {_whose(stacks, reviews)}{_shown(gap)}" for (head, gap), stacks in unread.items()]
    # What a refused deployment would bring is read as that.
    return [part for part in (parts[:-1] + gaps + parts[-1:] if refused else parts + gaps) if part]


def _forms(reviews: Sequence[Review], lines: Lines, table: str) -> Iterator[list[str]]:
    """Yield the parts below the open lines, from the longest form to the shortest. `table`: where it is folded."""
    standing = [f"- {_whose([review.stack], reviews)}{_shown(line)}" for review in reviews for line in review.standing]
    remarks = f"{counted(len(standing), 'remark')} that this change did not cause"
    beside = [folded(remarks, "\n".join(standing))] if standing else []
    for review in reviews:
        if review.quoted:
            whose = f"the program of {review.stack} warns, in its own words: {len(review.quoted)}"
            beside.append(folded(whose, block("\n".join(review.quoted))))
    planned = [(f"plan of {review.stack}", review.plan) for review in reviews if review.plan]
    if planned:
        plans = (folded(f"{of}: {counted(len(plan), 'step')}", block("\n".join(plan))) for of, plan in planned)
        yield [_folded_cards(lines, 100, table), *beside, *plans]
    no_plan = ["The plan is too long for a comment; the log of the preview has it."] if planned else []
    for details in (100, 12, 4, 0):
        yield [_folded_cards(lines, details, table), *beside, *no_plan]
    others = [_item(line.told, line.sign, line.field) for line in lines.folded if line.card.opens]
    no_cards = "The cards are too long for a comment: `slipway review` prints them."
    yield ["\n".join(f"- {item}" for item in first_lines(others, _MOST_ITEMS)), no_cards, *no_plan]


def _cards(lines: Lines) -> list[Card]:
    """Return the cards that say more than the open lines."""
    opened = {line.card for line in lines.opened}
    return [card for card in lines.cards if card.more or card not in opened]


def _folded_cards(lines: Lines, details: int, table: str) -> str:
    cards = _cards(lines)
    if not cards:
        return ""
    some = ", ".join(first_lines(dict.fromkeys(short(card.title, _LONGEST_NAME) for card in cards), _MOST_TITLES))
    shown, length = [table] if table else [], 0
    for card in cards:
        shown.append(_card(card, details))
        length += len(shown[-1])
        if length > LIMIT:  # A shorter form is taken, whatever follows.
            break
    more = [line for line in lines.folded if line.card.opens]
    counts = ((len(more), "more to look at"), (len(lines.folded) - len(more), "more for information"))
    summary = " · ".join((some, *(f"{count} {what}" for count, what in counts if count)))
    return folded(summary, "\n\n".join(shown))


def _card(card: Card, details: int) -> str:
    stacks = f"{', '.join(map(code, card.stacks))}: " if card.stacks else ""
    title = f"{SIGNS[card.grade]} {stacks}{text(short(card.title, _LONGEST_NAME))}"
    rows = [f"**{title}**{f' ({ON_MAIN})' if card.on_main else ''}", "", "| | | |", "|---|---|---|"]
    for label, middle, follows in card.rows():
        some = first_lines(middle, details) if details else ()
        cells = (label, "<br>".join(map(_shown, some)), _shown(follows))
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows)


def _below_title(line: Line, beside: bool) -> str:
    """Return the line without its clause, with the sign and the key of what is left of it."""
    lead, parts, told = line.card.lead, line.card.line[1], line.below_title
    names = line.names if beside and told and lead.subject.name and line.names not in told else ""
    return _item(told, SIGNS[parts[0].grade], keys_of(parts), names)


def _item(told: str, sign: str, key: str, names: str = "") -> str:
    field = code(short(key, _LONGEST_NAME)) if key else _shown(names)
    where = f" ({field})" if told and field else f"caused by {field}" * bool(field)
    return f"{sign} {_shown(told)}{where}" if told or field else ""


def _whose(stacks: Sequence[str], reviews: Sequence[Review]) -> str:
    return f"{', '.join(map(code, stacks))}: " if len(stacks) < len(reviews) else ""


def _row(review: Review) -> tuple[str, ...]:
    changes: dict[str, str] = {}
    refused = review.refused
    # Of each thing its fate comes first, where there is one, and then the gravest consequence.
    for part in sorted(review.yours, key=lambda part: (not part.of.becomes, -part.grade)):
        # Amounts have columns of their own; limits of the stack file have none.
        limit = part.field or part.subject.what == "budget"
        if (part.section is not Section.MONEY or limit) and part.subject.what != "preview":
            label = part.place
            strong = part.grade is Grade.BLOCKING or bool(part.of.becomes and part.grade > Grade.NOTE)
            becomes = "" if refused else part.of.becomes
            changes.setdefault(label, _cell(f"{label} {becomes}".strip(), strong=strong))
    if refused:
        changes = {"": _cell("nothing is deployed", strong=True), **changes}
    worse, money = _worse(review), "?"
    if review.money:  # `149,379 → 149,574, up to 301,108 → 301,499`, the latter with every pool at its maximum.
        idle, most = _monthly(review.money.idle), _monthly(review.money.most)
        money = f"{idle}, up to {most}"
    return (
        text(short(review.stack, _LONGEST_NAME)),
        few(changes.values(), most=6) or "–",
        money,
        *(
            _cell("–" if refused and not bad and state.startswith("ok") else state or "?", strong=bad)
            for state, bad in ((review.quota, Section.QUOTA in worse), (review.policy, Section.POLICY in worse))
        ),
    )


def _worse(review: Review) -> set[Section]:
    """Return the sections in which it warns."""
    return {part.section for part in review.yours if part.grade > Grade.NOTE}


def _monthly(amount: Amount) -> str:
    before, after = (
        "?" if price.unknown else f"{month:,}{'' if price.complete else f' {MORE}'}"
        for price, month in zip((amount.before, amount.after), amount.months, strict=True)
    )
    if before == after and not (amount.more or amount.fewer):
        return after
    return _cell(f"{before} → {after}", strong=amount.steep)


def _cell(words: str, *, strong: bool) -> str:
    shown = text(short(words, _LONGEST_NAME))
    return f"**{shown}**" if strong else shown


def _footer(reviews: Sequence[Review], place: Place) -> str:
    words = [_SINCE] if any(review.consequences and not review.refused for review in reviews) else []
    words += [f"of the project in {code(place.folder)}"] if place.folder else []
    words += [text(note) for note in dict.fromkeys(note for review in reviews for note in review.notes)]
    if place.tree and not any(review.refused for review in reviews):
        words.append(f"an approval of this {place.change} holds for the tree {code(place.tree[:12])}")
    if place.base:
        words.append(f"judged by the code of {code(place.base[:12])}")
    return f"\n<sub>{'; '.join(words)}</sub>\n" if words else ""


def _shown(words: str) -> str:
    return text(short(words, _LONGEST))
