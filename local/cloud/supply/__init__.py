"""How many machines there are: by region, machine and strategy, as a scenario says, and what a scenario takes away."""
