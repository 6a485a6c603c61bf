"""What is wrong with a stack file, all of it at once."""

from __future__ import annotations

from dataclasses import dataclass

from slipway.errors import ConfigError


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong. `file` and `line` are empty and 0 where values did not come from a file."""

    file: str
    line: int
    key: str
    what: str
    fix: str

    def __str__(self) -> str:
        where = f"{self.file}:{self.line}  " if self.file else ""
        key = f"{self.key}: " if self.key else ""
        return f"{where}{key}{self.what}\n  fix: {self.fix}"


class StackErrors(ConfigError):  # noqa: N818 - there are several, shown together
    """Every finding of a stack file, in the order of its lines."""

    def __init__(self, findings: tuple[Finding, ...]) -> None:
        self.findings = findings
        count = "1 error" if len(findings) == 1 else f"{len(findings)} errors"
        super().__init__(f"{count} in the stack configuration\n" + "\n".join(str(finding) for finding in findings))
