"""`make test`, `make test-all` and their parts: which tests each of them plays, and how long it may take."""

import re
import subprocess
from pathlib import Path

import pytest

from tests.run import (
    SLIPWAY,
    VERTEX_LOCAL,
    Suite,
    UsageError,
    commands,
    files_of,
    pytest_arguments,
    report,
    share,
    suites,
    tier_of,
)

FILES = {project: files_of(project) for project in (SLIPWAY, VERTEX_LOCAL)}


@pytest.mark.parametrize(
    ("only", "names"),
    [
        ("", ["slipway", "vertex-local"]),
        ("slipway", ["slipway"]),
        ("vertex-local", ["vertex-local"]),
        ("vertex-local/tests/storage", ["vertex-local"]),
        ("google/quota", ["slipway"]),
        ("tests/slipway/google/quota", ["slipway"]),
        ("quota_requests", ["slipway"]),
    ],
)
def test_a_part_of_the_tests_is_named_by_a_folder_or_a_word(only: str, names: list[str]) -> None:
    chosen = suites(only, "", FILES)
    assert [suite.project.name for suite in chosen] == names
    if "quota" in only:
        assert chosen[0].files and all(only in name for name in chosen[0].files)


def test_a_word_that_no_test_has_is_an_error() -> None:
    with pytest.raises(UsageError, match="no test has 'qouta' in its path"):
        suites("qouta", "", FILES)


def test_a_user_who_names_files_gets_their_journeys_as_well() -> None:
    assert tier_of("smoke", "quota") == tier_of("all", "") != tier_of("smoke", "slipway")


def test_the_shards_have_each_file_once() -> None:
    shards = [suites("", f"{number}/4", FILES) for number in range(1, 5)]
    for index, project in enumerate(FILES):
        played = [name for shard in shards for name in shard[index].files]
        assert sorted(played) == FILES[project]
        sizes = {len(shard[index].files) for shard in shards}
        assert max(sizes) - min(sizes) <= 1


@pytest.mark.parametrize("shard", ["0/4", "5/4", "1", "a/b", "1/", "²/4"])
def test_a_shard_that_does_not_exist_is_an_error(shard: str) -> None:
    with pytest.raises(UsageError, match="write SHARD=1/4"):
        share(["tests/test_a.py"], shard)


def test_a_shard_without_files_runs_nothing() -> None:
    (alone,) = suites("tests/ci/test_tiers.py", "1/2", FILES)
    assert alone.files == ("tests/ci/test_tiers.py",)
    with pytest.raises(UsageError, match="SHARD=2/2 has no tests"):
        suites("tests/ci/test_tiers.py", "2/2", FILES)
    both = {project: names[:count] for (project, names), count in zip(FILES.items(), (2, 1), strict=True)}
    assert [suite.project for suite in suites("", "2/2", both)] == [SLIPWAY]


def test_the_user_s_arguments_come_after_the_tier_s() -> None:
    first, second = commands([Suite(SLIPWAY), Suite(VERTEX_LOCAL)], tier_of("smoke", ""), 4, ["-m", "long"])
    assert first[-3:] == ["-m", "long", "tests"] and first[first.index("-n") + 1] == "4"
    assert second[second.index("-n") + 1] == "1", "the smaller project runs beside the other one"


@pytest.mark.parametrize(("most", "code"), [(None, 0), (3600.0, 0), (60.0, 1)])
def test_a_run_beyond_its_limit_fails_and_says_what_to_do(
    most: float | None, code: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.run.time.monotonic", lambda: 500.0)
    assert report(60.0, most) == code
    said = capsys.readouterr().out
    assert re.search(r"time +7 min 20 s, \d+ min \d+ s of CPU time", said)
    assert ("--durations=40" in said) is bool(code)


def test_make_hands_its_variables_on() -> None:
    given = ["ONLY=vertex-local/tests/storage", "SHARD=2/4", "WORKERS=3", "AT_MOST=360"]
    root = Path(__file__).parents[2]
    planned = subprocess.run(["make", "--dry-run", "test", *given], cwd=root, capture_output=True, text=True).stdout
    wanted = '-m tests.run smoke --only "vertex-local/tests/storage" --shard "2/4" --workers 3 --at-most 360'
    assert wanted in " ".join(planned.replace("\\\n", " ").split())


def test_arguments_of_pytest_that_no_shell_could_split_are_an_error() -> None:
    assert pytest_arguments("-k 'one or two' -x") == ["-k", "one or two", "-x"]
    with pytest.raises(UsageError, match="can't be split"):
        pytest_arguments("-k 'one")
