"""Filters of lists (AIP-160) as tests on documents: what TensorBoard, metadata, secrets and time series share.

Comparisons `field OP value` with `=`, `!=`, `<`, `<=`, `>`, `>=` and `:` (has), joined by AND (or nothing), OR (which
binds tighter), NOT (or `-`) and parentheses; and the functions that a service gives a meaning to.
"""

import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from local.cloud.clock import timestamp
from local.cloud.wire import invalid_argument

_TOKEN = re.compile(
    r"""\s*(?:(?P<mark>[(),])|(?P<op>!=|<=|>=|[=<>:])|"(?P<double>(?:[^"\\]|\\.)*)"|'(?P<single>(?:[^'\\]|\\.)*)'"""
    r"""|(?P<minus>-(?=[A-Za-z("']))|(?P<word>[^\s(),=<>!:"']+))"""
)
_OPERATORS: Mapping[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_STRUCT_VALUES = ("string_value", "number_value", "bool_value")
_MISSING = object()

Document = Mapping[str, Any]
Test = Callable[[Document], bool]
Values = Sequence[str]
Function = Callable[[Values], Test]
"""From a function's arguments, as in `in_context("…")`, or the values after a `field:`, to a test."""


def parsed(text: str, functions: Mapping[str, Function] | None = None) -> Test:
    """The test that a filter stands for; that of the empty filter holds for all. Raises 400 INVALID_ARGUMENT.

    Fields are named in snake_case or camelCase, with dots. `functions` has the service's own, by name: as
    `name("a", "b")`, as `name:"a","b"` and, on the value's side, as `field = name("a")`, where the field comes first
    among the arguments.
    """
    parser = _Parser(list(_tokens(text)), functions or {})
    if not parser.left():
        return lambda document: True
    test = parser.expression()
    if parser.left():
        raise _refusal(f"unexpected '{parser.left()[0].text}'")
    return test


def value_at(document: Any, field: str) -> Any:
    """What a document has at a field's path, None when there is nothing."""
    found = _lookup(document, tuple(field.split(".")))
    return None if found is _MISSING else found


@dataclass(frozen=True)
class _Token:
    kind: str
    text: str


class _Parser:
    def __init__(self, tokens: Sequence[_Token], functions: Mapping[str, Function]) -> None:
        self._tokens, self._functions, self._at = tokens, functions, 0

    def left(self) -> Sequence[_Token]:
        return self._tokens[self._at :]

    def expression(self) -> Test:
        tests = [self._alternatives()]
        while self.left() and self.left()[0].text != ")":
            self._take("word", "AND")
            tests.append(self._alternatives())
        return tests[0] if len(tests) == 1 else lambda document: all(test(document) for test in tests)

    def _alternatives(self) -> Test:
        tests = [self._term()]
        while self._take("word", "OR"):
            tests.append(self._term())
        return tests[0] if len(tests) == 1 else lambda document: any(test(document) for test in tests)

    def _term(self) -> Test:
        if self._take("word", "NOT") or self._take("minus"):
            inner = self._term()
            return lambda document: not inner(document)
        if self._take("mark", "("):
            inner = self.expression()
            if not self._take("mark", ")"):
                raise _refusal("a parenthesis is not closed")
            return inner
        name = self._next("word", "a field")
        if self._take("mark", "("):
            return self._function(name, self._values(until=")"))
        sign = self._next("op", f"an operator after '{name}'")
        if sign == ":" and name in self._functions:
            return self._function(name, self._values(until=""))
        value = self._value()
        if self._take("mark", "("):
            return self._function(value, [name, *self._values(until=")")], sign)
        return _comparison(tuple(name.split(".")), sign, value)

    def _function(self, name: str, values: Sequence[str], sign: str = "=") -> Test:
        function = self._functions.get(name)
        if function is None or sign not in ("=", "!="):
            raise _refusal(f"'{name}' is not supported here")
        test = function(values)
        return test if sign == "=" else lambda document: not test(document)

    def _values(self, until: str) -> list[str]:
        """Values with commas between them, and the mark that ends them."""
        values = [self._value()]
        while self._take("mark", ","):
            values.append(self._value())
        if until and not self._take("mark", until):
            raise _refusal("a parenthesis is not closed")
        return values

    def _value(self) -> str:
        sign = "-" if self._take("minus") else ""
        token = self.left()[0] if self.left() else None
        if token is None or token.kind not in ("word", "text"):
            raise _refusal("a value is missing")
        self._at += 1
        return sign + token.text

    def _next(self, kind: str, wanted: str) -> str:
        token = self.left()[0] if self.left() else None
        if token is None or token.kind != kind:
            raise _refusal(f"{wanted} is missing")
        self._at += 1
        return token.text

    def _take(self, kind: str, text: str | None = None) -> bool:
        found = bool(self.left()) and self.left()[0].kind == kind and text in (None, self.left()[0].text)
        self._at += found
        return found


def _tokens(text: str) -> Iterator[_Token]:
    at = 0
    while text[at:].strip():
        match = _TOKEN.match(text, at)
        if match is None:
            raise _refusal(f"'{text[at:].strip()}' can't be read")
        at = match.end()
        kind = str(match.lastgroup)
        quoted = kind in ("double", "single")
        yield _Token("text", re.sub(r"\\(.)", r"\1", match[kind])) if quoted else _Token(kind, match[kind])


def _comparison(path: tuple[str, ...], sign: str, value: str) -> Test:
    if sign == ":":
        return lambda document: _has(_lookup(document, path), value)
    if "*" in value and sign in ("=", "!="):
        pattern = re.compile(".*".join(map(re.escape, value.split("*"))), re.DOTALL)
        return lambda document: (pattern.fullmatch(_text(_lookup(document, path))) is not None) == (sign == "=")
    return lambda document: _compared(_lookup(document, path), sign, value)


def _compared(actual: Any, sign: str, value: str) -> bool:
    if actual is _MISSING:
        # A field that a message leaves out has its type's zero.
        return (value.lower() in ("", "false", "0")) == (sign == "=") if sign in ("=", "!=") else False
    holds = _OPERATORS[sign]
    if isinstance(actual, (int, float)) and not isinstance(actual, bool):
        try:
            return holds(float(actual), float(value))
        except ValueError:
            return sign == "!="
    moment = _moment(value)
    if moment and isinstance(actual, str) and _moment(actual):
        return holds(_moment(actual), moment)
    return holds(_text(actual), value)


def _has(actual: Any, value: str) -> bool:
    if value == "*":
        return actual is not _MISSING
    if isinstance(actual, (list, tuple)):
        return any(_text(item) == value for item in actual)
    if isinstance(actual, Mapping):
        return value in actual
    return actual is not _MISSING and value.lower() in _text(actual).lower()


def _lookup(document: Any, path: tuple[str, ...]) -> Any:
    for name in path:
        if not isinstance(document, Mapping):
            # `metadata.epochs.number_value`: the last word names the value's type in a Struct.
            return document if name in _STRUCT_VALUES else _MISSING
        if name not in document:
            name = re.sub(r"_([a-z])", lambda hit: hit[1].upper(), name)
        if name not in document:
            return _MISSING
        document = document[name]
    return document


def _text(value: Any) -> str:
    if value is _MISSING:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _moment(text: str) -> str:
    """A time in the form that documents keep, "" for another text."""
    if not re.match(r"\d{4}-\d\d-\d\dT", text):
        return ""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return ""
    return timestamp(moment) if moment.tzinfo else ""


def _refusal(why: str) -> Exception:
    return invalid_argument(f"Invalid filter: {why}.")
