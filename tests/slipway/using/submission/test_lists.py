"""A list as a parameter's value: as it is typed, as the job gets it, and what is refused. # N31"""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slipway.base.errors import ConfigError
from slipway.front.api.call import params_as_typed
from slipway.model.catalog.parameter_types import BY_NAME, Typed, Value, listed
from slipway.model.catalog.placeholders import render
from slipway.model.catalog.template import Offer, Parameter, Template
from slipway.model.labels import VARIABLE, parameters_in
from slipway.model.prices import UNKNOWN
from slipway.using.submission.parameters import describe, resolve, texts
from slipway.using.submission.request import fill
from slipway.using.sweeps.sweep_file import of_csv, of_yaml, points_of, read
from slipway.using.sweeps.sweep_plan import ParameterJudge
from tests.builders.catalogs import catalog

LAYERS = Parameter("layers", "list[int]", default=(64, 32), min=1, max=512)
RATES = Parameter("rates", "list[float]", default=(1, 0.5))
NAMES = Parameter("names", "list[str]", default=())
WORDS = Parameter("words", "list[str]", default=("relu",), choices=("relu", "gelu"))
TREES = Parameter("trees", "int", default=1)
TITLE = Parameter("title", "str", default="x")
ARGS = ["--layers", "${layers}", "--layers=${layers}", "${names}", "=${names}", "${words}"]
TASK = {"args": ARGS, "env": [{"name": "LAYERS", "value": "${layers}"}, {"name": "RATES", "value": "${rates}"}]}
OFFER = Offer("pool", True, "", "", (), UNKNOWN, {"jobSpec": {"workerPoolSpecs": [{"pythonPackageSpec": TASK}]}})
TEMPLATE = Template("mlp", "", "custom-job", (), (LAYERS, RATES, NAMES, WORDS, TREES, TITLE), (OFFER,))


def task(**given_: Typed) -> dict[str, Any]:
    """Arguments and variables of a worker pool of the job."""
    values = resolve(TEMPLATE, given_)
    body = fill(catalog(), TEMPLATE, OFFER, values, request_id="r1", user="")
    (pool,) = body["jobSpec"]["workerPoolSpecs"]
    sent: dict[str, Any] = pool["pythonPackageSpec"]
    return sent


def wrong(**given_: Typed) -> ConfigError:
    with pytest.raises(ConfigError) as error:
        resolve(TEMPLATE, given_)
    assert error.value.exit_code == 2
    return error.value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("layers=64,32", (64, 32)),
        ("layers= 64 , 32 ", (64, 32)),
        ("layers=64", (64,)),
        ("layers=[64, 32]", (64, 32)),
        ('layers=["64"]', (64,)),
        ("layers=[]", ()),
        ("rates=1,1e-3", (1.0, 0.001)),
        ("names=a,b c", ("a", "b c")),
        ('names=["a, b", "", " c"]', ("a, b", "", " c")),
        ('names=it"s,[x]', ('it"s', "[x]")),
        ("words=gelu,relu,gelu", ("gelu", "relu", "gelu")),
    ],
)
def test_items_stand_between_commas_or_in_json(text: str, value: Value) -> None:
    name, _, typed = text.partition("=")
    plain = Template("mlp", "", "custom-job", (), TEMPLATE.parameters, ())
    assert resolve(plain, {name: typed})[name] == value


@pytest.mark.parametrize(
    ("given_", "why"),
    [
        ({"layers": "64 32"}, "layers[0]=64 32 is not a whole number, 1 to 512"),
        ({"layers": "64,,32"}, "layers=64,,32 is not a list of whole numbers, as 64,32, each 1 to 512"),
        ({"layers": ""}, "layers= is not a list of whole numbers, as 64,32, each 1 to 512"),
        ({"layers": "[64, 32"}, "layers=[64, 32 is not a list of whole numbers"),
        ({"layers": "[[64], 32]"}, "layers=[[64], 32] is not a list of whole numbers"),
        ({"layers": "[true]"}, "layers=[true] is not a list of whole numbers"),
        ({"layers": "64,600"}, "layers[1]=600 is out of bounds: 1 to 512"),
        ({"layers": ("64", "x")}, "layers[1]=x is not a whole number, 1 to 512"),
        ({"words": "relu,glu"}, "words[1]=glu is not one of relu, gelu"),
        ({"names": ("a\0",)}, "names[0]='a\\x00' is not a string"),
        ({"trees": ("1",)}, "trees is given a list, and takes a whole number"),
        ({"title": ("a", "b")}, "title is given a list, and takes a string"),
    ],
)
def test_what_is_no_such_list_is_refused_with_its_item(given_: dict[str, Typed], why: str) -> None:
    assert wrong(**given_).why.startswith(why)


@pytest.mark.parametrize("typed", ["64 32", "(64,32)"])
def test_who_separates_items_otherwise_is_shown_the_form(typed: str) -> None:
    """The way out was `slipway templates show`, which says no more."""
    assert wrong(layers=typed).fix == "separated by commas, without brackets: layers='64,32'"
    assert "commas" not in wrong(layers="64,600").fix + wrong(layers=("64", "x")).fix


def test_an_argument_alone_is_one_for_each_item_and_within_a_text_commas_join_them() -> None:
    sent = task(layers="64,32,16", names="$(HOME),b")
    expected = ["--layers", "64", "32", "16", "--layers=64,32,16", "$$(HOME)", "b", "=$$(HOME),b", "relu"]
    assert sent["args"] == expected
    env = {variable["name"]: variable["value"] for variable in sent["env"]}
    assert (env["LAYERS"], env["RATES"]) == ("64,32,16", "1.0,0.5")
    assert json.loads(env[VARIABLE])["layers"] == [64, 32, 16]
    recorded = parameters_in([f"{VARIABLE}={env[VARIABLE]}"])
    assert recorded is not None and recorded["layers"] == (64, 32, 16)
    assert task(layers="[]")["args"] == ["--layers", "--layers=", "=", "relu"]


def test_a_command_has_a_word_for_each_item_too() -> None:
    command = Parameter("command", "str", command=True)
    template = Template("script", "", "custom-job", (), (command, LAYERS), ())
    values = resolve(template, {"command": "run {layers} --layers={layers}"})
    assert texts(template, values)["command"] == "run 64 32 --layers=64,32"
    with pytest.raises(ConfigError, match="parameter wrong") as error:
        resolve(template, {"command": "run {free}", "free": ("a",)})
    assert error.value.why == "free is given a list, and takes a string"


def test_bounds_and_choices_are_those_of_each_item() -> None:
    assert [describe(parameter) for parameter in (LAYERS, RATES, NAMES, WORDS)] == [
        "a list of whole numbers, as 64,32, each 1 to 512",
        "a list of numbers, as 0.1,0.5",
        "a list of strings, as a,b",
        "a list of strings, as a,b, each one of relu, gelu",
    ]


@given(st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=5), max_size=5))
def test_a_list_is_shown_as_it_is_typed(items: list[str]) -> None:
    text = listed(items)
    assert BY_NAME["list[str]"].read(text) == tuple(items) and render(tuple(items)) == text


def test_python_gives_lists_as_they_are() -> None:
    typed = params_as_typed({"layers": [64, 32], "rates": (1, 0.5), "trees": 5})
    assert typed == {"layers": ("64", "32"), "rates": ("1", "0.5"), "trees": "5"}
    assert resolve(TEMPLATE, typed)["layers"] == (64, 32)


def values_of(content: Any, **params: str) -> list[Any]:
    judge = ParameterJudge(TEMPLATE, params, "-p")
    found = [judge.values(index, point)["layers"] for index, point in enumerate(content.each)]
    assert not content.mistakes and not judge.mistakes(len(found))
    return found


def test_a_sweep_has_a_list_for_each_run(tmp_path: Path) -> None:
    both = [(64, 32), (128,)]
    (tmp_path / "l.json").write_text('[{"layers": [64, 32]}, {"layers": [128]}]')
    for content in (
        of_yaml("grid: {layers: [[64, 32], [128]]}", "g.yaml"),
        of_yaml("grid: {layers: ['64,32', 128]}", "g.yaml"),
        of_csv('layers\n"64,32"\n128\n', "c.csv"),
        read(tmp_path / "l.json"),
        points_of({"layers": [[64, 32], (128,)]}),
        points_of([{"layers": [64, 32]}, {"layers": 128}]),
    ):
        assert values_of(content) == both


def test_a_list_for_a_parameter_that_takes_one_value_is_a_mistake_at_its_place() -> None:
    content = of_yaml("grid: {trees: [[1, 2]]}", "g.yaml")
    judge = ParameterJudge(TEMPLATE, {}, "-p")
    judge.values(0, content.each[0])
    (mistake,) = judge.mistakes(1)
    assert str(mistake) == "g.yaml:1:16: trees is given a list, and takes a whole number"
