"""Reports of a real project that may be published: they say when, where and by which versions, and not whose it is."""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from importlib.metadata import version
from pathlib import Path

from slipway.deploying.deployment.checkout import checkout_revision

_PACKAGES = ("slipway-vertex", "pulumi", "pulumi-gcp")
# Addresses of people and accounts, and the numbers that Google gives projects and jobs.
_TELLING = re.compile(r"[\w.+-]+@[\w-]+(\.[\w-]+)+|\b\d{9,}\b")


@dataclass(frozen=True)
class Published:
    """A report's origin. `project` is left out of every text; `cost` is in words."""

    project: str
    region: str
    checkout: Path
    at: datetime
    cost: str

    def page(self, title: str, lines: Iterable[str]) -> str:
        """Return the report in Markdown, below its origin."""
        made = {
            "date": f"{self.at:%Y-%m-%d}",
            "commit": str(checkout_revision(self.checkout, os.environ)),
            "versions": ", ".join((*(f"{name} {version(name)}" for name in _PACKAGES), _python())),
            "region": self.region,
            "cost": self.cost,
        }
        rows = (f"| {name} | {value} |" for name, value in made.items())
        return self.without_ids("\n".join([f"# {title}", "", "| | |", "|---|---|", *rows, "", *lines, ""]))

    def without_ids(self, text: str) -> str:
        return _TELLING.sub("…", text.replace(self.project, "PROJECT"))


def _python() -> str:
    return f"Python {platform.python_version()}"
