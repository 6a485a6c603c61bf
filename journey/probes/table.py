"""The table of all probes in the order in which they are asked: readers first, users of the shared cluster last."""

from __future__ import annotations

from collections.abc import Collection

from journey.probes import autoscaling, clusters, jobs, outputs, quotas, reservations, restarts, strategies, tuning
from journey.probes.probe import Probe
from slipway.base.errors import ConfigError
from slipway.base.formatting import nearest

_EVERY = (
    *quotas.PROBES,
    *strategies.PROBES,
    *reservations.PROBES,
    *clusters.PROBES,
    *jobs.PROBES,
    *outputs.PROBES,
    *tuning.PROBES,
    *restarts.PROBES,
    *autoscaling.PROBES,
)
PROBES: tuple[Probe, ...] = tuple(sorted(_EVERY, key=lambda probe: (probe.on_cluster, probe.minutes)))


def chosen(words: str, answered: Collection[str]) -> tuple[Probe, ...]:
    """Return the probes that `words` name: `all`, `open` for those without an answer so far, or names with commas
    between. Raises ConfigError."""
    names = [word.strip() for word in words.split(",") if word.strip()]
    if names == ["all"]:
        return PROBES
    if names == ["open"]:
        return tuple(probe for probe in PROBES if probe.id not in answered)
    known = {probe.id for probe in PROBES}
    for name in names:
        if name not in known:
            near = nearest(name, (*known, "all", "open"))
            raise ConfigError(
                f"there is no probe {name!r}{f'; did you mean {near!r}?' if near else ''}",
                why=f"there are {', '.join(probe.id for probe in PROBES)}",
                fix="PROBES=all, PROBES=open for those without an answer, or names with commas between",
            )
    return tuple(probe for probe in PROBES if probe.id in names)
