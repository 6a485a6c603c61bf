"""Secret Manager: secrets, their versions, and their readers."""
