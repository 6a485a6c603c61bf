"""One job's own variables, secrets, limit and name: `--env`, `--secret`, `--max-run`, `--name`. # N25"""

from pathlib import Path

import pytest

import slipway
from slipway.base.errors import ConfigError
from slipway.front.cli.terminal.arguments import SubmitArguments

from .stack import Stack
from .test_code import checked_out, opened

SHOWS = "import os\nfor name in ('LR', 'TOKEN__SECRET', 'ODD'):\n    print(name, os.environ.get(name))\n"
SECRET = "projects/local-project/secrets/token/versions/latest"


@pytest.fixture
def mine(stack: Stack) -> Stack:
    """A stack whose `hello` runs anybody's folder, and such a folder."""
    opened(stack)
    checked_out(stack)
    return stack


def variables(job: dict[str, object]) -> dict[str, str]:
    (pool,) = job["jobSpec"]["workerPoolSpecs"]  # type: ignore[index]
    return {entry["name"]: entry["value"] for entry in pool["pythonPackageSpec"]["env"]}


def send(stack: Stack, *words: str) -> str:
    done = stack.well("submit", "hello", "--code", "./src", *words, "--output", "json")
    return str(done.json["job"]["displayName"])


@pytest.mark.journey
def test_a_job_reads_variables_of_its_own(mine: Stack) -> None:
    (mine.folder / "src" / "hello" / "task.py").write_text(SHOWS)
    done = mine.well("submit", "hello", "--code", "./src", "--env", "LR=0.1", "--env", "ODD=$(HOME) $$x", "--follow")
    lines = [line.removeprefix("main  ") for line in done.out.splitlines()]
    assert "LR 0.1" in lines and "ODD $(HOME) $$x" in lines and "TOKEN__SECRET None" in lines


def test_no_command_to_type_repeats_a_value_of_the_shell(mine: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLACE", "canary")
    arguments = SubmitArguments("hello", env=("PLACE", "LR=0.1"))
    assert arguments.again("r1") == "slipway submit hello --env PLACE --env LR=0.1 --request-id r1"
    assert arguments.request().overrides.settings.env == {"PLACE": "canary", "LR": "0.1"}
    monkeypatch.setenv("PLACE", "canary\udcff")
    with pytest.raises(ConfigError) as error:
        arguments.request()
    assert "PLACE is not valid UTF-8" in str(error.value) and "canary" not in str(error.value)


@pytest.mark.parametrize("typed", ["X=canary\udcff", "=canary"])
def test_no_mistake_repeats_a_value(typed: str) -> None:
    with pytest.raises(ConfigError) as error:
        SubmitArguments("hello", env=(typed,)).request()
    assert "canary" not in str(error.value)


def test_a_token_in_place_of_a_secret_s_name_is_not_repeated() -> None:
    with pytest.raises(ConfigError) as error:
        SubmitArguments("hello", secrets=("hf_abcdefghijklmnopqrst",)).request()
    assert "hf_abc" not in str(error.value)


def test_they_are_sent_shown_and_taken_over(mine: Stack) -> None:
    words = ("--env", "LR=0.1", "--secret", "DATA=token", "--max-run", "2m", "--name", "lr-01")
    name = send(mine, *words)
    (job,) = mine.jobs()
    assert variables(job)["LR"] == "0.1" and variables(job)["DATA__SECRET"] == SECRET
    assert job["jobSpec"]["scheduling"]["timeout"] == "120s"

    head, row = mine.run("jobs", "list").out.splitlines()
    assert head.split()[:2] == ["NAME", "JOB"] and row.split()[:2] == ["lr-01", name]
    head, row = mine.run("jobs", "list", "--metric", "x").out.splitlines()
    assert head.split()[:2] == ["NAME", "JOB"] and row.split()[0] == "lr-01"
    shown = mine.run("jobs", "show", "lr-01")
    assert "settings   LR=0.1, DATA from secret token, at most 2 min" in shown.out.splitlines()
    assert f"lr-01 is the name of {name}" in shown.err
    settings = {
        "env": {"LR": "0.1"},
        "secrets": {"DATA": "token"},
        "maxRun": 120,
        "retries": None,
        "replicas": None,
        "retryOn": [],
    }
    assert mine.shown(name)["settings"] == settings

    told = mine.well("submit", "--like", "lr-01", "--env", "DATA=plain", "--env", "LR=0.2").err
    assert "  its settings: LR=0.1, DATA from secret token, at most 2 min" in told.splitlines()
    like = next(other for other in mine.jobs() if other["displayName"] != name)
    assert variables(like)["LR"] == "0.2" and variables(like)["DATA"] == "plain"
    assert "DATA__SECRET" not in variables(like) and like["jobSpec"]["scheduling"]["timeout"] == "120s"
    assert "slipway-name" not in like["labels"], "the name is one job's"


def test_variables_come_from_a_file_and_its_keys_from_secrets(mine: Stack) -> None:
    (mine.folder / "my.env").write_text("LR=0.1\nMODE=fast\nWANDB_API_KEY=0123456789abcdef0123456789abcdef01234567\n")
    words = ("submit", "hello", "--code", "./src", "--env-file", "my.env", "--env", "LR=0.2")
    refused = mine.run(*words)
    assert refused.code == 2 and not mine.jobs()
    assert "--secret WANDB_API_KEY=SECRET" in refused.err and "0123456789abcdef" not in refused.err
    mine.well(*words, "--secret", "WANDB_API_KEY=wandb-key")
    (job,) = mine.jobs()
    sent = variables(job)
    assert (sent["LR"], sent["MODE"]) == ("0.2", "fast") and "WANDB_API_KEY" not in sent
    assert sent["WANDB_API_KEY__SECRET"].endswith("secrets/wandb-key/versions/latest")


FAILS = """
import os, pathlib, sys
seen = pathlib.Path(os.environ["SLIPWAY_OUTPUT"], "seen")
first = not seen.exists()
seen.touch()
print("first" if first else "second", flush=True)
sys.exit(3 if first or "always" in sys.argv[1] else 0)
"""


@pytest.mark.journey
@pytest.mark.parametrize(("says", "code", "retried"), [("once", 0, "1 of 2"), ("always", 4, "2 of 2")])
def test_a_job_runs_again_where_its_own_code_fails(mine: Stack, says: str, code: int, retried: str) -> None:
    (mine.folder / "src" / "hello" / "task.py").write_text(FAILS)
    words = ("--code", "./src", "-p", f"code={says}", "--retries", "2", "--retry-on", "3,75", "--name", "again")
    done = mine.run("submit", "hello", *words, "--follow")
    lines = [line.removeprefix("main  ") for line in done.out.splitlines()]
    assert done.code == code and lines.count("first") == 1 and lines.count("second") == int(retried[0]), done.out
    assert "slipway: attempt 2 of 3 begins, as the last one failed" in lines
    shown = mine.run("jobs", "show", "again").out.splitlines()
    assert f"retried    {retried}" in shown and "settings   2 retries on exit code 3 or 75" in shown
    document = mine.shown("again")
    assert document["retried"] == int(retried[0]) and document["settings"]["retries"] == 2


def test_what_no_launcher_starts_is_not_tried_again(stack: Stack) -> None:
    refused = stack.run("submit", "hello", "--retries", "2")
    assert refused.code == 2 and "of hello is not tried again" in refused.err and stack.jobs() == []
    assert "fix: leave out --retries 2" in refused.err


@pytest.mark.parametrize(
    "other",
    [
        ("--env", "LR=0.2"),
        ("--max-run", "3m"),
        ("--secret", "TOKEN=token"),
        ("--retries", "1"),
        ("--retries", "1", "--retry-on", "75"),
    ],
)
def test_they_make_another_job_of_a_request(mine: Stack, other: tuple[str, ...]) -> None:
    send(mine, "--request-id", "r1", "--env", "LR=0.1", "--max-run", "2m")
    again = mine.run("submit", "hello", "--code", "./src", "--request-id", "r1", *other)
    assert again.code == 2 and "request id r1 was used before, for something else" in again.err, again.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--env", "NOWHERE"), "'NOWHERE' is not name=value, and no variable of this shell"),
        (("--retry-on", "75", "--retries", "2", "--retry-on", "x"), "'x' is no exit code"),
        (("--retry-on", "75"), "exit codes to retry on, and no retries"),
        (("--retry-on", "256", "--retries", "1"), "256 is no exit code of a failure"),
        (("--env", "1X=2"), "'1X' is no variable's name"),
        (("--env", "SLIPWAY_OUTPUT=gs://x"), "SLIPWAY_OUTPUT is set for each job"),
        (("--env", "EMPTY="), "EMPTY is empty, which Vertex AI refuses"),
        (
            ("--env", "PATH=/opt/x:/usr/bin"),
            "PATH replaces the value of the image, and the job would not find Python without it",
        ),
        (("--env", "PATH=/opt/x:$PATH"), "fix: let the command extend it: slipway run 'PATH=FOLDER:$PATH python"),
        (("--env", "LD_LIBRARY_PATH=/x:${LD_LIBRARY_PATH}"), "no shell expands a variable in it"),
        (("--env", "SAYS=it's"), "has an apostrophe in its value"),
        (
            ("--env", "HF_TOKEN=abcdefghijklm1"),
            "fix: put it into Secret Manager, and give its name: --secret HF_TOKEN=",
        ),
        (("--env", "X=hf_abcdefghijklmnopqrst"), "X has a secret's name or form"),
        (("--secret", "X=hf_abcdefghijklmnopqrst"), "X is not given a secret's name"),
        (("--secret", "X=my secret"), "X is not given a secret's name"),
        (("--secret", "X=a", "--env", "X=b"), "X is a variable and a secret"),
        (("--max-run", "soon"), "invalid duration 'soon'"),
        (("--max-run", "2"), "--max-run 2 has no unit\n  why: a number alone would be seconds\n  fix: --max-run 2m"),
        (("--max-run", "0.2s"), "max_run '0.2s' is below a second"),
        (("--max-run", "7d"), "hello may run"),
        (("--retries", "11"), "11 is not in the range 0<=x<=10"),
        (("--name", "Lr 01"), "fix: --name lr-01, for example"),
        (("--name", "4711"), "not digits alone"),
        (("--name", "hello"), "hello is a template"),
        (("--name", "crew-base2ine"), "fix: --name base2ine, for example"),
        (("--name", "hello-k3v7p5wd"), "has the form of the names that jobs of hello are given"),
        (("--name", "crew"), "crew is a template"),
        (("-p", "code=WANDB=sk-abcdefghijklmnopqrstu"), "code has a secret in it"),
        (("-p", f"code=WANDB_API_KEY={'0123456789abcdef' * 2} python train.py"), "code has a secret in it"),
        (
            ("-p", f"code=bash -c 'export WANDB_API_KEY={'0123456789abcdef' * 2}; python a.py'"),
            "code has a secret in it",
        ),
        (("-p", f"code=wandb login {'0123456789abcdef' * 2} && python a.py"), "code has a secret in it"),
        (("-p", f"code=wandb login --relogin {'0123456789abcdef' * 2}"), "code has a secret in it"),
        (("-p", f"code=huggingface-cli login --token {'abcdefg123456789' * 2}"), "code has a secret in it"),
        (
            ("-p", f"code=python -c 'import wandb; wandb.login(key=\"{'0123456789abcdef' * 2}\")'"),
            "code has a secret in it",
        ),
        (("--note", "with hf_abcdefghijklmnopqrst"), "note has a secret in it"),
        (("--env", "1X=2"), "fix: --env LR=0.1"),
        (("--env", "X__SECRET=token"), "and give its name: --secret X=SECRET"),
        (("--env", "X__SECRET=token"), "X__SECRET is how a job is told a secret"),
        (("--env", "CLUSTER_SPEC={}"), "CLUSTER_SPEC is set for each job"),
        (("--env", f"X={'x' * 40_000}"), "the settings take 40,029 bytes as JSON, at most 32,768 (32 KB)"),
        (("--secret", f"X={'0123456789abcdef' * 2}"), "X is not given a secret's name"),
    ],
)
def test_what_no_job_can_have_is_refused_before_anything_is_sent(
    mine: Stack, words: tuple[str, ...], said: str
) -> None:
    offer = mine.offer()["request"]["jobSpec"]
    offer["scheduling"] = {**offer.get("scheduling", {}), "timeout": "3600s"}
    mine.publish()
    refused = mine.run("submit", "hello", "--code", "./src", *words)
    assert refused.code == 2 and said in refused.err and "  fix: " in refused.err and mine.jobs() == [], refused.err
    assert "hf_abc" not in refused.err and "sk-abc" not in refused.err


def test_without_a_limit_of_the_template_s_the_service_s_is_the_most(mine: Stack) -> None:
    refused = mine.run("submit", "hello", "--code", "./src", "--max-run", "8d")
    assert refused.code == 2 and "hello may run 7 days at most" in refused.err and mine.jobs() == [], refused.err
    assert "Vertex AI ends a job without one" in refused.err
    assert mine.well("submit", "hello", "--code", "./src", "--max-run", "7d", "--dry-run")


def test_a_path_of_credentials_is_no_secret(mine: Stack) -> None:
    mine.well("submit", "hello", "--code", "./src", "--env", "GOOGLE_APPLICATION_CREDENTIALS=conf/sa.json", "--dry-run")


@pytest.mark.parametrize("flag", ["-e", "--env"])
def test_a_variable_without_a_value_has_the_shell_s(mine: Stack, flag: str) -> None:
    mine.well("submit", "hello", "--code", "./src", flag, "WANDB_MODE", WANDB_MODE="offline")
    assert variables(mine.jobs()[0])["WANDB_MODE"] == "offline"


def test_words_behind_a_template_s_name_are_no_name_of_a_job(mine: Stack) -> None:
    mine.well("submit", "hello", "--code", "./src", "--name", "hello-baseline")


def test_reviewed_code_takes_a_limit_and_no_variables(stack: Stack) -> None:
    refused = stack.run("submit", "hello", "--env", "LR=0.1")
    assert refused.code == 5 and "hello takes no variables of one job's own" in refused.err and stack.jobs() == []
    stack.well("submit", "hello", "--max-run", "60s")
    assert stack.jobs()[0]["jobSpec"]["scheduling"]["timeout"] == "60s"


def test_a_sweep_gives_them_to_each_run_and_other_ones_are_another_sweep(mine: Stack) -> None:
    (mine.folder / "s.json").write_text('{"grid": {"code": ["a", "b"]}}')
    words = ("submit", "hello", "--code", "./src", "--sweep", "s.json", "--env")
    mine.well(*words, "LR=0.1")
    assert [variables(job)["LR"] for job in mine.jobs()] == ["0.1", "0.1"]
    mine.well(*words, "LR=0.2")
    assert len(mine.jobs()) == 4


def test_python_has_them_too(mine: Stack, monkeypatch: pytest.MonkeyPatch) -> None:  # N12
    for name, value in mine.env().items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(mine.folder)
    job = slipway.submit(
        "hello",
        code=Path("src"),
        env={"LR": "0.1"},
        secrets={"TOKEN": "token"},
        max_run=90,
        retries=1,
        job_name="lr-02",
    )
    assert slipway.job("lr-02") == job
    with pytest.raises(ConfigError, match="1 setting wrong") as error:
        slipway.submit("hello", code=Path("src"), env={"LR": "0\0"})
    assert "LR has a NUL" in error.value.why
    (sent,) = mine.jobs()
    assert variables(sent)["LR"] == "0.1" and sent["jobSpec"]["scheduling"]["timeout"] == "90s"
    assert '"retries":1' in variables(sent)["SLIPWAY_SETTINGS"]


def test_a_template_s_name_is_its_newest_job_of_mine(stack: Stack) -> None:
    stack.well("submit", "hello", "--request-id", "mine")
    stack.well("submit", "hello", "--request-id", "theirs", SLIPWAY_USER="bob")
    mine = next(job["displayName"] for job in stack.jobs() if job["labels"]["slipway-request"] == "mine")
    shown = stack.run("jobs", "show", "hello")
    assert f"hello is a template; this is your newest job, {mine}" in shown.err
    assert "this is its newest job" in stack.run("jobs", "show", "hello", SLIPWAY_USER="eve").err


def test_settings_that_differ_stand_side_by_side_under_the_given_names(mine: Stack) -> None:  # N19
    send(mine, "--env", "LR=0.1", "--name", "e1")
    send(mine, "--env", "LR=0.9", "--max-run", "2m", "--name", "e2", "--label", "ablation=decay")
    lines = mine.well("jobs", "compare", "e1", "e2").out.splitlines()
    assert lines[0].split() == ["e1", "e2"]
    rows = [line.split() for line in lines]
    assert ["ENV", "LR", "0.1", "0.9"] in rows and ["SETTING", "max-run", "–", "2", "min"] in rows
    assert ["LABEL", "ablation", "–", "decay"] in rows
    head, *listed = mine.well("jobs", "list", "--metric", "loss").out.splitlines()
    assert head.split()[:5] == ["NAME", "JOB", "LR", "max-run", "ablation"]
    assert {(row.split()[0], row.split()[2]) for row in listed} == {("e1", "0.1"), ("e2", "0.9")}
