"""Edited files as findings: deployment code, dependencies, job code, its contract, secrets. # N5 # N14"""

import pytest

from slipway.model.findings.finding import Grade
from slipway.reviewing.change.files import Files
from tests.slipway.reviewing.builders import offer, request, template, worker_pool
from tests.slipway.reviewing.edited_files import CODE, TASK, edit, edited, found, lora

WORKFLOW = ".github/workflows/up.yaml"
UP = """
on:
  push: { branches: [main] }
permissions: {}
jobs:
  up:
    runs-on: ubuntu-24.04
    timeout-minutes: 180
    environment: prod
    permissions: { contents: read, id-token: write }
    concurrency: { group: up-prod, cancel-in-progress: false, queue: max }
    steps:
      - uses: actions/checkout@3d3c42e5aac5ba805825da76410c181273ba90b1 # v7
      - name: Approved
        run: python -I -m slipway review events --gate
      - name: Up
        run: pulumi up --stack prod
"""


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("timeout-minutes: 180", "timeout-minutes: 100", "`180` → `100`"),
        ("cancel-in-progress: false", "cancel-in-progress: true", "a newer run cancels job `up`"),
        (", queue: max", "", "a waiting run of job `up` is cancelled"),
        ("group: up-prod", "group: other", "no longer waits for runs of the group `up-prod`"),
        ("    environment: prod\n", "", "leaves environment `prod` with its reviewers"),
        ("contents: read", "contents: write", "permission `contents: write`"),
        (", id-token: write", "", "can't sign in to Google Cloud"),
        ("  push:", "  pull_request_target:\n  push:", "starts on `pull_request_target`"),
        ("[main]", "['*']", "no longer starts as before"),
        (" --gate", "", "step `Approved` no longer has `--gate`"),
        ("pulumi up", "pulumi up --skip-preview", "step `Up` now contains `--skip-preview`"),
        ("      - name: Up\n", "      - name: Up\n        if: always()\n", "continues after a failure"),
        ("runs-on: ubuntu-24.04", "runs-on: self-hosted", "runs on `self-hosted`"),
        ("name: Up\n", "name: Up\n        env: { A: '${{ secrets.PAT }}' }\n", "reads secret `PAT`"),
    ],
)
def test_the_worst_effect_of_a_workflow_is_named(old: str, new: str, words: str) -> None:
    (finding,) = found(edit(WORKFLOW, UP, old, new))
    assert (finding.kind, finding.subject, finding.grade) == (
        "deployment-code-changed",
        "workflow up.yaml",
        Grade.BLOCKING,
    )
    assert words in finding.sentence and finding.details


@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        (WORKFLOW, UP, UP.replace("# v7", "# v7.0.1")),
        (WORKFLOW, UP, UP.replace("runs-on: ubuntu-24.04", "runs-on: 'ubuntu-24.04'")),
        ("__main__.py", "x = 1\n", "# Why.\nx = (\n    1\n)\n"),
        (".github/README.md", "", "text"),
        ("docs/ci.md", "a", "b"),
        ("jobs/lora/test_task.py", "", "def test() -> None: ...\n"),
        (TASK, CODE, f"# Trains.\n{CODE}"),
        ("jobs/lora/__pycache__/task.cpython-310.pyc", "", "x"),
        ("jobs/lora/lora.egg-info/PKG-INFO", "", "x"),
        (".mypy_cache/3.11/a.json", "", "{}"),
        ("stacks/Pulumi.dev.yaml", "encryptionsalt: a\n", "encryptionsalt: b\n"),
        ("stacks/Pulumi.prod.yaml", "config: { slipway:x: 1 }\n", "config: { slipway:x: 2 }\n"),
    ],
)
def test_a_change_without_effect_is_no_finding(path: str, before: str, after: str) -> None:
    assert found(edited({path: before}, {path: after}), lora("--model=a")) == []


@pytest.mark.parametrize(
    ("path", "after", "subject"),
    [
        ("__main__.py", "import subprocess\n", "program"),
        ("a\nb.py", "x = 1\n", "program"),
        ("google/__init__.py", "", "program"),
        ("policy/rules.py", "x = 1\n", "code of the policy"),
        ("Pulumi.yaml", "runtime: nodejs\n", "file Pulumi.yaml"),
        ("../.gitlab-ci.yml", "a: { script: [b] }\n", "workflow .gitlab-ci.yml"),
        (".github/CODEOWNERS", "* @eve\n", "file CODEOWNERS"),
    ],
)
def test_files_that_deploy_are_blocking(path: str, after: str, subject: str) -> None:
    (finding,) = found(edited({}, {path: after}))
    assert (finding.subject, finding.grade) == (subject, Grade.BLOCKING)
    assert "\n" not in "".join((finding.sentence, *finding.details))


def test_a_file_that_can_t_be_compared_is_blocking() -> None:
    files = Files(
        frozenset({"big.py", "templates/a.py"}), links=frozenset({"templates/a.py"}), unread=frozenset({"big.py"})
    )
    (finding,) = found(files)
    assert finding.subject == "program" and "not compared" in finding.details[0] and "link" in finding.details[1]


def test_keys_of_the_stack_file_that_pulumi_reads_are_blocking() -> None:
    sides = ("encryptionsalt: v1:a\nconfig: {}\n", "config: { gcp:impersonateServiceAccount: a@b }\n")
    findings = found(edited({"stacks/Pulumi.prod.yaml": sides[0]}, {"stacks/Pulumi.prod.yaml": sides[1]}))
    assert {finding.subject for finding in findings} == {"key encryptionsalt", "key gcp:impersonateServiceAccount"}
    (gone,) = found(edited({"stacks/Pulumi.dev.yaml": sides[0]}, {}))
    assert gone.subject == "stack dev"


@pytest.mark.parametrize(
    ("after", "words", "grade"),
    [
        ("click==8.3.0", "`click` `8.2.0` → `8.3.0`", Grade.WARNING),
        ("click==9.0.0", "(major version)", Grade.WARNING),
        ("click>=8", "(not pinned)", Grade.BLOCKING),
        ("click==8.2.0\n-i https://x.example/simple", "(another source)", Grade.BLOCKING),
        ("click @ https://x.example/click.zip", "(another source)", Grade.BLOCKING),
        ("click==8.2.0\nreqeusts==1.0", "`reqeusts` none → `1.0`", Grade.BLOCKING),
        ("", "`click` `8.2.0` → none", Grade.BLOCKING),
    ],
)
def test_packages_of_the_deployment(after: str, words: str, grade: Grade) -> None:
    (finding,) = found(edited({"requirements.txt": "click==8.2.0\n"}, {"requirements.txt": f"{after}\n"}))
    assert (finding.kind, finding.subject, finding.grade) == ("dependency-changed", "program packages", grade)
    assert words in finding.sentence


@pytest.mark.parametrize(
    ("path", "before", "after", "words"),
    [
        ("uv.lock", 'name = "a"\nversion = "1.0"\n', 'name = "a"\nversion = "1.1"\n', "`a` `1.0` → `1.1`"),
        ("pyproject.toml", 'dependencies = ["a==1"]\n', 'dependencies = ["a==2"]\n', "(major version)"),
        ("pyproject.toml", "", '[tool.uv]\nindex-url = "https://x.example/simple"\n', "(another source)"),
    ],
)
def test_other_lists_of_packages(path: str, before: str, after: str, words: str) -> None:
    (finding,) = found(edited({path: before}, {path: after}))
    assert words in finding.sentence


def test_an_action_without_a_digest_is_blocking() -> None:
    (finding,) = found(edit(WORKFLOW, UP, "3d3c42e5aac5ba805825da76410c181273ba90b1", "v8"))
    assert (finding.subject, finding.grade) == ("program actions", Grade.BLOCKING)


def test_requirements_and_image_of_a_template() -> None:
    new = lora(image="acme/a:1", requirements=("torch",))
    both = {str(finding.subject): finding for finding in found(Files(), lora(requirements=("torch==2.4",)), new)}
    assert both["template lora requirements"].grade is Grade.BLOCKING
    assert "`a:1`" in both["template lora image"].sentence


@pytest.mark.parametrize(
    ("line", "grade"),
    [("peft", Grade.WARNING), ("peft==0.13.0", Grade.WARNING), ("git+https://x.example/peft", Grade.BLOCKING)],
)
def test_a_new_requirement_of_a_job(line: str, grade: Grade) -> None:
    (finding,) = found(Files(), lora(), lora(requirements=(line,)))
    assert finding.grade is grade and " none → " in finding.sentence


def test_a_template_that_takes_another_folder_runs_other_code() -> None:
    old, new = (
        template("lora", offer(request=request(worker_pool(args=["--module", f"{name}.task", "--"])))) for name in "ab"
    )
    code = {"jobs/a/task.py": "x = 1\n", "jobs/b/task.py": "x = 2\n"}
    (finding,) = found(edited({**code, "templates/lora.py": "1"}, {**code, "templates/lora.py": "2"}), old, new)
    assert (finding.kind, finding.grade) == ("job-code-changed", Grade.WARNING)
    assert finding.sentence == "new jobs run other code: module `b.task` instead of `a.task`"
    assert found(edited({"jobs/a/task.py": "x = 1\n"}, {"jobs/b/task.py": "x = 1\n"}), old, new) == []


def test_a_serving_image_that_is_not_pinned_is_a_warning() -> None:
    uploads = [{"modelToUpload": {"containerSpec": {"imageUri": f"acme/serve:{tag}"}}} for tag in (1, 2)]
    old, new = (template("lora", offer(request={**request(worker_pool()), **upload})) for upload in uploads)
    (finding,) = found(Files(), old, new)
    assert (finding.subject, finding.grade) == ("template lora serving image", Grade.WARNING)


def test_another_version_with_the_hashes_of_the_one_before() -> None:
    before = "urllib3==2.8.0 \\\n    --hash=sha256:aa\n"
    (finding,) = found(edited({"requirements.txt": before}, {"requirements.txt": before.replace("2.8.0", "2.8.1")}))
    assert finding.grade is Grade.BLOCKING and "hashes of the version before" in finding.sentence
    changed = before.replace("2.8.0", "2.8.1").replace("aa", "bb")
    (finding,) = found(edited({"requirements.txt": before}, {"requirements.txt": changed}))
    assert finding.grade is Grade.WARNING


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (
            'gcp.storage.BucketIAMMember("x", bucket="work", role="roles/storage.admin", member="domain:acme.example")',
            "grants `roles/storage.admin` on `work` to `domain:acme.example`",
        ),
        (
            'IAMBinding("x", project="p", role="roles/viewer", members=["group:a@x.example", "user:b@x.example"])',
            "grants `roles/viewer` on `p` to `group:a@x.example` and `user:b@x.example`, and takes it from all others",
        ),
    ],
)
def test_grants_of_a_program_are_named(call: str, sentence: str) -> None:
    (finding,) = found(edit("__main__.py", "import pulumi_gcp as gcp\n", "gcp\n", f"gcp\n{call}\n"))
    assert sentence in finding.sentence
    (finding,) = found(edit("__main__.py", f"{call}\nx = 1\n", "x = 1", "x = 2"))
    assert "grants" not in finding.sentence


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ('gcp.projects.IAMBinding("b", role="roles/viewer")', "takes `roles/viewer` from all others"),
        ("size = 2 if date.today().weekday() < 5 else 1", "another run may deploy something else"),
        ("pulumi.runtime.register_resource_transform(t)", "can change what any resource is deployed with"),
    ],
)
def test_code_of_a_program_that_a_review_can_not_foresee(line: str, text: str) -> None:
    (finding,) = found(edited({"__main__.py": "deploy()\n"}, {"__main__.py": f"{line}\ndeploy()\n"}))
    assert finding.grade is Grade.BLOCKING and text in finding.sentence
