"""Composition: what makes one web process of all apps: URLs, the API, health, alerts, the ASGI application."""
