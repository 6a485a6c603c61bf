"""Tells a chat room, or a program, how a job goes: that it started after a wait, succeeded or failed, and why.

Whoever is about to tell makes a mark first, beside the job's claim and for this address alone, and is silent where it
is there: so each event is told once, by the job itself or by whoever waits for it. A failure to tell is a sentence for
the log, and never has the address, which is a secret.
"""

from __future__ import annotations

import contextlib
import hashlib
import html
import http.client
import json
import os
import re
import signal
import threading
import time
import urllib.request
from collections import Counter
from typing import IO, Any, Callable, Iterable, Mapping, Sequence  # noqa: UP035 (Python 3.8)
from urllib.parse import quote, quote_plus, urldefrag, urlsplit

STARTED, SUCCEEDED, FAILED, CANCELLED, ENDED = "started", "succeeded", "failed", "cancelled", "ended"
CRASHED, RETRIED, YIELDED = "crashed", "retried", "yielded"
REASON = "ended"
"""A file beside a command's folder, with the reason why it has ended well."""
WAITED_S = 60.0
TIMEOUT_S = 10
END_S = 20.0  # No longer does a job's end keep its machines for that somebody is told.
HERE = ("localhost", "127.0.0.1", "::1")
CHATS = ("hooks.slack.com", "chat.googleapis.com")
LONGEST = 300
# Vertex AI starts again what ends with SIGABRT or SIGSEGV, or with their numbers, so many times.
TRANSIENT, RETRIES = (6, 11, 134, 139), 3
_WORDS = re.compile(rb"[\w\x80-\xff]")


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


def tell(
    claim: str, url: str, event: str, facts: Mapping[str, str], take: Callable[[str], bool], mark: str = ""
) -> str:
    """Tell an event unless that was done; return why it could not be, or an empty string. `take` makes an object, and
    returns False where it is there. Raises its errors, and ValueError for an address that others could read."""
    if not private(url):
        why = "the address in it, which is not shown, is neither https:// nor on this machine"
        raise ValueError(f"{why}; add a version with another")
    if not take(f"{claim}/told/{event}{mark}-{hashlib.sha256(url.encode()).hexdigest()[:16]}"):
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


def reason(code: int, line: str) -> str:
    """Return why a program failed: the last line of its errors, after the signal that ended it."""
    if code == 137:
        return "killed, most likely out of memory"
    if code == 135:
        return f"SIGBUS, most likely out of shared memory{f': {line}' if line else ''}"
    with contextlib.suppress(ValueError):
        name = signal.Signals(code - 128).name
        return f"{name}: {line}" if line else name
    return line or f"exit code {code}"


class LastLine:
    """A copy of what a program writes, on stderr, that remembers the last line with a word."""

    def __init__(self, written: IO[bytes]) -> None:
        self._written, self._last, self._line = written, b"", b""
        self._copy = threading.Thread(target=self._run, daemon=True)
        self._copy.start()

    def _run(self) -> None:
        for block in iter(lambda: os.read(self._written.fileno(), 1 << 16), b""):
            *ended, line = re.split(rb"[\r\n]", self._line + block)
            # Of a long line the beginning: what is cut in its middle could be a secret.
            self._last, self._line = next(filter(_WORDS.search, reversed(ended)), self._last)[:4096], line[:4096]
            while block:
                block = block[os.write(2, block) :]

    def text(self) -> str:
        """The line, once nobody writes any more, or a second later."""
        self._copy.join(1.0)
        return (self._line if _WORDS.search(self._line) else self._last).strip().decode("utf-8", "replace")


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
        self.own, self.claim = claim, place_of(claim, self.sweep) if self.sweep else claim
        self.read, self.take, self.say, self.listed = read, take, say, listed
        self.lines: LastLine | None = None
        self.noticed = False
        # Told with a good end.
        self.why = ""
        #: Values of secrets, which nobody is told.
        self.hidden: Sequence[str] = ()
        self.first: threading.Thread | None = None

    def tell(self, event: str, why: str, facts: Mapping[str, str] | None = None, mark: str = "") -> None:
        """Tell an event; `mark` tells it from others of its kind."""
        told = {**(facts or self.facts), "why": why}
        try:
            problem = tell(self.claim, self.read(self.asks["secret"]), event, told, self.take, mark)
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

    def retried(self, code: int, who: str, number: int, most: int) -> None:
        """Tell that it runs again after a failure. The job does not wait for that, but at its end."""
        if self.asks:
            why = f"{self.reason(code)} ({who}); attempt {number + 1} of {most + 1} begins"
            mark = {"mark": f"-{number}"}
            self.first = threading.Thread(target=self.tell, args=(RETRIED, why), kwargs=mark, daemon=True)
            self.first.start()

    def ended(self, code: int, why: str, who: str, *, chief: bool) -> None:
        """Tell how it ended. A machine that goes may be followed by another: nothing is told of that, nor of the end of
        a helper that did well."""
        if not self.asks or self.noticed or (code == 0 and not chief):
            return
        why = self.reason(code, why)
        why, event = (f"{why} ({who})", FAILED) if code else (self.why, SUCCEEDED)
        if code in TRANSIENT:
            self.bounded([lambda: self.crashed(why, who)], "crashed")
        else:
            steps = [lambda: self.tell(event, why)] * bool(code or not self.sweep)
            self.bounded([*steps, lambda: self.run_ended(event)], event)

    def reason(self, code: int, why: str = "") -> str:
        """Return why it failed, without the values of secrets."""
        why = why or reason(code, self.lines.text() if self.lines else "")
        lines = {line.strip() for value in self.hidden for line in value.splitlines()}
        # An error has a text as a program writes it, with two backslashes for one, or as an address does.
        forms = (str, lambda line: repr(line)[1:-1], lambda line: json.dumps(line)[1:-1], quote, quote_plus)
        parts = {form(line) for line in lines for form in forms} - {""}
        for part in sorted(parts, key=len, reverse=True):  # One may be within another.
            why = why.replace(part, "…")
        return why

    def bounded(self, steps: Sequence[Callable[[], None]], event: str) -> None:
        """Do each after the one before; one that is slow leaves as much of the time to the next."""
        until, threads = time.monotonic() + END_S, [self.first] if self.first else []
        for done, step in enumerate(steps):
            if threads:
                threads[-1].join(max(0.0, (until - time.monotonic()) / (len(steps) - done + 1)))
            threads.append(threading.Thread(target=step, daemon=True))
            threads[-1].start()
        for thread in threads:
            thread.join(max(0.0, until - time.monotonic()))
        if any(thread.is_alive() for thread in threads):
            slow = "Secret Manager, the work bucket or the address"
            self.say(f"nobody may have been told that it {event}: {slow} did not answer within {END_S:.0f} s")

    def crashed(self, why: str, who: str) -> None:
        """Tell of a crash: each replica counts its own, as all may crash at once, and of its last one it is the end."""
        for number in range(1, self.asks.get("retries", RETRIES) + 1):
            try:
                again = self.take(f"{self.own}/crashed/{who}-{number}")
            except Exception as error:  # Whatever it is, the job goes on.
                self.say(f"nobody was told that it crashed: {error}")
                return
            if again:
                self.tell(CRASHED, f"{why}; Vertex AI starts it again")
                return
        self.tell(FAILED, why)
        self.run_ended(FAILED)

    def run_ended(self, event: str) -> None:
        """Mark how a run of a sweep ended, and tell the sweep's end where it was the last. Runs that are sent once more
        are not counted, as none knows how many these are."""
        if not (self.sweep and self.facts["run"].isdecimal()):
            return
        try:
            self.take("{}/ended/{}-{}".format(self.claim, self.facts["run"], event))
            ends = dict(name.rpartition("/")[2].split("-") for name in sorted(self.listed(self.claim + "/ended")))
        except Exception as error:  # Whatever it is, the job goes on.
            self.say(f"nobody was told whether the sweep has ended: {error}")
            return
        if len(ends) == int(self.facts["runs"]):
            facts = {name: text for name, text in self.facts.items() if name != "run"}
            self.tell(ENDED, counted(len(ends), Counter(ends.values())), {**facts, "job": ""})
