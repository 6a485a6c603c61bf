"""An installed engine counts when it is new enough and can run Python programs."""

from pathlib import Path

from local.engine.find import Search, installed, version_of
from local.engine.version import PINNED, Version

from .conftest import PULUMI, Machine


def search(machine: Machine) -> Search:
    return installed(machine.environ, PINNED, besides=machine.cache)


def test_a_new_enough_pulumi_with_its_language_host_is_taken(machine: Machine) -> None:
    machine.install_pulumi("3.272.1")
    found = search(machine).found
    assert found is not None
    assert (found.bin, found.version) == (machine.bin, Version(3, 272, 1))


def test_an_older_one_is_refused_by_both_versions(machine: Machine) -> None:
    machine.install_pulumi("3.100.0")
    assert search(machine) == Search(None, (f"{machine.bin / 'pulumi'} is 3.100.0, older than {PINNED}",))


def test_one_without_language_host_can_not_run_python_and_is_refused(machine: Machine) -> None:
    machine.install_pulumi("3.272.1", host=False)
    (refused,) = search(machine).refused
    assert "no pulumi-language-python" in refused


def test_the_host_may_lie_where_a_link_leads(machine: Machine, tmp_path: Path) -> None:
    cellar = tmp_path / "cellar"
    real = machine.add("pulumi", PULUMI.format(version="3.272.1"), cellar)
    machine.add("pulumi-language-python", "#!/bin/sh\n", cellar)
    (machine.bin / "pulumi").symlink_to(real)
    found = search(machine).found
    assert found is not None
    assert found.bin == machine.bin


def test_the_host_may_lie_elsewhere_on_the_path(machine: Machine, tmp_path: Path) -> None:
    machine.install_pulumi("3.272.1", host=False)
    machine.add("pulumi-language-python", "#!/bin/sh\n", tmp_path / "other")
    machine.environ["PATH"] += f":{tmp_path / 'other'}"
    assert search(machine).found is not None


def test_a_later_one_on_the_path_is_taken_when_the_first_is_too_old(machine: Machine, tmp_path: Path) -> None:
    machine.install_pulumi("3.1.0")
    machine.add("pulumi", PULUMI.format(version="3.260.0"), tmp_path / "later")
    machine.add("pulumi-language-python", "#!/bin/sh\n", tmp_path / "later")
    machine.environ["PATH"] += f":{tmp_path / 'later'}"
    result = search(machine)
    assert result.found is not None
    assert result.found.bin == tmp_path / "later"
    assert len(result.refused) == 1


def test_what_lies_in_our_own_cache_is_not_installed(machine: Machine) -> None:
    folder = machine.cache / "engine" / "3.259.0" / "built"
    machine.add("pulumi", PULUMI.format(version="3.259.0"), folder)
    machine.add("pulumi-language-python", "#!/bin/sh\n", folder)
    machine.environ["PATH"] = str(folder)
    assert search(machine) == Search(None, ())


def test_a_pulumi_that_fails_or_babbles_is_refused_in_words(machine: Machine) -> None:
    machine.add("pulumi", "#!/bin/sh\necho v3.272.1; exit 3\n")
    assert version_of(machine.bin / "pulumi", machine.environ) is None
    assert search(machine).refused == (f"{machine.bin / 'pulumi'} does not tell its version",)
    machine.add("pulumi", "not a program")
    assert version_of(machine.bin / "pulumi", machine.environ) is None
