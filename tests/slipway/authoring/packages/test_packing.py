"""A tree as the package of a template: the module that it runs must be in it. # N8 # N11"""

import io
import tarfile
from dataclasses import replace
from typing import Any

import pytest

from slipway.authoring.packages.packing import modules, pack
from slipway.authoring.packages.source_package import short_hash
from slipway.authoring.packages.working_tree import WorkingTree
from slipway.base.errors import ConfigError, PolicyError
from slipway.model.catalog.model import Catalog
from slipway.model.catalog.placeholders import PACKAGE, placeholder
from slipway.model.catalog.template import Offer, Template
from slipway.model.labels import IMAGE_START, Revision
from slipway.model.prices import UNKNOWN
from slipway.model.rules.code import SCRIPT

CATALOG = Catalog("local", "p", "us-central1", "", False, "work", "t", {}, (), {})
FILES = {"digits/__init__.py": b"", "digits/task.py": b"print(1)\n", "README.md": b"hello"}


def template(*, allowed: bool = True, uri: str = placeholder(PACKAGE), module: str = "digits.task") -> Template:
    args = ["--claim", "gs://work/claims/${slipway.request}", "--module", module, "--", "--trees=5"]
    package = {"packageUris": [uri], "pythonModule": "slipway_launcher", "args": args}
    request: dict[str, Any] = {"jobSpec": {"workerPoolSpecs": [{"pythonPackageSpec": package}, {}]}}
    offer = Offer("pool", True, "", "cpu", (), UNKNOWN, request)
    return Template("digits", "", "custom-job", (), (), (offer,), package="gs://catalog/p.tar.gz", code_flag=allowed)


def tree() -> WorkingTree:
    return WorkingTree(FILES, Revision("3f9c2e1" * 6, True))


def members(content: bytes) -> set[str]:
    with tarfile.open(fileobj=io.BytesIO(content), mode="r:gz") as archive:
        return {name.partition("/")[2] for name in archive.getnames()}


def test_a_folder_that_has_the_import_package_is_packed_with_it_and_labels_tell_the_code() -> None:  # N8
    code = pack(CATALOG, template(), tree(), "src")
    assert members(code.package.content) == {
        "setup.py",
        "MANIFEST.in",
        "PKG-INFO",
        "slipway_attempts.py",
        "slipway_beside.py",
        "slipway_command.py",
        "slipway_exchange.py",
        "slipway_files.py",
        "slipway_growing.py",
        "slipway_http.py",
        "slipway_hub.py",
        "slipway_idle.py",
        "slipway_index.py",
        "slipway_inputs.py",
        "slipway_launcher.py",
        "slipway_notify.py",
        "slipway_output.py",
        "slipway_pass.py",
        "slipway_placed.py",
        "slipway_race.py",
        "slipway_results.py",
        "slipway_round.py",
        "slipway_session.py",
        "slipway_start.py",
        "slipway_storage.py",
        "slipway_warm.py",
        "slipway_yield.py",
        "digits/__init__.py",
        "digits/task.py",
    }
    assert str(code.location) == f"gs://work/code/{code.package.sha256}/{code.package.name}"
    assert code.labels == {
        "slipway-code": code.package.sha256[:40],
        "slipway-code-commit": ("3f9c2e1" * 6)[:40],
        "slipway-dirty": "true",
        "slipway-code-programs": code.programs[:40],
    }


@pytest.mark.parametrize(
    ("name", "alike"),
    [
        *((f"digits/{name}", True) for name in ("notes.txt", "README.md", "runs.csv", "look.ipynb", "Curve.PNG")),
        *((f"digits/{name}", False) for name in ("more.py", "requirements.txt", "conf.yaml", "requirements-gpu.txt")),
    ],
)
def test_programs_are_told_apart_from_notes(name: str, alike: bool) -> None:  # N7 # N25
    before = pack(CATALOG, template(), tree(), "src")
    text = b"x = 1\n" if name.endswith(".py") else b"six==1.17.0\n"
    after = pack(CATALOG, template(), WorkingTree({**FILES, name: text}, Revision("", True)), "src")
    assert after.digest != before.digest and (after.programs == before.programs) is alike


def test_what_a_template_shares_is_packed_from_the_folder_that_has_both() -> None:  # N11
    shares = replace(template(), shared=("common",))
    files = {**FILES, "common/__init__.py": b"", "common/requirements.txt": b"six==1.17.0\n", "other/x.py": b""}
    package = pack(CATALOG, shares, WorkingTree(files, Revision("", True)), "jobs").package
    assert {"digits/task.py", "common/__init__.py"} < members(package.content)
    assert package.requirements == ("six==1.17.0",)
    with pytest.raises(ConfigError, match="has no package common, which digits shares with other templates") as error:
        pack(CATALOG, shares, tree(), "src")
    assert error.value.fix == "name the folder that has both"


def test_a_folder_that_is_the_import_package_is_packed_whole() -> None:
    own = WorkingTree({"__init__.py": b"", "task.py": b"", "words.txt": b"x"}, Revision("", True))
    names = members(pack(CATALOG, template(), own, "digits").package.content)
    assert {"digits/__init__.py", "digits/task.py", "digits/words.txt"} <= names


@pytest.mark.parametrize(
    "files",
    [{"task.py": b"1"}, {"digits/task.py": b"1"}, {"task/__main__.py": b"1"}, {"digits/task/__main__.py": b"1"}],
)
def test_a_folder_without_init_files_is_a_package_whatever_it_is_called(files: dict[str, bytes]) -> None:  # N11
    """An engineer's folder, with a train.py alone: the same goes to a script."""
    names = members(pack(CATALOG, template(), WorkingTree(files, Revision("", True)), "mine").package.content)
    own = {name for name in names if name.startswith("digits/")}
    inner = {f"digits/{name.removeprefix('digits/')}" for name in files}
    assert own == {"digits/__init__.py", *inner, *(f"{name[:-11]}__init__.py" for name in inner if "__main__" in name)}


def test_for_a_script_any_folder_is_packed_as_it_is() -> None:
    """Without an import package, and with what no job of another template would take."""
    files = {"train.py": b"", "conf/lr.yaml": b"", "setup.py": b"", "requirements.txt": b"six==1.17.0\n"}
    code = pack(CATALOG, template(module=SCRIPT), WorkingTree(files, Revision("", True)), "mine")
    assert {"slipway_launcher.py", f"{SCRIPT}_folder/folder.tar"} <= members(code.package.content)
    assert (code.count, code.package.requirements) == (4, ("six==1.17.0",))
    other = pack(
        CATALOG, template(module=SCRIPT), WorkingTree({**files, "conf/lr.yaml": b"1"}, Revision("", True)), "mine"
    )
    assert other.digest != code.digest and other.location != code.location


def test_a_script_s_folder_has_files_and_may_have_those_of_another_python() -> None:  # N11
    with pytest.raises(ConfigError, match="mine has no files"):
        pack(CATALOG, template(module=SCRIPT), WorkingTree({}, Revision("", True)), "mine")
    old = WorkingTree({"train.py": b"", "legacy/tool.py": b"print 'two'"}, Revision("", True))
    assert pack(CATALOG, template(module=SCRIPT), old, "mine").count == 2


def test_what_the_disk_has_as_executable_is_executable_in_the_job() -> None:  # N11
    tree = WorkingTree({"tool": b"\x7fELF", "run": b"#!/bin/sh", "data": b""}, Revision("", True), frozenset({"tool"}))
    content = pack(CATALOG, template(module=SCRIPT), tree, "mine").package.content
    with tarfile.open(fileobj=io.BytesIO(content)) as package:
        (folder,) = (member for member in package if member.name.endswith("folder.tar"))
        packed = package.extractfile(folder)
        with tarfile.open(fileobj=packed) as files:
            assert {member.name: oct(member.mode) for member in files} == {
                "tool": "0o755",
                "run": "0o755",
                "data": "0o644",
            }


def test_other_packages_and_modules_beside_it_come_along_and_tests_do_not() -> None:
    files = {**FILES, "helpers.py": b"", "setup.py": b"raise", "shared/__init__.py": b"", "shared/x/data.json": b"{}"}
    names = members(
        pack(CATALOG, template(), WorkingTree({**files, "docs/a.py": b""}, Revision("", False)), "src").package.content
    )
    assert {"helpers.py", "shared/__init__.py", "shared/x/data.json"} <= names
    assert "docs/a.py" not in names and "README.md" not in names


def test_a_file_that_requirements_name_is_one_of_the_folder_s() -> None:
    files = {"requirements.txt": b"-r base.txt\n", "base.txt": b"six==1.17.0\n"}
    both = WorkingTree({**FILES, **files}, Revision("", dirty=True))
    assert pack(CATALOG, template(), both, "src").package.requirements == ("six==1.17.0",)


@pytest.mark.parametrize("where", ["requirements.txt", "digits/requirements.txt"])
def test_requirements_are_installed_with_it(where: str) -> None:
    files = {**FILES, where: b"six==1.17.0  # old\n"}
    content = pack(CATALOG, template(), WorkingTree(files, Revision("", False)), "src").package.content
    with tarfile.open(fileobj=io.BytesIO(content), mode="r:gz") as archive:
        setup = archive.extractfile("digits-1.0/setup.py")
        assert setup is not None and b"install_requires=['six==1.17.0']" in setup.read()
    with pytest.raises(ConfigError, match=r"requirements\.txt:1: other\.txt is not in the folder"):
        pack(CATALOG, template(), WorkingTree({**FILES, where: b"-r other.txt"}, Revision("", False)), "src")


def test_a_tree_without_the_module_is_refused_with_the_folder_that_has_it() -> None:
    deeper = WorkingTree({f"jobs/{name}": content for name, content in FILES.items()}, Revision("", False))
    with pytest.raises(ConfigError) as error:
        pack(CATALOG, template(), deeper, "repository")
    assert "no module digits.task" in error.value.what and "code='jobs'" in error.value.fix
    with pytest.raises(ConfigError, match=r"has no module digits\.other"):
        pack(CATALOG, template(module="digits.other"), tree(), "src")


WHY = "code_flag=True is not in templates/digits.py"


@pytest.mark.parametrize(
    ("made", "why"),
    [
        (replace(template(allowed=False), code_why=WHY), WHY),
        (template(uri="gs://catalog/p.tar.gz"), "its jobs start no package whose place a folder could take"),
    ],
)
def test_where_it_is_not_allowed_nothing_is_packed_and_what_is_to_be_changed_is_named(made: Template, why: str) -> None:
    with pytest.raises(PolicyError, match="runs the code that was reviewed with it") as error:
        modules(made)
    assert error.value.why == why and error.value.exit_code == 5


def test_what_is_no_python_is_refused_before_it_costs_a_start() -> None:  # N11
    """All of it at once, and none of it is run. What can't be imported is anybody's business."""
    wrong = {
        "digits/task.py": b"import os\nprint('a'\n",
        "digits/deep/model.py": b"return 1\n",
        "digits/nulls.py": b"a\0b",
        "digits/skeletons/{{name}}.py": b"class {{name}}:\n",
        "digits/data-1/old.py": b"print 1\n",
        "digits/odd.py": b"'\\d'\nraise SystemExit\n",
    }
    with pytest.raises(ConfigError, match="src has modules that Python") as refused:
        pack(CATALOG, template(), WorkingTree({**FILES, **wrong}, Revision("", True)), "src")
    told = refused.value.why.splitlines()
    assert told[0] == "digits/task.py:2: '(' was never closed"
    assert [entry.partition(":")[0] for entry in told] == ["digits/task.py", "digits/deep/model.py", "digits/nulls.py"]


def of_image(*, allowed: bool = True) -> Template:
    args = ["--claim", "gs://work/claims/${slipway.request}", f"--code={placeholder(PACKAGE)}", "--exec=run", "--"]
    command = [*IMAGE_START, "/gcs/catalog/packages/own-0123456789ab.pyz"]
    container = {"imageUri": "a@sha256:1", "command": command, "args": args}
    request: dict[str, Any] = {"jobSpec": {"workerPoolSpecs": [{"containerSpec": container}]}}
    offer = Offer("pool", True, "", "cpu", (), UNKNOWN, request)
    return Template("own", "", "custom-job", (), (), (offer,), image="a@sha256:1", code_flag=allowed)


def test_an_image_takes_any_folder_as_it_is_without_a_launcher_in_it() -> None:  # N8, N27
    files = {"run.jl": b"1", "go.sh": b"#!/bin/sh\n", "requirements.txt": b"six\n"}
    code = pack(CATALOG, of_image(), WorkingTree(files, Revision("", True)), "mine")
    with tarfile.open(fileobj=io.BytesIO(code.package.content), mode="r:gz") as archive:
        assert {item.name: item.mode for item in archive} == {
            "go.sh": 0o755,
            "requirements.txt": 0o644,
            "run.jl": 0o644,
        }
    assert not code.package.requirements and code.package.name == f"own-{short_hash(code.package.sha256)}.tar.gz"
    with pytest.raises(PolicyError, match="runs the code that was reviewed"):
        pack(CATALOG, of_image(allowed=False), tree(), "src")
