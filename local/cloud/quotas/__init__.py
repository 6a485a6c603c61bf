"""Cloud Quotas: what the limits are, and preferences for other ones."""
