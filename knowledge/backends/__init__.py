"""Interchangeable parts behind the ports: each backend is one module or folder, chosen by settings."""
