"""`--label` and `--note`: what a person says of a job, shown and found by. # N19"""

import csv
import json

import pytest

import slipway
from slipway.base.errors import ConfigError, PolicyError

from .stack import SLEEP, Stack

NOTE = 'baseline, it\'s "before" the fix: $(lr) 100% – ü'


def sent(stack: Stack, *words: str, **variables: str) -> str:
    done = stack.well("submit", "hello", *words, "--output", "json", **variables)
    return str(done.json["job"]["displayName"])


def test_jobs_are_labelled_and_noted_and_found_by_that(stack: Stack) -> None:
    plain = sent(stack)
    mine = sent(
        stack, "--label", "aa=1", "--label", "ablation=decay", "--label", "model=gemma-2", "--note", f"  {NOTE}\n"
    )
    other = sent(stack, "--label", "aa=1", "--label", "ablation=none")

    head, *rows = stack.run("jobs", "list").out.splitlines()
    assert head.split()[-2:] == ["LABELS", "NOTE"]
    by_name = {row.split()[0]: row for row in rows}
    assert "ablation=decay, model=gemma-2  baseline" in by_name[mine] and by_name[plain].split()[-2:] == ["–", "–"]

    def listed(*labels: str) -> set[str]:
        flags = [word for label in labels for word in ("--label", label)]
        return {job["displayName"] for job in stack.run("jobs", "list", *flags, "-o", "json").json["jobs"]}

    assert listed("ablation=decay") == listed("ablation", "model=gemma-2") == {mine}
    assert listed("ablation") == {mine, other}

    lines = stack.run("jobs", "show", mine).out.splitlines()
    assert f"note       {NOTE}" in lines and "labels     aa=1, ablation=decay, model=gemma-2" in lines
    shown = stack.shown(mine)
    assert shown["note"] == NOTE and shown["labels"]["ablation"] == "decay"
    assert NOTE in {row["note"] for row in csv.DictReader(stack.run("jobs", "list", "-o", "csv").out.splitlines())}
    # Those that vary have a column each beside the parameters, in all forms of results.
    both = ("jobs", "list", "--label", "ablation")
    columns = stack.run(*both, "--metric", "loss").out.splitlines()[0].split()
    assert "ablation" in columns and "aa" not in columns
    told = {row["name"]: row for row in csv.DictReader(stack.run(*both, "-o", "csv").out.splitlines())}
    assert (told[mine]["labels.ablation"], told[other]["labels.ablation"]) == ("decay", "none")


def test_a_note_is_no_other_job(stack: Stack) -> None:
    words = ("--request-id", "r1", "--note")
    assert sent(stack, *words, "one") == sent(stack, *words, "two") and len(stack.jobs()) == 1


def test_a_sweep_labels_all_of_its_runs_and_what_is_like_a_job_has_its_own(stack: Stack) -> None:
    (stack.folder / "s.json").write_text(json.dumps({"grid": {"code": ["print(1)", "print(2)"]}}))
    words = ("submit", "hello", "--sweep", "s.json", "--label", "study=one", "--note", "all of it")
    stack.well(*words)
    names = {job["displayName"] for job in stack.jobs() if job["labels"]["study"] == "one"}
    assert len(names) == 2
    again = stack.sends("--like", names.pop(), "--note", "once more")
    assert again["note"] == "once more" and "study" not in again["labels"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--label", "Model=Gemma 2"), "label 'Model': a key must have at most 64 lowercase letters"),
        (("--label", "model"), "'model' is not key=value"),
        (
            ("--label", "slipway-user=bob"),
            "keys that begin with slipway- or goog- are reserved\n  fix: choose another key",
        ),
        (tuple(f"--label=key{number}=v" for number in range(17)), "17 labels, and 16 is the most"),
        (("--label", "team=vision"), "the team that the job counts for\n  fix: --team vision\n"),
        (("--note", "x" * 501), "the note has 501 characters, and 500 is the most"),
    ],
)
def test_what_can_be_no_label_or_note_is_refused_before_anything_is_sent(
    standing: Stack, words: tuple[str, ...], said: str
) -> None:
    refused = standing.run("submit", "hello", *words)
    assert refused.code == 2 and said in refused.err and "  fix: " in refused.err and standing.jobs() == []


def test_labels_of_the_template_are_not_a_persons(stack: Stack) -> None:
    stack.offer()["request"]["labels"]["cost-centre"] = "42"
    stack.publish()
    refused = stack.run("submit", "hello", "--label", "cost-centre=17")
    assert refused.code == 2 and "hello sets cost-centre=42 itself" in refused.err and stack.jobs() == []
    sent(stack)
    assert "LABELS" not in stack.run("jobs", "list").out
    (_,) = stack.run("jobs", "list", "--label", "cost-centre=42", "--output", "json").json["jobs"]


def test_python_has_them_too(stack: Stack, monkeypatch: pytest.MonkeyPatch) -> None:  # N12
    for name, value in stack.env().items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(stack.folder)
    job = slipway.submit("hello", code_=SLEEP, labels={"ablation": "decay"}, note=NOTE)
    assert (job.note, job.labels["ablation"]) == (NOTE, "decay")
    assert slipway.jobs(labels={"ablation": None}) == slipway.jobs(labels={"ablation": "decay"}) == (job,)
    with pytest.raises(ConfigError):
        slipway.submit("hello", labels={"A": "b"})
    monkeypatch.setenv("SLIPWAY_USER", "bob")
    theirs = slipway.job(job.name)
    with pytest.raises(PolicyError, match=r"\(ada, .*\) is not yours"):
        theirs.cancel()
    theirs.cancel(yes=True)
