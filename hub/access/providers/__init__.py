"""People whom identity providers sign in (OpenID Connect). Loaded only where HUB_OIDC_PROVIDERS names one."""
