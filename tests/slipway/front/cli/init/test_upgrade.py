"""`slipway init --upgrade` renews a repository and keeps its team's edits. # D8"""

import shutil
from pathlib import Path

import pytest

from .commands import FLAGS, GITHUB, killed, run, tree, well
from .releases import Release


@pytest.fixture
def made(folder: Path, installed: Release) -> Path:
    """The repository of a team, by the release before."""
    del installed
    well(folder, "init", "training", *FLAGS)
    return folder / "training"


UPGRADE = ("init", "training", "--upgrade", "--yes")


def test_an_upgrade_merges_the_release_with_the_edits_and_shows_what_it_does(
    folder: Path, made: Path, newer: Release, monkeypatch: pytest.MonkeyPatch
) -> None:
    makefile = made / "Makefile"
    makefile.write_text(f"{makefile.read_text()}\nours: setup\n\techo ours\n")
    newer.run_it(monkeypatch)
    done = well(folder, *UPGRADE)
    assert "discover -v tests" in makefile.read_text() and "echo ours" in makefile.read_text()
    assert "+++ b/Makefile" in done.out and "-m unittest discover -v tests" in done.out
    assert "ours" not in done.out
    assert "-click==8.1.0" in done.out and "+click==8.2.0" in done.out and "--hash" not in done.out
    assert newer.sha256 in (made / "requirements.txt").read_text()
    again = well(folder, *UPGRADE)
    assert again.out == "" and "all is as slipway 0.2.0 has it" in again.err


def test_stacks_templates_and_jobs_are_the_teams(
    folder: Path, made: Path, newer: Release, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = {name: text for name, text in tree(folder).items() if "/stacks/" in name or "/templates/" in name}
    newer.edit("stacks/Pulumi.dev.yaml.in", "n1-standard-4", "n2-standard-4")
    newer.edit("templates/hello.py.in", "n1-standard-4", "n2-standard-4")
    newer.run_it(monkeypatch)
    well(folder, *UPGRADE)
    assert mine.items() <= tree(folder).items()


def test_a_deleted_file_stays_deleted_and_a_new_one_comes(
    folder: Path, made: Path, newer: Release, monkeypatch: pytest.MonkeyPatch
) -> None:
    (made / "README.md").unlink()
    (newer.starter / "docs.md.in").write_text("new of @NAME@\n")
    (newer.starter / "tests" / "test_stacks.py.in").unlink()
    newer.run_it(monkeypatch)
    for _ in range(2):
        done = well(folder, *UPGRADE)
        assert "deleted it: training/README.md\n" in done.err
        assert not (made / "README.md").exists() and not (made / "tests" / "test_stacks.py").exists()
        assert (made / "docs.md").read_text() == "new of training\n"


def test_links_and_modes_stay(folder: Path, made: Path, newer: Release, monkeypatch: pytest.MonkeyPatch) -> None:
    (made / "common").mkdir()
    makefile = (made / "Makefile").rename(made / "common" / "Makefile")
    makefile.chmod(0o755)
    (made / "Makefile").symlink_to("common/Makefile")
    outside = (made / "README.md").rename(folder / "README.md")
    (made / "README.md").symlink_to(outside)
    (made / "Pulumi.yaml").unlink()
    (made / "Pulumi.yaml").symlink_to("nowhere")
    before = outside.read_text()
    newer.run_it(monkeypatch)
    done = well(folder, *UPGRADE)
    assert (made / "Makefile").is_symlink() and makefile.stat().st_mode & 0o777 == 0o755
    assert "discover -v tests" in makefile.read_text()
    assert (made / "README.md").is_symlink() and outside.read_text() == before
    told = "left as they are, as their links lead to no file here: training/Pulumi.yaml and training/README.md"
    assert told in done.err


def test_edits_at_odds_are_both_in_the_file_and_told_until_somebody_chooses(
    folder: Path, made: Path, newer: Release, monkeypatch: pytest.MonkeyPatch
) -> None:
    makefile = made / "Makefile"
    makefile.write_text(makefile.read_text().replace("discover tests", "discover --failfast tests"))
    newer.run_it(monkeypatch)
    odd = run(folder, *UPGRADE)
    assert odd.code == 1 and "training/Makefile must be mended by hand" in odd.err
    text = makefile.read_text()
    assert "<<<<<<< yours" in text and ">>>>>>> slipway 0.2.0" in text
    assert "discover --failfast tests" in text and "discover -v tests" in text
    assert "in seconds" in (made / "README.md").read_text(), "all else is done"

    before = tree(folder)
    for _ in range(2):  # By the same release, and by a newer one.
        refused = run(folder, *UPGRADE)
        assert refused.code == 2 and "Makefile has conflict markers" in refused.err and tree(folder) == before
        newer.edit("Makefile.in", "discover -v", "discover -vv")


def test_an_upgrade_killed_at_any_point_and_run_again_is_the_same(
    folder: Path, newer: Release, monkeypatch: pytest.MonkeyPatch
) -> None:
    well(folder, "init", "training", *FLAGS, *GITHUB)
    made = folder / "training"
    makefile = made / "Makefile"
    makefile.write_text(makefile.read_text() + "# ours\n")
    readme = made / "README.md"
    readme.write_text(readme.read_text().replace("seconds\n", "a second\n"))
    shutil.copytree(made, folder / "before")
    newer.run_it(monkeypatch)
    command = UPGRADE
    assert run(folder, *command).code == 1, "of the README both are kept"
    whole = tree(made)
    at = 0
    while True:
        shutil.rmtree(made)
        shutil.copytree(folder / "before", made)
        try:
            if not killed(folder, at, *command):
                break
        except AssertionError:
            break
        again, found = run(folder, *command), tree(made)
        if "README.md has conflict markers" in again.err:  # All is written but what has been.
            found[".starter.json"] = whole[".starter.json"]
            found.pop("..starter.json.abcd_123", None)
        assert found == whole, at
        at += 1
    assert at > 3


def test_what_was_edited_since_a_kill_is_not_written_over(
    folder: Path, made: Path, newer: Release, monkeypatch: pytest.MonkeyPatch
) -> None:
    newer.run_it(monkeypatch)
    assert killed(folder, 1, *UPGRADE)
    readme = made / "README.md"
    readme.write_text(f"{readme.read_text()}ours\n")
    well(folder, *UPGRADE)
    text = readme.read_text()
    assert "ours\n" in text and "in seconds" in text, "what the killed one had for it comes as well"


def test_without_git_files_that_nobody_edited_are_renewed_and_a_merge_is_refused_whole(
    folder: Path, made: Path, newer: Release, monkeypatch: pytest.MonkeyPatch
) -> None:
    makefile = made / "Makefile"
    original = makefile.read_text()
    newer.run_it(monkeypatch)
    makefile.write_text(f"# ours\n{original}")
    before = tree(folder)
    refused = run(folder, "init", "training", "--upgrade", PATH="")
    assert refused.code == 2 and "git can't be run" in refused.err and tree(folder) == before
    makefile.write_text(original)
    assert run(folder, "init", "training", "--upgrade", PATH="").code == 0
    assert "discover -v" in makefile.read_text()


def test_only_what_init_wrote_can_be_upgraded(folder: Path) -> None:
    refused = run(folder, "init", "training", "--upgrade", *FLAGS)
    assert (refused.code, tree(folder)) == (2, {}) and "did not write it" in refused.err
