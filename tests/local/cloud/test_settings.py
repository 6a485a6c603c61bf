"""Settings from a file, the environment and the command line."""

from dataclasses import asdict
from pathlib import Path

import pytest

from local.cloud import settings
from local.cloud.settings import Settings, SettingsError


def test_texts_become_the_settings_types() -> None:
    changed = Settings().changed({"submissions_per_minute": "5", "quota.custom_model_training_cpus": "8"})
    assert changed.submissions_per_minute == 5 and changed.quota == {"custom_model_training_cpus": 8}


def test_a_file_written_is_the_file_read(tmp_path: Path) -> None:
    first = Settings().changed({"calls_per_minute": 1, "quota.m.us-central1": 3, "quota.n": -1})
    (tmp_path / "s.toml").write_text(settings.dump(asdict(first)))
    assert settings.load(tmp_path / "s.toml", {}) == first
    assert settings.load(tmp_path / "s.toml", {"calls_per_minute": "2"}).calls_per_minute == 2


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"call_per_minute": 1}, "did you mean 'calls_per_minute'"),
        ({"calls_per_minute": "many"}, "'calls_per_minute' is a whole number, not 'many'"),
        ({"quota.x": "lots"}, "a whole number"),
        ({"groups": "x"}, "'groups' is a table"),
        ({"quota_series": "maybe"}, "'quota_series' is true or false, not 'maybe'"),
        ({"zzz": 1}, "known are"),
    ],
)
def test_what_is_no_setting_is_said(values: dict[str, object], words: str) -> None:
    with pytest.raises(SettingsError, match=words):
        Settings().changed(values)


def test_pairs_are_name_equals_value() -> None:
    assert settings.pairs("a=1, b=2,") == {"a": "1", "b": "2"}
    with pytest.raises(SettingsError, match="name=value"):
        settings.pairs("a")


def test_a_file_that_is_no_toml_is_said(tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text("= 3")
    with pytest.raises(SettingsError, match="is not TOML"):
        settings.load(tmp_path / "s.toml", {})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("create_seconds", "inf"),
        ("create_seconds", "nan"),
        ("create_seconds", -1),
        ("create_seconds", 1e300),
        ("create_seconds", None),
        ("log_entries_kept", 2**63),
        ("log_entries_kept", {}),
        ("body_bytes", 0),
        ("submissions_per_minute", 0.5),  # cut to 0 it would be no limit at all
        ("speed", 0),
        ("speed", 1e-300),
        ("groups", 5),
        ("groups", {"a": 5}),
        ("groups", {"a": "b"}),
        ("quota.custom_model_training_cpus", 2**63),
    ],
)
def test_a_value_that_nothing_can_work_with_is_refused(name: str, value: object) -> None:
    with pytest.raises(SettingsError):
        Settings().changed({name: value})
