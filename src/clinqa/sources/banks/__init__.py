"""Readers of question banks: MedQA, MedMCQA, MMLU, S-MedQA and tables of the same kind.

for file in open_banks(paths):
    for item in file.items(): ...   # BankItem or Reject
"""

from clinqa.sources.banks.bank_item import BankItem
from clinqa.sources.banks.reader import BankFile, BankOptions, bank_files, open_banks

__all__ = ["BankFile", "BankItem", "BankOptions", "bank_files", "open_banks"]
