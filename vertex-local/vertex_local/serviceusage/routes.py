"""Routes of Service Usage."""

from .services import routes

__all__ = ["API", "routes"]

API = "serviceusage.googleapis.com"
