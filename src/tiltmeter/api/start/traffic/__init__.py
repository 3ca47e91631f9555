"""An audit of the user's own prompts: two versions of each prompt, and a protocol over them."""
