// Nothing of its own: the target exists for its precompiled header.
