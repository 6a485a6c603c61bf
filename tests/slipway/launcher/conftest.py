"""The local cloud, for its storage."""

from tests.local.conftest import cloud

__all__ = ["cloud"]
