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

SERVICE_ACCOUNTS = {"deployer": "Runs pulumi up", "previewer": "Runs pulumi preview on pull requests"}
"""Service accounts made at the first start: account id to description."""

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
    "roles/aiplatform.serviceAgent": (f"serviceAccount:{SERVICE_AGENT}",),
    "roles/aiplatform.customCodeServiceAgent": (f"serviceAccount:{CUSTOM_CODE_AGENT}",),
}
"""The project's first policy: role to members. The submitters' group has none; the Workspace component grants them."""


def is_of_project(email: str) -> bool:
    """Whether a service account is one of the project: that somebody made, or one of Google's default accounts."""
    made = f"@{PROJECT_ID}.iam.gserviceaccount.com"
    defaults = (f"{PROJECT_NUMBER}-compute@developer.gserviceaccount.com", f"{PROJECT_ID}@appspot.gserviceaccount.com")
    return email.endswith(made) or email in defaults
