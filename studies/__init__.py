"""What the simulator is used for: the published tables and figures, and practice compared with
theory.
"""
