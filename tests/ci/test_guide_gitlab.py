"""docs/gitlab.md is run, around the block of docs/ci.md that it asks for, with stand-ins that note it."""  # D5

import re

import pytest

from tests.ci.conftest import ROOT
from tests.ci.test_guide import BLOCKS, LENT, asked, lent

GUIDE = (ROOT / "docs" / "gitlab.md").read_text()
OWN = re.findall(r"^```sh\n(.*?)^```$", GUIDE, re.M | re.S)
JOBS = "".join(path.read_text() for path in (ROOT / "slipway" / "front" / "starter" / "gitlab").glob("*.yml"))


@pytest.fixture(scope="module")
def calls(tmp_path_factory: pytest.TempPathFactory) -> list[list[str]]:
    first, after = OWN
    _, each = BLOCKS
    return asked(tmp_path_factory.mktemp("guide"), first, each, after)


def test_every_variable_that_the_jobs_read_is_set(calls: list[list[str]]) -> None:
    read = set(re.findall(r"(?:of_stack|settings) ([A-Z_]+)\b", JOBS)) | {"WORKLOAD_IDENTITY_PROVIDER"}
    told = {call[3].removesuffix("_dev") for call in calls if call[:3] == ["glab", "variable", "set"]}
    assert told == read and all(call[4] for call in calls if call[0] == "glab")
    assert {call[0] for call in calls} == {"gcloud", "glab", "make"}, "and nothing is asked of GitHub"
    for name in ("slipway-reviewed", "INSIST", "RELEASE_LOCK"):
        assert f"`{name}`" in GUIDE and name.removeprefix("slipway") in JOBS
    assert set(re.findall(r"SLIPWAY[:=](\w+)", GUIDE)) == {"up", "doctor"}


def test_only_this_project_is_let_in_and_a_merge_request_never_as_main(calls: list[list[str]]) -> None:
    (provider,) = [call for call in calls if "create-oidc" in call]
    assert lent(calls, "gitlab") == LENT
    assert "--attribute-condition=assertion.project_id == '4711'" in provider
    (mapping,) = [part for part in provider if part.startswith("--attribute-mapping=")]
    claims = dict(re.findall(r"(google\.subject|attribute\.\w+)=([^,]+)", mapping))
    main = {"pipeline_source": "push", "ref_path": "refs/heads/main", "ref_protected": "true"}
    of_main = [
        main,
        {**main, "environment": "prod"},
        {**main, "pipeline_source": "schedule", "environment": "dev-schedule"},
    ]
    assert [judged(claims["attribute.deployment"], ref) for ref in of_main] == [
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
    words = re.sub(r"has\(assertion\.(\w+)\)", lambda match: str(match[1] in claims), expression)
    words = re.sub(r"assertion\.(\w+)", lambda match: repr(claims.get(match[1], "")), words).replace("&&", "and")
    words = re.sub(r"\(([^()?]+) \? ([^()]+) : ([^()]+)\)", r"(\2 if \1 else \3)", words)
    return str(eval(re.sub(r"(.+?) \? (.+) : (.+)", r"(\2) if (\1) else (\3)", words)))
