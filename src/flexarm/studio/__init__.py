"""The studio: an interactive view of a robot in the browser (`fa.studio`, in `flexarm.studio.server`)."""
