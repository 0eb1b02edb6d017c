"""What a model committed to: True or False, or a letter. One answer and its status.

read_label("It is untrue.")            -> Said("false", "answered")
read_letter("B. 4", {"A": "3", ...})   -> Said("B", "answered")
"""

from clinqa.asking.answers.labels import read_label
from clinqa.asking.answers.letters import read_letter
from clinqa.asking.answers.said import Said

__all__ = ["Said", "read_label", "read_letter"]
