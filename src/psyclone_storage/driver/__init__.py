"""What a compilation is made of: the stages in order, and what else can be asked of them."""
