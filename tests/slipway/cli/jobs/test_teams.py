"""Jobs by the team that they count for. # N19"""

from tests.slipway.cli.stack import Stack


def test_a_team_is_named_told_and_asked_for(stack: Stack) -> None:
    stack.catalog["submitters"] = {stack.trainer: ["group:language@acme.example", "group:vision@acme.example"]}
    stack.publish()
    sent = [
        stack.run("submit", "hello", *words, "--wait", "--output", "json", **variables).json["job"]["displayName"]
        for words, variables in (
            (("--team", "language"), {}),
            ((), {"SLIPWAY_TEAM": "vision"}),
            ((), {}),
        )
    ]
    assert [job["labels"].get("slipway-team") for job in reversed(stack.jobs())] == ["language", "vision", None]

    lines = [line.split() for line in stack.run("jobs", "list").out.splitlines()]
    assert lines[0][:4] == ["JOB", "STATE", "USER", "TEAM"]
    assert [(line[0], line[3]) for line in lines[1:]] == [
        *zip(reversed(sent), ("–", "vision", "language"), strict=True)
    ]
    alone = stack.run("jobs", "list", "--team", "vision")
    assert "TEAM" not in alone.out.split("\n")[0] and sent[1] in alone.out and sent[0] not in alone.out
    listed = stack.run("jobs", "list", "--team", "language", "--output", "json").json["jobs"]
    assert [(job["displayName"], job["team"]) for job in listed] == [(sent[0], "language")]

    shown = dict(line.split(maxsplit=1) for line in stack.run("jobs", "show", sent[0]).out.splitlines())
    assert shown["team"] == "language"
    assert stack.run("jobs", "show", sent[2], "--output", "json").json["job"]["team"] is None

    other = stack.run("submit", "hello", "--team", "judges")
    assert other.code == 2 and "--team language or --team vision" in other.err and len(stack.jobs()) == 3


def test_a_sweep_counts_for_a_team_and_is_the_same_sweep(stack: Stack) -> None:  # N7
    """Its id is what it was before there were teams."""
    (stack.folder / "runs.yaml").write_text("grid: {code: [pass, print(1)]}\n")
    sweep = ("submit", "hello", "--sweep", "runs.yaml")
    first = stack.run(*sweep, "--wait", "--output", "json").json
    stack.catalog["submitters"] = {stack.trainer: ["group:vision@acme.example", "group:language@acme.example"]}
    stack.publish()
    again = stack.run(*sweep, "--team", "vision", "--output", "json").json
    assert again["sweep"] == first["sweep"] and len(stack.jobs()) == 2
    (stack.folder / "runs.yaml").write_text("grid: {code: [pass, print(2)]}\n")
    assert stack.run(*sweep, "--team", "vision", "--wait").code == 0
    assert [job["labels"].get("slipway-team") for job in stack.jobs()] == ["vision", "vision", None, None]
