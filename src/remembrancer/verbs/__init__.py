"""One file a verb: what each promise of the memory does, top to bottom.

What a verb is made of stands in a package beside it: `retaining` beside `retain`, and so on.
"""
