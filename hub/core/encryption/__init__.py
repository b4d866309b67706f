"""Encryption at rest: master keys that wrap data keys, and files sealed with a data key each (AES-256-GCM)."""
