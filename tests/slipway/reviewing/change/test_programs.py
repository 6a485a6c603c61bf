"""The comparison of two texts as programs: the same, or not. # N14"""

import pytest

from slipway.reviewing.change.programs import same_program

HIDDEN = "# {}\n# +AAo-import os\nprint()\n"
"""Read as UTF-7, its second line is code."""


@pytest.mark.parametrize(
    ("before", "after", "same"),
    [
        ("x = 1\n", "x = (\n    1\n)\n", True),
        ("x = 1\n", "x = 2\n", False),
        ("x = 1\n", "x =\n", False),
        ("x =\n", "x =\n", False),
        ("y = [x for x in a]\n", "y = [each for each in a]\n", True),
        ("y = [x for x in x]\n", "y = [each for each in each]\n", False),
        ("y = [(x, z) for x in a]\n", "y = [(z, z) for z in a]\n", False),
        ("y = [lambda x: x for x in a]\n", "y = [lambda x: z for z in a]\n", False),
        (HIDDEN.format("plain"), HIDDEN.format("coding: utf-7"), False),
    ],
)
def test_comments_and_form_are_no_other_code(before: str, after: str, same: bool) -> None:
    assert same_program("a.py", before, after) is same
    assert not same_program("a.txt", before, after)
