from django.utils.translation import gettext_lazy as _

from hub.core.errors import HubError, Unavailable


class KeyMissing(HubError):
    """What is encrypted can't be read, since the master key that its data key is wrapped with is not configured."""

    code = "encryption_key_missing"
    status = 500
    title = _("Encryption key missing")


class KeyEnded(HubError):
    """Something was to be put under a master key that was ended."""

    code = "encryption_key_ended"
    status = 500
    title = _("Encryption key ended")


class SealBroken(HubError):
    """Encrypted bytes are not what was stored, or were stored under another name: nothing of them is given."""

    code = "encrypted_file_damaged"
    status = 500
    title = _("Encrypted file damaged")


class KeyServiceUnavailable(Unavailable):
    """The service that keeps the master key does not answer, or refuses."""

    code = "key_service_unavailable"
