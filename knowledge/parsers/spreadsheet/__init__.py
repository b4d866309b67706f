"""Spreadsheets of other formats than xlsx: xls and xlsb by calamine, ods from its XML."""
