"""An audit of prompts that somebody has: both versions of each, and a protocol over them."""
