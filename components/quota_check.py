"""QuotaCheck: the verdict on quota, as a review reads it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pulumi


class QuotaCheck(pulumi.ComponentResource):
    """Publishes facts and declares no resource; the rules are `slipway.quota`'s."""

    def __init__(self, name: str, *, facts: Mapping[str, Any], opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("slipway:components:QuotaCheck", name, dict(facts), opts)
        self.register_outputs({})
