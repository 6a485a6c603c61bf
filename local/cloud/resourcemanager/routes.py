"""What the server takes of Resource Manager."""

from local.cloud.resourcemanager.projects import routes

__all__ = ["API", "routes"]

API = "cloudresourcemanager.googleapis.com"
