"""Look after jobs: how they are, what they say, when they end.

JOB is a name (dask-digits-7k2p3f9a), a number, the id of its request, or a full resource name, of any kind. A
template's name stands for its newest job, but for cancel.
"""
