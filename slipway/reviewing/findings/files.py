"""All findings about the edited files of a change. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from slipway.answers.comparison import Comparison
from slipway.model.findings.finding import Finding
from slipway.reviewing.change.files import Files
from slipway.reviewing.findings.contract import broken_contracts
from slipway.reviewing.findings.dependencies import changed_dependencies
from slipway.reviewing.findings.deployment_code import changed_deployment_code
from slipway.reviewing.findings.job_code import changed_job_code
from slipway.reviewing.findings.packed_files import repacked
from slipway.reviewing.findings.secrets import plain_secrets


def file_findings(comparison: Comparison, files: Files) -> Iterator[Finding]:
    """Yield a finding for each edited resource and kind."""
    yield from changed_deployment_code(comparison, files)
    yield from changed_dependencies(comparison, files)
    yield from changed_job_code(comparison, files)
    yield from repacked(comparison, files)
    yield from broken_contracts(comparison, files)
    yield from plain_secrets(comparison, files)
