"""An audit of the user's own prompts: both versions of each, and a protocol over them."""
