"""Charts of the present and of money, as specifications of Vega-Lite: data that the page's scripts draw.

The page provides rows by name, a theme, and the reader's parameters. Colours are styles of the theme; people have ranks
by their use, so that each has one colour everywhere. Labels stand above a bar, never beside it: so a phone has room for
both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Spec = Mapping[str, Any]
PAGE = "page"
"""A width that the page replaces by its own."""
OTHER = 8
"""The rank of people without a colour."""
RANK = [
    {"calculate": "indexof(most[by] || [], datum[by] || '')", "as": "found"},
    {"calculate": f"datum.found < 0 ? {OTHER} : datum.found", "as": "rank"},
]
MONEY = {"type": "quantitative", "formatType": "money"}
"""The page's own format, which shows small sums beyond cents."""
BY_RANK = {"field": "rank", "type": "nominal", "scale": {"domain": [*range(OTHER + 1)]}, "legend": None}
_STEP = 46
BAR = {"type": "bar", "height": 14, "yOffset": 8}


def layer(rows: str, transform: Sequence[Any], mark: Spec, **encoding: Any) -> dict[str, Any]:
    """Return a layer of the page's `rows`."""
    return {"data": {"name": rows}, "transform": transform, "mark": mark, "encoding": encoding}


def parts(mark: Spec, encoding: Spec, **styles: str) -> list[Spec]:
    """Return a layer for each `what` of the rows, in its style."""
    return [
        {"transform": [{"filter": f"datum.what === '{what}'"}], "mark": {**mark, "style": style}, "encoding": encoding}
        for what, style in styles.items()
    ]


def chosen(*more: Spec) -> list[Spec]:
    """Return the parameters that a reader chooses, and those that the page sets. `now`, and `begun`, before which
    nothing is known, are milliseconds."""
    return [
        {"name": "days", "value": 7},
        {"name": "by", "value": "user"},
        {"name": "now", "value": 0},
        {"name": "begun", "value": 0},
        {"name": "most", "value": {}},
        *more,
    ]


def pools_now() -> Spec:
    """Return a bar for each pool: the holders of its machines, the free ones, and how many may come."""
    ends = {"stack": "machines", "groupby": ["name"], "sort": [{"field": "order"}], "as": ["begin", "end"]}
    shares = [
        {"window": [{"op": "row_number", "as": "at"}]},
        {"flatten": ["shares"], "as": ["share"]},
        {"window": [{"op": "row_number", "as": "order"}]},
        *({"calculate": f"datum.share.{key}", "as": key} for key in ("what", "machines", "user")),
        {"calculate": "join(datum.share.jobs, ', ')", "as": "jobs"},
        {**ends, "offset": "normalize"},
        # Present colours are people's, whatever is chosen below.
        {"calculate": "indexof(most.user || [], datum.user || '')", "as": "found"},
        {"calculate": f"datum.found < 0 ? {OTHER} : datum.found", "as": "rank"},
    ]
    tooltip = [
        {"field": "name", "title": "pool"},
        *({"field": key, "title": key} for key in ("user", "jobs", "machines")),
    ]
    encoding = {"x": _share("begin"), "x2": {"field": "end"}, "tooltip": tooltip}
    busy = {"transform": [{"filter": "datum.what === 'busy'"}], "mark": BAR, "encoding": {**encoding, "color": BY_RANK}}
    numbers = "datum.busy + ' of ' + datum.live + ' busy' + (datum.max > datum.live ? ', up to ' + datum.max : '')"
    return {
        **_rows("pools"),
        "params": chosen(),
        "layer": [
            {"transform": shares, "layer": [busy, *parts(BAR, encoding, free="idle", room="room")]},
            *_words("datum.name", numbers),
        ],
    }


def gauges() -> Spec:
    """Return a bar for each quota with a limit: its use, and a tick at the pools' maximum."""
    known = [{"filter": "datum.limit > 0"}]
    shares = [
        *known,
        {"calculate": "datum.now / datum.limit", "as": "own"},
        {"calculate": "min(1, datum.own + (datum.others || 0) / datum.limit)", "as": "all"},
        {"calculate": "min(1, datum.ceiling / datum.limit)", "as": "most"},
        {"calculate": "datum.most - 0.004", "as": "tick"},
        {"calculate": "1", "as": "whole"},
    ]
    numbers = "format(datum.now + (datum.others || 0), ',') + ' of ' + format(datum.limit, ',')"
    tick = {**BAR, "style": "limit", "height": 22}
    bars = [
        {"mark": {**BAR, "style": "idle"}, "encoding": {"x": _share("whole")}},
        {"mark": {**BAR, "style": "other"}, "encoding": {"x": _share("own"), "x2": {"field": "all"}}},
        {"mark": {**BAR, "style": "accent"}, "encoding": {"x": _share("own")}},
        {"mark": tick, "encoding": {"x": _share("most"), "x2": {"field": "tick"}}},
    ]
    layers = [{"transform": shares, "layer": bars}, *_words("datum.label", numbers, known)]
    return {**_rows("gauges", "label"), "layer": layers}


def money_by_day() -> Spec:
    """Return a bar for each day: dollars for pools' machines in use, for idle ones, and for jobs beside the pools."""
    day = [
        {"calculate": "toDate(datum.day)", "as": "begin"},
        {"calculate": "datum.begin + 864e5 * 0.86", "as": "end"},
        {"fold": ["used", "beside", "idle"], "as": ["what", "dollars"]},
        {"calculate": "indexof(['used', 'beside', 'idle'], datum.what)", "as": "order"},
        {"stack": "dollars", "groupby": ["begin"], "sort": [{"field": "order"}], "as": ["low", "high"]},
    ]
    axis = {"title": None, "format": "%-d %b", "tickCount": "day", "labelOverlap": "greedy", "labelSeparation": 12}
    x = {"field": "begin", "type": "temporal", "scale": {"type": "utc"}, "axis": axis}
    label = "format(datum.value, datum.value < 1 ? '$.3~r' : '$,.3~s')"
    y = {"field": "low", "type": "quantitative", "axis": {"title": None, "labelExpr": label, "tickCount": 4}}
    tooltip = [
        {"field": "begin", "title": "day", "type": "temporal", "timeUnit": "utcyearmonthdate", "format": "%a %-d %b"},
        {"field": "what"},
        {"field": "dollars", **MONEY},
    ]
    encoding = {"x": x, "x2": {"field": "end"}, "y": y, "y2": {"field": "high"}, "tooltip": tooltip}
    layers = parts({"type": "rect"}, encoding, used="accent", beside="beside", idle="idle")
    return {"width": PAGE, "height": 200, "data": {"name": "days"}, "transform": day, "layer": layers}


def money_by() -> Spec:
    """Return a bar for each user, team or template: dollars of pools and beside them, and of idle machines."""
    shares = [
        {"fold": ["pool", "beside", "idle"], "as": ["what", "dollars"]},
        {"calculate": "indexof(['pool', 'beside', 'idle'], datum.what)", "as": "order"},
        {"stack": "dollars", "groupby": ["name"], "sort": [{"field": "order"}], "as": ["begin", "end"]},
    ]
    x = {"field": "begin", "type": "quantitative", "axis": None, "scale": {"nice": False}}
    bars = parts(BAR, {"x": x, "x2": {"field": "end"}}, pool="accent", beside="beside", idle="idle")
    numbers = "datum.bound + dollars(datum.pool + datum.beside + datum.idle) + datum.more"
    layers = [{"transform": shares, "layer": bars}, *_words("datum.name", numbers)]
    return {**_rows("shares"), "params": chosen(), "transform": [{"filter": "datum.by === by"}], "layer": layers}


def _rows(name: str, key: str = "name") -> dict[str, Any]:
    """Return the beginning of a bar chart, with the labels above each bar."""
    return {
        "width": PAGE,
        "height": {"step": _STEP},
        "data": {"name": name},
        "encoding": {"y": {"field": key, "type": "nominal", "sort": None, "axis": None}},
        "resolve": {"scale": {"x": "shared"}},
    }


def _share(field: str) -> Spec:
    return {"field": field, "type": "quantitative", "axis": None, "scale": {"domain": [0, 1]}}


def _words(left: str, right: str, before: Sequence[Spec] = ()) -> list[Spec]:
    """Return a name at the left and numbers at the right, above each bar."""
    place = {"type": "text", "baseline": "bottom", "yOffset": -3, "clip": False}
    return [
        {
            "transform": [*before, {"calculate": left, "as": "words"}],
            "mark": {**place, "style": "words", "align": "left", "limit": {"expr": "width * 0.6"}},
            "encoding": {"x": {"value": 0}, "text": {"field": "words"}},
        },
        {
            "transform": [*before, {"calculate": right, "as": "numbers"}],
            "mark": {**place, "style": "faint", "align": "right"},
            "encoding": {"x": {"value": "width"}, "text": {"field": "numbers"}},
        },
    ]
