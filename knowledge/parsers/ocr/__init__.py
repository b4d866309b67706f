"""Reading text from pictures of pages (OCR), by engines behind one interface. Run in parser children."""
