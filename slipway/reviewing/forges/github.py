"""GitHub, read from a workflow: its pull request, the approvals, and its one comment.

Pull requests are asked for by GraphQL, which tells whose reviews are a writer's; REST's `author_association` knows
public members alone. https://docs.github.com/en/graphql/reference/pulls#object-pullrequest
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from slipway.base.errors import ResourceError
from slipway.base.formatting import join
from slipway.google.answers import Found, Json, shaped
from slipway.google.failures import Call, CloudError, Denied, Unavailable
from slipway.google.session import Session
from slipway.google.transport import Transport
from slipway.reviewing.forges.rest import Rest, refused, settings
from slipway.reviewing.gate import Approval, Comment, MergeResult, PullRequest
from slipway.reviewing.record import Record, name_of, unpacked, written_with
from slipway.reviewing.render.comment import mark

_VARIABLES = ("GITHUB_GRAPHQL_URL", "GITHUB_API_URL", "GITHUB_REPOSITORY", "GITHUB_REF", "GITHUB_SHA", "GH_TOKEN")
_OPEN = re.compile(r"refs/pull/(\d+)/merge")
_BOT = {"__typename": "Bot", "login": "github-actions"}
_MOST = 200
_OF_RIGHTS = ("FORBIDDEN", "INSUFFICIENT_SCOPES", "NOT_FOUND")
_FIX = "give the job `contents: read`, `pull-requests: read` (write, to comment) and `actions: read` (to deploy)"


class GitHub:
    """GitHub's adapter. `environ` is a workflow's, where `REVIEWED_BY` names the file of the one that reviews. Raises
    ConfigError where it is not."""

    def __init__(self, environ: Mapping[str, str], folder: str = "") -> None:
        fix = "in a workflow of GitHub all but GH_TOKEN are set: give the step `GH_TOKEN: ${{ github.token }}`"
        self._url, api, self._repository, ref, self._commit, token = settings(environ, _VARIABLES, "GitHub", fix)
        self._mark, self._folder = mark(folder), folder
        self._reviewed_by = environ.get("REVIEWED_BY", "preview.yaml")
        number = _OPEN.fullmatch(ref)
        self._open = int(number[1]) if number else 0
        self._session = Session(Transport(environ, headers={"Authorization": f"Bearer {token}"}))
        self._rest = Rest(self._session, f"{api.rstrip('/')}/repos/{self._repository}")

    @refused(_FIX)
    def merge_result(self) -> MergeResult:
        owner, _, name = self._repository.partition("/")
        of = {"owner": owner, "name": name, "commit": self._commit, "number": self._open, "merged": not self._open}
        result = self._asked("ask", of, Call("ask GitHub who approved this"), self._read, again=True)
        pull = result.pull_request
        if not result.merged or pull is None or pull.comment is None:
            return result
        record = written_with(pull.comment.body, self._records(pull, result.tree))
        return replace(result, pull_request=replace(pull, record=record))

    @refused(_FIX)
    def tell(self, result: MergeResult, body: str) -> MergeResult:
        pull = result.pull_request
        if pull is None or pull.has_comment(body):
            return result
        target = pull.comment.id if pull.comment else pull.id
        operation = "replace" if pull.comment else "add"
        call = Call(f"write the comment of #{pull.number}")
        written = self._asked(operation, {"to": target, "body": body}, call, _written)
        return replace(result, pull_request=replace(pull, comment=written))

    def _asked(
        self, operation: str, variables: Json, call: Call, read: Callable[[Json], Found], *, again: bool = False
    ) -> Found:
        query = Path(__file__).with_name("github.graphql").read_text(encoding="utf-8")
        body = {"query": query, "operationName": operation, "variables": variables}

        def data(answer: Json) -> Found:
            errors = answer.get("errors")
            if errors:  # An answer may have errors beside its data.
                raise _failure(call, errors)
            return read(answer["data"])

        return shaped(call, data, self._session.post(self._url, call, body, idempotent=again))

    def _read(self, body: Json) -> MergeResult:
        repository = body["repository"]
        commit = repository["object"]
        if commit is None:
            why = f"{self._repository} has no commit {self._commit} any more"
            raise ResourceError("GitHub can't be asked who approved this", why=why, fix="push again, or run it again")
        pull = repository.get("pullRequest")
        if not self._open:
            pulls = commit["associatedPullRequests"]["nodes"]
            pull = next((each for each in pulls if (each["mergeCommit"] or {}).get("oid") == self._commit), None)
        return MergeResult(commit["tree"]["oid"], pull and _pull_request(pull, self._mark), merged=not self._open)

    def _records(self, pull: PullRequest, tree: str) -> Iterator[Record]:
        """Yield the records of a tree, by runs of the review's workflow.

        Anybody who can push can run a workflow of their own, and so can a fork, which may keep an artifact of any name.
        A workflow that ran here for the pull request's own commit is in the change that approvers read.
        """
        name = name_of(tree, self._folder)
        doing = f"read the record of the review of #{pull.number}"
        path = f"actions/workflows/{self._reviewed_by}/runs?event=pull_request&head_sha={pull.head}&per_page=100"
        for run in self._rest.maybe(path, doing, _own_runs) or ():
            for artifact in self._rest.get(f"actions/runs/{run}/artifacts?name={name}", doing, _artifacts):
                zipped = f"{self._rest.url}/actions/artifacts/{artifact}/zip"
                yield unpacked(self._session.download(zipped, Call(doing)).data, name)


def _failure(call: Call, errors: Sequence[Any]) -> CloudError:
    """Return the exception of an answer's errors, which may have any form."""
    known = [error if isinstance(error, dict) else {"message": error} for error in errors]
    is_denied = any(error.get("type") in _OF_RIGHTS for error in known)
    failed = Denied if is_denied else Unavailable
    return failed(call, join(str(error.get("message")) for error in known))


def _own_runs(body: Json) -> list[int]:
    """Return the ids of the runs that are no fork's; the repository of one that is gone is null."""
    runs = [run for run in body["workflow_runs"] if run["head_repository"] is not None]
    return [int(run["id"]) for run in runs if run["head_repository"]["id"] == run["repository"]["id"]]


def _artifacts(body: Json) -> list[int]:
    return [int(artifact["id"]) for artifact in body["artifacts"] if not artifact["expired"]]


def _pull_request(body: Json, mark: str) -> PullRequest:
    approving = [review for review in body["latestOpinionatedReviews"]["nodes"] if review["state"] == "APPROVED"]
    return PullRequest(
        id=body["id"],
        number=body["number"],
        author=_login(body["author"]),
        head=body["headRefOid"],
        # An app may approve as well, and a workflow of any branch can be one.
        approvals=tuple(
            _approval(review) for review in approving if (review["author"] or {}).get("__typename") == "User"
        ),
        comment=_own_comment(body, mark),
    )


def _own_comment(body: Json, mark: str) -> Comment | None:
    """Return the workflow's own comment. Raises ResourceError if it may be among those that GitHub did not list."""
    oldest = body["comments"]
    for comment in (*oldest["nodes"], *body["newest"]["nodes"]):
        if comment["author"] == _BOT and comment["body"].startswith(mark):
            return _comment(comment)
    if oldest["totalCount"] > _MOST:
        raise ResourceError(
            f"#{body['number']} has too many comments",
            why=f"this review's own is not among the {_MOST} that GitHub lists at once, so no approval counts",
            fix="open another pull request for the same branch",
        )
    return None


def _approval(review: Json) -> Approval:
    commit = review["commit"]
    tree = commit["tree"]["oid"] if commit else ""
    return Approval(_login(review["author"]), tree, review["submittedAt"])


def _comment(body: Json) -> Comment:
    return Comment(body["id"], body["body"], body["updatedAt"])


def _written(body: Json) -> Comment:
    written = body["written"]
    return _comment((written.get("edge") or written)["node"])


def _login(author: Json | None) -> str:
    """Return the name of an author; empty for a deleted account."""
    return "" if author is None else str(author["login"])
