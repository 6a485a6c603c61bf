"""Reasons for which Google refuses a request, in the forms that people have met, and the way out of each. # N4"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from slipway.authoring.stack.stack import with_config
from slipway.authoring.stack.yaml_file import from_text
from slipway.google.failures import Answer, Call, Conflict, Denied, Refused, failure
from slipway.google.live_reader import unanswered
from slipway.google.provider_errors import meaning_of, meanings
from slipway.google.reasons import reason_of

Details = Sequence[Mapping[str, Any]]
CALL = Call("read the quotas of acme", "cloudquotas.quotas.get", "project acme")
UID = "VQQnKfXtZ16NHnOmdJAy0E92tVT_8fZZRGvnndBWXZLKFx_KItn1EA"


def info(reason: str, **metadata: str) -> Mapping[str, Any]:
    kind = "type.googleapis.com/google.rpc.ErrorInfo"
    return {"@type": kind, "domain": "googleapis.com", "metadata": metadata, "reason": reason}


def violation(type_: str, description: str, subject: str = "") -> Mapping[str, Any]:
    violations = [{"type": type_, "subject": subject, "description": description}]
    return {"@type": "type.googleapis.com/google.rpc.PreconditionFailure", "violations": violations}


QUOTA_PROJECT = (
    "Your application is authenticating by using local Application Default Credentials. The cloudquotas.googleapis.com "
    "API requires a quota project, which is not set by default. To learn how to set your quota project, see "
    "https://cloud.google.com/docs/authentication/adc-troubleshooting/user-creds ."
)
PERIMETER = f"Request is prohibited by organization's policy. vpcServiceControlsUniqueIdentifier: {UID}"
VIOLATED = (
    "The request has violated one or more Org Policies. Please refer to the respective violations for more information."
)
MEMBERS = "One or more users named in the policy do not belong to a permitted customer."
ENFORCED = "The project 12 failed the org policy enforcement check for `constraints/gcp.resourceLocations`."
SEEN: Mapping[str, tuple[int, str, Details, tuple[str, ...], str]] = {
    "a policy without room": (
        400,
        "The number of members in the policy (1,501) is larger than the maximum allowed size 1,500.",
        [],
        ("a policy takes 1,500 principals",),
        "take a group in place of its people",
    ),
    "an account that was deleted": (
        400,
        "Service account sweeps@acme.iam.gserviceaccount.com does not exist.",
        [],
        ("was deleted, or was never made: sweeps@acme.iam.gserviceaccount.com",),
        "slipway drift tells what became of it",
    ),
    "a bucket that Pulumi's state does not have": (
        409,
        "Your previous request to create the named bucket succeeded and you already own it.",
        [],
        ("Pulumi's state does not have it",),
        "pulumi import --stack STACK TYPE NAME ID --generate-code=false",
    ),
    "a person who left": (
        400,
        'Principal ada@acme.example of type "user" does not exist.',
        [],
        ("was deleted, or was never made: ada@acme.example",),
        "slipway drift tells what became of it",
    ),
    "a login without a quota project": (
        403,
        QUOTA_PROJECT,
        [info("SERVICE_DISABLED", consumer="projects/764086051850", service="cloudquotas.googleapis.com")],
        ("a person's own login",),
        "gcloud auth application-default set-quota-project",
    ),
    "the same, in the words of an API that is off in Google's own project": (
        403,
        "Cloud Quotas API has not been used in project 764086051850 before or it is disabled.",
        [],
        ("a person's own login",),
        "gcloud auth application-default set-quota-project",
    ),
    "another project's quota": (
        403,
        (
            "Caller does not have required permission to use project acme-billing. Grant the caller the "
            "roles/serviceusage.serviceUsageConsumer role, or a custom role with serviceusage.services.use."
        ),
        [info("USER_PROJECT_DENIED", consumer="projects/acme-billing", service="cloudquotas.googleapis.com")],
        ("acme-billing",),
        "ask for roles/serviceusage.serviceUsageConsumer on acme-billing",
    ),
    "a perimeter": (
        403,
        PERIMETER,
        [
            violation("VPC_SERVICE_CONTROLS", UID),
            info("SECURITY_POLICY_VIOLATED", consumer="projects/acme", service="cloudquotas.googleapis.com", uid=UID),
        ],
        (UID, "cloudquotas.googleapis.com"),
        "an ingress rule for cloudquotas.googleapis.com, method * (here: cloudquotas.quotas.get)",
    ),
    "a perimeter, as Cloud Storage says it": (
        403,
        "Request violates VPC Service Controls.",
        [],
        ("unique id not told",),
        "docs/organisation.md#perimeters",
    ),
    "a member of another domain": (
        400,
        MEMBERS,
        [
            violation(
                "constraints/iam.allowedPolicyMemberDomains",
                "User ada@other.example is not in permitted organization.",
                "orgpolicy:projects/acme?configvalue=ada@other.example",
            )
        ],
        ("constraints/iam.allowedPolicyMemberDomains refuses ada@other.example",),
        "in place of ada@other.example",
    ),
    "a member of another domain on a bucket": (
        412,
        MEMBERS,
        [],
        ("constraints/iam.allowedPolicyMemberDomains refuses one of the members",),
        "a group or an account of the organisation",
    ),
    "a bucket's location": (
        412,
        "'us' violates constraint 'constraints/gcp.resourceLocations'",
        [],
        ("does not permit us: constraints/gcp.resourceLocations",),
        "a permitted region in gcp:region and in `alternatives`",
    ),
    "a cluster's location": (
        400,
        VIOLATED,
        [violation("", ENFORCED)],
        ("constraints/gcp.resourceLocations", ENFORCED),
        "a permitted region in gcp:region and in `alternatives`",
    ),
    "a key that is wanted": (
        412,
        (
            "Constraint constraints/gcp.restrictNonCmekServices violated for project acme attempting to create a "
            "resource not protected by CMEK crypto key"
        ),
        [],
        ("a key of your own (CMEK)",),
        "`encryption` with a key of the same region, of the workspace",
    ),
    "an account": (
        400,
        "Service account creation is not allowed on this project.",
        [violation("constraints/iam.disableServiceAccountCreation", "Service account creation is not allowed.")],
        ("no new service accounts here: constraints/iam.disableServiceAccountCreation",),
        "name it: `trainer` of the workspace",
    ),
    "a key of an account": (
        400,
        "Key creation is not allowed on this service account.",
        [violation("constraints/iam.managed.disableServiceAccountKeyCreation", "Key creation is not allowed on it.")],
        ("constraints/iam.managed.disableServiceAccountKeyCreation",),
        "none is needed",
    ),
    "a public bucket": (
        412,
        (
            "The member bindings allUsers and allAuthenticatedUsers are not allowed since public access prevention is "
            "enforced."
        ),
        [],
        ("no public buckets: constraints/storage.publicAccessPrevention",),
        "in place of allUsers and allAuthenticatedUsers",
    ),
    "a service": (
        403,
        (
            "Request is disallowed by organization's constraints/gcp.restrictServiceUsage constraint for 'projects/1' "
            "attempting to use service 'aiplatform.googleapis.com'."
        ),
        [info("RESOURCE_USAGE_RESTRICTION_VIOLATED", service="aiplatform.googleapis.com", consumer="projects/1")],
        ("does not permit aiplatform.googleapis.com here",),
        "permit aiplatform.googleapis.com in this project",
    ),
    "an API that is off": (
        403,
        "Vertex AI API has not been used in project 12 before or it is disabled.",
        [info("SERVICE_DISABLED", service="aiplatform.googleapis.com", consumer="projects/12")],
        ("aiplatform.googleapis.com is switched off",),
        "gcloud services enable aiplatform.googleapis.com",
    ),
    "a project without billing": (
        403,
        "This API method requires billing to be enabled. Please enable billing on project #12.",
        [info("BILLING_DISABLED", service="aiplatform.googleapis.com", consumer="projects/12")],
        ("no billing account",),
        "gcloud billing projects link 12",
    ),
    "an account that was deleted and made again": (
        400,
        (
            "Inconsistent representation of deleted member: 'deleted:serviceAccount:t@p.iam.gserviceaccount.com?uid=1' "
            "and 'serviceAccount:t@p.iam.gserviceaccount.com'."
        ),
        [],
        ("an account that was deleted", "deleted:serviceAccount:t@p"),
        "remove-iam-policy-binding",
    ),
    "a token of other scopes": (
        403,
        "Request had insufficient authentication scopes.",
        [info("ACCESS_TOKEN_SCOPE_INSUFFICIENT", service="aiplatform.googleapis.com")],
        ("not for this API",),
        "scope cloud-platform",
    ),
    "a fixed quota": (
        400,
        "Could not change quota value because 'is_fixed' field is set for quota id 'SearchRequestsPerMinute'.",
        [],
        ("it can't be raised",),
        "machines of another type or region",
    ),
    "a constraint that nobody here knows": (
        403,
        (
            "Operation denied by org policy on resource 'projects/p/locations/r': "
            '["customConstraints/custom.noTuesdays": "not on Tuesdays"].'
        ),
        [info("CUSTOM_ORG_POLICY_VIOLATION", customConstraints="customConstraints/custom.noTuesdays")],
        ("customConstraints/custom.noTuesdays", "not on Tuesdays"),
        "gcloud org-policies describe custom.noTuesdays --effective",
    ),
}


@pytest.mark.parametrize("case", SEEN)
def test_a_verb_tells_reason_and_way_out(case: str) -> None:
    status, message, details, told, fix = SEEN[case]
    error = failure(CALL, Answer(status, "FAILED_PRECONDITION", message, tuple(details)))
    assert all(words in error.why for words in told) and message in error.why
    assert fix in error.fix and "roles/cloudquotas.viewer" not in error.fix
    assert not isinstance(error, Conflict) and isinstance(error, Denied if status == 403 else Refused)


@pytest.mark.parametrize("case", SEEN)
def test_a_deployment_and_explain_tell_the_same(case: str) -> None:
    status, message, details, told, fix = SEEN[case]
    below = f"\nDetails:\n{json.dumps(details, indent=2)}\n, forbidden" if details else ", conditionNotMet"
    said = f"1 error occurred:\n\t* Error creating it: googleapi: Error {status}: {message}{below}\n\n"
    indented = "".join(f"    {line}\n" for line in said.split("\n"))
    for meaning in (meaning_of(said, {}), *meanings(["Diagnostics:", *indented.split("\n"), "Outputs:"], {})):
        assert all(words in f"{meaning.what} {meaning.why}" for words in told)
        assert fix.partition(", method")[0] in meaning.fix and "the same command again" in meaning.fix
        assert "@type" not in meaning.why


def test_a_command_of_a_fix_names_the_project_where_it_is_known() -> None:
    told = "gcloud org-policies describe gcp.resourceLocations --effective --project="
    refused = Answer(400, "", VIOLATED, (violation("constraints/gcp.resourceLocations", ENFORCED),))
    assert failure(CALL, refused).fix.endswith(f"{told}acme"), "the call's own"
    said = f"googleapi: Error 400: {VIOLATED} {ENFORCED}"
    assert f"{told}acme-ml;" in meaning_of(said, {}, project="acme-ml").fix, "the resource's"
    of_policy = violation("constraints/gcp.resourceLocations", ENFORCED, "orgpolicy:projects/acme.example:ml")
    (reason,) = meanings([f"{said} {json.dumps(of_policy)}"], {})
    assert f"{told}acme.example:ml;" in reason.fix, "the violation's"
    assert f"{told}PROJECT;" in meaning_of(said, {}).fix


def test_errors_of_one_log_keep_to_their_own_details() -> None:
    _, message, details, _, _ = SEEN["a member of another domain"]
    of_perimeter = json.dumps([violation("VPC_SERVICE_CONTROLS", UID)], indent=2)
    first = f"* googleapi: Error 403: {PERIMETER}\nDetails:\n{of_perimeter}\n, forbidden"
    second = f"* googleapi: Error 400: {message}\nDetails:\n{json.dumps(details, indent=2)}\n, failedPrecondition"
    perimeter, members = meanings(f"{first}\n{second}\n".split("\n"), {})
    assert UID in perimeter.what and "ada@other.example" in members.what and "ada@" not in str(perimeter)


STACK = """config:
  gcp:project: acme
  gcp:region: us-central1
  slipway:workspace: { submitters: ["group:ml@acme.example", "user:ada@other.example"] }
  slipway:persistentResources:
    h100:
      alternatives: [{ region: us-east4 }]
    cpu: {}
"""


@pytest.mark.parametrize(
    ("case", "told"),
    [
        ("a bucket's location", "`alternatives` of clusters (stacks/Pulumi.prod.yaml:3 and stacks/Pulumi.prod.yaml:7)"),
        ("a member of another domain", "in place of ada@other.example (stacks/Pulumi.prod.yaml:4)"),
        ("a member of another domain on a bucket", "in place of ada@other.example (stacks/Pulumi.prod.yaml:4), or"),
        ("a key that is wanted", "(stacks/Pulumi.prod.yaml:4 and stacks/Pulumi.prod.yaml:5)"),
    ],
)
def test_lines_of_the_stack_file_are_named(case: str, told: str) -> None:
    status, message, details, _, _ = SEEN[case]
    document = with_config({"gcp:zone": "x"}, from_text(STACK, "stacks/Pulumi.prod.yaml"))
    said = f"googleapi: Error {status}: {message}\nDetails:\n{json.dumps(details, indent=2)}\n, forbidden"
    assert told in meaning_of(said, {}, document.places, "user:ada@other.example").fix


@pytest.mark.parametrize(
    "message",
    ["Permission 'cloudquotas.quotas.get' denied on resource 'x'.", "The caller does not have permission"],
)
def test_a_role_is_named_only_where_one_is_missing(message: str) -> None:  # P5
    denied = failure(CALL, Answer(403, "PERMISSION_DENIED", message))
    assert denied.fix == "ask for roles/cloudquotas.viewer on project acme"
    assert unanswered(denied, "cloudquotas", "roles/cloudquotas.viewer", "ada").fix == denied.fix


def test_the_permission_in_the_details_counts() -> None:  # P5
    details = info("IAM_PERMISSION_DENIED", permission="aiplatform.persistentResources.create", resource="projects/p")
    denied = failure(CALL, Answer(403, "PERMISSION_DENIED", "It was refused.", (details,)))
    assert isinstance(denied, Denied) and denied.role == "roles/aiplatform.admin"


def test_a_policy_is_not_waited_out() -> None:
    status, message, details, _, _ = SEEN["a perimeter"]
    error = failure(CALL, Answer(status, "PERMISSION_DENIED", message, tuple(details)))
    unknown = unanswered(error, "cloudquotas.googleapis.com", "roles/cloudquotas.viewer", "ada")
    assert not unknown.passing and unknown.fix == error.fix and "roles/" not in str(unknown)


@pytest.mark.parametrize(
    "message",
    [
        "Permission 'aiplatform.customJobs.create' denied on resource '//aiplatform.googleapis.com/projects/p'.",
        "ada@acme.example does not have storage.objects.get access to the Google Cloud Storage object.",
        "At least one of the pre-conditions you specified did not hold.",
        "Quota exceeded for quota metric 'Requests' of consumer 'project_number:12'.",
        "The disk of pool workers is too small: 20 GB.",
    ],
)
def test_no_other_refusal_is_taken_for_a_policy(message: str) -> None:
    assert reason_of(message) is None


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (400, "Invalid value for display_name: 'gcp.resourceLocations'"),
        (400, "Image 'us-docker.pkg.dev/acme/r/BILLING_DISABLED:1' not found"),
        (400, "bucket 'my-storage.publicAccessPrevention' is invalid"),
        (403, "ada does not have storage.objects.get access to gs://b/VPC_SERVICE_CONTROLS-notes.txt"),
        (403, "Permission 'storage.objects.get' denied on resource 'projects/_/buckets/b/objects/constraints/x.json'"),
        (403, "Permission 'aiplatform.customJobs.get' denied on resource '//x/customJobs/SERVICE_DISABLED'"),
        (409, "'gs://b/logs/USER_PROJECT_DENIED/a' exists"),
    ],
)
def test_name_with_the_words_of_a_reason_is_none(status: int, message: str) -> None:
    assert failure(CALL, Answer(status=status, reason="", message=message)).reason is None


@pytest.mark.parametrize("reason", ["LOCATION_ORG_POLICY_VIOLATED", "RESOURCE_USAGE_RESTRICTION_VIOLATED"])
def test_reason_alone_has_its_own_policy(reason: str) -> None:
    problem = failure(CALL, Answer(status=403, reason="", message="No.", details=(info(reason),)))
    assert "constraints/gcp.res" in problem.why


@pytest.mark.parametrize(
    "repeated",
    [
        "a",
        "@",
        " ",
        "googleapi: ",
        "denied access ",
        "cloudkms.",
        "constraints/",
        "User a@",
        "number of members in the policy ",
        "googleapi: Error 403: y\nDetails:\n[\n[\n[\n",
    ],
)
@pytest.mark.timeout(20)
def test_text_of_a_megabyte_is_soon_read(repeated: str) -> None:
    long = repeated * (1_000_000 // len(repeated))
    assert len(meanings(f"error: googleapi: Error 403: {long}".splitlines(), {})) == 1
    failure(CALL, Answer(status=403, reason="", message=long))


def test_details_behind_a_long_message_are_read() -> None:
    said = f"{VIOLATED} {'x' * 100_000} " + json.dumps(violation("", ENFORCED))
    reason = reason_of(said)
    assert reason is not None and "constraints/gcp.resourceLocations" in reason.what
