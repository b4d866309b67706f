from __future__ import annotations

import pytest
from django.db import connection


@pytest.fixture
def empty_trail(db: None) -> None:
    """Remove what threads of earlier tests committed on connections of their own, before lines are sealed."""
    with connection.cursor() as cursor:
        cursor.execute("TRUNCATE access_auditevent")
