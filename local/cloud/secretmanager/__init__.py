"""Secret Manager: secrets, their versions, and who may read them."""
