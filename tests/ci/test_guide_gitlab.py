"""docs/gitlab.md is run, around the block of docs/ci.md that it asks for, with stand-ins that note it."""  # D5

from __future__ import annotations

import re

import pytest

from tests.ci.conftest import ROOT
from tests.ci.test_guide import BLOCKS, asked

GUIDE = (ROOT / "docs" / "gitlab.md").read_text()
OWN = re.findall(r"^```sh\n(.*?)^```$", GUIDE, re.M | re.S)
JOBS = "".join(path.read_text() for path in (ROOT / "slipway" / "front" / "starter" / "gitlab").glob("*.yml"))


@pytest.fixture(scope="module")
def calls(tmp_path_factory: pytest.TempPathFactory) -> list[list[str]]:
    first, after = OWN
    _, each = BLOCKS
    return asked(tmp_path_factory.mktemp("guide"), first, each, after)


def test_nothing_is_asked_of_github(calls: list[list[str]]) -> None:
    assert {call[0] for call in calls} == {"gcloud", "glab", "make"}


def test_every_variable_that_the_jobs_read_is_set(calls: list[list[str]]) -> None:
    read = set(re.findall(r"(?:of_stack|settings) ([A-Z_]+)\b", JOBS)) | {"WORKLOAD_IDENTITY_PROVIDER"}
    told = {call[3].removesuffix("_dev") for call in calls if call[:3] == ["glab", "variable", "set"]}
    assert told == read and all(call[4] for call in calls if call[0] == "glab")


def test_only_this_project_is_let_in_and_a_merge_request_never_as_main(calls: list[list[str]]) -> None:
    (provider,) = [call for call in calls if "create-oidc" in call]
    assert "--attribute-condition=assertion.project_id == '4711'" in provider
    (mapping,) = [part for part in provider if part.startswith("--attribute-mapping=")]
    claims = dict(re.findall(r"(google\.subject|attribute\.\w+)=([^,]+)", mapping))
    main = {"pipeline_source": "push", "ref_path": "refs/heads/main", "ref_protected": "true"}
    of_main = [
        main,
        {**main, "environment": "prod"},
        {**main, "pipeline_source": "schedule", "environment": "dev-schedule"},
    ]
    assert [judged(claims["attribute.deployment"], one) for one in of_main] == [
        "refs/heads/main:none",
        "refs/heads/main:prod",
        "refs/heads/main:dev-schedule",
    ]
    for other in ({"pipeline_source": "merge_request_event"}, {"ref_protected": "false"}):
        assert judged(claims["attribute.deployment"], {**main, "environment": "prod", **other}) == "none"
    assert judged(claims["attribute.event"], {**main, "pipeline_source": "merge_request_event"}) == "pull_request"
    assert judged(claims["attribute.event"], main) == "other"
    assert "ref" not in claims["google.subject"], (
        "a subject is no longer than Google takes, whatever a branch is called"
    )


def judged(expression: str, claims: dict[str, str]) -> str:
    """An expression of Google's (CEL), as far as these are, by Python's."""
    words = re.sub(r"has\(assertion\.(\w+)\)", lambda found: str(found[1] in claims), expression)
    words = re.sub(r"assertion\.(\w+)", lambda found: repr(claims.get(found[1], "")), words).replace("&&", "and")
    words = re.sub(r"\(([^()?]+) \? ([^()]+) : ([^()]+)\)", r"(\2 if \1 else \3)", words)
    return str(eval(re.sub(r"(.+?) \? (.+) : (.+)", r"(\2) if (\1) else (\3)", words)))


def test_what_is_lent_to_whom(calls: list[list[str]]) -> None:
    lent = [call for call in calls if "--role=roles/iam.workloadIdentityUser" in call]
    members = [
        part.partition("/workloadIdentityPools/gitlab/")[2] for call in lent for part in call if "principalSet" in part
    ]
    assert members == [
        "attribute.event/pull_request",
        "attribute.deployment/refs/heads/main:none",
        "attribute.deployment/refs/heads/main:dev",
        "attribute.deployment/refs/heads/main:dev-schedule",
    ]


def test_the_guide_names_what_there_is() -> None:
    for name in ("slipway-reviewed", "INSIST", "RELEASE_LOCK", "GITLAB_TOKEN"):
        assert f"`{name}`" in GUIDE
    assert "INSIST" in JOBS and "RELEASE_LOCK" in JOBS and "-reviewed" in JOBS
    assert {one.split("=")[-1] for one in re.findall(r"SLIPWAY[:=]\w+", GUIDE)} == {"SLIPWAY:up", "SLIPWAY:doctor"}
