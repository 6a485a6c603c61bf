"""Colours and fonts of the page, light and dark, also for the charts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

PALETTE = ("#4e79a7", "#f28e2b", "#59a14f", "#b07aa1", "#76b7b2", "#d4a72c", "#9c755f", "#e88b9a")
"""The colours of the largest users, in this order: distinct on both grounds. Red is kept for problems."""
FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "DejaVu Sans", sans-serif'


@dataclass(frozen=True)
class Theme:
    """The colours of the page."""

    page: str
    card: str
    ink: str
    muted: str
    line: str
    accent: str
    #: Of machines that are paid and unused.
    idle: str
    #: Of times that were not recorded.
    unknown: str
    #: Of people without a colour of their own.
    other: str
    waiting: str
    bad: str
    warn: str
    beside: str

    def config(self) -> Mapping[str, Any]:
        """Return the `config` of Vega-Lite. Styles are named by their meaning; charts name no colours."""
        filled = ("idle", "unknown", "other", "waiting", "bad", "accent", "beside")
        plain = {"labelColor": self.muted, "titleColor": self.muted, "labelFontSize": 11, "titleFontSize": 11}
        return {
            "mark": {"aria": False},  # The figure has a name, and its table has the rest.
            "customFormatTypes": True,
            "background": None,
            "font": FONT,
            "padding": 0,
            "view": {"stroke": None},
            "axis": {
                **plain,
                "aria": False,
                "domain": False,
                "ticks": False,
                "gridColor": self.line,
                "labelPadding": 6,
                "titleFontWeight": "normal",
            },
            "axisX": {"grid": False, "domain": True, "domainColor": self.line, "ticks": True, "tickColor": self.line},
            "axisY": {"minExtent": 44, "maxExtent": 44},
            "legend": {**plain, "orient": "top", "titleFontWeight": "normal"},
            "range": {"category": [*PALETTE, self.other]},
            "style": {
                **{name: {"fill": getattr(self, name), "color": getattr(self, name)} for name in filled},
                "room": {"color": "transparent", "stroke": self.idle, "strokeWidth": 1, "strokeDash": [3, 2]},
                "job": {"stroke": self.card, "strokeWidth": 0.4, "strokeOpacity": 0.6},
                "limit": {"color": self.muted, "stroke": self.muted, "strokeWidth": 1},
                "deployment": {"color": self.muted, "strokeWidth": 1, "strokeDash": [2, 3]},
                "generation": {"color": self.ink, "strokeWidth": 2},
                "best": {"color": self.waiting},
                "line": {"color": self.accent, "strokeWidth": 1.5},
                "best-line": {"color": self.waiting, "strokeWidth": 3},
                "words": {"color": self.ink, "font": FONT, "fontSize": 12},
                "faint": {"color": self.muted, "font": FONT, "fontSize": 12},
                "clear": {"color": self.muted, "stroke": self.card, "strokeWidth": 4, "font": FONT, "fontSize": 11},
            },
        }


LIGHT = Theme(
    page="#f5f6f8",
    card="#ffffff",
    ink="#1c2127",
    muted="#57606a",
    line="#e2e5e9",
    accent="#2f66c8",
    idle="#d5dae0",
    unknown="#f0f2f4",
    other="#8c959f",
    waiting="#c27803",
    bad="#c2374b",
    warn="#9a6700",
    beside="#a1639c",
)
DARK = Theme(
    page="#0f1317",
    card="#171c22",
    ink="#e6eaef",
    muted="#9ba6b2",
    line="#2b323a",
    accent="#7ea6f4",
    idle="#3a434d",
    unknown="#1f262d",
    other="#75808c",
    waiting="#dd9f3c",
    bad="#f0707f",
    warn="#e0b341",
    beside="#c58fc0",
)
