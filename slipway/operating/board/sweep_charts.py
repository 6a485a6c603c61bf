"""Charts of a sweep or a study, as specifications of Vega-Lite: runs over all axes, over one parameter, and steps."""

from __future__ import annotations

from .charts import MONEY, PAGE, Spec, layer
from .sweep import INNER

_OWN = ({"name": "sweep", "value": 0}, {"name": "key", "value": ""}, {"name": "metric", "value": ""})
_MINE = {"filter": "datum.sweep === sweep"}
_SCORE = {
    "field": "score",
    "type": "quantitative",
    "scale": {"domain": [0, 1], "range": [0.2, 1]},
    "legend": None,
    "condition": {"test": "datum.best", "value": 1},
}
_TOLD = [{"field": "run"}, {"field": "key", "title": "of"}, {"field": "text", "title": "value"}]
_TOLD += [{"field": "metric", "title": "metric", "type": "quantitative", "format": ".4~g"}]
_TOLD += [{"field": "cost", "title": "cost", **MONEY}]
_SIZE = {"field": "cost", "type": "quantitative", "scale": {"range": [25, 160], "zero": True}, "legend": None}


def parallel() -> Spec:
    """Return a line for each run through its value of each parameter to its metric: the better, the stronger."""
    room = {"expr": "width / axes - 10"}
    axis = {"title": None, "labelAngle": 0, "labelLimit": room, "domain": False, "ticks": False}
    x = {"field": "key", "type": "nominal", "sort": None, "axis": axis, "scale": {"type": "point", "padding": 0.2}}
    y = {"field": "place", "type": "quantitative", "axis": None, "scale": {"domain": [0, 1]}}
    lines = {"encoding": {"detail": {"field": "run", "type": "nominal"}, "opacity": _SCORE}}
    rule = {"type": "rule", "style": "limit", "opacity": 0.5}
    words = {"type": "text", "style": "clear", "align": "left", "dx": 6, "limit": room}
    return {
        "params": [*_OWN, {"name": "axes", "value": 1}],
        "width": PAGE,
        "height": 220,
        "data": {"name": "points"},
        "transform": [_MINE],
        "encoding": {"x": x, "y": y},
        "layer": [
            layer("ticks", [_MINE], rule, y={"value": 0}, y2={"value": "height"}),
            {"transform": [{"filter": "!datum.best"}], "mark": {"type": "line", "style": "line"}, **lines},
            {"transform": [{"filter": "datum.best"}], "mark": {"type": "line", "style": "best-line"}, **lines},
            {"mark": {"type": "point", "filled": True, "size": 40, "opacity": 0}, "encoding": {"tooltip": _TOLD}},
            layer("ticks", [_MINE], words, text={"field": "text"}),
        ],
    }


def scatter() -> Spec:
    """Return a point for each run: the metric over one parameter; the dearer, the larger; the best has a star."""
    place = {"field": "place", "type": "quantitative", "axis": None, "scale": {"domain": [-0.06, 1.06]}}
    axis = {"title": None, "tickCount": 4, "format": ".4~g"}
    metric = {"field": "metric", "type": "quantitative", "axis": axis, "scale": {"zero": False}}
    point = {"type": "point", "filled": True, "style": "accent"}
    star = {"type": "text", "style": "best", "text": "★", "fontSize": 20}
    align = f"datum.place <= {INNER[0]} ? 'left' : datum.place < {INNER[1]} ? 'center' : 'right'"
    tick = {"type": "text", "style": "faint", "baseline": "top", "align": {"expr": align}, "fontSize": 11}
    of_key = [_MINE, {"filter": "datum.key === key"}]
    measured = [*of_key, {"filter": "datum.metric !== null"}]
    best, along = [*of_key, {"filter": "datum.best"}], [*of_key, {"filter": "datum.along"}]
    layers = [
        layer("points", measured, point, x=place, y=metric, opacity=_SCORE, size=_SIZE, tooltip=_TOLD),
        layer("points", best, star, x=place, y=metric, tooltip=_TOLD),
        layer("ticks", along, {**tick, "dy": 6, "clip": False}, x=place, y={"value": "height"}, text={"field": "text"}),
    ]
    return {"params": list(_OWN), "width": PAGE, "height": 150, "layer": layers}


def curves() -> Spec:
    """Return the metric of each run over its steps."""
    axis = {"title": None, "tickCount": 4, "format": ".4~g"}
    x = {"field": "step", "type": "quantitative", "axis": {"title": "step", "tickCount": 6, "format": "d"}}
    y = {"field": "value", "type": "quantitative", "axis": axis, "scale": {"zero": False}}
    told = [{"field": "run"}, {"field": "step"}, {"field": "value", "format": ".4~g"}]
    mark, detail = {"type": "line", "style": "line", "opacity": 0.6}, {"field": "run", "type": "nominal"}
    lines = layer("curves", [_MINE], mark, x=x, y=y, detail=detail, tooltip=told)
    return {"params": list(_OWN), "width": PAGE, "height": 170, **lines}
