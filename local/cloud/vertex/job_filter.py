"""The filter of a job list (AIP-160, as far as the service documents it) as a condition in SQL."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from local.cloud.clock import timestamp
from local.cloud.wire import invalid_argument

_TOKEN = re.compile(
    r"""\s*(?:(?P<mark>[()])|(?P<op>!=|<=|>=|[=<>:])|"(?P<double>(?:[^"\\]|\\.)*)"|'(?P<single>(?:[^'\\]|\\.)*)'"""
    r"""|(?P<minus>-(?=[A-Za-z(]))|(?P<word>[^\s()=<>!:"']+))"""
)
_EQUAL, _ORDERED = ("=", "!="), ("=", "!=", "<", "<=", ">", ">=")


@dataclass(frozen=True)
class Field:
    """What a filter may say of a field: its column (or SQL expression) and the operators that it takes."""

    column: str
    operators: tuple[str, ...]


_NAME, _STATE, _CREATED = Field("display_name", (*_EQUAL, ":")), Field("state", _EQUAL), Field("create_time", _ORDERED)
_CLUSTER = Field("cluster", _EQUAL)
FIELDS: Mapping[str, Field] = {
    "display_name": _NAME,
    "displayname": _NAME,
    "state": _STATE,
    "create_time": _CREATED,
    "createtime": _CREATED,
    "job_spec.persistent_resource_id": _CLUSTER,
    "jobspec.persistentresourceid": _CLUSTER,
    "persistent_resource_id": _CLUSTER,
}
"""The fields of custom jobs, in lower case."""


@dataclass(frozen=True)
class Condition:
    """Text for a WHERE clause with `?` marks, and the values for them."""

    sql: str
    values: tuple[object, ...] = ()

    def older_than(self, moment: datetime) -> "Condition":
        """The condition for jobs that were made before a moment."""
        return Condition(f"({self.sql}) AND create_time < ?", (*self.values, timestamp(moment)))


@dataclass(frozen=True)
class _Token:
    kind: str
    text: str


def condition(text: str, fields: Mapping[str, Field] = FIELDS) -> Condition:
    """The condition of a filter; that of the empty filter holds for every job. Raises 400 INVALID_ARGUMENT.

    Of the `fields`, text takes `=`, `!=` and (with `*`) `:`; labels.KEY takes `=`, `!=` and `:*`. They are joined by
    AND, OR (which binds tighter), NOT and parentheses.
    """
    tokens = _tokens(text)
    if not tokens:
        return Condition("1")
    parser = _Parser(tokens, fields)
    result = parser.expression()
    if parser.left():
        raise _refusal(f"unexpected '{parser.left()[0].text}'")
    return result


class _Parser:
    def __init__(self, tokens: Sequence[_Token], fields: Mapping[str, Field]) -> None:
        self._tokens, self._fields, self._at = tokens, fields, 0

    def left(self) -> Sequence[_Token]:
        return self._tokens[self._at :]

    def expression(self) -> Condition:
        parts = [self._alternatives()]
        while self.left() and self.left()[0].text != ")":
            self._word("AND")
            parts.append(self._alternatives())
        return _joined(parts, "AND")

    def _alternatives(self) -> Condition:
        parts = [self._term()]
        while self._word("OR"):
            parts.append(self._term())
        return _joined(parts, "OR")

    def _term(self) -> Condition:
        if self._word("NOT") or self._kind("minus"):
            inner = self._term()
            return Condition(f"NOT ({inner.sql})", inner.values)
        if self._mark("("):
            inner = self.expression()
            if not self._mark(")"):
                raise _refusal("a parenthesis is not closed")
            return inner
        field = self._next("a field")
        operator = self._next("an operator")
        if operator.kind != "op":
            raise _refusal(f"'{field.text}' is not followed by an operator")
        value = self._next("a value")
        if value.kind not in ("word", "text"):
            raise _refusal(f"'{field.text}{operator.text}' is not followed by a value")
        return _comparison(self._fields, field.text, operator.text, value.text)

    def _next(self, wanted: str) -> _Token:
        if not self.left():
            raise _refusal(f"{wanted} is missing at its end")
        self._at += 1
        return self._tokens[self._at - 1]

    def _word(self, word: str) -> bool:
        return self._take(lambda token: token.kind == "word" and token.text == word)

    def _mark(self, mark: str) -> bool:
        return self._take(lambda token: token.kind == "mark" and token.text == mark)

    def _kind(self, kind: str) -> bool:
        return self._take(lambda token: token.kind == kind)

    def _take(self, fits: Callable[[_Token], bool]) -> bool:
        found = bool(self.left()) and fits(self.left()[0])
        self._at += found
        return found


def _tokens(text: str) -> list[_Token]:
    tokens, at = [], 0
    while text[at:].strip():
        match = _TOKEN.match(text, at)
        if match is None:
            raise _refusal(f"'{text[at:].strip()}' can't be read")
        at = match.end()
        kind = str(match.lastgroup)
        value = match[kind]
        if kind in ("double", "single"):
            tokens.append(_Token("text", re.sub(r"\\(.)", r"\1", value)))
        else:
            tokens.append(_Token(kind, value))
    return tokens


def _comparison(fields: Mapping[str, Field], field: str, operator: str, value: str) -> Condition:
    if field.startswith("labels."):
        return _label(field.removeprefix("labels."), operator, value)
    known = fields.get(field.lower())
    if known is None:
        raise _refusal(f"field '{field}' is not supported")
    if operator not in known.operators:
        raise _refusal(f"operator '{operator}' is not supported on '{field}'")
    if known.column == "create_time":
        value = _time(value)
    if operator == ":":
        return Condition(f"{known.column} LIKE ? ESCAPE '\\'", (_pattern(value),))
    if operator == "!=":
        return Condition(f"{known.column} IS NOT ?", (value,))
    return Condition(f"{known.column} {operator} ?", (value,))


def _label(key: str, operator: str, value: str) -> Condition:
    path = '$.labels."' + key.replace('"', "") + '"'
    if operator == ":" and value == "*":
        return Condition("json_extract(body, ?) IS NOT NULL", (path,))
    if operator in ("=", ":"):
        return Condition("json_extract(body, ?) = ?", (path, value))
    if operator == "!=":
        return Condition("json_extract(body, ?) IS NOT ?", (path, value))
    raise _refusal(f"operator '{operator}' is not supported on labels")


def _pattern(value: str) -> str:
    escaped = re.sub(r"([\\%_])", r"\\\1", value)
    return escaped.replace("*", "%") if "*" in escaped else f"%{escaped}%"


def _time(value: str) -> str:
    try:
        moment = datetime.fromisoformat(value)
    except ValueError as error:
        raise _refusal(f"'{value}' is not a time") from error
    if moment.tzinfo is None:
        raise _refusal(f"'{value}' has no time zone")
    return timestamp(moment)


def _joined(parts: Sequence[Condition], word: str) -> Condition:
    if len(parts) == 1:
        return parts[0]
    values = tuple(value for part in parts for value in part.values)
    return Condition(f" {word} ".join(f"({part.sql})" for part in parts), values)


def _refusal(why: str) -> Exception:
    return invalid_argument(f"Invalid filter: {why}.")
