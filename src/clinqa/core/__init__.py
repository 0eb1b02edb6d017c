"""Records, schemas, ids, errors, the manifest and the output folder: what every room stands on."""
