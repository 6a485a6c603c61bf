"""The forges: a row for each, which alone tells them apart. A new one is a row, and a module with its adapter."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class ForgeRow:
    """A forge. Its module in `slipway.reviewing.forges` has its name."""

    name: str
    #: A class of that module.
    adapter: str
    #: The variable that its CI sets to `true`.
    ci: str
    #: The prefixes of files that it reads, at the root of a repository.
    files: tuple[str, ...]
    #: The starter's files that its pipelines include; a forge without them calls workflows.
    jobs: tuple[str, ...] = ()
    #: Its words for a change, for its number, for deploying without an approval, and for deploying by hand.
    change: str = "pull request"
    sign: str = "#"
    insist: str = "insist (docs/review.md, 'Insisting')"
    by_hand: str = "Actions → up → Run workflow"
    #: Its word for a run of CI, and the way to let one deploy an earlier commit.
    run: str = "run"
    rollback: str = "set the variable ROLLBACK of the environment to {commit} and run this again"
    #: A merged change may still be approved.
    approved_late: bool = True


GITHUB = ForgeRow("github", "GitHub", "GITHUB_ACTIONS", (".github/",))
GITLAB = ForgeRow(
    "gitlab",
    "GitLab",
    "GITLAB_CI",
    (".gitlab/", ".gitlab-ci.yml"),
    ("slipway.yml", "slipway-up.yml"),
    change="merge request",
    sign="!",
    insist="insist (docs/gitlab.md, 'Insisting')",
    by_hand="Build → Pipelines → New pipeline, of main",
    run="pipeline",
    rollback="set the CI/CD variable ROLLBACK to {commit} and run this job again",
    # Whether GitLab lets anybody approve a merged change is not documented.
    approved_late=False,
)
FORGES: Mapping[str, ForgeRow] = {row.name: row for row in (GITHUB, GITLAB)}
FILES = tuple(file for row in FORGES.values() for file in row.files)


def running(environ: Mapping[str, str]) -> ForgeRow:
    """Return the forge whose CI runs this; the first one outside of all."""
    return next((row for row in FORGES.values() if environ.get(row.ci) == "true"), GITHUB)


def of_file(name: str) -> ForgeRow | None:
    return next((row for row in FORGES.values() if name.startswith(row.files)), None)
