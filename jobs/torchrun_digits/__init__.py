"""Training a digit classifier with DistributedDataParallel: torchrun over the replicas of one job, fixed or elastic."""
