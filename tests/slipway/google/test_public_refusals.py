"""Refusals that people have reported in public, of projects in organisations that restrict, by where each was met. # N4

The bodies are Google's, as the reports have them, with names shortened.
"""

import json
from collections.abc import Mapping

import pytest

from slipway.google.failures import (
    UNKNOWN_REASON,
    Answer,
    Call,
    Conflict,
    Denied,
    Exhausted,
    Refused,
    failure,
)
from slipway.google.live_reader import unanswered
from slipway.google.provider_errors import meaning_of, meanings
from tests.slipway.google.test_reasons import UID, Details, info, violation

VERTEX = "aiplatform.googleapis.com"
CALL = Call("list the jobs", "aiplatform.customJobs.list", "project acme")
AGENT = "service-12@gcp-sa-vertex-ex-cc.iam.gserviceaccount.com"
VERTEX_AGENT = "service-12@gcp-sa-aiplatform.iam.gserviceaccount.com"
NO_PROJECT = "Permission denied on resource project my-lab."
NO_REGION = "Permission denied on 'locations/me-central2' (or it may not exist)."
NO_KEY = (
    "Provided CryptoKey projects/p/locations/l/keyRings/r/cryptoKeys/k cannot be used in Vertex AI service. Please "
    "make sure the CryptoKey is enabled and Vertex AI service account has Encryption and Decryption access to it."
)
READS = (
    "Quota exceeded for quota metric 'Read requests' and limit 'Read requests per minute' of service "
    "'cloudresourcemanager.googleapis.com' for consumer 'project_number:764086051850'."
)
NO_TOKEN = "Permission 'iam.serviceAccounts.getAccessToken' denied on resource (or it may not exist)."
OTHER_VERSION = "projects/p/locations/l/keyRings/r/cryptoKeys/k/cryptoKeyVersions/1 is not enabled, current state is: "
WITHOUT_REASON = ("Google refuses it without a reason", "no more is known than Google says there")

MET: Mapping[str, tuple[int, str, Details, str, str]] = {
    "google-github-actions/auth 201": (
        400,
        "Precondition check failed.",
        [violation("constraints/iam.workloadIdentityPoolProviders", "Org Policy violated for value: 'https://x'.")],
        "a policy of the organisation forbids it: constraints/iam.workloadIdentityPoolProviders",
        "gcloud org-policies describe iam.workloadIdentityPoolProviders --effective",
    ),
    "pulumi/docs 12973": (
        412,
        "Request violates constraint 'constraints/storage.uniformBucketLevelAccess'",
        [],
        "a policy of the organisation forbids it: constraints/storage.uniformBucketLevelAccess",
        "gcloud org-policies describe storage.uniformBucketLevelAccess --effective",
    ),
    "terraform-provider-google 3555": (
        400,
        "Invalid request: 'us-central1' violates constraint 'constraints/gcp.resourceLocations' on the resource 'p'.",
        [],
        "the organisation does not permit us-central1: constraints/gcp.resourceLocations",
        "a permitted region in gcp:region",
    ),
    "firezone 7711": (
        403,
        NO_REGION,
        [info("LOCATION_POLICY_VIOLATED", consumer="projects/firezone", location="me-central2", service="")],
        "Google does not open me-central2 to this project, whatever its roles",
        "another region in gcp:region and in `alternatives`",
    ),
    "organization restrictions, error messages": (
        403,
        "Access denied by organization restriction. Please contact your administrator for additional information.",
        [info("ORG_RESTRICTION_VIOLATION", service=VERTEX)],
        "a proxy between here and Google lets calls reach some organisations alone",
        "X-Goog-Allowed-Resources",
    ),
    "kilocode 2842": (
        403,
        NO_PROJECT,
        [info("CONSUMER_INVALID", containerInfo="my-lab", consumer="projects/my-lab", service=VERTEX)],
        "Google knows no project my-lab: it was deleted, or that is its name",
        "gcloud projects list",
    ),
    "training-data-analyst 1811": (
        403,
        "Permission denied on resource project My First Project.",
        [info("CONSUMER_INVALID", consumer="projects/My First Project", service=VERTEX)],
        "Google knows no project My First Project: it was deleted, or that is its name",
        "the stack's is gcp:project",
    ),
    "google-cloud-ruby 6456": (
        403,
        "up@acme.iam.gserviceaccount.com does not have serviceusage.services.use access to the Google Cloud project.",
        [],
        "this identity may not let calls count for the project, its quota project",
        "ask for roles/serviceusage.serviceUsageConsumer on the project",
    ),
    "java-storage-nio 61": (
        403,
        "up@acme.iam.gserviceaccount.com does not have serviceusage.services.use access to project 1020839626458.",
        [],
        "this identity may not let calls count for 1020839626458, its quota project",
        "ask for roles/serviceusage.serviceUsageConsumer on 1020839626458",
    ),
    "terraform-provider-google 5209": (
        403,
        "The project to be billed is associated with an absent billing account.",
        [],
        "the project has no billing account",
        "gcloud billing projects link",
    ),
    "python-storage 1456": (
        403,
        "The billing account for the owning project is disabled in state absent",
        [],
        "the project has no billing account",
        "gcloud billing projects link",
    ),
    "vertex-ai-samples 3710": (
        400,
        f"Service account `{VERTEX_AGENT}` does not have `[storage.objects.get]` IAM permission(s) to the directory.",
        [],
        f"an agent of Google's own lacks a role, not this identity: {VERTEX_AGENT}",
        f"give {VERTEX_AGENT} a role with that permission",
    ),
    "android-docs-samples 58": (
        403,
        "Permission denied: Consumer 'project_number:12' has been suspended.",
        [],
        "Google has suspended the project: no role helps",
        "how to appeal",
    ),
    "terraform-provider-google 10079, fullsend 1264": (
        403,
        "Policy update access denied.",
        [],
        "this identity may not give that role",
        "the deployer may give the submitters' roles",
    ),
    "kubeflow/pipelines 1052": (
        429,
        "Maximum number of service accounts on project reached.",
        [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "86401s"}],
        "as many service accounts as its quota allows",
        "no waiting helps",
    ),
    "marketing-analytics-jumpstart 163": (
        429,
        READS,
        [info("RATE_LIMIT_EXCEEDED", consumer="projects/764086051850")],
        "a person's own login counts for no project yet",
        "gcloud auth application-default set-quota-project",
    ),
    "kctf 193": (
        400,
        "Identity Pool does not exist (acme.svc.id.goog). Please check that you specified a valid resource name.",
        [],
        "the identity pool that is named, or its provider, is not there",
        "`undelete` in place of `list` brings one back",
    ),
    "terraform-example-foundation 1237": (
        403,
        NO_TOKEN,
        [info("IAM_PERMISSION_DENIED", permission="iam.serviceAccounts.getAccessToken")],
        "this identity may not act as that service account",
        "a job of CI roles/iam.workloadIdentityUser",
    ),
    "terraform-provider-google 11819": (
        400,
        NO_KEY,
        [],
        "one of Google's own agents may not use the key",
        "service-NUMBER@gcp-sa-aiplatform.iam.gserviceaccount.com",
    ),
    "gcp-landing-zone 59": (
        403,
        "Permission denied on Cloud KMS key. Please ensure that your Cloud Storage service account may use it.",
        [],
        "one of Google's own agents may not use the key",
        "service-NUMBER@gs-project-accounts.iam.gserviceaccount.com",
    ),
    "vault-on-gke 56": (
        400,
        f"{OTHER_VERSION}DESTROYED.",
        [],
        "the key's version is disabled or destroyed",
        "gcloud kms keys versions enable",
    ),
    "cloud-foundation-fabric 3788": (
        400,
        f"Service account {AGENT} does not exist.",
        [],
        f"is made only when its API is first used: {AGENT} is not yet",
        "gcloud beta services identity create",
    ),
    "google-cloud-go 1787": (
        400,
        "Cloud KMS region 'global' not available for use with GCS region 'US'.",
        [],
        "the bucket's key is of another location",
        "a key in the stack's region",
    ),
    "terraform-google-kubernetes-engine 2344": (
        400,
        (
            "Failed precondition: Constraint `constraints/gcp.restrictNonCmekServices` violated for `projects/x` "
            "attempting to create a resource without specifying a KMS CryptoKey."
        ),
        [{"@type": "type.googleapis.com/google.rpc.RequestInfo", "requestId": "0x7c2dea49178255f2"}],
        "the organisation wants a key of your own (CMEK): constraints/gcp.restrictNonCmekServices",
        "`encryption` with a key of the same region",
    ),
    "terraform-google-cloud-storage 4": (
        412,
        "Constraint 'constraints/storage.bucketPolicyOnly' violated for 'projects/x' enabling legacy object ACLs",
        [],
        "a policy of the organisation forbids it: constraints/storage.bucketPolicyOnly",
        "gcloud org-policies describe storage.bucketPolicyOnly --effective",
    ),
    "google-cloud-python 17515": (
        403,
        f"Request is prohibited by organization's policy. vpcServiceControlsUniqueIdentifier: {UID}",
        [
            violation("VPC_SERVICE_CONTROLS", UID),
            info("SECURITY_POLICY_VIOLATED", uid=UID, service="iamcredentials.googleapis.com", troubleshootToken="AV9"),
        ],
        f"a perimeter (VPC Service Controls) forbids it: unique id {UID}, iamcredentials.googleapis.com",
        "an ingress rule for iamcredentials.googleapis.com, method *; ",
    ),
    "terraform-provider-google 15042": (
        403,
        "Permission 'iam.serviceAccounts.get' denied on resource (or it may not exist).",
        [info("IAM_PERMISSION_DENIED", permission="iam.serviceAccounts.get")],
        "the service account is not there, was made a moment ago, or may not be seen",
        "where it has just been made, the same command",
    ),
    "terraform-provider-google 25343": (
        409,
        "The bucket you tried to delete is not empty.",
        [],
        "the bucket still has objects, or earlier versions of some",
        "without storage.anywhereCaches.list on the bucket: make bootstrap gives it to CI",
    ),
    "google-cloud-go 1509": (
        403,
        "Object 'acme-catalog/a' is subject to bucket's retention policy and cannot be deleted or overwritten.",
        [],
        "a retention policy keeps the objects of gs://acme-catalog",
        "gcloud storage buckets update gs://acme-catalog --clear-retention-period",
    ),
    "pulumi-gcp 1028": (
        409,
        "There were concurrent policy changes. Please retry the whole read-modify-write with exponential backoff.",
        [],
        "another program changed the same policy at the same moment",
        "another tool rewrites that policy: docs/organisation.md#other-tools",
    ),
    "temporary hold": (
        403,
        "Object 'b/x.json' is under active Temporary hold and cannot be deleted until hold is removed.",
        [],
        "an object is under a hold, so it can't be deleted or overwritten: gs://b/x.json",
        "gcloud storage objects update gs://b/x.json --no-temporary-hold",
    ),
    "Artifact Registry of another project": (
        403,
        f"Vertex AI Service Agent {VERTEX_AGENT} does not have permission to access Artifact Registry repository x.",
        [],
        f"an agent of Google's own lacks a role, not this identity: {VERTEX_AGENT}",
        f"--member=serviceAccount:{VERTEX_AGENT} --role=roles/aiplatform.serviceAgent",
    ),
    "terraform-example-foundation 378": (400, "Precondition check failed.", [], *WITHOUT_REASON),
    "k8s-config-connector 404": (400, "Request contains an invalid argument.", [], *WITHOUT_REASON),
}
KINDS = {400: Refused, 403: Denied, 409: Refused, 412: Refused, 429: Exhausted}
RACED = "pulumi-gcp 1028"
"""The case in which another writer was faster, so that the same change can be made again."""


@pytest.mark.parametrize("case", MET)
def test_a_verb_and_a_deployment_tell_reason_and_way_out(case: str) -> None:
    status, message, details, what, fix = MET[case]
    error = failure(CALL, Answer(status, "", message, tuple(details)))
    assert (
        type(error) is (Conflict if case == RACED else KINDS[status])
        and what in error.why
        and message in error.why
        and fix in error.fix
    )
    below = f"\nDetails:\n{json.dumps(details, indent=2)}\n, forbidden" if details else ", badRequest"
    said = f"1 error occurred:\n\t* Error creating it: googleapi: Error {status}: {message}{below}\n\n"
    meaning = meaning_of(said, {})
    assert what in meaning.what and fix in meaning.fix and meaning.why.startswith(message)
    for told in (error.fix, meaning.fix):
        assert "roles/aiplatform.viewer" not in told and "stack file" not in told and "wait a minute; " not in told


@pytest.mark.parametrize(
    "line",
    [
        f'oauth2/google: status code 403: {{"error": {{"message": "vpcServiceControlsUniqueIdentifier: {UID}"}}}}',
        f"rpc error: code = PermissionDenied desc = Request is prohibited. vpcServiceControlsUniqueIdentifier: {UID}",
        "<Code>SecurityPolicyViolated</Code><Message>Request violates VPC Service Controls.</Message>",
    ],
)
def test_a_perimeter_is_known_without_the_status_of_an_answer(line: str) -> None:
    (meaning,) = meanings([f"error: preview failed: {line}"], {})
    assert meaning.what.startswith("a perimeter (VPC Service Controls) forbids it")


def test_cloud_storage_is_named_at_a_perimeter_though_its_answer_names_no_service() -> None:
    said = f"Request is prohibited by organization's policy. vpcServiceControlsUniqueIdentifier: {UID}"
    for before in ('Error when reading or editing Storage Bucket "x": ', 'blob (key ".pulumi/meta.yaml"): '):
        meaning = meaning_of(f"* {before}googleapi: Error 403: {said}, forbidden", {})
        assert "an ingress rule for storage.googleapis.com" in meaning.fix


def test_the_providers_own_words_on_retention_are_known() -> None:
    said = "error: Bucket 'acme-catalog' contains objects that have not met the retention period yet"
    assert "--clear-retention-period" in meaning_of(said, {}).fix


def test_a_conflict_of_a_buckets_policy_is_another_programs_change() -> None:
    answer = "googleapi: Error 412: At least one of the pre-conditions you specified did not hold., conditionNotMet"
    assert "another tool rewrites" in meaning_of(f'Error setting IAM policy for storage bucket "b/x": {answer}', {}).fix


@pytest.mark.parametrize(
    ("message", "permission"),
    [
        ("Permission 'cloudkms.cryptoKeys.setIamPolicy' denied on resource 'k' (or it may not exist).", "cryptoKeys."),
        (
            "Permission 'cloudkms.cryptoKeys.get' denied on resource 'k' (or it may not exist).",
            "cloudkms.cryptoKeys.get",
        ),
        ("Permission iam.googleapis.com/denypolicies.create denied on resource x", "iam.denypolicies.create"),
    ],
    ids=["kube-agents 916", "terraform-google-vault 197", "nodejs-docs-samples 3144"],
)
def test_the_persons_own_permission_on_a_key_or_by_a_deny_policy_is_named(message: str, permission: str) -> None:
    error = failure(CALL, Answer(403, "", message))
    meaning = meaning_of(f"* googleapi: Error 403: {message}, forbidden", {})
    for fix in (error.fix, meaning.fix):
        assert fix.startswith("ask for a role with ") and permission in fix


def test_the_named_account_is_one_to_act_as_whatever_the_status() -> None:  # python-aiplatform 1073
    message = (
        "You do not have permission to act as service_account: 12-compute@developer.gserviceaccount.com. (or it …)"
    )
    role = "ask for roles/iam.serviceAccountUser on 12-compute@developer.gserviceaccount.com"
    error = failure(CALL, Answer(400, "INVALID_ARGUMENT", message))
    assert isinstance(error, Denied) and error.fix == role
    assert meaning_of(f"* googleapi: Error 400: {message}, badRequest", {}).fix.startswith(f"{role};")


def test_a_name_that_a_deleted_pool_keeps() -> None:  # terraform-provider-google 14191
    said = "googleapi: Error 409: Requested entity already exists, alreadyExists"
    meaning = meaning_of(f"* Error creating WorkloadIdentityPool: {said}", {})
    assert "was deleted in the last 30 days" in meaning.what and "--show-deleted" in meaning.fix
    assert isinstance(failure(CALL, Answer(409, "ALREADY_EXISTS", "Requested entity already exists")), Conflict)


def test_no_role_is_guessed_where_google_names_another_reason() -> None:  # P5
    message = "Permission denied: the stars forbid access to projects/12."
    details = info("BAD_STARS", consumer="projects/12", service=VERTEX)
    error = failure(CALL, Answer(403, "PERMISSION_DENIED", message, (details,)))
    assert error.why == message and error.fix == UNKNOWN_REASON and not error.lacks_role
    unknown = unanswered(error, "cloudquotas.googleapis.com quotaInfos.list", "roles/cloudquotas.viewer", "ada")
    assert "roles/" not in f"{unknown} {unknown.fix}" and message in str(unknown)
    said = f"* googleapi: Error 403: {message}\nDetails:\n{json.dumps([details], indent=2)}\n, forbidden"
    assert meaning_of(said, {}).fix.startswith(UNKNOWN_REASON) and meaning_of(said, {}).why == message


def test_the_permission_of_another_service_is_named_not_the_calls_own() -> None:  # cml 1136
    message = 'denied: Permission "artifactregistry.repositories.downloadArtifacts" denied on resource "x".'
    error = failure(CALL, Answer(403, "PERMISSION_DENIED", message))
    assert error.fix == "ask for a role with artifactregistry.repositories.downloadArtifacts"


def test_who_may_not_decrypt_the_state_is_no_agent_of_googles() -> None:
    key = "Permission 'cloudkms.cryptoKeyVersions.useToDecrypt' denied on resource 'k' (or it may not exist)."
    meaning = meaning_of(f"error: rpc error: code = PermissionDenied desc = {key}", {})
    assert "agents" not in meaning.what and "docs/ci.md" in meaning.fix


def test_a_reason_in_the_details_counts_more_than_none_in_the_message() -> None:
    details = {"@type": "type.googleapis.com/google.rpc.BadRequest", "fieldViolations": [{"description": "Too long."}]}
    error = failure(CALL, Answer(400, "INVALID_ARGUMENT", "Request contains an invalid argument.", (details,)))
    assert error.reason is None


def test_a_reason_of_several_lines_ends_with_words() -> None:
    error = failure(CALL, Answer(400, "FAILED_PRECONDITION", 'It violates: violations {\n  type: "x"\n}\n '))
    assert error.why.endswith("\n}")


def test_a_log_of_python_tells_the_location() -> None:  # python-aiplatform 4287
    said = (
        "FailedPrecondition: 400 The request has violated one or more Org Policies: violations {\n"
        '  description: "The project failed the org policy enforcement check for `constraints/gcp.resourceLocations`"'
    )
    (meaning,) = meanings(said.split("\n"), {})
    assert "constraints/gcp.resourceLocations" in meaning.what and "gcp:region" in meaning.fix


def test_no_quota_is_requested_of_a_gpu_that_is_gone() -> None:  # vertex-ai-samples 700
    meaning = meaning_of(
        'RuntimeError: Training failed with: code: 8 message: "The following quota metrics exceed quota limits: '
        'aiplatform.googleapis.com/custom_model_training_nvidia_k80_gpus"',
        {},
    )
    assert meaning.what == "Vertex AI has no K80 any more" and "slipway quota" not in meaning.fix
