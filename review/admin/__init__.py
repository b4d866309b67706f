"""The review app in the admin: check masters and reviews."""

from review.admin import checkitems, checklists, evaluation, mappings, prompts, reviews, scenarios
