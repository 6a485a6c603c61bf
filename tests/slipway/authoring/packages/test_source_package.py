"""Same sources, same bytes; what is built installs and runs what the template names. # D3 # N8"""

import ast
import gzip
import io
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from packaging.version import InvalidVersion, Version

from slipway.authoring.packages.source_package import SourcePackage, build, launcher, requirements, short_hash, stored
from slipway.base.errors import ConfigError
from slipway.model.rules.code import SCRIPT
from tests.checkouts.git import git

NEWER = frozenset(
    {
        *("removeprefix", "removesuffix", "is_relative_to", "with_stem", "hardlink_to", "walk_up"),
        *("waitstatus_to_exitcode", "pidfd_open", "cache", "randbytes", "bit_count", "pairwise", "batched"),
        *("to_thread", "TaskGroup", "file_digest", "add_note", "ExceptionGroup", "ZoneInfo"),
        *("tomllib", "zoneinfo", "graphlib", "dataclass_transform", "UTC", "StrEnum", "Self"),
    }
)
"""Names of the standard library that Python 3.8 does not have."""


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    folder = tmp_path / "greeter"
    (folder / "data").mkdir(parents=True)
    (folder / "__init__.py").write_text("")
    (folder / "task.py").write_text("import sys\nprint('hello', *sys.argv[1:])\n")
    (folder / "data" / "words.txt").write_text("hello\n")
    (folder / "requirements.txt").write_text("# what it needs\nsix==1.17.0  # old\n\n")
    return folder


def members(content: bytes) -> dict[str, bytes]:
    with tarfile.open(fileobj=io.BytesIO(content), mode="r:gz") as archive:
        files = [(item.name, archive.extractfile(item)) for item in archive.getmembers()]
        return {name: file.read() for name, file in files if file}


def test_same_sources_give_the_same_bytes(sources: Path, tmp_path: Path) -> None:
    """Times, modes, owners, order of creation and left-overs of running it do not count."""
    first = build("greeter", sources)
    other = tmp_path / "elsewhere" / "greeter"
    other.mkdir(parents=True)
    for path in sorted(sources.rglob("*"), reverse=True):
        target = other / path.relative_to(sources)
        target.parent.mkdir(exist_ok=True)
        if path.is_file():
            shutil.copyfile(path, target)
            target.chmod(0o777)
            os.utime(target, (1, 1))
    (other / "__pycache__").mkdir()
    (other / "__pycache__" / "task.cpython-311.pyc").write_bytes(b"x")
    assert build("greeter", other) == first


def test_a_shared_folder_is_packed_beside_the_code_with_its_requirements(sources: Path) -> None:  # N8
    common = sources.parent / "common"
    common.mkdir()
    (common / "data.py").write_text("WORDS = 1\n")
    with pytest.raises(ConfigError, match=f"no import package in {common.parent.name}/common"):
        build("greeter", sources, shared=[common])
    (common / "__init__.py").touch()
    (common / "requirements.txt").write_text("six==1.17.0\nidna==3.10\n")
    package = build("greeter", sources, shared=[common])
    assert {"greeter-1.0/greeter/task.py", "greeter-1.0/common/data.py"} <= members(package.content).keys()
    assert package.requirements == ("six==1.17.0", "idna==3.10")
    (common / "data.py").write_text("WORDS = 2\n")
    assert build("greeter", sources, shared=[common]).name != package.name
    (common / "requirements.txt").write_text("Six==1.16.0\n")
    with pytest.raises(ConfigError, match=r"common/requirements\.txt and greeter/requirements\.txt differ about six"):
        build("greeter", sources, shared=[common])


@pytest.mark.parametrize(
    ("shared", "there", "fix"),
    [
        ("comon", "common", "did you mean {}/common?"),
        ("comon", "greeters", "add {}/comon/__init__.py, or name a folder with one"),
        ("greter", "common", "add {}/greter/__init__.py, or name a folder with one"),  # its own is packed anyway
    ],
)
def test_a_shared_folder_that_is_mistyped_is_named_with_the_one_that_is_meant(
    sources: Path, shared: str, there: str, fix: str
) -> None:  # N8
    jobs = sources.parent
    (jobs / there).mkdir()
    (jobs / there / "__init__.py").touch()
    with pytest.raises(ConfigError, match=f"no import package in {jobs.name}/{shared}") as refused:
        build("greeter", sources, shared=[jobs / shared])
    assert refused.value.why == f"{jobs.name}/{shared}/__init__.py is not there"
    assert refused.value.fix == fix.format(jobs.name)


@given(st.text("0123456789abcdef", min_size=64, max_size=64))
@example("7579a4722846" + "d" * 52)
@example("7579a4722846" * 5 + "0000")
def test_no_hash_in_a_name_reads_as_a_version(digest: str) -> None:
    """uv takes `tune-digits-7579a4722846.tar.gz` for version 7579a4722846, and refuses the other one in it."""
    short = short_hash(digest)
    assert len(short) == 12
    with pytest.raises(InvalidVersion):
        Version(short)


def test_another_byte_gives_another_name_and_version(sources: Path) -> None:
    first = build("greeter", sources)
    (sources / "task.py").write_text("print('bye')\n")
    second = build("greeter", sources)
    assert first.name != second.name
    assert first.name == f"greeter-{short_hash(first.sha256)}.tar.gz"
    assert f"version='1.0+{short_hash(first.sha256)}'" in members(first.content)["greeter-1.0/setup.py"].decode()


def installed(archive: Path, site: Path) -> Path:
    words = ("pip", "install", "--quiet", "--python", sys.executable, "--target")
    subprocess.run([sys.executable, "-m", "uv", *words, str(site), str(archive)], check=True)
    return site


def test_it_is_installed_with_its_data(sources: Path, tmp_path: Path) -> None:
    (sources / "requirements.txt").unlink()
    site = installed(build("greeter", sources).save(tmp_path / "packages"), tmp_path / "site")
    assert (site / "greeter" / "data" / "words.txt").read_text() == "hello\n"
    assert (site / "slipway_launcher.py").is_file()


def test_a_script_is_installed_with_all_files_of_its_folder(sources: Path, tmp_path: Path) -> None:
    """Whatever they are called, and though an installer would take them for something else."""
    for name in ("__init__.py", "requirements.txt"):
        (sources / name).unlink()
    odd = {
        "setup.py": "raise SystemExit",
        "data/deep/größe 1.csv": "1",
        ".env": "A=1",
        "build/x": "x",
        "run.sh": "#!/bin/sh",
    }
    for name, text in odd.items():
        (sources / name).parent.mkdir(parents=True, exist_ok=True)
        (sources / name).write_text(text)
    site = installed(build("greeter", sources, SCRIPT).save(tmp_path / "packages"), tmp_path / "site")
    assert {"slipway_results.py", "slipway_launcher.py"} <= {path.name for path in site.iterdir()}
    with tarfile.open(site / f"{SCRIPT}_folder" / "folder.tar") as packed:
        modes = {member.name: member.mode for member in packed}
    assert modes.keys() == {*odd, "task.py", "data/words.txt"}
    assert {name for name, mode in modes.items() if mode & 0o100} == {"run.sh"}


def test_saving_twice_keeps_the_file(sources: Path, tmp_path: Path) -> None:
    package = build("greeter", sources)
    path = package.save(tmp_path / "packages")
    before = path.stat().st_mtime_ns
    assert package.save(tmp_path / "packages") == path
    assert path.stat().st_mtime_ns == before
    assert [item.name for item in path.parent.iterdir()] == [package.name]


def test_a_checkout_that_can_not_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / ".slipway").write_text("in the way")
    with pytest.raises(ConfigError, match="can't write the package greeter") as error:
        SourcePackage("greeter", "0" * 64, b"").save(tmp_path / ".slipway" / "packages")
    assert str(tmp_path / ".slipway" / "packages") in error.value.why


def test_a_link_out_of_the_package_is_refused(tmp_path: Path) -> None:
    """A key beside the checkout would lie in the catalog's bucket, for all who submit."""
    folder, outside = tmp_path / "greeter", tmp_path / "key"
    folder.mkdir()
    (folder / "__init__.py").touch()
    (folder / "again.py").symlink_to("__init__.py")
    outside.write_text("k3y-of-the-person")
    assert build("greeter", folder).content
    (folder / "key").symlink_to(outside)
    with pytest.raises(ConfigError, match=r"greeter/key is a link to .*, which is not packed"):
        build("greeter", folder)


@pytest.mark.parametrize(
    ("project", "said"),
    [
        ("[project]\nrequires-python = '>=3.99'\n", "python_requires='>=3.99',\n"),
        ("[project]\nname = 'x'\n", ""),
        ("[project\n", ""),
    ],
)
def test_the_image_s_pip_holds_the_project_to_its_python(tmp_path: Path, project: str, said: str) -> None:  # N25
    """Never the laptop's: the same folder is packed on any."""
    (tmp_path / "train.py").touch()
    (tmp_path / "requirements.txt").touch()
    (tmp_path / "pyproject.toml").write_text(project)
    setup = members(build("mine", tmp_path, SCRIPT).content)["mine-1.0/setup.py"].decode()
    assert said in setup and ("python_requires" in setup) == bool(said)


def test_reviewed_code_is_read_as_a_folder_of_ones_own(sources: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # N25
    """Files that git ignores are on one laptop alone, and no review shows them; a link to a folder is the folder."""
    before, around = build("greeter", sources), sources.parent
    git(around, "init", "-q")
    (around / ".gitignore").write_text("*.csv\n")
    (sources / "mine.csv").write_text("1")
    assert build("greeter", sources) == before
    (sources / ".slipwayignore").write_text("*.bak\n")
    (sources / "old.bak").write_text("1")
    assert build("greeter", sources) == before, "and its own list of what is left out"
    (around / ".gitignore").write_text("greeter\n")
    assert "greeter-1.0/greeter/mine.csv" in members(build("greeter", sources).content), "what is named is meant"
    (sources / "texts").symlink_to("data")
    assert "greeter-1.0/greeter/texts/words.txt" in members(build("greeter", sources).content)
    monkeypatch.setenv("PATH", "")
    (sources / ".slipwayignore").unlink()
    assert build("greeter", sources).content, "without git, too"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        *((line, "is an option of pip") for line in ("-e", "--find-links", "--pre")),
        *(
            (line, "is a file or folder of this machine")
            for line in (
                "six @ file:///six.whl",
                "file:six",
                "../six",
                "libs/six",
                "six @ ./six",
                "dist/six-1.0.tar.gz",
                "./dist/six-1.0-py3-none-any.whl",
            )
        ),
    ],
)
def test_what_no_job_can_install_is_refused_with_its_line(tmp_path: Path, line: str, said: str) -> None:
    folder = tmp_path / "jobs" / "greeter"
    folder.mkdir(parents=True)
    (folder / "requirements.txt").write_text(f"six==1.17.0\n\n{line}  # ours\n")
    with pytest.raises(ConfigError) as error:
        requirements(folder)
    assert error.value.what == f"jobs/greeter/requirements.txt:3: '{line}' {said}"
    archive = line.removeprefix("./") if "dist/" in line else ""
    assert f"'pip install ./{archive} && …'" in str(error.value.fix) or not archive


INDEX = "https://us-python.pkg.dev/acme-ml/wheels/simple/"


def test_what_comes_from_an_index_is_left_to_the_launcher(sources: Path) -> None:
    """The service's own pip knows PyPI alone, which may have another package of that name."""
    (sources / "requirements.txt").write_text(f"-i {INDEX}\n--extra-index-url=https://pypi.org/simple\nsix==1.17.0\n")
    package = build("greeter", sources)
    lines = (f"--index-url {INDEX}", "--extra-index-url https://pypi.org/simple", "six==1.17.0")
    files = members(package.content)
    assert package.requirements == lines
    assert (
        files["greeter-1.0/slipway_requirements.py"].decode()
        == f"LINES = {list(lines)!r}\nSOURCE = 'requirements.txt'\n"
    )
    assert b"install_requires=[]" in files["greeter-1.0/setup.py"]


@pytest.mark.parametrize(
    "index",
    [
        "https://ada:k3y@x.example/simple/",
        "https://k3y@x.example/",
        "https://x.example/?token=k3y",
        "http://x.example/k3y",
    ],
)
def test_an_index_with_a_password_is_refused_and_not_repeated(tmp_path: Path, index: str) -> None:
    (tmp_path / "requirements.txt").write_text(f"--extra-index-url {index}\n")
    with pytest.raises(ConfigError, match=r"requirements\.txt:1: an index is https://HOST/PATH/ alone") as error:
        requirements(tmp_path)
    assert "k3y" not in str(error.value)


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ("--extra-index-url\n", "1: --extra-index-url names no index"),
        ("-i \n", "1: -i names no index"),
        (f"-i {INDEX}\n--extra-index-url {INDEX}\n-i {INDEX}\n", "3: --index-url is on line 1 already"),
    ],
)
def test_an_index_too_few_and_one_too_many_are_said(tmp_path: Path, lines: str, said: str) -> None:
    (tmp_path / "requirements.txt").write_text(lines)
    with pytest.raises(ConfigError, match=rf"requirements\.txt:{said}") as error:
        requirements(tmp_path)
    assert "--extra-index-url" in error.value.fix or "-i https://HOST/PATH/" in error.value.fix


@pytest.mark.parametrize(
    "line",
    ["six", "six @ https://x.example/six.whl", "six @ git+https://x.example/six.git", "six==1; os_name == 'a/b'"],
)
def test_what_is_fetched_is_no_file_of_this_machine(tmp_path: Path, line: str) -> None:
    (tmp_path / "requirements.txt").write_text(line)
    assert requirements(tmp_path) == (line,)


HASH = f"--hash=sha256:{'0' * 64}"


def test_what_tools_write_is_read(tmp_path: Path) -> None:
    """`uv export` and `pip-compile --generate-hashes`: pip checks hashes, the service's own is given none."""
    file = tmp_path / "requirements.txt"
    file.write_text(
        f"# by uv\nsix==1.17.0 \\\n    {HASH} \\\n    {HASH}\n    # via greeter\r\nidna==3.10 \\\n  {HASH}\n"
    )
    assert requirements(tmp_path) == (f"six==1.17.0 {HASH} {HASH}", f"idna==3.10 {HASH}")


def test_hashes_and_constraints_are_left_to_the_launcher(sources: Path) -> None:
    (sources / "requirements").mkdir()
    (sources / "requirements" / "base.txt").write_text("six==1.17.0\n-r more.txt\n")
    (sources / "requirements" / "more.txt").write_text("idna\n-r base.txt\n")
    (sources / "constraints.txt").write_text("idna<4\n# old\nother==1\n")
    (sources / "requirements.txt").write_text("-r requirements/base.txt\n--constraint=constraints.txt\nattrs\n")
    package = build("greeter", sources)
    lines = ("six==1.17.0", "idna", "--constraint idna<4", "--constraint other==1", "attrs")
    assert package.requirements == lines
    assert b"install_requires=[]" in members(package.content)["greeter-1.0/setup.py"]
    (sources / "requirements.txt").write_text(f"six==1.17.0 {HASH}\n")
    assert b"install_requires=[]" in members(build("greeter", sources).content)["greeter-1.0/setup.py"]


@pytest.mark.parametrize(
    ("text", "said", "fix"),
    [
        ("-r absent.txt", ":1: absent.txt is not in the folder", "put it there"),
        ("-r ../up.txt", ":1: ../up.txt is not in the folder", "put it there"),
        ("-r", ":1: -r names no file", "-r FILE"),
        ("six @ git+ssh://git@x.example/six.git", "is fetched by ssh", "git+https://"),
        ("git+git@x.example:a/six.git", "is fetched by ssh", "git+https://"),
        ("-e .", "'-e' is an option of pip", "uv export --no-emit-project"),
        ("-e ./libs/x", "'-e' is an option of pip", "list the requirements themselves"),
        ("certifi @ file:///croot/certifi_17/work", "is a file or folder of this machine", "pip list --format=freeze"),
        ("numpy @ file:///home/conda/feedstock_root/x", "of this machine", "pip list --format=freeze"),
        ("six @ file:///home/ada/six", "of this machine", "put that code into the job's folder"),
        (f"six==1 {HASH}\nx @ git+https://h/x@1", "has no hash, and others have one", "poetry export --without-hashes"),
        (f"idna\nsix==1 {HASH}", "'idna' has no hash", "version and hash, as uv pip compile --generate-hashes"),
    ],
)
def test_a_requirement_that_no_job_can_install_is_told_with_a_way(
    tmp_path: Path, text: str, said: str, fix: str
) -> None:
    (tmp_path / "requirements.txt").write_text(f"{text}\n")
    with pytest.raises(ConfigError) as error:
        requirements(tmp_path)
    assert said in error.value.what and fix in str(error.value.fix), str(error.value)


def test_requirements_are_read_as_windows_writes_them(tmp_path: Path) -> None:
    """Windows' shell redirects into UTF-16, with a mark, as pip reads it."""
    file = tmp_path / "requirements.txt"
    for encoding in ("utf-8-sig", "utf-16"):
        file.write_text("six==1.17.0\r\n", encoding)
        assert requirements(tmp_path) == ("six==1.17.0",)
    file.write_bytes("sïx\n".encode("latin-1"))
    with pytest.raises(ConfigError, match="is not valid UTF-8"):
        requirements(tmp_path)


@given(st.binary(max_size=200_000))
@example(b"")
@example(b"x" * 65_535)
@example(b"x" * 65_536)
@example(b"x" * 131_070)
def test_stored_gzip_is_gzip(content: bytes) -> None:
    assert gzip.decompress(stored(content)) == content


@pytest.mark.parametrize(
    ("folder", "module", "said"),
    [
        ("nowhere", SCRIPT, "no folder .*/nowhere"),
        ("greeter/data", "", "no import package in"),
        ("greeter", "greeter.tusk", "no module greeter.tusk"),
        ("greeter", "greeter", "no module greeter"),
    ],
)
def test_what_is_not_there_is_refused_before_a_job_is(sources: Path, folder: str, module: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        build("greeter", sources.parent / folder, module)


def test_an_images_launcher_is_one_file_of_the_modules_that_a_package_has(sources: Path) -> None:  # D3, N27
    made = launcher("own")
    assert made == launcher("own") and made.path == f"packages/own-{short_hash(made.sha256)}.pyz"
    with zipfile.ZipFile(io.BytesIO(made.content)) as archive:
        inside = {name: archive.read(name) for name in archive.namelist()}
    packed = members(build("greeter", sources).content)
    assert {name: packed.get(f"greeter-1.0/{name}") for name in inside} == {**inside, "__main__.py": None}


def test_its_modules_use_nothing_newer_than_python_3_8(tmp_path: Path) -> None:  # N27
    """On a Python 3.8 where the machine has one; else by what it would not know."""
    file = tmp_path / "launcher.pyz"
    file.write_bytes(launcher("own").content)
    uv = [sys.executable, "-m", "uv", "python", "find", "--no-python-downloads", "--no-project", ">=3.8,<3.9"]
    found = subprocess.run(uv, capture_output=True, text=True, check=False)
    if found.returncode == 0:
        done = subprocess.run([found.stdout.strip(), str(file), "--help"], capture_output=True, text=True, check=False)
        assert done.returncode == 0 and "--exec" in done.stdout, done.stderr
    with zipfile.ZipFile(file) as archive:
        for name in archive.namelist():
            tree = ast.parse(archive.read(name), feature_version=(3, 8))
            used = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
            assert not used & NEWER, name
            modules = [node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
            modules += [each.name for node in ast.walk(tree) if isinstance(node, ast.Import) for each in node.names]
            tops = {str(module).partition(".")[0] for module in modules} - {"slipway"}
            assert all(top in sys.stdlib_module_names - NEWER or top.startswith("slipway_") for top in tops), name


def test_a_file_of_keys_is_no_part_of_a_package(tmp_path: Path) -> None:  # N11
    folder = tmp_path / "jobs" / "digits"
    folder.mkdir(parents=True)
    (folder / "__init__.py").touch()
    (folder / "key.json").write_text('{"type": "service_account"}')
    with pytest.raises(ConfigError, match=r"template digits has a key in jobs/digits/key\.json"):
        build("digits", folder)


def test_the_folder_of_a_command_has_one_rule_reviewed_or_not(tmp_path: Path) -> None:  # N11 # N25
    """The mode that the disk has, and no word about code for another Python: as of `--code`."""
    folder = tmp_path / "jobs" / "tools"
    folder.mkdir(parents=True)
    (folder / "tool").write_bytes(b"\x7fELF")
    (folder / "tool").chmod(0o755)
    (folder / "legacy.py").write_text("print 'two'\n")
    content = build("tools", folder, SCRIPT).content
    with tarfile.open(fileobj=io.BytesIO(content)) as package:
        (inner,) = (member for member in package if member.name.endswith("folder.tar"))
        with tarfile.open(fileobj=package.extractfile(inner)) as files:
            assert {member.name: oct(member.mode) for member in files} == {"tool": "0o755", "legacy.py": "0o644"}
