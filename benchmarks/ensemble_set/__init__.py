"""Parts of ensemble.py: arms, settings of each tool, measurements and the page."""
