"""Models, converters and independent reference solutions that the tests share."""
