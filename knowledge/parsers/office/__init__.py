"""Documents of other office formats, converted by LibreOffice where it is installed."""
