"""Steps of a workflow that no longer stop it, and time limits that stop it too early. # N5"""

from datetime import timedelta

import pytest

from slipway.model.findings.finding import Grade
from slipway.reviewing.findings.files import file_findings
from tests.slipway.reviewing.builders import change, cluster, facts
from tests.slipway.reviewing.edited_files import edit, edited, found

NOTE, WARNING, BLOCKING = Grade
WORKFLOW = ".github/workflows/up.yaml"
UP = """
jobs:
  up:
    timeout-minutes: 180
    steps:
      - name: Approved
        run: |
          set -euo pipefail
          python -I -m slipway review events --gate 2>&1 \\
            | tee gate.txt
      - name: Up
        run: |
          set -o pipefail
          pulumi up --stack prod | tee up.txt
  test:
    timeout-minutes: 60
    steps:
      - run: make test
"""
UNAPPROVED = "without `pipefail` step `Approved` can't fail by `--gate`: unapproved changes deploy"
INCOMPLETE = "without `pipefail` step `Up` can't fail by `pulumi up`: a failed deployment looks complete"


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("          set -euo pipefail\n", "", UNAPPROVED),
        ("set -euo pipefail", "set -e", UNAPPROVED),
        ("          set -o pipefail\n", "", INCOMPLETE),
    ],
)
def test_a_piped_command_that_can_no_longer_fail(old: str, new: str, sentence: str) -> None:
    (finding,) = found(edit(WORKFLOW, UP, old, new))
    assert finding.sentence == sentence
    by_itself = UP.replace("      - name: Approved\n", "      - name: Approved\n        shell: bash\n")
    (finding,) = found(edit(WORKFLOW, by_itself, old, new))
    assert "can't fail" not in finding.sentence and "before a pipe" not in finding.sentence


def test_a_gate_that_is_piped_anew_without_pipefail() -> None:
    bare = UP.replace("          set -euo pipefail\n", "").replace(" 2>&1 \\\n            | tee gate.txt", "")
    (finding,) = found(edit(WORKFLOW, bare, "--gate", "--gate | tee gate.txt"))
    assert finding.sentence == UNAPPROVED
    (finding,) = found(edit(WORKFLOW, bare, "--gate", "--gate || exit 1"))
    assert "can't fail" not in finding.sentence


@pytest.mark.parametrize(
    ("path", "before", "after", "sentence"),
    [
        (WORKFLOW, UP, UP.replace("180", "30"), "job `up` is killed after 30 min, while `h100` may wait 2 h"),
        (WORKFLOW, UP, UP.replace("180", "170"), ""),
        (WORKFLOW, UP, UP.replace("60", "30"), ""),
        (
            ".gitlab-ci.yml",
            "up: { timeout: 3h, script: [pulumi up] }",
            "up: { timeout: 1h 30m, script: [pulumi up] }",
            "`up` is killed after 1 h 30 min, while `h100` may wait 2 h",
        ),
    ],
)
def test_a_time_limit_below_the_wait_for_a_cluster(path: str, before: str, after: str, sentence: str) -> None:
    files = edited({path: before}, {path: after})
    stack = facts(cluster("cpu"), cluster("h100", create_within=timedelta(hours=2)))
    (finding,) = file_findings(change(stack, stack, files=files).comparison, files)
    assert (finding.sentence == sentence) if sentence else ("killed" not in finding.sentence)


STACKS = """
permissions: { id-token: write }
on: { workflow_dispatch: { inputs: { stack: { options: [dev, prod] } } } }
jobs: { up: { strategy: { matrix: { stack: [dev, staging, prod] } }, timeout-minutes: 60 } }
"""


@pytest.mark.parametrize(
    ("old", "new", "grade", "sentence"),
    [
        ("[dev, staging, prod]", "[dev, staging]", BLOCKING, "job `up` no longer runs for `prod`"),
        ("staging, prod]", "prod, staging]", BLOCKING, "another order of stacks: dev, staging, prod → dev, prod, stag"),
        ("[dev, prod]", "[prod, dev]", NOTE, "options"),
        ("minutes: 60", "minutes: 90", NOTE, "another time limit"),
        ("minutes: 60", "minutes: 30", BLOCKING, "another time limit"),
    ],
)
def test_the_stacks_of_a_workflow(old: str, new: str, grade: Grade, sentence: str) -> None:
    (finding,) = found(edit(WORKFLOW, STACKS, old, new))
    assert finding.grade is grade and sentence in finding.sentence


def test_a_workflow_that_can_only_read_is_a_note() -> None:
    tests = "permissions: { contents: read }\njobs: { test: { steps: [{ run: make test }] } }\n"
    assert found(edit(WORKFLOW, tests, "make test", "make lint"))[0].grade is NOTE
    assert found(edit(WORKFLOW, tests, "make test }", "make test, env: { A: x } }"))[0].grade is NOTE
    assert found(edit(WORKFLOW, tests, "contents: read", "contents: write"))[0].grade is BLOCKING
    assert found(edit(WORKFLOW, tests.partition("\n")[2], "make test", "make lint"))[0].grade is BLOCKING


HOURLY = "on: { schedule: [{ cron: 17 * * * * }], push: {} }\njobs: { up: { uses: $/.github/workflows/deploy.yaml } }\n"


@pytest.mark.parametrize(
    ("new", "sentence"),
    [
        ("schedule: [{ cron: 17 6 * * 1 }], ", "scheduled runs are up to 7 days apart, were 1 h: dates, idle limits"),
        ("schedule: [{ cron: 18 * * * * }], ", "the schedule is `18 * * * *`, was `17 * * * *`"),
        ("", "no longer runs by itself: dates, idle limits and retries wait for another deployment"),
    ],
)
def test_the_schedule_of_a_workflow_that_deploys(new: str, sentence: str) -> None:
    (finding,) = found(edit(WORKFLOW, HOURLY, "schedule: [{ cron: 17 * * * * }], ", new))
    assert finding.grade is BLOCKING and finding.sentence.startswith(sentence)


CHAIN = """
on: { push: { branches: [main] } }
jobs:
  prod: { needs: [dev, staging], environment: prod, steps: [{ run: make up }] }
"""


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("[dev, staging]", "[dev]", "job `prod` no longer waits for `staging`"),
        ("environment: prod", "environment: dev", "job `prod` leaves environment `prod` with its reviewers"),
        ("environment: prod, ", "", "job `prod` leaves environment `prod` with its reviewers"),
        ("[main] }", "[main], paths-ignore: [jobs] }", "no longer starts for changes of `jobs` alone"),
    ],
)
def test_conditions_of_a_deployment(old: str, new: str, sentence: str) -> None:
    (finding,) = found(edit(WORKFLOW, CHAIN, old, new))
    assert finding.grade is BLOCKING and sentence in finding.sentence


def test_a_file_that_hides_a_module_of_python() -> None:
    (finding,) = found(edited({}, {"secrets.py": "TOKEN = 1\n"}))
    assert finding.sentence == "`secrets.py` hides Python's module `secrets` from the program"
