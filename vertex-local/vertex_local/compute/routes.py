"""Routes of Compute Engine."""

from .advice import routes

__all__ = ["API", "routes"]

API = "compute.googleapis.com"
