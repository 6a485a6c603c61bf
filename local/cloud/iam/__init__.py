"""IAM: service accounts, their policies, and short-lived tokens for those who may impersonate them."""
