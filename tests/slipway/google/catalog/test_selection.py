"""Which catalog is used: flag, environment, or the choice of the checkout or the person."""

from pathlib import Path

import pytest

from slipway.base.errors import ConfigError
from slipway.google.catalog.lookup import address, folder_file, own_file, recall, remember, select_catalog
from slipway.google.storage import Location


def test_a_bucket_stands_for_its_catalog() -> None:
    assert str(address("gs://bucket")) == str(address("gs://bucket/")) == "gs://bucket/catalog.json"
    assert address(" gs://bucket/other.json ") == Location("bucket", "other.json")


@pytest.mark.parametrize("text", ["", "bucket", "s3://bucket", "gs://", "gs:///name"])
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="Cloud Storage address"):
        address(text)


def choose(address_: str, folder: Path) -> Path:
    return remember(address(address_), folder_file(folder))


def test_the_flag_goes_before_the_environment_and_that_before_folder_and_person(tmp_path: Path) -> None:
    here, config = tmp_path / "here", {"SLIPWAY_CONFIG": str(tmp_path / "config")}
    choose("gs://folder", here)
    remember(address("gs://person"), own_file(config))
    environ = {**config, "SLIPWAY_CATALOG": "gs://environment"}
    assert select_catalog("gs://flag", environ, here).location.bucket == "flag"
    assert select_catalog(None, environ, here).location.bucket == "environment"
    assert select_catalog(None, config, here).location.bucket == "folder"
    elsewhere = select_catalog(None, config, tmp_path / "elsewhere")
    assert elsewhere.location.bucket == "person" and elsewhere.origin == str(tmp_path / "config" / "catalog")


def test_a_persons_choice_is_where_the_standard_has_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert own_file({}) == own_file({"XDG_CONFIG_HOME": "relative"}) == tmp_path / ".config" / "slipway" / "catalog"
    assert own_file({"XDG_CONFIG_HOME": str(tmp_path / "xdg")}) == tmp_path / "xdg" / "slipway" / "catalog"


def test_a_choice_may_be_that_of_a_checkout(tmp_path: Path) -> None:
    (tmp_path / "Pulumi.yaml").write_text("")
    deep = tmp_path / "jobs" / "digits"
    deep.mkdir(parents=True)
    file = choose("gs://bucket", deep)
    assert file == tmp_path / ".slipway" / "catalog"
    recalled = recall(folder_file(tmp_path / "jobs"))
    assert recalled is not None and recalled.location.bucket == "bucket" and recalled.origin == str(file)
    assert (tmp_path / ".slipway" / ".gitignore").read_text() == "*\n"


def test_nobody_has_chosen(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no catalog chosen") as error:
        select_catalog(None, {"SLIPWAY_CONFIG": str(tmp_path / "config")}, tmp_path)
    assert "slipway use" in error.value.fix and "neither you nor this folder" in error.value.why
