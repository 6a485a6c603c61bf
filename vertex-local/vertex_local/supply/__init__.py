"""The supply of machines: by region, machine and strategy, as a scenario gives them and takes them away."""
