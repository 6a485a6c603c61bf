"""The principals of a project of the local cloud from its first moment: people, service accounts, their roles."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

REGION = "us-central1"
OWNER = "user:owner@company.example"
SUBMITTER = "user:ada@company.example"
GROUPS: dict[str, tuple[str, ...]] = {"group:ml-engineers@company.example": (SUBMITTER,)}
CUSTOMERS: dict[str, str] = {"company.example": "C0company0"}
"""Domains to their customers' ids in the directory."""


@dataclass(frozen=True)
class Project:
    """A project."""

    id: str
    number: str
    #: Principals besides those of the roles, who can sign in too.
    people: tuple[str, ...] = ()

    @property
    def deployer(self) -> str:
        return self.address("deployer")

    @property
    def previewer(self) -> str:
        return self.address("previewer")

    @property
    def custom_code_agent(self) -> str:
        """The account of jobs that name none."""
        return f"service-{self.number}@gcp-sa-aiplatform-cc.iam.gserviceaccount.com"

    @property
    def compute_default(self) -> str:
        """The account that comes with Compute Engine, as an editor where no organisation's policy says otherwise."""
        return f"{self.number}-compute@developer.gserviceaccount.com"

    @property
    def roles(self) -> dict[str, str]:
        """The roles of `vertex-local env --as ROLE` and the principal each stands for."""
        return {
            "owner": OWNER,
            "deployer": f"serviceAccount:{self.deployer}",
            "previewer": f"serviceAccount:{self.previewer}",
            "submitter": SUBMITTER,
        }

    @property
    def principals(self) -> dict[str, str]:
        """The principals that can sign in: by role, and others by email."""
        return {**{person.partition(":")[2]: person for person in self.people}, **self.roles}

    @property
    def service_accounts(self) -> dict[str, tuple[str, str]]:
        """The service accounts made at the first start: email to display name and description."""
        return {
            self.deployer: ("deployer", "Deploys"),
            self.previewer: ("previewer", "Reads, for previews of deployments"),
            self.compute_default: ("Compute Engine default service account", ""),
        }

    @property
    def bindings(self) -> dict[str, tuple[str, ...]]:
        """The project's first policy: role to members. The submitters' group has none: a deployment grants them."""
        deployer, previewer = (self.roles["deployer"],), (self.roles["previewer"],)
        agent = f"serviceAccount:service-{self.number}@gcp-sa-aiplatform.iam.gserviceaccount.com"
        return {
            "roles/owner": (OWNER,),
            f"projects/{self.id}/roles/deployer": deployer,
            f"projects/{self.id}/roles/previewer": previewer,
            # On a real project conditions limit these four, to the stack's buckets, its catalog's objects and the
            # submitters' roles; the local cloud evaluates no conditions.
            f"projects/{self.id}/roles/buckets": deployer,
            "roles/storage.objectUser": deployer,
            "roles/storage.objectViewer": previewer,
            "roles/resourcemanager.projectIamAdmin": deployer,
            "roles/editor": (f"serviceAccount:{self.compute_default}",),
            "roles/aiplatform.serviceAgent": (agent,),
            "roles/aiplatform.customCodeServiceAgent": (f"serviceAccount:{self.custom_code_agent}",),
        }

    def is_called(self, text: str) -> bool:
        """Return whether a text is the project's id or its number."""
        return text in (self.id, self.number)

    def owns(self, email: str) -> bool:
        """Return whether an account is the project's: one that somebody made, or one of Google's default accounts."""
        return email.endswith(self.address("")) or email in (
            self.compute_default,
            f"{self.id}@appspot.gserviceaccount.com",
        )

    def account(self, email: str, unique: str, **declared: str) -> dict[str, str]:
        """Return a service account as IAM has it."""
        return {
            "name": f"projects/{self.id}/serviceAccounts/{email}",
            "projectId": self.id,
            "uniqueId": unique,
            "email": email,
            "oauth2ClientId": unique,
            **declared,
        }

    def address(self, account: str) -> str:
        """Return an account's email; a domain's project (`acme.example:ml`) has its parts the other way round."""
        domain, colon, name = self.id.rpartition(":")
        return f"{account}@{name}{'.' if colon else ''}{domain}.iam.gserviceaccount.com"


HOME = Project("local-project", "100000000001")
"""The project that every local cloud has."""
PROJECT_ID, PROJECT_NUMBER = HOME.id, HOME.number
DEPLOYER, PREVIEWER, CUSTOM_CODE_AGENT = HOME.deployer, HOME.previewer, HOME.custom_code_agent
ROLES: Mapping[str, str] = HOME.roles
PROJECTS = "projects"
"""The folder, in the cloud's own, of the states of projects that were named."""


def folder_of(folder: Path, project: str) -> Path:
    """Return the folder in which a cloud with this state folder keeps one of its projects."""
    return folder if project == PROJECT_ID else folder / PROJECTS / project.replace(":", "_")
