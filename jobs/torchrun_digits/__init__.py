"""Training of a digit classifier with DistributedDataParallel: torchrun over the machines of one job."""
