"""One suite for each exchangeable part: every implementation goes through the same tests."""
