"""The studio: a robot seen, changed and understood in the browser (`fa.studio`, in `flexarm.studio.server`)."""
