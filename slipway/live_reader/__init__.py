"""Reads what lives in the cloud, once and concurrently, into `slipway.live.Live`."""

from slipway.live_reader.reading import Reader, Wanted, read, skipped
from slipway.live_reader.settle import settle
from slipway.live_reader.use import use_of_cluster, use_of_stack, use_of_things

__all__ = ["Reader", "Wanted", "read", "settle", "skipped", "use_of_cluster", "use_of_stack", "use_of_things"]
