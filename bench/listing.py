"""The listing of 10,000 jobs page by page: the last pages against the first ones."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import quote

from bench.errors import BenchError
from bench.ground import Ground, Tell
from bench.result import Result
from bench.submit import Submitter
from bench.sweep import end_all

JOBS, PAGE = 10_000, 100
_JOBS = "/v1/projects/local-project/locations/us-central1/customJobs"
_SENDERS = 8


def pages(ground: Ground, runs: int, tell: Tell) -> list[Result]:
    """Return the seconds for the last tenth of the pages against the first tenth, each page's best of `runs` times
    through the list."""
    submitter = Submitter(ground)
    with ThreadPoolExecutor(_SENDERS) as senders:
        list(senders.map(lambda _: submitter.cloud.call("POST", _JOBS, submitter.request), range(JOBS)))
    tell(f"{JOBS:,} jobs sent")
    end_all(submitter)
    tell("and ended")
    tenth = JOBS // PAGE // 10
    best = list(map(min, zip(*(_through(submitter) for _ in range(min(runs, 3))), strict=True)))
    return [Result("list-10000", sum(best[-tenth:]), sum(best[:tenth]), 1.25)]


def _through(submitter: Submitter) -> list[float]:
    """Return the seconds of each page. Raises BenchError when a job is listed twice or not at all."""
    seconds: list[float] = []
    names, token = set[str](), ""
    while token or not seconds:
        began = time.monotonic()
        page = submitter.cloud.call("GET", f"{_JOBS}?pageSize={PAGE}&pageToken={quote(token)}")
        seconds.append(time.monotonic() - began)
        names.update(job["name"] for job in page["customJobs"])
        token = page.get("nextPageToken", "")
    if len(names) < JOBS or len(seconds) < JOBS // PAGE:
        raise BenchError(f"{len(names)} jobs were listed on {len(seconds)} pages, of {JOBS} or more")
    return seconds[: JOBS // PAGE]
