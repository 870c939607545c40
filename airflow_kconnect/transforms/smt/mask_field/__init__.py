"""MaskField: the transformation and the values that stand for what is masked."""
