"""The meanings of the errors of the engine and its provider; and Slipway's own errors among them.

Engine and provider are foreign programs, whose words seldom tell what to do: every reader of them (a hook of the
program, a log) finds the way out here. Slipway's own errors tell it themselves.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from itertools import takewhile
from operator import methodcaller

from slipway.base.errors import COLOUR, Fault
from slipway.google.credentials import LOGIN
from slipway.google.failures import OF_ROLES, QUOTA_TOO_SMALL, UNKNOWN_REASON, Answer, Call, Denied, failure
from slipway.google.reasons import reason_of, sentences, shortened

_AGAIN = "the same command again: it goes on from what is there"
_THEN = f"then {_AGAIN}"
_ANSWER = r"googleapi: (?:got HTTP response code |Error )"
# Its metrics stand on lines of their own, or behind it.
_METRICS = re.compile(rf"{QUOTA_TOO_SMALL}:(?:[\s,*-]+aiplatform\.googleapis\.com/\w+)+")
# An answer's details stand below it as JSON, whose last bracket no other one follows.
_DETAILS = re.compile(
    r"^(?P<first>[^\n]*\bgoogleapi: [^\n]*)\n[^\n]*\bDetails:[ \t]*\n"
    r"(?P<json>(?:(?!googleapi: ).){2,20000}?\n[^\n\"]*\])(?![^\n\"]*\n[^\n\"]*[}\]])",
    re.DOTALL | re.MULTILINE,
)
_BESIDE = " Details: "
_KIND = re.compile(r", (?:conditionNotMet|forbidden|failedPrecondition|badRequest)$")
"""Words that the provider's client adds to the service's."""
_REFUSED = re.compile(
    rf"{_ANSWER}4|code = (?:PermissionDenied|FailedPrecondition|InvalidArgument)\b|failed the org policy enforcement"
    # The sign-in of a job of CI, before Google is asked for anything else.
    r"|\"error\": ?\"(?:unauthorized_client|invalid_target|invalid_request|invalid_grant)\"|getAccessToken\\?' denied"
    r"|failed to generate Google Cloud |ACTIONS_ID_TOKEN_REQUEST_"
    # Answers that are passed on without their status, and the provider's own words.
    r"|vpcServiceControlsUniqueIdentifier|violates VPC Service Controls|have not met the retention period"
)
_NO_CONNECTION = (
    "dial tcp|connection refused|connection reset by peer|connection lost|broken pipe|no such host|no route to host"
    "|[Nn]etwork is unreachable|name resolution|Name or service not known|Max retries exceeded with url"
    "|i/o timeout|TLS handshake|request canceled while waiting for connection|Client.Timeout exceeded"
    r"|(?:unexpected |\": )EOF|context deadline exceeded"
)
_LONGEST = 300
_BEGINS = re.compile(r'^(?P<indent> *)error: (?:Preview failed: )?(?:before hook "[^"]*" failed: )?(?P<what>\S.*)$')
_LOCAL = re.compile(r"https?://(?:127\.0\.0\.1|localhost|\[::1\])")
_PREFIX = re.compile(rf"^(?:\*|error:|Preview failed:|rpc error: code = \w+ desc =|.*{_ANSWER}\d+:?)\s+")

_RULES = (
    (
        (
            r"(?:403|429) HTTP error fetching plugin from https://(?:api\.)?github\.com"
            r"|rate limit exceeded for https://api\.github\.com"
        ),
        "the provider's plugin was refused: GitHub serves few downloads an hour without a login",
        f"export GITHUB_TOKEN=…, any token of GitHub's, or wait an hour; {_THEN}",
    ),
    (
        r"HTTP error fetching plugin from https?://(?P<host>[\w.-]+)",
        "the provider's plugin was not sent by {host}, or by a proxy before it",
        f"see that this machine may download from {{host}}: a proxy or firewall has to let it pass; {_THEN}",
    ),
    (
        "incorrect passphrase|passphrase must be set|unable to find either .PULUMI_CONFIG_PASSPHRASE",
        "the stack's secrets can't be read without its own passphrase",
        f"export PULUMI_CONFIG_PASSPHRASE=…, or PULUMI_CONFIG_PASSPHRASE_FILE, as of this stack; {_THEN}",
    ),
    (
        # A deployment that waits for machines warns of each try.
        r"^(?!.*\bwarning: ).*(?:Resources are insufficient|RESOURCE_POOL_EXHAUSTED)",
        "Google has no such machines free there for now",
        f"{_AGAIN}, and tries again; more patience, or other machines or regions: docs/scarce-machines.md",
    ),
    (
        (
            rf"^(?!.*(?:{_NO_CONNECTION}|x509: |proxyconnect|Proxy Authentication)).*"
            "(?:oauth2: |invalid_grant|invalid_rapt|could not find default credentials|No credentials loaded)"
        ),
        "the cloud does not take this login any more",
        "{login}",
    ),
    (
        rf"{_ANSWER}409\b.*(?:bucket name is not available|bucket namespace is shared)",
        "a bucket of that name is somebody else's: names are one for all of Google Cloud",
        f"another name: workBucket or catalogBucket of the workspace; {_THEN}",
    ),
    (
        rf"{_ANSWER}403\b.*\bstorage\.buckets\.get\b",
        "this identity may not see that bucket, or it is another project's: names are one for all of Google Cloud",
        (
            "another workBucket or catalogBucket of the workspace, where `gcloud storage ls --project=PROJECT` "
            f"lists none of that name; else {{role}}; {_THEN}"
        ),
    ),
    (
        r"\b(?:RANGES|IP_SPACE|PEERING_RANGE)_EXHAUSTED\b|[Cc]ouldn't find (?:a )?free blocks in allocated IP ranges",
        "the network has no free addresses for the machines",
        (
            "allocate a larger range for the network's peering: gcloud compute addresses create "
            "--purpose=VPC_PEERING, then gcloud services vpc-peerings update; or name one with room in "
            f"the cluster's reservedIpRanges. A /18 has room for about 15 jobs with 8 machines; {_THEN}"
        ),
    ),
    (
        rf"{QUOTA_TOO_SMALL}: aiplatform\.googleapis\.com/\w*_nvidia_(?:tesla_)?k80\w*",
        "Vertex AI has no K80 any more",
        "no quota helps: another GPU, NVIDIA_TESLA_T4 or NVIDIA_L4 for example",
    ),
    (
        rf"{QUOTA_TOO_SMALL}(?::[ -]*aiplatform\.googleapis\.com/(?P<metric>\w+))?",
        "the limit of a quota is below what one job or cluster needs",
        (
            "no waiting helps: slipway quota shows the limits, and slipway quota --request {metric}=VALUE --contact "
            "EMAIL asks for more in the stack's region; what is not listed there is of machines it does not have"
        ),
    ),
    (
        rf"{_ANSWER}(?:403\b.*{OF_ROLES}|400\b.*\bpermission to act as\b)|code = PermissionDenied\b",
        "the cloud does not allow it to this identity",
        f"{{role}}; {_THEN}",
    ),
    (
        rf"{_ANSWER}400\b.*?\bField: (?P<field>[\w.\[\]]+)",
        "the cloud refused a value (400): {field}",
        f"correct {{field}}, as the reason says; {_THEN}",
    ),
    (
        rf"{_ANSWER}400\b",
        "the cloud refused a value (400)",
        f"correct what the reason names; {_THEN}",
    ),
    (rf"{_ANSWER}401\b|code = Unauthenticated\b", "the cloud does not take this login any more", "{login}"),
    (rf"{_ANSWER}403\b", "the cloud refused it (403)", f"{UNKNOWN_REASON}; {_THEN}"),
    (rf"{_ANSWER}429\b", "the cloud takes no more for now", f"wait a minute; {_THEN}. slipway quota shows the limits"),
    (
        rf"{_ANSWER}507\b|[Nn]o space left on device",
        "a disk of this machine is full, where the local cloud or the engine writes",
        f"make room, as with vertex-local cache clear; {_THEN}",
    ),
    (
        # A refresh reads every resource before the program runs, so no workspace is deployed.
        rf"Error when reading or editing .*/locations/(?P<region>[a-z0-9-]+)/.*{_ANSWER}5\d\d\b",
        "region {region} can't be read now, so the refresh failed and nothing was deployed",
        (
            f"wait a few minutes; {_THEN}. In a program with workspaces in other regions, pulumi up --refresh=false "
            "deploys those and leaves this one as it is. https://status.cloud.google.com shows known outages"
        ),
    ),
    (
        rf"{_ANSWER}5\d\d\b",
        "the cloud could not do it for now",
        f"wait a few minutes; {_THEN}. https://status.cloud.google.com shows known outages",
    ),
    (
        rf"{_ANSWER}(?P<status>4\d\d)\b",
        "the cloud refused it ({status})",
        f"{_AGAIN}; if it is refused again, correct what the reason names; slipway doctor looks too",
    ),
    (
        r"\bpending operations\b",
        "an earlier run was killed, and nobody knows whether the cloud did what it had asked for",
        (
            "see that no run is going, then make refresh STACK=NAME ARGS=--clear-pending-creates; a deployment takes "
            "over what was made"
        ),
    ),
    (
        r"no stack named '(?P<stack>[^']+)' found",
        "this backend has no stack {stack} of this Pulumi project",
        (
            "if the stack was deployed, another backend has it: export PULUMI_BACKEND_URL=URL, or pulumi login URL\n"
            "if `name` in Pulumi.yaml was changed, write its former name again; `pulumi stack ls --all` lists the "
            "stacks of each project\n"
            "else make select STACK={stack} creates an empty stack"
        ),
    ),
    (
        "the stack is currently locked by",
        "another run has this stack, or one that was killed had it",
        'see that none is still going, then make cancel STACK=NAME: docs/runbook.md, "A run that was killed"',
    ),
    (
        "previously-imported resources that still specify an ID may not be replaced",
        "Pulumi was told to replace a resource of which the cloud can have only one by that name",
        (
            "change no import: leave out --replace and --target-replace, and after `pulumi state taint` type `pulumi "
            "state untaint URN`; for a new cluster, raise its `generation`: docs/pulumi-commands.md"
        ),
    ),
    (
        r"violates plan: |is not allowed by the plan: ",
        "the saved plan does not allow it: a plan can't create clusters, and it ends with the next edit or deployment",
        "pulumi up without --plan; its own preview shows the same steps: docs/pulumi-commands.md",
    ),
    (
        "was not specified in --target list",
        "--target left out a resource that the targeted one needs",
        "pulumi up without --target: only a whole deployment publishes clusters: docs/pulumi-commands.md",
    ),
    (
        r"Target '.*' could not be found in the stack",
        "--target, --replace or --exclude names a resource that the state does not have",
        "pulumi up without the flag; `pulumi stack --show-urns` lists the names: docs/pulumi-commands.md",
    ),
    (
        (
            r"hook \"slipway-[\w-]+\" was not registered|delete hooks registered, but the program is not running"
            "|to use delete hooks during destroy"
        ),
        "the command deletes something without the program, which guards running jobs; nothing of that was deleted",
        "pulumi destroy --run-program, or make destroy, which adds it: docs/pulumi-commands.md",
    ),
    (
        "failed to load checkpoint: .*(?:JSON input|unexpected EOF|invalid character)",
        "the state's file was cut off in the writing, as on a disk that is full",
        'make room if there is none; then put a whole copy in its place: docs/runbook.md, "The state was cut off"',
    ),
    (
        r"^\s*error: unexpected end of JSON input\s*$",
        "the stack's lock was cut off in the writing",
        'see that no run is going, then make cancel: docs/runbook.md, "A run that was killed"',
    ),
    # A plugin that has died speaks of connections too: to itself, not to the cloud.
    (
        (
            "exited prematurely|error reading from server: |connection error: desc = |code = Unavailable desc = "
            "|program exited with non-zero exit code: -1"
        ),
        "the provider's plugin or the stack's program was ended in the middle of its work",
        f"{_AGAIN}; if it ends so again, look for what ends it, such as too little memory",
    ),
    (
        "x509: |certificate verify failed|CERTIFICATE_VERIFY_FAILED",
        "this machine does not trust the server's certificate, which a proxy may have replaced",
        f"export SSL_CERT_FILE=FILE REQUESTS_CA_BUNDLE=FILE, a file that has your proxy's certificate too; {_THEN}",
    ),
    (
        "proxyconnect|Proxy Authentication Required|Tunnel connection failed|ProxyError",
        "the proxy did not forward the connection",
        f"check HTTPS_PROXY and its login; the proxy must allow googleapis.com; NO_PROXY names exceptions; {_THEN}",
    ),
    (
        _NO_CONNECTION,
        "the connection to the cloud was cut",
        f"{{network}}; {_THEN}",
    ),
    (
        "timeout while waiting for ",
        "the cloud was not done with it in time",
        f"{_AGAIN}; slipway pools or slipway doctor shows how far it is",
    ),
)
"""A pattern, the cause, and the way out. The first pattern that matches a line counts."""


Places = Callable[[Collection[str]], Iterable[str]]
"""Returns FILE:LINE in a stack file of each of these keys and values that it has."""


def meanings(
    lines: Iterable[str],
    environ: Mapping[str, str],
    places: Places = lambda _: (),
    member: str = "",
    project: str = "",
) -> tuple[Fault, ...]:
    """Return a fault for each way out, in the order of the lines; none for unknown lines.

    Each has the matched words as its reason. `environ` tells a run of a workflow from a person's shell; `member` is
    the one of a grant that could not be given, `project` the resource's.
    """
    by_fix: dict[str, Fault] = {}
    text = "\n".join(shortened(COLOUR.sub("", line)) for line in lines)
    text = _METRICS.sub(lambda match: " ".join(match[0].split()), text)
    # A line says the same each time.
    for line in dict.fromkeys(map(shortened, _DETAILS.sub(_on_one_line, text).split("\n"))):
        if _REFUSED.search(line) and (reason := reason_of(line, member=member, project=project)):
            fix = f"{reason.way_out(places(reason.keys))}; {_THEN}"
            by_fix.setdefault(fix, Fault(what=reason.what, why=_words(line), fix=fix))
            continue
        for pattern, what, fix in _RULES:
            if match := re.search(pattern, line):
                named = {name: value or name.upper() for name, value in match.groupdict().items()}
                meaning = Fault(what=what.format(**named), why=_words(line), fix=_filled(fix, line, environ, named))
                by_fix.setdefault(meaning.fix, meaning)
                break
    return tuple(by_fix.values())


def _on_one_line(match: re.Match[str]) -> str:
    """Return an error's first line, with its details behind it."""
    return f"{match['first']}{_BESIDE}{' '.join(match['json'].split())}"


def meaning_of(
    error: str, environ: Mapping[str, str], places: Places = lambda _: (), member: str = "", project: str = ""
) -> Fault:
    """Return the meaning of a single error, of any number of lines; the rest as in `meanings`."""
    if known := meanings(error.splitlines(), environ, places, member, project):
        return known[0]
    return Fault(
        what="the provider could not do it",
        why=_words(error),
        fix="the same command again; if it ends so again: slipway doctor, or Slipway's docs/runbook.md",
    )


def _filled(fix: str, line: str, environ: Mapping[str, str], named: Mapping[str, str]) -> str:
    login = f"log in again: {LOGIN}, or export a fresh GOOGLE_OAUTH_ACCESS_TOKEN; {_THEN}"
    if environ.get("GITHUB_ACTIONS") == "true":
        login = "re-run the failed jobs of this workflow: each run has a token of its own"
    denied = failure(Call("do it"), Answer(status=403, reason="", message=line)).fix
    if denied == Denied.usual:
        denied = 'give the identity what docs/ci.md names, "The identities"'
    return fix.format(
        login=login,
        role=denied,
        network="start the local cloud: vertex-local up" if _LOCAL.search(line) else "see that the network is there",
        **named,
    )


def _words(text: str) -> str:
    lines = [line.strip() for line in text.splitlines()]
    message = next((line for line in reversed(lines) if line and not line.endswith("occurred:")), "")
    message, _, details = message.partition(_BESIDE)
    message = sentences(_KIND.sub("", message), details)
    while (shorter := _PREFIX.sub("", message)) != message:
        message = shorter
    return message if len(message) <= _LONGEST else f"{message[:_LONGEST]}…"


def own_errors(text: str) -> tuple[list[Fault], list[str]]:
    """Return each error of Slipway's own once, and the lines outside them.

    The service's words within an error's reason belong to the error. All lines of an error are indented as its first
    one is by the engine.
    """
    lines = [COLOUR.sub("", line).rstrip("\r") for line in text.split("\n")]
    own: dict[Fault, None] = {}  # In the order of their first occurrence.
    foreign: list[str] = []
    number = 0
    while number < len(lines):
        length = 0
        if first := _BEGINS.match(lines[number]):
            indent = first["indent"]
            below = takewhile(methodcaller("startswith", indent), (lines[at] for at in range(number + 1, len(lines))))
            fault, length = Fault.read(first["what"], map(methodcaller("removeprefix", indent), below))
            if length:
                own[fault] = None
        if not length:
            foreign.append(lines[number])
        number += 1 + length
    return list(own), foreign
