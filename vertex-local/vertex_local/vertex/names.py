"""Resource names, which have the project's number, whatever was sent."""

import re

from ..identities import Project
from ..supply import machines
from ..wire import Call, invalid_argument

CLUSTER_ID = re.compile(r"[a-z]([a-z0-9-]{0,61}[a-z0-9])?")


def location_name(project: Project, location: str) -> str:
    return f"projects/{project.number}/locations/{location}"


def cluster_name(project: Project, location: str, cluster_id: str) -> str:
    return f"{location_name(project, location)}/persistentResources/{cluster_id}"


def job_name(project: Project, location: str, job_id: str) -> str:
    return f"{location_name(project, location)}/customJobs/{job_id}"


def location_of(name: str) -> str:
    """Return the location in a full resource name."""
    return name.split("/")[3]


def id_of(name: str) -> str:
    """Return the last segment of a resource name."""
    return name.rpartition("/")[2]


def region(call: Call) -> str:
    """Return the call's location. Raises 400 for a region where nothing can be trained."""
    location = call.params["location"]
    table = machines.table()
    if location in table.all_regions:
        return location
    raise invalid_argument(f"Unsupported region for Vertex AI, select from {list(table.regions)}")
