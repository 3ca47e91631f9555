"""Estimates → plain dataclasses → terminal, Markdown, JSON, CSV, one static HTML page.

`content.build` makes everything that is shown, once, as frozen dataclasses of text and numbers
(`parts`); the reporters (`terminal`, `markdown`, `html`) only lay it out, so they cannot disagree.
`data` prints the estimates as they are.
"""
