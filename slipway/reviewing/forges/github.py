"""GitHub, read from a workflow: its pull request, the approvals, and its one comment.

Pull requests are asked for by GraphQL, which tells whose reviews are a writer's; REST's `author_association` knows
public members alone. https://docs.github.com/en/graphql/reference/pulls#object-pullrequest
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from slipway.base.errors import ResourceError
from slipway.base.formatting import join
from slipway.google.answers import Found, Json, shaped
from slipway.google.failures import Call, Denied, Unavailable
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
        if result.merged and (pull := result.pull_request) and pull.comment:
            record = written_with(pull.comment.body, self._records(pull, result.tree))
            return replace(result, pull_request=replace(pull, record=record))
        return result

    @refused(_FIX)
    def tell(self, result: MergeResult, body: str) -> MergeResult:
        pull = result.pull_request
        if pull is None or (pull.comment and pull.comment.body.strip() == body.strip()):
            return result
        operation, to = ("replace", pull.comment.id) if pull.comment else ("add", pull.id)
        call = Call(f"write the comment of #{pull.number}")
        written = self._asked(operation, {"to": to, "body": body}, call, _written)
        return replace(result, pull_request=replace(pull, comment=written))

    def _asked(
        self, operation: str, variables: Json, call: Call, read: Callable[[Json], Found], *, again: bool = False
    ) -> Found:
        query = Path(__file__).with_name("github.graphql").read_text(encoding="utf-8")
        body = {"query": query, "operationName": operation, "variables": variables}

        def data(answer: Json) -> Found:
            if errors := answer.get("errors"):  # An answer may have errors beside its data.
                listed = [error if isinstance(error, dict) else {"message": error} for error in errors]
                failed = Denied if any(error.get("type") in _OF_RIGHTS for error in listed) else Unavailable
                raise failed(call, join(str(error.get("message")) for error in listed))
            return read(answer["data"])

        return shaped(call, data, self._session.post(self._url, call, body, idempotent=again))

    def _read(self, body: Json) -> MergeResult:
        repository = body["repository"]
        commit, pull = repository["object"], repository.get("pullRequest")
        if commit is None:
            why = f"{self._repository} has no commit {self._commit} any more"
            raise ResourceError("GitHub can't be asked who approved this", why=why, fix="push again, or run it anew")
        if not self._open:
            nodes = commit["associatedPullRequests"]["nodes"]
            pull = next((node for node in nodes if (node["mergeCommit"] or {}).get("oid") == self._commit), None)
        return MergeResult(commit["tree"]["oid"], pull and _pull_request(pull, self._mark), merged=not self._open)

    def _records(self, pull: PullRequest, tree: str) -> Iterator[Record]:
        """Yield the records of a tree, by runs of the review's workflow. Whoever may push can run a workflow of theirs,
        and a fork its own, which may keep an artifact of any name; what ran here for the pull request's own commit is
        in the change that approvers read."""
        name, doing = name_of(tree, self._folder), f"read what the review of #{pull.number} told"
        asked = f"actions/workflows/{self._reviewed_by}/runs?event=pull_request&head_sha={pull.head}&per_page=100"
        for run in self._rest.maybe(asked, doing, _own_runs) or ():
            for artifact in self._rest.get(f"actions/runs/{run}/artifacts?name={name}", doing, _artifacts):
                zipped = f"{self._rest.url}/actions/artifacts/{artifact}/zip"
                yield unpacked(self._session.download(zipped, Call(doing)).data, name)


def _own_runs(body: Json) -> list[int]:
    """Return the ids of the runs that are no fork's; the repository of one that is gone is null."""
    heads = [(run, run["head_repository"]) for run in body["workflow_runs"]]
    return [int(run["id"]) for run, head in heads if head is not None and head["id"] == run["repository"]["id"]]


def _artifacts(body: Json) -> list[int]:
    return [int(artifact["id"]) for artifact in body["artifacts"] if not artifact["expired"]]


def _pull_request(body: Json, mark: str) -> PullRequest:
    reviews = (review for review in body["latestOpinionatedReviews"]["nodes"] if review["state"] == "APPROVED")
    asked, newest = body["comments"], body["newest"]
    of_all = (*asked["nodes"], *newest["nodes"])
    own = (comment for comment in of_all if comment["author"] == _BOT)
    comment = next((comment for comment in own if comment["body"].startswith(mark)), None)
    if comment is None and asked["totalCount"] > _MOST:
        raise ResourceError(
            f"#{body['number']} has too many comments",
            why=f"this review's own is not among the {_MOST} that GitHub tells of at once, so no approval counts",
            fix="open another pull request for the same branch",
        )
    return PullRequest(
        id=body["id"],
        number=body["number"],
        author=_login(body),
        head=body["headRefOid"],
        # An app may approve as well, and a workflow of any branch can be one.
        approvals=tuple(
            Approval(_login(review), review["commit"]["tree"]["oid"] if review["commit"] else "", review["submittedAt"])
            for review in reviews
            if (review["author"] or {}).get("__typename") == "User"
        ),
        comment=comment and _comment(comment),
    )


def _comment(body: Json) -> Comment:
    return Comment(body["id"], body["body"], body["updatedAt"])


def _written(body: Json) -> Comment:
    written = body["written"]
    return _comment((written.get("edge") or written)["node"])


def _login(body: Json) -> str:
    return "" if body["author"] is None else str(body["author"]["login"])  # Empty for a deleted account.
