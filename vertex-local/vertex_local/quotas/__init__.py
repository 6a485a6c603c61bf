"""Cloud Quotas: limits, and preferences for other ones."""
