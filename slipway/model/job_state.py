"""The states of a job: one vocabulary for the command, JSON and Python."""

from __future__ import annotations

from enum import StrEnum

_PREFIX = "JOB_STATE_"


class JobState(StrEnum):
    """A job's state. Each value is a text: `job.state == "running"`."""

    QUEUED = "queued"
    PENDING = "pending"
    RUNNING = "running"
    PAUSED = "paused"
    UPDATING = "updating"
    CANCELLING = "cancelling"
    SUCCEEDED = "succeeded"
    PARTIALLY_SUCCEEDED = "partially-succeeded"
    FAILED = "failed"
    #: Vertex AI ended the job because it reached its time limit.
    TIMED_OUT = "timed-out"
    CANCELLED = "cancelled"
    #: The job did not get its machines in time.
    EXPIRED = "expired"
    #: Vertex AI gave no state, or one that this release does not know.
    UNKNOWN = "unknown"

    @classmethod
    def of(cls, raw: str) -> JobState:
        """Return the state for a value of Vertex AI: `JOB_STATE_RUNNING` is `running`."""
        name = raw.removeprefix(_PREFIX).lower().replace("_", "-")
        try:
            return cls(name)
        except ValueError:
            return cls.UNKNOWN

    @property
    def raw(self) -> str:
        """The value of Vertex AI: `JOB_STATE_RUNNING`. It has none for `timed-out` and `unknown`."""
        return f"{_PREFIX}{self.name}"


SELECTABLE = tuple(state.value for state in JobState if state is not JobState.UNKNOWN)
"""The states by which jobs can be listed."""
