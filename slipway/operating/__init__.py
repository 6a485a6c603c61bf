"""Views for the operators of a stack: its history and usage, the doctor and drift, what-if, pools, the board.

All of them read one account of the past (`slipway.operating.history.reader`) and of what lives
(`slipway.google.snapshot`). Imports `slipway.deploying`, `slipway.using` and the floors below. Begin with
`slipway.operating.doctor.examination`: a function for each family of what may be wrong.
"""
