"""Editing of cases on the page: the document, forms made from declarations, and the panel that shows both."""
