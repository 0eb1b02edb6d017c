"""Domain packs: data only, and the loader that checks them."""
