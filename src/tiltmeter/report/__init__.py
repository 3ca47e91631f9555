"""Turns estimates into plain dataclasses, then terminal, Markdown, JSON, CSV or an HTML page.

`content.build` computes all that a report shows, once, as frozen dataclasses of text and numbers
(`page_model`). The renderers (`render`) only lay these out, so they cannot disagree. `json_csv`
writes the estimates as they are.
"""
