"""GitLab asked who approved a merge result, and written to, by a stand-in after its documentation. # N14"""

import json
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from slipway.base.errors import ConfigError, ResourceError
from slipway.reviewing.forges import trees
from slipway.reviewing.forges.gitlab import GitLab
from slipway.reviewing.record import Record, name_of
from slipway.reviewing.render.comment import MARKER, mark
from tests.ci import gitlab as stand_in
from tests.ci.gitlab import ADA, ALAN, APPROVED, BOT, GRACE, LATER, MALLORY, NUMBER, WRITTEN, Artifact, Note, Version

from .lacking import said_without

GONE, MARKER_OF_ML, STRANGER = "e" * 40, mark("ml"), 99


@dataclass
class Checkout:
    """A job's checkout. `pushed`: the commits of the branch, oldest first, the last of which is checked out."""

    folder: Path
    pushed: list[str]

    def git(self, *words: str) -> str:
        who = ("-c", "user.name=ci", "-c", "user.email=ci@company.example")
        done = subprocess.run(["git", *who, *words], cwd=self.folder, check=True, capture_output=True, text=True)
        return done.stdout.strip()

    def push(self, text: str) -> None:
        (self.folder / "file").write_text(text)
        self.git("add", ".")
        self.git("commit", "-qm", text)
        self.pushed.append(self.git("rev-parse", "HEAD"))


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Checkout:
    monkeypatch.chdir(tmp_path)
    made = Checkout(tmp_path, [])
    made.git("init", "-q", "-b", "main")
    for text in ("first", "second"):
        made.push(text)
    return made


@pytest.fixture
def server(checkout: Checkout) -> Iterator[stand_in.GitLab]:
    with stand_in.served() as gitlab:
        gitlab.versions = [Version(checkout.pushed[0]), Version(checkout.pushed[1], "2026-11-21T09:04:00.000Z")]
        gitlab.notes = [Note(f"{MARKER}\n### words")]
        yield gitlab


def asked(server: stand_in.GitLab, checkout: Checkout, *, merged: bool = False) -> GitLab:
    return GitLab(server.variables(checkout.pushed[-1], merged=merged))


NOBODY = "nobody else with write access has approved !3"


def test_of_two_pushes_at_one_moment_the_last_is_approved(server: stand_in.GitLab, checkout: Checkout) -> None:
    server.approved, server.versions = {GRACE: APPROVED}, [Version(GONE), Version(checkout.pushed[1])]
    assert asked(server, checkout).merge_result().approvers == ("grace",)


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"approved": {GRACE: APPROVED, ALAN: APPROVED}}, ""),
        ({"approved": {ADA: APPROVED}}, NOBODY),
        ({"approved": {MALLORY: APPROVED}}, NOBODY),
        ({"approved": {BOT: APPROVED}, "levels": {BOT: 40}}, NOBODY),
        ({"approved": {STRANGER: APPROVED}}, NOBODY),
        ({"approved": {GRACE: APPROVED}, "blocked": {GRACE}}, NOBODY),
        ({"approved": {GRACE: APPROVED}, "versions": [Version(GONE)]}, "one that is gone"),
        ({"approved": {GRACE: APPROVED}, "notes": [Note(MARKER, at=LATER)]}, "!3 was changed after grace"),
    ],
    ids=[
        *("writers'", "their own", "a reader's", "a bot's", "a stranger's", "a blocked member's"),
        *("of a commit that is gone", "before the comment was changed"),
    ],
)
def test_a_writer_s_approval_of_this_tree_counts_and_nobody_else_s(
    server: stand_in.GitLab, checkout: Checkout, fields: dict[str, Any], why: str
) -> None:
    stand_in.NAMES.setdefault(STRANGER, "stranger")
    vars(server).update(fields)
    result = asked(server, checkout).merge_result()
    assert result.approvers == (() if why else ("grace", "alan"))
    assert why in result.objection[0]


def test_an_approval_is_of_the_tree_that_was_there(server: stand_in.GitLab, checkout: Checkout) -> None:
    server.approved = {GRACE: "2026-11-21T09:03:59.000Z"}
    pull = asked(server, checkout).merge_result().pull_request
    assert pull and [approval.tree for approval in pull.approvals] == [
        checkout.git("rev-parse", f"{checkout.pushed[0]}^{{tree}}")
    ]


def test_a_branch_that_lacks_commits_of_main_is_another_tree_than_its_merge_result(
    server: stand_in.GitLab, checkout: Checkout
) -> None:
    server.approved = {GRACE: APPROVED}
    checkout.push("the merge result, with what main has")
    result = GitLab(server.variables(checkout.pushed[1], merged=False)).merge_result()
    assert result.approvers == () and "branch up to date" in result.objection[1]


@pytest.mark.parametrize("zone", ["2026-11-21T10:20:00.123+01:00", "2026-11-21T09:20:00Z"])
def test_times_of_any_zone_are_compared(server: stand_in.GitLab, checkout: Checkout, zone: str) -> None:
    server.approved = {GRACE: zone}
    for changed, counts in (("2026-11-21T11:19:59.999+02:00", True), ("2026-11-21T11:20:01.000+02:00", False)):
        server.notes[0].at = changed
        assert bool(asked(server, checkout).merge_result().approvers) is counts


def test_a_gitlab_that_does_not_say_when_is_an_error_and_no_approval(
    server: stand_in.GitLab, checkout: Checkout
) -> None:
    server.approved, server.knows_when = {GRACE: APPROVED}, False
    with pytest.raises(ResourceError, match="who approved !3"):
        asked(server, checkout).merge_result()


def test_a_level_that_nobody_can_read_is_an_error_and_no_approval(server: stand_in.GitLab, checkout: Checkout) -> None:
    server.approved, server.levels = {GRACE: APPROVED}, {GRACE: "developer"}  # type: ignore[dict-item]
    with pytest.raises(ResourceError, match="what grace may do"):
        asked(server, checkout).merge_result()


@pytest.mark.parametrize("by", ["merge_commit_sha", "squash_commit_sha", "merged_at"])
def test_it_is_merged_by_a_merge_a_squash_or_by_going_forward(
    server: stand_in.GitLab, checkout: Checkout, by: str
) -> None:
    server.approved = {GRACE: APPROVED}
    server.merged_as = {by: LATER if by == "merged_at" else checkout.pushed[-1]}
    assert asked(server, checkout, merged=True).merge_result().approvers == ("grace",)
    server.approved = {}
    way_on = asked(server, checkout, merged=True).merge_result().objection[1]
    assert way_on.startswith("revert it ") and "insist (docs/gitlab.md" in way_on, "nobody is told to approve it"


@pytest.mark.parametrize(
    ("by", "target"),
    [({}, "main"), ({"merge_commit_sha": GONE}, "main"), ({"merge_commit_sha": ""}, "mine")],
    ids=["open", "as another commit", "into another branch"],
)
def test_it_is_not_merged_as_this(server: stand_in.GitLab, checkout: Checkout, by: dict[str, str], target: str) -> None:
    server.approved, server.target = {GRACE: APPROVED}, target
    server.merged_as = {key: commit or checkout.pushed[-1] for key, commit in by.items()}
    result = asked(server, checkout, merged=True).merge_result()
    assert result.pull_request is None and "was merged as this" in result.objection[0]


class TestRecord:
    """Of all files of its name, that of the merge request's own pipelines."""

    @pytest.fixture
    def mine(self, server: stand_in.GitLab, checkout: Checkout) -> Artifact:
        record = Record({"of": "mine"})
        server.notes, server.merged_as = [Note(f"{MARKER_OF_ML}\n{record.remark}")], {"merged_at": LATER}
        name = name_of(checkout.git("rev-parse", "HEAD^{tree}"), "ml")
        return Artifact(name, json.dumps(record.body), checkout.pushed[-1])

    def found(self, server: stand_in.GitLab, checkout: Checkout, *artifacts: Artifact) -> Record | None:
        server.artifacts = list(artifacts)
        environ = server.variables(checkout.pushed[-1], merged=True)
        pull = GitLab(environ, "ml").merge_result().pull_request
        return pull.record if pull else None

    @pytest.mark.parametrize(
        "other",
        [
            {"name": f"slipway-review-{GONE}-ml.json"},
            {"commit": GONE},
            {"job": "mine"},
            {"source": "push"},
            {"project": 21},
            {"text": '{"of": "another"}'},
        ],
        ids=["of another tree", "of another commit", "another job's", "a branch's", "a fork's", "another"],
    )
    def test_what_no_job_of_the_review_has_kept_is_none(
        self, server: stand_in.GitLab, checkout: Checkout, mine: Artifact, other: dict[str, Any]
    ) -> None:
        """Although it is what the note names, or has the name."""
        forged = replace(mine, **other)
        assert self.found(server, checkout, forged) is None
        assert self.found(server, checkout, forged, mine) == Record({"of": "mine"})

    def test_a_merged_result_s_pipeline_is_of_a_commit_with_its_tree(
        self, server: stand_in.GitLab, checkout: Checkout, mine: Artifact
    ) -> None:
        server.versions.append(Version(GONE))
        server.merged_as = {"merge_commit_sha": checkout.pushed[-1]}
        assert self.found(server, checkout, mine)

    def test_an_answer_that_lacks_a_field_is_none_of_the_api_s(
        self, server: stand_in.GitLab, checkout: Checkout, mine: Artifact, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        server.approved = {GRACE: APPROVED}
        said = said_without(monkeypatch, lambda: self.found(server, checkout, mine))
        lacked = {field.partition(" ")[2].removeprefix("0.") for field in said}
        assert lacked >= {"iid", "author.username", "sha", "body", "author.id", "source", "project_id", "id", "name"}
        assert [why for why in said.values() if "the answer is not what the API's are" not in why] == []


class TestComment:
    def test_it_is_added_once_replaced_when_it_differs_and_else_left_alone(
        self, server: stand_in.GitLab, checkout: Checkout
    ) -> None:
        server.notes = [Note(f"{MARKER}\nforged", by=MALLORY)]
        gitlab = asked(server, checkout)
        result = gitlab.tell(gitlab.merge_result(), f"{MARKER}\none")
        assert server.written == [f"POST /projects/20/merge_requests/{NUMBER}/notes"]
        assert gitlab.tell(result, f"{MARKER}\none\n") == result and len(server.written) == 1
        again = gitlab.tell(gitlab.merge_result(), f"{MARKER}\ntwo")
        assert server.written[1:] == [f"PUT /projects/20/merge_requests/{NUMBER}/notes/301"]
        assert [note.by for note in server.notes] == [MALLORY, BOT]
        assert again.pull_request and again.pull_request.comment and "two" in again.pull_request.comment.body

    def test_it_is_found_among_many_and_too_many_are_said(self, server: stand_in.GitLab, checkout: Checkout) -> None:
        mine = server.notes
        server.notes = [Note(str(n), by=ALAN) for n in range(450)] + mine
        pull = asked(server, checkout).merge_result().pull_request
        assert pull and pull.comment and pull.comment.id == str(300 + 450)
        server.notes = [Note(str(n), by=ALAN) for n in range(2000)] + mine
        with pytest.raises(ResourceError, match="another merge request"):
            asked(server, checkout).merge_result()

    def test_no_line_of_it_is_a_command_or_a_reference(self, server: stand_in.GitLab, checkout: Checkout) -> None:
        server.notes = []
        gitlab = asked(server, checkout)
        gitlab.tell(gitlab.merge_result(), f"{MARKER}\n````\n/close\n````\nsee !7 and a!7")
        lines = server.notes[0].body.splitlines()
        assert not any(line.startswith("/") for line in lines) and "see !7" not in server.notes[0].body


class TestRefusals:
    def test_without_a_token_it_says_where_one_goes(self, server: stand_in.GitLab, checkout: Checkout) -> None:
        environ = server.variables(checkout.pushed[-1], merged=False)
        del environ["GITLAB_TOKEN"]
        with pytest.raises(ConfigError, match="GITLAB_TOKEN is not set"):
            GitLab(environ)

    def test_a_wrong_token_says_what_it_has_to_be(self, server: stand_in.GitLab, checkout: Checkout) -> None:
        environ = server.variables(checkout.pushed[-1], merged=False) | {"GITLAB_TOKEN": "stale"}
        with pytest.raises(ResourceError, match="scope `api`"):
            GitLab(environ).merge_result()

    def test_a_busy_moment_is_waited_out(self, server: stand_in.GitLab, checkout: Checkout) -> None:
        server.failing = [502]
        assert asked(server, checkout).merge_result().pull_request

    def test_outside_of_a_checkout_it_says_so(
        self, server: stand_in.GitLab, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path_factory.mktemp("empty"))
        gitlab = GitLab(server.variables(GONE, merged=False))
        with pytest.raises(ConfigError, match="git finds no commit"):
            gitlab.merge_result()


def test_a_commit_that_the_checkout_lacks_is_fetched(
    checkout: Checkout, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    origin, job = checkout.folder, tmp_path_factory.mktemp("job")
    subprocess.run(["git", "-C", origin, "config", "uploadpack.allowAnySHA1InWant", "true"], check=True)
    subprocess.run(["git", "clone", "-q", "--depth=1", origin.as_uri(), job], check=True)
    monkeypatch.chdir(job)
    assert trees.here() == checkout.git("rev-parse", "HEAD^{tree}")
    assert trees.of(checkout.pushed[0]) == checkout.git("rev-parse", f"{checkout.pushed[0]}^{{tree}}")
    assert trees.of(GONE) == trees.of("--upload-pack=touch /tmp/x") == ""
    assert WRITTEN < APPROVED
