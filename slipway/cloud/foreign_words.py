"""What the words of the engine and of its provider mean: they say what went wrong, and seldom what to do.

Both are programs of others, so whoever has their words (a hook of the program, a log) finds the way out here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from slipway.cloud.credentials import LOGIN
from slipway.cloud.failures import Answer, Call, failure

AGAIN = "then the same command again: it goes on from what is there"
ON_ERROR = (
    f"the same command again goes on from what is there; 401: first {LOGIN}; else docs/runbook.md or slipway doctor"
)
"""A stack's output `onError`, for errors that no program hears of: most runs that fail show the outputs too. The engine
cuts them after 150 characters."""

_LONGEST = 300
_COLOR = re.compile(r"\x1b\[[0-9;]*m")
_HTTP = re.compile(r"googleapi: (?:got HTTP response code |Error )(?P<status>[45]\d\d)\b(?:: |)(?P<message>.*)")
_LOCAL = re.compile(r"https?://(?:127\.0\.0\.1|localhost|\[::1\])")
_PREFIX = re.compile(r"^(?:\*|error:|Preview failed:|rpc error: code = \w+ desc =)\s+")


@dataclass(frozen=True)
class Meaning:
    """What went wrong in a few words, the words themselves, and what to do about it now."""

    what: str
    why: str
    fix: str


def meanings(lines: Iterable[str], environ: Mapping[str, str]) -> tuple[Meaning, ...]:
    """One for each thing to do, in the order of the lines; none for what is not understood. `environ` tells a run of a
    workflow from a person's shell."""
    found: dict[str, Meaning] = {}
    for line in (_COLOR.sub("", one) for one in lines):
        meaning = _meaning(line, environ)
        if meaning is not None:
            found.setdefault(meaning.fix, meaning)
    return tuple(found.values())


def meaning_of(error: str, environ: Mapping[str, str]) -> Meaning:
    """Of one error that was certainly one, however many lines it has."""
    known = meanings(error.splitlines(), environ)
    if known:
        return known[0]
    why = _words(error)
    return Meaning("the provider could not do it", why, "the same command again; if it ends so again: docs/runbook.md")


def _meaning(line: str, environ: Mapping[str, str]) -> Meaning | None:
    answer = _HTTP.search(line)
    if answer:
        return _refused(int(answer["status"]), answer["message"], environ)
    for pattern, make in _RULES:
        if pattern.search(line):
            return make(line, environ)
    return None


def _refused(status: int, message: str, environ: Mapping[str, str]) -> Meaning:
    why = _words(message) or f"HTTP {status}"
    if status == 401:
        return _no_login(why, environ)
    if status == 403:
        role = failure(Call("do it"), Answer(status, "", message)).fix
        fix = role or 'give the identity what docs/ci.md names, "The identities"'
        return Meaning("the cloud does not allow it to this identity", why, f"{fix}; {AGAIN}")
    if status == 429:
        return Meaning(
            "the cloud takes no more for now", why, f"wait a minute; {AGAIN}. slipway quota shows the limits"
        )
    if status >= 500:
        return _not_served(why)
    return Meaning(
        f"the cloud refused it ({status})",
        why,
        f"{AGAIN.removeprefix('then ')}; if it is refused again: slipway doctor",
    )


def _no_login(why: str, environ: Mapping[str, str]) -> Meaning:
    if environ.get("GITHUB_ACTIONS") == "true":
        fix = (
            "re-run the failed jobs of this workflow: each run gets a token of its own, and goes on from what is there"
        )
    else:
        fix = f"log in again: {LOGIN}, or export a fresh GOOGLE_OAUTH_ACCESS_TOKEN; {AGAIN}"
    return Meaning("the cloud does not take this login any more", why, fix)


def _not_served(why: str) -> Meaning:
    return Meaning(
        "the cloud could not do it for now",
        why,
        f"wait a few minutes; {AGAIN}. https://status.cloud.google.com shows known outages",
    )


def _unreachable(line: str, environ: Mapping[str, str]) -> Meaning:
    del environ
    first = "start the local cloud: python -m local up" if _LOCAL.search(line) else "see that the network is there"
    return Meaning("the connection to the cloud was cut", _words(line), f"{first}; {AGAIN}")


def _not_done(line: str, environ: Mapping[str, str]) -> Meaning:
    del environ
    return Meaning(
        "the cloud was not done with it in time",
        _words(line),
        "the same command again: it goes on from what is there; slipway pools or slipway doctor shows how far it is",
    )


def _ended(what: str) -> Callable[[str, Mapping[str, str]], Meaning]:
    def meaning(line: str, environ: Mapping[str, str]) -> Meaning:
        del environ
        return Meaning(
            f"{what} was ended in the middle of its work",
            _words(line),
            "the same command again: it goes on from what is there; if it ends so again, look for what ends it, such "
            "as too little memory",
        )

    return meaning


def _locked(line: str, environ: Mapping[str, str]) -> Meaning:
    del environ
    return Meaning(
        "another run has this stack, or one that was killed had it",
        _words(line),
        'see that none is still going, then release the lock: docs/runbook.md, "A run that was killed"',
    )


def _cut_off(line: str, environ: Mapping[str, str]) -> Meaning:
    del environ
    return Meaning(
        "the state's file was cut off in the writing, as on a disk that is full",
        _words(line),
        "make room if there is none; then slipway doctor names a copy of it that is whole, and the command that puts "
        'that in its place: docs/runbook.md, "The state was cut off"',
    )


def _half_locked(line: str, environ: Mapping[str, str]) -> Meaning:
    del environ
    return Meaning(
        "the stack's lock was cut off in the writing",
        _words(line),
        'see that no run is going, then pulumi cancel: docs/runbook.md, "A run that was killed"',
    )


# The first that a line has. A plugin that has gone speaks of connections too: to it, not to the cloud.
_RULES: tuple[tuple[re.Pattern[str], Callable[[str, Mapping[str, str]], Meaning]], ...] = (
    (re.compile(r"the stack is currently locked by"), _locked),
    (re.compile(r"failed to load checkpoint: .*(?:JSON input|unexpected EOF|invalid character)"), _cut_off),
    (re.compile(r"^\s*error: unexpected end of JSON input\s*$"), _half_locked),
    (
        re.compile(r"oauth2: |invalid_grant|invalid_rapt|could not find default credentials|No credentials loaded"),
        lambda line, environ: _no_login(_words(line), environ),
    ),
    (
        re.compile(
            r"exited prematurely|error reading from server: |connection error: desc = |code = Unavailable desc = "
        ),
        _ended("the provider's plugin, a program beside the engine,"),
    ),
    (re.compile(r"program exited with non-zero exit code: -1"), _ended("the program of the stack")),
    (
        re.compile(
            r"dial tcp|connection refused|connection reset by peer|no such host|i/o timeout|TLS handshake|"
            r"(?:unexpected |\": )EOF|context deadline exceeded"
        ),
        _unreachable,
    ),
    (re.compile(r"timeout while waiting for "), _not_done),
)


def _words(text: str) -> str:
    """The first line that says something, without what stands before every error."""
    lines = [line.strip() for line in text.splitlines()]
    said = next((line for line in reversed(lines) if line and not line.endswith("occurred:")), "")
    while (shorter := _PREFIX.sub("", said)) != said:
        said = shorter
    return said if len(said) <= _LONGEST else f"{said[:_LONGEST]}…"
