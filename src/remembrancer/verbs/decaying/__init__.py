"""Parts of the verb `decay`."""
