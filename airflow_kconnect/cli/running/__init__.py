"""What `kconnect run` is made of: its options, the job of one connector or of many, what is shown of them."""
