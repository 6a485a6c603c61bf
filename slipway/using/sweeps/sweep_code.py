"""The code of a sweep's runs. A folder's is no part of the sweep's name: where it is another one by now, what is left
goes on with the code that the sweep began with, or somebody decides. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from slipway.base.errors import ConfigError
from slipway.base.formatting import counted
from slipway.google.jobs import VertexJob
from slipway.model.labels import CODE_LABEL, OF_CODE, PROGRAMS_LABEL, code_revision_of
from slipway.using.sweeps.runs import RemainingRuns, RunsAgain


@dataclass(frozen=True)
class SweepCode:
    """The code that runs of a sweep have in place of their template's."""

    #: The gs:// URI.
    package: str
    #: Those of a job that runs it.
    labels: Mapping[str, str]

    @classmethod
    def labelled(cls, package: str, labels: Mapping[str, str]) -> SweepCode | None:
        """Return the code by the labels of a job, None where the job runs its template's."""
        return cls(package, {key: labels[key] for key in OF_CODE if key in labels}) if CODE_LABEL in labels else None

    @classmethod
    def of(cls, job: VertexJob) -> SweepCode | None:
        return cls.labelled(min(job.packages, default=""), job.labels)

    def same(self, other: SweepCode) -> bool:
        """Compare by labels: files packed beside the code, and so the hash, change with the version."""
        revision = code_revision_of(self.labels)
        alike = revision.exact and code_revision_of(other.labels) == revision
        return alike or self.labels.get(CODE_LABEL) == other.labels.get(CODE_LABEL)

    def same_programs(self, other: SweepCode) -> bool:
        """Tell whether they differ at most in notes, tables and notebooks."""
        programs = self.labels.get(PROGRAMS_LABEL)
        return self.same(other) or (programs is not None and programs == other.labels.get(PROGRAMS_LABEL))

    def __str__(self) -> str:
        """Return the commit, or the beginning of the hash: `3f9c2e1-dirty`."""
        revision = code_revision_of(self.labels)
        digest = self.labels.get(CODE_LABEL, "")[:12]
        return f"{revision.short} ({digest})" if revision.commit else digest


class CodeChangedError(ConfigError):
    """A folder has other code than the runs of its sweep, and some of these are left to send."""


def code_to_send(
    sweep: str, begun: SweepCode, folder: SweepCode, left: RemainingRuns, asks: RunsAgain, anew: str
) -> tuple[SweepCode, str]:
    """Return the code for the runs that are left of a sweep, and a line that tells of it. `anew`: the request id for
    all runs with the folder's code.

    Raises CodeChangedError where somebody has to decide.
    """
    sent = counted(f"{len(left.going):,}", "run")
    if begun.same(folder):
        return folder, ""
    if not left.going:
        again = f"; to run all with it give another request id, {anew}" if not begun.same_programs(folder) else ""
        return begun, f"note: the folder has changed since sweep {sweep} began: {begun} then, {folder} now{again}"
    if asks.failed and not (asks.cancelled or asks.keep_code):
        return folder, f"{sent} with the folder's code as it is now, {folder}; sweep {sweep} began with {begun}"
    if asks.keep_code or begun.same_programs(folder):
        return begun, f"{sent} with the code that sweep {sweep} began with, {begun}; the folder's is {folder} now"
    raise CodeChangedError(
        f"the code has changed since sweep {sweep} began, and {sent} of it {'is' if len(left.going) == 1 else 'are'} "
        "left to send",
        why=f"its runs have {begun}, and the folder has {folder} now",
        fix=(
            "the rest with the code that it began with: ",
            {"keep_code": True},
            "\nall again with the folder's: ",
            {"request_id": anew},
        ),
    )
