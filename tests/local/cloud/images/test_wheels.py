"""What a job brings as source is built once for the machine, whoever builds, and whoever is killed (B4, N4)."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from local.cloud.images import wheels


class Uv:
    """Stands for uv: its wheels have the bytes of what they were made of. It can be killed half way."""

    def __init__(self) -> None:
        self.builds = 0
        self.killed = False

    def __call__(self, command: Sequence[str]) -> None:
        if not command:
            return
        self.builds += 1
        folder = Path(command[command.index("--out-dir") + 1])
        if self.killed:
            (folder / "half").write_text("half")
            raise KeyboardInterrupt
        (folder / "digits-1.0-py3-none-any.whl").write_bytes(Path(command[-1]).read_bytes())


class Machine:
    def __init__(self, folder: Path) -> None:
        self.folder, self.shelf, self.uv = folder, folder / "cache" / "wheels", Uv()
        self.said: list[str] = []

    def brought(self, job: str, content: str = "one", name: str = "digits.tar.gz") -> Path:
        """A package as a job has downloaded it."""
        file = self.folder / job / name
        file.parent.mkdir()
        file.write_text(content)
        return file

    def wheel(self, package: Path) -> Path:
        return wheels.built(self.shelf, package, self.uv, "uv", self.said.append)


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_the_next_job_with_the_same_package_gets_the_same_wheel(machine: Machine) -> None:
    one, two = (machine.wheel(machine.brought(job)) for job in ("a", "b"))
    assert machine.uv.builds == 1
    assert (one.parent.name, two.parent.name) == ("a", "b")
    assert one.read_text() == two.read_text() == "one"
    (said,) = machine.said
    assert "digits.tar.gz" in said


def test_an_attempt_that_begins_again_in_its_folder_gets_it_again(machine: Machine) -> None:
    package = machine.brought("a")
    assert machine.wheel(package) == machine.wheel(package)


def test_other_contents_under_the_same_name_are_another_wheel(machine: Machine) -> None:
    assert [machine.wheel(machine.brought(text, text)).read_text() for text in ("one", "two")] == ["one", "two"]
    assert machine.uv.builds == 2


def test_what_is_a_wheel_already_is_taken_as_it_is(machine: Machine) -> None:
    package = machine.brought("a", name="digits-1.0-py3-none-any.whl")
    assert machine.wheel(package) == package
    assert not machine.shelf.exists()


def test_jobs_that_come_at_once_wait_for_the_first(machine: Machine) -> None:
    packages = [machine.brought(str(number)) for number in range(8)]
    with ThreadPoolExecutor(8) as jobs:
        assert {wheel.read_text() for wheel in jobs.map(machine.wheel, packages)} == {"one"}
    assert machine.uv.builds == 1


def test_what_was_broken_off_is_begun_again(machine: Machine) -> None:
    machine.uv.killed = True
    with pytest.raises(KeyboardInterrupt):
        machine.wheel(machine.brought("a"))
    machine.uv.killed = False
    assert machine.wheel(machine.brought("b")).read_text() == "one"


def test_they_are_in_the_machine_s_cache_folder() -> None:
    assert wheels.common({"SLIPWAY_CACHE": "/big"}) == Path("/big/wheels")
