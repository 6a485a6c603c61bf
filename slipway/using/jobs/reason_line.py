"""The reason among a failed program's last lines, without what launchers and tools write after it. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

_RANK = re.compile(r"^\[rank\d+\]:\s?")
_TRACEBACK = "Traceback (most recent call last):"
_FRAME = re.compile(r"\s|$|\^")
_EXCEPTION = re.compile(r"(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Interrupt|Exit)(?::|\s*$)|(?:error|fatal): ")
_SECONDARY = re.compile(
    r"(?:[\w.]+\.)?(?:ChildFailedError|CalledProcessError|ProcessExitedException|ProcessRaisedException)\b"
)
"""Errors of launchers, whose programs have failed before."""
_HYDRA = "Set the environment variable HYDRA_FULL_ERROR=1"
_NOISE = re.compile(
    rf"{_HYDRA}|Error executing job with overrides:"
    r"|(?:srun|slurmstepd|mpirun|mpiexec|prterun|wandb|Killing subprocess)\b.*(?::|\d)"
    r"|\[?rank: ?\d+\]? Child process with PID|.*\b(?:exits with return code|sigkill_handler)\b"
    r"|.*\b(?:resource_tracker|warnings\.warn\()|Exception ignored in"
    r"|-{20,}|={20,}|Failures:|Root Cause \(first observed failure\):|\[\d+\]:$|<NO_OTHER_FAILURES>|\S+ FAILED$"
    r"|(?:time|host|rank|exitcode|error_file|traceback)\s+: |[EW]\d{4} \d\d:\d\d:\d\d.*\b(?:failed|torch/distributed)\b"
    r"|slipway: not kept\b"
    r"|Primary job +terminated normally|a non-zero exit code|Process name: |Exit code: "
)
"""Lines that launchers, Slipway, experiment trackers and Hydra write after the reason, without leading spaces."""
_JOINED = 3
"""The lines of Hydra's message that are a reason together."""


def reason_of_lines(lines: Sequence[str]) -> str:
    """Return the reason in a line: the last exception, or else the last line; empty for none."""
    at = _last_exception(lines)
    if at is not None:
        return _bare(lines[at]).strip()
    reasons = [line.strip() for line in lines if not _is_noise(line)]
    if any(_HYDRA in line for line in lines):
        return " ".join(reasons[-_JOINED:])
    if reasons:
        return reasons[-1]
    return next((line.strip() for line in reversed(lines) if line.strip()), "")


def telling_lines(lines: Sequence[str], most: int) -> list[str]:
    """Return at most `most` lines, which end with the reason or a little after it."""
    kept = [line for line in lines if not _is_noise(line)] or list(lines)
    while kept and not kept[-1].strip():
        kept.pop()
    at = _last_exception(kept)
    if at is not None and at < len(kept) - most:
        kept = kept[: at + 1]
    return kept[-most:]


def _last_exception(lines: Sequence[str]) -> int | None:
    """Return the position of the last exception that no launcher raised for its programs; of these if there is none."""
    found = list(_exceptions(lines))
    own = [at for at in found if not _SECONDARY.match(_bare(lines[at]))]
    return max(own or found, default=None)


def _exceptions(lines: Sequence[str]) -> Iterator[int]:
    in_traceback = False
    for at, line in enumerate(map(_bare, lines)):
        if line.startswith(_TRACEBACK):
            in_traceback = True
        elif in_traceback and not _FRAME.match(line):
            in_traceback = False
            yield at
        elif _EXCEPTION.match(line):
            yield at


def _bare(line: str) -> str:
    return _RANK.sub("", line)


def _is_noise(line: str) -> bool:
    return _NOISE.match(_bare(line).strip()) is not None
