"""Colours of figures and of scenes.

The colours of Okabe and Ito (2008) can be told apart with all common types of colour vision.
"""

BLACK, GREY = "#1a1a1a", "#8c8c8c"
BLUE, VERMILION, GREEN, PURPLE = "#0072b2", "#d55e00", "#009e73", "#cc79a7"
ORANGE, SKY, OLIVE = "#e69f00", "#56b4e9", "#7d7400"
