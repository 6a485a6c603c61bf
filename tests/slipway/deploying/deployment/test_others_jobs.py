"""Jobs of other deployments, as an account that the stack neither made nor deletes: they keep no stack. # N1"""

from typing import Any

import pytest

from slipway.deploying.deployment import deletion_guard as module
from slipway.deploying.deployment.deletion_guard import GuardSubject, StackGuard
from slipway.google.catalog.document import PublishedCatalog
from slipway.google.jobs import VertexJob
from slipway.google.live import InUse, Unknown
from slipway.google.unfinished_jobs import must_be_idle
from slipway.model.identity import Identity
from slipway.model.labels import STACK_LABEL
from slipway.model.state import State, StateResource

OWN, THEIRS = Identity("delta", "dev", "ml"), Identity("alpha", "dev", "ml")
LENT, MADE = "runner@acme.iam.gserviceaccount.com", "delta--dev--trainer@acme.iam.gserviceaccount.com"
STATE = State(
    accounts=(StateResource("trainer", LENT, "acme"), StateResource("trainer.made", MADE, "acme")),
    buckets=(StateResource("work.lake", "lake", ""), StateResource("catalog", "delta-catalog", "acme")),
    called={LENT: "Runner", MADE: "Slipway trainer"},
)
WHOLE = GuardSubject()
PUBLISHED = PublishedCatalog(needs=frozenset({LENT, "lake"}), identity=THEIRS)


def job(label: str, account: str = LENT, bucket: str = "lake", cluster: str = "") -> VertexJob:
    at = f"projects/acme/locations/us-central1/customJobs/{label}"
    labels = {STACK_LABEL: label} if label else {}
    return VertexJob(
        at,
        "nap",
        "JOB_STATE_RUNNING",
        labels,
        persistent_resource_id=cluster,
        service_account=account,
        buckets=frozenset({bucket}),
    )


@pytest.fixture
def used(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return the jobs that keep the stack, or a resource, of these that have not ended."""

    def found(*jobs: VertexJob, subject: GuardSubject = WHOLE, catalogs: Any = None) -> int:
        catalogs = {"alpha-catalog": PUBLISHED} if catalogs is None else catalogs
        monkeypatch.setattr(module, "connect", lambda environ: None)
        monkeypatch.setattr(module, "neighbours", lambda reader: catalogs)
        monkeypatch.setattr(StackGuard, "reader", lambda guard, place: None)
        in_use = InUse(jobs, clusters=frozenset({"cpu-1a2b3c4"}))
        monkeypatch.setattr(module, "use_of_stack", lambda *given: in_use)
        use = StackGuard({}, OWN.label, ("acme", "us-central1"), STATE).use(subject)
        assert isinstance(use, InUse)
        return len(use.jobs)

    return found


@pytest.mark.parametrize("subject", [WHOLE, GuardSubject(account=LENT), GuardSubject("", LENT, "lake")])
def test_a_job_of_another_deployment_keeps_nothing_that_its_own_catalog_keeps(used: Any, subject: GuardSubject) -> None:
    assert used(job(THEIRS.label), subject=subject) == 0
    assert used(job(THEIRS.label), job(OWN.label), subject=subject) == 1


@pytest.mark.parametrize(
    ("kept", "catalogs"),
    [
        (job(OWN.label), None),
        (job(""), None),
        (job(THEIRS.label, cluster="cpu-1a2b3c4"), None),
        (job(THEIRS.label, bucket="delta-catalog"), None),
        (job(THEIRS.label, account=MADE), None),
        (job(THEIRS.label), {}),
        (job(THEIRS.label), {"alpha-catalog": PublishedCatalog(identity=THEIRS)}),
        (job(THEIRS.label), Unknown("denied", "", "")),
    ],
    ids=["own", "no label", "own cluster", "own catalog", "own account", "no catalog", "not in it", "unread"],
)
def test_every_other_job_keeps_it(used: Any, kept: VertexJob, catalogs: Any) -> None:
    assert used(kept, catalogs=catalogs) == 1


def test_a_message_says_whose_job_it_is() -> None:
    with pytest.raises(Exception, match="nap of stack dev of Pulumi project alpha, workspace ml: they run elsewhere"):
        must_be_idle(InUse((job(THEIRS.label),), clusters=frozenset()), "the stack is not deleted")
