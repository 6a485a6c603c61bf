"""Routes of Resource Manager."""

from .projects import routes

__all__ = ["API", "routes"]

API = "cloudresourcemanager.googleapis.com"
