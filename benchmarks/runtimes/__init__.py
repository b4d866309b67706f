"""What runs the web process, compared: request threads, a2wsgi and granian under the same calls. See ADR 0022."""
