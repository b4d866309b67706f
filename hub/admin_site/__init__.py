"""What every app's admin uses: the site, base classes, keyset pages, badges."""
