"""Routes of Organization Policy."""

from .policies import routes

__all__ = ["API", "routes"]

API = "orgpolicy.googleapis.com"
