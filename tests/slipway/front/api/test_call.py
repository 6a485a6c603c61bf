"""Arguments of a call, of which none may stand for another than it was meant to be."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import slipway
from slipway.base.errors import ConfigError, SlipwayError
from slipway.base.installation import version
from slipway.front.api.call import check, command_words, overrides_of, params_as_typed, timeout_s, waits_as_typed
from slipway.front.cli.terminal.flags import as_flags
from slipway.using.sweeps.sweep_file import points_of


class Frame:
    """A table as pandas has them: compared with a text it is another table, and no table is true or false."""

    def __iter__(self) -> Iterator[str]:
        yield "trees"

    def __eq__(self, other: object) -> Any:
        return self

    def __bool__(self) -> bool:
        raise ValueError("the truth value of a frame is ambiguous")


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("then", {"spot": "10m"}, "a capacity type's name, or a list of several"),  # The time would be lost.
        ("then", {"spot", "on-demand"}, "a capacity type's name, or a list of several"),  # In either order.
        ("rate", True, "submissions a minute"),
        ("limit", True, "a number of jobs"),
        ("overwrite", "no", "True or False"),
        ("like", Frame(), "a job's name, or a Job"),
    ],
)
def test_what_reads_as_something_else_is_refused(name: str, value: Any, said: str) -> None:  # N12
    with pytest.raises(ConfigError, match=f"{name} is given a") as error:
        check(**{name: value})
    assert error.value.fix.startswith(said)


@pytest.mark.parametrize("of_sweep", [False, True])
def test_a_misspelled_argument_whose_value_no_parameter_has_is_told_by_the_one_that_was_meant(of_sweep: bool) -> None:
    with pytest.raises(ConfigError, match="lables is given a dict") as error:
        params_as_typed({"lables": {"a": "b"}}, of_sweep=of_sweep)  # type: ignore[dict-item]
    assert error.value.fix == "did you mean `labels`? A parameter is a string, a number or a bool, or a list of these"


def test_a_session_s_command_is_a_line_or_its_words_as_that_of_a_job() -> None:
    assert command_words("python t.py --lr 0.1") == ("python t.py --lr 0.1",)
    assert command_words(["python", "t.py", "--lr", 0.1, "a b"]) == ("python", "t.py", "--lr", "0.1", "a b")
    assert command_words(("t.py",)) == ("t.py",)
    for wrong, said in ((7, "command is given a int"), (["t.py", None], r"command\[1\] is None"), ([], "is empty")):
        with pytest.raises(ConfigError, match=said) as refused:
            command_words(wrong)  # type: ignore[arg-type]
        assert "a list of words" in str(refused.value.fix)
    with pytest.raises(ConfigError, match="command is empty"):
        command_words("")


def test_true_is_no_second() -> None:
    with pytest.raises(ConfigError, match="given a bool"):
        waits_as_typed({"pool": True})
    with pytest.raises(ConfigError, match="timeout is given a bool"):
        timeout_s(True)
    assert params_as_typed({"fast": True, "several": [True, 1]}) == {"fast": "true", "several": ("true", "1")}


def test_a_command_is_a_line_or_its_words_and_a_variable_may_be_a_number() -> None:
    assert (
        params_as_typed({"command": ["mytrain", "lr=0.1", "note=a b", 3]})["command"] == "mytrain lr=0.1 'note=a b' 3"
    )
    overrides = overrides_of(None, None, None, {"A": 1, "B": 0.5, "C": "x"}, None, None, None, (), None, None)
    assert dict(overrides.settings.env) == {"A": "1", "B": "0.5", "C": "x"}
    with pytest.raises(ConfigError, match=r"env\['A'\] is given a bool"):
        overrides_of(None, None, None, {"A": True}, None, None, None, (), None, None)


def test_one_value_of_an_array_is_that_value() -> None:  # N12
    """An array of numpy or a tensor without dimensions, which the items of a tensor are, and numpy's True."""
    numbers: list[Any] = [np.array(2), np.float32(0.1), np.bool_(True), np.array("x")]
    assert params_as_typed({f"p{at}": value for at, value in enumerate(numbers)} | {"all": numbers}) == {
        **dict(zip(("p0", "p1", "p2", "p3"), written := ("2", "0.1", "true", "x"), strict=True)),
        "all": written,
    }
    assert [point.values for point in points_of({"p": numbers}).each] == [{"p": text} for text in written]
    (mistake,) = points_of({"p": np.array(2)}).mistakes
    assert str(mistake) == "p: grid: p has no list of values"


def test_errors_and_version_are_there_after_the_import_of_slipway_alone() -> None:
    program = "import slipway; print(slipway.errors.WaitTimeout.__name__, slipway.__version__)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["WaitTimeout", version()]


def test_every_error_of_a_submission_or_a_job_is_in_slipway_errors() -> None:
    found = set[str]()
    for file in Path(slipway.__file__).parent.glob("using/**/*.py"):
        found |= set(re.findall(r"^class (\w+)\(\w*Error\)", file.read_text("utf-8"), re.MULTILINE))
    assert found >= {"OtherJobError", "JobGoneError"}
    assert found | {"CloudError"} <= set(slipway.errors.__all__)


def test_a_value_of_a_mapping_is_named_by_its_key() -> None:
    with pytest.raises(ConfigError, match=r"env\['A'\] is None") as error:
        overrides_of(None, None, None, {"A": None}, None, None, None, (), None, None)  # type: ignore[dict-item]
    assert error.value.fix == 'values by variable: {"LR": "0.1"}'
    with pytest.raises(ConfigError, match=r"wait_for\['pool'\] is None"):
        waits_as_typed({"pool": None})  # type: ignore[dict-item]


def test_a_fix_can_be_typed_in_python() -> None:
    with pytest.raises(ConfigError) as error:
        overrides_of(None, None, None, None, None, None, None, [75], None, None)
    assert error.value.fix == "retries=2"
    late = SlipwayError("late", fix=({"like": "mlp-1", "max_run": "TIME"},))
    assert late.fix == "slipway.submit(like='mlp-1', max_run='TIME')"
    late.spell(as_flags)
    assert late.fix == "slipway submit --like mlp-1 --max-run TIME"
    other = SlipwayError("full", fix=({"template": "mlp", "then": ("spot", "on-demand")},))
    assert other.fix == "slipway.submit('mlp', then=['spot', 'on-demand'])"
    other.spell(as_flags)
    assert other.fix == "slipway submit mlp --then spot,on-demand"


def test_a_submission_of_nothing_names_what_it_takes() -> None:
    with pytest.raises(ConfigError, match="neither a template nor a job") as error:
        slipway.submit(catalog="gs://nowhere")
    assert "slipway.submit('NAME')" in error.value.fix
