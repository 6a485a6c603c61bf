"""Sessions: where they may hold machines, and for whom."""

from tests.review.case import Case, blocks, stack, template, warns
from tests.review.edits import ANYTHING_OF_CPU, BENCH, POLICY, SESSIONS, VISION

OF_VISION = stack(
    POLICY, f"  slipway:teams: {{ vision: {{ submitters: [group:vision@acme.example], clusters: [cpu] }} }}\n{POLICY}"
)
TWO_CLUSTERS = stack(
    POLICY,
    "  slipway:teams:\n    search: { submitters: [group:search@acme.example], clusters: [bench] }\n"
    f"    vision: {{ submitters: [group:vision@acme.example], clusters: [cpu] }}\n{POLICY}",
)

CASES = (
    Case(
        "A cluster becomes a team's, where sessions of all may run alone and another team has a share",
        (stack("search@acme.example] }", "search@acme.example], clusters: [bench, cpu] }"),),
        (warns("access-lost", "cpu"), warns("access-lost", "bench"), blocks("no-offer-left", "tune")),
        given=(
            *SESSIONS,
            stack(
                POLICY,
                "  slipway:teams:\n    search: { submitters: [group:search@acme.example] }\n"
                "    vision: { submitters: [group:vision@acme.example] }\n\n"
                f"  slipway:shares: {{ cpu: {{ search: 4, vision: 4 }} }}\n{POLICY}",
            ),
            stack(
                "    cpu:\n      displayName",
                "    bench:\n      pools:\n"
                "        head: { machine: n1-standard-4, disk: { type: pd-ssd, sizeGb: 100 }, replicas: 2 }\n"
                "        workers: { machine: n1-standard-8, disk: { type: pd-ssd, sizeGb: 100 }, replicas: 4 }\n"
                "    cpu:\n      displayName",
            ),
        ),
        may=("offer-unavailable", "submission-changed", "stack-warning"),
    ),
    Case(
        "The season of a team's cluster, the only one with sessions, begins later",
        (stack("from: 2026-11-01", "from: 2026-12-20"),),
        (),
        given=(
            *SESSIONS,
            OF_VISION,
            stack("      retireWithin: 7d\n", "      retireWithin: 7d\n      from: 2026-11-01\n"),
        ),
        may=ANYTHING_OF_CPU,
    ),
    Case(
        "The cluster of sessions passes from one team to another",
        (
            stack("vision@acme.example], clusters: [cpu] }", "vision@acme.example] }"),
            stack("search@acme.example] }", "search@acme.example], clusters: [cpu] }"),
        ),
        (),
        given=(
            *SESSIONS,
            stack(
                POLICY,
                "  slipway:teams:\n    search: { submitters: [group:search@acme.example] }\n"
                f"    vision: {{ submitters: [group:vision@acme.example], clusters: [cpu] }}\n{POLICY}",
            ),
        ),
        may=ANYTHING_OF_CPU,
    ),
    Case(
        "The clusters of two teams are exchanged, one of which had sessions to itself, and both are listed for them",
        (
            stack("pools: [cpu/workers]", "pools: [cpu/workers, bench/workers]"),
            stack("search@acme.example], clusters: [bench] }", "search@acme.example], clusters: [cpu] }"),
            stack("vision@acme.example], clusters: [cpu] }", "vision@acme.example], clusters: [bench] }"),
        ),
        (warns("access-lost", "bench"),),
        given=(*SESSIONS, BENCH, TWO_CLUSTERS),
        may=ANYTHING_OF_CPU,
    ),
    Case(
        "A team goes with its people, whose sessions alone had a pool that is not listed any more",
        (stack(VISION, ""), stack("pools: [cpu/head]", "pools: [h100/workers]")),
        (warns("access-lost", "workspace"),),
        given=(
            *SESSIONS,
            stack("pools: [cpu/workers]", "pools: [cpu/head]"),
            stack(POLICY, VISION + POLICY),
            template("script", "n1-standard-8", "n1-standard-4"),
        ),
        may=ANYTHING_OF_CPU,
    ),
)
