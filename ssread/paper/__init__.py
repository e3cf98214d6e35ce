"""Every table and figure of the paper, made here and put beside what the paper prints."""
