"""Numbers and lists as text for people. Pure, in English, with units."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

from slipway.base.errors import ConfigError

_UNITS = {"s": 1, "m": 60, "min": 60, "h": 3600, "d": 86400}
_BYTES = ("bytes", "kB", "MB", "GB", "TB")
_DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*(s|min|m|h|d)?")


def join(words: Iterable[str], last: str = "and") -> str:
    """Return `a, b and c`."""
    listed = list(words)
    if len(listed) < 2:
        return "".join(listed)
    return f"{', '.join(listed[:-1])} {last} {listed[-1]}"


def few(names: Iterable[str], most: int = 2) -> str:
    """Return `a, b and 3 more`."""
    listed = list(names)
    return join([*listed[:most], f"{len(listed) - most:,} more"] if len(listed) > most else listed)


def first_lines(lines: Iterable[str], most: int) -> list[str]:
    """Return the first lines, and `and 3 more` for the others; a single other one would be as short by itself."""
    listed = list(lines)
    return [*listed[:most], f"and {len(listed) - most:,} more"] if len(listed) > most + 1 else listed


def short(text: str, longest: int = 60) -> str:
    """Return a text to stand within a line: each run of spaces and newlines as one space, cut after `longest`."""
    start = text[: 4 * longest]  # The rest is not looked at: it may be megabytes.
    line = " ".join(start.split())
    return line if start == text and len(line) <= longest else f"{line[:longest]}…"


def sides(before: str, after: str, longest: int = 60) -> tuple[str, str]:
    """Return two texts that differ, each cut to about `longest`. Lists with ` then ` lose their common beginning and
    end, and long texts their common beginning."""
    was = before.split(" then ")
    now = after.split(" then ")
    while min(len(was), len(now)) > 1 and was[-1] == now[-1]:
        was.pop()
        now.pop()
    start = ""
    while min(len(was), len(now)) > 1 and was[0] == now[0]:
        was.pop(0)
        now.pop(0)
        start = "…"
    before = " then ".join(was)
    after = " then ".join(now)
    pairs = zip(before, after, strict=False)
    different = (place for place, (left, right) in enumerate(pairs) if left != right)
    same = next(different, min(len(before), len(after)))
    kept = same - longest // 4
    if max(len(before), len(after)) > longest and kept > 0:
        before = before[kept:]
        after = after[kept:]
        start = "…"
    return start + short(before, longest), start + short(after, longest)


def quoted(value: object) -> str:
    """Return a value as a message repeats it: in quotes where it is text, and short."""
    if not isinstance(value, str):
        return short(repr(value))
    return repr(short(value) if len(value) > 60 else value)  # A short one keeps its spaces: they may be the mistake.


def nearest(word: str, known: Iterable[str], cutoff: float = 0.6) -> str | None:
    """Return the known word that a person most likely meant; None where none is near. Case does not count, nor a common
    prefix before a colon."""
    from difflib import get_close_matches  # Needed only after a mistake: importing it costs time.

    listed = list(known)
    prefix = f"{word.rpartition(':')[0]}:" if ":" in word else ""
    if not any(name.startswith(prefix) for name in listed):
        prefix = ""
    by_folded = {name.removeprefix(prefix).casefold(): name for name in listed if name.startswith(prefix)}
    # Cut, as the time grows with the square of the length.
    close = get_close_matches(word.removeprefix(prefix).casefold()[:200], by_folded, n=1, cutoff=cutoff)
    return by_folded[close[0]] if close else None


def meant(word: str, known: Iterable[str], otherwise: str = "", cutoff: float = 0.6) -> str:
    """Return the fix of a word that is not known: `did you mean …?`, or another one where none is near."""
    near = nearest(word, known, cutoff)
    return f"did you mean `{near}`?" if near else otherwise


def numbered(name: str) -> list[str]:
    """Return the parts of a name that have a digit, which tell one model from another: `a100` and `80gb`."""
    return [part for part in re.findall("[a-z0-9]+", name.casefold()) if re.search("[0-9]", part)]


def counted(count: int | str, role: str) -> str:
    """Return `1 worker`, `2 workers`, `2 trials`, whether the role's name is singular or plural."""
    if str(count) == "1":
        return f"1 {role[:-1] if role.endswith('s') and not role.endswith('ss') else role}"
    return f"{count} {role if role.endswith('s') else f'{role}s'}"


def plain(number: float) -> str:
    """Return `1000000` and `0.5`, all digits of a bound: as somebody would type it."""
    return str(int(number)) if float(number).is_integer() else str(number)


def span(seconds: float) -> str:
    """Return a time span to about two digits: `42 s`, `14 min`, `3 h 12 min`, `9 days`."""
    return " ".join(span_parts(seconds))


def span_parts(seconds: float) -> tuple[str, ...]:
    """Return `("42", "s")`, `("3", "h", "12", "min")`."""
    whole = max(0, round(seconds))
    if whole < 60:
        return f"{whole}", "s"
    minutes = round(whole / 60)
    if minutes < 60:
        return f"{minutes}", "min"
    hours, rest = divmod(minutes, 60)
    if hours < 48:
        return f"{hours}", "h", *((f"{rest}", "min") if rest else ())
    return f"{round(hours / 24)}", "days"


def exact_span(seconds: float) -> str:
    """Return a limit of time as somebody set it, where `span` rounds: `84 h`, `4 days`, `1 h 30 min`."""
    whole = round(seconds)
    if whole >= 172_800 and not whole % 86_400:
        return f"{whole // 86_400} days"
    parts = ((whole // 3600, "h"), (whole // 60 % 60, "min"), (whole % 60, "s"))
    return " ".join(f"{amount} {unit}" for amount, unit in parts if amount) or "0 s"


def span_before(seconds: float, other: float) -> str:
    """Return a span before another one, without its unit where both have the same: the `4` of `4–9 min`."""
    amount, *unit = span_parts(seconds)
    return amount if unit == list(span_parts(other)[1:]) and len(unit) == 1 else span(seconds)


def span_or_dash(seconds: float | None) -> str:
    """Return a time span; a dash where there is none."""
    return "–" if seconds is None else span(seconds)


def percent(share: float) -> str:
    """Return `42 %`."""
    return f"{share * 100:.0f} %"


def last_part(name: str) -> str:
    """Return the last part of a full name, a path or a URI: `4711` of `projects/p/locations/r/customJobs/4711`."""
    return name.rpartition("/")[2]


def usd(amount: float) -> str:
    """Return USD, with cents where they matter: `$27,600`, `$0.56`, `$0`."""
    return f"${amount:,.0f}" if amount >= 100 or amount == 0 else f"${amount:,.2f}"


def size(count: int) -> str:
    """Return bytes to about two digits: `42 bytes`, `3.4 MB`."""
    if count == 1:
        return "1 byte"
    amount, unit = float(count), 0
    while amount >= 999.5 and unit < len(_BYTES) - 1:
        amount, unit = amount / 1000, unit + 1
    return f"{amount:.1f} {_BYTES[unit]}" if unit and amount < 9.95 else f"{amount:.0f} {_BYTES[unit]}"


def exact(seconds: float) -> str:
    """Return a measured time: `2.4 s`, `1 min 05 s`, `1 h 02 min`."""
    if seconds < 60:
        return f"{max(0.0, seconds):.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest:02d} s"
    return f"{minutes // 60} h {minutes % 60:02d} min"


def clock(seconds: float) -> str:
    """Return a running clock: `0:42`, `1:02:03`."""
    minutes, rest = divmod(max(0, int(seconds)), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


def seconds(text: str) -> float:
    """Return `90`, `90s`, `10m`, `2h`, `1d` as seconds. Raises ConfigError."""
    match = _DURATION.fullmatch(text.strip().lower())
    if not match or not 0 < float(match.group(1)) < math.inf:
        raise ConfigError(
            f"invalid duration {quoted(text)}", why="a number with s, m, h or d", fix="90s, 10m or 2h, for example"
        )
    return float(match.group(1)) * _UNITS[match.group(2) or "s"]


def unfit(value: float | str) -> str:
    """Return the reason why no JSON can carry a value; an empty string when it can."""
    if not isinstance(value, str):
        try:
            return "" if math.isfinite(value) else "is not finite"
        except OverflowError:  # A whole number that neither a float nor most readers can hold.
            return "is too large"
    try:
        value.encode()
    except UnicodeEncodeError:  # Half of a character: bytes of a shell, or an escape in JSON.
        return "is not valid UTF-8"
    return ""
