"""Each line of bad input: file, line, key path, what is wrong, what would be right."""

import pytest

from slipway.stack.document import StackErrors

from .files import FILE, HEAD, only, read, with_config, with_pool, wrong

POOL = "slipway:persistentResources.cpu.pools.workers"
GOOD = "machine: n1-standard-8\nreplicas: {min: 1, max: 4}\n"


@pytest.mark.parametrize(
    ("pool", "line", "key", "what", "fix"),
    [
        # unknown key, missing key, duplicate key
        (GOOD + "disc: {}", 11, "disc", "unknown key", "did you mean `disk`?"),
        (GOOD + "zzzz: {}", 11, "zzzz", "unknown key", "one of machine, accelerator, disk, replicas"),
        ("machine: n1-standard-8", 8, "replicas", "is missing", "add `replicas: {min: 1, max: 4}`"),
        ("replicas: 1", 8, "machine", "is missing", "add `machine: n1-standard-8`"),
        (GOOD + "machine: n1-standard-4", 11, "machine", "twice, on lines 9 and 11", "keep one"),
        # sizes
        ("machine: n1-standard-8\nreplicas: {min: 0, max: 4}", 10, "replicas.min", "shrink to 0", "1 or more"),
        ("machine: n1-standard-8\nreplicas: {min: 4, max: 4}", 10, "replicas.max", "not more than min 4", "max: 5"),
        (
            "machine: n1-standard-8\nreplicas: {min: 1000000, max: 1000000}",
            10,
            "replicas.max",
            "not more than min 1000000",
            "`replicas: 1000000` for a fixed pool",
        ),
        ("machine: n1-standard-8\nreplicas: {min: 4, max: 2}", 10, "replicas.max", "not more", "`replicas: 4`"),
        ("machine: n1-standard-8\nreplicas: {min: 1}", 10, "replicas.max", "is missing", "add `max: 4`"),
        ("machine: n1-standard-8\nreplicas: 0", 10, "replicas", "can't have 0 machines", "remove the pool"),
        ("machine: n1-standard-8\nreplicas: -1", 10, "replicas", "can't have -1", "1 or more"),
        ("machine: n1-standard-8\nreplicas: three", 10, "replicas", "whole number, or {min, max}", "replicas: {"),
        ("machine: n1-standard-8\nreplicas: '3'", 10, "replicas", "is the text '3'", "replicas: {"),
        ("machine: n1-standard-8\nreplicas: 1.5", 10, "replicas", "whole number, or {min, max}, is 1.5", "{min: 1"),
        ("machine: n1-standard-8\nreplicas: true", 10, "replicas", "is true", "{min: 1"),
        ("machine: n1-standard-8\nreplicas:", 10, "replicas", "is empty", "{min: 1"),
        (
            "machine: n1-standard-8\nreplicas: {min: 1, max: 4, initial: 5}",
            10,
            "replicas.initial",
            "5 is not",
            "1 to 4",
        ),
        ("machine: n1-standard-8\nreplicas: {min: 1, max: 4, intial: 2}", 10, "replicas.intial", "unknown", "initial"),
        # machines and accelerators
        ("machine: n1-standrd-8\nreplicas: 1", 9, "machine", "unknown machine", "did you mean `n1-standard-8`?"),
        ("machine: ct6e-standard-4t\nreplicas: 1", 9, "machine", "TPU", "VM or GPU"),
        ("machine: 8\nreplicas: 1", 9, "machine", "should be text, is 8", "`machine: n1-standard-8`"),
        (
            GOOD + "accelerator: {type: NVIDIA_T4, count: 1}",
            11,
            "accelerator.type",
            "unknown accelerator",
            "did you mean",
        ),
        (
            GOOD + "accelerator: {type: NVIDIA_H100_80GB, count: 8}",
            11,
            "accelerator.type",
            "can't have",
            "a3-highgpu-8g",
        ),
        (GOOD + "accelerator: {type: NVIDIA_TESLA_T4, count: 3}", 11, "accelerator.count", "can't have 3", "1, 2, 4"),
        (GOOD + "accelerator: {type: NVIDIA_TESLA_T4}", 11, "accelerator.count", "is missing", "add `count: 1`"),
        (GOOD + "accelerator: {count: 1}", 11, "accelerator.type", "is missing", "add `type: NVIDIA_TESLA_T4`"),
        (
            "machine: a2-highgpu-1g\nreplicas: 1\naccelerator: {type: NVIDIA_TESLA_T4, count: 1}",
            11,
            "accelerator.type",
            "a2-highgpu-1g can't have NVIDIA_TESLA_T4",
            "NVIDIA_TESLA_A100 × 1 built in",
        ),
        (
            "machine: a2-highgpu-1g\nreplicas: 1\naccelerator: {type: NVIDIA_TESLA_A100, count: 2}",
            11,
            "accelerator.count",
            "can't have 2",
            "leave the accelerator out",
        ),
        # disks
        (GOOD + "disk: {sizeGb: 50}", 11, "disk.sizeGb", "can't have 50 GB", "100 to 64,000"),
        (GOOD + "disk: {sizeGb: 64001}", 11, "disk.sizeGb", "64,001", "100 to 64,000"),
        (GOOD + "disk: {type: ssd}", 11, "disk.type", "unknown disk type", "did you mean `pd-ssd`?"),
        (
            GOOD + "disk: {type: floppy}",
            11,
            "disk.type",
            "unknown disk type 'floppy'",
            "pd-ssd, pd-standard, hyperdisk-balanced",
        ),
        (GOOD + "disk: {type: hyperdisk-balanced}", 11, "disk.type", "can't have hyperdisk", "pd-ssd or pd-standard"),
        (
            "machine: n4-standard-8\nreplicas: 1\ndisk: {type: pd-ssd}",
            11,
            "disk.type",
            "can't have pd-ssd",
            "hyperdisk",
        ),
        (GOOD + "disk: {sizeGB: 200}", 11, "disk.sizeGB", "unknown key", "did you mean `sizeGb`?"),
        # not there yet, by name
        (GOOD + "id: old", 11, "id", "not there yet", "leave it out"),
        (GOOD + "strategy: FLEX_START", 11, "strategy", "no strategy", "job templates"),
        (GOOD + "spot: true", 11, "spot", "can't be of capacity type spot", "job templates"),
        (GOOD + "reservationAffinity: {}", 11, "reservationAffinity", "can't be combined", "leave it out"),
    ],
)
def test_a_pool_that_cannot_be(pool: str, line: int, key: str, what: str, fix: str) -> None:
    finding = only(with_pool(pool))
    assert (finding.file, finding.line, finding.key) == (FILE, line, f"{POOL}.{key}")
    assert what in finding.what and fix in finding.fix


@pytest.mark.parametrize(
    ("key", "what", "fix"),
    [
        ("id: old-cluster", "not there yet", "leave it out"),
        (
            "replacement: in-place",
            "can't be the text 'in-place'",
            "`in-place` (delete first, then create) is not there yet",
        ),
        ("replacement: protect", "can't be the text 'protect'", "is not there yet"),
        ("replacement: rolover", "can't be", "rollover"),
        ("raySpec: {}", "Ray", "inside a job"),
        ("generation: 0", "is 0", "1 or more"),
        ("retireWithin: soon", "not a valid time", "7d"),
        ("deletionPolicy: PREVENT", "forever", "leave it out"),
        ("displayName: ''", "0 characters", "1–128"),
        ("network: projects/acme/global/networks/n", "not a network", "number"),
        (
            "network: projects/1/global/networks/n\n    pscInterface: {networkAttachment: a}",
            "can't be combined with `network`",
            "one of",
        ),
        ("reservedIpRanges: [vertex]", "has no network", "add `network`"),
        ("pscInterface: {dnsPeeringConfigs: []}", "is missing", "add `networkAttachment: training`"),
        ("encryption: {kmsKey: foo}", "not a key", "projects/P/locations/us-central1/keyRings"),
        (
            "encryption: {kmsKey: projects/p/locations/europe-west4/keyRings/r/cryptoKeys/k}",
            "in europe-west4",
            "in us-central1",
        ),
        ("labels: {Team: a}", "label's name", "lowercase"),
        ("labels: {team: A b}", "can't be the text 'A b'", "lowercase"),
        ("labels: {slipway-name: x}", "Slipway or Google sets", "another name"),
        ("labels: {team: 4}", "should be text, is 4", "write text"),
        ("serviceAccount: {custom: 'yes'}", "true or false", "`custom: true`"),
    ],
)
def test_a_cluster_that_cannot_be(key: str, what: str, fix: str) -> None:
    cluster = "slipway:persistentResources:\n  cpu:\n    pools: {workers: {machine: n1-standard-8, replicas: 1}}\n    "
    finding = only(with_config(cluster + key))
    assert finding.file == FILE and finding.line >= 8
    assert finding.key.startswith("slipway:persistentResources.cpu.")
    assert what in finding.what and fix in finding.fix


@pytest.mark.parametrize("name", ["Cpu", "c_pu", "1cpu", "cpu-", "a" * 53])
def test_a_name_that_would_not_make_an_id(name: str) -> None:  # P1
    text = f"slipway:persistentResources:\n  {name}: {{pools: {{workers: {{machine: n1-standard-8, replicas: 1}}}}}}"
    finding = only(with_config(text))
    assert "can't be a cluster's name" in finding.what and "52" in finding.fix and finding.line == 6
    assert read(with_config(text.replace(name, "a" * 52, 1))).clusters


@pytest.mark.parametrize("name", ["Workers", "w_1", "a" * 64])
def test_a_name_that_no_pool_can_have(name: str) -> None:
    text = f"slipway:persistentResources:\n  cpu: {{pools: {{{name}: {{machine: n1-standard-8, replicas: 1}}}}}}"
    assert "can't be a pool's name" in only(with_config(text)).what


def test_a_cluster_without_pools() -> None:
    assert "no pool" in only(with_config("slipway:persistentResources: {cpu: {pools: {}}}")).what
    assert only(with_config("slipway:persistentResources: {cpu: {}}")).what == "is missing"
    assert "is empty" in only(with_config("slipway:persistentResources: {cpu: }")).what


def test_a_region_without_that_accelerator() -> None:
    text = with_pool("machine: a3-highgpu-8g\nreplicas: 1").replace("us-central1", "europe-west2")
    finding = only(text)
    assert finding.key == f"{POOL}.machine" and "europe-west2 has no NVIDIA_H100_80GB" in finding.what
    assert "us-central1" in finding.fix and "europe-west2" not in finding.fix
    attached = with_pool(GOOD + "accelerator: {type: NVIDIA_TESLA_V100, count: 1}").replace("us-central1", "us-east4")
    assert only(attached).key == f"{POOL}.accelerator.type"


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
        (HEAD + "  slipway:quota: {mode: request}\n", 5, "slipway:quota.mode", "'request'", "is not there yet"),
        (HEAD + "  slipway:quota: {mode: maybe}\n", 5, "slipway:quota.mode", "'maybe'", "enforce or warn"),
        (
            HEAD + "  slipway:quota: {contactEmail: me}\n",
            5,
            "slipway:quota.contactEmail",
            "not an e-mail",
            "@acme.example",
        ),
        (HEAD + "  slipway:templates: dask-digits\n", 5, "slipway:templates", "should be a list", "[dask-digits]"),
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


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("gcp:accessToken: hunter2-hunter2", "credentials"),
        ("gcp:accessToken: {secure: v1:hunter2}", "credentials"),
        ("gcp:credentials: hunter2.json", "credentials"),
        ("other:apiKey: hunter2", "credentials"),
        ("other:text: ya29.hunter2hunter2", "an access token"),
        ('other:text: "-----BEGIN RSA PRIVATE KEY-----hunter2"', "a private key"),
        ('other:text: \'{"type": "service_account", "x": "hunter2"}\'', "a service account key"),
        ("gcp:project: ya29.hunter2hunter2", "an access token"),
        ("slipway:templates: [AIzahunter2hunter2hunter2hunter2hunter2]", "an API key"),
        ("slipway:quota: {mode: ya29.hunter2hunter2}", "an access token"),
    ],
)
def test_secrets_are_refused_and_never_repeated(line: str, kind: str) -> None:  # D5
    head = HEAD.replace("  gcp:project: acme-ml-prod\n", "") if line.startswith("gcp:project") else HEAD
    with pytest.raises(StackErrors) as caught:
        read(head + f"  {line}\n")
    (finding,) = caught.value.findings
    assert finding.what == f"{kind} in a stack file" and "workload identity" in finding.fix
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        ("config:\n\tgcp:project: x\n", 2, "cannot start any token"),
        ("config: {a: 1\n", 2, "not YAML"),
        ("config: *nobody\n", 1, "undefined alias"),
        ("config: &a {b: *a}\n", 1, "contains itself"),
        ("a: 1\n---\nb: 2\n", 2, "not YAML"),
        ("config: !!python/object:os.system {}\n", 1, "not YAML"),
        ("? [a]\n: b\n", 1, "not a word"),
    ],
)
def test_what_is_not_yaml(text: str, line: int, what: str) -> None:
    finding = wrong(text)[0]
    assert finding.line == line and what in finding.what and finding.fix


def test_aliases_that_expand_without_end_are_refused() -> None:
    text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
    for depth in range(1, 9):
        text += f"a{depth}: &a{depth} [{', '.join([f'*a{depth - 1}'] * 10)}]\n"
    assert "aliases expand" in wrong(text)[0].what


@pytest.mark.parametrize("text", ["", "null\n", "[]\n", "text\n"])
def test_a_file_that_holds_no_mapping(text: str) -> None:
    assert wrong(text)


def test_all_errors_come_at_once_in_the_order_of_the_lines() -> None:
    text = with_config(
        """
        slipway:quota: { mode: request }
        slipway:persistentResources:
          cpu:
            replacement: protect
            pools:
              workers: { machine: n1-standrd-8, disk: {type: ssd, sizeGb: 50}, replicas: {min: 0, max: 4} }
              head: { machine: n1-standard-4, replicas: three, disc: {} }
              head: { machine: n1-standard-4, replicas: 1 }
          Gpu: {}
        """,
        head=HEAD.replace("us-central1", "us-centrall"),
    )
    findings = wrong(text)
    assert [finding.line for finding in findings] == sorted(finding.line for finding in findings)
    cpu, pools = "slipway:persistentResources.cpu", "slipway:persistentResources.cpu.pools"
    assert {(finding.line, finding.key) for finding in findings} == {
        (3, "gcp:region"),
        (5, "slipway:quota.mode"),
        (8, f"{cpu}.replacement"),
        (10, f"{pools}.workers.machine"),
        (10, f"{pools}.workers.disk.type"),
        (10, f"{pools}.workers.disk.sizeGb"),
        (10, f"{pools}.workers.replicas.min"),
        (12, f"{pools}.head"),
        (13, "slipway:persistentResources.Gpu"),
        (13, "slipway:persistentResources.Gpu.pools"),
    }


def test_the_message_reads_file_line_key_what_and_fix() -> None:
    with pytest.raises(StackErrors) as caught:
        read(with_pool("machine: n1-standrd-8\nreplicas: 1"))
    assert caught.value.exit_code == 2
    assert caught.value.render() == (
        "error: 1 error in the stack configuration\n"
        f"{FILE}:9  {POOL}.machine: unknown machine type 'n1-standrd-8'\n"
        "  fix: did you mean `n1-standard-8`?"
    )


@pytest.mark.parametrize(
    "line",
    [
        "gcp:region: {}",
        "slipway:workspace: {{catalogBucket: {}}}",
        "slipway:workspace: {{trainer: {}}}",
        "slipway:workspace: {{submitters: [{}]}}",
        "slipway:persistentResources: {{cpu: {{pools: {{w: {{machine: {}, replicas: 1}}}}}}}}",
        "slipway:persistentResources: {{{}: {{}}}}",
        "slipway:{}: 1",
    ],
)
@pytest.mark.parametrize("value", ["x" * 5000, "9" * 5000])
def test_no_value_is_repeated_without_end(line: str, value: str) -> None:
    text = (HEAD.replace("  gcp:region: us-central1\n", "") if "region" in line else HEAD) + f"  {line.format(value)}\n"
    with pytest.raises(StackErrors) as error:
        read(text)
    assert all(len(said) < 500 for said in str(error.value).splitlines())
