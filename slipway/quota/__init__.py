"""Does what is declared fit the quota: pure rules over limits, live machines and jobs."""

from slipway.quota.model import Line, Need, QuotaReport, WayDraw, WayVerdict

__all__ = ["Line", "Need", "QuotaReport", "WayDraw", "WayVerdict"]
