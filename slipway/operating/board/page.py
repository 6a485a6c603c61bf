"""The page: one HTML file with its data, its charts and the scripts that draw them. Pure, but for its own files."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from importlib.resources import files
from typing import Any

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from slipway.base.files import OWN_PAGE
from slipway.base.formatting import counted, span, span_or_dash
from slipway.google.jobs import state_word
from slipway.model.job_state import JobState
from slipway.model.machines.price_tables import HOURS_OF_A_MONTH
from slipway.model.prices import MORE, Price, spent

from . import charts, sweep_charts, time_charts
from .theme import DARK, FONT, LIGHT, PALETTE, Theme

SCRIPTS = ("vendor/vega.min.js", "vendor/vega-lite.min.js", "vendor/vega-embed.min.js", "page.js")
_UNKNOWN = "–"


def page(data: Mapping[str, Any], fresh_s: float = 0.0) -> str:
    """Return the HTML of a board's JSON (`slipway.operating.board.document.as_json`). `fresh_s`: seconds after which a
    served page asks for a newer one; 0 for a file."""
    here = files(__package__)
    scripts = [here.joinpath(name).read_text(encoding="utf-8") for name in SCRIPTS]
    style = _colours() + here.joinpath("page.css").read_text(encoding="utf-8")
    age = datetime.fromisoformat(data["time"]) - datetime.fromisoformat(data["begun"])
    chosen = {"days": 1 if age <= timedelta(days=1) else 7, "by": "user"}
    themes = {"light": LIGHT.config(), "dark": DARK.config()}
    board = json.dumps(
        {"data": data, "charts": _CHARTS, "themes": themes, "params": chosen}, separators=(",", ":"), ensure_ascii=False
    )
    for letter in "<>&\u2028\u2029":
        board = board.replace(letter, f"\\u{ord(letter):04x}")
    policy = {
        "default-src": ["'none'"],
        "script-src": [_digest(script) for script in scripts],
        "style-src": [_digest(style)],
        "base-uri": ["'none'"],
        "form-action": ["'none'"],
    }
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    environment.filters |= _FILTERS
    template = environment.from_string(here.joinpath("page.html").read_text(encoding="utf-8"))
    return template.render(
        data=data,
        mark=Markup(OWN_PAGE),
        chosen=chosen,
        fresh_s=int(fresh_s),
        tiles=list(tiles(data)) if data["now"] else [],
        month=_month(data["month"], data["budget"]) if data["month"] else None,
        policy="; ".join(f"{key} {' '.join(values)}" for key, values in policy.items()),
        style=Markup(style),
        scripts=[Markup(script) for script in scripts],
        board=Markup(board),
    )


def _chart(spec: Mapping[str, Any], *uses: str, room: int = 4) -> Mapping[str, Any]:
    """Return a chart for the page. `uses`: the names of its rows; `room`: pixels for axes and labels beside it."""
    return {"spec": spec, "uses": uses, "room": room}


_CHARTS = {
    "pools": _chart(charts.pools_now(), "pools"),
    "gauges": _chart(charts.gauges(), "gauges"),
    "band": _chart(time_charts.band(), "jobs", "bands", "deployments", room=62),
    "days": _chart(charts.money_by_day(), "days", room=50),
    "shares": _chart(charts.money_by(), "shares"),
    "parallel": _chart(sweep_charts.parallel(), "points", "ticks", room=26),
    "scatter": _chart(sweep_charts.scatter(), "points", "ticks", room=50),
    "curves": _chart(sweep_charts.curves(), "curves", room=52),
    "life": _chart(time_charts.life(), "phases", "marks", room=54),
    "use": _chart(time_charts.use(), "use", room=54),
}


@dataclass(frozen=True)
class Tile:
    """A figure of now, and its caption."""

    what: str
    figure: str
    more: str


def tiles(data: Mapping[str, Any]) -> Iterator[Tile]:
    now = data["now"]
    pools, waiting = now["pools"], now["waiting"]
    busy, live = sum(pool["busy"] for pool in pools), sum(pool["live"] for pool in pools)
    room = sum(_machines(pool["shares"], "room") for pool in pools)
    yield Tile("Machines", f"{busy:,} of {live:,}", f"busy; {room:,} more may come" if room else "busy")
    needed = counted(sum(job["machines"] for job in waiting), "machine")
    yield Tile("Queue", counted(len(waiting), "job"), f"for {needed}" if waiting else "nothing waits")
    prices = [pool["pricePerHourNow"] for pool in pools]
    total = sum(Decimal(price) for price in prices if price)
    more = f" {MORE}" if None in prices else ""
    yield Tile("Pools", f"${total:,.2f}/h", f"${total * HOURS_OF_A_MONTH:,.0f} a month{more}")
    if data["month"]:
        yield _month(data["month"], data["budget"])
    jobs = len(now["findings"])
    figure, more = (counted(jobs, "job"), "idle, or not on a free pool") if jobs else ("nothing", "")
    yield Tile(what="To look at", figure=figure, more=more)


def _month(month: Mapping[str, Any], budget: float | None) -> Tile:
    """Return this month's spending: a lower bound, where not all of it is known."""
    name = datetime.fromisoformat(f"{month['month']}-01").strftime("%B")
    least = "" if month["complete"] else "≥ "
    forecast = "" if month["forecast"] is None else f"{least}{_whole(month['forecast'])} by its end"
    limit = "" if budget is None else f"budget {_whole(budget)}"
    return Tile(name, f"{least}{_whole(month['spent'])}", ", ".join(filter(None, (forecast, limit))))


def _whole(amount: float) -> str:
    """Return USD, with cents where they matter."""
    return f"${amount:,.0f}" if amount >= 100 else _money(amount)


def _colours() -> str:
    """Return the theme as properties of CSS, and a class for each colour of charts."""

    def properties(theme: Theme) -> str:
        return "".join(f"--{key}:{value};" for key, value in asdict(theme).items())

    ranks = "".join(f".c{rank}{{background:{colour}}}" for rank, colour in enumerate((*PALETTE, "var(--other)")))
    named = "".join(
        f".legend .{name}{{background:var(--{name})}}"
        for name in ("idle", "unknown", "waiting", "accent", "beside", "bad")
    )
    dark = f"@media screen and (prefers-color-scheme:dark){{:root{{{properties(DARK)}}}}}"
    return f":root{{--font:{FONT};{properties(LIGHT)}}}{dark}{ranks}{named}\n"


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _money(amount: str | float | None) -> str:
    """Return a sum in the format of `slipway jobs show`."""
    if amount is None:
        return _UNKNOWN
    return spent(Price(Decimal(str(amount)))) if float(amount) else "$0.00"


def _cost(row: Mapping[str, Any]) -> str:
    """Return the cost of a row of usage, with its bound."""
    if row["cost"] is None:
        return "?"
    most = "≤ " if row.get("costAtMost") or row.get("atMost") else ""
    return f"{most}{_money(row['cost'])}{'' if row['costComplete'] else '+'}"


def _since(text: str | None, now: str) -> str:
    if text is None:
        return _UNKNOWN
    return span((datetime.fromisoformat(now) - datetime.fromisoformat(text)).total_seconds())


def _machines(shares: list[Mapping[str, Any]], what: str) -> int:
    return sum(share["machines"] for share in shares if share["what"] == what)


def _ordered(runs: list[Mapping[str, Any]], sweep: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the best runs that succeeded first if the direction is known, and those without the metric last."""
    if sweep["maximize"] is None:
        return runs
    metric = sweep["metric"]
    sign = -1 if sweep["maximize"] else 1

    def place(run: Mapping[str, Any]) -> tuple[bool, bool, float]:
        value = run["metrics"].get(metric)
        return value is None, run["state"] != JobState.SUCCEEDED, sign * (value or 0.0)

    return sorted(runs, key=place)


def _happened(life: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the phases with their lengths, and the events in them, by time."""
    phases = [
        {"time": phase["begin"], "what": phase["what"], "text": _since(phase["begin"], phase["end"])}
        for phase in life["phases"]
    ]
    return sorted([*phases, *life["marks"]], key=lambda phase: datetime.fromisoformat(phase["time"]))


_FILTERS = {
    "happened": _happened,
    # The axes of a sweep but for its metric's own.
    "keys": lambda points, metric: [key for key in dict.fromkeys(point["key"] for point in points) if key != metric],
    "ordered": _ordered,
    "moment": lambda text: _UNKNOWN if text is None else datetime.fromisoformat(text).strftime("%-d %b %H:%M"),
    "date": lambda text: datetime.fromisoformat(text).strftime("%a %-d %b"),
    "money": _money,
    "rate": lambda amount: _UNKNOWN if amount is None else f"${float(amount):,.2f}",
    "cost": _cost,
    "since": _since,
    "machines": _machines,
    "hours": lambda value: f"{value:,.1f}" if value else _UNKNOWN,
    "params": json.dumps,
    "ms": lambda text: int(datetime.fromisoformat(text).timestamp() * 1000),
    "number": lambda value: _UNKNOWN if value is None else f"{value:.4g}",
    "span": span_or_dash,
    "word": state_word,
    "share": lambda value: _UNKNOWN if value is None else f"{value:.0%}",
    "count": lambda value: "?" if value is None else f"{value:,}",
    "limit": lambda value: "?" if value is None else "∞" if value < 0 else f"{value:,}",
}
