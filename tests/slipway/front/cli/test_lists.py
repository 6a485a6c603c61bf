"""Parameters that are lists, from the command to the job and back. # N31"""

import pytest

from .stack import Stack

SHOWS = "import sys; print(sys.argv[1:])"
LISTS = (
    {"name": "layers", "type": "list[int]", "default": [64, 32], "min": 1, "max": 512, "choices": [], "help": "widths"},
    {"name": "names", "type": "list[str]", "default": [], "choices": [], "help": ""},
)


@pytest.fixture
def lists(stack: Stack) -> Stack:
    """The stack with `hello` as a template of two lists."""
    template = stack.catalog["templates"]["hello"]
    template["parameters"] += [dict(parameter) for parameter in LISTS]
    for offer in template["offers"]:
        (pool,) = offer["request"]["jobSpec"]["workerPoolSpecs"]
        pool["containerSpec"]["args"] = ["${code}", "--layers", "${layers}", "--layers=${layers}", "${names}"]
    stack.publish()
    return stack


@pytest.mark.journey
def test_a_list_is_given_sent_shown_and_given_again(lists: Stack) -> None:
    shown = lists.well("templates", "show", "hello")
    assert "64,32" in shown.out and "a list of whole numbers, as 64,32, each 1 to 512" in " ".join(shown.out.split())
    document = lists.well("templates", "show", "hello", "--output", "json").json["template"]
    assert [parameter["default"] for parameter in document["parameters"]] == ["print('hello')", [64, 32], []]

    given = ("-p", f"code={SHOWS}", "-p", "layers=128,64,8", "-p", 'names=["a, b", "it\'s"]')
    done = lists.well("submit", "hello", *given, "--follow")
    said = ["--layers", "128", "64", "8", "--layers=128,64,8", "a, b", "it's"]
    assert f"main  {said}" in done.out.splitlines()

    (job,) = lists.jobs()
    recorded = lists.well("jobs", "show", job["displayName"], "--output", "json").json["job"]["parameters"]
    assert recorded["layers"] == [128, 64, 8] and recorded["names"] == ["a, b", "it's"]
    assert "layers=128,64,8" in " ".join(lists.well("jobs", "show", job["displayName"]).out.split())

    again = lists.well("submit", "--like", job["displayName"], "-p", "layers=16", "--follow")
    assert "['--layers', '16', '--layers=16', 'a, b', \"it's\"]" in again.out
    names = [job["displayName"] for job in lists.jobs()]
    compared = lists.well("jobs", "compare", *names)
    assert "128,64,8" in compared.out and "16" in compared.out


@pytest.mark.journey
def test_a_sweep_runs_a_list_in_each_job(lists: Stack) -> None:
    (lists.folder / "grid.yaml").write_text("grid: {layers: [[64, 32], [128]]}\n")
    lists.well("submit", "hello", "-p", f"code={SHOWS}", "--sweep", "grid.yaml", "--wait")
    sweep = lists.jobs()[0]["labels"]["slipway-sweep"]
    table = lists.well("jobs", "list", "--sweep", sweep, "--output", "csv").out
    assert '"64,32"' in table and "128" in table
    rows = lists.well("jobs", "list", "--sweep", sweep, "--output", "json").json["jobs"]
    assert sorted(row["parameters"]["layers"] for row in rows) == [[64, 32], [128]]


def test_a_wrong_list_is_refused_before_anything_is_sent(lists: Stack) -> None:
    for given, said in {
        "layers=64,x": "layers[1]=x is not a whole number, 1 to 512",
        "layers=64,600": "layers[1]=600 is out of bounds: 1 to 512",
        "layer=64,32": "unknown parameter layer; did you mean layers?",
        "layers=64,,32": "layers=64,,32 is not a list of whole numbers, as 64,32, each 1 to 512",
    }.items():
        done = lists.run("submit", "hello", "-p", given)
        assert done.code == 2 and said in " ".join(done.err.split())
        assert ("without brackets: -p layers=64,32" in done.err) is (given == "layers=64,x")
    assert lists.jobs() == []
