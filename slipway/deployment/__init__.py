"""One deployment: the commit it is made from, what is decided about clusters, and how that is told."""
