"""`slipway submit digits` against the model of the service, with a pool, then Spot, then on-demand machines."""

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from hypothesis import strategies as st

from slipway.model.catalog.clusters import Cluster
from slipway.model.catalog.model import Catalog
from slipway.model.catalog.template import Offer, Template
from slipway.model.prices import UNKNOWN
from slipway.using.submission.choice import Choice
from slipway.using.submission.costs import Spending
from slipway.using.submission.delivery import RetryPolicy
from slipway.using.submission.prepared import prepare
from slipway.using.submission.submission_request import SubmissionRequest
from slipway.using.submission.submission_result import SubmissionDisplay, SubmissionResult
from slipway.using.submission.submitter import Submitter
from slipway.using.submission.waiting_attempt import WaitingAttempt

from .service import HOME, Context, Journal, Service

FAULTS = st.lists(st.sampled_from(["", "", "lost", "busy", "kill", "killed"]), max_size=6)
POOL_REGIONS = st.sampled_from([HOME, "europe-west4"])
STARTS = st.lists(st.none() | st.integers(0, 40), max_size=4)


def catalog(*, launcher: bool, pool_region: str = HOME, cluster_id: str = "cpu-1") -> Catalog:
    claim = ["--claim", "gs://work/claims/${slipway.request}", "--module", "digits.task"]
    package = {
        "executorImageUri": "us-docker.pkg.dev/vertex-ai/training/sklearn-cpu.1-6:latest",
        "packageUris": ["gs://catalog/packages/digits.tar.gz"],
        "pythonModule": "slipway_launcher",
        "args": claim,
    }
    code = {"pythonPackageSpec": package} if launcher else {"containerSpec": {"imageUri": "digits@sha256:1"}}
    machine = {"machineSpec": {"machineType": "n1-standard-4"}, "replicaCount": 1, **code}

    def offer(name: str, cluster: str, wait: float | None, **scheduling: str) -> Offer:
        place = {"persistentResourceId": cluster_id} if cluster else {"scheduling": scheduling}
        labels = {"slipway-request": "${slipway.request}", "slipway-stack": "local", "slipway-template": "digits"}
        request = {
            "displayName": "${slipway.job}",
            "labels": {**labels, "slipway-capacity-type": name},
            "jobSpec": {"workerPoolSpecs": [machine], **place},
        }
        return Offer(name, True, "", cluster, ("workers",) if cluster else (), UNKNOWN, request, wait=wait)

    offers = (
        offer("pool", "cpu", 60.0),
        offer("spot", "", 30.0, strategy="SPOT"),
        offer("on-demand", "", None, strategy="STANDARD"),
    )
    template = Template("digits", "", "custom-job", ("main",), (), offers)
    clusters = {"cpu": Cluster("cpu", (), id=cluster_id, region=pool_region)}
    return Catalog("local", "p", "us-central1", "", False, "work", "t", clusters, (), {"digits": template})


@dataclass
class Told:
    """A display that records its messages, and agrees to costs or not."""

    agrees: bool = False
    notes: list[str] = field(default_factory=list)
    choices: list[Choice] = field(default_factory=list)
    waits: list[WaitingAttempt] = field(default_factory=list)
    given_up: list[WaitingAttempt] = field(default_factory=list)
    asked: list[Spending] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.note, self.falling_back = self.notes.append, self.given_up.append

    def chosen(self, _: Any, choice: Choice) -> None:
        self.choices.append(choice)

    def leaves_pool(self, _: str) -> None: ...

    def sent(self, *_: Any) -> None: ...

    def confirm(self, costs: Spending) -> None:
        if not self.agrees:
            raise costs.refusal
        self.asked.append(costs)

    @contextlib.contextmanager
    def watching(self, waiting: WaitingAttempt) -> Iterator[Callable[[Any], None]]:
        self.waits.append(waiting)
        yield lambda event: None


def command(
    service: Service,
    *,
    again: bool,
    asked: SubmissionRequest = SubmissionRequest("digits"),  # noqa: B008 - it is frozen
    show: SubmissionDisplay | None = None,
    renewed: bool = False,
    lacks: str = "",
    without_quota: str = "",
    confirm_above: float = 1000.0,
    **more: Any,
) -> SubmissionResult:
    """Run the command, typed once. `renewed`: the pool's cluster has been rolled over; `lacks`: the template has lost
    the offer of that capacity type; `without_quota`: that offer lacked quota when it was deployed; `more`: fields of
    the catalog."""
    cluster_id = "cpu-2" if renewed else "cpu-1"
    deployed = catalog(launcher=service.launcher, pool_region=service.pool_region, cluster_id=cluster_id)
    template = deployed.templates["digits"]
    offers = tuple(
        replace(offer, available=False, why="quota: short by 3", lacks_quota=True)
        if offer.capacity_type == without_quota
        else offer
        for offer in template.offers
        if offer.capacity_type != lacks
    )
    templates = {"digits": replace(template, offers=offers)}
    context: Any = Context(
        service, replace(deployed, templates=templates, quotas=service.ids, confirm_above=confirm_above, **more)
    )
    prepared = prepare(context.catalog, asked, "ada")
    journal: Any = Journal(service)
    return Submitter(context, journal, show or Told(), RetryPolicy()).submit(prepared, "r1", repeated=again)
