"""The tests are alone with their variables and folders. Shells of others: test_bare_environment.py. # N4"""

import os
from pathlib import Path

import pytest

OF_THE_RUN = {"VERTEX_LOCAL_STATE", "PULUMI_HOME", "CLOUDSDK_CONFIG", "XDG_STATE_HOME"}


def test_no_variable_leads_to_a_persons_clouds_stacks_or_folders(tmp_path_factory: pytest.TempPathFactory) -> None:
    theirs = ("SLIPWAY_", "VERTEX_LOCAL_", "PULUMI_", "GOOGLE_", "CLOUDSDK_", "MAKEFLAGS", "GIT_DIR", "XDG_STATE_HOME")
    found = {name: value for name, value in os.environ.items() if name.startswith(theirs)}
    for of_the_machine in ("SLIPWAY_CACHE", "VERTEX_LOCAL_CACHE"):
        found.pop(of_the_machine, None)
    assert found.pop("VERTEX_LOCAL_PORT") == "0", "a free one"
    assert found.keys() == OF_THE_RUN
    assert all(Path(value).is_relative_to(tmp_path_factory.getbasetemp()) for value in found.values())
