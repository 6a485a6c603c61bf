"""A part of a declaration is called as whoever wrote it knows it: by its key in a file, or by its argument. # N33"""

import pytest

from slipway.model.origin import Origin, Program

FILE, PROGRAM = Origin("prod"), Program("prod", "ml")


@pytest.mark.parametrize(
    ("key", "argument"),
    [
        ("slipway:workspace", "Workspace ml"),
        ("slipway:workspace.workBucket", "Workspace ml: work_bucket"),
        ("slipway:workspace.submitters[0]", "Workspace ml: submitters[0]"),
        ("slipway:workspace.encryption.kmsKey", "Workspace ml: kms_key"),
        ("slipway:teams.vision.budget", "Workspace ml: teams.vision.budget"),
        ("gcp:region", "Workspace ml: region"),
        ("slipway:persistentResources", "PersistentResource"),
        ("slipway:persistentResources.h100", "PersistentResource h100"),
        (
            "slipway:persistentResources.h100.pools.workers.disk.sizeGb",
            "PersistentResource h100: pools.workers.disk.size_gb",
        ),
        ("slipway:persistentResources.h100.until", "PersistentResource h100: ends"),
        ("slipway:templates", "JobTemplate"),
        ("slipway:quota.contactEmail", "QuotaCheck: contact_email"),
        ("slipway:policy.mandatory.idleCost", "Catalog: policy.mandatory.idleCost"),
    ],
)
def test_a_key_is_an_argument_of_a_component(key: str, argument: str) -> None:
    assert PROGRAM.key(key) == PROGRAM.place(key) == argument
    assert FILE.key(key) == key and FILE.place(key) == f"stacks/Pulumi.prod.yaml, {key}"


@pytest.mark.parametrize(
    ("former", "named"),
    [
        ("vision--prod--sea", "sea"),
        ("vision--prod", "workspace"),
        ("vision--dev--sea", "stack dev of Pulumi project vision, workspace sea"),
        ("vision--dev--sea", "pulumi stack rename dev --stack prod"),
    ],
)
def test_a_renamed_workspace_is_told_how_it_keeps_its_former_name(former: str, named: str) -> None:
    back = PROGRAM.back_to(former, "vision--prod--ml")
    assert named in back and "stacks/" not in back
    assert ("aliases=" in back) == former.startswith("vision--prod")


@pytest.mark.parametrize(
    ("origin", "former", "label"),
    [(PROGRAM, "vision--prod--ml", "speech--prod--ml"), (FILE, "vision--prod", "speech--prod")],
    ids=["program", "file"],
)
def test_a_stack_that_went_to_another_pulumi_project_is_told_how_it_goes_back(
    origin: Origin, former: str, label: str
) -> None:
    """As after `pulumi stack rename organization/speech/prod`: no alias brings it back."""
    back = origin.back_to(former, label)
    assert back.startswith("pulumi stack rename organization/vision/prod --stack prod\n"), back
    assert "`name: vision` in Pulumi.yaml" in back and "aliases=" not in back
    other = origin.back_to(former.replace("prod", "dev"), label)
    assert other.startswith("pulumi stack rename organization/vision/dev --stack prod\n"), other


def test_a_setting_is_written_as_its_language_has_it() -> None:
    assert FILE.setting("slipway:workspace", "code", True) == "slipway:workspace: {code: true}"
    assert PROGRAM.setting("slipway:workspace", "code", True) == "code=True of Workspace ml"
    assert PROGRAM.setting("slipway:quota", "mode", "warn") == "mode='warn' of QuotaCheck"


@pytest.mark.parametrize(
    ("words", "of_file", "of_program"),
    [
        (("up",), "make up STACK=prod", "pulumi up --stack prod"),
        (
            ("destroy",),
            "make destroy STACK=prod",
            "SLIPWAY_PURPOSE=destroy pulumi destroy --run-program --stack prod",
        ),
        (("select",), "make select STACK=prod", "pulumi stack select --create --stack prod"),
        (
            ("refresh", "--clear-pending-creates"),
            "make refresh STACK=prod ARGS=--clear-pending-creates",
            "pulumi refresh --clear-pending-creates --stack prod",
        ),
    ],
)
def test_a_program_has_the_engines_commands(words: tuple[str, ...], of_file: str, of_program: str) -> None:
    assert (FILE.command(*words), PROGRAM.command(*words)) == (of_file, of_program)


def test_a_command_of_the_laptop_is_one_that_works_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLIPWAY_LAPTOP", "1")
    assert FILE.command("up", "--refresh") == "make up STACK=prod LAPTOP=1 ARGS=--refresh"
    assert PROGRAM.up == "pulumi up --stack prod"
