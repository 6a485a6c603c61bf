"""Tells a chat room, or a program, how a job goes: that it started after a wait, succeeded or failed, and why.

Whoever is about to tell makes a mark first, beside the job's claim and for this address alone, and is silent where it
is there: so each event is told once, by the job itself or by whoever waits for it. A failure to tell is a sentence for
the log, and never has the address, which is a secret.
"""

from __future__ import annotations

import hashlib
import html
import http.client
import json
import os
import re
import threading
import time
import urllib.request
from collections import Counter
from typing import IO, Any, Callable, Iterable, Mapping  # noqa: UP035 (Python 3.8)
from urllib.parse import quote, quote_plus, urldefrag, urlsplit

STARTED, SUCCEEDED, FAILED, CANCELLED, ENDED = "started", "succeeded", "failed", "cancelled", "ended"
WAITED_S = 60.0
TIMEOUT_S = 10
HERE = ("localhost", "127.0.0.1", "::1")
CHATS = ("hooks.slack.com", "chat.googleapis.com")
LONGEST = 300
TRANSIENT = (134, 139)  # Vertex AI starts again what ends so.


class _Straight(urllib.request.HTTPRedirectHandler):
    """Follows no redirect: what is told would go where nobody chose."""

    def redirect_request(self, *_: Any) -> None:
        return None


def private(url: str) -> bool:
    """Tell whether an address can be read by nobody on the way."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return bool(parts.hostname) and (parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in HERE))


def message(url: str, event: str, facts: Mapping[str, str]) -> bytes:
    """The body of an event: `text` alone where a chat room takes it, or the address ends with #slack; else with all
    facts (`job`, `stack`, `user` and more), as JSON. Without a `job` it is the event of a `sweep`."""
    what = "{job}" + ", run {run} of sweep {sweep}" * bool(facts.get("sweep")) if facts["job"] else "sweep {sweep}"
    more = "jobs show {job}" if facts["job"] else "jobs list --sweep {sweep}"
    of = " of stack {stack}" + (" ({user})" if facts.get("user") else "")
    why = " ".join(facts.get("why", "").split())[:LONGEST]
    said = why and (" " if event == STARTED else ": ") + why
    text = f"{(what + of).format(**facts)} {event}{said}\nslipway {more.format(**facts)}"
    address, fragment = urldefrag(url)
    if fragment == "slack" or (fragment != "json" and urlsplit(address).hostname in CHATS):
        return json.dumps({"text": html.escape(text, quote=False)}).encode()  # No name in it is a mention.
    return json.dumps({"text": text, "event": event, **facts, "why": why}).encode()


def tell(claim: str, url: str, event: str, facts: Mapping[str, str], take: Callable[[str], bool]) -> str:
    """Tell an event unless that was done; return why it could not be, or an empty string. `take` makes an object, and
    returns False where it is there. Raises its errors, and ValueError for an address that others could read."""
    if not private(url):
        why = "the address in it, which is not shown, is neither https:// nor on this machine"
        raise ValueError(f"{why}; add a version with another")
    if not take(f"{claim}/told/{event}-{hashlib.sha256(url.encode()).hexdigest()[:16]}"):
        return ""
    problems = ["no answer in time"]

    def post() -> None:
        request = urllib.request.Request(urldefrag(url)[0], data=message(url, event, facts), method="POST")
        request.add_header("Content-Type", "application/json")
        try:
            with urllib.request.build_opener(_Straight).open(request, timeout=TIMEOUT_S):
                problems[:] = []
        except (OSError, http.client.HTTPException, ValueError) as problem:
            code = getattr(problem, "code", None)
            name = type(getattr(problem, "reason", None) or problem).__name__
            problems[:] = [f"HTTP {code}" if code else f"no answer ({name})"]

    # An answer may come a byte at a time, or be looked for by a name that nobody knows: no job waits for that.
    posting = threading.Thread(target=post, daemon=True)
    posting.start()
    posting.join(2 * TIMEOUT_S)
    return f"nobody was told that it {event}: {problems[0]}" if problems else ""


def place_of(claim: str, sweep: str) -> str:
    """Return where the marks of a sweep are, beside the claims of its runs."""
    return "{}/of-sweeps/{}".format(claim.rpartition("/")[0], sweep)


def counted(runs: int, states: Mapping[str, int]) -> str:
    """Return `98 of 100 runs succeeded, 2 failed`."""
    others = "".join(f", {count} {state}" for state, count in sorted(states.items()) if state != SUCCEEDED)
    return f"{states.get(SUCCEEDED, 0)} of {runs} runs succeeded{others}"


def after(seconds: float) -> str:
    """Return `after 14 min`, `after 3 h`."""
    return "after {:.0f} {}".format(*((seconds / 3600, "h") if seconds >= 2 * 3600 else (seconds / 60, "min")))


class LastLine:
    """A copy of what a program writes, on stderr, that remembers the last line."""

    def __init__(self, written: IO[bytes]) -> None:
        self._written, self._last, self._line = written, b"", b""
        self._copy = threading.Thread(target=self._run, daemon=True)
        self._copy.start()

    def _run(self) -> None:
        for block in iter(lambda: os.read(self._written.fileno(), 1 << 16), b""):
            *ended, line = re.split(rb"[\r\n]", self._line + block)
            # Of a long line the beginning: what is cut in its middle could be a secret.
            self._last, self._line = next(filter(bytes.strip, reversed(ended)), self._last)[:4096], line[:4096]
            while block:
                block = block[os.write(2, block) :]

    def text(self) -> str:
        """The line, once nobody writes any more, or a second later."""
        self._copy.join(1.0)
        return (self._line.strip() or self._last.strip()).decode("utf-8", "replace")


class Teller:
    """Tells of the launcher's own job, as the submission's record `asks`; nothing without a record.

    `read` returns a secret's value, `take` is that of `tell`, `say` writes to the job's log, `listed` returns the names
    of the objects in a folder.
    """

    def __init__(
        self,
        asks: str,
        claim: str,
        read: Callable[[str], str],
        take: Callable[[str], bool],
        say: Callable[[str], None],
        listed: Callable[[str], Iterable[str]] = lambda folder: (),
    ) -> None:
        self.asks: Any = json.loads(asks or "{}")
        self.facts = {name: text for name, text in self.asks.items() if isinstance(text, str) and name != "secret"}
        self.sweep = self.facts.get("sweep", "")
        self.claim = place_of(claim, self.sweep) if self.sweep else claim
        self.read, self.take, self.say, self.listed = read, take, say, listed
        self.lines: LastLine | None = None
        self.noticed = False
        self.first: threading.Thread | None = None

    def tell(self, event: str, why: str) -> None:
        try:
            problem = tell(self.claim, self.read(self.asks["secret"]), event, {**self.facts, "why": why}, self.take)
        except Exception as error:  # Whatever it is, the job goes on.
            problem = f"nobody was told that it {event}: {self.asks['secret']}: {error}"
        if problem:
            self.say(problem)

    def started(self) -> None:
        """Tell of the start, where it was long in coming. The job does not wait for that."""
        waited = time.time() - self.asks.get("sent", time.time())
        if waited > WAITED_S:
            self.first = threading.Thread(target=self.tell, args=(STARTED, after(waited)), daemon=True)
            self.first.start()

    def ended(self, code: int, why: str, who: str, *, chief: bool, hidden: Iterable[str]) -> None:
        """Tell how it ended. A machine that goes may be followed by another, and what ended by some signals is started
        again: nothing is told of these, nor of the end of a helper that did well."""
        if not self.asks or self.noticed or code in TRANSIENT or (code == 0 and not chief):
            return
        if self.first:
            self.first.join(2 * TIMEOUT_S)
        why = why or (self.lines.text() if self.lines else "") or f"exit code {code}"
        if code == 137:
            why = "killed, most likely out of memory"
        lines = {line.strip() for value in hidden for line in value.splitlines()}
        # An error has a text as a program writes it, with two backslashes for one, or as an address does.
        forms = (str, lambda line: repr(line)[1:-1], lambda line: json.dumps(line)[1:-1], quote, quote_plus)
        parts = {form(line) for line in lines for form in forms} - {""}
        for part in sorted(parts, key=len, reverse=True):  # One may be within another.
            why = why.replace(part, "…")
        event = FAILED if code else SUCCEEDED
        if code or not self.sweep:
            self.tell(event, f"{why} ({who})" if code else "")
        if self.sweep and self.facts["run"].isdecimal():
            self.run_ended(event)

    def run_ended(self, event: str) -> None:
        """Mark how a run of a sweep ended, and tell the sweep's end where it was the last. Runs that are sent once more
        are not counted, as none knows how many these are."""
        try:
            self.take("{}/ended/{}-{}".format(self.claim, self.facts["run"], event))
            ends = dict(name.rpartition("/")[2].split("-") for name in sorted(self.listed(self.claim + "/ended")))
        except Exception as error:  # Whatever it is, the job goes on.
            self.say(f"nobody was told whether the sweep has ended: {error}")
            return
        if len(ends) == int(self.facts["runs"]):
            del self.facts["run"]
            self.facts["job"] = ""
            self.tell(ENDED, counted(len(ends), Counter(ends.values())))
