"""People and access: members who lose or gain access, and the rights of the jobs' own account."""

from tests.review.case import BUSY, Case, Job, World, hurts, stack, stops, tells
from tests.review.engine import (
    ACCOUNT,
    ON_BUCKET,
    ON_PROJECT,
    ON_SECRET,
    PROJECT,
    TRAINER,
    creates,
    deletes,
    does,
    granted,
    grants,
    replaces,
    updates,
)
from tests.slipway.reviewing.builders import step

BINDING, POLICY = "gcp:projects/iAMBinding:IAMBinding", "gcp:projects/iAMPolicy:IAMPolicy"
FIREWALL = "gcp:compute/firewall:Firewall"
KEY, SECRET = "gcp:serviceaccount/key:Key", "gcp:secretmanager/secret:Secret"
TEAM, ADA = "group:ml@acme.example", "user:ada@acme.example"
NIGHTLY = "serviceAccount:nightly@acme-ml.iam.gserviceaccount.com"
THE_TRAINER = f"serviceAccount:{TRAINER}"
THE_ACCOUNT = {"accountId": "trainer", "email": TRAINER, "project": PROJECT}

CASES = (
    Case(
        "The H100 machines become one team's, and everybody else is sent away",
        (
            stack(
                "  slipway:policy:\n",
                "  slipway:teams: { vision: { submitters: [user:ada@acme.example], clusters: [h100] } }\n"
                "  slipway:policy:\n",
            ),
        ),
        (
            hurts(
                *(
                    "cluster-team",
                    "h100",
                    TEAM,
                    NIGHTLY,
                    "count for team `vision` may go there, with `--team vision`",
                    "slipway:teams.vision.clusters",
                ),
                "let its members submit with `--team vision`",
            ),
        ),
        world=BUSY,
        accident="machines that a neighbouring team had counted on",
    ),
    Case(
        "The CPU machines become one team's, and a template that runs nowhere else is refused to everybody else",
        (
            stack(
                "  slipway:policy:\n",
                "  slipway:teams: { vision: { submitters: [group:vision@acme.example], clusters: [cpu] } }\n"
                "  slipway:policy:\n",
            ),
        ),
        (
            stops(
                *(
                    "cluster-team",
                    "template tune",
                    TEAM,
                    NIGHTLY,
                    ADA,
                    "are refused (exit code 5)",
                    "1 submission by ada",
                ),
                *(
                    "first list another capacity type that can be had",
                    "leave `cpu` out of `clusters` of team `vision`",
                ),
            ),
            hurts("cluster-team", "cpu", "without it, jobs of `digits` cost"),
        ),
        world=World(jobs=(Job("tune-depth", "tune", parameters={"trials": 16}, hours=0.4),)),
        may=("submitter-added", "access-added"),
        accident="a template that nobody may submit any more",
    ),
    Case(
        "The first deployment of a stack whose H100 machines are one team's says whose they are",
        (
            stack(
                "  slipway:policy:\n",
                "  slipway:teams: { vision: { submitters: [user:ada@acme.example], clusters: [h100] } }\n"
                "  slipway:policy:\n",
            ),
        ),
        (tells("cluster-created", "cluster h100", "it takes jobs of team `vision` alone"),),
        world=World(first=True),
        may=("capacity-found-anew",),
        accident="machines that a neighbouring team had counted on",
    ),
    Case(
        "A person who has a job running leaves the submitters",
        (stack("      - user:ada@acme.example\n", ""),),
        (hurts("submitter-gone", ADA, "tune-27b-x1", "except as a member of `group:ml@acme.example`"),),
        world=BUSY,
        never=("not known: which",),
        accident="a person shut out of the work of a night",
    ),
    Case(
        "The account of the nightly search leaves the submitters",
        (stack("      - serviceAccount:nightly@acme-ml.iam.gserviceaccount.com\n", ""),),
        (stops("submitter-gone", "serviceAccount:nightly@", "digits-night"),),
        world=BUSY,
        accident="a robot that nobody thought of",
    ),
    Case(
        "The account of the nightly search leaves while nothing of it runs: tonight it is refused",
        (stack("      - serviceAccount:nightly@acme-ml.iam.gserviceaccount.com\n", ""),),
        (stops("submitter-gone", "serviceAccount:nightly@", "whatever submits `digits` in its name fails"),),
        world=World(jobs=(Job("digits-night", "digits", "nightly", state="SUCCEEDED", hours=9.0),)),
        accident="a robot that nobody thought of",
    ),
    Case(
        "Nobody may submit any more, and the pools are paid",
        (
            stack(
                f"    submitters:\n      - {TEAM}\n      - {ADA}\n      - {NIGHTLY}\n",
                "    submitters: []\n",
            ),
        ),
        tuple(stops("submitter-gone", member, "nobody is left") for member in (TEAM, ADA, NIGHTLY)),
        accident="everybody shut out by an edit of one line",
    ),
    Case(
        "The team's group gives way to the whole domain",
        (stack("group:ml@acme.example", "domain:acme.example"),),
        (
            tells("submitter-gone", TEAM, "except as a member of `domain:acme.example`"),
            stops("domain-access", "domain:acme.example", "Everybody"),
        ),
        world=BUSY,
        accident="a group replaced by everybody",
    ),
    Case(
        "The whole domain may submit, which a rule of the stack refuses",
        (stack("group:ml@acme.example", "domain:acme.example"),),
        (
            stops("policy-violated", "nothingPublic", "it names nobody"),
            stops("domain-access", "domain:acme.example", "Everybody with an account in acme.example"),
        ),
        may=("submitter-gone",),
        given=(stack("      reviewedCodeOnly: true\n", "      reviewedCodeOnly: true\n      nothingPublic: true\n"),),
        never=("that is everybody",),
    ),
    Case(
        "A typing error in the group's name: nobody of the team may submit",
        (stack("group:ml@acme.example", "group:ml@acme.exmaple"),),
        (stops("submitter-gone", TEAM), tells("submitter-added", "group:ml@acme.exmaple")),
        world=BUSY,
        accident="an address with a letter wrong",
        may=("submitter-added",),
    ),
    Case(
        "Whoever may submit may open a shell in machines of their jobs",
        (stack("    trainer: trainer\n", "    trainer: trainer\n    shell: true\n"),),
        (stops("web-access-changed", "workspace", "open a shell", "account"),),
        world=BUSY,
    ),
    Case(
        "Somebody may have others' jobs make room for urgent ones",
        (stack("    trainer: trainer\n", "    trainer: trainer\n    urgent: [user:eve@acme.example]\n"),),
        (hurts("urgent-jobs", "urgent user:eve@acme.example", "make room", "--urgent"),),
        world=BUSY,
    ),
    Case(
        "A group's jobs may be urgent where they count for the team that it is called like",
        (stack("    trainer: trainer\n", f"    trainer: trainer\n    urgent: [{TEAM}]\n"),),
        (hurts("urgent-jobs", f"urgent {TEAM}", "make room for those of team `ml`"),),
        never=("itself is no submitter",),
    ),
    Case(
        "A group leaves of four, which are not all named",
        (stack(f"      - {TEAM}\n", ""),),
        (stops("submitter-gone", TEAM, "nor cancel jobs or read results, except as a member of another listed group"),),
        given=(
            stack(
                f"      - {TEAM}\n",
                f"      - {TEAM}\n" + "".join(f"      - group:{each}@acme.example\n" for each in ("a1", "b2", "c3")),
            ),
        ),
        never=("group:b2", "workspace's trainer"),
        accident="a group removed whose members' scripts were other people's schedules",
    ),
    Case(
        "A team gets another name, which its members go on to say",
        (stack("    vision: { submitters", "    sight: { submitters"),),
        (hurts("submitter-gone", "team vision", "`--team vision` are refused", "slipway:teams"),),
        given=(
            stack(
                "  slipway:policy:\n",
                "  slipway:teams:\n    vision: { submitters: [group:seeing@acme.example] }\n\n  slipway:policy:\n",
            ),
        ),
        accident="a renamed team, whose schedules said the old name",
    ),
    Case(
        "A team goes, and its group stays under its name",
        (
            stack("    vision: { submitters: [group:vision@acme.example] }\n", "    sight: { submitters: [] }\n"),
            stack(f"      - {TEAM}\n", f"      - {TEAM}\n      - group:vision@acme.example\n"),
        ),
        given=(
            stack(
                "  slipway:policy:\n",
                "  slipway:teams:\n    vision: { submitters: [group:vision@acme.example] }\n\n  slipway:policy:\n",
            ),
        ),
        never=("--team vision",),
    ),
    Case(
        "Urgent jobs of somebody are not urgent any more",
        (stack("    urgent: [user:eve@acme.example]\n", ""),),
        (tells("urgent-jobs", "urgent user:eve@acme.example", "refused"),),
        given=(stack("    trainer: trainer\n", "    trainer: trainer\n    urgent: [user:eve@acme.example]\n"),),
        world=BUSY,
    ),
    Case(
        "Teams share a cluster that was whoever's was first",
        (stack("  slipway:policy:\n", "  slipway:shares: { h100: { vision: 2 } }\n  slipway:policy:\n"),),
        (hurts("team-shares", "cluster h100", "vision 2 instead of none", "waits in its command"),),
        world=BUSY,
    ),
    Case(
        "Shells are not allowed any more",
        (stack("    shell: true\n", ""),),
        (hurts("web-access-changed", "workspace", "--shell", "refused"),),
        given=(stack("    trainer: trainer\n", "    trainer: trainer\n    shell: true\n"),),
        world=BUSY,
    ),
    Case(
        "The page of all jobs and costs is written for whoever may read the catalog",
        (stack("    trainer: trainer\n", "    trainer: trainer\n    board: true\n"),),
        (hurts("board-shown", "workspace", "jobs and costs"),),
        world=BUSY,
    ),
    Case(
        "Notices of jobs go to another room",
        (stack("notify: slack-ml\n", "notify: slack-all\n"),),
        (hurts("jobs-told", "workspace notify", "slack-all", "instead of", "slack-ml", "nobody is told where"),),
        given=(stack("    trainer: trainer\n", "    trainer: trainer\n    notify: slack-ml\n"),),
        accident="alerts that went on in a room that nobody read",
    ),
    Case(
        "Notices go to another room, whose secret comes as the old one goes, and which no account may read",
        (stack("notify: slack-ml\n", "notify: slack-all\n"),),
        (
            hurts("jobs-told", "workspace notify", "slack-all", "nobody is told where", "may not read it"),
            hurts("jobs-lose-secret", "slack-ml", "digits-night", "nobody is told how they end"),
            stops("resource-deleted", "slack-ml", "what it holds is lost, and what uses it fails"),
        ),
        may=("resource-created",),
        steps=does(
            step("create", SECRET, "slack-all", new={"secretId": "slack-all", "project": PROJECT}),
            step("delete", SECRET, "slack-ml", old={"secretId": "slack-ml", "project": PROJECT}, id="slack-ml"),
        ),
        given=(stack("    trainer: trainer\n", "    trainer: trainer\n    notify: slack-ml\n"),),
        world=BUSY,
        accident="a room that was told nothing any more, and nobody noticed",
    ),
    Case(
        "A team may not use a cluster any more, and its share of it goes",
        (
            stack("ben@acme.example], clusters: [h100] }", "ben@acme.example] }"),
            stack("{ h100: { vision: 1, speech: 1 } }", "{ h100: { vision: 2 } }"),
        ),
        (hurts("team-shares", "h100", "vision 2 instead of speech 1, vision 1"),),
        given=(
            stack(
                "  slipway:policy:\n",
                "  slipway:teams:\n    vision: { submitters: [user:ada@acme.example], clusters: [h100] }\n"
                "    speech: { submitters: [user:ben@acme.example], clusters: [h100] }\n"
                "  slipway:shares: { h100: { vision: 1, speech: 1 } }\n  slipway:policy:\n",
            ),
        ),
        may=("cluster-team", "cluster-team-gone"),
        never=("jobs of speech are sent there",),
    ),
    Case(
        "A limit of a team that the stack's other budgets have",
        (stack("teams: { vision: 8000 }", "teams: { vision: 800 }"),),
        (hurts("budget-changed", "vision", "$800 a month instead of $8,000"),),
        given=(
            stack(
                "  slipway:policy:\n",
                "  slipway:teams: { vision: { submitters: [user:ada@acme.example], clusters: [h100] } }\n"
                "  slipway:budget: { enforce: true, teams: { vision: 8000 } }\n  slipway:policy:\n",
            ),
        ),
        never=("slipway:teams.vision.budget",),
    ),
    Case(
        "A chat room is told of all jobs",
        (stack("    trainer: trainer\n", "    trainer: trainer\n    notify: slack-ml\n"),),
        (hurts("jobs-told", "workspace", "slack-ml", "errors"),),
        world=BUSY,
    ),
    Case(
        "Code that nobody reviewed is allowed, against a rule of the stack's own",
        (stack("    trainer: trainer\n", "    trainer: trainer\n    code: true\n"),),
        (stops("policy-violated | preview-failed", ""), hurts("code-allowed", "workspace")),
        may=("preview-failed", "code-allowed", "policy-violated"),
        world=BUSY,
    ),
    Case(
        "Code that nobody reviewed is allowed, and the rule against it goes with the same change",
        (
            stack("    trainer: trainer\n", "    trainer: trainer\n    code: true\n"),
            stack("      reviewedCodeOnly: true\n", ""),
        ),
        (stops("policy-weaker", "reviewedCodeOnly"), stops("code-allowed", "workspace")),
        world=BUSY,
        accident="a rule switched off by what it forbade",
    ),
    Case(
        "A rule that stopped deployments only advises",
        (
            stack("      reviewedCodeOnly: true\n", ""),
            stack("      longestTimeout: 48\n", "      longestTimeout: 48\n      reviewedCodeOnly: true\n"),
        ),
        (stops("policy-weaker", "reviewedCodeOnly"),),
    ),
    Case(
        "A region is allowed in which nobody has looked at what it costs",
        (stack("regions: [us-central1]", "regions: [us-central1, asia-southeast1]"),),
        (stops("policy-weaker", "regions", "asia-southeast1"),),
    ),
    Case(
        "Jobs are to run as another account, while some run as the old one",
        (stack("    trainer: trainer\n", "    trainer: trainer-two\n"),),
        (stops("preview-failed", "", "trainer@", "can't become account trainer-two@"),),
        world=BUSY,
        accident="a service account switched under running jobs",
    ),
    Case(
        "The engine deletes the account that running jobs are",
        names=(
            stops("account-deleted", TRAINER),
            stops("jobs-lose-account", TRAINER, "tune-27b-x1", "ada", "which is deleted"),
        ),
        steps=deletes(ACCOUNT, "trainer", THE_ACCOUNT, f"projects/acme-ml/serviceAccounts/{TRAINER}"),
        world=BUSY,
        accident="a deleted service account that could not be made again",
    ),
    Case(
        "The account that running jobs are is disabled",
        names=(
            stops("jobs-lose-account", "trainer@", "tune-27b-x1", "ada", "is disabled"),
            stops("resource-changed", "trainer@"),
        ),
        steps=updates(ACCOUNT, "trainer", THE_ACCOUNT, disabled=True),
        world=BUSY,
        accident="an account disabled that was still in use",
    ),
    Case(
        "Jobs may not write to their bucket any more",
        names=(stops("jobs-lose-bucket", "acme-work", "tune-27b-x1", "ada"),),
        may=("access-gone",),
        steps=does(grants("delete", ON_BUCKET, THE_TRAINER, "roles/storage.objectUser", bucket="acme-work")),
        world=BUSY,
        accident="a grant removed that was thought unused",
    ),
    Case(
        "Jobs may not read their secret any more",
        names=(stops("jobs-lose-secret", "hf-token", "tune-27b-x1"),),
        may=("access-gone",),
        steps=does(
            grants(
                "delete",
                ON_SECRET,
                THE_TRAINER,
                "roles/secretmanager.secretAccessor",
                project=PROJECT,
                secretId="hf-token",
            )
        ),
        world=BUSY,
        accident="a grant removed that was thought unused",
    ),
    Case(
        "A binding in place of a member: whoever else has the role loses it",
        names=(stops("access-gone", "roles/aiplatform.user"),),
        may=("access-added",),
        steps=creates(BINDING, "users", {"project": PROJECT, "role": "roles/aiplatform.user", "members": [TEAM]}),
        world=BUSY,
        accident="an IAM binding in place of a member",
    ),
    Case(
        "The whole policy of the project is declared, and all that is not in it goes",
        names=(stops("access-gone", ""),),
        may=("access-added", "role-above-table"),
        steps=creates(POLICY, "all", {"project": PROJECT, "policyData": '{"bindings": []}'}),
        world=BUSY,
        accident="an IAM policy that locked everybody out",
    ),
    Case(
        "Anybody on the internet may read the results",
        names=(stops("public-access", "allUsers", "acme-work"),),
        steps=granted(ON_BUCKET, "allUsers", "roles/storage.objectViewer", bucket="acme-work"),
        accident="a bucket open to the world",
    ),
    Case(
        "The submitters become owners of the project",
        names=(stops("role-above-table", TEAM, "roles/owner"),),
        steps=granted(ON_PROJECT, TEAM, "roles/owner"),
        accident="a role given in haste",
    ),
    Case(
        "A key of the trainer is made, which never ends",
        names=(stops("access-added", "", "key"),),
        steps=creates(KEY, "for-ci", {"serviceAccountId": TRAINER}),
        accident="a key of a service account that leaked",
    ),
    Case(
        "Somebody outside gets a role",
        names=(stops("access-added | role-above-table", "user:eve@elsewhere.example", "roles/storage.admin"),),
        steps=granted(ON_BUCKET, "user:eve@elsewhere.example", "roles/storage.admin", bucket="acme-work"),
        accident="access for a contractor, never taken back",
    ),
    Case(
        "Somebody loses urgent jobs as one by name, and a group keeps them",
        (stack("urgent: [group:ml@acme.example, user:ada@acme.example]", "urgent: [group:ml@acme.example]"),),
        (tells("urgent-jobs", "urgent user:ada@acme.example", "except as a member of `group:ml@acme.example`"),),
        given=(
            stack(
                "    trainer: trainer\n",
                "    trainer: trainer\n    urgent: [group:ml@acme.example, user:ada@acme.example]\n",
            ),
        ),
    ),
    Case(
        "Nobody shares a cluster by machines any more",
        (stack("  slipway:shares: { h100: { vision: 2 } }\n", ""),),
        (hurts("team-shares", "cluster h100", "are none instead of", "who submits first has its machines"),),
        given=(stack("  slipway:policy:\n", "  slipway:shares: { h100: { vision: 2 } }\n  slipway:policy:\n"),),
        never=("above its share",),
        accident="a sweep that held a shared pool for days",
    ),
    Case(
        "Notices go by the next version of their secret",
        (stack("slack-ml/versions/3", "slack-ml/versions/4"),),
        (hurts("jobs-told", "workspace notify", "`slack-ml/versions/4`", "`slack-ml/versions/3`"),),
        given=(
            stack(
                "    trainer: trainer\n",
                "    trainer: trainer\n    notify: projects/acme-ml/secrets/slack-ml/versions/3\n",
            ),
        ),
        never=("where `slack-ml` leads",),
    ),
    Case(
        "A firewall shuts out what comes from anywhere",
        names=(tells("resource-created", "shut"),),
        steps=creates(FIREWALL, "shut", {"sourceRanges": ["0.0.0.0/0"], "denies": [{"protocol": "all"}]}),
    ),
    Case(
        "Who may deploy from a repository is narrowed to its main branch",
        names=(stops("resource-changed", "gh", "refs/heads/main", "another condition"),),
        steps=updates(
            "gcp:iam/workloadIdentityPoolProvider:WorkloadIdentityPoolProvider",
            "gh",
            {"attributeCondition": "assertion.repository == 'acme/ml'"},
            attributeCondition="assertion.repository == 'acme/ml' && assertion.ref == 'refs/heads/main'",
        ),
        never=("lets in others",),
    ),
    Case(
        "A key of an account is made anew",
        names=(
            stops("resource-replaced", "for-ci", "what uses it fails"),
            stops("access-added", "key for-ci", "never ends"),
        ),
        steps=replaces(KEY, "for-ci", {"serviceAccountId": TRAINER}, publicKeyType="TYPE_RAW_PUBLIC_KEY"),
        never=("fails as it holds something", "copy what is in it"),
        accident="a key of a service account that leaked",
    ),
    Case(
        "A second team gets a team's machines",
        (stack("submitters: [user:ben@acme.example]", "submitters: [user:ben@acme.example], clusters: [h100]"),),
        (tells("cluster-team", "cluster h100", "user:ben@", "of teams `vision` and `audio`"),),
        given=(
            stack(
                "  slipway:policy:\n",
                "  slipway:teams:\n"
                "    vision: { submitters: [user:ada@acme.example], clusters: [h100] }\n"
                "    audio: { submitters: [user:ben@acme.example] }\n"
                "  slipway:policy:\n",
            ),
        ),
    ),
)
