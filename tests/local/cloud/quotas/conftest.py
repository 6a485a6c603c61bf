"""The world of Vertex AI, whose quotas these are."""

from tests.local.cloud.vertex.conftest import service

__all__ = ["service"]
