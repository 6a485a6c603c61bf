"""Keys of a stack file beside those of clusters: region and project, quota, templates, workspace, misspelt ones."""

import pytest

from .files import HEAD, wrong


@pytest.mark.parametrize(
    ("head", "line", "key", "what", "fix"),
    [
        (HEAD.replace("us-central1", "us-centrall"), 3, "gcp:region", "not a region", "did you mean `us-central1`?"),
        (HEAD.replace("us-central1", "mars"), 3, "gcp:region", "not a region", "europe-west4"),
        (HEAD.replace("acme-ml-prod", "Acme"), 2, "gcp:project", "not a project id", "acme-ml-prod"),
        (HEAD.replace("acme-ml-prod", "12"), 2, "gcp:project", "should be text, is 12", "gcp:project: acme-ml-prod"),
        (HEAD.replace("  gcp:project: acme-ml-prod\n", ""), 1, "gcp:project", "is missing", "add `gcp:project"),
        (HEAD.replace("gcp:region", "gcp:regoin"), 1, "gcp:region", "is missing", "add `gcp:region: us-central1`"),
        (HEAD.replace('"false"', '"true"'), 4, "gcp:addPulumiAttributionLabel", "replaced", '"false"'),
        (HEAD.replace('"false"', "0"), 4, "gcp:addPulumiAttributionLabel", "is 0", '"false"'),
        (
            HEAD + "  slipway:persistentResource: {}\n",
            5,
            "slipway:persistentResource",
            "unknown key",
            "persistentResources",
        ),
        (HEAD + "  slipway:zzzzzz: {}\n", 5, "slipway:zzzzzz", "unknown key", "slipway:quota"),
        (
            HEAD + "  gcp:vertexAiCustomEndpoint: http://x/\n",
            5,
            "gcp:vertexAiCustomEndpoint",
            "environment",
            "VERTEX_AI_CUSTOM",
        ),
        (HEAD + "  gcp:defaultLabels: {a: b}\n", 5, "gcp:defaultLabels", "replaces", "own `labels`"),
        (HEAD + "confg: {}\n", 5, "confg", "unknown key", "did you mean `config`?"),
        (HEAD + "slipway:quota: {}\n", 5, "slipway:quota", "beside `config`", "indent it"),
        (HEAD + "  slipway:quota: {mode: request}\n", 5, "slipway:quota.mode", "'request'", "add `contactEmail`"),
        (HEAD + "  slipway:quota: {mode: maybe}\n", 5, "slipway:quota.mode", "'maybe'", "enforce or warn"),
        (
            HEAD + "  slipway:quota: {contactEmail: me}\n",
            5,
            "slipway:quota.contactEmail",
            "not an e-mail",
            "@acme.example",
        ),
        *(
            (HEAD + f"  slipway:policy: {{grades: {{{grades}}}}}\n", 5, f"slipway:policy.grades{key}", what, fix)
            for grades, key, what, fix in (
                ("submiter-gone: warning", ".submiter-gone", "'submiter-gone'", "did you mean `submitter-gone`?"),
                ("submitter-gone: fatal", ".submitter-gone", "'fatal'", "blocking"),
                ("cluster-deleted: change", "", "scheduled deployment", "warning or blocking"),
            )
        ),
        (HEAD + "  slipway:templates: dask-digits\n", 5, "slipway:templates", "should be a list", "[dask-digits]"),
        (HEAD + "  slipway:quota: 5\n", 5, "slipway:quota", "should be a mapping", "its keys are mode, contactEmail"),
        (HEAD + "  slipway:templates: [Dask]\n", 5, "slipway:templates[0]", "template's name", "dask-digits"),
        (HEAD + f"  slipway:templates: [{'a' * 51}]\n", 5, "slipway:templates[0]", "template's name", "1–50"),
        (HEAD + "  slipway:templates: [a, b, a]\n", 5, "slipway:templates[2]", "listed twice", "keep one"),
        *(
            (
                HEAD + f"  slipway:persistentResources: {{a: {{pools: {{}}, serviceAccount: {given}}}}}\n",
                5,
                f"slipway:persistentResources.a.serviceAccount{key}",
                "names no account",
                "the `trainer` of",
            )
            for given, key in (
                ("t@acme.iam.gserviceaccount.com", ""),
                ("{custom: t@acme.iam.gserviceaccount.com}", ".custom"),
            )
        ),
        (
            HEAD + "  slipway:workspace: {submitters: [bob]}\n",
            5,
            "slipway:workspace.submitters[0]",
            "not an IAM member",
            "group:",
        ),
        (
            HEAD + "  slipway:workspace: {submitters: [allUsers]}\n",
            5,
            "slipway:workspace.submitters[0]",
            "strangers",
            "group:",
        ),
        (
            HEAD + "  slipway:workspace: {catalogBucket: A}\n",
            5,
            "slipway:workspace.catalogBucket",
            "bucket's name",
            "3–63",
        ),
        (
            HEAD + "  slipway:workspace: {catalogBucket: one, workBucket: one}\n",
            5,
            "slipway:workspace.workBucket",
            "catalog's bucket as well",
            "two buckets",
        ),
        (
            HEAD + f"  slipway:workspace: {{workBucket: {'w' * 60}}}\n  slipway:persistentResources: {{cpu: {{pools: "
            "{a: {machine: n1-standard-4, replicas: 1}}, alternatives: [{region: us-east4}]}}\n",
            5,
            "slipway:workspace.workBucket",
            "can't be a bucket's name",
            "a shorter name, which us-east4 has behind it",
        ),
        (
            HEAD + "  slipway:workspace: {trainer: abc}\n",
            5,
            "slipway:workspace.trainer",
            "service account's id",
            "6–30",
        ),
    ],
)
def test_the_rest_of_the_configuration(head: str, line: int, key: str, what: str, fix: str) -> None:
    findings = wrong(head)
    assert [item for item in findings if (item.line, item.key) == (line, key) and what in item.what and fix in item.fix]
    assert len({item.key for item in findings}) == len(findings) <= 2


def test_a_misspelt_required_key_is_told_with_its_right_name() -> None:
    findings = wrong(HEAD.replace("gcp:region", "gcp:regoin"))
    assert [(item.key, item.fix) for item in findings if item.line == 3] == [
        ("gcp:regoin", "did you mean `gcp:region`?")
    ]


def test_a_stack_name_that_fits_no_label_or_account() -> None:
    assert "can't be in a label" in wrong(HEAD, "stacks/Pulumi.Prod.yaml")[0].what
    (finding,) = wrong(HEAD, "stacks/Pulumi.a-much-too-long-name.yaml")
    assert finding.key == "slipway:workspace.trainer" and "set `trainer`" in finding.fix
