"""REST conventions on top of django-ninja: problems, tokens, cursors, idempotency, rate limits, uploads.

The apps' routers use these parts; :mod:`hub.site.api` mounts the routers on a :class:`hub.rest.conventions.HubAPI`.
"""
