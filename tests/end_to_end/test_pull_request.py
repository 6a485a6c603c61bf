"""Whole pull requests on the local cloud: branch, edit, comment, gate, merge, up, the next one. # N5 N14 D7"""

import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from slipway.deploying.engine.events import STREAMING
from tests.checkouts.checkout import MACHINE, Checkout
from tests.checkouts.git import git
from tests.checkouts.shell import Done
from tests.ci.github import WRITTEN, Artifact, GitHub, Review, served
from tests.local.conftest import ROOT

pytestmark = pytest.mark.journey

GROWS = "| cluster `cpu` | replace (create before delete): `pools.all.replicas.max`"
"""The row of a pool that grows."""


@dataclass(frozen=True)
class Repository:
    checkout: Checkout

    def git(self, *words: str) -> str:
        return git(self.checkout.folder, *words)

    def begin(self) -> None:
        shutil.copy(ROOT / ".gitignore", self.checkout.folder)
        (self.checkout.folder / "slipway").symlink_to(ROOT / "slipway")  # its own source, so main judges by that
        self.git("init", "-q", "-b", "main")
        self.commit("first")

    def commit(self, why: str) -> None:
        self.git("add", "--all")
        self.git("commit", "-qm", why)

    def reviewed(self, *flags: str, base: str = "main") -> Done:
        """`make review BASE=main`, as the identity that can only read."""
        words = ("--base", base, "--stack", self.checkout.stack, *flags)
        return self.checkout.run(
            sys.executable, "-m", "local.pull_request", *words, role="previewer", **self.checkout.forked
        )

    def merged(self, branch: str) -> None:
        self.git("checkout", "-q", "main")
        self.git("merge", "-q", "--squash", branch)
        self.commit(branch)

    def previewed(self) -> Path:
        """Return what the deployment previews right before it begins."""
        events = self.checkout.state / "gate.jsonl"
        events.write_text(self.checkout.pulumi("preview", "--json", role="previewer", **STREAMING).out)
        return events

    def commented(self, github: GitHub, review: str) -> Done:
        """Write the comment as the pull request's run does, which keeps the record."""
        told, kept = self.checkout.state / "review.json", self.checkout.state / "record"
        told.write_text(review)
        github.tree = self.git("rev-parse", "HEAD^{tree}")
        kept.mkdir()
        flags = ("--output", "markdown", "--github", "comment", "--gate")
        given = {**github.variables(merged=False), "SLIPWAY_RECORD": str(kept)}
        done = self.checkout.slipway("review", str(told), *flags, **given)
        github.artifacts = [Artifact(file.read_text(), file.name) for file in kept.iterdir()]
        return done

    def gate(self, github: GitHub, events: Path) -> Done:
        """Ask the gate once more, as the deployment does."""
        github.tree = self.git("rev-parse", "HEAD^{tree}")
        asked = {**github.variables(merged=True), "REVIEWED_BY": "preview.yaml"}
        return self.checkout.slipway("review", str(events), "--gate", "--github", "ask", role="previewer", **asked)


@pytest.mark.deployed
def test_pull_requests_from_the_branch_to_the_deployment(checkout: Checkout) -> None:
    repository = Repository(checkout)
    repository.begin()
    a_pool_grows(repository)
    a_template_cant_be_loaded(repository)
    a_template_breaks_another_stack(repository)
    with served() as github:
        somebody_is_shut_out(repository, github)
        what_was_not_approved_is_not_deployed(repository, github)


def a_pool_grows(repository: Repository) -> None:
    """It hurts nobody, so it needs no approval; what main has by then is nothing."""
    checkout = repository.checkout
    job = checkout.submit("-p", "seconds=600")
    repository.git("checkout", "-qb", "grow")
    checkout.write(persistentResources={"cpu": {"pools": {"all": {**MACHINE, "replicas": {"min": 1, "max": 3}}}}})
    repository.commit("more machines")
    done = repository.reviewed("--output", "markdown", "--gate")
    assert done.code == 0, done.said
    assert f"### Slipway plan for {checkout.stack}: ⚠ 1 warning" in done.out, done.said
    assert f"{GROWS} 2 → 3" in done.out and f"job `{job['displayName']}` (submitter, " in done.out
    assert "Incomplete" not in done.out
    repository.merged("grow")
    checkout.up()
    going_back_is_reviewed(repository)
    checkout.cloud.cancel(job["name"])


def going_back_is_reviewed(repository: Repository) -> None:
    """As docs/runbook.md tells it; that the old generation is current again then, test_generations shows. # N1"""
    page = (ROOT / "docs" / "runbook.md").read_text(encoding="utf-8")
    block = page.split("## Going back")[1].split("```sh\n")[1]
    for line in block.splitlines()[:2]:
        repository.git(*line.replace("GOOD", "main~1").split()[1:])
    said = repository.reviewed().out
    assert "pools.all.replicas.max 3 → 2; cpu-" in said and "exists already" in said, said
    repository.git("checkout", "-q", "main")


def a_template_cant_be_loaded(repository: Repository) -> None:
    """The rest of its change is told all the same, and of the template that it is refused."""
    checkout = repository.checkout
    repository.git("checkout", "-qb", "load")
    template = checkout.folder / "templates" / "nap.py"
    text = template.read_text()
    template.write_text(text.replace("name=", "called="))
    checkout.write(persistentResources={"cpu": {"pools": {"all": {**MACHINE, "replicas": {"min": 1, "max": 4}}}}})
    repository.commit("a field that no template has")
    said = repository.reviewed("--output", "markdown").out
    refused = "templates/nap.py can't be loaded"
    assert f"is rejected: {refused}" in said, said
    assert f"{GROWS} 3 → 4" in said and "template `nap`" not in said, said
    for wrong, why in ((template.read_text(), refused), (text.replace("nap.task", "nap.tasks"), "no module nap.tasks")):
        template.write_text(wrong)
        for verb in ("preview", "up"):
            done = checkout.pulumi(verb)
            assert done.code and why in done.said, done.said
            replaced = "replace (create before delete)" in done.said
            assert (verb == "up") is not replaced, "`up` tells nothing that does not come"
    repository.git("checkout", "-qf", "main")
    repository.git("checkout", "-qb", "bucket")
    cpu = {"pools": {"all": {**MACHINE, "replicas": {"min": 1, "max": 4}}}}
    checkout.write(persistentResources={"cpu": cpu}, workspace={"workBucket": "other-work"})
    repository.commit("another bucket")
    said = repository.reviewed("--output", "markdown").out
    assert "can't become bucket gs://other-work" in said, said
    assert f"{GROWS} 3 → 4" in said, said
    for verb in ("preview", "up"):
        done = checkout.pulumi(verb)
        assert done.code and "can't become bucket gs://other-work" in done.said, done.said
    repository.git("checkout", "-q", "main")


def a_template_breaks_another_stack(repository: Repository) -> None:
    """Its machine becomes a key of this stack, and the other one that offers it has no such key."""
    checkout = repository.checkout
    shutil.copy(checkout.file, checkout.file.with_name("Pulumi.other.yaml"))
    repository.commit("another stack")
    repository.git("checkout", "-qb", "key")
    template = checkout.folder / "templates" / "nap.py"
    template.write_text(template.read_text().replace('"n1-standard-4"', '"small"'))
    cpu = {"pools": {"all": {**MACHINE, "replicas": {"min": 1, "max": 3}}}}
    checkout.write(persistentResources={"cpu": cpu}, machines={"small": "n1-standard-4"})
    repository.commit("a machine by its key")
    said = repository.reviewed("--output", "markdown").out
    broken = "template nap names machine 'small', which stack other does not have"
    assert "| ⛔ | `other`: deployment | is rejected: " in said and broken in said, said
    repository.git("checkout", "-qb", "broken")  # where main has it already, it is not of the next change
    template.write_text(template.read_text().replace("says a word", "says one word"))
    repository.commit("other words")
    said = repository.reviewed("--output", "markdown", base="key").out
    assert "| ⛔ | `other`: deployment |" not in said and broken in said, said
    repository.git("checkout", "-q", "main")


def somebody_is_shut_out(repository: Repository, github: GitHub) -> None:
    checkout = repository.checkout
    repository.git("checkout", "-qb", "out")
    checkout.write(
        persistentResources={"cpu": {"pools": {"all": {**MACHINE, "replicas": {"min": 1, "max": 3}}}}},
        workspace={"submitters": ["user:bob@company.example"]},
    )
    repository.commit("others submit")
    shut = repository.commented(github, repository.reviewed("--output", "json").out)
    assert shut.code == 5, shut.said
    assert "`ml-engineers@company.example` can no longer submit jobs" in shut.out, shut.out
    (comment,) = github.comments
    comment.at = WRITTEN
    repository.merged("out")
    events = repository.previewed()
    commented = repository.gate(github, events)
    assert commented.code == 5, "neither a comment nor its record is an approval"
    github.reviews = [Review(tree=github.tree)]
    approved = repository.gate(github, events)
    assert approved.code == 0, approved.said


def what_was_not_approved_is_not_deployed(repository: Repository, github: GitHub) -> None:
    checkout = repository.checkout
    checkout.write(persistentResources={"other": {"pools": {"all": {**MACHINE, "replicas": 1}}}}, templates=[])
    repository.commit("and something else")
    stopped = repository.gate(github, repository.previewed())
    assert stopped.code == 5
    assert f"another tree, {str(github.reviews[0].tree)[:12]}, than this one, {github.tree[:12]}" in stopped.err
