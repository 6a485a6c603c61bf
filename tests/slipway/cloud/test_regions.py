"""Vertex AI in several regions at once: what is listed and what is looked up, where. # N2"""

from __future__ import annotations

from collections.abc import Iterator
from threading import Barrier
from typing import Any, cast

import pytest

from slipway.cloud.endpoints import Endpoints
from slipway.cloud.failures import Answer, Call, CloudError, failure
from slipway.cloud.vertex import Vertex
from slipway.errors import ConfigError, ResourceError
from slipway.jobs.finding import find_jobs
from slipway.kinds import CUSTOM_JOB, KINDS

HOME, AWAY = "us-central1", "europe-west4"
PARENT = "projects/p/locations"


class Session:
    """Three jobs, two of them in the other region. No region's list is answered before each has been asked for its
    own."""

    def __init__(self) -> None:
        self._together = Barrier(2)
        self.asked: list[str] = []
        self.jobs = {
            region: [
                {"name": f"{PARENT}/{region}/customJobs/{number}", "createTime": f"2026-11-20T12:00:0{number}Z"}
                for number in numbers
            ]
            for region, numbers in ((HOME, (2,)), (AWAY, (3, 1)))
        }

    def pages(self, url: str, call: Call, collection: str, params: Any) -> Iterator[Any]:
        region = url.partition("/locations/")[2].partition("/")[0]
        assert url.startswith(f"https://{region}-aiplatform.googleapis.com/")
        if collection != "customJobs" or params.get("filter"):
            return
        self._together.wait(10)
        yield from self.jobs[region]

    def get(self, url: str, call: Call) -> Any:
        self.asked.append(url.partition("/v1/")[2])
        found = [one for jobs in self.jobs.values() for one in jobs if url.endswith(one["name"])]
        if not found:
            raise failure(call, Answer(404, "NOT_FOUND", "no"))
        return found[0]


def vertex(session: Session) -> Vertex:
    return Vertex(cast(Any, session), Endpoints(), "p", HOME, (AWAY, HOME))


def test_a_list_is_of_all_regions_and_each_is_asked_at_the_same_time() -> None:
    assert vertex(Session()).regions == (HOME, AWAY)
    assert [job.id for job in vertex(Session()).jobs(CUSTOM_JOB)] == ["3", "2", "1"]
    assert [job.region for job in vertex(Session()).jobs(CUSTOM_JOB)] == [AWAY, HOME, AWAY]


def test_a_number_is_looked_up_in_each_region_and_a_full_name_in_its_own() -> None:
    session = Session()
    (found,) = find_jobs(vertex(session), "3")
    assert found.region == AWAY
    own = [f"{PARENT}/{HOME}/{kind.collection}/3" for kind in KINDS.values()]
    assert session.asked == [*own, f"{PARENT}/{AWAY}/customJobs/3"], "its own first: another may not answer"
    assert find_jobs(vertex(session), f"{PARENT}/{AWAY}/customJobs/1")[0].id == "1"
    assert session.asked[-1] == f"{PARENT}/{AWAY}/customJobs/1"


@pytest.mark.parametrize(
    ("text", "kind", "said"),
    [
        ("nobody", ResourceError, "no job 'nobody' in p, us-central1 or europe-west4"),
        (f"{PARENT}/asia-east1/customJobs/1", ConfigError, "asia-east1, the catalog's stack in us-central1 and europe"),
        ("projects/q/locations/europe-west4/customJobs/1", ConfigError, "is in project q, the catalog's stack in p"),
    ],
)
def test_what_is_not_there_is_said_with_where_was_looked(text: str, kind: type[Exception], said: str) -> None:
    with pytest.raises(kind) as raised:
        find_jobs(vertex(Session()), text)
    assert said in str(getattr(raised.value, "what", raised.value))


class HalfDown(Session):
    """A region does not answer; another has one job, of whatever name is asked for."""

    def __init__(self, down: str = AWAY) -> None:
        super().__init__()
        self._down = down

    def get(self, url: str, call: Call) -> Any:
        if f"/{self._down}/" in url:
            self.asked.append(url.partition("/v1/")[2])
            raise failure(call, Answer(503, "UNAVAILABLE", "down"))
        return super().get(url, call)

    def pages(self, url: str, call: Call, collection: str, params: Any) -> Iterator[Any]:
        if f"/{AWAY}/" in url:
            raise failure(call, Answer(503, "UNAVAILABLE", "down"))
        if collection == "customJobs" and "tune-1" in params.get("filter", ""):
            yield self.jobs[HOME][0]


def test_a_job_is_found_by_its_number_while_another_region_does_not_answer() -> None:
    """That there is none nobody can tell. A region that does not answer is not asked for each kind of job."""
    for down, number in ((AWAY, "2"), (HOME, "3")):
        session = HalfDown(down)
        assert [job.id for job in find_jobs(vertex(session), number)] == [number]
        with pytest.raises(CloudError, match="down"):
            find_jobs(vertex(session), "9")
        assert sum(f"/{down}/" in url for url in session.asked) <= 2


def test_a_job_is_found_by_its_name_while_another_region_does_not_answer() -> None:
    """It may have to be cancelled. That there is none, or which is a template's newest, nobody can tell."""
    assert [job.id for job in find_jobs(vertex(HalfDown()), "tune-1")] == ["2"]
    for text in ("tune-2", "tune"):
        with pytest.raises(CloudError, match="down"):
            find_jobs(vertex(HalfDown()), text, stack="dev")
