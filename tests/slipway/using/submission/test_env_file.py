"""A file of variables, as Docker and dotenv read one. # N25"""

from pathlib import Path

import pytest

from slipway.base.errors import ConfigError
from slipway.using.submission.env_file import read_env_files

FILE = """\ufeff# mine
LR=0.1
export MODE = "a b"   # why
RAW='$HOME \\n'
PLAIN=two words # three
LINES="one\\ntwo \\"x\\" \\$5"
COLOR=#fff
URL=https://h/p#at?a=b
NOTHING= # none
EMPTY=
OF_SHELL
TOKEN=x
"""


def test_lines_are_read_as_docker_and_dotenv_do(tmp_path: Path) -> None:
    file, later = tmp_path / ".env", tmp_path / "late.env"
    file.write_text(FILE)
    later.write_text("LR=0.2\r\n\r\n")
    assert read_env_files([str(file), str(later)], {"TOKEN"}, {"OF_SHELL": "zsh", "HOME": "/h"}) == {
        "LR": "0.2",
        "MODE": "a b",
        "RAW": "$HOME \\n",
        "PLAIN": "two words",
        "LINES": 'one\ntwo "x" $5',
        "COLOR": "#fff",
        "URL": "https://h/p#at?a=b",
        "NOTHING": "",
        "EMPTY": "",
        "OF_SHELL": "zsh",
    }


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("LR 0.1", "line 2 is not NAME=value"),
        ("=0.1", "line 2 is not NAME=value"),
        ("KEY='hf_abcdefghijklmnopqrst", "line 2 is not NAME=value, or its quotes stay open"),
        ("DATA=${HOME}/data", "line 2: DATA names another variable"),
        ('DATA="$HOME"', "line 2: DATA names another variable"),
        ("LACKS", "line 2: 'LACKS' has no value, and is no variable of this shell"),
    ],
)
def test_a_line_that_can_t_be_read_is_told_without_its_value(tmp_path: Path, line: str, why: str) -> None:
    (tmp_path / ".env").write_text(f"A=1\n{line}\n")
    with pytest.raises(ConfigError, match="1 line wrong") as error:
        read_env_files([str(tmp_path / ".env")], (), {})
    assert error.value.why.startswith(why) and "hf_" not in error.value.why


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="can't read"):
        read_env_files([str(tmp_path / "no.env")], (), {})
