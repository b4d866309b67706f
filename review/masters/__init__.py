"""What a check master says, as plain data: comparing it, finding fault with it, and its table for spreadsheets."""
