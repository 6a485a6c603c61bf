"""Reads what lives in the cloud, once and concurrently, into `slipway.live.Live`."""

from slipway.live_reader.jobs_on import jobs_of, jobs_on
from slipway.live_reader.reading import Wanted, read, skipped
from slipway.live_reader.settle import settle

__all__ = ["Wanted", "jobs_of", "jobs_on", "read", "settle", "skipped"]
