"""The kinds of findings, a row each: its word, its section, its default grade, its meaning. A kind makes its
findings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from slipway.model.findings.finding import FindingKind, Grade, Section

_NOTE, _WARNING, _BLOCKING = Grade.NOTE, Grade.WARNING, Grade.BLOCKING


def _rows(section: Section, *rows: tuple[str, Grade, str]) -> Iterable[FindingKind]:
    return (FindingKind(word=word, section=section, usual=usual, means=means) for word, usual, means in rows)


_ALL = (
    *_rows(
        Section.CLUSTERS,
        ("jobs-cancelled", _BLOCKING, "jobs that have not ended are cancelled with the cluster under them"),
        ("jobs-lose-account", _BLOCKING, "unfinished jobs run as an account that goes, or loses what it may do"),
        ("jobs-lose-secret", _BLOCKING, "unfinished jobs read a secret that goes, or that they may not read any more"),
        ("jobs-lose-bucket", _BLOCKING, "unfinished jobs read or write a bucket that goes, or lose the access"),
        ("jobs-lose-package", _BLOCKING, "unfinished jobs install a package again at each restart, and it goes"),
        ("jobs-lose-network", _BLOCKING, "unfinished jobs use a network, an attachment or a key that goes"),
        ("jobs-lose-reservation", _BLOCKING, "unfinished jobs sit on a reservation that the stack gives up"),
        ("jobs-restart-differently", _WARNING, "an unfinished job's next restart would differ from its first start"),
        ("jobs-finish-on-old", _NOTE, "jobs stay on the old generation, which retires when they have ended"),
        ("cluster-created", _NOTE, "a cluster is made that was not there"),
        (
            "cluster-new-generation",
            _WARNING,
            "an edit makes a second cluster; ⛔ where jobs run, no machine changes, and it costs $10/h or more",
        ),
        (
            "key-unchecked",
            _WARNING,
            "nobody looked whether Vertex AI may use a cluster's new key, else it can't be made",
        ),
        ("cluster-in-place", _BLOCKING, "a cluster is deleted before its successor is made, and is away until then"),
        ("cluster-returns", _NOTE, "an older generation that still lives becomes current again"),
        ("cluster-falls-back", _NOTE, "an older generation that still lives is current again, as the newer is lost"),
        ("cluster-retires", _BLOCKING, "a cluster is not asked for any more and goes when its jobs have ended"),
        ("cluster-deleted", _BLOCKING, "a cluster goes with this deployment, and its machines may not come again"),
        ("cluster-adopted", _NOTE, "people may submit to a cluster that somebody else made, and that stays theirs"),
        ("cluster-left", _WARNING, "an adopted cluster is not offered any more, and is kept as it is"),
        ("cluster-cleared", _NOTE, "a failed cluster, which holds nothing, is deleted"),
        ("cluster-unsaid", _BLOCKING, "the engine makes a cluster that the program does not say, or not as it says"),
        ("cluster-overdue", _WARNING, "an old generation is still there after `retireWithin`"),
        ("cluster-may-become", _WARNING, "where a cluster's machines can't be had, others come, at another price"),
        ("cluster-may-still-become", _NOTE, "the same, by a list that is deployed already"),
        ("cluster-protection", _WARNING, "how a cluster is replaced or protected changes"),
        ("season-changed", _WARNING, "from when, until when, or for how long idle a cluster is wanted changes"),
        ("pool-gone", _BLOCKING, "a pool is not asked for any more"),
        ("capacity-given-back", _BLOCKING, "the machines that are always there become fewer, and may not come again"),
        ("capacity-lower-maximum", _WARNING, "a pool can't grow as far any more"),
        ("capacity-raised", _NOTE, "a pool keeps or may take more machines"),
        ("capacity-found-anew", _WARNING, "machines have to be found again before the old ones go"),
        ("generations-overlap", _WARNING, "both generations are there, and paid, for a while"),
        ("image-cache-empty", _NOTE, "the first jobs on a new generation load their image anew"),
        ("pool-unused", _WARNING, "no template fits a pool that is paid for; blocking where one did before"),
        ("minimum-below-default", _WARNING, "fewer machines are ready than a template's usual submission takes"),
    ),
    *_rows(
        Section.MONEY,
        ("idle-cost", _NOTE, "what the stack costs with nothing running; ⚠ for a steep rise"),
        ("most-cost", _NOTE, "what the stack costs with every pool at its maximum"),
        ("run-cost", _WARNING, "what a submission of a template costs an hour, or at most in all"),
        ("reservation-paid", _BLOCKING, "a reservation stays paid, whether jobs use it or not"),
        ("budget-changed", _WARNING, "what the stack, a team or a user may spend a month"),
        ("budget-share", _NOTE, "the share of its budget that the stack's pools take by themselves"),
        ("spending-limit", _WARNING, "what a submission may cost an hour before somebody has to confirm it"),
        ("what-if", _NOTE, "waits and dollars of the last days' jobs, replayed on the pools before and after"),
        ("price-unknown", _NOTE, "a part of the cost has no known price"),
    ),
    *_rows(
        Section.TEMPLATES,
        ("template-added", _NOTE, "a template can be submitted that could not"),
        ("template-gone", _BLOCKING, "a template can't be submitted any more"),
        ("kind-gone", _BLOCKING, "a template can't be submitted as this kind of job any more"),
        ("kind-added", _NOTE, "a template can be submitted as another kind of job"),
        ("parameter-gone", _BLOCKING, "a submission that sets this parameter is refused"),
        ("parameter-renamed", _BLOCKING, "a submission has to use the parameter's new name"),
        ("parameter-added", _NOTE, "a parameter that need not be set"),
        ("parameter-required", _BLOCKING, "a submission without this parameter is refused"),
        ("parameter-type", _BLOCKING, "a parameter takes values of another type"),
        ("default-changed", _WARNING, "whoever does not set the parameter gets another value"),
        ("bounds-narrowed", _BLOCKING, "values that were allowed are refused"),
        ("bounds-widened", _NOTE, "values that were refused are allowed"),
        ("offer-gone", _WARNING, "a capacity type, or a case of it, is not offered any more"),
        ("offer-added", _NOTE, "a capacity type, or a case of it, is offered in addition"),
        ("offer-order", _WARNING, "another capacity type is tried first"),
        ("offer-unavailable", _WARNING, "an offer can't be taken any more, for quota or for want of a pool"),
        ("offer-available", _NOTE, "an offer can be taken that could not"),
        ("no-offer-left", _BLOCKING, "a template is published and can't run, at all or with its defaults"),
        ("fallback-wait", _WARNING, "a submission falls back to its next offer sooner or later than before"),
        ("image-changed", _WARNING, "jobs run another container image"),
        ("executor-image-changed", _WARNING, "jobs' code runs in another prebuilt image"),
        ("code-changed", _WARNING, "jobs run other code of this repository"),
        ("requirements-changed", _WARNING, "jobs install other packages"),
        ("account-changed", _BLOCKING, "jobs run as another account"),
        ("secrets-changed", _BLOCKING, "jobs read other secrets, or no more"),
        ("environment-changed", _WARNING, "jobs see other environment variables"),
        ("arguments-changed", _WARNING, "jobs are started with another command or other arguments"),
        ("timeout-changed", _WARNING, "jobs are ended after another time"),
        ("machines-changed", _WARNING, "jobs take other machines, or another number of them"),
        ("scheduling-changed", _WARNING, "waits, restarts or retries of jobs differ"),
        ("network-changed", _WARNING, "jobs are in another network, or mount other file systems"),
        ("encryption-changed", _WARNING, "jobs use another key, or none"),
        ("reservation-changed", _WARNING, "jobs take their machines from another reservation"),
        ("web-access-changed", _BLOCKING, "who may open a shell or a dashboard of a running job differs"),
        ("study-changed", _WARNING, "a tuning job searches otherwise"),
        ("metrics-changed", _NOTE, "jobs log to another experiment or TensorBoard"),
        ("request-changed", _NOTE, "something else of the request that is posted differs"),
    ),
    *_rows(
        Section.PEOPLE,
        ("submitter-gone", _BLOCKING, "somebody can't submit any more, nor read results and logs"),
        ("submitter-added", _NOTE, "somebody can submit who could not"),
        ("trainer-added", _NOTE, "templates may run as another account, with people and secrets of its own"),
        ("trainer-gone", _WARNING, "an account that templates could run as is not asked for any more"),
        ("trainer-changed", _WARNING, "a template runs as another trainer: others submit it, other secrets are read"),
        ("trainer-access-added", _BLOCKING, "somebody may submit as another trainer, and so run any code as it"),
        ("trainer-access-gone", _BLOCKING, "somebody can't submit the templates of a trainer any more"),
        ("access-gone", _WARNING, "an identity loses a role"),
        (
            "access-lapsed",
            _NOTE,
            "an identity loses a role that was kept for jobs which have ended, or for another stack",
        ),
        ("access-added", _BLOCKING, "an identity gets a role beyond the submitters' own"),
        ("role-above-table", _BLOCKING, "a role that Slipway never needs to grant"),
        ("public-access", _BLOCKING, "anybody on the internet gets in"),
        ("domain-access", _BLOCKING, "everybody of a domain gets in"),
        ("code-allowed", _BLOCKING, "people may run code that nobody reviewed"),
        ("code-forbidden", _WARNING, "people may not run code of their own any more"),
        (
            "board-shown",
            _WARNING,
            "all jobs and their costs are on a page in the catalog's bucket, or are not any more",
        ),
        ("plain-secret", _BLOCKING, "what looks like a key or a password is in plain environment or arguments"),
    ),
    *_rows(
        Section.DATA,
        ("bucket-deleted", _BLOCKING, "a bucket goes with all that is in it"),
        ("bucket-replaced", _BLOCKING, "a bucket is made anew, and what is in it goes or stays behind"),
        ("bucket-left", _WARNING, "a bucket stays, with what is in it, and no longer belongs to the stack"),
        ("bucket-created", _NOTE, "a bucket is made or adopted"),
        ("lifecycle-changed", _BLOCKING, "objects are deleted at another time than before"),
        ("retention-changed", _BLOCKING, "objects are kept for another time than before"),
        ("versioning-changed", _BLOCKING, "earlier versions of objects are kept no more, or kept now"),
        ("public-prevention-off", _BLOCKING, "a bucket may be opened to the public"),
        ("force-destroy", _BLOCKING, "whether a bucket can be deleted with objects in it"),
        ("bucket-changed", _WARNING, "something else of a bucket changes"),
        ("account-deleted", _BLOCKING, "a service account goes, and with it all that it may do"),
        ("account-created", _NOTE, "a service account is made or adopted"),
        ("resource-deleted", _BLOCKING, "something of another type goes"),
        ("resource-replaced", _BLOCKING, "something of another type is made anew"),
        ("resource-changed", _WARNING, "something of another type changes in place"),
        ("resource-created", _NOTE, "something of another type is made"),
        ("resource-forgotten", _WARNING, "something stays in the cloud and no longer belongs to the stack"),
        ("drift", _WARNING, "somebody changed by hand what this deployment puts back"),
    ),
    *_rows(
        Section.QUOTA,
        ("quota-short-now", _BLOCKING, "what is created does not fit into the quota that is left"),
        ("quota-short-at-most", _WARNING, "pools can't grow to their maximum"),
        ("quota-short-in-overlap", _WARNING, "both generations at once do not fit into the quota"),
        ("quota-eased", _NOTE, "what did not fit does"),
        ("quota-unknown", _WARNING, "a limit or its use could not be read"),
        ("quota-check-weaker", _WARNING, "lack of quota stops fewer deployments than before"),
        ("quota-check-stricter", _NOTE, "lack of quota stops more deployments than before, or more is asked for"),
        ("quota-requested", _NOTE, "an increase is asked for"),
        ("season-quota-requested", _NOTE, "an increase is asked for because a cluster's season begins"),
        ("deployed-quota-requested", _NOTE, "an increase is asked for, for what is deployed already"),
        (
            "season-awaits-quota",
            _WARNING,
            "there is no quota for a cluster whose season begins or is to come, which holds up nothing else",
        ),
    ),
    *_rows(
        Section.POLICY,
        ("policy-violated", _BLOCKING, "a mandatory rule is broken"),
        ("policy-advice", _WARNING, "an advisory rule is broken"),
        ("policy-weaker", _BLOCKING, "a rule that stopped deployments is dropped, only warns, or allows more"),
        ("policy-added", _NOTE, "a rule is new, or asks for more"),
    ),
    *_rows(
        Section.PROGRAM,
        ("preview-failed", _BLOCKING, "the deployment would fail as well"),
        ("program-edited", _BLOCKING, "a file that deploys or judges is edited, or a key that says how it is deployed"),
        ("pins-changed", _BLOCKING, "other packages deploy or judge, each from its old version to its new one"),
        ("used-later", _NOTE, "a key of the stack file that no deployed thing has, and that counts the next time"),
        ("guard-removed", _BLOCKING, "nothing asks for unfinished jobs any more before a deletion"),
        ("stack-gone", _BLOCKING, "a stack file goes while its stack is deployed"),
    ),
    *_rows(
        Section.HEALTH,
        ("cluster-failed", _BLOCKING, "a cluster of the stack is in ERROR and none runs in its place"),
        ("name-blocked", _WARNING, "a spent cluster in ERROR holds its name, while another runs in its place"),
        ("name-taken", _BLOCKING, "somebody else's cluster has an id of the stack"),
        ("cluster-gone", _BLOCKING, "the catalog names a cluster that the service does not have"),
        ("cluster-slow", _WARNING, "a cluster has been in the making for more than two hours"),
        ("cluster-in-no-state", _WARNING, "a cluster of the stack that its state lacks: the engine never ends it"),
        ("cluster-in-no-catalog", _WARNING, "a cluster of the stack that its catalog lacks; the state was not read"),
        ("cluster-in-no-stack", _WARNING, "a cluster that no stack made, or one that is not known here"),
        ("cluster-retires-long", _WARNING, "an earlier generation is there after `retireWithin`, or after a day"),
        ("cluster-old", _WARNING, "a current cluster is older than the 30 days that the cloud advises"),
        ("pool-idle", _WARNING, "a pool without a job for more than a day"),
        ("job-beside-pool", _WARNING, "a job pays for machines of its own while a pool has as many of them free"),
        ("job-idle", _WARNING, "a job has used next to nothing of its machines for 15 minutes"),
        ("quota-nearly-used", _WARNING, "nine tenths of a quota that pools draw are in use"),
        ("budget-spent", _WARNING, "four fifths of a budget are spent this month; ✗ where nothing more is sent"),
        ("budget-short", _WARNING, "the stack's budget does not last until the month's end, as the last week was"),
        ("budget-unknown", _WARNING, "the stack has a budget, and nothing tells what is spent of it"),
        ("catalog-missing", _BLOCKING, "nothing is published, so nobody can submit"),
        ("catalog-damaged", _BLOCKING, "what is published can't be read by this version"),
        ("catalog-older", _WARNING, "commits since the published one change what is deployed"),
        ("catalog-dirty", _NOTE, "what is published was deployed with changes that no commit has"),
        ("deployment-unfinished", _WARNING, "state and catalog differ: the last deployment ended before it published"),
        ("state-missing", _BLOCKING, "a catalog is published, and the backend has no such stack"),
        ("operation-pending", _WARNING, "a run is making or deleting something, or was killed at it"),
        ("submission-abandoned", _WARNING, "a submission whose answer never came, and nobody looked for its job"),
        ("package-left", _NOTE, "packages that no template and no unfinished job uses, older than 90 days"),
        ("resource-gone", _BLOCKING, "a bucket or an account of the stack that the service does not have any more"),
        ("exposed", _BLOCKING, "everybody may use a bucket or an account of the stack, or has a role on its project"),
        ("unread", _BLOCKING, "clusters, jobs, catalog or state could not be read, so nobody can say that all is well"),
        ("unread-part", _WARNING, "something else could not be read"),
        ("api-off", _BLOCKING, "an API that Slipway needs is switched off in the project"),
        ("role-missing", _NOTE, "a role that some commands need, and whoever asks does not have"),
    ),
)
KINDS: Mapping[str, FindingKind] = {kind.word: kind for kind in _ALL}
FOLLOWING = frozenset(
    {
        "generations-overlap",
        "capacity-found-anew",
        "capacity-raised",
        "image-cache-empty",
        "jobs-finish-on-old",
        "cluster-protection",
        "season-changed",
        "run-cost",
    }
)
"""Kinds that follow from another consequence for the same cluster or template: a line tells both."""
REPEATED: Mapping[str, str] = {
    "cluster-deleted": "jobs-cancelled",
    "offer-gone": "no-offer-left",
    "offer-unavailable": "no-offer-left",
}
"""Kinds that another kind for the same cluster or template covers: they are folded under that."""
LASTING = frozenset({"timeout-changed"})
"""The cost bound of a whole run, where its hourly cost is unchanged."""
COSTING = frozenset({"cluster-new-generation", "pool-unused"})
"""Kinds that cost money, and take nothing from anybody: other blocking findings come first, and all others where
nothing is to pay."""
IN_TABLE = frozenset({"idle-cost", "most-cost"})
"""Kinds in a comment's table, so that no line need repeat them beside others."""
OPEN = frozenset({"what-if"})
"""Notes that are shown open, as they tell the benefit of the change."""
FAILED, AWAITS = "preview-failed", "season-awaits-quota"
REFUSING = frozenset({"policy-violated", "quota-short-now", "quota-short-in-overlap"})
"""Kinds that a deployment is refused for: they tell why, so that the refusal need not."""
FIRST = frozenset({FAILED, "policy-added", "policy-weaker"}) | REFUSING
"""Kinds that come before all others, whatever their grade."""
