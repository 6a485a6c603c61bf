"""The errors that calls of `slipway` raise, for callers to catch: `from slipway.errors import PolicyError`."""

from slipway.base.errors import (
    AnswerUnknown,
    AuthError,
    Cancelled,
    ConfigError,
    Interrupted,
    JobTimeout,
    PolicyError,
    ResourceError,
    SlipwayError,
    WaitTimeout,
)
from slipway.google.failures import CloudError
from slipway.using.jobs.claimant import JobGoneError, OtherJobError
from slipway.using.sweeps.sweep_code import CodeChangedError

__all__ = [
    "AnswerUnknown",
    "AuthError",
    "Cancelled",
    "CloudError",
    "CodeChangedError",
    "ConfigError",
    "Interrupted",
    "JobGoneError",
    "JobTimeout",
    "OtherJobError",
    "PolicyError",
    "ResourceError",
    "SlipwayError",
    "WaitTimeout",
]
