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

__all__ = [
    "AnswerUnknown",
    "AuthError",
    "Cancelled",
    "ConfigError",
    "Interrupted",
    "JobTimeout",
    "PolicyError",
    "ResourceError",
    "SlipwayError",
    "WaitTimeout",
]
