"""How the service starts and restarts a job."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Scheduling:
    """`max_wait_s`: how long a flex-start job waits for its machines, 0 for ever, None for the wait of flex-start.

    `restart_job_on_worker_restart` starts all replicas again with one; `disable_retries` overrides it.
    """

    max_wait_s: int | None = None
    restart_job_on_worker_restart: bool = False
    disable_retries: bool = False


@dataclass(frozen=True)
class NfsMount:
    """`server:path` is mounted at `mount_point`, under /mnt/nfs/. Needs a network that reaches the server."""

    server: str
    path: str
    mount_point: str
