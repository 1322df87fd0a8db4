"""The numerical examples of the papers that flexarm is built on, one file each; `flexarm paper` runs them."""
