"""`slipway pools`, `quota`, `templates`, `use`, and the command itself."""

import json
import os
import pty
import re
import subprocess
import sys

import pytest
from syrupy.assertion import SnapshotAssertion

from slipway.cli import main
from slipway.cli.terminal.watching import display
from slipway.context import Context
from tests.checkouts.shell import slipway as slipway_in
from tests.local.conftest import ROOT

from .stack import PROJECT, UNSET, Stack, held


def test_pools_say_what_is_busy_and_what_it_costs(snapshot: SnapshotAssertion, stack: Stack) -> None:  # B1, Z8
    idle = stack.run("pools").out.splitlines()
    assert idle[0].split("  ")[0] == "CLUSTER"
    assert " ".join(idle[1].split()) == snapshot
    name = held(stack, 2)
    row = stack.run("pools", "--output", "json").json["pools"][0]
    assert (row["busy"], row["live"], row["max"]) == (2, 2, 3) and row["jobs"] == [name]
    assert row["pricePerHourNow"] == "0.4906" and row["idleSince"] is None and row["idleKnown"]
    assert row["clusterId"] == stack.cluster and row["state"] in ("RUNNING", "UPDATING")


def test_a_price_that_lacks_a_part_is_told_as_far_as_it_is_known(
    stack: Stack, snapshot: SnapshotAssertion
) -> None:  # Z8
    stack.catalog["clusters"]["cpu"]["pools"]["workers"]["priceComplete"] = False
    stack.catalog["templates"]["hello"]["offers"][0]["priceComplete"] = False
    stack.publish()
    assert " ".join(stack.run("pools").out.splitlines()[1].split()) == snapshot
    row = stack.run("pools", "--output", "json").json["pools"][0]
    assert (row["pricePerHourMax"], row["priceComplete"]) == ("0.7359", False)
    assert "$0.49 and more" in stack.run("templates", "show", "hello").out
    done = stack.run("submit", "hello", "--wait")
    assert "(pool machines: $0.25/h and more" in done.out and "paid for anyway" in done.out


def test_a_retiring_cluster_says_until_when(stack: Stack) -> None:  # N1
    name = held(stack, 1)
    stack.make_cluster(cluster=f"new-{stack.name}")
    stack.catalog["clusters"]["cpu"]["id"] = f"new-{stack.name}"
    stack.catalog["retiring"] = [stack.cluster]
    stack.publish()
    lines = stack.run("pools").out.splitlines()
    assert lines[1].startswith("cpu ") and "RUNNING" in lines[1]
    assert lines[2].startswith(stack.cluster) and "RETIRING" in lines[2] and lines[2].endswith(f"until {name} ends")


def test_a_cluster_that_no_deployment_has_recorded_is_shown(snapshot: SnapshotAssertion, stack: Stack) -> None:
    """It is billed, and a failed `up` sends people here to see whether it was made."""
    stack.make_cluster(cluster=f"lost-{stack.name}", of=stack.name)
    stack.make_cluster(cluster=f"theirs-{stack.name}", of="another")
    done = stack.run("pools")
    assert f"theirs-{stack.name}" not in done.out
    (line,) = (line for line in done.out.splitlines() if line.startswith(f"lost-{stack.name}"))
    assert " ".join(line.split()[1:]) == snapshot
    assert f"lost-{stack.name} belongs to this stack" in done.err
    assert "fix: pulumi up" in done.err
    rows = stack.run("pools", "--output", "json").json["pools"]
    assert [row["state"] for row in rows] == ["RUNNING", "RUNNING"]


def test_a_cluster_that_is_gone_is_said(stack: Stack) -> None:
    stack.delete_cluster()
    done = stack.run("pools")
    assert done.code == 0 and "GONE" in done.out and "cpu is GONE" in done.err


def test_quota_is_a_table_of_metrics(stack: Stack) -> None:  # D2, N6
    done = stack.run("quota")
    assert done.code == 0
    assert "N1/E2 vCPUs" in done.out and "pool cpu/workers, 1–3 machines" in done.out and "2,200" in done.out
    short = "! quota custom_model_training_preemptible_cpus in us-central1, limit 1, makes offers unavailable: "
    assert f"{short}crew needs 8" in done.err and "hello needs 4 with spot" in done.err
    assert f"gcloud beta quotas preferences create --project={PROJECT}" in done.err
    assert (
        "--quota-id=CustomModelTrainingPreemptibleCPUsPerProjectPerRegion --dimensions=region=us-central1" in done.err
    )
    lines = stack.run("quota", "--output", "json").json["lines"]
    cpus = next(line for line in lines if line["metric"] == "custom_model_training_cpus")
    assert cpus["limit"] == 2200 and cpus["ceiling"] == 12 and cpus["verdict"] == "ok"
    assert cpus["request"] is None
    assert "slipway quota --request --contact EMAIL" in done.err


def test_a_quota_that_nothing_here_draws_is_asked_for_by_its_id(stack: Stack) -> None:  # Z2
    id_ = "CustomModelTrainingPreemptibleT4GPUsPerProjectPerRegion"
    done = stack.run("quota", "--request", f"{id_}=8", "--contact", "ml@acme.example", "--dry-run")
    (asked,) = done.json["requests"]
    assert asked["metric"] == "custom_model_training_preemptible_nvidia_t4_gpus" and asked["body"]["quotaId"] == id_
    done = stack.run("quota", "--request", "T4=8", "--contact", "ml@acme.example", "--dry-run")
    both = "fix: --request nvidia_t4_gpus=8 or --request preemptible_nvidia_t4_gpus=8"
    assert done.code == 2 and both in done.err


def test_more_quota_is_asked_for_by_hand(stack: Stack) -> None:  # Z2
    """The stack's own submitters may look; who may ask has another role. Nobody else here draws this metric, as what
    was granted can't be taken back."""
    metric = "custom_model_training_nvidia_p4_gpus"
    ask = ("quota", "--request", f"{metric}=16", "--contact", "ml@acme.example")
    refused = stack.run(*ask)
    assert refused.code == 3 and "roles/cloudquotas.admin" in refused.err
    nobody = stack.run("quota", "--request")
    assert nobody.code == 2 and "name whom Google asks about" in nobody.err
    (sent,) = stack.run(*ask, "--dry-run").json["requests"]
    assert sent == {
        "metric": metric,
        "body": {
            "service": "aiplatform.googleapis.com",
            "quotaId": "CustomModelTrainingP4GPUsPerProjectPerRegion",
            "dimensions": {"region": "us-central1"},
            "quotaConfig": {"preferredValue": "16"},
            "contactEmail": "ml@acme.example",
        },
    }
    stack.grant("roles/cloudquotas.admin")
    try:
        with stack.settings(quota_reconcile_seconds=3600):
            done = stack.run(*ask, "--justification", "training")
            assert done.code == 0, done.err
            assert metric in done.out and "asked for 16: pending" in done.out
            again = stack.run(*ask)
            assert again.code == 4 and "was asked for already" in again.err
        with stack.settings(quota_grant_ceiling=8):
            done = stack.run("quota", "--request", "nvidia_p4_gpus=20", "--contact", "a@b.example", "-o", "json")
        (made,) = done.json["requests"]
        request = {"state": "partly", "asked": 20, "granted": 8, "why": "The request was partially approved: 8 of 20."}
        assert made == {"metric": metric, "region": "us-central1", "limit": 6, "request": request}
    finally:
        stack.grant("roles/cloudquotas.admin", False)
    lower = stack.run("quota", "--request", "nvidia_p4_gpus=4", "--contact", "ml@acme.example")
    assert lower.code == 2 and "is no increase" in lower.err


def test_without_its_role_quota_is_not_checked(stack: Stack) -> None:  # P5
    stack.grant("roles/cloudquotas.viewer", False)
    try:
        done = stack.run("quota")
        document = stack.run("quota", "--output", "json").json
    finally:
        stack.grant("roles/cloudquotas.viewer")
    assert done.code == 0 and "quota not checked: " in done.err and "roles/cloudquotas.viewer" in done.err
    assert document["checked"] is False and document["lines"][0]["limit"] is None


def test_templates_are_listed_and_shown(stack: Stack) -> None:  # D3
    stack.catalog["templates"]["hello"]["offers"][1].update(available=False, why="quota: short by 3")
    stack.publish()
    listed = stack.run("templates")
    assert "hello     pool, (spot)    code" in listed.out and "says why" in listed.out
    shown = stack.run("templates", "show", "crew").out
    assert "a whole number, 1 to 50" in shown
    assert "n1-standard-4, 1 worker n1-standard-4 (parameter" in shown and "${" not in shown
    assert "quota: short by 3" in stack.run("templates", "show", "hello").out
    document = stack.run("templates", "--output", "json").json
    assert [one["name"] for one in document["templates"]] == ["crew", "hello"]
    assert document["catalog"]["commit"] == "3f9c2e1"
    one = stack.run("templates", "show", "hello", "--output", "json").json["template"]
    assert one["offers"][1] == {
        "capacityType": "spot",
        "kind": "custom-job",
        "when": {},
        "wait": None,
        "note": None,
        "available": False,
        "why": "quota: short by 3",
        "cluster": None,
        "pools": [],
        "pricePerHour": None,
        "priceComplete": False,
        "priceAtMost": False,
    }
    assert stack.run("templates", "show", "helo").code == 2


def test_a_catalog_is_chosen_for_all_folders_or_for_one(stack: Stack) -> None:
    without = {"SLIPWAY_CATALOG": UNSET}
    assert stack.run("templates", **without).code == 2
    used = stack.run("use", stack.address, **without)
    assert used.code == 0 and f"{stack.name}, slipway-local us-central1, 2 templates" in used.out
    (elsewhere := stack.folder / "elsewhere").mkdir()
    environ = {name: value for name, value in stack.env().items() if name != "SLIPWAY_CATALOG"}
    assert slipway_in(("templates",), environ, elsewhere).code == 0 and not (stack.folder / ".slipway").exists()
    chosen = stack.run("use", **without).out
    assert chosen == f"{stack.address}/catalog.json  (chosen by {stack.folder / 'config' / 'catalog'})\n"
    assert "$SLIPWAY_CATALOG" in stack.run("use").out

    stack.put("other.json", json.dumps(stack.catalog).encode())
    other = f"{stack.address}/other.json"
    here = stack.run("use", "--here", other, **without)
    assert here.code == 0 and "warning" not in here.err
    assert stack.run("use", **without).out == f"{other}  (chosen by {stack.folder / '.slipway' / 'catalog'})\n"
    again = stack.run("use", stack.address, **without)
    assert f"has a choice of its own, {other}, which takes precedence" in again.err
    assert stack.run("use", "--here").code == 2


def test_a_catalog_that_cannot_be_read_is_not_remembered(stack: Stack) -> None:
    for flags in ((), ("--here",)):
        done = stack.run("use", *flags, "gs://no-such-bucket-anywhere", SLIPWAY_CATALOG=UNSET)
        assert done.code == 2 and "nothing is remembered" in done.err
    assert not list(stack.folder.rglob("catalog"))


def slipway(*words: str, **variables: str) -> "subprocess.CompletedProcess[str]":
    environ = {**os.environ, "PYTHONPATH": str(ROOT), **variables}
    command = [sys.executable, "-m", "slipway", *words]
    return subprocess.run(command, env=environ, capture_output=True, text=True, check=False)


def test_help_names_every_command_and_imports_none_of_them() -> None:
    script = (
        "import sys\nfrom slipway.cli import main\nmain(['--help'])\n"
        "heavy = {'requests', 'rich', 'pydantic', 'google.auth', 'pulumi', 'slipway.cli.submit'} & set(sys.modules)\n"
        "sys.exit(f'imported {heavy}' if heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stderr
    for command in ("submit", "templates", "jobs", "pools", "quota", "use", "check", "completion"):
        assert f"\n  {command} " in done.stdout


def test_submitting_imports_no_sdk_and_no_engine() -> None:
    script = (
        "import sys\nimport slipway.cli.submit\n"
        "heavy = {'google.cloud.aiplatform', 'google.cloud.aiplatform_v1', 'pulumi', 'pydantic', 'rich', 'yaml'}\n"
        "found = heavy & set(sys.modules)\nsys.exit(f'imported {found}' if found else 0)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "words",
    [
        ("submit",), ("templates",), ("templates", "show"), ("jobs",), ("jobs", "list"), ("jobs", "show"),
        ("jobs", "logs"), ("jobs", "wait"), ("jobs", "cancel"), ("pools",), ("quota",), ("use",), ("check",),
        ("completion",),
    ],
)  # fmt: skip
def test_every_command_has_help(words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*words, "--help"]) == 0
    assert "Usage: slipway" in capsys.readouterr().out


def test_the_version_is_told() -> None:
    done = slipway("--version")
    assert done.returncode == 0 and done.stdout.startswith("slipway 0.")


def test_an_unknown_command_gets_a_suggestion(snapshot: SnapshotAssertion, capsys: pytest.CaptureFixture[str]) -> None:
    for typed, meant in (
        ("sbmit", "slipway submit"),
        ("logs", "slipway jobs logs"),
        ("list", "slipway jobs list"),
        ("show", "slipway jobs show or slipway templates show"),
        ("status", "slipway jobs list, slipway jobs show JOB, slipway pools or slipway doctor"),
        ("version", "slipway --version"),
        ("ui", "slipway jobs open JOB, for its page in the console"),
    ):
        assert main([typed, "dask-digits"]) == 2
        assert capsys.readouterr().err == f"error: unknown command '{typed}'\n  fix: {meant}\n"
    assert main(["nothing-like-it"]) == 2
    assert capsys.readouterr().err == snapshot


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", shell]) == 0
    assert "_SLIPWAY_COMPLETE" in capsys.readouterr().out


def test_completion_knows_the_commands() -> None:
    done = slipway(_SLIPWAY_COMPLETE="bash_complete", COMP_LINE="slipway jo")
    assert "jobs" in done.stdout


def test_completion_knows_templates_and_jobs(stack: Stack) -> None:
    name = stack.run("submit", "hello", "--output", "json").json["job"]["displayName"]

    def offered(words: str, **variables: str) -> list[str]:
        typed = {"_SLIPWAY_COMPLETE": "bash_complete", "COMP_LINE": words}
        with stack.started(**{**typed, **variables}) as process:
            return process.communicate()[0].split()

    assert offered("slipway submit h") == ["plain,hello"]
    assert offered("slipway templates show cr") == ["plain,crew"]
    assert f"plain,{name}" in offered("slipway jobs logs hello-")
    assert offered("slipway submit h", GOOGLE_STORAGE_CUSTOM_ENDPOINT="http://127.0.0.1:9/v1/") == []


def test_a_terminal_gets_one_state_line_that_is_kept_up_to_date(stack: Stack) -> None:
    """The job runs until two states of it have been shown, however slow the machine is."""
    master, slave = pty.openpty()
    seen = stack.folder / "seen"
    code = f"import pathlib, time; print('a line')\nwhile not pathlib.Path({str(seen)!r}).exists(): time.sleep(0.1)"
    words = [sys.executable, "-m", "slipway", "submit", "hello", "-p", f"code={code}"]
    with subprocess.Popen(
        [*words, "--follow"], cwd=stack.folder, env=stack.env(TERM="xterm"), stdout=slave, stderr=slave
    ) as process:
        os.close(slave)
        shown = b""
        while True:
            try:
                read = os.read(master, 65536)
            except OSError:  # Linux says so when the other end is closed.
                break
            shown += read
            if b"main  a line" in shown and len(set(re.findall(rb"running (0:\d\d)", shown))) > 1:
                seen.touch()
        assert process.wait() == 0
    os.close(master)
    text = shown.decode()
    assert "main  a line" in text and re.search(r"running 0:(?!00)\d\d", text)
    assert "\x1b[2K" in text and "succeeded: started after" in text


def test_a_traceback_is_shown_only_when_asked_for(stack: Stack) -> None:
    plain = stack.run("submit", "helo")
    asked = stack.run("submit", "helo", "--debug")
    assert "Traceback" not in plain.err and "Traceback" in asked.err
    assert asked.code == plain.code == 2


def test_colour_only_where_it_is_wanted(stack: Stack) -> None:
    assert "\x1b[" not in stack.run("templates").out
    assert "\x1b[" in stack.run("templates", FORCE_COLOR="1").out
    assert "\x1b[" not in stack.run("templates", FORCE_COLOR="1", NO_COLOR="1").out


def test_a_reader_that_goes_away_is_no_fault(stack: Stack) -> None:
    with stack.started("templates", "--output", "json") as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.wait() == 1
        assert process.stderr is not None and "Traceback" not in process.stderr.read()


def test_a_log_is_followed_no_longer_than_it_is_read(stack: Stack) -> None:
    """`slipway jobs logs JOB --follow | grep --max-count=1 WORD` ends at the word, whatever the job says after it."""
    left = stack.folder / "left"
    code = f"import pathlib, time; print('a line')\nwhile not pathlib.Path({str(left)!r}).exists(): time.sleep(0.1)"
    job = stack.run("submit", "hello", "-p", f"code={code}", "--output", "json").json["job"]
    with stack.started("jobs", "logs", job["name"], "--follow") as process:
        assert process.stdout is not None
        while "a line" not in process.stdout.readline():
            pass
        process.stdout.close()
        assert process.wait() == 1
        assert process.stderr is not None and "Traceback" not in process.stderr.read()
    assert stack.cloud.rest("GET", f"/v1/{job['name']}")["state"] == "JOB_STATE_RUNNING"
    left.touch()


def test_beside_a_terminal_time_that_passes_is_no_news(
    snapshot: SnapshotAssertion, capsys: pytest.CaptureFixture[str]
) -> None:
    with display(Context(environ={}), quiet=True) as show:
        for second in range(3):
            said = f"nap-x  waiting 0:0{second}  pool full: 1 of 1 busy  (then spot in 0:{59 - second})"
            show.state(said.format)
        show.state("nap-x  running".format)
    assert capsys.readouterr().err.splitlines() == snapshot
