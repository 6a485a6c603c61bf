"""Code that jobs run, as reviews tell its changes: arguments, images, packages, plain secrets. # N3 # N5"""

from dataclasses import replace

import pytest

from slipway.reviewing.change.secret_values import HIDDEN
from tests.slipway.reviewing.rules.templates.two_ways import BLOCKING, LORA, OTHER, PLAIN, SAME, asking, found, only


@pytest.mark.parametrize(
    ("old", "new", "differs"),
    [
        (SAME, SAME.replace("acme/", "acme-prod/"), False),
        (SAME, SAME.replace("judge", "judge-2"), False),
        (SAME, OTHER, True),
        (SAME, OTHER.replace("acme/", "acme-prod/"), True),
    ],
)
def test_a_copy_of_an_image_has_nothing_else_in_it(old: str, new: str, differs: bool) -> None:
    before, after = (asking(image=image) for image in (old, new))
    assert ("results may differ" in only(before, after).sentence) is differs


def test_code_out_of_another_bucket_than_the_catalog_s_blocks() -> None:
    finding = only(LORA, replace(LORA, package=LORA.package.replace("gs://acme-catalog/", "gs://evil/")))
    assert (finding.kind, finding.grade) == ("code-changed", BLOCKING)
    assert "`gs://evil/packages/lora/0123456.tar.gz`" in finding.sentence


def test_lines_of_one_package_are_compared_together() -> None:
    twice = replace(LORA, requirements=("torch==2.4; python_version<'3.12'", "torch==2.3; python_version>='3.12'"))
    assert "results may differ" in only(LORA, twice).sentence
    assert found(twice, replace(twice, requirements=twice.requirements[::-1])) == []
    assert only(LORA, replace(LORA, requirements=LORA.requirements * 2)).kind == "requirements-changed"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("HF_TOKEN", "abc"),
        ("DB", "postgres://u:pw@host/db"),
        ("X", "hf_" + "a" * 20),
        ("API_KEY", "k" * 9),
        ("JUDGE_KEY", "jk-1"),
        ("HFTOKEN", "abc"),
    ],
)
def test_a_secret_in_plain_text_is_blocking_and_not_shown(name: str, value: str) -> None:
    some = found(PLAIN, asking(env={name: value}))
    assert {consequence.kind for consequence in some} == {"plain-secret"}
    assert max(consequence.grade for consequence in some) is BLOCKING
    assert value not in repr(some)
    assert found(asking(env={name: value}), asking(env={name: value})) == []


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("HF_TOKEN__SECRET", "projects/p/secrets/hf/versions/1"),
        ("TOKENS", "300"),
        ("API_KEY_FILE", "/gcs/x"),
        ("SORT_KEY", "user_id"),
        ("PAD_TOKEN", "<pad>"),
        ("HF_TOKEN", "${token}"),
    ],
)
def test_a_reference_to_a_secret_is_none(name: str, value: str) -> None:
    assert "plain-secret" not in {consequence.kind for consequence in found(PLAIN, asking(env={name: value}))}


@pytest.mark.parametrize("key", ["ghp_abcdefghijklmnopqrstuvwxyz0123456789", "TOKEN=hunter2!"])
def test_a_secret_that_stands_in_a_name_is_not_repeated(key: str) -> None:
    before, after = (asking(env={name: value}) for name, value in (("A", "1"), (key, key)))
    told = found(before, after)
    assert "plain-secret" in [each.kind for each in told] and key not in repr(told)


@pytest.mark.parametrize("index", ["https://admin:admin@pip.example", "https://pip.example/a1b2c3d4e5f6a7b8/simple"])
def test_a_secret_of_an_index_is_hidden(index: str) -> None:
    before, after = replace(LORA, requirements=()), replace(LORA, requirements=(f"--index-url {index}",))
    told = found(before, after)
    assert HIDDEN in repr(told) and index not in repr(told)
