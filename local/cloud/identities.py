"""Who exists on the local cloud from its first start: the project, the people, the service accounts, their roles."""

PROJECT_ID = "slipway-local"
PROJECT_NUMBER = "100000000001"
REGION = "us-central1"
SERVICE_AGENT = f"service-{PROJECT_NUMBER}@gcp-sa-aiplatform.iam.gserviceaccount.com"
CUSTOM_CODE_AGENT = f"service-{PROJECT_NUMBER}@gcp-sa-aiplatform-cc.iam.gserviceaccount.com"

DEPLOYER = f"deployer@{PROJECT_ID}.iam.gserviceaccount.com"
PREVIEWER = f"previewer@{PROJECT_ID}.iam.gserviceaccount.com"

ROLES: dict[str, str] = {
    "owner": "user:owner@slipway.example",
    "deployer": f"serviceAccount:{DEPLOYER}",
    "previewer": f"serviceAccount:{PREVIEWER}",
    "submitter": "user:ada@slipway.example",
}
"""The roles of `python -m local env --as ROLE` and the principal each stands for."""

GROUPS: dict[str, tuple[str, ...]] = {"group:ml-engineers@slipway.example": ("user:ada@slipway.example",)}

COMPUTE_DEFAULT = f"{PROJECT_NUMBER}-compute@developer.gserviceaccount.com"
SERVICE_ACCOUNTS = {
    DEPLOYER: ("deployer", "Runs pulumi up"),
    PREVIEWER: ("previewer", "Runs pulumi preview on pull requests"),
    # Comes with Compute Engine, as an editor where no organisation's policy says otherwise.
    COMPUTE_DEFAULT: ("Compute Engine default service account", ""),
}
"""Service accounts made at the first start: email to display name and description."""

BINDINGS: dict[str, tuple[str, ...]] = {
    "roles/owner": (ROLES["owner"],),
    "roles/aiplatform.admin": (ROLES["deployer"],),
    "roles/storage.admin": (ROLES["deployer"],),
    "roles/iam.serviceAccountAdmin": (ROLES["deployer"],),
    "roles/iam.serviceAccountUser": (ROLES["deployer"],),
    "roles/resourcemanager.projectIamAdmin": (ROLES["deployer"],),
    "roles/cloudquotas.admin": (ROLES["deployer"],),
    "roles/logging.viewer": (ROLES["deployer"],),
    "roles/aiplatform.viewer": (ROLES["previewer"],),
    "roles/cloudquotas.viewer": (ROLES["previewer"],),
    "roles/iam.securityReviewer": (ROLES["previewer"],),
    "roles/storage.bucketViewer": (ROLES["previewer"],),
    # On a real project for the catalogs' buckets alone, by a condition; the local cloud evaluates none.
    "roles/storage.objectViewer": (ROLES["previewer"],),
    "roles/editor": (f"serviceAccount:{COMPUTE_DEFAULT}",),
    "roles/aiplatform.serviceAgent": (f"serviceAccount:{SERVICE_AGENT}",),
    "roles/aiplatform.customCodeServiceAgent": (f"serviceAccount:{CUSTOM_CODE_AGENT}",),
}
"""The project's first policy: role to members. The submitters' group has none; the Workspace component grants them."""


def is_of_project(email: str) -> bool:
    """Whether a service account is one of the project: that somebody made, or one of Google's default accounts."""
    made = f"@{PROJECT_ID}.iam.gserviceaccount.com"
    return email.endswith(made) or email in (COMPUTE_DEFAULT, f"{PROJECT_ID}@appspot.gserviceaccount.com")
