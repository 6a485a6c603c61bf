"""A stand-in for GitLab's API on loopback: answers composed after its documentation
(https://docs.gitlab.com/api/rest/), none recorded from a server. An undocumented request gets a 404. Writes take
effect."""

import contextlib
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests import loopback

PROJECT, NUMBER, TOKEN = 20, 3, "glpat-t"
WRITTEN, APPROVED, LATER = (f"2026-11-21T09:{minute}:00.123Z" for minute in ("05", "20", "40"))
BOT, ADA, GRACE, ALAN, MALLORY = 1, 2, 3, 4, 5
NAMES = {BOT: "project_20_bot_slipway", ADA: "ada", GRACE: "grace", ALAN: "alan", MALLORY: "mallory"}


@dataclass
class Note:
    body: str
    by: int = BOT
    at: str = WRITTEN


@dataclass(frozen=True)
class Artifact:
    """A file that a job has kept, in a pipeline of its own."""

    name: str
    text: str
    commit: str
    job: str = "slipway-reviewed"
    source: str = "merge_request_event"
    project: int = PROJECT


@dataclass
class Version:
    """A push: its newest commit, and its time."""

    commit: str
    at: str = "2026-11-21T09:00:00.000Z"


@dataclass
class GitLab:
    """A project with one merge request, of ada's, into main."""

    #: Times by user.
    approved: dict[int, str] = field(default_factory=dict)
    #: Of the members, by user.
    levels: dict[int, int] = field(default_factory=lambda: {BOT: 20, ADA: 30, GRACE: 30, ALAN: 40, MALLORY: 20})
    bots: set[int] = field(default_factory=lambda: {BOT})
    blocked: set[int] = field(default_factory=set)
    notes: list[Note] = field(default_factory=list)
    artifacts: list[Artifact] = field(default_factory=list)
    versions: list[Version] = field(default_factory=list)
    #: Fields of a merge.
    merged_as: dict[str, str] = field(default_factory=dict)
    target: str = "main"
    #: Statuses for the next calls.
    failing: list[int] = field(default_factory=list)
    knows_when: bool = True
    #: Methods and paths of changes.
    written: list[str] = field(default_factory=list)
    url: str = ""

    def variables(self, commit: str, *, merged: bool) -> dict[str, str]:
        """Return the variables that GitLab sets in a job, and the token."""
        of_change = {"CI_COMMIT_BRANCH": "main", "CI_PIPELINE_SOURCE": "push"}
        if not merged:
            of_change = {
                "CI_MERGE_REQUEST_IID": str(NUMBER),
                "CI_MERGE_REQUEST_TARGET_BRANCH_NAME": self.target,
                "CI_PIPELINE_SOURCE": "merge_request_event",
            }
        return of_change | {
            "GITLAB_CI": "true",
            "CI_API_V4_URL": f"{self.url}/api/v4",
            "CI_PROJECT_ID": str(PROJECT),
            "CI_COMMIT_SHA": commit,
            "CI_DEFAULT_BRANCH": "main",
            "CI_JOB_URL": "https://gitlab.example.com/acme/ml/-/jobs/4711",
            "GITLAB_USER_LOGIN": "ada",
            "GITLAB_TOKEN": TOKEN,
        }

    def answer(self, method: str, path: str, asked: dict[str, str], sent: dict[str, Any]) -> tuple[int, Any]:
        for pattern, does in self._routes.items():
            if match := re.fullmatch(pattern, f"{method} {path}"):
                if method != "GET":
                    self.written.append(f"{method} {path}")
                answered = does(match, sent)
                if isinstance(answered, list):
                    page, most = int(asked.get("page", 1)), int(asked.get("per_page", 20))
                    answered = answered[(page - 1) * most : page * most]
                return (404, {"message": "404 Not found"}) if answered is None else (200, answered)
        return 404, {"error": "404 Not Found"}

    @property
    def _routes(self) -> dict[str, Callable[[re.Match[str], dict[str, Any]], Any]]:
        change = f"/projects/{PROJECT}/merge_requests/{NUMBER}"
        return {
            "GET /user": lambda *_: _user(BOT),
            r"GET /users/(\d+)": lambda match, _: _user(int(match[1])) | {"bot": int(match[1]) in self.bots},
            rf"GET /projects/{PROJECT}/members/all/(\d+)": lambda match, _: self._member(int(match[1])),
            f"GET {change}": lambda *_: self._request,
            f"GET {change}/approvals": lambda *_: self._approvals,
            f"GET {change}/versions": lambda *_: [_version(version) for version in reversed(self.versions)],
            f"GET {change}/notes": lambda *_: [self._note(at) for at in range(len(self.notes))],
            f"GET {change}/pipelines": lambda *_: self._pipelines,
            rf"GET /projects/{PROJECT}/pipelines/(\d+)/jobs": lambda match, _: [self._job(int(match[1]))],
            rf"GET /projects/{PROJECT}/jobs/(\d+)/artifacts/(.+)": lambda match, _: self._file(int(match[1]), match[2]),
            f"POST {change}/notes": lambda _, sent: self._add(sent["body"]),
            rf"PUT {change}/notes/(\d+)": lambda match, sent: self._replace(int(match[1]), sent["body"]),
            rf"GET /projects/{PROJECT}/repository/commits/(\w+)/merge_requests": lambda *_: [self._request],
        }

    @property
    def _request(self) -> dict[str, Any]:
        head = self.versions[-1].commit if self.versions else None
        merge = {"merge_commit_sha": None, "squash_commit_sha": None, **self.merged_as}
        return {
            "id": 4003,
            "iid": NUMBER,
            "project_id": PROJECT,
            "state": "merged" if self.merged_as else "opened",
            "target_branch": self.target,
            "source_branch": "bigger",
            "author": _user(ADA),
            "sha": head,
            **merge,
        }

    @property
    def _approvals(self) -> dict[str, Any]:
        who = [
            {"user": _user(user), **({"approved_at": at} if self.knows_when else {})}
            for user, at in self.approved.items()
        ]
        return {"user_has_approved": False, "user_can_approve": False, "approved": bool(who), "approved_by": who}

    def _member(self, user: int) -> dict[str, Any] | None:
        if user not in self.levels:
            return None
        state = "blocked" if user in self.blocked else "active"
        return _user(user) | {"state": state, "access_level": self.levels[user], "expires_at": None}

    def _note(self, at: int) -> dict[str, Any]:
        note = self.notes[at]
        times = {"created_at": WRITTEN, "updated_at": note.at}
        return {"id": 300 + at, "body": note.body, "author": _user(note.by), "system": False, **times}

    @property
    def _pipelines(self) -> list[dict[str, Any]]:
        """Return the newest first, as GitLab does."""
        return [
            {"id": at, "sha": artifact.commit, "source": artifact.source, "project_id": artifact.project}
            for at, artifact in reversed(list(enumerate(self.artifacts)))
        ]

    def _job(self, at: int) -> dict[str, Any]:
        artifact = self.artifacts[at]
        return {"id": at, "name": artifact.job, "status": "failed"}

    def _file(self, at: int, name: str) -> Any:
        artifact = self.artifacts[at]
        return json.loads(artifact.text) if name == artifact.name else None

    def _add(self, body: str) -> dict[str, Any]:
        self.notes.append(Note(body, at=LATER))
        return self._note(len(self.notes) - 1)

    def _replace(self, number: int, body: str) -> dict[str, Any]:
        self.notes[number - 300] = Note(body, at=LATER)
        return self._note(number - 300)


def _user(user: int) -> dict[str, Any]:
    return {"id": user, "username": NAMES[user], "name": NAMES[user].title(), "state": "active"}


def _version(version: Version) -> dict[str, Any]:
    return {"id": 110, "head_commit_sha": version.commit, "created_at": version.at, "state": "collected"}


def _handler(gitlab: GitLab) -> type[loopback.Handler]:
    class Handler(loopback.Handler):
        def _answer(self) -> None:
            sent = json.loads(self.body() or b"{}")
            parts = urlsplit(self.path)
            asked = {name: values[0] for name, values in parse_qs(parts.query).items()}
            if self.headers["PRIVATE-TOKEN"] != TOKEN:
                status, body = 401, {"message": "401 Unauthorized"}
            elif gitlab.failing:
                status, body = gitlab.failing.pop(0), {"message": "Server Error"}
            else:
                status, body = gitlab.answer(self.command, parts.path.removeprefix("/api/v4"), asked, sent)
            self.answer(status, json.dumps(body).encode())

        do_GET = do_POST = do_PUT = _answer

    return Handler


@contextlib.contextmanager
def served() -> Iterator[GitLab]:
    gitlab = GitLab()
    with loopback.served(_handler(gitlab)) as gitlab.url:
        yield gitlab
