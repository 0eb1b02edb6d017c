"""What each facet of a kind has to give: a module a facet."""
