"""A secret in a stack file is refused, and what says so does not repeat it."""

import pytest

from slipway.stack.yaml_file import StackErrors

from .files import HEAD, read


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
    (finding,) = caught.value.mistakes
    assert finding.what == f"{kind} in a stack file" and "workload identity" in finding.fix
    assert "hunter2" not in str(caught.value)
