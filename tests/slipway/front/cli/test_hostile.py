"""Shells, folders and streams that are not as one would have them: said in words, and nothing half done."""

import json
import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import urllib3

from slipway.base.errors import WaitTimeout
from slipway.front.cli.terminal.watching import watch
from slipway.google.connection import Connection
from slipway.google.session import Session
from slipway.google.transport import Response, Transport
from slipway.using.context import Clock, Context
from slipway.using.jobs.follower import WATCHING
from tests.local.conftest import ROOT

from .stack import SLEEP, UNSET, Stack

full_device = pytest.mark.skipif(
    not Path("/dev/full").is_char_device(), reason="Linux has a device that is always full"
)


def shell(stack: Stack, *arguments: str | bytes, cwd: Path | None = None, **options: Any) -> Any:
    """`slipway …` as a process of its own, whose streams, folder and environment a test may spoil."""
    variables = options.pop("variables", {})
    environ = {name: value for name, value in stack.env(**variables).items() if value != UNSET}
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    command = [sys.executable, "-m", "slipway", *arguments]
    return subprocess.run(command, cwd=cwd or stack.folder, env=environ, check=False, **{**streams, **options})


@pytest.mark.parametrize("encoding", ["ascii", "utf-8:strict"])
def test_a_terminal_that_lacks_letters_gets_their_numbers(stack: Stack, encoding: str) -> None:
    stack.catalog["templates"]["hello"]["summary"] = "läuft 🚀"
    stack.publish()
    listed = shell(stack, "templates", "--output", "json", variables={"PYTHONIOENCODING": encoding})
    assert json.loads(listed.stdout.decode(encoding.partition(":")[0]))["templates"][1]["summary"] == "läuft 🚀"
    assert shell(stack, "pools", variables={"PYTHONIOENCODING": encoding}).returncode == 0


@pytest.mark.parametrize(
    ("words", "variables"),
    [
        (("submit", "hello", "-p", b"code=\xff\xfe"), {"PYTHONIOENCODING": "utf-8:strict"}),
        (("use", b"gs://\xff"), {}),
        (("pools",), {"SLIPWAY_CATALOG": "gs://\udcff"}),
    ],
)
def test_bytes_that_are_no_text_are_refused_before_anything_is_sent(
    standing: Stack, words: tuple[str | bytes, ...], variables: dict[str, str]
) -> None:
    done = shell(standing, *words, variables=variables)
    assert done.returncode == 2 and b"not valid UTF-8" in done.stderr and b"fault of slipway" not in done.stderr
    assert standing.jobs() == []


@full_device
@pytest.mark.parametrize("words", [(), ("--output", "json"), ("--output", "json", "--wait")])
def test_a_job_that_was_sent_is_said_where_no_result_can_be_written(stack: Stack, words: tuple[str, ...]) -> None:
    with Path("/dev/full").open("wb") as full:
        done = shell(stack, "submit", "hello", *words, stdout=full)
    said, jobs = done.stderr.decode(), stack.jobs()
    assert done.returncode == 1 and "no space left on device" in said
    assert [f"error: job {job['displayName']} was sent" in said for job in jobs] == [True] * len(jobs)
    assert bool(jobs) == bool(words), "what can't be said before sending keeps it from being sent"
    assert ("error: nothing was sent" in said) == (not jobs)


VERBS = [
    ("--version",),
    ("--help",),
    ("completion", "bash"),
    ("check", "--help"),
    ("jobs", "list", "--output", "json"),
    ("templates", "--output", "json"),
    ("pools",),
]


@full_device
@pytest.mark.parametrize("unbuffered", [UNSET, "1"])
@pytest.mark.parametrize("words", VERBS, ids=" ".join)
def test_a_full_disk_ends_a_verb_with_one_error(standing: Stack, words: tuple[str, ...], unbuffered: str) -> None:
    with Path("/dev/full").open("wb") as full:
        done = shell(standing, *words, stdout=full, variables={"PYTHONUNBUFFERED": unbuffered})
    error = (
        "error: can't write to standard output\n"
        "  why: no space left on device\n"
        "  fix: free disk space, or redirect the output to another file\n"
    )
    assert (done.returncode, done.stderr.decode()) == (1, error)


@pytest.mark.parametrize("unbuffered", [UNSET, "1"])
@pytest.mark.parametrize("words", VERBS, ids=" ".join)
def test_a_reader_that_has_ended_ends_a_verb_without_a_message(
    standing: Stack, words: tuple[str, ...], unbuffered: str
) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = shell(standing, *words, stdout=writer, variables={"PYTHONUNBUFFERED": unbuffered})
    finally:
        os.close(writer)
    assert (done.returncode, done.stderr) == (141, b"")


@pytest.mark.parametrize(("module", "first"), [("click", ""), ("urllib3", "\n")])
def test_who_interrupts_it_at_once_is_told_that_nothing_was_sent(tmp_path: Path, module: str, first: str) -> None:
    """While it imports what all verbs need, or what this one does: then the line that shows ^C is ended `first`."""
    (tmp_path / f"{module}.py").write_text("raise KeyboardInterrupt")
    words = [sys.executable, "-m", "slipway", "submit", "hello"]
    environ = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(words, env=environ, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", f"{first}interrupted; nothing was sent\n")


def test_nothing_is_imported_before_an_interruption_is_told_in_words() -> None:
    script = "import sys; before = {*sys.modules}; import slipway; print(*({*sys.modules} - before))"
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.stdout == "slipway\n", done.stderr


def interrupted(*_: object, **__: object) -> Any:
    raise KeyboardInterrupt


@pytest.mark.parametrize("words", [(), ("--wait-for", "pool=10s", "--then", "spot")])
def test_who_interrupts_it_before_it_sends_is_told_that_nothing_was_sent(
    standing: Stack, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    monkeypatch.setattr("slipway.using.submission.preflight.choose", interrupted)
    done = standing.run("submit", "hello", *words)
    assert (done.code, done.out, done.err) == (130, "", "\ninterrupted; nothing was sent\n")
    assert standing.jobs() == []


def test_who_interrupts_it_once_it_has_sent_is_told_what_was(stack: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        patched.setattr("slipway.front.cli.terminal.single_job.document", interrupted)
        done = stack.run("submit", "hello", "--output", "json")
    (job,) = stack.jobs()
    name = job["displayName"]
    assert (done.code, done.json["error"]["what"]) == (130, f"interrupted; job {name} was sent")
    assert f"interrupted; job {name} was sent\n" in done.err and f"fix: slipway jobs show {name}\n" in done.err
    with monkeypatch.context() as patched:
        patched.setattr("slipway.front.cli.jobs.cancel.cancel_submissions", interrupted)
        done = stack.run("jobs", "cancel", name)
    assert done.code == 130 and f"interrupted; {name} may be cancelled already\n" in done.err
    with monkeypatch.context() as patched:
        patched.setattr("slipway.front.cli.jobs.cancel.cancel_sweep", interrupted)
        done = stack.run("jobs", "cancel", "--sweep", "grid")
    assert done.code == 130 and "interrupted; some jobs of sweep" in done.err


def in_sh(stack: Stack, command: str, *words: str, cwd: Path) -> Any:
    typed = ["sh", "-c", command, "sh", sys.executable, "-m", "slipway", *words]
    return subprocess.run(typed, cwd=cwd, env=stack.env(), capture_output=True, check=False)


def test_closed_streams_are_no_fault(standing: Stack) -> None:
    for closed in (">&-", "2>&-", ">&- 2>&-", "<&-"):
        assert in_sh(standing, f'"$@" {closed}', "templates", cwd=standing.folder).returncode == 0, closed


def test_a_folder_that_is_gone_is_named(standing: Stack, tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    done = in_sh(standing, f'rmdir "{gone}"; "$@"', "pools", cwd=gone)
    assert done.returncode == 1 and b"error: this folder is gone" in done.stderr


def test_a_choice_that_can_not_be_remembered_is_said_with_another_way(standing: Stack) -> None:
    (standing.folder / ".slipway").write_text("in the way")
    done = standing.run("use", "--here", standing.address)
    assert done.code == 2 and "could not remember" in done.err and "export SLIPWAY_CATALOG=" in done.err


def test_a_remembered_choice_that_is_none_names_its_file(standing: Stack) -> None:
    file = standing.folder / ".slipway" / "catalog"
    file.parent.mkdir()
    for content in (b"", b"\xff\xfe\0", b"s3://bucket"):
        file.write_bytes(content)
        done = standing.run("pools", SLIPWAY_CATALOG=UNSET)
        assert done.code == 2 and f"rm {file}" in done.err and "slipway use" in done.err


def test_a_user_without_a_home_is_told_where_submissions_could_be_written_down(
    stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    def homeless() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", homeless)
    (stack.folder / ".git").rmdir()
    done = stack.run("submit", "hello", XDG_STATE_HOME=UNSET)
    assert done.code == 1 and "export XDG_STATE_HOME" in done.err
    assert stack.jobs() == []
    stack.well("submit", "hello", XDG_STATE_HOME=str(stack.folder / "state"))
    assert (stack.folder / "state" / "slipway" / "requests").is_dir()
    nowhere = stack.run("use", stack.address, SLIPWAY_CONFIG=UNSET, XDG_CONFIG_HOME=UNSET)
    assert nowhere.code == 2 and "export SLIPWAY_CATALOG=" in nowhere.err


class Silent(Transport):
    """A service that never answers: the clock moves on by as long as was waited."""

    seconds = 0.0

    def request(self, method: Any, url: Any, *_: Any, timeout: Any = None, **__: Any) -> Response:
        self.seconds += timeout[1]
        raise urllib3.exceptions.ReadTimeoutError(urllib3.HTTPConnectionPool("lost"), url, "silence")

    def sleep(self, seconds: float) -> None:
        self.seconds += seconds


def test_a_service_that_never_answers_does_not_outlast_the_timeout(stack: Stack) -> None:  # B5
    job, http = stack.sends("hello", "-p", f"code={SLEEP}"), Silent({})
    before = Context(environ=stack.env(), folder=stack.folder)
    after = Context(folder=stack.folder, clock=Clock(monotonic=lambda: http.seconds, sleep=http.sleep))
    connection = Connection(Session(http, sleep=http.sleep), before.connection.endpoints)
    after.__dict__.update(catalog=before.catalog, connection=connection)
    with pytest.raises(WaitTimeout):
        watch(after, before.vertex.job(job["name"]), logs=True, timeout=20.0)
    assert http.seconds < 20.0 + 4 * WATCHING.read


def test_an_environments_secrets_are_neither_shown_nor_stored(standing: Stack) -> None:
    """A notebook shows the values of a traceback, and its tools pickle what it holds."""
    context = Context(environ=standing.env(), folder=standing.folder)
    assert context.catalog.stack == standing.name
    token = standing.env()["GOOGLE_OAUTH_ACCESS_TOKEN"]
    stored = pickle.dumps(context)
    assert token not in repr(context) and token.encode() not in stored
    assert pickle.loads(stored).folder == standing.folder
