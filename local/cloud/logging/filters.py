"""The subset of Cloud Logging's query language that job logs need.

Comparisons `field OP value` with `=`, `!=`, `<`, `<=`, `>`, `>=`, `:` (has), `=~`, `!~`, joined by AND (or nothing),
OR, NOT (or `-`) and parentheses; a bare word or string is searched for in the whole entry; `log_id("…")`.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from local.cloud.logging.comparisons import Test, compare, moment, search
from local.cloud.logs import Window
from local.cloud.wire import invalid_argument

_TOKEN = re.compile(
    r'\s*(?:(?P<string>"(?:\\.|[^"\\])*")|(?P<op><=|>=|!=|=~|!~|[=<>:])|(?P<mark>[()])|(?P<minus>-)(?=[\w"(])'
    r'|(?P<word>[^\s()=<>:!"]+(?:"(?:\\.|[^"\\])*"[^\s()=<>:!"]*)*))'
)
_FIELD_PART = re.compile(r'"((?:\\.|[^"\\])*)"|([^."]+)')


@dataclass(frozen=True)
class Filter:
    """`matches` decides; `window` is what of it an index can answer."""

    matches: Test
    window: Window


def parse(text: str) -> Filter:
    """Raises 400 INVALID_ARGUMENT for what is not a filter, in the subset."""
    comments = re.sub(r"(?m)^\s*--.*$", "", text)
    parser = _Parser(list(_tokens(comments)))
    test = parser.whole()
    return Filter(test, parser.window())


@dataclass(frozen=True)
class _Token:
    kind: str
    text: str


def _tokens(text: str) -> Iterator[_Token]:
    at, end = 0, len(text.rstrip())
    while at < end:
        match = _TOKEN.match(text, at)
        if not match:
            raise invalid_argument(
                f"Unparseable filter: syntax error at line 1, column {at + 1}, near {text[at : at + 20]!r}"
            )
        kind = str(match.lastgroup)
        yield _Token(kind, match[kind])
        at = match.end()


class _Parser:
    def __init__(self, tokens: list[_Token]) -> None:
        self._tokens, self._at = tokens, 0
        self._job, self._since, self._until = "", "", "9"

    def window(self) -> Window:
        return Window(self._job, self._since, self._until)

    def whole(self) -> Test:
        if not self._tokens:
            return lambda entry: True
        test = self._all_of(top=True)
        if self._at < len(self._tokens):
            raise _unparseable(self._tokens[self._at].text)
        return test

    def _all_of(self, *, top: bool) -> Test:
        """Terms joined by AND or by nothing. OR binds tighter, as in the service's language."""
        tests = [self._any_of(top)]
        while (token := self._peek()) and token.text != ")":
            if token == _Token("word", "AND"):
                self._at += 1
            tests.append(self._any_of(top))
        return tests[0] if len(tests) == 1 else lambda entry: all(test(entry) for test in tests)

    def _any_of(self, top: bool) -> Test:
        kept = (self._job, self._since, self._until)
        tests = [self._term(top)]
        while self._peek() == _Token("word", "OR"):
            self._at += 1
            tests.append(self._term(False))
        if len(tests) == 1:
            return tests[0]
        self._job, self._since, self._until = kept
        return lambda entry: any(test(entry) for test in tests)

    def _term(self, top: bool) -> Test:
        token = self._next()
        if token == _Token("word", "NOT") or token.kind == "minus":
            inner = self._term(False)
            return lambda entry: not inner(entry)
        if token.text == "(" and token.kind == "mark":
            inner = self._all_of(top=top)
            self._expect(")")
            return inner
        if token.kind not in ("word", "string"):
            raise _unparseable(token.text)
        following = self._peek()
        if token.text == "log_id" and following == _Token("mark", "("):
            return self._log_id()
        if following is None or following.kind != "op":
            return search(_value(token))
        sign = self._next().text
        return self._comparison(_path(token.text), sign, top)

    def _comparison(self, path: tuple[str, ...], sign: str, top: bool) -> Test:
        token = self._next()
        if token == _Token("mark", "("):
            return self._alternatives(path, sign)
        if token.kind == "minus":
            token = _Token("word", "-" + self._next().text)
        if token.kind not in ("word", "string"):
            raise _unparseable(token.text)
        value = _value(token)
        if top:
            self._narrow(path, sign, value)
        return compare(path, sign, value)

    def _alternatives(self, path: tuple[str, ...], sign: str) -> Test:
        """`field=("a" OR "b")`."""
        tests = [compare(path, sign, _value(self._next()))]
        word = ""
        while self._peek() != _Token("mark", ")"):
            word = self._next().text
            tests.append(compare(path, sign, _value(self._next())))
        self._expect(")")
        combine = all if word == "AND" else any
        return lambda entry: combine(test(entry) for test in tests)

    def _narrow(self, path: tuple[str, ...], sign: str, value: str) -> None:
        if path == ("resource", "labels", "job_id") and sign == "=":
            self._job = value
        if path == ("timestamp",) and sign in (">", ">="):
            self._since = max(self._since, moment(value))
        if path == ("timestamp",) and sign in ("<", "<="):
            self._until = min(self._until, moment(value))

    def _log_id(self) -> Test:
        self._expect("(")
        suffix = "/logs/" + _value(self._next())
        self._expect(")")
        return lambda entry: str(entry.get("logName", "")).endswith(suffix)

    def _peek(self) -> _Token | None:
        return self._tokens[self._at] if self._at < len(self._tokens) else None

    def _next(self) -> _Token:
        token = self._peek()
        if token is None:
            raise invalid_argument("Unparseable filter: unexpected end of the expression.")
        self._at += 1
        return token

    def _expect(self, mark: str) -> None:
        token = self._next()
        if token != _Token("mark", mark):
            raise _unparseable(token.text)


def _unparseable(near: str) -> Exception:
    return invalid_argument(f"Unparseable filter: syntax error near '{near}'.")


def _value(token: _Token) -> str:
    return re.sub(r"\\(.)", r"\1", token.text[1:-1]) if token.kind == "string" else token.text


def _path(text: str) -> tuple[str, ...]:
    return tuple(re.sub(r"\\(.)", r"\1", quoted) if quoted else word for quoted, word in _FIELD_PART.findall(text))
