"""Reads what lives in the cloud, once and concurrently, into `slipway.live.Live`."""

from slipway.live_reader.reading import Wanted, read, skipped

__all__ = ["Wanted", "read", "skipped"]
