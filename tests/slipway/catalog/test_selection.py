"""Which catalog is used: flag, environment, or the choice of the checkout."""

from pathlib import Path

import pytest

from slipway.catalog.lookup import address, recall, remember, select_catalog
from slipway.cloud.storage import Location
from slipway.errors import ConfigError


def test_a_bucket_stands_for_its_catalog() -> None:
    assert str(address("gs://bucket")) == str(address("gs://bucket/")) == "gs://bucket/catalog.json"
    assert address(" gs://bucket/other.json ") == Location("bucket", "other.json")


@pytest.mark.parametrize("text", ["", "bucket", "s3://bucket", "gs://", "gs:///name"])
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="Cloud Storage address"):
        address(text)


def test_the_flag_goes_before_the_environment_and_that_before_memory(tmp_path: Path) -> None:
    remember(address("gs://remembered"), tmp_path)
    environ = {"SLIPWAY_CATALOG": "gs://environment"}
    assert select_catalog("gs://flag", environ, tmp_path).location.bucket == "flag"
    assert select_catalog(None, environ, tmp_path).location.bucket == "environment"
    assert select_catalog(None, {}, tmp_path).location.bucket == "remembered"


def test_a_choice_is_remembered_for_the_whole_checkout(tmp_path: Path) -> None:
    (tmp_path / "Pulumi.yaml").write_text("")
    deep = tmp_path / "jobs" / "digits"
    deep.mkdir(parents=True)
    file = remember(address("gs://bucket"), deep)
    assert file == tmp_path / ".slipway" / "catalog"
    found = recall(tmp_path / "jobs")
    assert found is not None and found.location.bucket == "bucket" and found.origin == str(file)


def test_nobody_has_chosen(tmp_path: Path) -> None:
    for where in ("folder", "checkout"):
        with pytest.raises(ConfigError, match="no catalog chosen") as error:
            select_catalog(None, {}, tmp_path)
        assert "slipway use" in error.value.fix
        assert error.value.why.endswith(f"and this {where} remembers none")
        (tmp_path / ".git").mkdir(exist_ok=True)
