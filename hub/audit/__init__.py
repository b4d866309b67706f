"""The audit trail across all apps: who may read which of its lines, and the REST call that does."""
