"""Roles of a submitter whose stack is gone, or does not name them any more. # P5 N10"""

from dataclasses import replace

from slipway.deploying.deployment.workspace_plan import SUBMITTER_ROLES
from slipway.google.catalog.document import PublishedCatalog
from slipway.google.live import Unknown
from slipway.google.permissions import Bound
from slipway.model.findings.finding import Finding, Grade, Subject
from slipway.model.identity import Identity
from slipway.model.state import State
from slipway.operating.doctor.picture import Backend, Policy
from tests.slipway.operating.doctor.picture import CPU, found, lives, published
from tests.slipway.reviewing.builders import TRAINER, catalog

ADA, EVE = "group:ada@acme.example", "user:Eve@acme.example"
PROJECT = Subject("project", "acme-prod")
OURS = published(replace(catalog(CPU), submitters={TRAINER: (ADA,)}))
OTHER = replace(
    OURS,
    identity=Identity("", "dev"),
    whole=replace(catalog(CPU), stack="dev", submitters={TRAINER: (EVE.lower(),)}),
)


def having(*roles: str, condition: str = "") -> tuple[Policy, ...]:
    bound = {Bound(role, EVE, condition) for role in roles} | {Bound(role, ADA) for role in SUBMITTER_ROLES.values()}
    return (Policy(PROJECT, frozenset(bound)),)


def left(*policies: Policy, kind: str = "roles-left", **fields: object) -> Finding | None:
    return found(**{"published": OURS, "policies": policies, **fields}).get(kind)


IDLE = Backend("gs://state", State())
ALL = having(*SUBMITTER_ROLES.values())


def test_roles_of_nobody_are_told_with_the_commands_that_take_them() -> None:
    finding = left(*ALL)
    assert finding and finding.sentence == (
        f"{EVE} has the roles of a submitter on project acme-prod, and no stack names them any more"
    )
    assert finding.fix.split(" && ") == [
        f"gcloud projects remove-iam-policy-binding acme-prod --member={EVE} --role={role}"
        for role in sorted(SUBMITTER_ROLES.values())
    ]


def test_a_deleted_submitter_is_told_as_one_also_where_somebody_has_that_name_again() -> None:
    gone = f"deleted:{ADA}?uid=7"
    bound = frozenset(Bound(role, member) for role in SUBMITTER_ROLES.values() for member in (ADA, gone))
    finding = left(Policy(PROJECT, bound))
    assert finding and finding.sentence.startswith(f"{ADA}, which was deleted, has the roles of a submitter")
    assert f"--member='{gone}'" in finding.fix


def test_whoever_a_stack_names_or_who_has_other_roles_is_nobody_s_business() -> None:
    assert left(*ALL, neighbours={"dev-catalog": OTHER}) is None
    assert left(*having("roles/aiplatform.user", "roles/logging.viewer")) is None
    assert left(*having(*SUBMITTER_ROLES.values(), condition="at night")) is None


def test_what_the_state_has_goes_with_the_command_that_was_killed() -> None:
    backend = Backend("gs://state", State(submitters=(EVE,)))
    alone = Policy(PROJECT, frozenset(Bound(role, EVE) for role in SUBMITTER_ROLES.values()))
    kept, gone = left(alone, backend=backend), left(alone, backend=backend, published=None)
    assert kept and kept.fix == "make up STACK=prod"
    assert gone and gone.fix == "type again what was killed, unless it is still at work"


def test_where_a_catalog_can_not_be_read_that_is_told_and_no_command_takes_anything() -> None:
    unread = Unknown("denied", "storage.googleapis.com buckets.list", "roles/storage.bucketViewer")
    for neighbours in (unread, {"c": unread}, {"c": PublishedCatalog(damage="gs://c: not JSON")}):
        assert left(*ALL, neighbours=neighbours) is None
        finding = left(*ALL, neighbours=neighbours, kind="unread-part")
        assert finding and "whether a stack names them can't be told" in finding.sentence
        assert finding.fix.startswith("slipway doctor")


ACCOUNT = Subject("account", TRAINER)
WORK = Subject("bucket", OURS.whole.work_bucket if OURS.whole else "")


def test_roles_that_are_gone_are_told_where_nobody_can_submit_any_more() -> None:  # N10
    """An account that was deleted and made again is another one, without any of the roles that it had."""
    of_old = Bound("roles/storage.objectUser", f"deleted:serviceAccount:{TRAINER}?uid=123")
    finding = left(Policy(ACCOUNT, frozenset()), kind="roles-gone", backend=IDLE)
    assert finding and finding.grade is Grade.BLOCKING and finding.fix == "make up STACK=prod"
    assert finding.sentence == (
        f"{ADA} lost roles/iam.serviceAccountUser on account {TRAINER}: nobody can submit as it any more"
    )
    submitters = {Bound(role, ADA) for role in ("roles/storage.objectViewer", "roles/storage.objectCreator")}
    finding = left(Policy(WORK, frozenset({of_old, *submitters})), kind="roles-gone", backend=IDLE)
    assert finding and f"serviceAccount:{TRAINER} lost roles/storage.objectUser on bucket" in finding.sentence
    assert "nobody" not in finding.sentence


def test_the_lost_role_of_vertex_ais_own_agent_is_told_with_the_command_that_gives_it() -> None:
    role, member = (
        "roles/aiplatform.serviceAgent",
        "serviceAccount:service-12@gcp-sa-aiplatform.iam.gserviceaccount.com",
    )
    there = Policy(PROJECT, frozenset({Bound(role, member)}))
    lost = Policy(PROJECT, frozenset({Bound(role, "user:ada@acme.example"), Bound("roles/viewer", member)}))
    assert found(lives(used=1), policies=(there,)).get("agent-role-gone") is None
    assert found(policies=(lost,), clusters=()).get("agent-role-gone") is None, "nothing needs the agent yet"
    finding = found(lives(used=1), policies=(lost,))["agent-role-gone"]
    assert finding.sentence.startswith(f"Vertex AI's own agent has no {role} on {PROJECT}")
    assert finding.fix.startswith(f"gcloud projects add-iam-policy-binding {PROJECT.name} --role={role} --member=")
    assert "another tool manages that policy" in finding.means


def test_roles_that_are_there_or_on_their_way_are_not_told() -> None:
    there = Policy(ACCOUNT, frozenset({Bound("roles/iam.serviceAccountUser", ADA.upper().replace("GROUP", "group"))}))
    assert left(there, kind="roles-gone", backend=IDLE) is None
    assert left(*ALL, kind="roles-gone", backend=IDLE) is None
    begun = Backend("gs://state", State(), pending=("ada",))
    assert left(Policy(ACCOUNT, frozenset()), kind="roles-gone", backend=begun) is None
