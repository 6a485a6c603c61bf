"""Code that excludes the Python of its machine's image is reported before anything is sent."""

import pytest

from slipway.authoring.packages.python_versions import excluded_python, excludes

PROJECT = b'[project]\nname = "x"\nrequires-python = ">=3.13"\n'
FIX = 'write requires-python = ">=3.10" if the code runs on it, or use an image of your own'


@pytest.mark.parametrize(
    "versions", [">=3.13", ">3.10,>=3.11", "<3.10", "==3.12.*", "~=3.11", "~=3.9.1", "<4,>=3.11.2"]
)
def test_versions_without_the_image_s_are_excluded(versions: str) -> None:
    assert excludes(versions, "3.10")


@pytest.mark.parametrize(
    "versions", ["", ">=3.10", ">=3.10.9", ">3", "<4", "<=3.10", "<3.10.5", "~=3.9", "!=3.10.1", "x"]
)
def test_versions_that_may_have_the_image_s_are_not(versions: str) -> None:
    assert not excludes(versions, "3.10")


def test_the_line_names_the_setting_and_the_image() -> None:
    said = [*excluded_python({"pyproject.toml": PROJECT}, "train.py", ">=3.13", "sklearn-cpu.1-6", "3.10")]
    image = "image sklearn-cpu.1-6 has Python 3.10, where pip rejects the code"
    assert said == [f"! pyproject.toml:3 requires Python >=3.13, and {image}: {FIX}"]
    header = b'# /// script\n# requires-python = ">=3.11"\n# ///\n'
    (line,) = excluded_python({"train.py": header}, "train.py", ">=3.11", "sklearn-cpu.1-6", "3.10")
    assert line.startswith("! train.py:2 requires Python >=3.11, and")
    assert not [*excluded_python({}, "", ">=3.13", "of your own", "")]
