"""What the pages for everybody, and those of errors, let a browser load and run."""

# Without what the admin's scripts need: scripts are files alone. Widths of a sheet's columns are inline styles.
POLICY = (
    "default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; object-src 'none'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
