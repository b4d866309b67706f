"""What a hub that starts for the first time needs: tables, an administrator with a token, a sample to look at."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from pathlib import Path

from django.contrib.auth.models import User
from django.core.management import call_command

from hub.access.principals import ALL_SCOPES, local_operator
from hub.access.services import create_token
from hub.config import BASE_DIR
from knowledge.collections import create_collection
from knowledge.documents.uploads import Upload, create_document, hash_file
from knowledge.models import Collection

ADMIN_NAME = "admin"
SAMPLE_COLLECTION = "sample"
SAMPLE_DIR = BASE_DIR / "knowledge" / "data" / "sample"


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstAdmin:
    """The administrator made on the first start; password and token are known only now."""

    username: str
    password: str
    token: str


def migrate() -> None:
    """Bring the tables up to date."""
    call_command("migrate", interactive=False, verbosity=0)


def make_first_admin() -> FirstAdmin | None:
    """Make an administrator when there is none; None when there is one."""
    if User.objects.filter(is_superuser=True).exists():
        return None
    password = secrets.token_urlsafe(12)
    user = User.objects.create_superuser(ADMIN_NAME, password=password)
    _row, token = create_token(principal=local_operator(), user=user, name="first start", scopes=ALL_SCOPES)
    return FirstAdmin(username=ADMIN_NAME, password=password, token=token)


def load_sample() -> int:
    """Upload the shipped sample documents into their own collection, unless it is there already; gives their number."""
    if Collection.objects.filter(slug=SAMPLE_COLLECTION).exists():
        return 0
    operator = local_operator()
    create_collection(principal=operator, slug=SAMPLE_COLLECTION, name="サンプル")
    files = sorted(path for path in SAMPLE_DIR.iterdir() if path.is_file())
    for path in files:
        _upload_sample(path)
    return len(files)


def _upload_sample(path: Path) -> None:
    sha256, size_bytes = hash_file(path)
    create_document(
        principal=local_operator(),
        upload=Upload(
            file=path,
            filename=path.name,
            sha256=sha256,
            size_bytes=size_bytes,
            collection=SAMPLE_COLLECTION,
            document_type="basic_design" if "基本設計書" in path.name else "guideline",
        ),
    )
