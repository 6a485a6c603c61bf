"""The files of a change, read from two checkouts of a repository. # N5 N14"""

from pathlib import Path

import pytest

from slipway.base.errors import ConfigError
from slipway.reviewing.change.files import Files, Sides, files_of

FOLDER = "ml/training"


@pytest.fixture
def base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The project's folder in the base branch's checkout, where a review runs; the change's is beside it."""
    for side, version in (("base", "0.1.0"), ("head", "0.2.0")):
        folder = tmp_path / side / FOLDER
        (folder / "jobs/a").mkdir(parents=True)
        (folder / "requirements.txt").write_text(f"slipway-vertex=={version}\n")
        (folder / "requirements-dev.txt").write_text(f"pytest==9.0  # {version}\n")
        (folder / "jobs/a/task.py").write_text(f"x = 1  # {version}\n")
        (folder / "jobs/a/other.py").write_text(f"x = '{version}'\n")
    monkeypatch.chdir(tmp_path / "base" / FOLDER)
    return tmp_path


def read(base: Path, listed: str, side: str = "head") -> Files:
    (base / "files").write_text(listed)
    return files_of(str(base / "files"), str(base / side / FOLDER), FOLDER)


def test_files_are_compared_with_another_checkout_alone(base: Path) -> None:
    """A file compared with itself would look as if nothing had changed."""
    (base / "head" / FOLDER / "requirements.txt").unlink()
    listed = f"M\t{FOLDER}/jobs/a/other.py\nD\t{FOLDER}/requirements.txt\nA\t{FOLDER}/new.py\n"
    files = read(base, listed)
    assert files.texts["jobs/a/other.py"] == Sides("x = '0.1.0'\n", "x = '0.2.0'\n")
    assert files.texts["requirements.txt"] == Sides("slipway-vertex==0.1.0\n", "")
    assert files.code["jobs/a/other.py"] == "x = '0.2.0'\n" and files.code_before["jobs/a/other.py"] == "x = '0.1.0'\n"
    assert read(base, listed, "base").texts == {}


def test_a_file_of_the_repository_outside_of_the_project_is_read(base: Path) -> None:
    for side in ("base", "head"):
        (base / side / "CODEOWNERS").write_text(side)
    assert read(base, "M\tCODEOWNERS\n").texts == {"../../CODEOWNERS": Sides("base", "head")}


@pytest.mark.parametrize("content", [b"a\0b", b"x" * (4 * 2**20 + 1)])
def test_a_file_that_is_not_text_or_too_large_is_unread(base: Path, content: bytes) -> None:
    (base / "head" / FOLDER / "big.py").write_bytes(content)
    files = read(base, f"A\t{FOLDER}/big.py\n")
    assert files.unread == {"big.py"} and not files.texts


def test_a_file_of_the_base_that_can_t_be_read_is_unread(base: Path) -> None:
    (base / "base" / FOLDER / "requirements.txt").unlink()
    (base / "base" / FOLDER / "requirements.txt").mkdir()
    assert read(base, f"M\t{FOLDER}/requirements.txt\n").unread == {"requirements.txt"}


def test_a_link_out_of_the_change_s_checkout_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for folder in (tmp_path, tmp_path / "head"):
        (folder / "stacks").mkdir(parents=True)
    (tmp_path / "stacks/Pulumi.prod.yaml").write_text("config: { a:b: 1 }\n")
    (tmp_path / "elsewhere").write_text("config: { a:b: hunter2 }\n")
    (tmp_path / "head/stacks/Pulumi.prod.yaml").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "files").write_text("M\tstacks/Pulumi.prod.yaml\n")
    monkeypatch.chdir(tmp_path)
    read = files_of("files", "head")
    assert read.texts == {} and read.links == {"stacks/Pulumi.prod.yaml"}
    (tmp_path / "head/stacks/Pulumi.prod.yaml").unlink()
    (tmp_path / "head/stacks/Pulumi.prod.yaml").write_text("config: { a:b: 2 }\n")
    assert files_of("files", "head").texts["stacks/Pulumi.prod.yaml"].after == "config: { a:b: 2 }\n"


def test_links_that_lead_to_each_other_are_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("head").mkdir()
    Path("head/a").symlink_to("b")
    Path("head/b").symlink_to("a")
    Path("files").write_text("A\ta\nA\tb\n")
    assert files_of("files", "head").links == {"a", "b"}


def test_a_folder_of_jobs_that_is_a_link_is_not_searched(base: Path) -> None:
    jobs = base / "head" / FOLDER / "jobs"
    jobs.rename(base / "elsewhere")
    jobs.symlink_to("/")
    assert read(base, f"M\t{FOLDER}/jobs/a/task.py\n").code == {}


def test_a_name_that_is_too_long_is_that_of_no_file(base: Path) -> None:
    name = f"jobs/{'a' * 300}.py"
    files = read(base, f"M\t{FOLDER}/{name}\n")
    assert files.touched == {name} and not files.texts.get(name, Sides()).after


def test_addresses_that_the_diff_shows_are_on_lines_that_differ(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A line that stays, or only moves, may be in no diff; of a link its target is in none."""
    stays, goes, comes = (f"- user:{name}@acme.example\n" for name in ("ada", "bob", "eve"))
    for folder, lines in (("stacks", (stays, goes)), ("head/stacks", (comes, stays))):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "Pulumi.prod.yaml").write_text("".join(lines))
    for name in ("link.yaml", "head/link.yaml"):
        (tmp_path / name).write_text("")
    (tmp_path / "head/link.yaml").unlink()
    (tmp_path / "head/team.yaml").write_text("user:zoe@acme.example\n")
    (tmp_path / "head/link.yaml").symlink_to("team.yaml")
    (tmp_path / "files").write_text("M\tstacks/Pulumi.prod.yaml\nM\tlink.yaml\n")
    monkeypatch.chdir(tmp_path)
    assert files_of("files", "head").addresses == {"bob@acme.example", "eve@acme.example"}
    assert files_of("files", None).addresses == files_of("files", ".").addresses == frozenset()


@pytest.mark.parametrize("listed", ["M\t{}\n", "M\0{}\0"])
def test_a_name_with_unicode_s_own_line_end_is_one_name(tmp_path: Path, listed: str) -> None:
    """Else its halves are those of a page and of a job's code, which are no program."""
    file, name = tmp_path / "files", "x.md\u2028jobs/y.py"
    file.write_text(listed.format(name), encoding="utf-8")
    assert files_of(str(file), None).touched == {name}


@pytest.mark.parametrize(
    "listed", ["C100\ta.py\tjobs/b.py\nR90\tc.py\td.py\n", "C100\0a.py\0jobs/b.py\0R90\0c.py\0d.py\0"]
)
def test_the_source_of_a_copy_stays_as_it_is(tmp_path: Path, listed: str) -> None:
    """Git lists copies where `diff.renames` is `copies`."""
    (tmp_path / "files").write_text(listed)
    files = files_of(str(tmp_path / "files"), None)
    assert files.touched == {"jobs/b.py", "c.py", "d.py"} and files.removed == {"c.py"}


@pytest.mark.parametrize(
    "listed",
    [
        "M\0deploy.py",
        "M\0README.md\0M\0dep",
        "M\0README.md\0M\0",
        "M\0README.md\0M",
        "R100\0deploy.py\0",
        "deploy.py\0README.md\0",
        "1\t1\tdeploy.py\0",
        "1\t1\tdeploy.py\n",
        "R100\tdeploy.py\n",
        "\0\0\0",
    ],
)
def test_a_list_that_is_cut_or_of_other_flags_is_refused(tmp_path: Path, listed: str) -> None:
    """Else a file that deploys could be lacking, and nobody would be asked."""
    (tmp_path / "files").write_text(listed)
    with pytest.raises(ConfigError, match="not a whole list of files") as refused:
        files_of(str(tmp_path / "files"), None)
    assert "git diff --name-status -z" in refused.value.fix
