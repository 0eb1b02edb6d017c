"""The kinds of items: a folder each, a record of small facets, each imported by who needs it.

Stages ask the kind and know no names. See `kinds.registry`.
"""
