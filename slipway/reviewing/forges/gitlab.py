"""GitLab, read from a CI job: its merge request, the approvals, and its one note.

GitLab tells the time of an approval, and not its commit: it is the merge request's commit at that time, by the times of
its versions. So an approval that GitLab keeps after a push counts for the commit before it. A user who requests changes
has no approval any more. A job's own token may neither read approvals nor write notes, so a bot user's token is needed:
https://docs.gitlab.com/ci/jobs/ci_job_token/, https://docs.gitlab.com/api/merge_request_approvals/
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC

from slipway.google.answers import Json, parse_timestamp
from slipway.google.session import Session
from slipway.google.transport import Transport
from slipway.reviewing.forge_table import GITLAB
from slipway.reviewing.forges import trees
from slipway.reviewing.forges.rest import Rest, refused, settings
from slipway.reviewing.gate import Approval, Comment, MergeResult, PullRequest
from slipway.reviewing.record import Record, name_of, written_with
from slipway.reviewing.render.comment import mark

_VARIABLES = ("CI_API_V4_URL", "CI_PROJECT_ID", "CI_COMMIT_SHA", "GITLAB_TOKEN")
_MAY_WRITE = 30
"""The access level of the role Developer, the least that may push: https://docs.gitlab.com/api/access_requests/"""
_MOST_APPROVALS = 100
_COMMAND = re.compile(r"^/", re.MULTILINE)
_REFERENCE = re.compile(r"(?<!\w)!(?=\d)")
_BREAK = "\u200b"
_FIX = "have GITLAB_TOKEN be a token with the scope `api` of a member of the project (docs/gitlab.md)"


class GitLab:
    """GitLab's adapter. `environ` is a job's, with `GITLAB_TOKEN` beside it; `REVIEWED_BY` names the one that writes
    the note. Raises ConfigError where it is not."""

    def __init__(self, environ: Mapping[str, str], folder: str = "") -> None:
        fix = "in a job of GitLab all but GITLAB_TOKEN are set: make it a masked variable (docs/gitlab.md)"
        url, project, self._commit, token = settings(environ, _VARIABLES, "GitLab", fix)
        self._open, self._branch = (environ.get(name, "") for name in ("CI_MERGE_REQUEST_IID", "CI_COMMIT_BRANCH"))
        self._mark, self._folder, self._project = mark(folder), folder, int(project)
        self._reviewed_by = environ.get("REVIEWED_BY", "slipway-reviewed")
        session = Session(Transport(environ, headers={"PRIVATE-TOKEN": token}))
        self._users = Rest(session, url.rstrip("/"))
        self._rest = Rest(session, f"{self._users.url}/projects/{project}")

    @refused(_FIX)
    def merge_result(self) -> MergeResult:
        tree, merged, of = trees.here(), not self._open, self._open
        pull = self._merged_as() if merged else self._rest.get(f"merge_requests/{of}", f"read !{of}", _request)
        pull = pull and self._whole(pull)
        if merged and pull and pull.comment:
            pull = replace(pull, record=written_with(pull.comment.body, self._records(pull, tree)))
        return MergeResult(tree, pull, merged=merged, forge=GITLAB)

    @refused(_FIX)
    def tell(self, result: MergeResult, body: str) -> MergeResult:
        # GitLab finds neither a command like `/close` in it nor a reference like `!3`.
        pull, body = result.pull_request, _REFERENCE.sub(f"!{_BREAK}", _COMMAND.sub(f"{_BREAK}/", body))
        if pull is None or pull.has_comment(body):
            return result
        notes, doing = f"merge_requests/{pull.number}/notes", f"write the comment of !{pull.number}"
        method, path = ("PUT", f"{notes}/{pull.comment.id}") if pull.comment else ("POST", notes)
        written = self._rest.write(method, path, doing, {"body": body}, _comment)
        return replace(result, pull_request=replace(pull, comment=written))

    def _merged_as(self) -> PullRequest | None:
        """Return the merge request whose merge made the commit, on this very branch."""

        def merged(body: Json) -> PullRequest | None:
            # A merge commit, a squash, or the newest fast-forwarded one.
            became = body.get("merge_commit_sha") or body.get("squash_commit_sha") or body["sha"]
            made = (body["state"], body["target_branch"], became) == ("merged", self._branch, self._commit)
            return _request(body) if made else None

        asked = f"repository/commits/{self._commit}/merge_requests"
        requests = self._rest.listed(asked, f"ask what was merged as {self._commit[:12]}", merged)
        return next(filter(None, requests), None)

    def _whole(self, pull: PullRequest) -> PullRequest:
        """Return the merge request with its approvals and the note."""
        number = pull.number
        at = f"merge_requests/{number}"
        versions = list(self._rest.listed(f"{at}/versions", f"read the versions of !{number}", _version))
        # The newest comes first: of two pushes at one moment it is the one that an approval is of.
        versions.reverse()
        versions.sort(key=lambda version: version[0])
        approved = self._rest.get(f"{at}/approvals", f"ask who approved !{number}", _approved)
        approvals = tuple(self._of_writers(approved[:_MOST_APPROVALS], versions))
        return replace(pull, approvals=approvals, comment=self._comment(at, number))

    def _of_writers(
        self, approved: Sequence[tuple[int, Approval]], versions: Sequence[tuple[str, str]]
    ) -> list[Approval]:
        """Return the approvals of people who may push here, each with the tree of the newest commit of its time."""
        approvals = []
        for user, approval in approved:
            writes = self._rest.maybe(f"members/all/{user}", f"ask what {approval.login} may do", _may_write)
            # A bot may approve as well, and any branch's job can be one; an unknown user is taken for a bot.
            if writes and self._users.get(f"users/{user}", f"read {approval.login}", dict).get("bot") is False:
                before = [commit for at, commit in versions if at <= approval.at]
                approvals.append(replace(approval, tree=trees.of(before[-1]) if before else ""))
        return approvals

    def _comment(self, at: str, number: int) -> Comment | None:
        """Return the caller's oldest note that begins with the mark."""
        me = self._users.get("user", "ask whose token GITLAB_TOKEN is", lambda body: int(body["id"]))
        doing, asked = f"read the notes of !{number}", {"sort": "asc", "order_by": "created_at"}

        def mine(note: Json) -> Comment | None:
            author = note["author"]
            return _comment(note) if author and author["id"] == me and note["body"].startswith(self._mark) else None

        return next(filter(None, self._rest.listed(f"{at}/notes", doing, mine, asked)), None)

    def _records(self, pull: PullRequest, tree: str) -> Iterator[Record]:
        """Yield the records of a tree, by the job that keeps it in this merge request's pipelines of its newest commit,
        or of this very tree, as is a merged result: other pipelines may have any job of its name."""
        name, doing = name_of(tree, self._folder), f"read what the review of !{pull.number} told"
        of_request = f"merge_requests/{pull.number}/pipelines"
        for id_, commit, of in self._rest.listed(of_request, doing, _pipeline):
            if of == ("merge_request_event", self._project) and (commit == pull.head or trees.of(commit) == tree):
                jobs, asked = f"pipelines/{id_}/jobs", {"include_retried": "true"}
                for job, called in self._rest.listed(jobs, doing, _job, asked):
                    at = f"jobs/{job}/artifacts/{name}"
                    if called == self._reviewed_by and (record := self._rest.maybe(at, doing, dict)):
                        yield Record(record)


def _request(body: Json) -> PullRequest:
    """Return a merge request, still without approvals. Its author is empty for a deleted account."""
    number, author = int(body["iid"]), body["author"]
    return PullRequest(str(number), number, "" if author is None else str(author["username"]), str(body["sha"]))


def _pipeline(body: Json) -> tuple[int, str, tuple[str, int]]:
    """Return a pipeline's id and commit, and what it ran for in which project."""
    return int(body["id"]), str(body["sha"]), (body["source"], body["project_id"])


def _job(body: Json) -> tuple[int, str]:
    return int(body["id"]), body["name"]


def _approved(body: Json) -> list[tuple[int, Approval]]:
    """Return approvals with their users' ids. Raises LookupError for a GitLab that does not tell their times."""
    given = ((person["user"], _at(person["approved_at"])) for person in body["approved_by"])
    return [(int(user["id"]), Approval(user["username"], "", at)) for user, at in given]


def _version(body: Json) -> tuple[str, str]:
    """Return when GitLab knew of a push to the merge request, and its newest commit."""
    return _at(body["created_at"]), str(body["head_commit_sha"])


def _may_write(body: Json) -> bool:
    return body["state"] == "active" and int(body["access_level"]) >= _MAY_WRITE


def _comment(body: Json) -> Comment:
    return Comment(str(body["id"]), body["body"], _at(body["updated_at"]))


def _at(text: str) -> str:
    """Return RFC 3339 in UTC with all digits, which sorts as text: answers may have a server's own time zone."""
    moment = parse_timestamp(text)
    if moment is None:
        raise ValueError("a time is empty")
    return moment.astimezone(UTC).isoformat(timespec="microseconds")
