"""Filters of lists (AIP-160): one grammar for all services.

Comparisons `field OP value` with `=`, `!=`, `<`, `<=`, `>`, `>=` and `:` (has), joined by AND (or nothing), OR (which
binds tighter), NOT (or `-`) and parentheses. Each service has its own meaning of a comparison, its own functions, and
its own words to search for: tests on documents are in `document_filters.py`, searches of log entries in
`logging/query.py`.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar, Generic, TypeVar

from .wire import ApiError, invalid_argument

_JOINING = ("AND", "OR", "NOT")
_PATH_PART = re.compile(r'"((?:\\.|[^"\\])*)"|([^."]+)')

T = TypeVar("T")
Values = Sequence[str]


class Meaning(Generic[T]):
    """A service's meaning of a filter's parts."""

    #: The meaning of the empty filter.
    everything: T
    #: The service's own, by name: as `name("a", "b")`, as `name:"a","b"` and, on the value's side, as `field =
    #: name("a")`, where the field comes first among the arguments.
    functions: Mapping[str, Callable[[Values], T]] = {}
    #: Words and texts without an operator are allowed, and `field = ("a" OR "b")`.
    searches: ClassVar[bool] = False
    #: The marks `,` and `'` as far as they are letters of a word.
    plain: ClassVar[str] = ""

    def comparison(self, field: str, sign: str, value: str) -> T:
        """Return the meaning of a comparison. Raises 400 for a field, an operator or a value that does not fit."""
        raise NotImplementedError

    def search(self, word: str) -> T:
        raise NotImplementedError

    def joined(self, parts: Sequence[T], word: str) -> T:
        """Return two parts or more, joined by `AND` or `OR`."""
        raise NotImplementedError

    def inverted(self, part: T) -> T:
        raise NotImplementedError

    def no_function(self, name: str) -> ApiError:
        """Return the error for a function that is not one of `functions`."""
        return self.refusal(f"there is no function '{name}'")

    def refusal(self, why: str) -> ApiError:
        return invalid_argument(f"Invalid filter: {why}.")


def parsed(text: str, meaning: Meaning[T]) -> T:
    """Return the meaning of a filter. Raises 400 INVALID_ARGUMENT for an invalid one."""
    tokens = _tokens(text, meaning)
    if not tokens:
        return meaning.everything
    parser = _Parser(tokens, meaning)
    whole = parser.expression()
    if parser.left():
        raise meaning.refusal(f"unexpected '{parser.left()[0].text}'")
    return whole


def path(field: str) -> tuple[str, ...]:
    """Return the names in a field's path; a part with dots is in quotation marks."""
    return tuple(_unescaped(quoted) if quoted else word for quoted, word in _PATH_PART.findall(field))


@dataclass(frozen=True)
class _Token:
    kind: str
    text: str
    #: A parenthesis follows at once, as in `name(`.
    called: bool = False


class _Parser(Generic[T]):
    def __init__(self, tokens: Sequence[_Token], meaning: Meaning[T]) -> None:
        self._tokens, self._meaning, self._at = tokens, meaning, 0

    def left(self) -> Sequence[_Token]:
        return self._tokens[self._at :]

    def expression(self) -> T:
        parts = [self._alternatives()]
        while self.left() and self.left()[0] != _Token("mark", ")"):
            self._take("word", "AND")
            parts.append(self._alternatives())
        return self._joined(parts, "AND")

    def _alternatives(self) -> T:
        parts = [self._term()]
        while self._take("word", "OR"):
            parts.append(self._term())
        return self._joined(parts, "OR")

    def _term(self) -> T:
        if self._take("word", "NOT") or self._take("minus"):
            return self._meaning.inverted(self._term())
        if self._take("mark", "("):
            inner = self.expression()
            self._close()
            return inner
        name = self._text("a field")
        if name in self._meaning.functions and self._take("mark", "("):
            return self._function(name, self._values(closed=True))
        sign = self.left()[0].text if self.left() and self.left()[0].kind == "op" else ""
        if not sign and self._meaning.searches:
            return self._meaning.search(name)
        if not sign:
            raise self._meaning.refusal(f"an operator after '{name}' is missing")
        self._at += 1
        if sign == ":" and name in self._meaning.functions:
            return self._function(name, self._values(closed=False))
        return self._compared(name, sign)

    def _compared(self, name: str, sign: str) -> T:
        if self._meaning.searches and self._take("mark", "("):
            return self._any_value(name, sign)
        value = self._value()
        if value in self._meaning.functions and self._take("mark", "("):
            return self._function(value, [name, *self._values(closed=True)], sign)
        return self._meaning.comparison(name, sign, value)

    def _any_value(self, name: str, sign: str) -> T:
        """Return the rest of `field = ("a" OR "b")`."""
        parts, word = [self._meaning.comparison(name, sign, self._value())], "OR"
        while not self._take("mark", ")"):
            word = self._text("OR")
            parts.append(self._meaning.comparison(name, sign, self._value()))
        return self._joined(parts, "AND" if word == "AND" else "OR")

    def _function(self, name: str, values: Values, sign: str = "=") -> T:
        if sign not in ("=", "!="):
            raise self._meaning.refusal(f"'{name}' is not supported here")
        meaning = self._meaning.functions[name](values)
        return meaning if sign == "=" else self._meaning.inverted(meaning)

    def _values(self, *, closed: bool) -> list[str]:
        """Return values with commas between them, up to a parenthesis where they are `closed` by one."""
        values = [self._value()]
        while self._take("mark", ","):
            values.append(self._value())
        if closed:
            self._close()
        return values

    def _value(self) -> str:
        return ("-" if self._take("minus") else "") + self._text("a value")

    def _text(self, wanted: str) -> str:
        token = self.left()[0] if self.left() else None
        if token is None or token.kind not in ("word", "text"):
            raise self._meaning.refusal(f"{wanted} is missing")
        if token.called and token.text not in self._meaning.functions:
            raise self._meaning.no_function(token.text)
        self._at += 1
        return token.text

    def _close(self) -> None:
        if not self._take("mark", ")"):
            raise self._meaning.refusal("a parenthesis is not closed")

    def _take(self, kind: str, text: str | None = None) -> bool:
        fits = bool(self.left()) and self.left()[0].kind == kind and text in (None, self.left()[0].text)
        self._at += fits
        return fits

    def _joined(self, parts: Sequence[T], word: str) -> T:
        return parts[0] if len(parts) == 1 else self._meaning.joined(parts, word)


@cache
def _pattern(plain: str) -> re.Pattern[str]:
    """Return the pattern of tokens in a language in which the marks `plain` are letters."""
    marks, ends = ("".join(mark for mark in every if mark not in plain) for every in ("(),", "(),=<>!:\"'"))
    single = "" if "'" in plain else r"""|'(?P<single>(?:[^'\\]|\\.)*)'"""
    quoted, letters = r'(?:[^"\\]|\\.)*', rf"[^\s{ends}]"
    time = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:[.]\d+)?(?:Z|[+-]\d\d:\d\d)?"
    return re.compile(
        rf"""\s*(?:(?P<time>{time}\b)|(?P<mark>[{marks}])|(?P<op>=~|!~|!=|<=|>=|[=<>:])|"(?P<double>{quoted})"{single}"""
        rf"""|(?P<minus>-(?=[\w"'(]))|(?P<word>{letters}+(?:"{quoted}"{letters}*)*))"""
    )


def _tokens(text: str, meaning: Meaning[Any]) -> list[_Token]:
    tokens, at = [], 0
    while text[at:].strip():
        match = _pattern(meaning.plain).match(text, at)
        if match is None:
            raise meaning.refusal(f"'{text[at:].strip()}' can't be read")
        at, kind = match.end(), str(match.lastgroup)
        quoted = kind in ("double", "single")
        literal = "text" if kind == "time" else kind  # a time needs no quotation marks for its colons
        called = kind == "word" and text[at : at + 1] == "(" and match[kind] not in _JOINING
        tokens.append(_Token("text", _unescaped(match[kind])) if quoted else _Token(literal, match[kind], called))
    return tokens


def _unescaped(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text)
