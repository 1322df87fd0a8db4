def document(form): return ""
