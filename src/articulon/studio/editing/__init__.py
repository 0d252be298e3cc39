"""Building in the page: a case under edit, forms made from declarations, and the panel that shows both."""
