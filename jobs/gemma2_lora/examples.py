"""The data as tokens: of a conversation the answers are learnt, of a text all of it."""

from __future__ import annotations

import argparse
import json
from bisect import bisect_left, insort
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict

from .place import Place
from .records import Record
from .trouble import TroubleError

UNLEARNT = -100  # The label of a token that is read and not learnt, as PyTorch's loss has it.


@dataclass(frozen=True)
class Example:
    """Tokens and as many labels: a token's own number, or UNLEARNT."""

    tokens: list[int]
    labels: list[int]


class Row(TypedDict):
    """Examples one after the other, in all as many tokens as `length` says: of each token its label, and the number of
    its example within the row. What is filled up at the end is an example of its own, which is not learnt."""

    input_ids: list[int]
    labels: list[int]
    segments: list[int]


def prepare(known: argparse.Namespace, place: Place, data: str | list[Record]) -> None:
    """Put the rows into the place, once for all processes: what is wrong with them ends the run before one starts.
    Raises TroubleError."""
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(place.base)
    if isinstance(data, list):
        examples, cut = encode(data, tokenizer, known.length, known.base or known.model)
        if cut:
            out = len(data) - len(examples)
            left = f", {out} of them left out, as no answer begins before that" if out else ""
            many = f"{cut} of {len(data)} records are longer than {known.length} tokens"
            print(f"{many} and cut there{left} (-p length)", flush=True)
    else:
        tokens = tokenizer(data, add_special_tokens=False)["input_ids"]
        examples = [Example(block, block) for block in blocks(tokens, known.length, tokenizer.bos_token_id)]
    place.rows.write_text(json.dumps(packed(examples, known.length)), "utf-8")


def blocks(tokens: Sequence[int], length: int, begin: int | None) -> list[list[int]]:
    """A text as sequences of one length. `begin`, when there is one, stands before each: Gemma knows the start of a
    text by it. What is left over at the end is dropped. Raises TroubleError when the text does not fill one."""
    before = [] if begin is None else [begin]
    room = length - len(before)
    found = [[*before, *tokens[at : at + room]] for at in range(0, len(tokens) - room + 1, room)]
    if not found:
        raise TroubleError(
            f"the text is too short: {len(tokens)} tokens",
            f"a sequence has {length}",
            "name a longer text with -p data, or shorten the sequences with -p length",
        )
    return found


def packed(examples: Sequence[Example], length: int) -> list[Row]:
    """Fill few rows: the longest examples first, each into the row where it leaves the least room."""
    rows: list[list[Example]] = []
    rooms: list[tuple[int, int]] = []  # Of each row that has room: how much, and its number.
    for one in sorted(examples, key=lambda one: -len(one.tokens)):
        at = bisect_left(rooms, (len(one.tokens), 0))
        room, number = rooms.pop(at) if at < len(rooms) else (length, len(rows))
        if number == len(rows):
            rows.append([])
        rows[number].append(one)
        if room > len(one.tokens):
            insort(rooms, (room - len(one.tokens), number))
    return [_row(row, length) for row in rows]


def _row(examples: Sequence[Example], length: int) -> Row:
    rest = length - sum(len(one.tokens) for one in examples)
    whole = [*examples, Example([0] * rest, [UNLEARNT] * rest)]
    return Row(
        input_ids=[token for one in whole for token in one.tokens],
        # The first token of an example follows from nothing.
        labels=[label for one in whole for label in (UNLEARNT, *one.labels[1:])[: len(one.labels)]],
        segments=[number for number, one in enumerate(whole) for _ in one.tokens],
    )


def encode(found: Sequence[Record], tokenizer: Any, length: int, base: str) -> tuple[list[Example], int]:
    """The examples, each of at most `length` tokens, and how many had to be cut. One whose answers all begin later is
    left out. Raises TroubleError for conversations without a chat template, and when nothing is left."""
    if any(record.turns for record in found) and not tokenizer.chat_template:
        raise no_template(base)
    whole = [_conversation(record, tokenizer) if record.turns else _text(record, tokenizer) for record in found]
    short = [Example(one.tokens[:length], one.labels[:length]) for one in whole]
    kept = [one for one in short if any(label != UNLEARNT for label in one.labels[1:])]
    if not kept:
        raise TroubleError(
            "nothing of the data can be learnt",
            f"every answer begins after the first {length} tokens",
            "allow longer sequences with -p length",
        )
    return kept, sum(len(one.tokens) > length for one in whole)


def no_template(base: str) -> TroubleError:
    return TroubleError(
        f"{base} has no chat template",
        "the data are conversations, which only an instruction-tuned model knows how to read",
        "take one: -p model=2b-it (9b-it, 27b-it), or other data",
    )


def _text(record: Record, tokenizer: Any) -> Example:
    tokens = tokenizer(record.text, add_special_tokens=False)["input_ids"]
    first, last = ([] if edge is None else [edge] for edge in (tokenizer.bos_token_id, tokenizer.eos_token_id))
    tokens = [*(first if tokens[:1] != first else ()), *tokens, *(last if tokens[-1:] != last else ())]
    return Example(tokens, tokens)


def _conversation(record: Record, tokenizer: Any) -> Example:
    tokens: list[int] = []
    labels: list[int] = []
    for text, learnt in _parts(record, tokenizer):
        more = tokenizer(text, add_special_tokens=False)["input_ids"]
        tokens += more
        labels += more if learnt else [UNLEARNT] * len(more)
    return Example(tokens, labels)


def _parts(record: Record, tokenizer: Any) -> Iterator[tuple[str, bool]]:
    """The conversation as the template writes it, in parts: what comes before an answer, and each answer, which is
    what the model is to say after the template's own words for its turn."""
    from jinja2 import TemplateError

    messages = [{"role": role, "content": content} for role, content in record.turns]
    done = ""
    for index in range(1, len(messages), 2):
        try:
            asked = tokenizer.apply_chat_template(messages[:index], tokenize=False, add_generation_prompt=True)
            answered = tokenizer.apply_chat_template(messages[: index + 1], tokenize=False)
        except TemplateError as error:
            raise TroubleError(
                f"{record.where} of the data can't be used", f"the model's chat template says: {error}", "correct it"
            ) from error
        if not (asked.startswith(done) and answered.startswith(asked)):
            raise TroubleError(
                "the model's chat template can't be trained on",
                "it writes the beginning of a conversation otherwise when more follows",
                "take one of Google's models, whose template does not",
            )
        yield asked[len(done) :], False
        yield answered[len(asked) :], True
        done = answered
