"""How dates are written in both languages, as on the pages of the hub itself (Django's FORMAT_MODULE_PATH)."""
