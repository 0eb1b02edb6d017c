"""Clinical terms in questions: found, mapped to specialties, compared between splits and models.

matcher            a text to tokens; the longest names of concepts in it
paths              from an ontology to concepts with specialties (those of S-MedQA's A.8)
find               `clinqa terms find`: a dataset to terms, tables and the overlap matrix
scoring, logprobs  `clinqa terms logprobs`: what models give these terms in the text
"""
