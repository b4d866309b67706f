"""What one person may do and sees, shown to those who may ask: put together from the tables of every app."""
