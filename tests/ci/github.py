"""A stand-in for GitHub's API on loopback. GraphQL is answered by the schema that GitHub documents (`github.graphql`),
so that an unknown field is refused; REST by the pages of a path, and artifacts as its documentation has them. Writes
take effect."""

import contextlib
import io
import json
import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from graphql import build_schema, graphql_sync

from tests import loopback

SCHEMA = build_schema(Path(__file__).with_name("github.graphql").read_text())
HEAD, PUSHED, TREE, OTHER = "a" * 40, "e" * 40, "c" * 40, "d" * 40
OWNER, NAME, NUMBER, TOKEN = "acme", "ml", 3, "t"
WRITTEN, APPROVED, LATER = (f"2026-11-21T09:{minute}:00Z" for minute in ("05", "20", "40"))


@dataclass
class Comment:
    body: str
    by: str = "github-actions"
    kind: str = "Bot"
    at: str = WRITTEN


@dataclass(frozen=True)
class Review:
    """A reviewer's newest opinion. `tree` None: its commit is gone."""

    state: str = "APPROVED"
    by: str | None = "grace"
    tree: str | None = TREE
    at: str = APPROVED
    kind: str = "User"
    may_write: bool = True


@dataclass(frozen=True)
class Artifact:
    """An artifact with one file of its name, of a run of the review's workflow for the pull request's `head`."""

    text: str
    name: str = f"slipway-review-{TREE}.json"
    head: str = PUSHED
    fork: bool = False
    expired: bool = False
    event: str = "pull_request"
    workflow: str = "preview.yaml"

    @property
    def packed(self) -> bytes:
        whole = io.BytesIO()
        with zipfile.ZipFile(whole, "w") as archive:
            archive.writestr(self.name, self.text)
        return whole.getvalue()


@dataclass
class GitHub:
    """A repository with one pull request, of ada's, of the commit `PUSHED`."""

    tree: str = TREE
    comments: list[Comment] = field(default_factory=list)
    artifacts: list[Artifact] = field(default_factory=list)
    reviews: list[Review] = field(default_factory=list)
    #: Its merge commit.
    merged_as: str = HEAD
    forbidden: bool = False
    #: No artifact is for this token.
    hidden: bool = False
    #: Statuses of the next calls, the last one first; 200 for one that is answered.
    failing: list[int] = field(default_factory=list)
    #: Pages by path.
    rest: dict[str, list[Any]] = field(default_factory=dict)
    #: The requested changes.
    written: list[str] = field(default_factory=list)
    url: str = ""

    def variables(self, *, merged: bool) -> dict[str, str]:
        """Return the variables that GitHub sets in a workflow, and the token."""
        return {
            "GITHUB_GRAPHQL_URL": f"{self.url}/graphql",
            "GITHUB_API_URL": self.url,
            "GITHUB_SERVER_URL": "https://github.com",
            "GITHUB_REPOSITORY": f"{OWNER}/{NAME}",
            "GITHUB_REF": "refs/heads/main" if merged else f"refs/pull/{NUMBER}/merge",
            "GITHUB_SHA": HEAD,
            "GITHUB_RUN_ID": "4711",
            "GH_TOKEN": TOKEN,
        }

    def answer(self, sent: Any) -> Any:
        done = graphql_sync(
            SCHEMA, sent["query"], self, variable_values=sent["variables"], operation_name=sent["operationName"]
        )
        answer: dict[str, Any] = {**done.formatted}
        if done.errors:
            forbidden = isinstance(done.errors[0].original_error, PermissionError)
            answer["errors"] = [{**answer["errors"][0], **({"type": "FORBIDDEN"} if forbidden else {})}]
        return answer

    def repository(self, _: Any, owner: str, name: str, followRenames: bool) -> Any:  # noqa: N803 - the schema's
        assert (owner, name) == (OWNER, NAME)
        return {"object": self._object, "pullRequest": lambda _, number: self._pull if number == NUMBER else None}

    def addComment(self, _: Any, input: Any) -> Any:  # noqa: N802
        assert input["subjectId"] == "PR_3"
        self.written.append("added")
        self.comments.append(Comment(input["body"], at=LATER))
        return {"commentEdge": {"node": self._comment(len(self.comments) - 1)}}

    def updateIssueComment(self, _: Any, input: Any) -> Any:  # noqa: N802
        self.written.append("replaced")
        number = int(input["id"].removeprefix("IC_"))
        self.comments[number] = Comment(input["body"], at=LATER)
        return {"issueComment": self._comment(number)}

    def _object(self, _: Any, oid: str) -> Any:
        assert oid == HEAD
        nodes = [self._pull] if self.merged_as else []
        pulls = {"nodes": nodes}
        return {"__typename": "Commit", "tree": {"oid": self.tree}, "associatedPullRequests": lambda _, first: pulls}

    @property
    def _pull(self) -> Any:
        return {
            "id": f"PR_{NUMBER}",
            "number": NUMBER,
            "author": {"__typename": "User", "login": "ada"},
            "headRefOid": PUSHED,
            "mergeCommit": {"oid": self.merged_as} if self.merged_as else None,
            "latestOpinionatedReviews": self._reviews,
            "comments": self._comments,
        }

    def kept(self, path: str, asked: dict[str, list[str]]) -> Any:
        """Answer what is asked of runs and artifacts, each of one number; None for anything else."""
        whole = f"/repos/{OWNER}/{NAME}/actions/"
        if match := re.fullmatch(rf"{whole}workflows/(.+)/runs", path):
            (event,), (head,) = asked["event"], asked["head_sha"]
            of = (match[1], event, head)
            runs = [
                {"id": number, "repository": {"id": 1}, "head_repository": {"id": 2 if artifact.fork else 1}}
                for number, artifact in enumerate(self.artifacts)
                if (artifact.workflow, artifact.event, artifact.head) == of
            ]
            return {"workflow_runs": runs}
        if match := re.fullmatch(rf"{whole}(runs|artifacts)/(\d+)/(artifacts|zip)", path):
            artifact = self.artifacts[int(match[2])]
            about = {"id": int(match[2]), "expired": artifact.expired}
            return (
                {"artifacts": [about] if artifact.name == asked["name"][0] else []}
                if match[1] == "runs"
                else artifact.packed
            )
        return None

    def _comments(self, _: Any, first: int = 0, last: int = 0) -> Any:
        nodes = [self._comment(number) for number in range(len(self.comments))]
        return {"totalCount": len(nodes), "nodes": nodes[:first] if first else nodes[-last:]}

    def _reviews(self, _: Any, first: int, writersOnly: bool) -> Any:  # noqa: N803
        if self.forbidden:
            raise PermissionError("Resource not accessible by integration")
        return {"nodes": [_review(review) for review in self.reviews if review.may_write or not writersOnly]}

    def _comment(self, number: int) -> Any:
        comment = self.comments[number]
        who = {"__typename": comment.kind, "login": comment.by}
        return {"id": f"IC_{number}", "body": comment.body, "updatedAt": comment.at, "author": who}


def _review(review: Review) -> Any:
    return {
        "state": review.state,
        "submittedAt": review.at,
        "author": review.by and {"__typename": review.kind, "login": review.by},
        "commit": review.tree and {"tree": {"oid": review.tree}},
    }


def _handler(github: GitHub) -> type[loopback.Handler]:
    class Handler(loopback.Handler):
        def do_POST(self) -> None:
            sent = self.body()
            if self._unknown():
                self._send(401, {"message": "Bad credentials"})
            elif github.failing and (status := github.failing.pop()) >= 400:
                self._send(status, {"message": "Server Error"})
            elif self.path == "/graphql":
                self._send(200, github.answer(json.loads(sent)))
            else:
                github.written.append(self.path)
                self._send(201, {})

        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            asked = parse_qs(parts.query)
            page = int(asked.get("page", ["1"])[0])
            if self._unknown():
                self._send(401, {"message": "Bad credentials"})
            elif github.hidden:
                self._send(403, {"message": "Resource not accessible by integration"})
            elif parts.path not in github.rest and (kept := github.kept(parts.path, asked)):
                self._send(200, kept)
            else:
                pages = github.rest.get(parts.path, [[]])
                after = f"{github.url}{parts.path}?page={page + 1}"
                self._send(200, pages[page - 1], {"Link": f'<{after}>; rel="next"'} if page < len(pages) else {})

        def _unknown(self) -> bool:
            return bool(self.headers["Authorization"] != f"Bearer {TOKEN}")

        def _send(self, status: int, body: Any, headers: dict[str, str] | None = None) -> None:
            content = body if isinstance(body, bytes) else json.dumps(body).encode()
            self.answer(status, content, headers)

    return Handler


@contextlib.contextmanager
def served() -> Iterator[GitHub]:
    github = GitHub()
    with loopback.served(_handler(github)) as github.url:
        yield github
