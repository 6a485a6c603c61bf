"""Why user code never started, told by what prepares its replica. # N4"""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from local.cloud.nodes.preparation import prepared, show_outside
from local.cloud.nodes.runner import Runner
from local.cloud.nodes.spec import UnreadyError

SPEC: Any = SimpleNamespace(image="python:3.10", shares_images=False)


def test_a_machine_without_uv_is_told_that_it_is_missing() -> None:
    with pytest.raises(UnreadyError, match="uv, which builds environments for jobs, is not installed"):
        prepared(SPEC, lambda command: None, None, lambda line: None)


def test_a_full_disk_is_told_before_anything_is_made(tmp_path: Path) -> None:
    spec: Any = SimpleNamespace(**vars(SPEC), environment_folder=str(tmp_path / "a" / "b"), least_free_bytes=10**18)
    with pytest.raises(UnreadyError, match=r"The disk is full: \d+ MB are free at .*`python -m local cache clear`"):
        prepared(spec, lambda command: None, "uv", lambda line: None)
    assert not (tmp_path / "a").exists()


def test_a_tool_that_fails_is_told_with_what_it_said(tmp_path: Path) -> None:
    with pytest.raises(UnreadyError, match=r"^sh -c echo full; exit 3 failed with status 3: full$"):
        Runner(tmp_path, SPEC)._tool(("/bin/sh", "-c", "echo full; exit 3"))


def test_an_environment_lets_its_user_install_and_the_image_stays_as_it_is(tmp_path: Path) -> None:  # N17
    image, copy = tmp_path / "image", tmp_path / "copy"
    for folder in (image, copy):
        folder.mkdir()
    (image / "pyvenv.cfg").write_text("home = /x\ninclude-system-site-packages = false\nversion_info = 3\n")
    os.link(image / "pyvenv.cfg", copy / "pyvenv.cfg")
    show_outside(copy)
    assert (copy / "pyvenv.cfg").read_text() == "home = /x\ninclude-system-site-packages = true\nversion_info = 3\n"
    assert "= false" in (image / "pyvenv.cfg").read_text()
