"""Making the clusters of a deployment, through scarcity and in place of their forerunners."""
