"""The review of a change before it is made: what follows for jobs, capacity, money, people and data.

`change` reads both sides and what lives; `rules` says what follows from each difference; `review` gathers that;
`told` shows it as cards, a comment, text and JSON; `gate` says whether an approval is needed, and `forges` asks GitHub
or GitLab for it. Imports `slipway.operating` and the floors below. Begin with `slipway.reviewing.review.review`.
"""
