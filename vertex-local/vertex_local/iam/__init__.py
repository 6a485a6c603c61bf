"""IAM: service accounts, their policies, and short-lived tokens for impersonation."""
