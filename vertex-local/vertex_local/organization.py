"""What an organisation's policies, its perimeter and its rule about quota projects refuse, in the service's words.

Each source is named in `docs/fidelity.md`. Nothing is refused until a setting says so.
"""

import re
import secrets
from collections.abc import Collection, Iterable, Mapping
from typing import Any
from urllib.parse import quote, unquote

from . import constraints
from .identities import Project
from .settings import Settings
from .wire import ApiError

NUMBER = "100000000900"
"""The organisation's."""
_PREFIX = "constraints/"
_NOT_PERMITTED = "One or more users named in the policy do not belong to a permitted customer."
_CLIENT = "764086051850"
"""The project of gcloud's own client, which pays where a person's credentials name none."""
_STORAGE = "storage.googleapis.com"
_VERTEX = "aiplatform.googleapis.com"
_AGENTS = "@gcp-sa-"
_PLACE = re.compile(r"projects/[^/]+(/locations/[^/:]+)?")


def check_members(settings: Settings, projects: Collection[Project], subject: str, added: Iterable[str]) -> None:
    """Raise 400 FAILED_PRECONDITION for new members of a policy who are of no permitted customer."""
    permitted = settings.policy.get("iam.allowedPolicyMemberDomains", ())
    if not permitted:
        return
    names = [
        member.partition(":")[2] or member
        for member in sorted(added)
        if not _permitted({value.removeprefix("is:") for value in permitted}, settings.customers, projects, member)
    ]
    if names:
        raise _violations(
            _NOT_PERMITTED,
            "iam.allowedPolicyMemberDomains",
            [
                (f"{subject}?configvalue={quote(name)}", f"User {name} is not in permitted organization.")
                for name in names
            ],
        )


def check_account_creation(settings: Settings, project: str, email: str) -> None:
    """Raise 400 FAILED_PRECONDITION where nobody may make service accounts."""
    _check_account(settings, "disableServiceAccountCreation", project, email, "Service account creation", "project")


def check_key_creation(settings: Settings, project: str, email: str) -> None:
    """Raise 400 FAILED_PRECONDITION where nobody may make keys of service accounts."""
    _check_account(settings, "disableServiceAccountKeyCreation", project, email, "Key creation", "service account")


def check_method(settings: Settings, api: str, method: str, path: str) -> None:
    """Raise 400 FAILED_PRECONDITION for a method that a constraint of the organisation's own denies."""
    for name, text in settings.custom_constraints.items():
        denied, _, words = text.partition(" ")
        if denied == method:
            resource = _PLACE.search(unquote(path))
            raise _denied(api, resource[0] if resource else "", f"customConstraints/custom.{name}", words)


def check_resource(settings: Settings, project: Project, location: str, key: str | None) -> None:
    """Raise 400 FAILED_PRECONDITION for a resource of Vertex AI in a location, or with a key, that no policy lets
    through, and for a key that its agent may not use. `key` is "" for one without a key, None for one that takes none.
    """
    policy = settings.policy
    if not constraints.allows_location(policy.get("gcp.resourceLocations", ()), location):
        raise _vertex_violation(
            settings,
            project,
            "gcp.resourceLocations",
            f"The project {project.number} failed the org policy enforcement check for "
            "`constraints/gcp.resourceLocations`. Please refer to https://console.cloud.google.com/iam-admin/"
            f"orgpolicies/gcp-resourceLocations?project={project.number} to review the project resource location "
            "restriction.",
        )
    if key == "" and _VERTEX in policy.get("gcp.restrictNonCmekServices", ()):
        raise _vertex_violation(
            settings,
            project,
            "gcp.restrictNonCmekServices",
            f"Constraint `constraints/gcp.restrictNonCmekServices` violated for `projects/{project.id}` attempting to "
            "create a resource without specifying a KMS CryptoKey.",
        )
    if key and not constraints.allows_key_project(policy.get("gcp.restrictCmekCryptoKeyProjects", ()), key):
        raise _vertex_violation(
            settings,
            project,
            "gcp.restrictCmekCryptoKeyProjects",
            f"Constraint `constraints/gcp.restrictCmekCryptoKeyProjects` violated for `projects/{project.id}` "
            f"attempting to use `{key}` key.",
        )
    if key in settings.keys_unusable.split():
        raise ApiError(
            400,
            "FAILED_PRECONDITION",
            f"Provided CryptoKey {key} cannot be used in Vertex AI service. Please make sure the CryptoKey is enabled "
            "and Vertex AI service account has Encryption and Decryption access to it.",
        )


def bucket_violation(settings: Settings, bucket: Mapping[str, Any], old: Mapping[str, Any]) -> str:
    """Return the words in which Cloud Storage refuses a bucket, "" for one that all policies let through. `old` is what
    it was, empty for a new one: what does not change is not looked at."""
    policy = settings.policy
    places = bucket.get("customPlacementConfig", {}).get("dataLocations") or [bucket["location"]]
    for place in places:
        if not old and not constraints.allows_location(policy.get("gcp.resourceLocations", ()), place):
            return f"'{place.lower()}' violates constraint '{_PREFIX}gcp.resourceLocations'"
    key, before = (_default_key(item) for item in (bucket, old))
    rekeyed = not old or key != before
    violated = {
        "storage.uniformBucketLevelAccess": not _is_uniform(bucket) and (not old or _is_uniform(old)),
        "gcp.restrictNonCmekServices": rekeyed
        and not key
        and _STORAGE in policy.get("gcp.restrictNonCmekServices", ()),
        "gcp.restrictCmekCryptoKeyProjects": rekeyed
        and key
        and not constraints.allows_key_project(policy.get("gcp.restrictCmekCryptoKeyProjects", ()), key),
    }
    name = next((name for name, found in violated.items() if policy.get(name) and found), "")
    return f"Request violates constraint '{_PREFIX}{name}'" if name else ""


def _default_key(bucket: Mapping[str, Any]) -> str:
    return str(bucket.get("encryption", {}).get("defaultKmsKeyName", ""))


def _is_uniform(bucket: Mapping[str, Any]) -> bool:
    return bool(bucket.get("iamConfiguration", {}).get("uniformBucketLevelAccess", {}).get("enabled"))


def check_perimeter(settings: Settings, api: str, principal: str, number: str) -> None:
    """Raise 403 for a call from outside the perimeter to a service that it restricts, by nobody whom a rule lets in."""
    if api not in settings.perimeter.split() or principal in settings.perimeter_ingress.split():
        return
    unique = secrets.token_urlsafe(40)
    message = f"Request is prohibited by organization's policy. vpcServiceControlsUniqueIdentifier: {unique}"
    if api == _STORAGE:
        raise ApiError(403, "PERMISSION_DENIED", message, reason=settings.perimeter_storage_reason)
    violation = {"type": "VPC_SERVICE_CONTROLS", "description": unique}
    raise ApiError(
        403,
        "PERMISSION_DENIED",
        message,
        [
            {"@type": "type.googleapis.com/google.rpc.PreconditionFailure", "violations": [violation]},
            _info("SECURITY_POLICY_VIOLATED", api, number, uid=unique),
        ],
    )


def check_quota_project(settings: Settings, api: str, principal: str, named: str) -> None:
    """Raise 403 for a person's call to a service that has to know who pays, where the call names no project."""
    if named or not principal.startswith("user:") or api not in settings.quota_project.split():
        return
    message = (
        f"Your application is authenticating by using local Application Default Credentials. The {api} API requires a "
        "quota project, which is not set by default. To learn how to set your quota project, see "
        "https://cloud.google.com/docs/authentication/adc-troubleshooting/user-creds ."
    )
    words = {"@type": "type.googleapis.com/google.rpc.LocalizedMessage", "locale": "en-US", "message": message}
    raise ApiError(403, "PERMISSION_DENIED", message, [_info("SERVICE_DISABLED", api, _CLIENT), words])


def user_project_denied(api: str, principal: str, project: str) -> ApiError:
    """Return the 403 for a quota project that the caller may not use, or that does not exist."""
    if api == _STORAGE:
        denied = "does not have serviceusage.services.use access to the Google Cloud project. Permission "
        needed = "'serviceusage.services.use' denied on resource (or it may not exist)."
        email = principal.partition(":")[2]
        return ApiError(403, "PERMISSION_DENIED", f"{email} {denied}{needed}", reason="forbidden")
    link = f"https://console.developers.google.com/iam-admin/iam/project?project={project}"
    described = {"description": "Google developer console IAM admin", "url": link}
    return ApiError(
        403,
        "PERMISSION_DENIED",
        f"Caller does not have required permission to use project {project}. Grant the caller the "
        "roles/serviceusage.serviceUsageConsumer role, or a custom role with the serviceusage.services.use permission, "
        f"by visiting {link} and then retry. Propagation of the new permission may take a few minutes.",
        [
            {"@type": "type.googleapis.com/google.rpc.Help", "links": [described]},
            _info("USER_PROJECT_DENIED", api, project),
        ],
    )


def _permitted(
    permitted: Collection[str], customers: Mapping[str, str], projects: Collection[Project], member: str
) -> bool:
    kind, _, name = member.partition(":")
    if kind in ("user", "group", "domain"):
        return customers.get(name.rpartition("@")[2]) in permitted
    if kind == "serviceAccount":
        return _AGENTS not in name and any(project.owns(name) for project in projects)
    if kind in ("principal", "principalSet"):
        return f"principalSet://iam.googleapis.com/organizations/{NUMBER}" in permitted
    # The owners, editors and viewers of a project, and members that are gone.
    return kind not in ("allUsers", "allAuthenticatedUsers")


def _check_account(settings: Settings, name: str, project: str, email: str, what: str, of: str) -> None:
    if settings.policy.get(f"iam.managed.{name}"):
        words = f"This constraint, when enforced, blocks {what[0].lower()}{what[1:]}."
        raise _denied("iam.googleapis.com", f"projects/{project}", f"{_PREFIX}iam.managed.{name}", words)
    if settings.policy.get(f"iam.{name}"):
        text = f"{what} is not allowed on this {of}."
        subject = f"projects/{project}/serviceAccounts/{email}?configvalue={quote(email)}"
        raise _violations(text, f"iam.{name}", [(subject, text)])


def _denied(api: str, resource: str, constraint: str, words: str) -> ApiError:
    """Return the answer by a custom constraint, and by a managed one, which is Google's own of that kind."""
    return ApiError(
        400,
        "FAILED_PRECONDITION",
        f'Operation denied by org policy on resource \'{resource}\': ["{constraint}": "{words}"]',
        [
            {
                "@type": "type.googleapis.com/google.rpc.ErrorInfo",
                "reason": "CUSTOM_ORG_POLICY_VIOLATION",
                "domain": "googleapis.com",
                "metadata": {"service": api, "customConstraints": constraint},
            }
        ],
    )


def _violations(message: str, constraint: str, found: Iterable[tuple[str, str]]) -> ApiError:
    listed = [
        {"type": _PREFIX + constraint, "subject": subject, "description": description} for subject, description in found
    ]
    detail = {"@type": "type.googleapis.com/google.rpc.PreconditionFailure", "violations": listed}
    return ApiError(400, "FAILED_PRECONDITION", message, [detail])


def _vertex_violation(settings: Settings, project: Project, constraint: str, description: str) -> ApiError:
    subject = f"orgpolicy:projects/{project.id}"
    message = (
        "The request has violated one or more Org Policies: violations {\n"
        f'  type: "{_PREFIX}{constraint}"\n  subject: "{subject}"\n  description: "{description}"\n}}\n'
    )
    error = _violations(message, constraint, [(subject, description)])
    return error if settings.vertex_policy_details else ApiError(error.code, error.status, message)


def _info(reason: str, api: str, consumer: str, **more: str) -> dict[str, Any]:
    return {
        "@type": "type.googleapis.com/google.rpc.ErrorInfo",
        "reason": reason,
        "domain": "googleapis.com",
        "metadata": {"service": api, "consumer": f"projects/{consumer}", **more},
    }
