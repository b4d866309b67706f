"""The review app in the admin: check masters and reviews."""

from review.admin import (
    checkitems,
    checklists,
    commands,
    compare_page,
    evaluation,
    mappings,
    noise,
    own_work,
    prompts,
    reviews,
    scenarios,
    workbench,
)
