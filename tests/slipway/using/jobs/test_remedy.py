"""The fix of a failure, by what its code and its installer wrote."""

import pytest

from slipway.using.jobs.remedy import remedy

OF_PIP = "ERROR: Package 'script' requires a different Python: 3.10.12 not in '>=3.13'"
OF_UV = (
    "  x No solution found when resolving dependencies:",
    "  Because the current Python version (3.10.12) does not satisfy Python>=3.13",
    "      and script==1.0+ebaef12 depends on Python>=3.13, we can conclude that",
)


@pytest.mark.parametrize("lines", [[OF_PIP], OF_UV])
def test_code_for_another_python_is_sent_to_its_setting(lines: list[str]) -> None:
    assert remedy(lines).startswith('write requires-python = ">=3.10" in pyproject.toml in place of >=3.13 if the code')


def test_a_package_that_needs_another_python_is_not_the_folder_s_setting() -> None:
    assert remedy([OF_UV[1], "and six==2.0 depends on Python>=3.13"]) == ""
