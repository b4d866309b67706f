from django.utils.translation import gettext_lazy as _

from hub.core.errors import HubError, Unavailable


class StorageUnavailable(Unavailable):
    """The blob store can't be reached, or has no room left."""

    code = "storage_unavailable"


class BlobInUse(StorageUnavailable):
    """Stored bytes are being read, and can't be overwritten yet."""


class BlobMissing(HubError):
    """The bytes that a document version names are not in the store."""

    code = "blob_missing"
    status = 500
    title = _("Stored file missing")
