"""The admin of people and tokens, and the pages that look across the apps: audit trail and front page."""

from hub.admin import (
    access,
    assistants,
    audit,
    grant_pages,
    identity_providers,
    language_models,
    operation,
    rights_pages,
    sign_in_pages,
)
