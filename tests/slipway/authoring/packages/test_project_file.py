"""Packages that a job installs for a folder with pyproject.toml or uv.lock, without requirements.txt. # N11 # N25"""

from pathlib import Path

import pytest

from slipway.authoring.packages.packing import _requirements
from slipway.authoring.packages.project_file import requirements_of
from slipway.authoring.packages.source_package import requirements
from slipway.authoring.packages.working_tree import read
from slipway.base.errors import ConfigError

PROJECT = """
[project]
name = "lora"
version = "0.1.0"
requires-python = ">=3.13"
dependencies = ["six>=1.16", "torch[opt]>=2 ; sys_platform == 'linux'", "My_Lib"]
[dependency-groups]
dev = ["pytest"]
"""
LOCK = """
version = 1
[[package]]
name = "lora"
version = "0.1.0"
source = { virtual = "." }
dependencies = [{ name = "six" }, { name = "torch" }]
[package.metadata]
requires-dist = [
  { name = "six", specifier = ">=1.16" },
  { name = "torch", extras = ["opt"], specifier = ">=2", marker = "sys_platform == 'linux'" },
  { name = "shiny", marker = "extra == 'board'" },
]
[[package]]
name = "six"
version = "1.17.0"
source = { registry = "https://pypi.org/simple" }
[[package]]
name = "torch"
version = "2.5.1+cpu"
source = { registry = "https://download.pytorch.org/whl/cpu" }
resolution-markers = ["python_full_version >= '3.10'", "sys_platform == 'linux'"]
[[package]]
name = "torch"
version = "2.4.1"
source = { registry = "https://pypi.org/simple" }
resolution-markers = ["python_full_version < '3.10'"]
"""
HELD = (
    "--constraint six==1.17.0",
    "--constraint torch==2.5.1+cpu ; (python_full_version >= '3.10') or (sys_platform == 'linux')",
    "--constraint torch==2.4.1 ; (python_full_version < '3.10')",
)
TORCH = "torch[opt]>=2 ; (sys_platform == 'linux')"


def lines(**files: str) -> tuple[str, ...]:
    """`pyproject` and `uv` stand for the files of these names."""
    names = {"pyproject": "pyproject.toml", "uv": "uv.lock", "requirements": "requirements.txt"}
    return requirements_of({names[name]: text.encode() for name, text in files.items()}, "lora")


def test_a_project_file_alone_is_installed_without_its_groups() -> None:  # astral-sh/uv 1432, ray 47819
    assert lines(pyproject=PROJECT) == ("six>=1.16", TORCH, "My_Lib")


def test_a_lock_holds_the_versions_and_brings_its_index() -> None:
    assert lines(pyproject=PROJECT, uv=LOCK) == (
        "--extra-index-url https://download.pytorch.org/whl/cpu",
        "six>=1.16",
        TORCH,
        "My_Lib",
        *HELD,
    )


def test_a_lock_alone_is_enough() -> None:  # astral-sh/uv 14568
    expected = ("--extra-index-url https://download.pytorch.org/whl/cpu", "six>=1.16", "torch[opt]>=2 ; ")
    made = lines(uv=LOCK)
    assert made[:2] == expected[:2] and made[2].startswith(expected[2]) and made[3:] == HELD


def test_requirements_txt_comes_first() -> None:
    assert lines(requirements="six==1\n", pyproject=PROJECT, uv=LOCK) == ("six==1",)


def test_a_file_for_tools_alone_installs_nothing() -> None:
    assert lines(pyproject="[tool.ruff]\nline-length = 120\n") == () == lines(pyproject='[project]\nname = "x"\n')


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ('{ git = "https://h/o/r", rev = "1a2b" }', "my-lib @ git+https://h/o/r@1a2b"),
        (
            '{ git = "https://h/o/r", branch = "x", subdirectory = "py" }',
            "my-lib @ git+https://h/o/r@x#subdirectory=py",
        ),
        ('{ url = "https://h/my_lib-1-py3-none-any.whl" }', "my-lib @ https://h/my_lib-1-py3-none-any.whl"),
        (
            '[{ git = "https://h/o/r", marker = "sys_platform == \'linux\'" }]',
            "my-lib @ git+https://h/o/r ; (sys_platform == 'linux')",
        ),
        ('{ index = "own" }', "My_Lib"),
    ],
)
def test_a_source_of_uv_s_is_where_it_comes_from(source: str, line: str) -> None:
    assert line in lines(pyproject=f"{PROJECT}[tool.uv.sources]\nmy_lib = {source}\n")


def test_a_commit_of_git_is_that_of_the_lock() -> None:
    locked = '[[package]]\nname = "my-lib"\nversion = "1"\nsource = { git = "https://h/o/r?branch=x#0123abcd" }\n'
    project = f'{PROJECT}[tool.uv.sources]\nmy-lib = {{ git = "https://h/o/r", branch = "x" }}\n'
    assert "my-lib @ git+https://h/o/r@0123abcd" in lines(pyproject=project, uv=locked)


def test_an_index_of_uv_s_is_an_index() -> None:  # astral-sh/uv 7496: uv export wrote none
    first = '[[tool.uv.index]]\nname = "a"\nurl = "https://a/simple"\ndefault = true\n'
    second = '[[tool.uv.index]]\nname = "b"\nurl = "https://b/simple"\nexplicit = true\n'
    made = lines(pyproject=PROJECT + first + second)
    assert made[:2] == ("--index-url https://a/simple", "--extra-index-url https://b/simple")


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ('{ path = "../lib" }', "no job has it"),
        ("{ workspace = true }", "no job has it"),
        ('{ git = "ssh://git@github.com/o/r" }', "no job has a key"),
    ],
)
def test_what_no_job_can_install_is_refused(source: str, why: str) -> None:
    with pytest.raises(ConfigError, match=r"lora/pyproject\.toml:\d") as error:
        lines(pyproject=f"{PROJECT}[tool.uv.sources]\nmy_lib = {source}\n")
    assert why in error.value.why


@pytest.mark.parametrize("text", ["[project", "project = 1", "[project]\ndependencies = [1]", "[tool]\nuv = 1"])
def test_what_can_t_be_read_is_told_with_its_file(text: str) -> None:
    with pytest.raises(ConfigError, match=r"can't read lora/pyproject\.toml"):
        lines(pyproject=text if "dependencies" in text or "tool" not in text else PROJECT + text)


def test_a_reviewed_package_and_a_folder_have_one_rule(tmp_path: Path) -> None:
    for name, text in {"lora/__init__.py": "", "lora/pyproject.toml": PROJECT, "lora/uv.lock": LOCK}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    reviewed = requirements(tmp_path / "lora")
    assert reviewed == lines(pyproject=PROJECT, uv=LOCK)
    assert _requirements(read(tmp_path / "lora"), "lora", ["lora"]) == reviewed
    assert _requirements(read(tmp_path), tmp_path.name, ["lora"]) == reviewed
    (tmp_path / "pyproject.toml").write_text("[tool.ruff]\n")
    assert _requirements(read(tmp_path), tmp_path.name, ["lora"]) == reviewed
