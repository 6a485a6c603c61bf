"""Replicas as real processes: what their code finds and says, and what keeps them from starting (B4, N4)."""

import os
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tests.nodes.conftest import Replica, python
from vertex_local.images import cache
from vertex_local.nodes import spec as specs
from vertex_local.nodes.spec import Status


def test_user_code_runs_in_its_image_with_its_environment(run: Replica) -> None:
    run.start(
        *python("import os, sys; print(sys.prefix, os.environ['CHOSEN'], os.environ['OMP_NUM_THREADS'], os.getcwd())")
    )
    assert run.ended() == Status("exited", 0)
    prefix, chosen, threads, folder = run.said()[0].split()
    assert Path(prefix) == Path(run.spec.environment_folder) / "environment"
    assert (chosen, threads, folder) == ("service!", "3", str(run.folder / "work"))


def test_google_s_clients_are_led_to_the_metadata_server_and_not_to_google(run: Replica) -> None:  # N17
    """C++ (pyarrow) and Python ask it by different variables; gcsfs is kept from gRPC."""
    code = """
import json, os, urllib.request
for name in ("GCE_METADATA_HOST", "GCE_METADATA_ROOT"):
    url = f"http://{os.environ[name]}/computeMetadata/v1/instance/service-accounts/default/?recursive=true"
    asked = urllib.request.Request(url, headers={"Metadata-Flavor": "Google"})
    print(json.load(urllib.request.urlopen(asked))["email"])
print(os.environ["GCSFS_EXPERIMENTAL_ZB_HNS_SUPPORT"])
"""
    run.start(*python(code))
    assert run.ended() == Status("exited", 0), run.lines()
    assert run.said() == ["a@b", "a@b", "false"]


def test_an_image_that_is_built_once_for_the_machine_is_linked_into_each_cache(run: Replica, tmp_path: Path) -> None:
    run.spec = replace(run.spec, image_folder=str(tmp_path / "cluster"), shares_images=True)
    run.start(*python("print('well')"))
    assert run.ended() == Status("exited", 0)
    assert run.said() == ["well"]
    (link,) = (path for path in (tmp_path / "cluster").iterdir() if path.suffix != ".lock")
    assert link.readlink().parent == cache.common(os.environ)


def test_nothing_of_the_person_s_environment_reaches_user_code(run: Replica, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOOGLE_OAUTH_ACCESS_TOKEN", "of-the-person")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "of-the-person")
    run.start(*python("import os; print(sorted(os.environ)); print('of-the-person' in os.environ.values())"))
    run.ended()
    assert run.said()[1] == "False"


@pytest.mark.parametrize(("code", "status"), [("raise SystemExit(3)", 3), ("import os; os.abort()", 134)])
def test_an_exit_status_is_kept(run: Replica, code: str, status: int) -> None:
    run.start(*python(code))
    ended = run.ended()
    assert ended == Status("exited", status)
    assert ended.began and ended.over and ended.began < ended.over, "its own times, whoever looks when"


def test_an_image_without_a_recipe_is_refused_in_words(run: Replica) -> None:
    run.spec = replace(run.spec, image="gcr.io/mine/image:1")
    run.start("true")
    ended = run.ended()
    assert ended.phase == "unready"
    assert "Failed to pull image gcr.io/mine/image:1" in ended.message
    assert any(ended.message == line.text and line.severity == "ERROR" for line in run.lines())


@pytest.mark.parametrize("command", [["no-such-program"], ["echo", "a\0b"], ["echo", "\ud800"]])
def test_a_program_that_can_not_be_run_is_told(run: Replica, command: list[str]) -> None:
    run.start(*command)
    ended = run.ended()
    assert ended.phase == "unready" and ended.message.startswith(f"{command[0]} can't be run")


def test_the_token_is_readable_by_its_owner_only(run: Replica) -> None:
    run.starter.write(run.folder, run.spec)
    assert (run.folder / specs.SPEC).stat().st_mode & 0o077 == 0
    assert "secret-token" not in repr(run.spec)


def test_google_auth_finds_the_identity(run: Replica) -> None:
    code = (
        "import google.auth, google.auth.transport.requests as r; c, p = google.auth.default(); c.refresh(r.Request());"
        "print(p, c.service_account_email, c.token)"
    )
    run.start(sys.executable, "-c", code)
    assert run.ended() == Status("exited", 0), run.said()
    assert run.said()[-1] == "local-project a@b secret-token"
