"""The Pulumi engine on a laptop: found, downloaded or built, and cached outside the checkout."""
