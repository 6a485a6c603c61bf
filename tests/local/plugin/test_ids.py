import pytest

from local.plugin.kind import ImportIdError
from local.plugin.provider import kinds
from local.plugin.settings import Settings

_SETTINGS = Settings(endpoints={}, token="t", project="p1")
_FULL = "projects/p1/locations/us-central1/persistentResources/h100"
_ACCOUNT = "projects/p1/serviceAccounts/a@p1.iam.gserviceaccount.com"


@pytest.mark.parametrize(
    ("token", "given", "full"),
    [
        ("gcp:vertex/aiPersistentResource:AiPersistentResource", _FULL, _FULL),
        ("gcp:vertex/aiPersistentResource:AiPersistentResource", "p1/us-central1/h100", _FULL),
        ("gcp:vertex/aiPersistentResource:AiPersistentResource", "us-central1/h100", _FULL),
        ("gcp:storage/bucket:Bucket", "b", "b"),
        ("gcp:storage/bucket:Bucket", "p2/b", "b"),
        ("gcp:serviceaccount/account:Account", _ACCOUNT, _ACCOUNT),
        ("gcp:serviceaccount/account:Account", "a@p1.iam.gserviceaccount.com", _ACCOUNT),
        (
            "gcp:cloudquota/sQuotaPreference:SQuotaPreference",
            "projects/p1/locations/global/quotaPreferences/q",
            "projects/p1/locations/global/quotaPreferences/q",
        ),
    ],
)
def test_the_forms_of_an_import_id(token: str, given: str, full: str) -> None:
    assert kinds()[token].locate(given, _SETTINGS).id == full


def test_the_parts_of_an_import_id_are_the_state_to_read_by() -> None:
    kind = kinds()["gcp:vertex/aiPersistentResource:AiPersistentResource"]
    assert kind.locate("p2/us-east1/h100", _SETTINGS).state == {
        "project": "p2",
        "location": "us-east1",
        "name": "h100",
    }
    member = kinds()["gcp:storage/bucketIAMMember:BucketIAMMember"]
    assert member.locate("b/x roles/viewer user:a@x.example", _SETTINGS).state == {
        "bucket": "b/x",
        "role": "roles/viewer",
        "member": "user:a@x.example",
    }


@pytest.mark.parametrize(
    ("token", "given"),
    [
        ("gcp:vertex/aiPersistentResource:AiPersistentResource", "h100"),
        ("gcp:vertex/aiPersistentResource:AiPersistentResource", "a/b/c/d"),
        ("gcp:storage/bucketObject:BucketObject", "b-o"),
        ("gcp:projects/iAMMember:IAMMember", "p1 roles/viewer"),
        ("gcp:cloudquota/sQuotaPreference:SQuotaPreference", "q"),
    ],
)
def test_an_id_that_fits_no_form_is_refused_with_the_forms(token: str, given: str) -> None:
    with pytest.raises(ImportIdError, match="does not fit"):
        kinds()[token].locate(given, _SETTINGS)


def test_a_short_id_needs_a_project_from_the_configuration() -> None:
    kind = kinds()["gcp:vertex/aiPersistentResource:AiPersistentResource"]
    with pytest.raises(ImportIdError):
        kind.locate("us-central1/h100", Settings(endpoints={}, token="t"))
