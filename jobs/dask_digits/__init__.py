"""A hyperparameter search on the UCI handwritten digits, spread over the replicas of one job by Dask."""
