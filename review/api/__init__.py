"""REST calls about check masters and reviews. Each handler translates, makes one call, translates back."""

from __future__ import annotations

from ninja import Router

from review.api.evaluation import router as evaluation_router
from review.api.lint import router as lint_router
from review.api.masters import router as masters_router
from review.api.reviews import router as reviews_router
from review.api.scenarios import router as scenarios_router
from review.api.triage import router as triage_router

router = Router(tags=["review"])
for part in (
    masters_router,
    reviews_router,
    lint_router,
    triage_router,
    evaluation_router,
    scenarios_router,
):
    router.add_router("", part)
