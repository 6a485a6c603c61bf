"""Does what is declared fit the quota: pure rules over limits, live machines and jobs."""

from slipway.quota.assessment import assess
from slipway.quota.grounds import drawn
from slipway.quota.metrics import label, namespace, needs, needs_of, quota_id
from slipway.quota.report import Line, Need, OfferDraw, OfferVerdict, QuotaReport
from slipway.quota.table import table
from slipway.quota.usage import Usage, usage

__all__ = [
    "Line",
    "Need",
    "OfferDraw",
    "OfferVerdict",
    "QuotaReport",
    "Usage",
    "assess",
    "drawn",
    "label",
    "namespace",
    "needs",
    "needs_of",
    "quota_id",
    "table",
    "usage",
]
