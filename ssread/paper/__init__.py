"""Every table and figure of the paper, reproduced and compared with the published numbers."""
