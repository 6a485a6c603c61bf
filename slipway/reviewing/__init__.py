"""The review of a change before it is made: what follows for jobs, capacity, money, people and data.

A `slipway.reviewing.change.Change` has both sides and what lives; `slipway.reviewing.review.COMPARISONS` make findings
of it; `slipway.reviewing.rendering` words them as a comment; `slipway.reviewing.gate` says whether an approval is
needed, and `slipway.reviewing.forges` asks GitHub or GitLab for it. Imports `slipway.operating` and the floors below.
Begin with `slipway.reviewing.review.review`.
"""
