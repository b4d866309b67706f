"""The ground that every app's admin stands on: the site, base classes, keyset pages, badges."""
