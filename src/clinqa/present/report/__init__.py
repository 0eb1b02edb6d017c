"""The page of an evaluation: one HTML file, its figures and its tables.

read     SCORES folders, merged and checked
results, subsets, about    tables and facts, as plain records
claims, marks    what may be said in words, and what may be called best
charts   inline SVG for the page; plots: SVG and PDF for a paper
page     all of it through templates/, which escape everything
write    into files
"""

from clinqa.present.report.write import Written, write_report

__all__ = ["Written", "write_report"]
