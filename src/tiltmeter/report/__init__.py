"""Turns estimates into plain dataclasses, then terminal, Markdown, JSON, CSV or an HTML page.

`content.build` makes everything that is shown, once, as frozen dataclasses of text and numbers
(`page_model`); the renderers (`render`) only lay it out, so they cannot disagree. `json_csv` writes
the estimates as they are.
"""
