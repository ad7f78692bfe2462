// Nothing of its own: the targets made of it exist for their precompiled headers.
