"""Cue words and items as samples: the crossed design, with estimates and tests for it.

================  ==================================================================================
``design``        the side, cue word, item and number of answers of each prompt
``variances``     the two-way variance of a share, difference or ratio over items and cue words
``populations``   its tests and intervals: these items or items like them, these words or others
``whole_prompts`` tests if a cue moves some items more than others: prompts permuted over sides
``lineups``       rankings of names: groups permuted inside a line-up, and names that recur
================  ==================================================================================
"""
