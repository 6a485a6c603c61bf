"""Charts over time, as specifications of Vega-Lite: a band of machines with its queue, and one job's life."""

from __future__ import annotations

from collections.abc import Callable

from .charts import BY_RANK, MONEY, PAGE, RANK, Spec, chosen, layer, parts

_FROM = "max(now - days * 864e5, begun)"
_HOURS = "utchours(datum.value) || utcminutes(datum.value)"
_AXIS = {
    "title": None,
    "tickCount": {"expr": "width / 90"},
    "labelOverlap": True,
    "labelFlush": True,
    "labelExpr": f"{_HOURS} ? utcFormat(datum.value, '%H:%M') : utcFormat(datum.value, '%a %-d %b')",
}
_RANGE = {"type": "utc", "domain": [{"expr": _FROM}, {"expr": "now"}], "nice": False}
_AT = {"calculate": "toDate(datum.time)", "as": "at"}
_ON_BAND = [{"flatten": ["on"], "as": ["place"]}, {"filter": "datum.place && datum.place[0] === band"}]


def band() -> Spec:
    """Return the machines of a band: used, idle and unrecorded ones; the queue above; marks between. `band`: its index;
    `top` and `queue`: the ends of the two scales, in machines."""
    own = ({"name": "band", "value": 0}, {"name": "top", "value": 1}, {"name": "queue", "value": 0})
    return {"params": chosen(*own), "spacing": 4, "vconcat": [_queue(), _machines()]}


_OF_LIFE = [{"name": "life", "value": -1}, {"name": "begin", "value": 0}, {"name": "end", "value": 1}]
_LIFE = {"filter": "datum.life === life"}
_LIFETIME = {"type": "utc", "domain": [{"expr": "begin"}, {"expr": "end"}], "nice": False}


def life() -> Spec:
    """Return the life of a job: its wait, its runs and the times without machines, with its events."""
    x = {"field": "begin", "type": "temporal", "scale": _LIFETIME, "axis": _AXIS}
    phases = [{"calculate": f"toDate(datum.{key})", "as": key} for key in ("begin", "end")]
    tooltip = [{"field": "what", "title": "was"}, when("begin", "from"), when("end", "to")]
    encoding = {"x": x, "x2": {"field": "end"}, "tooltip": tooltip}
    bars = {
        "data": {"name": "phases"},
        "transform": [_LIFE, *phases],
        "layer": parts({"type": "rect"}, encoding, waiting="waiting", running="accent", preempted="bad"),
    }
    told, rule = [{"field": "what"}, {"field": "text"}, when("at", "at")], {"type": "rule", "style": "generation"}
    marks = layer("marks", [_LIFE, _AT], rule, x={**x, "field": "at"}, tooltip=told)
    room = {"left": 44, "right": 0, "top": 0, "bottom": 0}  # as on an axis of the chart below
    return {"params": _OF_LIFE, "padding": room, "width": PAGE, "height": 28, "layer": [bars, marks]}


def use() -> Spec:
    """Return a job's utilization of processors, memory and accelerators, a line for each replica and accelerator."""
    axis = {"title": None, "format": "%", "tickCount": 3}
    points = [
        _LIFE,
        {"flatten": ["points"], "as": ["point"]},
        {"calculate": "toDate(datum.point[0])", "as": "at"},
        {"calculate": "datum.point[1]", "as": "value"},
        {"calculate": "replace(datum.what, /[0-9]+ ?/, '')", "as": "kind"},
        {"calculate": "datum.who + datum.what", "as": "line"},
    ]
    lines = layer(
        "use",
        points,
        {"type": "line", "strokeWidth": 1.5, "interpolate": "step-after"},
        x={"field": "at", "type": "temporal", "scale": _LIFETIME, "axis": _AXIS},
        y={"field": "value", "type": "quantitative", "scale": {"domain": [0, 1]}, "axis": axis},
        color={"field": "kind", "type": "nominal", "legend": {"title": None, "offset": 4}},
        detail={"field": "line", "type": "nominal"},
        tooltip=[{"field": "who"}, {"field": "what"}, {"field": "value", "format": ".0%"}, when("at", "at")],
    )
    return {"params": _OF_LIFE, "width": PAGE, "height": 120, **lines}


def when(field: str, title: str) -> Spec:
    unit = "utcyearmonthdatehoursminutes"
    return {"field": field, "title": title, "type": "temporal", "timeUnit": unit, "format": "%-d %b %H:%M UTC"}


def _time(field: str, axis: Spec | None = None) -> Spec:
    return {"field": field, "type": "temporal", "scale": _RANGE, "axis": axis}


def _queue() -> Spec:
    """Return the machines that jobs waited for: each adds them at its creation, and takes them away at its start."""
    left = "datum.startTime ? toDate(datum.startTime) : datum.endTime ? toDate(datum.endTime) : now"
    axis = {"title": "wait", "values": {"expr": "queue ? [0, queue] : []"}, "format": "d", "grid": False}
    scale = {"domain": [0, {"expr": "max(queue, 1)"}], "nice": False}
    waits = [
        *_ON_BAND,
        {"calculate": "toDate(datum.createTime)", "as": "created"},
        {"calculate": left, "as": "left"},
        {"fold": ["created", "left"], "as": ["what", "at"]},
        {"calculate": "(datum.what === 'created' ? 1 : -1) * datum.place[1]", "as": "change"},
        {"window": [{"op": "sum", "field": "change", "as": "waiting"}], "sort": [{"field": "at"}]},
    ]
    area = {"type": "area", "interpolate": "step-after", "style": "waiting", "clip": True}
    y = {"field": "waiting", "type": "quantitative", "axis": axis, "scale": scale}
    return {"width": PAGE, "height": 30, **layer("jobs", waits, area, x=_time("at"), y=y)}


def _machines() -> Spec:
    span = [
        {"filter": "datum.index === band"},
        {"flatten": ["spans"], "as": ["span"]},
        {"filter": "datum.span"},
        {"calculate": "toDate(datum.span[0])", "as": "begin"},
        {"calculate": "toDate(datum.span[1])", "as": "end"},
        {"calculate": "datum.span[3]", "as": "max"},
        {"calculate": "datum.span[2] === null ? datum.span[3] : datum.span[2]", "as": "live"},
        {"calculate": "0", "as": "ground"},
    ]
    generations: list[Spec] = [
        {"filter": "datum.index === band"},
        {"flatten": ["generations"], "as": ["generation"]},
        {"filter": "datum.generation"},
        {"calculate": "datum.generation[1]", "as": "came"},
        {"calculate": "datum.generation[2]", "as": "went"},
        {"fold": ["came", "went"], "as": ["what", "time"]},
        {"filter": "datum.time"},
        {"calculate": "datum.generation[0] + ' ' + datum.what", "as": "cluster"},
    ]
    preemptions = [
        {"filter": "datum.preemptions"},
        *_ON_BAND,
        {"flatten": ["preemptions"], "as": ["time"]},
        {"filter": "datum.time"},
        _AT,
        {"filter": f"datum.at >= {_FROM}"},
    ]
    preempted = {"type": "point", "shape": "triangle-down", "filled": True, "style": "bad", "size": 45, "clip": True}
    told = [{"field": "displayName", "title": "preempted"}, when("at", "at")]
    x = {"x": _time("begin", _AXIS), "x2": {"field": "end"}}

    def y(field: str) -> Spec:
        axis = {"title": "machines", "format": "d", "tickMinStep": 1, "tickCount": 4}
        scale = {"domain": [0, {"expr": "top"}], "nice": False}
        return {"field": field, "type": "quantitative", "axis": axis, "scale": scale}

    def live(style: str, condition: str) -> Spec:
        mark = {"type": "rect", "style": style, "clip": True}
        return layer("bands", [*span, {"filter": condition}], mark, **x, y=y("ground"), y2={"field": "live"})

    layers = [
        live("unknown", "datum.span[2] === null"),
        live("idle", "datum.span[2] !== null"),
        _jobs(y),
        layer("bands", span, {"type": "rule", "style": "limit", "clip": True}, **x, y=y("max")),
        _marks("deployment", "deployments", [], "commit"),
        _marks("generation", "bands", generations, "cluster"),
        layer("jobs", preemptions, preempted, x=_time("at", _AXIS), y={"value": 4}, tooltip=told),
    ]
    return {"width": PAGE, "height": 116, "layer": layers}


def _marks(style: str, rows: str, before: list[Spec], field: str) -> Spec:
    rule, told = {"type": "rule", "style": style, "clip": True}, [{"field": field, "title": style}, when("at", "at")]
    return layer(rows, [*before, _AT], rule, x=_time("at", _AXIS), tooltip=told)


def _jobs(y: Callable[[str], Spec]) -> Spec:
    """Return a rectangle for each job and each range of its lanes."""
    lanes = [
        {"filter": "datum.startTime"},
        *_ON_BAND,
        {"calculate": "toDate(datum.startTime)", "as": "begin"},
        {"calculate": "datum.endTime ? toDate(datum.endTime) : now", "as": "end"},
        {"filter": f"datum.end >= {_FROM}"},
        {"calculate": "sequence(2, length(datum.place), 2)", "as": "lanes"},
        {"flatten": ["lanes"], "as": ["lane"]},
        {"calculate": "datum.place[datum.lane]", "as": "low"},
        {"calculate": "datum.place[datum.lane + 1]", "as": "high"},
        {"calculate": "datum.place[1]", "as": "machines"},
        {"calculate": "replace(datum.state, '-', ' ')", "as": "became"},
        *RANK,
    ]
    told = [
        {"field": "displayName", "title": "job"},
        *({"field": key} for key in ("user", "team", "template")),
        {"field": "became", "title": "state"},
        {"field": "machines"},
        when("begin", "started"),
        when("end", "ended"),
        {"field": "cost", "title": "cost", **MONEY},
    ]
    mark = {"type": "rect", "clip": True, "cursor": "pointer", "style": "job"}
    x = {"x": _time("begin", _AXIS), "x2": {"field": "end"}}
    return layer("jobs", lanes, mark, **x, y=y("low"), y2={"field": "high"}, color=BY_RANK, tooltip=told)
