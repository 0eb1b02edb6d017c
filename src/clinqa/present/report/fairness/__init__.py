"""An audit for people: in words, tables, on the report's page and as figures for a paper."""
