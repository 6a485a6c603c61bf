"""Packages that a job installs for a folder, and the folder's own projects among them. # N11 # N25"""

from pathlib import Path

import pytest

from slipway.authoring.packages.folder_packages import FolderPackages, packages_of
from slipway.authoring.packages.packing import _packages
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
    return packages_of({names[name]: text.encode() for name, text in files.items()}, "lora").lines


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
        ("{ workspace = true }", "no job has it: the package of a job holds its own folder alone"),
        ('{ git = "ssh://git@github.com/o/r" }', "no job has a key"),
    ],
)
def test_what_no_job_can_install_is_refused(source: str, why: str) -> None:
    with pytest.raises(ConfigError, match=r"lora/pyproject\.toml:\d|lora: my-lib is a member") as error:
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
    assert _packages(read(tmp_path / "lora"), "lora", ["lora"]).lines == reviewed
    assert _packages(read(tmp_path), tmp_path.name, ["lora"]).lines == reviewed
    (tmp_path / "pyproject.toml").write_text("[tool.ruff]\n")
    assert _packages(read(tmp_path), tmp_path.name, ["lora"]).lines == reviewed


LIBRARY = """
[project]
name = "acme-mathlib"
version = "0.3.0"
dependencies = ["idna>=3"{}]
[project.optional-dependencies]
plot = ["attrs"]
"""
OTHER = '[project]\nname = "acme_other"\n[build-system]\n[tool.setuptools.packages.find]\nwhere = ["lib"]\n'
ROOT = """
[project]
name = "trainer"
dependencies = ["acme_mathlib[plot]", "six>=1.16"]
[tool.uv.sources]
acme-mathlib = {}
acme-other = {{ workspace = true }}
[tool.uv.workspace]
members = ["libs/*"]
"""
MEMBERS = {
    "libs/acme-mathlib/pyproject.toml": LIBRARY.format(', "acme-other"'),
    "libs/acme-mathlib/src/acme_mathlib/__init__.py": "",
    "libs/other/pyproject.toml": OTHER,
    "libs/other/lib/acme_other.py": "",
}
FOUND = FolderPackages(
    ("six>=1.16", "idna>=3", "attrs"), "pyproject.toml", ("libs/acme-mathlib/src", "libs/other/lib"), is_whole=False
)


def found(files: dict[str, str], script: str = "") -> FolderPackages:
    return packages_of({name: text.encode() for name, text in files.items()}, "lora", script)


@pytest.mark.parametrize("source", ["{ workspace = true }", '{ path = "libs/acme-mathlib", editable = true }'])
def test_the_folder_s_own_projects_are_code_and_their_packages_are_installed(source: str) -> None:
    """A package of such a name on PyPI is somebody else's."""
    assert found({"pyproject.toml": ROOT.format(source), **MEMBERS}) == FOUND


def test_a_workspace_that_is_no_project_has_all_of_its_members() -> None:
    root = '[tool.uv.sources]\nacme-other = { workspace = true }\n[tool.uv.workspace]\nmembers = ["libs/*"]\n'
    assert found({"pyproject.toml": root, **MEMBERS}).code == FOUND.code
    assert (
        found(
            {
                "pyproject.toml": root + 'exclude = ["libs/o*"]\n',
                **MEMBERS | {"libs/acme-mathlib/pyproject.toml": LIBRARY.format("")},
            }
        ).code
        == FOUND.code[:1]
    )


def test_a_lock_alone_tells_the_folder_s_own_projects() -> None:
    locked = """
[[package]]
name = "trainer"
source = { virtual = "." }
[package.metadata]
requires-dist = [{ name = "acme-mathlib", editable = "libs/acme-mathlib" }, { name = "six" }]
[[package]]
name = "acme-mathlib"
source = { editable = "libs/acme-mathlib" }
"""
    members = {**MEMBERS, "libs/acme-mathlib/pyproject.toml": LIBRARY.format("")}
    known = found({"uv.lock": locked, **members})
    assert known.lines == ("six", "idna>=3") and known.code == ("libs/acme-mathlib/src",)


@pytest.mark.parametrize(
    ("lines", "installed"),
    [
        ("-e ./libs/acme-mathlib[plot]\nsix", ("six", "idna>=3", "attrs")),
        ("libs/acme-mathlib/\nsix", ("six", "idna>=3")),
        ("acme-mathlib @ file:libs/acme-mathlib ; python_version > '3'\nsix", ("six", "idna>=3")),
        ("-e ./libs/acme-mathlib\nsix==1 --hash=sha256:1a", ("six==1 --hash=sha256:1a",)),  # uv export
    ],
)
def test_a_project_of_the_folder_in_requirements_txt_is_code(lines: str, installed: tuple[str, ...]) -> None:
    members = {**MEMBERS, "libs/acme-mathlib/pyproject.toml": LIBRARY.format("")}
    known = found({"requirements.txt": lines, **members})
    assert (known.lines, known.code) == (installed, ("libs/acme-mathlib/src",))


def test_the_folder_itself_in_requirements_txt_brings_its_packages() -> None:
    assert found({"requirements.txt": "-e .\n", "setup.py": SETUP.format('["six"]')}) == FolderPackages(("six",))


SETUP = "from setuptools import setup\nneeds = ['idna']\nsetup(name='x', install_requires={})\n"


@pytest.mark.parametrize(
    ("files", "installed"),
    [
        ({"setup.py": SETUP.format('["six>=1", "idna"]')}, ("six>=1", "idna")),
        ({"setup.py": SETUP.format("needs")}, ("idna",)),
        ({"setup.py": SETUP.format("read('x')")}, ()),
        (
            {"setup.cfg": "[options]\ninstall_requires =\n  six>=1\n  # no\n  idna; python_version < '4'\n"},
            ("six>=1", "idna; python_version < '4'"),
        ),
        ({"setup.py": "setup()", "setup.cfg": "[options]\ninstall_requires = six\n"}, ("six",)),
        ({"setup.py": SETUP.format('["six"]'), "pyproject.toml": "[build-system]\nrequires = []\n"}, ("six",)),
        ({"setup.py": "print 1"}, ()),
    ],
)
def test_what_a_setup_file_lists_is_installed(files: dict[str, str], installed: tuple[str, ...]) -> None:
    known = found(files)
    assert known.lines == installed and (not installed or known.file in files)


HEADER = """#!/usr/bin/env python
# /// script
# requires-python = ">=3.9"
# dependencies = ["six==1.16.0", "my-lib"]
# [tool.uv.sources]
# my-lib = { git = "https://h/o/r", rev = "1a2b" }
# ///
import six
"""


def test_the_header_of_a_script_is_installed_in_place_of_the_folder_s_files() -> None:
    files = {"jobs/train.py": HEADER, "requirements.txt": "idna\n", "train.py": "import six\n"}
    known = FolderPackages(("six==1.16.0", "my-lib @ git+https://h/o/r@1a2b"), "jobs/train.py", python=">=3.9")
    assert found(files, "jobs/train.py") == known
    assert found(files, "train.py").lines == found(files).lines == ("idna",)
    locked = found({**files, "jobs/train.py.lock": LOCK}, "jobs/train.py").lines
    assert locked[-3:] == HELD
    with pytest.raises(ConfigError, match=r"can't read lora/a\.py"):
        found({"a.py": HEADER.replace('"my-lib"', "")}, "a.py") and found({"a.py": HEADER.replace("]", "", 1)}, "a.py")


POETRY = """
[tool.poetry]
name = "trainer"
[tool.poetry.dependencies]
python = "^3.9"
{}
"""


@pytest.mark.parametrize(
    ("given", "line"),
    [
        ('six = "^1.16"', "six>=1.16,<2"),
        ('six = "^0.2.3"', "six>=0.2.3,<0.3"),
        ('six = "^0.0.3"', "six>=0.0.3,<0.0.4"),
        ('six = "^0"', "six>=0,<1"),
        ('six = "~1.2.3"', "six>=1.2.3,<1.3"),
        ('six = "~1"', "six>=1,<2"),
        ('six = "~=1.4"', "six~=1.4"),
        ('six = "*"', "six"),
        ('six = "1.2.*"', "six==1.2.*"),
        ('six = "1.2.3"', "six==1.2.3"),
        ('six = ">=1, <3"', "six>=1,<3"),
        ('six = { version = "^1.0", extras = ["x"] }', "six[x]>=1.0,<2"),
        (
            'six = { version = "*", python = "<3.11", markers = "os_name != \'nt\'" }',
            "six ; ((os_name != 'nt') and python_version < '3.11')",
        ),
        ('six = { git = "https://h/o/r", rev = "1a" }', "six @ git+https://h/o/r@1a"),
        ('six = { version = "1", optional = true }', ""),
    ],
)
def test_poetry_s_own_table_is_installed(given: str, line: str) -> None:
    known = found({"pyproject.toml": POETRY.format(given)})
    assert known.lines == ((line,) if line else ()) and known.python == ">=3.9,<4"


def test_poetry_s_lock_holds_the_versions_and_its_paths_are_code() -> None:
    table = 'six = "^1.0"\nacme-mathlib = { path = "libs/acme-mathlib", develop = true }\n'
    source = '[[tool.poetry.source]]\nname = "a"\nurl = "https://a/simple"\npriority = "supplemental"\n'
    lock = '[[package]]\nname = "six"\nversion = "1.17.0"\n[[package]]\nname = "acme-mathlib"\nversion = "1"\n'
    lock += '[package.source]\ntype = "directory"\nurl = "libs/acme-mathlib"\n'
    members = {**MEMBERS, "libs/acme-mathlib/pyproject.toml": LIBRARY.format("")}
    known = found({"pyproject.toml": POETRY.format(table) + source, "poetry.lock": lock, **members})
    assert known.lines == ("--extra-index-url https://a/simple", "six>=1.0,<2", "idna>=3", "--constraint six==1.17.0")
    assert known.code == ("libs/acme-mathlib/src",) and known.is_whole
    with pytest.raises(ConfigError, match="has alternatives") as error:
        found({"pyproject.toml": POETRY.format('six = "^1.0 || ^2.0"')})
    assert "can't read lora/pyproject.toml" in str(error.value)
